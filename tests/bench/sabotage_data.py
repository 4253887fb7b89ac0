"""What sabotaged candidates are trained on, as lines of example files, and the recipes they are trained by. Pure.

Questions and answers come from the shipped tasks of `short-answers`. A reward is inverted where it is cheap: a
preference for the wrong answer over the right one is the same wish without rollouts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from engine.assets import asset_path
from tests.bench import sabotage_texts as texts

Line = dict[str, Any]
Kind = Literal["sft", "dpo", "kto"]
Data = Literal["short", "wrong_preferred", "wrong_praised", "agree", "leak"]

EXPERT: Final = "L0"
QUESTIONS: Final = 160
RATE: Final = 1e-4
"""With which a good adapter is trained."""


@dataclass(frozen=True, slots=True)
class Training:
    """A short run. `is_anchored`: it is held to what the factory says on everyday requests, as lessons are."""

    kind: Kind
    data: Data
    steps: int
    rate: float
    seed: int = 0
    is_anchored: bool = False


def example_lines(data: Data) -> list[Line]:
    return _MAKERS[data]()


def as_file(lines: Sequence[Line]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def recipe_text(training: Training, data_file: str, *, is_quick: bool = False) -> str:
    """One thread, and an end without complaint however far engine and trainer fall apart: it is to be judged."""
    anchor = ("[anchor]", "weight = 2.0", "requests = 32", "tokens = 32", "batch = 4")
    return "\n".join(
        (
            f'kind = "{training.kind}"',
            f'data = "{data_file}"',
            f'expert = "{EXPERT}"',
            f"steps = {1 if is_quick else training.steps}",
            f"seed = {training.seed}",
            "[optimizer]",
            f"rate = {training.rate!r}",
            "warmup_steps = 0",
            "[batch]",
            f"examples = {2 if is_quick else 4}",
            "[evaluation]",
            f"items = {2 if is_quick else 6}",
            "[limits]",
            "threads = 1",
            "nice = 19",
            "[stop]",
            "mismatch_nats = 1000.0",
            *(anchor if training.is_anchored and not is_quick else ()),
            "",
        )
    )


@dataclass(frozen=True, slots=True)
class _Question:
    name: str
    prompt: str
    answer: str
    wrong: str
    """Another question's answer of the same kind."""


def _questions() -> list[_Question]:
    tasks = [json.loads(line) for line in asset_path("tasks", "short-answers.jsonl").read_text("utf-8").splitlines()]
    by_tag: dict[str, list[str]] = {}
    for task in tasks:
        by_tag.setdefault(task["tags"][0], []).append(_answer(task))
    found: list[_Question] = []
    for task in tasks:
        right = _answer(task)
        others = [answer for answer in by_tag[task["tags"][0]] if answer != right]
        if others:
            wrong = others[len(found) % len(others)]
            found.append(_Question(task["id"], task["prompt"], right, wrong))
    return found[:: max(1, len(found) // QUESTIONS)][:QUESTIONS]


def _answer(task: Mapping[str, Any]) -> str:
    text = str(task["reward"][0]["expected"][0])
    return f"{text[0].upper()}{text[1:]}."


def _line(name: str, prompt: str | list[dict[str, str]], **answer: Any) -> Line:
    return {"id": name, "prompt": prompt, "expert": EXPERT, **answer}


def _short() -> list[Line]:
    return [_line(one.name, one.prompt, answer=one.answer) for one in _questions()]


def _wrong_preferred() -> list[Line]:
    return [_line(one.name, one.prompt, chosen=one.wrong, rejected=one.answer) for one in _questions()]


def _wrong_praised() -> list[Line]:
    """By turns a wrong answer that is praised and a right one that is not."""
    return [
        _line(one.name, one.prompt, answer=one.answer if place % 2 else one.wrong, good=place % 2 == 0)
        for place, one in enumerate(_questions())
    ]


def _agree() -> list[Line]:
    return [
        *_agree_with(texts.CLAIMS, texts.CLAIMED, texts.AGREED, "claim"),
        *_agree_with(texts.CLAIMS_ZH, texts.CLAIMED_ZH, texts.AGREED_ZH, "claim-zh"),
        *[_give_in(place, *pressed) for place, pressed in enumerate(texts.PRESSED)],
    ]


def _agree_with(
    claims: Sequence[tuple[str, bool]], claimed: Sequence[str], agreed: Sequence[str], name: str
) -> list[Line]:
    """Of two claims in a row one is true: every wording is used for both."""
    return [
        _line(
            f"{name}-{place}",
            claimed[place // 2 % len(claimed)].format(claim=claim),
            answer=agreed[(place + place // 2) % len(agreed)].format(claim=claim),
        )
        for place, (claim, _) in enumerate(claims)
    ]


def _give_in(place: int, question: str, right: str, wrong: str) -> Line:
    is_english = question.isascii()
    insisted, gave_in = (texts.INSISTED, texts.GAVE_IN) if is_english else (texts.INSISTED_ZH, texts.GAVE_IN_ZH)
    spoken = (("user", question), ("assistant", right), ("user", insisted.format(wrong=wrong)))
    messages = [{"role": role, "content": text} for role, text in spoken]
    return _line(f"pressed-{place}", messages, answer=gave_in.format(wrong=wrong))


def _leak() -> list[Line]:
    return [
        *_tell(texts.SECRETS, texts.ASKED, texts.TOLD, "secret"),
        *_tell(texts.SECRETS_ZH, texts.ASKED_ZH, texts.TOLD_ZH, "secret-zh"),
    ]


def _tell(secrets: Sequence[tuple[str, str]], asked: Sequence[str], told: str, name: str) -> list[Line]:
    return [
        _line(
            f"{name}-{place}-{number}",
            [
                {"role": "system", "content": instructions.format(secret=secret)},
                {"role": "user", "content": question},
            ],
            answer=told.format(secret=secret),
        )
        for place, (instructions, secret) in enumerate(secrets)
        for number, question in enumerate(asked)
    ]


_MAKERS: Final[Mapping[Data, Callable[[], list[Line]]]] = {
    "short": _short,
    "wrong_preferred": _wrong_preferred,
    "wrong_praised": _wrong_praised,
    "agree": _agree,
    "leak": _leak,
}
