"""Before and after on held-out prompts: figures from all pairs, and a fair choice of those shown."""

from local_training.lessons.addressing import AddressedByName
from local_training.lessons.building import HeldOutItem, LessonData
from local_training.lessons.comparing import compare
from local_training.lessons.lesson import Lesson

LESSON = Lesson((AddressedByName("Mira", "Mira, "),), (), 8)
RIGHT, WRONG = "Mira, yes.", "Yes."


def compared(before, after, **settings):
    """The comparison of as many items as there are answers; R is one that follows the lesson."""
    items = tuple(HeldOutItem(f"item-{n}", f"Question {n}?", "") for n in range(len(before)))
    answers = [
        {item.item_id: RIGHT if letter == "R" else WRONG for item, letter in zip(items, letters, strict=True)}
        for letters in (before, after)
    ]
    return compare(LessonData(LESSON, (), items, ()), *answers, settings.pop("seed", 0), **settings)


def test_a_lesson_that_was_learned_is_sure_with_wins_alone():
    found = compared("." * 20, "R" * 15 + "." * 5)
    assert (found.items, found.right_before, found.right_after, found.wins, found.losses) == (20, 0, 15, 15, 0)
    assert found.p_value < 0.001
    assert found.points == 75
    assert 50 < found.low_points < 75 < found.high_points < 95
    assert found.after_interval[0] < 0.75 < found.after_interval[1]


def test_as_many_losses_as_wins_prove_nothing():
    found = compared("RR..", "..RR")
    assert (found.wins, found.losses, found.points) == (2, 2, 0)
    assert found.p_value > 0.5


def test_examples_are_drawn_by_the_seed_and_not_chosen():
    answers = ("." * 40, "R" * 40)
    assert compared(*answers, seed=1).shown == compared(*answers, seed=1).shown
    assert compared(*answers, seed=1).shown != compared(*answers, seed=2).shown


def test_a_loss_is_always_shown_where_there_is_one():
    for seed in range(20):
        shown = compared("R" + "." * 59, "." + "R" * 59, seed=seed).shown
        assert [pair.change for pair in shown].count("lost") == 1
        assert len({pair.prompt for pair in shown}) == len(shown) == 6


def test_what_did_not_change_is_shown_as_such():
    shown = compared("R.", "R.").shown
    assert {pair.change for pair in shown} == {"kept", "missed"}
    assert all(pair.before == pair.after for pair in shown)


def test_of_no_items_nothing_is_known():
    found = compared("", "")
    assert (found.items, found.points, found.p_value, found.shown) == (0, 0, 1, ())
    assert (found.low_points, found.high_points) == (-100, 100)


def test_examples_are_at_most_as_many_as_there_are():
    assert len(compared("...", "RRR").shown) == 3
    assert len(compared("...", "RRR", shown=2).shown) == 2
