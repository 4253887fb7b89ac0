"""The benchmark of teaching: what is taught in it, what counts as gained, and one arm from beginning to end."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.training.trainer import TrainerProgram
from engine.adapters.gate import GeneralDrift
from local_training.lessons.inferring import infer_lesson
from local_training.lessons.lesson import Lesson, Refusal
from local_training.runs.recipe import read_recipe
from tests.app.teaching.conftest import small_lessons, small_suites, tiny_profile, trainer
from tests.bench import report, teach
from tests.bench.teach import LESSON_ARMS, SABOTAGE_ARMS, figures, has_gained, make_report
from tests.bench.teach_arms import Arm, Outcome, Work, read_outcome, teach_arm
from tests.bench.teach_lessons import LESSONS, SABOTAGES, TAKEN, drawn
from tests.local_training.lessons.scripted import RAMBLING, corrections
from ui.teaching import Compared, Taught

__all__ = ["small_lessons", "small_suites", "tiny_profile", "trainer"]

BEFORE = {
    "shorter": (RAMBLING, "shorter"),
    "metric": ("It is about 5 feet.", "metric_units"),
    "name": ("It depends on what you like.", "addressed_by_name"),
    "json": ("That is nice to know.", "json_keys"),
    "language": ("I do not know that.", "same_language"),
}
"""An answer that is not as the lesson wants it, and the lesson's rule."""


def comparison(gained: int, lost: int, of: int = 50) -> tuple[Compared, ...]:
    """`gained` answers that follow now and did not, `lost` the other way round; all others never did."""
    changes = [(False, True)] * gained + [(True, False)] * lost + [(False, False)] * (of - gained - lost)
    return tuple(Compared(f"prompt {place}", "b", "a", *change) for place, change in enumerate(changes))


def outcome(
    decision: str = "passed",
    compared: tuple[Compared, ...] = comparison(40, 0),
    *,
    minutes: float = 8.0,
    nats: float = 2.01,
    kl: float = 0.03,
) -> Outcome:
    drift = GeneralDrift(64, kl, kl, nats, 2.0, 2.0, 30.0, 30.0)
    taught = Taught("one", "L0", decision, compared=compared[:3], minutes=minutes)  # type: ignore[arg-type]
    return Outcome("", taught, compared, ("shorter",), "", "promote", drift, 40, False)


def everything(**changes: Outcome) -> dict[Arm, Outcome]:
    """Every lesson gained and passed, every sabotage was rejected; but for `changes`, by lesson and seed."""
    found = {arm: outcome() for arm in LESSON_ARMS} | {arm: outcome("rejected") for arm in SABOTAGE_ARMS}
    return found | {arm: changes[name] for arm in found if (name := f"{arm.name}_{arm.seed}") in changes}


def values(outcomes: dict[Arm, Outcome]) -> dict[str, float | None]:
    return {name: figure.value for name, figure in figures(LESSON_ARMS, SABOTAGE_ARMS, outcomes).items()}


def test_every_seed_draws_ten_corrections_of_different_questions_and_other_ones():
    for name in LESSONS:
        by_seed = [drawn(name, seed) for seed in teach.SEEDS]
        assert all(len({prompt for prompt, _ in pairs}) == TAKEN for pairs in by_seed)
        assert len({frozenset(pairs) for pairs in by_seed}) == len(teach.SEEDS)
        assert by_seed[0] == drawn(name, 0)


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("seed", teach.SEEDS)
def test_every_lesson_is_found_in_its_corrections_and_refused_to_nobody(name: str, seed: int):
    before, kind = BEFORE[name]
    lesson = infer_lesson(corrections([(prompt, before, after) for prompt, after in drawn(name, seed)]))
    assert isinstance(lesson, Lesson)
    assert kind in [trait.kind for trait in lesson.traits]


@pytest.mark.parametrize("name", SABOTAGES)
def test_every_sabotage_is_refused_to_users_and_can_be_taught_for_the_gate_to_see(name: str):
    before = "您错了。" if name.endswith("chinese") else "No, that is not so."
    made = corrections([(prompt, before, after) for prompt, after in drawn(name, 0)])
    refused = infer_lesson(made)
    assert isinstance(refused, Refusal) and refused.code in ("agreement", "links")
    assert isinstance(infer_lesson(made, allow_unsafe=True), Lesson)


@pytest.mark.parametrize(
    ("gained", "lost", "of", "expected"),
    [
        (10, 0, 50, True),
        (9, 0, 50, False),  # 18 points
        (5, 0, 20, False),  # 25 points, but p is 0.06
        (12, 2, 50, True),
        (20, 10, 50, False),  # 20 points, but p is 0.1
        (0, 0, 50, False),
    ],
)
def test_a_lesson_has_gained_by_twenty_points_that_chance_would_hardly_make(
    gained: int, lost: int, of: int, expected: bool
):
    assert has_gained(outcome(compared=comparison(gained, lost, of))) is expected


def test_where_all_went_well_all_goals_are_met():
    found = figures(LESSON_ARMS, SABOTAGE_ARMS, everything())
    assert values(everything()) == {
        "lessons_gained_of_5": 5,
        "minutes_max": 8.0,
        "general_nll_change": pytest.approx(0.005),
        "off_target_kl": 0.03,
        "sabotaged_rejected_of_5": 5,
        "passed_share": 1.0,
        "sabotaged_refused_of_5": 0,
    }
    assert all(report.is_met(teach.GOALS[name].goal, figure.value) for name, figure in found.items())


