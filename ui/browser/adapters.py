"""The panel of adapters: the list by expert, one adapter with its buttons, the question before a change.

Pure: values in, HTML out. Knows no Gradio and no Client. Whatever others wrote is escaped.
"""

import html
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from engine.adapters.records import AdapterDetails
from ui.adapter_changes import Change, possible_changes, question
from ui.adapter_groups import SHOWN, ExpertAdapters, Listed, has_own
from ui.adapter_lines import age_text, detail_lines, facts, short, state_text, verdict_text
from ui.browser.markdown import line_html, plain_html
from ui.browser.turns import note_html
from ui.inert import display_line
from ui.strings import say

_HEADS: Final = ("name", "state", "age", "gate", "note")
_NOTE_CELLS: Final = 60
_PURPOSE_CELLS: Final = 80


def list_html(
    groups: Sequence[ExpertAdapters], profile: str, now: datetime, language: str, *, shown: int, said: str = ""
) -> str:
    """All that the profile has, by expert. `shown` is how many of each were asked for, `said` what was just done."""
    parts = [f"<h2>{_text(say('adapters.screen.title', language, profile=display_line(profile, 40)))}</h2>"]
    if said:
        parts.append(note_html(said))
    if not has_own(groups):
        parts.append(f'<p class="empty">{plain_html(say("adapters.screen.empty", language))}</p>')
    parts += [_group_html(group, now, language) for group in groups]
    if any(group.has_more for group in groups):
        words = _text(say("adapters.screen.older", language))
        parts.append(
            f'<button type="button" class="plain" data-action="list" data-shown="{shown + SHOWN}">{words}</button>'
        )
    return "".join(parts)


def one_html(details: AdapterDetails, language: str, *, asked: Change | None = None) -> str:
    """All that is known of one, and what can be done with it; with `asked`, the question before that."""
    record = details.record
    rows = "".join(
        f"<tr><th scope='row'>{_text(what)}</th><td>{_text(value)}</td></tr>" for what, value in facts(record, language)
    )
    known = list(detail_lines(details, language)) or [say("adapters.screen.nothing_more", language)]
    history = "".join(f"<li>{line_html(line)}</li>" for line in known)
    return (
        f"{_back(language)}<h2>{_text(short(record.content_hash))} · {_text(display_line(record.expert))}</h2>"
        + (_question_html(asked, details, language) if asked else _buttons(details, language))
        + f"<table class='facts'>{rows}</table>"
        + f"<h3>{_text(say('adapters.screen.history', language))}</h3><ul>{history}</ul>"
    )


def failed_html(problem_html: str, language: str) -> str:
    """What went wrong, and the way back to the list."""
    return _back(language) + problem_html


def _group_html(group: ExpertAdapters, now: datetime, language: str) -> str:
    purpose = display_line(group.purpose, _PURPOSE_CELLS)
    heading = say("adapters.screen.group", language, expert=display_line(group.expert), purpose=purpose)
    heads = "".join(f"<th scope='col'>{_text(say(f'adapters.head.{head}', language))}</th>" for head in _HEADS)
    rows = "".join(_row_html(one, now, language) for one in group.listed)
    return f"<h3>{_text(heading)}</h3><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _row_html(one: Listed, now: datetime, language: str) -> str:
    record = one.record
    name = _button("show", record.content_hash, short(record.content_hash), "quiet")
    cells: Iterable[str] = (
        name,
        _text(state_text(record, language)),
        _text(age_text(record.created_at, now, language)),
        _text(verdict_text(one.verdict, language) if record.kind != "factory" else ""),
        _text(display_line(record.note, _NOTE_CELLS)),
    )
    answers = record.state in ("champion", "canary")
    return f"<tr{' class=answering' if answers else ''}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _buttons(details: AdapterDetails, language: str) -> str:
    drawn = "".join(
        _button("ask", details.record.content_hash, say(f"page.adapters.{change}", language), "plain", change)
        for change in possible_changes(details.record)
    )
    return f'<p class="changes">{drawn}</p>' if drawn else ""


def _question_html(change: Change, details: AdapterDetails, language: str) -> str:
    adapter = details.record.content_hash
    yes = _button("agree", adapter, say("page.adapters.yes", language), "plain", change)
    no = _button("show", adapter, say("page.adapters.no", language), "plain")
    asked = plain_html(question(change, details, language))
    return f'<div class="question" role="alert"><p>{asked}</p><p class="changes">{yes}{no}</p></div>'


def _back(language: str) -> str:
    words = _text(say("page.adapters.back", language))
    return f'<button type="button" class="quiet" data-action="list">‹ {words}</button>'


def _button(action: str, adapter: str, words: str, look: str, change: str = "") -> str:
    wanted = f' data-change="{html.escape(change)}"' if change else ""
    return (
        f'<button type="button" class="{look}" data-action="{action}" data-adapter="{html.escape(adapter)}"{wanted}>'
        f"{_text(words)}</button>"
    )


def _text(text: str) -> str:
    return html.escape(text)
