"""One message of an export: who speaks, and its text with the files named that went with it.

Pure. Every field may be missing or of another kind. Knows nothing of the tree.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from engine.harness.message import fenced, shown_name

Speaker = Literal["user", "assistant", ""]
"""Empty where a message adds nothing to its turn."""
LeftOut = Literal["hidden", "reasoning", "tool", "unknown", ""]
"""Why a message that says something is not taken: it was never shown, it is a thought, it went to or came from a tool,
or nobody knows what it is."""

_REASONING: Final = frozenset({"thoughts", "reasoning_recap"})
_SETTINGS: Final = frozenset({"user_editable_context", "model_editable_context"})
"""What was told about the user before every conversation. A later review of memories would begin here."""
_POINTERS: Final = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}
_TEXTS: Final = frozenset({"", "text", "multimodal_text", "code"})
_CUT_OFF: Final = frozenset({"finished_partial_completion", "in_progress"})
_REFERENCE: Final = re.compile("\ue200[^\ue200\ue201]*\ue201")
"""A citation as the model writes it, which only its own page can draw."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#-]{1,20}")
_FIRST_YEAR: Final = 2000
_LAST_YEAR: Final = 2200
_MILLISECONDS_FROM: Final = 1e11
"""A count of seconds that large would lie thousands of years ahead."""


@dataclass(frozen=True, slots=True)
class Message:
    """What one message adds to its turn, or why it adds nothing."""

    speaker: Speaker = ""
    text: str = ""
    left_out: LeftOut = ""
    moment: datetime | None = None
    is_cut_off: bool = False
    model: str = ""


def read_message(data: Any) -> Message:
    message, metadata = as_object(data), as_object(as_object(data).get("metadata"))
    role, recipient = _word(as_object(message.get("author")).get("role")), _word(message.get("recipient"))
    speaker, text, left_out = _said(role, recipient, as_object(message.get("content")), metadata)
    if left_out or not text.strip():
        return Message(left_out=left_out)
    is_cut_off = _word(message.get("status")) in _CUT_OFF or _finish(metadata) == "interrupted"
    moment = read_moment(message.get("create_time"))
    return Message(speaker, text, "", moment, is_cut_off, _word(metadata.get("model_slug")))


def read_moment(value: Any) -> datetime | None:
    """Seconds or milliseconds since 1970, or ISO 8601. None for what is no time or an impossible one."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            moment = datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS_FROM else value, UTC)
        else:
            return None
        return moment.astimezone(UTC) if _FIRST_YEAR <= moment.year < _LAST_YEAR else None
    except (ValueError, OverflowError, OSError):
        return None


def clean(text: str) -> str:
    """Halves of surrogate pairs, which cut emojis leave behind, cannot be written down."""
    return _SURROGATE.sub("\ufffd", text)


def as_object(value: Any) -> Mapping[str, Any]:
    """The object that it should be, or an empty one."""
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _finish(metadata: Mapping[str, Any]) -> str:
    return _word(as_object(metadata.get("finish_details")).get("type"))


def _said(
    role: str, recipient: str, content: Mapping[str, Any], metadata: Mapping[str, Any]
) -> tuple[Speaker, str, LeftOut]:
    """Who says what; or that something is said which is left out, and why."""
    kind = _word(content.get("content_type"))
    text = _text(kind, content, metadata)
    if role == "system" or kind in _SETTINGS or metadata.get("is_visually_hidden_from_conversation") is True:
        return "", "", "hidden" if text or kind in _SETTINGS else ""
    if kind in _REASONING:
        return "", "", "reasoning"
    if role == "tool":
        return _from_a_tool(kind, content, metadata, text)
    if role == "assistant" and recipient not in ("", "all"):
        return _to_a_tool(recipient, kind, content, text)
    if role in ("user", "assistant") and text:
        return ("user" if role == "user" else "assistant"), text, ""
    # What is empty lacks nothing: a message that was stopped before its first word, or that is only a call.
    return "", "", "unknown" if text or (kind and kind not in _TEXTS) else ""


def _to_a_tool(recipient: str, kind: str, content: Mapping[str, Any], text: str) -> tuple[Speaker, str, LeftOut]:
    """Code that is run and documents that are written are part of the answer; other calls are not."""
    if recipient.startswith("python") and kind in _TEXTS:
        return "assistant", _code(_plain(content), "python"), ""
    if recipient == "canmore.create_textdoc" and (document := _document(_plain(content))):
        return "assistant", document, ""
    return "", "", "tool" if text else ""


def _from_a_tool(
    kind: str, content: Mapping[str, Any], metadata: Mapping[str, Any], text: str
) -> tuple[Speaker, str, LeftOut]:
    """What code printed and pictures that were made are part of the answer; pages that were read are not."""
    if kind == "execution_output":
        return "assistant", text, ""
    if named := "\n".join(_pointers(content, metadata)):
        return "assistant", named, ""
    return "", "", "tool" if text or kind not in _TEXTS else ""


def _text(kind: str, content: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """What is read of the message, with the names of its files; empty where it is blank."""
    plain = _plain(content)
    if kind == "code":
        language = _word(content.get("language"))
        return _code(plain, "" if language == "unknown" else language)
    if kind == "execution_output":
        return _code(plain, "output")
    shown = _with_references(plain, metadata).strip()
    files = [*_pointers(content, metadata), *_attached(content, metadata)]
    return "\n\n".join(part for part in (shown, "\n".join(files)) if part)


def _plain(content: Mapping[str, Any]) -> str:
    """Its text parts, or the text that stands alone in code, output and quotes."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        return clean(_word(content.get("text")))
    texts = []
    for part in parts:
        if text := _word(part.get("text") if isinstance(part, dict) else part):
            texts.append(clean(text))
    return "\n\n".join(texts)


