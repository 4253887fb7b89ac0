"""The panel of teaching: what can be learned, what is being learned, what came of it with answers side by side.

Pure: values in, HTML out. Knows no Gradio and no Teacher. Whatever others wrote is escaped.
"""

import html
from collections.abc import Iterable
from typing import Final

from engine.errors import AgentError, UsageProblem
from ui.browser.markdown import plain_html
from ui.browser.turns import note_html, problem_html
from ui.inert import display_text
from ui.strings import say
from ui.teaching import Compared, Proposal, Taught
from ui.teaching_lines import figures_line, how_line, mark, standing_line, verdict_lines

_MAX_CHARACTERS: Final = 2000
"""Of one prompt or answer."""


def proposal_html(proposal: Proposal, language: str) -> str:
    """What would change, from which corrections, and the question."""
    said = say("teach.proposal", language, count=proposal.corrections, expert=proposal.expert)
    rows = [[plain_html(_cut(text)) for text in (one.prompt, one.before, one.after)] for one in proposal.corrected]
    lesson = proposal.lesson_id
    return (
        _heading("teach.title.proposal", language)
        + f"<p>{plain_html(said)}</p>{_changes(proposal)}<p>{_say('teach.proposal.examples', language)}</p>"
        + _table(("prompt", "before", "wanted"), rows, language)
        + f"<p>{plain_html(how_line(proposal, language))}</p>"
        + _buttons(_button("learn", lesson, language), _button("close", lesson, language, "not_now"))
    )


def underway_html(proposal: Proposal, language: str, *, is_stopping: bool) -> str:
    """What is being learned. Where it is changes more often, and is told beside it."""
    stop = "" if is_stopping else _buttons(_button("stop", proposal.lesson_id, language))
    beside = _say("page.teach.beside", language)
    return f"{_heading('teach.title.running', language)}{_changes(proposal)}<p>{beside}</p>{stop}"


def taught_html(taught: Taught, language: str, *, said: str = "") -> str:
    """What came of it. `said`: what was just done, or why it could not be, as HTML of ours."""
    told = [*verdict_lines(taught, language), figures_line(taught, language)]
    told.append(say("teach.minutes", language, minutes=f"{taught.minutes:.1f}"))
    standing = standing_line(taught, language)
    change = "undo" if taught.is_in_use else "use" if taught.decision == "passed" else ""
    return (
        _heading("teach.title.result", language)
        + "".join(f"<p>{plain_html(line.strip())}</p>" for line in told if line)
        + (said or (note_html(standing) if standing else ""))
        + _buttons(
            _button(change, taught.lesson_id, language) if change else "",
            _button("close", "", language, "not_now" if change == "use" else "close"),
            _button("again", "", language),
        )
        + (_compared_html(taught.compared, language) if taught.compared else "")
    )


def refused_html(refusal: UsageProblem, language: str) -> str:
    """Why nothing can be learned now: an answer, and no failure."""
    lines = "".join(f"<p>{plain_html(line)}</p>" for line in (refusal.problem, refusal.hint) if line)
    return f'{_heading("teach.title", language)}<div class="refusal">{lines}</div>'


def failed_html(error: AgentError, language: str) -> str:
    problem = problem_html(error.problem, error.hint, language)
    return _heading("teach.title", language) + problem + _buttons(_button("again", "", language))


def _compared_html(compared: Iterable[Compared], language: str) -> str:
    rows = [
        [
            plain_html(_cut(one.prompt)),
            _answer(one.before, one.follows_before, language),
            _answer(one.after, one.follows_after, language),
        ]
        for one in compared
    ]
    marks = f'<p class="small">{_say("teach.marks", language)}</p>'
    heading = f"<h3>{_say('teach.compared', language)}</h3>"
    return heading + marks + _table(("unseen", "before", "after"), rows, language)


def _answer(text: str, follows: bool, language: str) -> str:
    words = _say("teach.mark.follows" if follows else "teach.mark.fails", language)
    look = "follows" if follows else "fails"
    return (
        f'<span class="mark {look}" role="img" aria-label="{words}" title="{words}">{mark(follows)}</span> '
        f"{plain_html(_cut(text))}"
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]], language: str) -> str:
    """`rows` are HTML of ours."""
    head = "".join(f"<th scope='col'>{_say(f'teach.column.{name}', language)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _changes(proposal: Proposal) -> str:
    return f"<ul>{''.join(f'<li>{plain_html(change)}</li>' for change in proposal.changes)}</ul>"


def _buttons(*buttons: str) -> str:
    return f'<p class="changes">{"".join(buttons)}</p>'


def _button(action: str, lesson_id: str, language: str, words: str = "") -> str:
    return (
        f'<button type="button" class="plain" data-action="{action}" data-lesson="{html.escape(lesson_id)}">'
        f"{_say(f'teach.button.{words or action}', language)}</button>"
    )


def _heading(key: str, language: str) -> str:
    return f"<h2>{_say(key, language)}</h2>"


def _cut(text: str) -> str:
    shown = display_text(text)
    return shown if len(shown) <= _MAX_CHARACTERS else shown[:_MAX_CHARACTERS] + "…"


def _say(key: str, language: str) -> str:
    return html.escape(say(key, language))
