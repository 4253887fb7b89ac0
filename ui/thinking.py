"""Tell what a model thought and which tools it called from what it answers.

Pure and made for streams: text arrives in pieces, and a tag that is cut between two pieces is still seen whole. Knows
no event and no widget. Tags in a fenced block of code, or behind a backtick, are what somebody wrote about them.
"""

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

PartKind = Literal["answer", "thinking", "tool_call"]

MAX_NAME_CHARACTERS: Final = 80
"""A longer name of a tool is cut."""

_OPENING = re.compile(r"<think>|<thinking>|<tool_call>|<function=")
_KIND_OF: Final[dict[str, PartKind]] = {
    "<think>": "thinking",
    "<thinking>": "thinking",
    "<tool_call>": "tool_call",
    "<function=": "tool_call",
}
_CLOSING: Final = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<tool_call>": "</tool_call>",
    "<function=": "</function>",
}
_STRAY = re.compile(r"(?<!`)</think(?:ing)?>")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NAME = re.compile(r"<function=\s*([^>\s]+)|\"name\"\s*:\s*\"((?:[^\"\\]|\\.)*)\"")
# Kana and Han characters, each of which counts as a word: they are written without blanks.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"(?![{_UNSPACED}])[^\W_]"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:{_LETTER})+(?:['’](?:{_LETTER})+)*")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of one kind. The tags around it are not part of its text, but `<function=…>` is: it holds the name."""

    kind: PartKind
    text: str
    is_closed: bool = False
    """False for a thought or a call whose end has not come, or never came."""

    @property
    def tool_name(self) -> str:
        """The name of the tool that is called; empty when there is none yet."""
        found = _NAME.search(self.text)
        return (found[1] or found[2])[:MAX_NAME_CHARACTERS] if found else ""


class PartStream:
    """`feed` it an answer piece by piece, then `finish`. `parts` is what is known so far."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._held = ""
        """Text whose meaning the next piece may still change: the last line, or the start of a closing tag."""
        self._closing = ""
        """The tag that ends the open thought or call; empty while an answer is read."""
        self._fence = ""
        """What closes the block of code that is open; empty outside of code."""
        self._at_line_start = True
        self._before = ""
        """The last character that was given out of the line that is being read."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is known so far. The last part grows; an answer becomes a thought when only the end of one comes."""
        return tuple(part for part in self._parts if part.text.strip() or not part.is_closed)

    def feed(self, piece: str) -> None:
        self._held += piece
        self._read(is_over=False)

    def finish(self) -> None:
        """The text is over: what was held back is what it looks like."""
        self._read(is_over=True)

    def _read(self, *, is_over: bool) -> None:
        while self._held and (self._read_enclosed(is_over) if self._closing else self._read_answer(is_over)):
            pass

    def _read_enclosed(self, is_over: bool) -> bool:
        """Take text up to the closing tag; False when more of it must come first."""
        position = self._held.find(self._closing)
        if position >= 0:
            self._append(self._parts[-1].kind, self._held[:position])
            self._parts[-1] = replace(self._parts[-1], is_closed=True)
            self._held = self._held[position + len(self._closing) :].lstrip("\n")
            self._closing, self._at_line_start = "", True
            return True
        cut = len(self._held) if is_over else len(self._held) - _overlap(self._held, self._closing)
        self._append(self._parts[-1].kind, self._held[:cut])
        self._held = self._held[cut:]
        return False

    def _read_answer(self, is_over: bool) -> bool:
        """Take what is left of one line, or open what begins there; False when more of it must come first."""
        if self._at_line_start and self._opens():
            return True
        line, end, _ = self._held.partition("\n")
        if not end and not is_over and self._may_become_tag(line):
            return False
        if self._at_line_start:
            self._note_fence(line)
        stray = None if self._fence or self._has_thought() else _STRAY.search(self._before + line)
        if stray is not None:
            seen = len(self._before)
            self._take_for_thought(stray.start() - seen, stray.end() - seen)
            return True
        if not end and not is_over:
            return self._take_safe_part(line)
        self._append("answer", line + end)
        self._held = self._held[len(line + end) :]
        self._at_line_start, self._before = bool(end), ""
        return True

    def _opens(self) -> bool:
        """Whether a thought or a call begins here, which it only does at the start of a line."""
        blank = len(self._held) - len(self._held.lstrip(" \n"))
        found = _OPENING.match(self._held, blank) if not self._fence else None
        if found is None:
            return False
        tag = found[0]
        # The name of a function stands in its tag.
        self._held = self._held[found.start() if tag == "<function=" else found.end() :]
        self._parts.append(Part(_KIND_OF[tag], ""))
        self._closing = _CLOSING[tag]
        return True

    def _may_become_tag(self, line: str) -> bool:
        """Whether the start of this line may yet be a tag or a fence."""
        start = line.lstrip(" ") if self._at_line_start else None
        if start is None:
            return False
        return (len(start) < 3 and not start.strip("`~")) or any(tag.startswith(start) for tag in _KIND_OF)

    def _take_safe_part(self, line: str) -> bool:
        """Give out all of an unfinished line but what may become a stray closing tag."""
        held_back = 0 if self._fence or self._has_thought() else _overlap(line, "</thinking>", "</think>")
        cut = len(line) - held_back
        self._append("answer", line[:cut])
        self._held = self._held[cut:]
        if cut:
            self._at_line_start, self._before = False, line[cut - 1]
        return False

    def _note_fence(self, line: str) -> None:
        found = _FENCE.match(line)
        if found is None:
            return
        if not self._fence:
            self._fence = found[1]
        elif found[1].startswith(self._fence) and not line[found.end() :].strip():
            self._fence = ""

    def _has_thought(self) -> bool:
        return any(part.kind == "thinking" for part in self._parts)

    def _take_for_thought(self, start: int, end: int) -> None:
        """A thought ends that never began: all of the answer so far was one."""
        thought = "".join(part.text for part in self._parts if part.kind == "answer") + self._held[:start]
        calls = [part for part in self._parts if part.kind != "answer"]
        self._parts = [Part("thinking", thought, is_closed=True), *calls]
        self._held = self._held[end:].lstrip("\n")
        self._at_line_start, self._before = True, ""

    def _append(self, kind: PartKind, text: str) -> None:
        if self._closing or (self._parts and self._parts[-1].kind == "answer"):
            self._parts[-1] = replace(self._parts[-1], text=self._parts[-1].text + text)
        elif text.strip("\n"):
            self._parts.append(Part(kind, text))


def split(text: str) -> tuple[Part, ...]:
    """The parts of a text that is complete."""
    stream = PartStream()
    stream.feed(text)
    stream.finish()
    return stream.parts


def answer_text(text: str) -> str:
    """What is left for a reader who asked for the answer alone: neither thoughts nor calls."""
    return "\n\n".join(part.text.strip("\n") for part in split(text) if part.kind == "answer")


def word_count(text: str) -> int:
    """Words; in Chinese and Japanese, characters."""
    return sum(1 for _ in _WORD.finditer(text))


def _overlap(text: str, *tags: str) -> int:
    """How many characters at the end of `text` may be the start of one of `tags`."""
    return max(
        (size for tag in tags for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])),
        default=0,
    )
