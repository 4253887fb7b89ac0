"""Turns as the page shows them: HTML for a person, and the few values its scripts need.

Pure: records and events in, views out. Knows no Gradio and no Client. Whatever others wrote passes `markdown`.
"""

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from engine.events import (
    ApprovalAsked,
    Notice,
    TextDelta,
    ToolCalled,
    ToolReturned,
    TurnClosed,
    TurnEvent,
    TurnOpened,
)
from engine.signals.values import CorrectionKind
from engine.values import CallRecord, Rating, TurnRecord
from ui import present
from ui.browser.markdown import answer_html, line_html, plain_html
from ui.signals import noted_mark
from ui.strings import say
from ui.thinking import Part, answer_text, split, word_count
from ui.tool_lines import call_details, call_state, call_title, covered_line, question_lines

MAX_EDITED_CHARACTERS: Final = 200_000
"""A longer message cannot be edited in the page; its text would be sent to every open of the conversation."""


@dataclass(frozen=True, slots=True)
class TurnView:
    turn_id: str
    html: str
    text: str
    """The user's message as it was written, for editing it."""
    answer: str = ""
    """The answer as it was written, without thoughts, for editing it."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn under way, as its events have told it so far."""

    user_text: str
    attachments: tuple[str, ...] = ()
    said: str = ""
    status: present.Status = field(default_factory=lambda: present.Status(phase="opening"))
    notices: tuple[Notice, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    asked: ApprovalAsked | None = None
    """The question that the last call waits for."""
    closed: TurnClosed | None = None


def live_after(live: LiveTurn, event: TurnEvent) -> LiveTurn:
    live = replace(live, status=present.advance(live.status, event))
    match event:
        case TurnOpened(user_text=text, attachments=names):
            return replace(live, user_text=text, attachments=names)
        case TextDelta(text=text):
            return replace(live, said=live.said + text)
        case Notice(code=code) if code != "waiting":  # the status line tells of that
            return replace(live, notices=(*live.notices, event))
        case ToolCalled(call=call, tool=tool, source=source, arguments=arguments):
            return replace(live, calls=(*live.calls, CallRecord(call, tool, source, arguments, "running")))
        case ApprovalAsked():
            return replace(live, asked=event)
        case ToolReturned():
            return replace(live, asked=None, calls=tuple(_after_return(call, event) for call in live.calls))
        case TurnClosed(text=text):
            return replace(live, said=text, closed=event, asked=None)
        case _:
            return live


def live_html(live: LiveTurn, language: str) -> str:
    """The turn under way without its status line, which changes more often."""
    said = _answer_part(live.said, language, is_complete=live.closed is not None)
    notes = "".join(_notice_html(notice, language) for notice in live.notices)
    end = ""
    if live.closed is not None:
        end = _end_part(live.closed, language)
    asked = "" if live.asked is None else _question_part(live.asked, language)
    return _user_part(live.user_text, live.attachments) + notes + _calls_part(live.calls, language) + asked + said + end


def live_line(live: LiveTurn, pinned: str | None, seconds: float, language: str) -> str:
    """What the turn is doing and who answers; after its end, what it took."""
    if live.closed is not None:
        return line_html(" · ".join(present.status_parts(live.status, pinned, language)))
    return line_html(" · ".join(present.working_parts(live.status, pinned, seconds, language)))


def turn_views(
    path: Sequence[TurnRecord],
    tree: Sequence[TurnRecord],
    context_tokens: int | None,
    language: str,
    noted: Mapping[str, CorrectionKind] = MappingProxyType({}),
) -> list[TurnView]:
    """The branch in use. `tree` is all turns of the conversation; `context_tokens` the size of the context if known.

    `noted`: turn → how its answer was corrected.
    """
    families = families_of(tree)
    answers = Counter((turn.parent_turn_id, turn.user_text) for turn in tree if _is_answered(turn))
    views = []
    for turn in path:
        family = families.get(turn.parent_turn_id, ())
        has_rival = _is_answered(turn) and answers[turn.parent_turn_id, turn.user_text] > 1
        mark = noted_mark(noted.get(turn.turn_id), language)
        drawn = _turn_html(turn, family, context_tokens, language, mark, is_last=turn is path[-1], has_rival=has_rival)
        views.append(TurnView(turn.turn_id, drawn, _editable(turn.user_text), _editable(answer_text(turn.answer_text))))
    return views


def families_of(tree: Sequence[TurnRecord]) -> Mapping[str | None, tuple[str, ...]]:
    """Parent → the turns that follow it, oldest first: edits and regenerations of one another."""
    families: dict[str | None, tuple[str, ...]] = {}
    for turn in tree:
        families[turn.parent_turn_id] = (*families.get(turn.parent_turn_id, ()), turn.turn_id)
    return families


def as_seen(turn: TurnRecord, closed: TurnClosed | None) -> TurnRecord:
    """A stored turn with what this screen saw of it: when its host was lost, the store has less than was shown."""
    if closed is None or closed.turn_id != turn.turn_id or closed.state != "interrupted" or turn.answer_text:
        return turn
    return replace(turn, state=closed.state, answer_text=closed.text, problem=closed.problem, hint=closed.hint)


def problem_html(problem: str, hint: str, language: str) -> str:
    """What happened and what to do next."""
    lines = "".join(f"<p>{plain_html(line)}</p>" for line in present.error_lines(problem, hint, language))
    return f'<div class="problem" role="alert">{lines}</div>'


def note_html(text: str) -> str:
    return f'<p class="note" role="status">{plain_html(text)}</p>'


def kept_notes_html(live: LiveTurn, language: str) -> str:
    """What was told during a turn and is still of use after it: what stands for turns that are not read any more."""
    return "".join(_notice_html(notice, language) for notice in live.notices if notice.code == "folded")


def _notice_html(notice: Notice, language: str) -> str:
    """A notice; it opens to more where there is more to it."""
    line, details = present.notice_line(notice, language), present.notice_details(notice, language)
    if not details:
        return note_html(line)
    lines = "".join(f"<li>{plain_html(one)}</li>" for one in details.split("\n"))
    return f'<details class="note" role="status"><summary>{plain_html(line)}</summary><ul>{lines}</ul></details>'


def welcome_html(language: str) -> str:
    title, body = (plain_html(say(f"page.welcome.{part}", language)) for part in ("title", "body"))
    return f'<div class="welcome"><h1>{title}</h1><p>{body}</p></div>'


def _is_answered(turn: TurnRecord) -> bool:
    return turn.state == "answered" and bool(turn.answer_text)


def _editable(text: str) -> str:
    return text if len(text) <= MAX_EDITED_CHARACTERS else ""


def _turn_html(
    turn: TurnRecord,
    family: Sequence[str],
    context_tokens: int | None,
    language: str,
    mark: str,
    *,
    is_last: bool,
    has_rival: bool,
) -> str:
    """`mark`: how it was corrected; `has_rival`: the same message has another answer."""
    status = present.status_of_record(turn, context_tokens)
    parts = present.status_parts(status, None, language) if turn.route is not None else ()
    line = " · ".join(part for part in (*parts, mark) if part)
    return (
        _user_part(turn.user_text, [attachment.name for attachment in turn.attachments])
        + _calls_part(turn.calls, language)
        + _answer_part(turn.answer_text, language, is_complete=True)
        + _end_part(turn, language)
        + f'<footer class="{"last" if is_last else "earlier"}"><span class="status-line">{line_html(line)}</span>'
        + f'<span class="actions">{_siblings(turn.turn_id, family, language)}'
        + f"{_actions(turn, language, has_rival=has_rival)}</span></footer>"
    )


def _user_part(text: str, attachments: Sequence[str]) -> str:
    files = "".join(f'<span class="file">{line_html(name)}</span>' for name in attachments)
    return f'<div class="you"><div class="text">{plain_html(text)}</div>{files}</div>'


def _after_return(call: CallRecord, event: ToolReturned) -> CallRecord:
    if call.position != event.call:
        return call
    return replace(call, state=event.state, result=event.text, seconds=event.seconds)


def _calls_part(calls: Sequence[CallRecord], language: str) -> str:
    """Each call as one line that opens to all that was given and came back."""
    parts = []
    for call in calls:
        title = call_title(call.tool, call.arguments, call.source, language)
        state = call_state(call.state, call.seconds, language)
        details = plain_html(call_details(call.arguments, call.result))
        parts.append(
            f'<details class="tool"><summary>{line_html(f"{title} · {state}")}</summary><pre>{details}</pre></details>'
        )
    return f'<div class="calls">{"".join(parts)}</div>' if parts else ""


def _question_part(asked: ApprovalAsked, language: str) -> str:
    """What a call would do, exactly, and four buttons that answer."""
    question, detail = question_lines(asked, language)
    buttons = "".join(
        f'<button type="button" class="{look}" data-action="reply" data-approval="{html.escape(asked.approval_id)}" '
        f'data-answer="{answer}">{html.escape(say(f"approval.{answer}", language))}</button>'
        for answer, look in (("once", "plain"), ("always", "quiet"), ("reject", "plain"), ("never", "quiet"))
    )
    lines = "".join(f"<p>{plain_html(line)}</p>" for line in question.split("\n"))
    covers = f'<p class="small">{line_html(covered_line(asked, language))}</p>'
    return (
        f'<div class="question" role="alertdialog" aria-label="{html.escape(question)}">{lines}'
        f"<pre>{plain_html(detail)}</pre>{covers}<p>{buttons}</p></div>"
    )


def _answer_part(text: str, language: str, *, is_complete: bool) -> str:
    parts = "".join(_part_html(part, language, is_complete=is_complete) for part in split(text))
    return f'<div class="answer">{parts}</div>' if parts else ""


def _part_html(part: Part, language: str, *, is_complete: bool) -> str:
    """An answer as it is; a thought and a call of a tool as one line that opens."""
    body = answer_html(part.text, language, is_complete=is_complete)
    if part.kind == "answer":
        return f'<div class="said">{body}</div>'
    if part.kind == "thinking":
        title = say("page.thinking", language, count=f"{word_count(part.text):,}")
    else:
        title, body = say("page.tool_call", language, name=part.tool_name), f"<pre>{plain_html(part.text)}</pre>"
    return f'<details class="{part.kind}"><summary>{line_html(title)}</summary>{body}</details>'


def _end_part(end: TurnRecord | TurnClosed, language: str) -> str:
    """How a turn ended that did not simply answer, and what can be done about it."""
    said = end.answer_text if isinstance(end, TurnRecord) else end.text
    mark = present.state_line(end.state, language)
    parts = [f'<p class="ended">{html.escape(mark)}</p>'] if mark else []
    if not said and end.state == "answered":
        parts.append(f'<p class="ended">{html.escape(say("state.empty", language))}</p>')
    if end.problem:
        parts.append(problem_html(end.problem, end.hint, language))
    if isinstance(end, TurnRecord) and present.can_retry(end.state):
        parts.append(_button("again", end.turn_id, say("page.retry", language), "plain", say("page.retry", language)))
    return "".join(parts)


def _siblings(turn_id: str, family: Sequence[str], language: str) -> str:
    """`‹ 2/3 ›` between the versions of one message."""
    if len(family) < 2 or turn_id not in family:
        return ""
    at = family.index(turn_id)
    before = family[at - 1] if at > 0 else ""
    after = family[at + 1] if at + 1 < len(family) else ""
    older = _button("select", before, "‹", "quiet", say("page.older", language))
    newer = _button("select", after, "›", "quiet", say("page.newer", language))
    return f'<span class="siblings">{older}<span>{at + 1}/{len(family)}</span>{newer}</span>'


def _actions(turn: TurnRecord, language: str, *, has_rival: bool) -> str:
    buttons = [("copy", "page.copy"), ("edit", "page.edit"), ("again", "page.again")]
    drawn = "".join(_icon(action, turn.turn_id, say(key, language)) for action, key in buttons)
    drawn += _thumb(turn, 1, language) + _thumb(turn, -1, language)
    if answer_text(turn.answer_text):
        drawn += _icon("better", turn.turn_id, say("page.better", language))
    return drawn + (_icon("pick", turn.turn_id, say("page.pick", language)) if has_rival else "")


def _thumb(turn: TurnRecord, rating: Rating, language: str) -> str:
    """A second press takes the thumb back."""
    given = turn.rating == rating
    name, key = ("up", "page.good") if rating == 1 else ("down", "page.bad")
    words = html.escape(say(key, language))
    return (
        f'<button type="button" class="icon" data-action="rate" data-turn="{html.escape(turn.turn_id)}" '
        f'data-rating="{0 if given else rating}" data-icon="{name}" aria-pressed="{str(given).lower()}" '
        f'title="{words}" aria-label="{words}"></button>'
    )


def _icon(action: str, turn_id: str, words: str) -> str:
    words = html.escape(words)
    return (
        f'<button type="button" class="icon" data-action="{action}" data-turn="{html.escape(turn_id)}" '
        f'data-icon="{action}" title="{words}" aria-label="{words}"></button>'
    )


def _button(action: str, turn_id: str, text: str, look: str, words: str) -> str:
    disabled = "" if turn_id else " disabled"
    return (
        f'<button type="button" class="{look}" data-action="{action}" data-turn="{html.escape(turn_id)}" '
        f'aria-label="{html.escape(words)}"{disabled}>{html.escape(text)}</button>'
    )
