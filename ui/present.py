"""What is shown of an event, in words.

Pure: values in, lines out. Knows no widget, no colour and no terminal; the chat and the one-shot commands share it.
Every text that was not written by us passes `display_text` or `display_line` before it is returned.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.events import (
    ApprovalAsked,
    Notice,
    Reading,
    RouteChosen,
    TextDelta,
    ToolCalled,
    ToolReturned,
    TurnClosed,
    TurnEvent,
    TurnOpened,
)
from engine.runtime.protocol import Usage
from engine.values import About, Conversation, Rating, Route, SearchHit, TurnRecord, TurnState
from ui.adapter_lines import short
from ui.inert import DisplayStream, display_line, display_text
from ui.strings import TEXTS, say, say_count
from ui.thinking import Part, word_count

__all__ = [
    "DisplayStream",
    "Status",
    "about_line",
    "advance",
    "attached_line",
    "call_line",
    "can_retry",
    "context_line",
    "conversation_line",
    "display_line",
    "display_text",
    "error_lines",
    "hit_line",
    "notice_details",
    "notice_line",
    "rating_mark",
    "route_line",
    "state_line",
    "status_of_record",
    "status_parts",
    "thought_line",
    "tokens_per_second",
    "usage_line",
    "version_mark",
    "working_line",
    "working_parts",
]

_MEMORY_CELLS: Final = 80
"""Of one memory in a notice; the rest is shown where memories are listed."""
SECONDS_BEFORE_CLOCK = 2
"""Work that takes longer also shows how long it has taken, so that something moves on the screen."""


def route_line(route: Route, language: str) -> str:
    """The expert and why, such as `L2 · best by 1.8` (nats, its lead over the runner-up) or `L0 · default`."""
    key = f"route.{route.reason}"
    reason = say(key, language) if key in TEXTS else display_line(route.reason)
    lead = _lead_nats(route.scores)
    if route.reason == "best" and lead is not None:
        reason = say("route.margin", language, reason=reason, margin=f"{lead:.1f}")
    return f"{display_line(route.expert)} · {reason}"


def _lead_nats(scores: Mapping[str, float]) -> float | None:
    if len(scores) < 2:
        return None
    best, second = sorted(scores.values(), reverse=True)[:2]
    return best - second


def about_line(about: About, language: str) -> str:
    """What answers, where it is computed, and why there."""
    base, backend, reason = map(display_line, (about.base, about.backend, about.backend_reason))
    return say("about", language, base=base, backend=backend, reason=reason)


def usage_line(event: TurnClosed, language: str) -> str:
    """Tokens read and reused by the answer, and its speed."""
    return " · ".join(_usage_parts(event.usage, language))


def _usage_parts(usage: Usage, language: str) -> tuple[str, ...]:
    read = usage.prompt_tokens - usage.reused_tokens
    parts = [say("usage.tokens", language, read=f"{read:,}", reused=f"{usage.reused_tokens:,}")]
    speed = tokens_per_second(usage)
    if speed is not None:
        parts.append(say("usage.speed", language, speed=f"{speed:.1f}"))
    return tuple(parts)


def tokens_per_second(usage: Usage) -> float | None:
    """How fast the answer was written; None when nothing was."""
    if usage.completion_tokens == 0 or usage.decode_ms <= 0:
        return None
    return usage.completion_tokens * 1000 / usage.decode_ms


def context_line(used: int, limit: int | None, language: str) -> str:
    """The context meter: tokens in use, and of how many where that is known."""
    if not limit:
        return say("context.used", language, used=f"{used:,}")
    return say("context.meter", language, used=f"{used:,}", limit=f"{limit:,}")


def error_lines(problem: str, hint: str, language: str) -> list[str]:
    """What happened and, where it is known, what to do next. Either may span several lines of its own."""
    lines = [say("error.problem", language, problem=display_text(problem))]
    if hint:
        lines.append(say("error.hint", language, hint=display_text(hint)))
    return lines


_REMARKS: Final = frozenset(
    (
        "harness_wrong",
        "folder_waits",
        "folder_changed",
        "server_waits",
        "server_tools_wait",
        "server_failed",
        "hook_failed",
    )
)
"""Notices of the configuration."""


def notice_line(notice: Notice, language: str) -> str:
    """A notice in words; one that we do not know is shown from its code and values."""
    turns = notice.values.get("turns")
    if notice.code == "folded" and isinstance(turns, int):
        folded, lines = say_count("notice.folded", language, turns), _folded_lines(notice)
        if not lines:
            return folded
        return say("notice.folded.kept", language, folded=folded, lines=say_count("folded.lines", language, len(lines)))
    if notice.code == "length" and isinstance(notice.values.get("tokens"), int):
        return say("notice.length", language, tokens=notice.values["tokens"])
    if notice.code == "host_restarted":
        return say("notice.host_restarted", language)
    if notice.code in ("adapter_left_out", "canary_rolled_back", "canary_promoted"):
        told = {key: display_line(str(notice.values.get(key, ""))) for key in ("expert", "adapter", "problem")}
        return say(f"notice.{notice.code}", language, **told)
    if notice.code in _REMARKS:
        told = {key: display_line(str(notice.values.get(key, ""))) for key in ("subject", "problem", "hint")}
        return say(f"notice.{notice.code}", language, **told).strip()
    if notice.code == "recalled":
        return say("notice.recalled", language, texts=_texts(notice.values.get("memories")))
    if notice.code == "remembered":
        changes = [(name, _texts(notice.values.get(name))) for name in ("written", "confirmed", "doubted")]
        return " · ".join(say(f"notice.{name}", language, texts=texts) for name, texts in changes if texts)
    if notice.code == "not_remembered":
        return say("notice.not_remembered", language)
    if notice.code == "memory_failed":
        problem = display_line(str(notice.values.get("problem", "")))
        return say("notice.memory_failed", language, problem=problem)
    code = display_line(notice.code)
    values = ", ".join(f"{display_line(str(key))}={display_line(str(value))}" for key, value in notice.values.items())
    key = "notice.other_values" if values else "notice.other"
    return say(key, language, code=code, values=values)


def _texts(memories: Any) -> str:
    """Of memories, which are given as (number, text) each."""
    return "; ".join(display_line(str(text), _MEMORY_CELLS) for _, text in memories or ())


def notice_details(notice: Notice, language: str) -> str:
    """What a notice opens to, a line each; empty where its line says it all."""
    lines = [
        say("folded.line", language, kind=_folded_kind(line, language), text=display_line(str(line.get("text", ""))))
        for line in _folded_lines(notice)
    ]
    moved_out = notice.values.get("moved_out")
    if lines and isinstance(moved_out, int) and moved_out > 0:
        lines.append(say_count("folded.moved_out", language, moved_out))
    return "\n".join(lines)


def _folded_lines(notice: Notice) -> Sequence[Mapping[str, object]]:
    """What stands for turns that are not read any more."""
    lines = notice.values.get("lines") if notice.code == "folded" else None
    return [line for line in lines if isinstance(line, Mapping)] if isinstance(lines, Sequence) else []


def _folded_kind(line: Mapping[str, object], language: str) -> str:
    key = f"folded.kind.{line.get('kind')}"
    return say(key, language) if key in TEXTS else display_line(str(line.get("kind", "")))


def state_line(state: TurnState, language: str) -> str:
    """The mark of a turn that did not end with an answer; empty for one that did."""
    if state == "answered":
        return ""
    # A turn that is still `running` in the store belongs to a process that died.
    key = "state.interrupted" if state == "running" else f"state.{state}"
    return f"■ {say(key, language)}"


def can_retry(state: TurnState) -> bool:
    """Whether opening a conversation that ends with this turn should offer to answer it again."""
    return state in ("failed", "interrupted", "running")


def attached_line(names: Iterable[str], language: str, *, max_name_cells: int = 40) -> str:
    """The files that went with a message; empty when there are none."""
    shown = ", ".join(display_line(name, max_name_cells) for name in names)
    return say("attached", language, names=shown) if shown else ""


def version_mark(place: int, count: int, language: str) -> str:
    """Which version of a message and its answer this is, such as `2/3`; empty when there is only one."""
    return say("turn.version", language, place=place, count=count) if count > 1 else ""


def rating_mark(rating: Rating, language: str) -> str:
    """What the user thinks of an answer; empty when they have not said."""
    if rating == 0:
        return ""
    return say("turn.thumb_up" if rating > 0 else "turn.thumb_down", language)


def thought_line(part: Part, seconds: float | None, language: str) -> str:
    """What stands for a thought: how long it took where that is known, and how much it is."""
    words = say_count("thought.words", language, word_count(part.text))
    if not part.is_closed:
        return say("thought.open", language, words=words)
    if seconds is None:
        return say("thought.over", language, words=words)
    return say("thought.timed", language, words=words, seconds=round(seconds))


def call_line(part: Part, language: str) -> str:
    """What stands for the call of a tool: its name."""
    name = display_line(part.tool_name)
    return say("call.named", language, name=name) if name else say("call.unnamed", language)


def conversation_line(conversation: Conversation, language: str, *, max_title_cells: int = 48) -> str:
    """One line of the history list: day, title, turns."""
    title = display_line(conversation.title, max_title_cells) or say("history.untitled", language)
    turns = say_count("history.turns", language, conversation.turn_count)
    return f"{_day(conversation.updated_at)}  {title}  · {turns}"


def hit_line(hit: SearchHit, language: str, *, max_title_cells: int = 40, max_snippet_cells: int = 64) -> str:
    """Two lines of the search list: day, title and who said it; then the words around the match."""
    title = display_line(hit.title, max_title_cells) or say("history.untitled", language)
    role = say(f"role.{hit.role}", language)
    return f"{_day(hit.created_at)}  {title}  · {role}\n  {display_line(hit.snippet, max_snippet_cells)}"


def _day(timestamp: str) -> str:
    return display_line(timestamp[:10], 10)


@dataclass(frozen=True, slots=True)
class Status:
    """What the status line knows. Events move it on; see `advance`."""

    phase: str = ""
    """waiting, opening, routing, preparing, summarising, writing, acting, asking or delegating while a turn runs; empty
    between turns."""
    ahead: int = 0
    """Turns that are served before this one, while it waits."""
    reading: Reading | None = None
    """The latest progress of the prompt in this phase."""
    route: Route | None = None
    usage: Usage | None = None
    context_tokens: int | None = None
    """Size of the context; None until a turn has told it."""
    adapter: str = ""
    """Hash of the personal adapter that answered last."""


_PHASE_OF_READING = {"summary": "summarising", "answer": "preparing", "delegate": "delegating"}


def advance(status: Status, event: TurnEvent) -> Status:
    """The status after `event`. Route, usage and context stay on screen until newer ones replace them."""
    match event:
        case TurnOpened():
            return replace(status, phase="routing", reading=None)
        case RouteChosen(route=route):
            return replace(status, phase="preparing", reading=None, route=route)
        case Reading(phase=phase):
            return replace(status, phase=_PHASE_OF_READING.get(phase, "preparing"), reading=event)
        case TextDelta():
            return replace(status, phase="writing", reading=None)
        case TurnClosed():
            return Status(
                route=event.route or status.route,
                usage=event.usage if event.usage.prompt_tokens else status.usage,
                context_tokens=event.context_tokens or status.context_tokens,
                adapter=event.adapter,
            )
        case Notice(code="waiting", values=values):
            ahead = values.get("ahead")
            return replace(status, phase="waiting", ahead=ahead if isinstance(ahead, int) else 0)
        case ToolCalled() | ToolReturned():
            return replace(status, phase="acting" if isinstance(event, ToolCalled) else "preparing", reading=None)
        case ApprovalAsked():
            return replace(status, phase="asking", reading=None)
        case Notice():
            return status


def status_of_record(record: TurnRecord, context_tokens: int | None) -> Status:
    """The status after a stored turn, when a conversation is opened again."""
    usage = record.usage if record.usage.prompt_tokens else None
    return Status(route=record.route, usage=usage, context_tokens=context_tokens, adapter=record.adapter)


def working_line(status: Status, seconds: float, language: str) -> str:
    """What a running turn is doing and how far it is, such as `reading 1,234 of 4,000 tokens`."""
    line = say(f"phase.{status.phase}", language)
    if status.phase == "waiting" and status.ahead > 0:
        line = say("phase.waiting_behind", language, count=status.ahead)
    if status.reading is not None and status.reading.total > 0:
        progress = say("progress.reading", language, done=f"{status.reading.done:,}", total=f"{status.reading.total:,}")
        within = say("progress.within", language, phase=line, progress=progress)
        # Reading for the answer is what nearly every turn does; it needs no name.
        line = progress if status.phase == "preparing" else within
    if seconds >= SECONDS_BEFORE_CLOCK:
        line = say("progress.seconds", language, phase=line, seconds=int(seconds))
    return line


def working_parts(status: Status, pinned: str | None, seconds: float, language: str) -> tuple[str, ...]:
    """The status line while a turn runs: what it does, and who answers as soon as that is known."""
    line = working_line(status, seconds, language)
    if status.phase not in ("waiting", "opening", "routing") and status.route is not None:
        return line, route_line(status.route, language)
    return (line, _pin_line(pinned, language)) if pinned is not None else (line,)


def status_parts(status: Status, pinned: str | None, language: str, *, also: Iterable[str] = ()) -> tuple[str, ...]:
    """The status line between turns, most important part first. `also` stands behind who answers."""
    if status.route is not None:
        first = route_line(status.route, language)
    elif pinned is None:
        first = say("status.ready", language)
    else:
        first = ""
    pin = _pin_line(pinned, language) if pinned is not None else ""
    if status.route is not None and status.route.reason == "pinned" and status.route.expert == pinned:
        pin = ""
    adapter = say("turn.adapter", language, name=short(status.adapter)) if status.adapter else ""
    parts = [first, adapter, pin, *also]
    if status.usage is not None:
        used = status.usage.prompt_tokens + status.usage.completion_tokens
        parts.append(context_line(used, status.context_tokens, language))
        parts.extend(_usage_parts(status.usage, language))
    return tuple(part for part in parts if part)


def _pin_line(expert: str, language: str) -> str:
    return say("status.pin", language, expert=display_line(expert))
