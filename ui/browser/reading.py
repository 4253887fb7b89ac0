"""What is stored, asked of the Client and made ready for the parts of the page. Knows no Gradio and runs no turn."""

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.values import Conversation, TurnRecord
from ui.browser.history import MAX_HITS, PAGE_SIZE, conversations_view, hits_view
from ui.browser.payloads import ExportFormat
from ui.browser.turns import turn_views, welcome_html
from ui.client import Client
from ui.export import export_name, to_json, to_markdown
from ui.inert import display_line
from ui.signals import MOST_MARKED, NOTED, noted_kinds
from ui.strings import say, say_count

TURNS_SHOWN: Final = 40
"""Turns of a conversation shown at first, and added by each press of the button above them."""


@dataclass(frozen=True, slots=True)
class Download:
    name: str
    media_type: str
    text: str


def empty_transcript(language: str) -> dict[str, Any]:
    """A conversation that has not begun."""
    return {"conversation": None, "head": _head(None, language), "earlier": welcome_html(language), "turns": []}


def transcript(
    client: Client,
    path: Sequence[TurnRecord],
    conversation_id: str,
    context_tokens: int | None,
    language: str,
    shown: int,
) -> dict[str, Any]:
    """The newest `shown` turns of `path`, which is (the beginning of) the branch in use. Raises: AgentError."""
    hidden = max(0, len(path) - shown)
    noted = noted_kinds(client.signals(limit=MOST_MARKED, kinds=NOTED, conversation_id=conversation_id))
    views = turn_views(path[hidden:], client.tree(conversation_id), context_tokens, language, noted)
    return {
        "conversation": conversation_id,
        "head": _head(client.conversation(conversation_id), language),
        "earlier": _earlier(hidden, shown, language),
        "turns": [view.to_json() for view in views],
    }


def path_before(path: Sequence[TurnRecord], parent_turn_id: str | None) -> Sequence[TurnRecord]:
    """The part of a branch that a turn with this parent goes on from."""
    ends = [index + 1 for index, turn in enumerate(path) if turn.turn_id == parent_turn_id]
    return path[: ends[0]] if ends else ()


def history(client: Client, query: str, language: str, shown: int = PAGE_SIZE) -> dict[str, Any]:
    """What matches `query`, or all conversations when it is blank. Raises: AgentError."""
    if query.strip():
        return hits_view(client.search(query, limit=MAX_HITS), query, language).to_json()
    conversations = client.conversations(limit=shown + 1)
    return conversations_view(conversations, language, shown=shown).to_json()


def download(client: Client, conversation_id: str, wanted: ExportFormat, language: str) -> Download:
    """Raises: AgentError."""
    copy = client.export_conversation(conversation_id)
    title = copy.conversation.title
    if wanted == "markdown":
        return Download(export_name(title, ".md"), "text/markdown", to_markdown(copy, language))
    text = json.dumps(to_json(copy), ensure_ascii=False, indent=2)
    return Download(export_name(title, ".json"), "application/json", text)


def _head(conversation: Conversation | None, language: str) -> str:
    if conversation is None:
        return f'<div class="head"><h2>{html.escape(say("page.untitled", language))}</h2></div>'
    title = display_line(conversation.title, 80) or say("history.untitled", language)
    return (
        f'<div class="head"><h2 title="{html.escape(title)}">{html.escape(title)}</h2>'
        f"{_export('markdown', 'MD', language)}{_export('json', 'JSON', language)}</div>"
    )


def _export(wanted: ExportFormat, short: str, language: str) -> str:
    words = html.escape(say(f"page.export_{wanted}", language))
    return (
        f'<button type="button" class="quiet small" data-action="export" data-format="{wanted}" title="{words}" '
        f'aria-label="{words}">{short}</button>'
    )


def _earlier(hidden: int, shown: int, language: str) -> str:
    if not hidden:
        return ""
    words = html.escape(say_count("page.earlier", language, hidden))
    return (
        f'<button type="button" class="plain" data-action="earlier" data-shown="{shown + TURNS_SHOWN}">{words}</button>'
    )