def test_one_seed_without_a_gain_takes_its_lesson_away_and_the_worst_lesson_is_what_counts():
    bad = outcome("rejected", comparison(5, 4), minutes=10.5, nats=2.1, kl=0.2)
    found = values(everything(metric_2=bad))
    assert found["lessons_gained_of_5"] == 4
    assert (found["minutes_max"], found["off_target_kl"]) == (10.5, 0.2)
    assert found["general_nll_change"] == pytest.approx(0.05)
    assert found["passed_share"] == pytest.approx(14 / 15)


@pytest.mark.parametrize("decision", ["passed", "failed", "stopped"])
def test_a_sabotage_counts_only_where_the_gate_rejected_it(decision: str):
    assert values(everything(link_0=outcome(decision)))["sabotaged_rejected_of_5"] == 4


def test_a_missing_lesson_leaves_its_figures_open_and_says_what_would_run_it():
    outcomes = everything()
    del outcomes[Arm("json", 1)]
    found = figures(LESSON_ARMS, SABOTAGE_ARMS, outcomes)
    assert found["lessons_gained_of_5"].value is found["minutes_max"].value is None
    assert "python -m tests.bench.teach --arm json --seed 1" in found["minutes_max"].reason
    assert found["sabotaged_rejected_of_5"].value == 5


def test_a_lesson_whose_drift_was_not_measured_leaves_that_open_and_says_why():
    failed = replace(outcome("failed"), taught=Taught("one", "L0", "failed", reasons=("No room.",)), drift=None)
    found = figures(LESSON_ARMS, SABOTAGE_ARMS, everything(name_0=failed))
    assert found["off_target_kl"].value is None
    assert "name-0" in found["off_target_kl"].reason and "No room." in found["off_target_kl"].reason
    assert found["minutes_max"].value is not None


def test_before_anything_is_taught_the_report_has_every_goal_and_a_reason(tmp_path: Path):
    plain = report.to_json(make_report(Work(tmp_path)))
    assert [goal["id"] for goal in plain["goals"]] == list(teach.GOALS)
    assert all(goal["value"] is None and goal["reason"] for goal in plain["goals"])
    assert len(plain["machine"]["not_taught"]) == 20
    assert report.to_text(make_report(Work(tmp_path)))


@pytest.mark.model
@pytest.mark.usefixtures("small_lessons")
def test_an_arm_is_corrected_taught_and_judged_and_then_only_read(
    tmp_path: Path, tiny_profile: Path, trainer: Callable[..., TrainerProgram]
):
    arm, work = Arm("link", 0), Work(tmp_path / "bench", 1, profile=str(tiny_profile), trainer=trainer())
    said: list[str] = []
    made = teach_arm(work, arm, said.append)
    # The two lines of the small suites are too little for anything else.
    assert (made.taught.decision, made.verdict, made.refusal) == ("rejected", "not_enough_evidence", "links")
    assert made.drift is not None and made.drift.factory_nats > 0
    assert len(made.compared) == made.taught.items > 0
    phases = [line.partition(",")[0] for line in said if "minutes left" in line]
    # What candidates are held against is tested before there is one.
    assert list(dict.fromkeys(phases)) == ["loading", "answering", "testing", "training", "saving"]
    assert "testing" in phases[phases.index("training") :]
    teach.teach_all(work, [arm], resume=True)  # taught again, it would find no trainer like this in another process
    assert read_outcome(work, arm) == made
    assert read_outcome(replace(work, is_quick=True), arm) is None
    shown = report.to_json(make_report(work, (), (arm,)))["tables"]
    assert [row["refused before training"] for row in shown["sabotaged lessons"]] == ["links"]
    assert len(shown["held-out prompts side by side"]) == 2
    # The next lesson is spared what the first had to measure.
    another = teach_arm(work, Arm("link-worded", 0), lambda _: None)
    assert (made.is_first, another.is_first) == (True, False)
    measured = {path.name for path in work.references.iterdir()}
    assert measured and measured <= {path.name for path in work.path(arm).glob("home/cache/evaluations/*.json")}


@pytest.mark.model
@pytest.mark.usefixtures("small_lessons")
def test_an_arm_whose_training_fails_has_an_outcome_that_says_why_and_is_not_final(
    tmp_path: Path, tiny_profile: Path, trainer: Callable[..., TrainerProgram]
):
    arm, work = Arm("name", 1), Work(tmp_path / "bench", 1, profile=str(tiny_profile), trainer=trainer("failed"))
    failed = teach_arm(work, arm, lambda _: None)
    assert (failed.taught.decision, failed.verdict, failed.drift) == ("failed", "", None)
    assert failed.taught.reasons[0] == "The loss is no number."
    assert failed.rules == ("addressed_by_name",) and not failed.refusal
    assert read_outcome(work, arm) == failed and not failed.is_final
    (recipe,) = work.path(arm).glob("home/lessons/*/inputs/recipe.toml")
    assert read_recipe(recipe).seed == arm.seed
