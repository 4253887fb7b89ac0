"""Text on its way into a memory: on one line, without what is not seen, and without anything that a chat template, a
parser of tool calls or the memory block itself could take for its own. Pure; doing it twice changes nothing more."""

import re
from typing import Final

from engine.harness.builtin.web.visibility import visible

_TAG: Final = re.compile(r"<(?=[|｜/!?A-Za-z_\[])([^<>\n]{0,200}?)>|<(?=[|｜])|(?<=[|｜])>")
_INSTRUCTION: Final = re.compile(r"\[(/?(?:INST|SYS|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT))\]", re.I)
_DOUBLE: Final = re.compile(r"<<(/?SYS)>>", re.IGNORECASE)
_FENCE: Final = re.compile(r"`{3,}|~{3,}")


def escaped(text: str) -> str:
    """`text` with single angle quotation marks where tags were, so that it still reads the same."""
    one_line = " ".join(visible(text).split())
    while (changed := _once(one_line)) != one_line:
        one_line = changed
    return one_line


def _once(text: str) -> str:
    text = _DOUBLE.sub(r"‹‹\1››", text)
    text = _TAG.sub(lambda match: match[0].replace("<", "‹").replace(">", "›"), text)
    text = _INSTRUCTION.sub(r"⟦\1⟧", text)
    return _FENCE.sub("''", text)


def holds_control(text: str) -> bool:
    """Whether there was anything to escape beside white space."""
    return escaped(text) != " ".join(text.split())
