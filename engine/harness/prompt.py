"""The one prompt builder: state and harness in, token ids out. Serving and training call this same function.

A view is a head and then segments, one per turn. Segments that exist are reused to the token; only turns this view
has not seen, and the new message, are rendered here. Pure: knows neither the store nor the runtime.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from engine.harness.encoding import encode_parts
from engine.harness.formats import ChatFormat, Content, Part, Trusted
from engine.harness.tool_calls import Tool, results_content, style_of, system_content
from engine.runtime.protocol import Encoder, Tokens

THOUGHT_OPEN: Final = "<think>"
THOUGHT_CLOSE: Final = "</think>"
END_OF_THOUGHT: Final = f"\n{THOUGHT_CLOSE}\n\n"
_REMEMBER: Final = "Remember:"
_REMEMBER_CHINESE: Final = "请记住："
_ENDS: Final = ".!?。！？)）"
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_TEMPLATES: Final = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Harness:
    """Everything a model's input is made from, apart from what was said. `version` changes whenever any of it does."""

    version: str
    chat_format: ChatFormat
    markup: Mapping[str, int]
    systems: Mapping[str, str]
    """System text per expert."""
    summary: str
    """What an expert is asked after its turn, to tell the others about it."""
    thinking: bool
    tools: Mapping[str, tuple[Tool, ...]] = field(default_factory=dict)
    """What every expert may call; none where it is missing."""

    def reads(self, expert: str) -> str:
        """What stands in the head of this expert's view, for comparison: those alike can share one view."""
        tools = [asdict(tool) for tool in self.tools.get(expert, ())]
        return json.dumps([self.systems[expert], tools], sort_keys=True)


@dataclass(frozen=True, slots=True)
class Folded:
    """What lies before a view: so many turns that it does not read any more, and lines that stand for them."""

    turns: int = 0
    lines: tuple[str, ...] = ()
    """Such as "[fact] I am allergic to peanuts" (`engine.memory.folding`)."""


NOTHING_FOLDED: Final = Folded()


@dataclass(frozen=True, slots=True)
class UnseenTurn:
    """A past turn that the view has no tokens of: another expert's (answer = its summary), or an own one."""

    turn_id: str
    user_text: str
    """The whole message, attached files included (`engine.harness.message`)."""
    answer: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class PromptState:
    """What one expert is to read before it answers `user_text`."""

    expert: str
    head: Tokens
    past: tuple[Tokens, ...]
    """Segments the view already has, oldest first."""
    unseen: tuple[UnseenTurn, ...]
    """Turns after those, oldest first."""
    user_text: str
    """The whole new message, attached files included."""
    memory: tuple[str, ...] = ()
    """Lines of the memory block, such as "I prefer tea"."""


@dataclass(frozen=True, slots=True)
class Prompt:
    tokens: Tokens
    unseen: tuple[tuple[str, Tokens], ...]
    """(turn_id, segment) of every unseen turn, to be kept when the turn is closed."""
    opening: Tokens
    """The new message and the opening of the answer: the first part of the new turn's own segment."""
    boundaries: tuple[int, ...]
    """Positions between turns, ascending: where a later prompt may part from this one."""


def make_harness(
    systems: Mapping[str, str],
    summary: str,
    chat_format: ChatFormat,
    markup: Mapping[str, int],
    *,
    thinking: bool,
    tools: Mapping[str, tuple[Tool, ...]] | None = None,
) -> Harness:
    """A harness whose version is a hash of all its texts, format, template and tools included."""
    template = (_TEMPLATES / f"{chat_format.family}.jinja").read_text(encoding="utf-8")
    offered = {expert: tuple(some) for expert, some in (tools or {}).items() if some}
    content: list[Any] = [dict(systems), summary, asdict(chat_format), template, thinking]
    if offered:
        content.append({expert: [asdict(tool) for tool in some] for expert, some in offered.items()})
    version = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    return Harness(version, chat_format, markup, systems, summary, thinking, offered)


def with_hands(harness: Harness, heads: Mapping[str, str], tools: Mapping[str, tuple[Tool, ...]]) -> Harness:
    """The harness with texts added to the system texts of experts, and with tools."""
    systems = {
        expert: "\n\n".join(part for part in (system, heads.get(expert, "")) if part)
        for expert, system in harness.systems.items()
    }
    return make_harness(
        systems, harness.summary, harness.chat_format, harness.markup, thinking=harness.thinking, tools=tools
    )


def head(
    harness: Harness, encoder: Encoder, expert: str, folded: Folded = NOTHING_FOLDED, *, with_tools: bool = True
) -> Tokens:
    """The beginning of a view. A view that no longer reads its first turns says so, and what stands for them."""
    system = _system(harness, expert, folded, with_tools)
    return encode_parts(harness.chat_format.head(system), encoder, harness.markup)


