"""The parts of the page that scripts of ours draw: each a `gr.HTML` with a template that never changes.

Gradio runs a template as JavaScript and Handlebars, so no text of a model or a person may ever be in one: such text
goes through `value`, which the scripts read. Knows neither Client nor events.
"""

import html
from typing import Final

import gradio as gr

from ui.browser.look import script
from ui.browser.payloads import MAX_FILE_BYTES
from ui.strings import LANGUAGES, say

_NAMES: Final = {"en": "English", "zh": "中文"}


def transcript_part() -> gr.HTML:
    """value: {conversation, head, earlier, turns: [{turn_id, html, text}]}."""
    template = '<div data-part="head"></div><div data-part="earlier"></div><div data-part="turns"></div>'
    return _part("transcript", template)


def live_part() -> gr.HTML:
    """value: {html, line, running, refused, number}; refused: give the message back to who wrote it."""
    template = '<div data-part="body"></div><div class="status-line" data-part="line" role="status"></div>'
    return _part("live", template)


def history_part(language: str) -> gr.HTML:
    """value: {html}."""
    return _part("history", f'<div data-part="list" data-rename="{_say("page.rename", language)}"></div>')


def composer_part(language: str) -> gr.HTML:
    words = {key: _say(f"page.{key}", language) for key in ("write", "keys", "send", "stop", "attach", "remove")}
    editing, correcting = _say("page.editing", language), _say("page.correcting", language)
    cancel = _say("page.cancel", language)
    lost = "".join(f"<p>{_say(key, language)}</p>" for key in ("page.lost", "page.lost_hint"))
    template = f"""
<div class="problem" role="alert" data-part="lost" hidden>{lost}</div>
<div class="editing" data-part="editing" data-message="{editing}" data-answer="{correcting}" hidden>
  <span data-part="aim"></span>
  <button type="button" class="quiet" data-part="cancel">{cancel}</button></div>
<div class="files" data-part="files" data-remove="{words["remove"]}" data-max-bytes="{MAX_FILE_BYTES}"></div>
<textarea rows="1" data-part="text" placeholder="{words["write"]}" aria-label="{words["write"]}" dir="auto"></textarea>
<div class="bar">
  <button type="button" class="icon" data-part="attach" data-icon="attach" title="{words["attach"]}"
    aria-label="{words["attach"]}"></button>
  <input type="file" data-part="picker" multiple hidden>
  <span class="hint">{words["keys"]}</span>
  <button type="button" class="icon round" data-part="send" data-icon="send" title="{words["send"]}"
    aria-label="{words["send"]}"></button>
  <button type="button" class="icon round" data-part="stop" data-icon="stop" title="{words["stop"]}"
    aria-label="{words["stop"]}" hidden></button>
</div>"""
    return _part("composer", template)


def tools_part(language: str, theme: str) -> gr.HTML:
    """Theme and language, and downloads. value: {serial, name, type, text}."""
    links = "".join(
        f'<a href="../{name}/" lang="{name}"{" aria-current" if name == language else ""}>{_NAMES[name]}</a>'
        for name in LANGUAGES
    )
    look = _say("page.theme", language)
    template = (
        f'<nav aria-label="{_say("page.language", language)}">{links}</nav><button type="button" class="icon" '
        f'data-part="theme" data-icon="theme" data-theme="{html.escape(theme)}" data-language="{language}" '
        f'title="{look}" aria-label="{look}"></button>'
    )
    return _part("tools", template)


def adapters_part(language: str) -> gr.HTML:
    """A button and the panel that it opens. value: {html}, HTML of ours."""
    opener, close = _say("page.adapters", language), _say("page.adapters.close", language)
    loading = _say("adapters.screen.loading", language)
    template = f"""
<button type="button" class="plain" data-part="opener">{opener}</button>
<dialog data-part="dialog" tabindex="-1" aria-label="{opener}">
  <button type="button" class="quiet close" data-part="close" aria-label="{close}" title="{close}">×</button>
  <div data-part="body"><p class="small">{loading}</p></div>
</dialog>"""
    return _part("adapters", template)


def signals_part(language: str) -> gr.HTML:
    """A button and the list that it opens. value: {html}, HTML of ours."""
    opener, close = _say("page.signals", language), _say("page.signals.close", language)
    template = f"""
<button type="button" class="plain" data-part="opener">{opener}</button>
<dialog data-part="dialog" tabindex="-1" aria-label="{opener}">
  <button type="button" class="quiet close" data-part="close" aria-label="{close}" title="{close}">×</button>
  <div data-part="body"></div>
</dialog>"""
    return _part("signals", template)


def memory_part(language: str) -> gr.HTML:
    """A button and the panel that it opens. value: {html}, HTML of ours."""
    opener, close = _say("memory.title", language), _say("page.memory.close", language)
    template = f"""
<button type="button" class="plain" data-part="opener">{opener}</button>
<dialog data-part="dialog" tabindex="-1" aria-label="{opener}">
  <button type="button" class="quiet close" data-part="close" aria-label="{close}" title="{close}">×</button>
  <div data-part="body"></div>
</dialog>"""
    return _part("memory", template)


def teaching_part(language: str) -> gr.HTML:
    """A button, a line below it, and the panel that it opens. value: {html, line, running, done, total}.

    `html` is HTML of ours, `line` a text: where a lesson is, or that it is over.
    """
    opener, close = _say("teach.title", language), _say("teach.button.close", language)
    looking = _say("teach.looking", language)
    template = f"""
<button type="button" class="plain" data-part="opener">{opener}</button>
<div class="small" data-part="line"></div>
<dialog data-part="dialog" tabindex="-1" aria-label="{opener}">
  <button type="button" class="quiet close" data-part="close" aria-label="{close}" title="{close}">×</button>
  <div data-part="body"><p class="small">{looking}</p></div>
  <p class="small" role="status" data-part="progress" hidden></p>
  <progress data-part="bar" aria-label="{opener}" hidden></progress>
</dialog>"""
    return _part("teaching", template)


def suggestion_part() -> gr.HTML:
    """value: {html}, HTML of ours."""
    return _part("suggestion", '<div data-part="body"></div>')


def stream_part() -> gr.HTML:
    """Nothing to see: keeps answers from being lost. Has no value."""
    return _part("stream", "")


def text_part(name: str) -> gr.HTML:
    """value: {html}, HTML of ours."""
    return _part(name, '<div data-part="body"></div>', script_name="text")


def _part(name: str, template: str, script_name: str = "") -> gr.HTML:
    return gr.HTML(
        value={},
        html_template=f'<div class="{name}" data-part="root">{template}</div>',
        js_on_load=script(script_name or name),
        apply_default_css=False,
        elem_id=name,
    )


def _say(key: str, language: str) -> str:
    # A backtick would end the JavaScript that a template is.
    return html.escape(say(key, language)).replace("`", "&#96;")
