"""Measuring while a host runs: by an engine of its own, with the catalogue through the host."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.cli.adapters import adapters
from app.cli.evaluation import evaluate
from app.host.calls import arguments_from_plain, call_named, result_from_plain
from app.paths import Paths
from app.remote_client import connect
from engine.adapters.records import Evaluation, Swap
from engine.errors import UsageProblem
from engine.runtime import wire
from tests.app.evaluation.conftest import import_adapter
from tests.engine.adapters.catalogued import named
from tests.support.evaluating import zero_adapter
from tests.support.hosting import host_pid

EVALUATION = Evaluation("general", 800, {"nats_per_token": 0.5}, "failed", ("太顺从。",), "2026")


def test_an_evaluation_comes_through_the_wire_unchanged():
    given = {"content_hash": "a" * 32, "evaluation": EVALUATION}
    sent = json.loads(json.dumps({name: wire.to_plain(value) for name, value in given.items()}))
    call = call_named("add_evaluation")
    assert arguments_from_plain(call, sent) == given
    assert result_from_plain(call, None) is None
    with pytest.raises(UsageProblem):
        arguments_from_plain(call, {**sent, "evaluation": {"suite": 1}})


def test_the_beginning_of_a_trial_comes_through_the_wire_unchanged():
    swap = Swap(None, named("a", state="canary"))
    assert result_from_plain(call_named("begin_canary"), json.loads(json.dumps(wire.to_plain(swap)))) == swap


@pytest.mark.model
@pytest.mark.usefixtures("small_suites")
def test_a_candidate_is_judged_and_put_on_trial_beside_a_running_host(
    home: Path, tiny_profile: Path, tiny_moe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def done(command: Any, *arguments: str) -> tuple[int, Any]:
        capsys.readouterr()
        code: int = command.main([*arguments, "--json"], standalone_mode=False)
        assert host_pid(home) == pid, "the same host runs on"
        return code, json.loads(capsys.readouterr().out)

    with closing(connect(Paths(home), profile=str(tiny_profile))):
        pid = host_pid(home)
        assert pid is not None
        mine = import_adapter(zero_adapter(tiny_moe, tmp_path / "zero.gguf"), capsys)
        code, judged = done(evaluate, mine[:8], "--gate", "--rules", "teach")
        assert (code, judged["decision"]) == (1, "not_enough_evidence")
        _, shown = done(adapters, "show", mine[:8])
        assert [one["suite"] for one in shown["evaluations"]] == ["gate", "short", "capitals"]
        _, swap = done(adapters, "promote", mine[:8], "--canary", "--yes")
        assert (swap["now"]["state"], swap["previous"], swap["gate_passed"]) == ("canary", None, False)
        _, shown = done(adapters, "show", mine[:8])
        assert (shown["canary"]["planned_turns"], shown["promotions"][0]["kind"]) == (20, "canary")
