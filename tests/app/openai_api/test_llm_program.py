"""The command line program `llm` answers through this API, configured as the README says."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.requirements import unavailable

CONFIG = """\
- model_id: macaron
  model_name: macaron
  api_base: "{url}"
  api_key_name: macaron
- model_id: macaron-coding
  model_name: "macaron:L2"
  api_base: "{url}"
  api_key_name: macaron
  supports_tools: true
  supports_schema: true
"""


@pytest.fixture
def llm(api, tmp_path: Path):
    if find_spec("llm") is None:
        unavailable("The program `llm` is not installed: `python -m pip install llm`.")
    (tmp_path / "extra-openai-models.yaml").write_text(CONFIG.format(url=api.url), encoding="utf-8")
    (tmp_path / "keys.json").write_text('{"macaron": "any"}', encoding="utf-8")

    def run(*arguments: str) -> str:
        environment = {**os.environ, "LLM_USER_PATH": str(tmp_path), "LLM_LOAD_PLUGINS": ""}
        done = subprocess.run(
            [sys.executable, "-m", "llm", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_it_lists_the_model_and_streams_an_answer(llm):
    assert "macaron-coding" in llm("models")
    assert llm("-m", "macaron", "-o", "max_tokens", "12", "Say hello to Ann.").strip()


def test_it_reads_an_answer_that_does_not_stream(llm):
    assert llm("-m", "macaron", "--no-stream", "-o", "max_tokens", "12", "Say hello to Ann.").strip()


def test_it_gets_what_its_schema_asks_for(llm):
    answer = llm("-m", "macaron-coding", "--no-log", "--schema", "happy bool", "-o", "max_tokens", "40", "Are you?")
    assert '"happy"' in answer
