"""The panel of signals: what the user said of answers, with a button to confirm and one to erase each.

Pure: values in, HTML out. Knows no Gradio and no Client. Whatever others wrote is escaped.
"""

import html
from collections.abc import Sequence
from typing import Final

from engine.signals.values import Signal
from ui.browser.markdown import line_html, plain_html
from ui.signals import signal_line
from ui.strings import say

PAGE_SIZE: Final = 50
"""Shown at first, and added by each press of the button below them."""
_MAX_CHARACTERS: Final = 2000
"""Of the text of one. The whole of it is shown by the command line."""


def list_html(signals: Sequence[Signal], language: str, *, shown: int = PAGE_SIZE) -> str:
    """The newest `shown` of them; `signals` holds one more where there are more."""
    heading = f"<h2>{_text(say('signals.title', language))}</h2>"
    if not signals:
        return f'{heading}<p class="small">{_text(say("signals.none", language))}</p>'
    items = "".join(_item_html(signal, language) for signal in signals[:shown])
    more = ""
    if len(signals) > shown:
        words = _text(say("page.signals.more", language))
        more = (
            f'<button type="button" class="plain" data-action="list" data-shown="{shown + PAGE_SIZE}">{words}</button>'
        )
    return f"{heading}<ul>{items}</ul>{more}"


def _item_html(signal: Signal, language: str) -> str:
    if signal.text:
        cut = signal.text[:_MAX_CHARACTERS] + ("…" if len(signal.text) > _MAX_CHARACTERS else "")
        text = f"<details><summary>{line_html(signal_line(signal, language))}</summary>{plain_html(cut)}</details>"
    else:
        text = f"<span>{line_html(signal_line(signal, language))}</span>"
    confirm = _button("confirm", signal, language) if signal.is_tainted else ""
    return f"<li>{text}{confirm}{_button('erase', signal, language)}</li>"


def _button(action: str, signal: Signal, language: str) -> str:
    words = _text(say(f"page.{action}", language))
    return (
        f'<button type="button" class="quiet small" data-action="{action}" '
        f'data-signal="{signal.signal_id}">{words}</button>'
    )


def _text(words: str) -> str:
    return html.escape(words)
