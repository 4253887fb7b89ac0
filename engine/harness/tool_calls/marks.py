"""The markup that opens and closes calls, recognised one character after another. Knows nothing of what is in it."""

from typing import Final, Literal

Mark = Literal[
    "open", "close", "function", "function_close", "parameter_close", "prefix", "thought", "thought_close", "arguments"
]
"""`open` and `close` enclose a call, `function` begins one in XML, `prefix` stands before one and is never closed."""

MARKS: Final[dict[str, Mark]] = {
    "<tool_call>": "open",
    "<tool_calls>": "open",
    "<toolcall>": "open",
    "<function_call>": "open",
    "<|tool_call|>": "open",
    "</tool_call>": "close",
    "</tool_calls>": "close",
    "</toolcall>": "close",
    "</function_call>": "close",
    "<|/tool_call|>": "close",
    "<function=": "function",
    "<function name=": "function",
    "</function>": "function_close",
    "</parameter>": "parameter_close",
    "<|python_tag|>": "prefix",
    "[tool_calls]": "prefix",
    "[args]": "arguments",
    "<think>": "thought",
    "</think>": "thought_close",
}
"""In lower case; models write them in any. No mark begins another, and each has `<` or `[` at its beginning only."""

_BEGINNINGS: Final = frozenset(mark[:length] for mark in MARKS for length in range(1, len(mark) + 1))


class MarkReader:
    """Holds back what may become a mark, which is a few characters at most."""

    def __init__(self) -> None:
        self.pending = ""

    def take(self, character: str) -> tuple[str, str]:
        """(characters that are certainly of no mark, the mark that is now complete or nothing)."""
        longer = self.pending + character
        lowered = longer.lower()
        if lowered in MARKS:
            self.pending = ""
            return "", longer
        if lowered in _BEGINNINGS:
            self.pending = longer
            return "", ""
        if character in "<[":
            released, self.pending = self.pending, character
            return released, ""
        self.pending = ""
        return longer, ""

    def flush(self) -> str:
        """What was held back and has become no mark."""
        released, self.pending = self.pending, ""
        return released


def kind_of(mark: str) -> Mark:
    """Of a whole mark as it was written."""
    return MARKS[mark.lower()]
