"""How runs of every kind end: by their last step, a limit or a rule, each with its reason and an adapter that holds."""

import math
from pathlib import Path

import pytest

from engine.runtime.child import ChildRuntime
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import LoadPlan, ScoreRequest
from local_training.runs.events import Event, Progress
from local_training.runs.folder import RunFolder
from local_training.runs.metrics import read_history
from local_training.runs.report import write_report
from tests.support import requirements
from tests.support.adapters import write_random_adapter

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.policy import Policy, load_policy  # noqa: E402 - needs what is required above
from tests.local_training.runs.whole import (  # noqa: E402
    PROBES,
    Workshop,
    assert_same_result,
    steps_of,
    train_here,
    weights_of,
)

pytestmark = pytest.mark.model

NOTHING_LEARNED = " Nothing was learned: with this adapter all answers stay as they were."
ALIKE = [{"name": "length", "least": 0, "most": 100_000}]
"""Whatever the answer is, it is worth the same."""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop.open(tmp_path_factory.mktemp("workshop"))


def test_groups_that_are_all_alike_end_the_run_with_an_adapter_that_changes_nothing(workshop: Workshop):
    run = workshop.run("rl", steps=9, every=0, reward=ALIKE)
    result = train_here(run)
    assert (result.state, result.step) == ("finished", 3)
    assert result.reason.startswith("In 3 steps in a row ")
    assert result.reason.endswith("(stop.barren_steps)." + NOTHING_LEARNED)
    assert run.read_state().reason == result.reason
    assert steps_of(run) == [1, 2, 3]
    assert_changes_nothing(workshop, run)
    assert result.reason in write_report(run, "en").read_text("utf-8")


def test_a_run_that_was_cut_off_after_its_last_barren_step_makes_no_further_one(workshop: Workshop):
    run = workshop.run("rl", steps=9, every=0, reward=ALIKE)
    cut_off(run, "evaluating", 4)
    assert steps_of(run) == [1, 2, 3] and run.read_state().state == "running"
    result = train_here(run)
    assert (result.step, steps_of(run)) == (3, [1, 2, 3])
    assert "stop.barren_steps" in result.reason


def test_minutes_that_are_used_up_end_the_run_with_what_it_has(workshop: Workshop):
    run = workshop.run("sft", steps=9, changes=[("threads = 1", "threads = 1\nminutes = 0.0001")])
    result = train_here(run)
    assert (result.state, result.step) == ("finished", 0)
    assert result.reason == "Its 0.0001 minutes are used up (limits.minutes)." + NOTHING_LEARNED
    assert_changes_nothing(workshop, run)
    assert run.read_state().worked_seconds > 0.006


def test_a_rule_that_is_broken_keeps_the_adapter_of_the_step_before(workshop: Workshop):
    kept = workshop.undisturbed("rl", steps=1)
    run = workshop.run("rl", steps=9, extra="[stop]\nkl_general_nats = 0.1\n")
    result = train_here(run)
    assert (result.state, result.step) == ("finished", 1)
    assert result.reason.startswith("The KL on general texts was 0.")
    assert result.reason.endswith("above 0.1 (stop.kl_general_nats). The adapter is the one before step 2.")
    assert_same_result(workshop, run, kept)


def test_a_rule_that_the_first_step_breaks_leaves_an_adapter_that_changes_nothing(workshop: Workshop):
    run = workshop.run("sft", steps=9, extra="[stop]\nkl_general_nats = 1e-9\n")
    result = train_here(run)
    assert (result.state, result.step, steps_of(run)) == ("finished", 0, [])
    assert result.reason.endswith("The adapter is the one before step 1." + NOTHING_LEARNED)
    assert_changes_nothing(workshop, run)
    assert run.adapter_gguf.is_file()


def test_a_run_that_was_cut_off_while_it_put_its_result_in_place_does_so_again(workshop: Workshop):
    run = workshop.run("sft", steps=2)
    cut_off(run, "saving", 2, times=2)  # of the last step, and of the result
    assert not run.adapter_gguf.exists()
    train_here(run)
    assert_same_result(workshop, run, workshop.undisturbed("sft", steps=2))


