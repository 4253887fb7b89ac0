"""How the branches of a conversation are counted and laid out."""

from tests.ui.scripted import turn
from ui.branches import Branch, neighbour, outline, positions

FIRST = turn("a", "c", "hi")
SECOND = turn("b", "c", "more", "a")
EDITED = turn("b2", "c", "other", "a")
AFTER = turn("d", "c", "and", "b2")
AGAIN = turn("b3", "c", "other", "a")
TREE = [FIRST, SECOND, EDITED, AFTER, AGAIN]


def test_a_turn_knows_which_of_its_versions_it_is() -> None:
    assert positions(TREE) == {"a": (1, 1), "b": (1, 3), "b2": (2, 3), "b3": (3, 3), "d": (1, 1)}


def test_a_first_message_has_versions_too() -> None:
    assert positions([FIRST, turn("z", "c", "hello")]) == {"a": (1, 2), "z": (2, 2)}


def test_stepping_ends_at_the_first_and_the_last_version() -> None:
    siblings = [SECOND, EDITED, AGAIN]
    assert neighbour(siblings, "b2", 1) is AGAIN
    assert neighbour(siblings, "b2", -1) is SECOND
    assert neighbour(siblings, "b", -1) is None
    assert neighbour(siblings, "b3", 1) is None
    assert neighbour(siblings, "gone", 1) is None


def test_turns_without_alternatives_stay_on_one_level() -> None:
    assert outline([FIRST, SECOND]) == (Branch((FIRST, SECOND), ()),)


def test_alternatives_stand_under_the_turn_they_answer() -> None:
    behind = (Branch((SECOND,), ()), Branch((EDITED, AFTER), ()), Branch((AGAIN,), ()))
    assert outline(TREE) == (Branch((FIRST,), behind),)


def test_an_empty_conversation_has_no_branches() -> None:
    assert outline([]) == ()


def test_a_turn_whose_parent_is_gone_begins_a_branch() -> None:
    assert outline([SECOND]) == (Branch((SECOND,), ()),)


def test_a_conversation_of_thousands_of_turns_is_laid_out() -> None:
    # Every turn has two versions, and the second goes on: as deep as a tree gets.
    turns = [turn("0", "c", "q")]
    for number in range(2000):
        turns += [turn(f"x{number}", "c", "q", str(number)), turn(str(number + 1), "c", "q", str(number))]
    branches, depth = outline(turns), 0
    while branches:
        branches, depth = branches[-1].branches, depth + 1
    assert depth == 2001
