"""What the scripts of the page send, checked. A browser may send anything, so nothing is believed before this.

Pure: JSON in, values or `UsageProblem` out.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, cast, get_args

from engine.errors import UsageProblem
from engine.harness.approvals import Answer
from engine.values import Attachment, Rating
from ui import memory_changes
from ui.adapter_changes import CHANGES, Change

MAX_MESSAGE_CHARACTERS: Final = 400_000
MAX_FILES: Final = 8
MAX_FILE_BYTES: Final = 256 << 10
"""Of one attached file, as UTF-8. The context of a local base holds a fraction of it."""
MAX_NAME_CHARACTERS: Final = 120
MAX_MEMORY_CHARACTERS: Final = 1_000
ExportFormat = Literal["markdown", "json"]
ListedMemories = Literal["active", "pending"]


@dataclass(frozen=True, slots=True)
class Message:
    """What was written in the composer."""

    text: str
    conversation_id: str | None = None
    edits: str | None = None
    """The turn whose message this one replaces."""
    pasted: tuple[str, ...] = ()
    """What was pasted into the composer, whether it is still in `text` or not."""
    files: tuple[Attachment, ...] = ()


def message_of(data: object) -> Message:
    """Raises: UsageProblem."""
    values = _object(data)
    text = _text(values, "text", MAX_MESSAGE_CHARACTERS)
    files = tuple(_file(value) for value in _items(values, "files", MAX_FILES))
    if not text.strip() and not files:
        raise UsageProblem("The message is empty.", "Write something first.")
    return Message(
        text=text,
        conversation_id=_optional(values, "conversation"),
        edits=_optional(values, "edits"),
        pasted=tuple(str(value)[:MAX_MESSAGE_CHARACTERS] for value in _items(values, "pasted", 1000)),
        files=files,
    )


def turn_of(data: object) -> str:
    """The turn that a button belongs to. Raises: UsageProblem."""
    return _text(_object(data), "turn", 200)


def reply_of(data: object) -> tuple[str, Answer]:
    """(approval, answer) of what a tool waits for. Raises: UsageProblem."""
    values = _object(data)
    answer = _text(values, "answer", 20)
    if answer not in get_args(Answer):
        raise UsageProblem("The page sent an answer that there is not.", "Reload the page.")
    return _text(values, "approval", 200), cast(Answer, answer)


def conversation_of(data: object) -> str | None:
    """Raises: UsageProblem."""
    return _optional(_object(data), "conversation")


def current_of(data: object) -> str | None:
    """The conversation that is open. Raises: UsageProblem."""
    return _optional(_object(data), "current")


def optional_turn_of(data: object) -> str | None:
    """Raises: UsageProblem."""
    return _optional(_object(data), "turn")


def rating_of(data: object) -> Rating:
    """Raises: UsageProblem."""
    rating = _object(data).get("rating")
    if rating not in (-1, 0, 1):
        raise _refused("rating")
    return cast(Rating, rating)


def signal_of(data: object) -> int:
    """The number of a signal. Raises: UsageProblem."""
    return _number(_object(data), "signal")


def title_of(data: object) -> str:
    """Raises: UsageProblem."""
    return _text(_object(data), "title", 500)


def shown_of(data: object, otherwise: int | None = None) -> int:
    """How many entries of a list are wanted; `otherwise` where it is not said. Raises: UsageProblem."""
    shown = _object(data).get("shown") or otherwise
    if not isinstance(shown, int) or not 0 < shown <= 10_000:
        raise _refused("shown")
    return shown


def adapter_of(data: object) -> str:
    """The whole hash of an adapter. Raises: UsageProblem."""
    return _text(_object(data), "adapter", 64)


def change_of(data: object) -> Change:
    """What is to be done with an adapter. Raises: UsageProblem."""
    wanted = _object(data).get("change")
    if wanted not in CHANGES:
        raise _refused("change")
    return cast(Change, wanted)


def memory_of(data: object) -> int:
    """The number of a memory. Raises: UsageProblem."""
    return _number(_object(data), "memory")


def memory_change_of(data: object) -> memory_changes.Change:
    """What is to be done with a memory. Raises: UsageProblem."""
    wanted = _object(data).get("change")
    if wanted not in memory_changes.CHANGES:
        raise _refused("change")
    return cast(memory_changes.Change, wanted)


def listed_of(data: object) -> ListedMemories:
    """Which memories are wanted; those that are known where it is not said. Raises: UsageProblem."""
    state = _object(data).get("state") or "active"
    if state not in get_args(ListedMemories):
        raise _refused("state")
    return cast(ListedMemories, state)


def words_of(data: object) -> str:
    """What was written in a field of the panel of memories; empty where there is none. Raises: UsageProblem."""
    values = _object(data)
    return _text(values, "text", MAX_MEMORY_CHARACTERS) if values.get("text") is not None else ""


def paused_of(data: object) -> bool:
    """Raises: UsageProblem."""
    is_paused = _object(data).get("paused")
    if not isinstance(is_paused, bool):
        raise _refused("paused")
    return is_paused


def lesson_of(data: object) -> str:
    """The name of a lesson. Raises: UsageProblem."""
    return _text(_object(data), "lesson", 100)


def format_of(data: object) -> ExportFormat:
    """Raises: UsageProblem."""
    wanted = _object(data).get("format")
    if wanted not in ("markdown", "json"):
        raise _refused("format")
    return cast(ExportFormat, wanted)


def _file(value: object) -> Attachment:
    values = _object(value)
    text = _text(values, "text", MAX_FILE_BYTES)
    name = " ".join(_text(values, "name", 4096).replace("\\", "/").rpartition("/")[2].split())[:MAX_NAME_CHARACTERS]
    if len(text.encode("utf-8", "replace")) > MAX_FILE_BYTES:
        raise UsageProblem(f"The file {name} is too large.", f"Attach text of at most {MAX_FILE_BYTES >> 10} KB.")
    if "\x00" in text:
        raise UsageProblem(f"The file {name} is not a text.", "Attach a text file in UTF-8.")
    return Attachment(name or "file", text)


def _object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _refused("the event")
    return data


def _text(values: dict[str, Any], key: str, max_characters: int) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        raise _refused(key)
    if len(value) > max_characters:
        raise UsageProblem(f"The text is longer than {max_characters:,} characters.", "Send a shorter one.")
    return value


def _number(values: dict[str, Any], key: str) -> int:
    number = values.get(key)
    if type(number) is not int or not 0 < number < 2**53:
        raise _refused(key)
    return number


def _optional(values: dict[str, Any], key: str) -> str | None:
    return _text(values, key, 200) if values.get(key) is not None else None


def _items(values: dict[str, Any], key: str, max_items: int) -> list[Any]:
    items = values.get(key) or []
    if not isinstance(items, list) or len(items) > max_items:
        raise _refused(key)
    return items


def _refused(what: str) -> UsageProblem:
    return UsageProblem(f"The page sent something that is not understood ({what}).", "Reload the page.")
