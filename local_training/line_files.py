"""What task files and example files have in common: JSON Lines, each line saying what is asked and of which expert.

Every fault is found, with its line and the reason; a fault is never passed over, for what was read wrongly would be
learned wrongly. Knows neither rewards nor answers. Light: no torch.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from engine.errors import UsageProblem
from engine.json_lines import Wrong, demand, numbered_lines, object_of, refuse_unknown
from local_training.tasks import TaskMessage

MOST_FILE_BYTES: Final = 256 << 20
MOST_LINE_BYTES: Final = 1 << 20
MOST_PROMPT_CHARACTERS: Final = 200_000
MOST_NAME_CHARACTERS: Final = 200
"""Of an id, a group, an expert, a tag or a source."""
MOST_LISTED: Final = 64
"""Messages, rewards, tags or sources of one line."""
ASKED_FIELDS: Final = frozenset({"id", "prompt", "expert", "group", "tags", "source"})
_BOM: Final = b"\xef\xbb\xbf"
_FAULTS_SHOWN: Final = 20

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Fault:
    line: int
    """From 1."""
    reason: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What every line says: its id, what is asked of whom, and what it belongs to."""

    line_id: str
    messages: tuple[TaskMessage, ...]
    expert: str
    group: str
    tags: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed(Generic[Item]):
    """All items of a file. `content_hash` is of its bytes: 64 hex digits of SHA-256."""

    items: tuple[Item, ...]
    content_hash: str


def read_content(path: Path, problem: type[UsageProblem]) -> bytes:
    """All bytes of a file. Raises: `problem` when there is no such file or it is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise problem(
            f"{path.name} cannot be read: {error.strerror or error}.", "Check its path and whether you may read it."
        ) from error
    if len(content) > MOST_FILE_BYTES:
        raise problem(f"{path.name} is larger than {MOST_FILE_BYTES >> 20} MiB.", "Split it into several.")
    return content


def all_of(
    content: bytes,
    name: str,
    noun: str,
    make: Callable[[dict[str, Any]], tuple[str, Item]],
    problem: type[UsageProblem],
) -> Listed[Item]:
    """All items of a file called `name`; `noun` is what one of them is called, the rest as in `parse_lines`.

    Raises: `problem` when it holds no item, or any line has a fault.
    """
    items, faults = parse_lines(content, make)
    if faults:
        shown = "\n".join(f"  line {fault.line}: {fault.reason}" for fault in faults[:_FAULTS_SHOWN])
        more = f"\n  and {len(faults) - _FAULTS_SHOWN} more" if len(faults) > _FAULTS_SHOWN else ""
        raise problem(
            f"{name} has {len(faults)} {'fault' if len(faults) == 1 else 'faults'}:\n{shown}{more}",
            "Correct these lines. Nothing of the file was used.",
        )
    if not items:
        raise problem(f"{name} holds no {noun}.", f"Write one {noun} a line, as JSON.")
    return Listed(items, hashlib.sha256(content).hexdigest())


def parse_lines(
    content: bytes, make: Callable[[dict[str, Any]], tuple[str, Item]]
) -> tuple[tuple[Item, ...], tuple[Fault, ...]]:
    """The items of the lines without a fault, and the faults of the others.

    make: the id and the item of one line's object. Raises: Wrong.
    """
    faults: list[Fault] = []
    found: dict[str, tuple[int, Item]] = {}
    if content.startswith(_BOM):
        faults.append(Fault(1, "it begins with a byte order mark; save the file as UTF-8 without one"))
        content = content.removeprefix(_BOM)
    for number, line in numbered_lines(content):
        try:
            line_id, item = make(object_of(line, MOST_LINE_BYTES))
            demand(line_id not in found, f"the id `{line_id}` is already that of line {found.get(line_id, (0,))[0]}")
        except Wrong as wrong:
            faults.append(Fault(number, str(wrong)))
        else:
            found[line_id] = (number, item)
    return tuple(item for _, item in found.values()), tuple(faults)


def asked(value: dict[str, Any]) -> Asked:
    """Raises: Wrong."""
    return Asked(
        _name(value, "id"),
        _messages(value.get("prompt")),
        _name(value, "expert"),
        _name(value, "group") if "group" in value else "",
        tuple(_named(tag, "a tag") for tag in listed(value.get("tags", []), "tags")),
        _sources(value.get("source", [])),
    )


def _sources(value: Any) -> tuple[str, ...]:
    """One id or several."""
    several = listed([value] if isinstance(value, str) else value, "source")
    return tuple(dict.fromkeys(_named(source, "`source`") for source in several))


def _messages(prompt: Any) -> tuple[TaskMessage, ...]:
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    demand(isinstance(prompt, list) and prompt != [], "`prompt` must be a text or a list of messages")
    messages = tuple(map(_message, listed(prompt, "prompt")))
    demand(
        sum(len(message.text) for message in messages) <= MOST_PROMPT_CHARACTERS,
        f"`prompt` has more than {MOST_PROMPT_CHARACTERS:,} characters",
    )
    spoken = messages[1:] if messages[0].role == "system" else messages
    wanted = [("user", "assistant")[place % 2] for place in range(len(spoken))]
    demand(
        [message.role for message in spoken] == wanted and len(spoken) % 2 == 1,
        "`prompt` must be user and assistant by turns, perhaps after one system message, and end with the user",
    )
    return messages


def _message(value: Any) -> TaskMessage:
    demand(isinstance(value, dict), "a message is no JSON object")
    refuse_unknown(value, frozenset({"role", "content"}), "a message")
    role, text = value.get("role"), value.get("content")
    demand(role in ("system", "user", "assistant"), f"there is no role {role!r:.40}")
    demand(isinstance(text, str) and text.strip() != "", f"the {role} message has no text as its `content`")
    return TaskMessage(role, text)


def _name(value: dict[str, Any], field: str) -> str:
    demand(field in value, f"`{field}` is missing")
    return _named(value[field], f"`{field}`")


def _named(value: Any, what: str) -> str:
    is_name = isinstance(value, str) and value.strip() == value != "" and value.isprintable()
    demand(is_name, f"{what} must be a text that can be read, without space around it")
    demand(len(value) <= MOST_NAME_CHARACTERS, f"{what} has more than {MOST_NAME_CHARACTERS} characters")
    return str(value)


def listed(value: Any, field: str) -> list[Any]:
    """Raises: Wrong when it is no list, or a long one."""
    demand(isinstance(value, list), f"`{field}` must be a list")
    demand(len(value) <= MOST_LISTED, f"`{field}` lists more than {MOST_LISTED}")
    return list(value)