def build(
    state: PromptState,
    harness: Harness,
    encoder: Encoder,
    folded: Folded = NOTHING_FOLDED,
    *,
    with_tools: bool = True,
) -> Prompt:
    """Token ids of everything the expert reads, ending where its answer begins."""
    system = _system(harness, state.expert, folded, with_tools)
    is_first = not state.past
    unseen: list[tuple[str, Tokens]] = []
    for turn in state.unseen:
        unseen.append((turn.turn_id, _past_turn(turn, harness, encoder, is_first, system)))
        is_first = False
    opening = encode_parts(
        (
            *harness.chat_format.user(with_memory(state.user_text, state.memory), first=is_first, system=system),
            *harness.chat_format.assistant_open(harness.thinking),
        ),
        encoder,
        harness.markup,
    )
    pieces = [state.head, *state.past, *(segment for _, segment in unseen)]
    tokens: list[int] = []
    boundaries: list[int] = []
    for piece in pieces:
        tokens += piece
        boundaries.append(len(tokens))
    return Prompt((*tokens, *opening), tuple(unseen), opening, tuple(boundaries))


def close(opening: Tokens, completion: Sequence[int], harness: Harness, encoder: Encoder) -> Tokens:
    """The new turn's own segment: opening, the model's own tokens verbatim (without its end token), closing."""
    return (*opening, *completion, *encode_parts(harness.chat_format.assistant_close(), encoder, harness.markup))


def after_calls(results: Sequence[str], harness: Harness, encoder: Encoder) -> Tokens:
    """What follows the model's own tokens when it has called tools: their results, and the opening of what it says to
    them. Within one turn; the next `close` ends it."""
    chat_format = harness.chat_format
    parts = [*chat_format.assistant_close()]
    for content in results_content(results, style_of(chat_format.family)):
        parts += chat_format.tool_result(content)
    return encode_parts((*parts, *chat_format.assistant_open(harness.thinking)), encoder, harness.markup)


def end_of_thought(harness: Harness, encoder: Encoder) -> Tokens:
    """What ends a thought that has become too long; the answer follows."""
    return encode_parts((Trusted(END_OF_THOUGHT),), encoder, harness.markup)


def opens_thought(harness: Harness) -> bool:
    """Whether an answer begins within a thought. In other families a model that thinks opens it itself."""
    opening = "".join(part.text for part in harness.chat_format.assistant_open(harness.thinking))
    return opening.rfind(THOUGHT_OPEN) > opening.rfind(THOUGHT_CLOSE)


def summary_prompt(harness: Harness, encoder: Encoder, before: Tokens) -> Tokens:
    """Ask the expert whose view is `before`, which ends with its own turn, for that turn's summary."""
    parts: tuple[Part, ...] = (
        *harness.chat_format.user(harness.summary),
        *harness.chat_format.assistant_open(thinking=False),
    )
    return (*before, *encode_parts(parts, encoder, harness.markup))


def with_memory(text: str, memory: Sequence[str]) -> str:
    """The message with what the expert is reminded of in front of it.

    As sentences in the words of the user, since it stands in their message: a small model takes lines such as
    "[preference, 2026-11-02] …" for the beginning of a list that it should go on with.
    """
    if not memory:
        return text
    remember, stop = (_REMEMBER_CHINESE, "。") if _HAN.search(text) else (_REMEMBER, ".")
    lines = [line if line.endswith(tuple(_ENDS)) else line + stop for line in memory]
    return f"{_fenced(lines, remember)}\n\n{text}"


def _past_turn(turn: UnseenTurn, harness: Harness, encoder: Encoder, is_first: bool, system: Content) -> Tokens:
    answer = turn.answer if turn.is_own else f"(another expert answered: {turn.answer})"
    parts = (
        *harness.chat_format.user(turn.user_text, first=is_first, system=system),
        *harness.chat_format.assistant(answer),
    )
    return encode_parts(parts, encoder, harness.markup)


def folded_text(folded: Folded) -> str:
    """What the system text says of turns that are not read any more; empty where there are none."""
    if not folded.turns:
        return ""
    text = f"\n\nEarlier turns of this conversation ({folded.turns}) are no longer shown to you."
    return f"{text} What was said in them, in short:\n{_fenced(folded.lines)}" if folded.lines else text


def _system(harness: Harness, expert: str, folded: Folded, with_tools: bool) -> Content:
    system = harness.systems[expert] + folded_text(folded)
    tools = harness.tools.get(expert, ()) if with_tools else ()
    return system_content(system, tools, style_of(harness.chat_format.family)) if tools else system


def _fenced(memory: Sequence[str], title: str = "") -> str:
    lines = [*([title] if title else []), *(f"- {' '.join(line.split())}" for line in memory)]
    return "\n".join(("<memory>", *lines, "</memory>"))
