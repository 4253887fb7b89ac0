"""`macaron ask`: one turn, printed as it comes or as one JSON object."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from app.output import ProgressLine, print_error, print_json, print_note, print_text
from app.paths import Paths
from app.settings import screen_language
from app.stopping import set_by_signals
from app.wiring import attached, open_client
from engine.agent import checked_text
from engine.events import Notice, Reading, RouteChosen, TextDelta, ToolCalled, ToolReturned, TurnClosed, TurnEvent
from engine.runtime.protocol import Stop, Usage
from ui.client import Client
from ui.inert import display_line
from ui.present import DisplayStream, notice_line
from ui.strings import detect_language, say

_FAILED = 1
_STOPPED = 130


def ask_once(
    text: str,
    paths: Paths,
    *,
    profile: str | None,
    expert: str | None,
    conversation_id: str | None,
    alone: bool,
    off_record: bool,
    as_json: bool,
) -> int:
    """Exit code: 0 answered, 1 failed, 130 stopped. `alone`: without a host, in this process."""
    checked_text(text)  # before the base is loaded for nothing
    progress = ProgressLine()
    progress.show(say("loading", detect_language(os.environ)))
    opening = (
        open_client(paths, profile, expert=expert, conversation_id=conversation_id)
        if alone
        else attached(paths, profile, stays=False)
    )
    with (
        opening as opened,
        # The turn ends there and keeps its text.
        set_by_signals(opened.client.stop) as stop,
    ):
        progress.clear()
        language = screen_language(opened.settings, os.environ)
        for notice in opened.client.about().notices:
            print_note(notice)
        with closing(
            opened.client.ask(text, conversation_id=conversation_id, expert=expert, off_record=off_record)
        ) as turn:
            events = _stopping(turn, stop, opened.client)
            calls: list[dict[str, Any]] = []
            events = _noting(events, calls)
            closed = _collect(events, progress, language) if as_json else _print(events, progress, language)
    if as_json:
        print_json(summary(closed, calls))
    elif closed.state in ("failed", "interrupted"):
        print_error(closed.problem, closed.hint, as_json=False)
    return {"failed": _FAILED, "interrupted": _FAILED, "stopped": _STOPPED}.get(closed.state, 0)


def summary(closed: TurnClosed, calls: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The object that `ask --json` prints; `calls` are those of tools, in their order."""
    route = closed.route
    result: dict[str, Any] = {
        "conversation_id": closed.conversation_id,
        "turn_id": closed.turn_id,
        "text": closed.text,
        "route": route and {"expert": route.expert, "reason": route.reason, "scores": dict(route.scores)},
        "usage": _counts(closed.usage),
        "usage_other": _counts(closed.usage_other),
        "timing_ms": {
            "route": _rounded(closed.timing.route),
            "first_token": _rounded(closed.timing.first_token),
            "total": _rounded(closed.timing.total),
        },
        "stopped": closed.state == "stopped",
        "calls": list(calls),
    }
    if closed.state in ("failed", "interrupted"):
        result["error"] = {"problem": closed.problem, "hint": closed.hint}
    return result


def _noting(events: Iterator[TurnEvent], calls: list[dict[str, Any]]) -> Iterator[TurnEvent]:
    """The same events; `calls` gains what they tell of tools."""
    for event in events:
        match event:
            case ToolCalled():
                calls.append(
                    {"tool": event.tool, "source": event.source, "arguments": event.arguments, "state": "waiting"}
                )
            case ToolReturned(call=number):
                # They are numbered from 1, in the order in which they were called.
                calls[number - 1] |= {
                    "state": event.state,
                    "result": event.text,
                    "tainted": event.is_tainted,
                    "seconds": round(event.seconds, 3),
                }
        yield event


def _counts(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "reused_tokens": usage.reused_tokens,
        "completion_tokens": usage.completion_tokens,
    }


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 1)


def _collect(events: Iterator[TurnEvent], progress: ProgressLine, language: str) -> TurnClosed:
    for event in events:
        _show_progress(event, progress, language)
        if isinstance(event, TurnClosed):
            progress.clear()
            return event
    raise AssertionError("a turn always ends with TurnClosed")


def _print(events: Iterator[TurnEvent], progress: ProgressLine, language: str) -> TurnClosed:
    """Print the answer as it comes, with control sequences taken out; then the notices, which would interrupt it."""
    stream = DisplayStream()
    notices = []
    is_begun = False
    try:
        for event in events:
            _show_progress(event, progress, language)
            match event:
                case TextDelta(text=text):
                    progress.clear()
                    is_begun = True
                    print_text(stream.feed(text), end="")
                case Notice(code=code) if code != "waiting":
                    notices.append(notice_line(event, language))
                case TurnClosed():
                    return event
        raise AssertionError("a turn always ends with TurnClosed")
    finally:
        progress.clear()
        if is_begun:
            print_text(stream.flush())
        for notice in notices:
            print_note(notice)


def _show_progress(event: TurnEvent, progress: ProgressLine, language: str) -> None:
    match event:
        case RouteChosen(route=route):
            progress.show(f"{route.expert} …")
        case ToolCalled(tool=tool):
            progress.show(f"{display_line(tool)} …")
        case Notice(code="waiting", values=values):
            progress.show(say("phase.waiting_behind", language, count=values["ahead"]))
        case Reading(done=done, total=total) if done < total:
            progress.show(say("progress.reading", language, done=f"{done:,}", total=f"{total:,}"))


def _stopping(events: Iterator[TurnEvent], stop: Stop, client: Client) -> Iterator[TurnEvent]:
    """The same events. A stop that came before the turn had begun is passed on once it has."""
    for event in events:
        if stop.is_set():
            client.stop()
        yield event