def _with_references(text: str, metadata: Mapping[str, Any]) -> str:
    """Citations as the page showed them, where the message says how; those it does not explain are taken out."""
    if "\ue200" not in text:
        return text
    references = metadata.get("content_references")
    shown = {}
    for reference in references if isinstance(references, list) else ():
        told = as_object(reference)
        shown[clean(_word(told.get("matched_text")))] = clean(_word(told.get("alt")))
    return _REFERENCE.sub(lambda found: shown.get(found[0], ""), text)


def _pointers(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[str]:
    """A line for each picture and recording: its name, or its id where it has none."""
    names = dict(_attachments(metadata))
    for kind, pointer in _assets(content):
        file_id = _file_id(pointer)
        yield f"[{kind}: {names.get(file_id) or shown_name(file_id)}]"


def _attached(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[str]:
    """A line for each file that no pointer names."""
    pointed = {_file_id(pointer) for _, pointer in _assets(content)}
    for file_id, name in _attachments(metadata):
        if file_id not in pointed:
            yield f"[attached: {name}]"


def _assets(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        found = as_object(part)
        if kind := _POINTERS.get(_word(found.get("content_type"))):
            within = as_object(found.get("audio_asset_pointer"))
            yield kind, _word(found.get("asset_pointer")) or _word(within.get("asset_pointer"))


def _attachments(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    attached = metadata.get("attachments")
    for one in attached if isinstance(attached, list) else ():
        if name := _word(as_object(one).get("name")):
            yield _word(as_object(one).get("id")), shown_name(name)


def _file_id(pointer: str) -> str:
    """`file-abc` of `file-service://file-abc`."""
    return pointer.rpartition("/")[2].partition("#")[0]


def _document(call: str) -> str:
    """The document that a call writes, under its name; empty when it is none."""
    try:
        asked = as_object(json.loads(call))
    except (ValueError, RecursionError):
        return ""
    kind, content = _word(asked.get("type")), clean(_word(asked.get("content")))
    body = _code(content, kind.removeprefix("code/")) if kind.startswith("code/") else content
    return f"{shown_name(_word(asked.get('name')))}:\n\n{body}" if content.strip() else ""


def _code(code: str, language: str) -> str:
    """In a fence that names its language; nothing for nothing."""
    return fenced(code, language if _LANGUAGE.fullmatch(language) else "") if code.strip() else ""
