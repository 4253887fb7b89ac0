"""Practice prompts: questions of ours, and which of them are like those that the user corrected.

They are files in `assets/lessons`, JSON Lines, one prompt a line:

    {"id": "facts-english-001", "prompt": "What is the capital of Norway?", "topic": "facts"}
    {"id": "extraction-english-001", "prompt": "…", "topic": "extraction", "fields": {"name": "Jack", "age": 62}}
    {"id": "facts-chinese-001", "prompt": "…", "topic": "facts", "answer": "…"}

`fields` says what a prompt contains. `answer` is a short right answer, where the starter can give none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from engine.assets import asset_path
from engine.errors import UsageProblem
from engine.json_lines import demand, refuse_unknown
from engine.signals.values import Correction
from local_training.lessons.json_keys import JsonKeys
from local_training.lessons.lesson import Lesson
from local_training.lessons.similarity import Likeness, cosine, is_near_any, word_set
from local_training.lessons.traits import Fields
from local_training.lessons.wording import LANGUAGES, Language, language_of
from local_training.line_files import all_of, read_content

TOPICS: Final = ("everyday", "extraction", "facts", "measures", "writing")
_NARROW: Final = frozenset({"extraction", "measures"})
"""Prompts unlike other questions; they belong to a lesson only if nothing is more like what was corrected."""
_KNOWN: Final = frozenset({"id", "prompt", "topic", "fields", "answer"})
_LANGUAGE_SHARE: Final = 0.2
"""A language counts as corrected when so many of the corrected questions are in it."""
_LIKE_SHARE: Final = 0.4
"""A topic belongs to the lesson when it is so like the corrected questions, beside the likest one."""
_NEIGHBOURS: Final = 5
_FEWEST_WITH_CONTENT: Final = 60
"""With fewer prompts that have what a JSON lesson asks for, the model is asked to answer any like those corrected."""


class PracticeProblem(UsageProblem):
    """A file of practice prompts cannot be used; the problem lists the faults."""


@dataclass(frozen=True, slots=True)
class PracticePrompt:
    practice_id: str
    prompt: str
    topic: str
    fields: Fields
    answer: str
    """Empty where there is none."""

    @property
    def language(self) -> Language:
        return language_of(self.prompt) or "en"


@cache
def practice_prompts() -> tuple[PracticePrompt, ...]:
    """All that come with the program, in the order of the names of their files. Raises: PracticeProblem."""
    return read_practice(asset_path("lessons"))


def read_practice(folder: Path) -> tuple[PracticePrompt, ...]:
    """All practice prompts of the files of a folder. Raises: PracticeProblem, for a fault in any line."""
    found: list[PracticePrompt] = []
    for path in sorted(folder.glob("*.jsonl")):
        content = read_content(path, PracticeProblem)
        found += all_of(content, path.name, "practice prompt", _practice, PracticeProblem).items
    return tuple(found)


def _practice(value: dict[str, Any]) -> tuple[str, PracticePrompt]:
    refuse_unknown(value, _KNOWN, "the practice prompt")
    for field in ("id", "prompt", "topic"):
        demand(isinstance(value.get(field), str) and value[field].strip() != "", f"`{field}` must be a text")
    demand(value["topic"] in TOPICS, f"there is no topic `{value['topic']:.40}`")
    fields, answer = value.get("fields", {}), value.get("answer", "")
    demand(
        isinstance(fields, dict) and all(isinstance(content, str | int) for content in fields.values()),
        "`fields` must be an object of texts and whole numbers",
    )
    demand(isinstance(answer, str), "`answer` must be a text")
    practice = PracticePrompt(value["id"], value["prompt"], value["topic"], MappingProxyType(fields), answer)
    return practice.practice_id, practice


def choose_practice(
    lesson: Lesson, corrections: Sequence[Correction], practice: Sequence[PracticePrompt]
) -> tuple[PracticePrompt, ...]:
    """Those in the scope of the lesson, none of them a near copy of a corrected question; the likest topic first.

    The scope is what the user corrected: the languages of the questions, and the topics that are like them.
    """
    prompts = [correction.prompt for correction in corrections]
    taken = [word_set(prompt) for prompt in prompts]
    languages = corrected_languages(prompts)
    new = [one for one in practice if one.language in languages and not is_near_any(one.prompt, taken)]
    fitting = [one for one in new if _has_content(one, lesson)]
    if len(fitting) < _FEWEST_WITH_CONTENT:
        fitting = new
    topics = _like_topics(lesson, prompts, fitting)
    return tuple(one for topic in topics for one in fitting if one.topic == topic)


def corrected_languages(prompts: Sequence[str]) -> frozenset[Language]:
    found = [language_of(prompt) for prompt in prompts]
    return frozenset(
        language for language in found if language and found.count(language) >= _LANGUAGE_SHARE * len(found)
    )


def concerned_languages(lesson: Lesson, prompts: Sequence[str]) -> frozenset[Language]:
    """Of requests on which any answer is meant to become another one, so that staying as it was is no virtue there.

    None where that is so of no request, or of all.
    """
    languages = corrected_languages(prompts) if lesson.changes_language else frozenset()
    return languages if len(languages) < len(LANGUAGES) else frozenset()


def _has_content(one: PracticePrompt, lesson: Lesson) -> bool:
    """A JSON lesson needs prompts that have what its keys ask for, where the keys are such that we know."""
    return all(
        trait.covers(one.fields) or trait.needs_answer() for trait in lesson.traits if isinstance(trait, JsonKeys)
    )


def _like_topics(lesson: Lesson, prompts: Sequence[str], fitting: Sequence[PracticePrompt]) -> tuple[str, ...]:
    if any(trait.kind == "metric_units" for trait in lesson.traits):
        # Elsewhere no measure is asked for.
        return ("measures",)
    likeness = Likeness([*prompts, *(one.prompt for one in fitting)])
    corrected = [likeness.vector(prompt) for prompt in prompts]
    scores: dict[str, float] = {}
    for topic in TOPICS:
        vectors = [likeness.vector(one.prompt) for one in fitting if one.topic == topic]
        if vectors:
            nearest = [sorted((cosine(one, vector) for vector in vectors), reverse=True) for one in corrected]
            scores[topic] = sum(sum(values[:_NEIGHBOURS]) / _NEIGHBOURS for values in nearest) / len(nearest)
    likest_first = sorted(scores, key=lambda topic: (-scores[topic], topic))
    return tuple(
        topic
        for place, topic in enumerate(likest_first)
        if place == 0 or (topic not in _NARROW and scores[topic] >= _LIKE_SHARE * scores[likest_first[0]])
    )
