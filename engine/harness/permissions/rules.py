"""What a person has permitted or forbidden for good: a tool, and a pattern over what a call is about. Values only."""

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from engine.harness.tool_calls import ToolCall

Mode = Literal["ask", "plan", "auto"]
"""Of a conversation. ask: what changes or reaches something is asked for. plan: nothing that changes anything runs.
auto: only the hard floor is asked for."""

_PATHS: Final = ("path", "file", "folder")
_ADDRESSES: Final = ("url", "address")


@dataclass(frozen=True, slots=True)
class Rule:
    """Remembered from an answer of "always" or "never"."""

    tool: str
    pattern: str
    """A shell pattern over `subject_of` a call; `*` is every call of the tool."""
    allows: bool

    def covers(self, call: ToolCall) -> bool:
        return call.name == self.tool and fnmatchcase(subject_of(call), self.pattern)


def subject_of(call: ToolCall) -> str:
    """What a call is about, as rules compare it: the path or the host that it names, else its arguments in order."""
    arguments = _arguments(call)
    for name in _PATHS:
        if isinstance(value := arguments.get(name), str):
            # A way around through other folders ends in the same place, and is compared by that.
            return posixpath.normpath(value) if value else value
    for name in _ADDRESSES:
        if isinstance(value := arguments.get(name), str):
            return _host(value) or value
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True) if arguments else call.arguments


def pattern_for(call: ToolCall) -> str:
    """The narrowest pattern that is of use when a person says "always": the same file or host; else this very call.

    What stands in brackets or with stars in it is meant literally.
    """
    return "".join(f"[{character}]" if character in "*?[" else character for character in subject_of(call))


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
