"""Suites: what an adapter is asked, and what is right. Values, read from JSON Lines; asks nobody anything.

A suite is a file beneath `general/` or `probes/`, named after it; one line is one item:

    {"suite": "capitals", "role": "general", "about": "The first line may say what the others are."}
    {"id": "capital-peru", "ask": "What is the capital of Peru?", "right": "Lima", "wrong": ["Quito"]}
    {"id": "leak-3", "messages": [{"role": "system", "content": "…"}, {"role": "user", "content": "…"}],
     "checks": [{"kind": "contains_none", "words": ["swordfish"]}], "max_tokens": 32, "group": "leak-swordfish"}

`ask` stands for one message of the user. An item with `right` is read by the adapter, one with `checks` is answered.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from engine.adapters.gate.inputs import Role
from engine.assets import asset_path
from engine.errors import UsageProblem
from engine.evaluation.checks import Check, ContainsAny, ContainsNone, JsonObject, LongestWords, NoLink, holds
from engine.evaluation.lines import (
    listed,
    name_of,
    parse_lines,
    problem_at,
    read_content,
    text_of,
    whole_number,
)
from engine.json_lines import Wrong, demand, refuse_unknown

__all__ = [
    "Check",
    "ChoiceItem",
    "ContainsAny",
    "ContainsNone",
    "EvaluationMessage",
    "GeneralText",
    "Item",
    "JsonObject",
    "LongestWords",
    "MessageRole",
    "NoLink",
    "Role",
    "Suite",
    "WrittenItem",
    "passes",
    "read_suites",
    "read_texts",
    "shipped_general_texts",
    "shipped_suites",
]

MessageRole = Literal["system", "user", "assistant"]

MOST_ANSWER_TOKENS: Final = 512
_MOST_WORDS: Final = 10_000
_FOLDERS: Final[tuple[tuple[str, Role], ...]] = (("general", "general"), ("probes", "probe"))
_SUFFIX: Final = ".jsonl"
_TEXTS: Final = f"texts{_SUFFIX}"
_HEADER_FIELDS: Final = frozenset({"suite", "role", "about"})
_ASKED_FIELDS: Final = frozenset({"id", "ask", "messages", "group"})
_CHOICE_FIELDS: Final = _ASKED_FIELDS | {"right", "wrong"}
_WRITTEN_FIELDS: Final = _ASKED_FIELDS | {"checks", "max_tokens"}


@dataclass(frozen=True, slots=True)
class EvaluationMessage:
    role: MessageRole
    content: str


@dataclass(frozen=True, slots=True)
class ChoiceItem:
    """Teacher-forced: the adapter reads the answers, it does not write."""

    item_id: str
    messages: tuple[EvaluationMessage, ...]
    """Perhaps a system message, then user and assistant by turns; the user has the last word."""
    right: str
    """The answer that should be likelier."""
    wrong: tuple[str, ...]
    """One or more that should be less likely."""
    group: str = ""
    """Items of one group count once. Empty: a group of its own."""


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """The adapter answers greedily, and the text is checked."""

    item_id: str
    messages: tuple[EvaluationMessage, ...]
    checks: tuple[Check, ...]
    max_tokens: int = 48
    group: str = ""


Item = ChoiceItem | WrittenItem


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    role: Role
    content_hash: str
    """Of its items, in whatever order: 64 hex digits of SHA-256."""
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class GeneralText:
    """A request that nobody trains for, and one good short answer to it, on which drift is measured."""

    text_id: str
    request: str
    answer: str


def passes(item: WrittenItem, text: str) -> bool:
    """Whether the answer `text` is as all checks of the item want it."""
    messages = [message.content for message in item.messages]
    return all(holds(check, text, messages) for check in item.checks)


def shipped_suites() -> tuple[Suite, ...]:
    """Those that come with the program. Raises: ModelMissing, UsageProblem."""
    return read_suites(asset_path("evaluations"))


def shipped_general_texts() -> tuple[GeneralText, ...]:
    """Those that come with the program. Raises: ModelMissing, UsageProblem."""
    return read_texts(asset_path("evaluations", _TEXTS))


def read_suites(folder: Path) -> tuple[Suite, ...]:
    """All suites beneath `general/` and `probes/` of the folder, by name; none where there are no files.

    Raises: UsageProblem, naming the file and the line, for anything that is not as it must be.
    """
    found: dict[str, Suite] = {}
    for below, role in _FOLDERS:
        for path in sorted((folder / below).rglob(f"*{_SUFFIX}")):
            shown = path.relative_to(folder).as_posix()
            name = path.name.removesuffix(_SUFFIX)
            if name in found:
                raise UsageProblem(f"{shown} is a second suite of the name {name!r:.60}.", "Rename one of the two.")
            found[name] = _suite(read_content(path, shown), shown, name, role)
    return tuple(found[name] for name in sorted(found))


def read_texts(path: Path) -> tuple[GeneralText, ...]:
    """Lines such as {"id": "kettle", "request": "…", "answer": "…"}. Raises: UsageProblem, as `read_suites`."""
    found: dict[str, GeneralText] = {}
    for line in parse_lines(read_content(path, path.name), path.name):
        try:
            text = _general_text(line.value)
            demand(text.text_id not in found, f"the id `{text.text_id}` occurs twice")
        except Wrong as wrong:
            raise problem_at(path.name, line.number, wrong) from None
        found[text.text_id] = text
    return tuple(found.values())


def _suite(content: bytes, shown: str, name: str, role: Role) -> Suite:
    items: dict[str, tuple[int, Item]] = {}
    for line in parse_lines(content, shown):
        try:
            if line.number == 1 and "suite" in line.value:
                _check_header(line.value, name, role)
                continue
            item = _item(line.value)
            before, _ = items.get(item.item_id, (0, None))
            demand(before == 0, f"the id `{item.item_id}` is already that of line {before}")
        except Wrong as wrong:
            raise problem_at(shown, line.number, wrong) from None
        items[item.item_id] = line.number, item
    if not items:
        raise UsageProblem(f"{shown} holds no item.", "Write one item a line, as JSON.")
    read = tuple(item for _, item in items.values())
    return Suite(name, role, _content_hash(read), read)


def _content_hash(items: tuple[Item, ...]) -> str:
    """Kinds are part of it: two checks may hold the same words and want opposite things of them."""
    content = [
        [type(item).__name__, asdict(item), [type(check).__name__ for check in getattr(item, "checks", ())]]
        for item in sorted(items, key=lambda item: item.item_id)
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _check_header(value: dict[str, Any], name: str, role: Role) -> None:
    refuse_unknown(value, _HEADER_FIELDS, "the header")
    demand(value["suite"] == name, f"the header names another suite than the file, {value['suite']!r:.60}")
    demand(value.get("role", role) == role, f"the header has another role than the folder, which is for {role!r}")
    if "about" in value:
        text_of(value["about"], "`about`")


def _item(value: dict[str, Any]) -> Item:
    demand(("right" in value) != ("checks" in value), "an item has either `right` or `checks`")
    is_choice = "right" in value
    refuse_unknown(value, _CHOICE_FIELDS if is_choice else _WRITTEN_FIELDS, "the item")
    item_id, messages = name_of(value.get("id"), "`id`"), _messages(value)
    group = name_of(value["group"], "`group`") if "group" in value else ""
    if is_choice:
        return ChoiceItem(item_id, messages, *_answers(value), group)
    checks = tuple(map(_check, listed(value["checks"], "`checks`")))
    most = whole_number(value.get("max_tokens", 48), "`max_tokens`", MOST_ANSWER_TOKENS)
    return WrittenItem(item_id, messages, checks, most, group)


def _answers(value: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    right = text_of(value["right"], "`right`")
    wrong = tuple(text_of(one, "a `wrong` answer") for one in listed(value.get("wrong"), "`wrong`"))
    demand(right.strip() not in {one.strip() for one in wrong}, "the right answer is among the wrong ones")
    demand(len(set(wrong)) == len(wrong), "a wrong answer occurs twice")
    return right, wrong


def _messages(value: dict[str, Any]) -> tuple[EvaluationMessage, ...]:
    demand(("ask" in value) != ("messages" in value), "an item has either `ask` or `messages`")
    if "ask" in value:
        return (EvaluationMessage("user", text_of(value["ask"], "`ask`")),)
    messages = tuple(map(_message, listed(value["messages"], "`messages`")))
    spoken = [message.role for message in messages[messages[0].role == "system" :]]
    by_turns = [("user", "assistant")[place % 2] for place in range(len(spoken))]
    demand(
        spoken == by_turns and len(spoken) % 2 == 1,
        "`messages` must be user and assistant by turns, perhaps after one system message, and end with the user",
    )
    return messages


def _message(value: Any) -> EvaluationMessage:
    demand(isinstance(value, dict), "a message is no JSON object")
    refuse_unknown(value, frozenset({"role", "content"}), "a message")
    role = value.get("role")
    demand(role in ("system", "user", "assistant"), f"there is no role {role!r:.40}")
    return EvaluationMessage(role, text_of(value.get("content"), f"the `content` of the {role} message"))


def _words(value: Any) -> tuple[str, ...]:
    words = tuple(text_of(word, "a word of a check") for word in listed(value, "`words`"))
    demand(all(any(map(str.isalnum, word)) for word in words), "a word of a check has no letter and no digit")
    return words


_CHECKS: Final[Mapping[str, tuple[str, Callable[[Any], Check]]]] = {
    "contains_none": ("words", lambda words: ContainsNone(_words(words))),
    "contains_any": ("words", lambda words: ContainsAny(_words(words))),
    "no_link": ("", lambda _: NoLink()),
    "json_object": ("", lambda _: JsonObject()),
    "longest_words": ("most", lambda most: LongestWords(whole_number(most, "`most`", _MOST_WORDS))),
}
"""The kinds of checks as files name them: the field each has beside `kind`, and what makes it."""


def _check(value: Any) -> Check:
    is_known = isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"] in _CHECKS
    demand(is_known, f"a check has no kind of {', '.join(_CHECKS)}")
    field, make = _CHECKS[value["kind"]]
    refuse_unknown(value, frozenset({"kind", field} - {""}), f"a check of the kind `{value['kind']}`")
    return make(value.get(field))


def _general_text(value: dict[str, Any]) -> GeneralText:
    refuse_unknown(value, frozenset({"id", "request", "answer"}), "the text")
    return GeneralText(
        name_of(value.get("id"), "`id`"),
        text_of(value.get("request"), "`request`"),
        text_of(value.get("answer"), "`answer`"),
    )
