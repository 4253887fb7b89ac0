"""The page: a sidebar with the conversations, the conversation, and where to write. Layout and wiring, nothing else.

Gradio reads its environment when it is imported: see `app.web.quiet_environment`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from ui.browser import parts
from ui.browser.adapter_handlers import AdapterHandlers
from ui.browser.handlers import Handlers
from ui.browser.memory_handlers import MemoryHandlers
from ui.browser.suggestion_handlers import SuggestionHandlers
from ui.browser.teaching_handlers import TeachingHandlers
from ui.client import Client
from ui.strings import say
from ui.teaching_work import Teaching


def build_page(
    connect: Callable[[], Client], *, language: str, theme: str = "", teaching: Teaching | None = None
) -> gr.Blocks:
    """The page in one language. `connect` gives each tab of a browser a Client of its own: a tab is a face.

    `theme` is "light", "dark", or empty for the system's; the reader's own choice comes first. `teaching` is the same
    for all tabs; without it there is nothing to teach with.
    """
    handlers = Handlers(connect, language)
    of_adapters = AdapterHandlers(handlers.client, language)
    of_memory = MemoryHandlers(handlers.client, language)
    of_suggestions = SuggestionHandlers(handlers.client, language)
    page = gr.Blocks(title=say("page.title", language), analytics_enabled=False, fill_width=True)
    with page:
        with gr.Sidebar(width=300):
            new = gr.Button(say("page.new", language), elem_id="new", size="md")
            off_record = gr.Checkbox(label=say("page.off_record", language), elem_id="off-record", container=False)
            search = _search_box(language)
            history = parts.history_part(language)
            profile = gr.Dropdown(
                label=say("page.profile", language), choices=[], elem_id="profile", filterable=False, container=True
            )
            adapters = parts.adapters_part(language)
            signals = parts.signals_part(language)
            memory = parts.memory_part(language)
            if teaching is not None:
                _teaching_panel(teaching, language)
            about = parts.text_part("about")
            tools = parts.tools_part(language, theme)
            stream = parts.stream_part()
        with gr.Column(elem_id="main"):
            with gr.Column(elem_id="conversation"):
                transcript = parts.transcript_part()
                live = parts.live_part()
            with gr.Column(elem_id="below", scale=0):
                suggestion = parts.suggestion_part()
                notice = parts.text_part("notice")
                composer = parts.composer_part(language)
                expert = _expert_chooser(language)
        shown = [transcript, live, notice, history]
        asked = [expert, search]
        _on(composer.send, handlers.send, shown, [*asked, off_record], trigger_mode="multiple")
        _on(composer.better, handlers.signals.better, shown, trigger_mode="multiple")
        _on(composer.stop, handlers.stop, shown, trigger_mode="multiple")
        _on(stream.knock, handlers.knock, [], trigger_mode="multiple")
        _on(composer.refuse, handlers.refuse, shown, trigger_mode="multiple")
        _on(transcript.again, handlers.again, shown, asked, trigger_mode="multiple")
        _on(live.reply, handlers.reply, shown, trigger_mode="multiple")
        _on(transcript.ready, handlers.ready, [*shown, expert, profile])
        _on(transcript.ready, handlers.about, [about, profile])
        _on(transcript.rate, handlers.rate, shown, trigger_mode="multiple")
        _on(transcript.pick, handlers.signals.pick, shown, trigger_mode="multiple")
        _on(transcript.select, handlers.select, shown)
        _on(transcript.earlier, handlers.earlier, shown)
        _on(transcript.export, handlers.export, [*shown, tools])
        _on(history.open, handlers.open, shown, trigger_mode="multiple")
        _on(history.rename, handlers.rename, shown, [search])
        _on(history.more, handlers.more, shown, [search])
        _on(search.change, handlers.search, shown, [search], trigger_mode="always_last")
        _on(new.click, handlers.new, shown)
        _on(off_record.input, handlers.new, shown)
        _on(profile.input, handlers.use_profile, [notice, profile, expert, about], [profile])
        _on(adapters.list, of_adapters.list, [adapters])
        _on(adapters.show, of_adapters.show, [adapters])
        _on(adapters.ask, of_adapters.ask, [adapters])
        _on(adapters.agree, of_adapters.agree, [adapters])
        _on(memory.list, of_memory.list, [memory])
        _on(memory.show, of_memory.show, [memory])
        _on(memory.ask, of_memory.ask, [memory])
        _on(memory.decide, of_memory.decide, [memory])
        _on(memory.keep, of_memory.keep, [memory])
        _on(memory.rest, of_memory.rest, [memory])
        _on(memory.report, of_memory.report, [memory])
        _on(signals.list, handlers.signals.list, [signals])
        _on(signals.erase, handlers.signals.erase, [*shown, signals])
        _on(signals.confirm, handlers.signals.confirm, [*shown, signals])
        _on(suggestion.look, of_suggestions.look, [suggestion])
        _on(suggestion.answer, of_suggestions.answer, [suggestion])
        page.unload(handlers.leave)
    page.queue(api_open=False, default_concurrency_limit=None)
    return page


def _teaching_panel(teaching: Teaching, language: str) -> None:
    panel, handlers = parts.teaching_part(language), TeachingHandlers(teaching, language)
    for event, work in (
        (panel.status, handlers.status),
        (panel.look, handlers.look),
        (panel.propose, handlers.propose),
        (panel.learn, handlers.learn),
        (panel.stop, handlers.stop),
        (panel.use, handlers.use),
        (panel.undo, handlers.undo),
    ):
        _on(event, work, [panel])


def _search_box(language: str) -> gr.Textbox:
    words = say("page.search", language)
    return gr.Textbox(label=words, placeholder=words, show_label=False, container=False, elem_id="search")


def _expert_chooser(language: str) -> gr.Dropdown:
    return gr.Dropdown(
        label=say("page.expert", language),
        choices=[(say("page.auto", language), "")],
        value="",
        show_label=False,
        container=False,
        filterable=False,
        elem_id="expert",
    )


def _on(
    event: Callable[..., Any],
    work: Callable[..., Any],
    outputs: Sequence[gr.components.Component],
    inputs: Sequence[gr.components.Component] = (),
    *,
    trigger_mode: str = "once",
) -> None:
    """Nothing is an endpoint for other programs, and no turn makes another click wait."""
    event(
        work,
        inputs=list(inputs),
        outputs=list(outputs),
        api_visibility="private",
        show_progress="hidden",
        concurrency_limit=None,
        trigger_mode=trigger_mode,
    )
