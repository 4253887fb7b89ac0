"""The panel of memories: the list with its search, one memory with its buttons, the question before it is forgotten.

Pure: values in, HTML out. Knows no Gradio and no Client. Whatever others wrote is escaped.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.memory.hygiene import HygieneReport
from engine.memory.values import Memory, MemoryDetails, Standing
from ui.browser.markdown import line_html, plain_html
from ui.browser.payloads import MAX_MEMORY_CHARACTERS, ListedMemories
from ui.browser.turns import note_html
from ui.inert import display_line
from ui.memory_changes import possible_changes, question
from ui.memory_lines import day_text, facts, memory_line, passages, report_lines, text_line
from ui.strings import say

PAGE_SIZE: Final = 50
"""Shown at first, and added by each press of the button below them."""


@dataclass(frozen=True, slots=True)
class View:
    """Which memories are listed."""

    state: ListedMemories = "active"
    words: str = ""
    shown: int = PAGE_SIZE


def list_html(memories: Sequence[Memory], standing: Standing, view: View, language: str, *, said: str = "") -> str:
    """`memories` holds one more than is shown where there are more; `said` is what was just done."""
    parts = [f"<h2>{_text(_title(standing, language))}</h2>", _controls(standing, view, language)]
    if said:
        parts.append(note_html(said))
    if not memories:
        parts.append(f'<p class="empty">{plain_html(_nothing(view, language))}</p>')
    items = "".join(_item_html(memory, language) for memory in memories[: view.shown])
    parts.append(f"<ul>{items}</ul>" if items else "")
    if len(memories) > view.shown:
        parts.append(
            _button("list", say("page.memory.older", language), state=view.state, shown=view.shown + PAGE_SIZE)
        )
    return "".join(parts)


def one_html(details: MemoryDetails, language: str, *, is_asked: bool = False) -> str:
    """All that is known of one, and what can be done with it; with `is_asked`, the question before it is forgotten."""
    memory = details.memory
    rows = "".join(
        f"<tr><th scope='row'>{_text(what)}</th><td>{_text(value)}</td></tr>"
        for what, value in facts(details, language)
    )
    told = "".join(
        f"<h3>{_text(heading)}</h3><p class='passage'>{plain_html(text)}</p>"
        for heading, text in passages(details, language)
    )
    return (
        f"{_back(language)}<h2>{line_html(text_line(memory, language, None))}</h2>"
        + (_question_html(memory, language) if is_asked else _changes_html(memory, language))
        + f"<table class='facts'>{rows}</table>{told}"
    )


def report_html(report: HygieneReport, standing: Standing, language: str) -> str:
    lines = "".join(f"<li>{line_html(line)}</li>" for line in report_lines(report, standing, language))
    return f"{_back(language)}<h2>{_text(say('page.memory.report', language))}</h2><ul class='report'>{lines}</ul>"


def failed_html(problem_html: str, language: str) -> str:
    """What went wrong, and the way back to the list."""
    return _back(language) + problem_html


def _title(standing: Standing, language: str) -> str:
    title = say("memory.screen.title", language, active=standing.active, pending=standing.pending)
    if standing.paused_since is None:
        return title
    return title + say("memory.screen.paused", language, day=day_text(standing.paused_since))


def _controls(standing: Standing, view: View, language: str) -> str:
    """A field to search, one to add, and the buttons for all of them."""
    waiting = say("page.memory.waiting", language, count=standing.pending)
    is_paused = standing.paused_since is not None
    pause = say("page.memory.resume" if is_paused else "page.memory.pause", language)
    buttons = (
        _button("list", say("page.memory.known", language), state="active", is_pressed=view.state == "active")
        + _button("list", waiting, state="pending", is_pressed=view.state == "pending")
        + _button("report", say("page.memory.report", language))
        + _button("rest", pause, paused=0 if is_paused else 1)
    )
    return (
        _form("list", "page.memory.search", view.words, language, state=view.state)
        + _form("keep", "page.memory.add", "", language)
        + f'<p class="changes">{buttons}</p>'
    )


def _nothing(view: View, language: str) -> str:
    if view.words:
        return say("memory.no_hits", language, query=display_line(view.words, 60))
    return say("memory.none.waiting" if view.state == "pending" else "memory.screen.none", language)


def _item_html(memory: Memory, language: str) -> str:
    line = (
        f'<button type="button" class="quiet" data-action="show" data-memory="{memory.memory_id}">'
        f"{line_html(memory_line(memory, language))}</button>"
    )
    return f"<li>{line}{_decisions(memory, language) if memory.state == 'pending' else ''}</li>"


def _decisions(memory: Memory, language: str) -> str:
    """On one that waits: one click each."""
    return _button(
        "decide", say("page.memory.approve", language), "quiet small", memory=memory.memory_id, change="approve"
    ) + _button("decide", say("page.memory.reject", language), "quiet small", memory=memory.memory_id, change="forget")


def _changes_html(memory: Memory, language: str) -> str:
    possible = possible_changes(memory)
    form = _form("decide", "page.memory.edit", memory.text, language, memory=memory.memory_id, change="edit")
    if memory.state == "pending":
        return form + f'<p class="changes">{_decisions(memory, language)}</p>'
    forget = _button("ask", say("page.memory.forget", language), memory=memory.memory_id)
    return (form if "edit" in possible else "") + (f'<p class="changes">{forget}</p>' if "forget" in possible else "")


def _question_html(memory: Memory, language: str) -> str:
    yes = _button("decide", say("page.adapters.yes", language), memory=memory.memory_id, change="forget")
    no = _button("show", say("page.adapters.no", language), memory=memory.memory_id)
    asked = plain_html(question(memory, language))
    return f'<div class="question" role="alert"><p>{asked}</p><p class="changes">{yes}{no}</p></div>'


def _back(language: str) -> str:
    return _button("list", f"‹ {say('page.memory.back', language)}", "quiet")


def _form(action: str, key: str, text: str, language: str, **data: object) -> str:
    """A field, and the button that sends what is in it."""
    words, label = _text(say(key, language)), _text(say(f"{key}.label", language))
    return (
        f'<form><input type="text" maxlength="{MAX_MEMORY_CHARACTERS}" value="{html.escape(display_line(text))}" '
        f'aria-label="{label}" placeholder="{label}">'
        f'<button type="submit" class="plain" data-action="{action}"{_data(data)}>{words}</button></form>'
    )


def _button(action: str, words: str, look: str = "plain", *, is_pressed: bool | None = None, **data: object) -> str:
    pressed = "" if is_pressed is None else f' aria-pressed="{str(is_pressed).lower()}"'
    return f'<button type="button" class="{look}" data-action="{action}"{_data(data)}{pressed}>{_text(words)}</button>'


def _data(values: dict[str, object]) -> str:
    return "".join(f' data-{name}="{html.escape(str(value))}"' for name, value in values.items())


def _text(text: str) -> str:
    return html.escape(text)