@pytest.mark.parametrize("kind", ["dpo", "kto"])
def test_preferences_are_learned(workshop: Workshop, kind: str):
    run = workshop.run(kind, steps=6)
    assert train_here(run).state == "finished"
    history = read_history(run.metrics)
    # While the policy is its own anchor, it prefers nothing.
    assert history.steps[0].loss == pytest.approx({"dpo": math.log(2), "kto": 0.5}[kind], abs=1e-3)
    before, after = history.evaluations[0], history.evaluations[-1]
    assert before.loss is not None and after.loss is not None and after.loss < before.loss
    assert before.accuracy is not None and after.accuracy is not None and after.accuracy >= before.accuracy
    assert all(step.kl_general_nats is not None and 0 < step.kl_general_nats < 5 for step in history.steps)
    for language in ("en", "zh"):
        assert write_report(run, language).stat().st_size > 5000  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["rl", "rft"])
def test_what_is_rewarded_is_learned(workshop: Workshop, kind: str):
    run = workshop.run(
        kind, steps=8, every=0, changes=[("branches = 4", "branches = 8"), ("rate = 1e-2", "rate = 5e-3")]
    )
    assert train_here(run).state == "finished"
    steps = read_history(run.metrics).steps
    early, late = (
        sum(step.reward for step in part if step.reward is not None) / len(part) for part in (steps[:2], steps[-2:])
    )
    assert late > early
    assert all(step.mismatch_nats is not None and step.mismatch_nats < 0.01 for step in steps)
    assert all(step.entropy_nats is not None and 0 < step.entropy_nats < math.log(512) + 1 for step in steps)
    assert all(step.idle_share is not None and 0 <= step.idle_share <= 1 for step in steps)
    write_report(run, "zh")


def test_a_run_on_top_of_an_experts_adapter_stacks_on_it_where_it_serves(workshop: Workshop):
    expert = write_random_adapter(workshop.base, workshop.folder / "expert.gguf")
    run = workshop.run("rl", steps=2, expert_adapter=expert)
    assert train_here(run).state == "finished"
    (note,) = read_history(run.metrics).notes
    assert float(note.text.split("differ by ")[1].split()[0]) < 0.01
    policy = load_policy(workshop.base, expert=run.inputs / "expert", device=torch.device("cpu"))
    policy.restore(run.adapter)
    with torch.no_grad():
        wanted = [row.tolist() for row in policy.logprobs(PROBES)]
        with policy.using("base"):
            bare = [row.tolist() for row in policy.logprobs(PROBES)]
    runtime = ChildRuntime()
    try:
        runtime.load(LoadPlan(str(workshop.base), context_tokens=256, pool_tokens=512, threads=1))
        stack = (adapter_ref(expert), adapter_ref(run.adapter_gguf))
        served = [runtime.score(ScoreRequest(probe.prompt, (probe.answer,), stack)).logprobs[0] for probe in PROBES]
    finally:
        runtime.close()
    for mine, other, base in zip(served, wanted, bare, strict=True):
        assert mine == pytest.approx(other, abs=0.05)
        assert mine != pytest.approx(base, abs=0.05)


class Cut(BaseException):
    """The power was cut."""


def cut_off(run: RunFolder, activity: str, step: int, times: int = 1) -> None:
    """As a kill at the `times`th event of this kind would leave it."""
    seen: list[Event] = []

    def cut(event: Event) -> None:
        if isinstance(event, Progress) and (event.activity, event.step) == (activity, step):
            seen.append(event)
            if len(seen) == times:
                raise Cut

    with pytest.raises(Cut):
        train_here(run, cut)


def assert_changes_nothing(workshop: Workshop, run: RunFolder) -> None:
    policy: Policy = load_policy(workshop.base, device=torch.device("cpu"))
    with torch.no_grad(), policy.using("base"):
        bare = torch.cat(list(policy.logprobs(PROBES)))
    assert torch.equal(workshop.logprobs(run), bare)
    assert Path(run.adapter_gguf).is_file() and weights_of(run)
