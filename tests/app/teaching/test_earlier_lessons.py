"""A lesson after others: what they taught is learned again, and none unlearns what another is about."""

from app.teaching.learning import EarlierLesson, with_earlier
from local_training.examples import AnswerExample
from local_training.lessons.building import HeldOutItem, LessonData
from local_training.lessons.lesson import Lesson
from local_training.tasks import TaskMessage

LESSON = Lesson((), (), 8)


def example(name: str, tag: str = "practice") -> AnswerExample:
    return AnswerExample(name, (TaskMessage("user", f"About {name}?"),), "L0", "So.", group=name, tags=(tag, "facts"))


def data(*examples: AnswerExample, tested: str = "") -> LessonData:
    held_out = (HeldOutItem("h", tested, ""),) if tested else ()
    return LessonData(LESSON, examples, held_out, ())


NOW = data(*(example(f"now-{n}") for n in range(8)), example("now-c", "contrast"), tested="About old-1?")
BEFORE = EarlierLesson("before", data(*(example(f"old-{n}") for n in range(8)), example("old-c", "contrast")))


def test_a_first_lesson_is_learned_as_it_is():
    assert with_earlier(NOW, ()) is NOW


def test_examples_of_the_lesson_before_follow_up_to_half_of_the_new_ones_under_names_of_their_own():
    found = with_earlier(NOW, (BEFORE,)).examples
    assert [one.example_id for one in found[:8]] == [f"now-{n}" for n in range(8)]
    assert [(one.example_id, one.group) for one in found[8:]] == [
        (f"before old-{n}", f"before old-{n}") for n in (0, 2, 3, 4)
    ], "old-1 is what the new lesson is tested with"


def test_what_one_lesson_leaves_as_it_was_another_may_have_changed():
    short = EarlierLesson("before", data(example("old-0"), example("old-c", "contrast")))
    assert not any("contrast" in one.tags for one in with_earlier(NOW, (short,)).examples)
