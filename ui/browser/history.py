"""The list of conversations as the page shows it. Pure: values in, views out; knows no Gradio and no Client."""

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from engine.values import Conversation, SearchHit
from ui import present
from ui.strings import say, say_count

PAGE_SIZE: Final = 50
"""Conversations shown at first, and added by each press of the button below them."""
MAX_HITS: Final = 50


@dataclass(frozen=True, slots=True)
class HistoryView:
    html: str
    """Entries carry the id of their conversation; the script marks the one that is open."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def conversations_view(conversations: Sequence[Conversation], language: str, *, shown: int = PAGE_SIZE) -> HistoryView:
    """The newest `shown` of them; `conversations` holds one more where there are more."""
    if not conversations:
        return HistoryView(_empty(say("history.empty", language)))
    items = "".join(_conversation_html(conversation, language) for conversation in conversations[:shown])
    more = ""
    if len(conversations) > shown:
        words = html.escape(say("page.more", language))
        more = (
            f'<button type="button" class="plain" data-action="more" data-shown="{shown + PAGE_SIZE}">{words}</button>'
        )
    return HistoryView(f"<ul>{items}</ul>{more}")


def hits_view(hits: Sequence[SearchHit], query: str, language: str) -> HistoryView:
    """What a search found, the best match first."""
    if not hits:
        return HistoryView(_empty(say("history.no_hits", language, query=query)))
    return HistoryView(f"<ul>{''.join(_hit_html(hit, language) for hit in hits)}</ul>")


def _conversation_html(conversation: Conversation, language: str) -> str:
    title = _title(conversation.title, language)
    turns = say_count("history.turns", language, conversation.turn_count)
    words = html.escape(say("page.rename", language))
    return (
        f'<li data-conversation="{html.escape(conversation.conversation_id)}">'
        f'<button type="button" class="entry" data-action="open"><span class="title">{html.escape(title)}</span>'
        f'<span class="small">{html.escape(conversation.updated_at[:10])} · {html.escape(turns)}</span></button>'
        f'<button type="button" class="icon" data-action="rename" data-icon="edit" title="{words}" '
        f'aria-label="{words}"></button></li>'
    )


def _hit_html(hit: SearchHit, language: str) -> str:
    role = say(f"role.{hit.role}", language)
    small = f"{hit.created_at[:10]} · {role} · {present.display_line(hit.snippet, 120)}"
    title = _title(hit.title, language)
    return (
        f'<li data-conversation="{html.escape(hit.conversation_id)}" data-turn="{html.escape(hit.turn_id)}">'
        f'<button type="button" class="entry" data-action="open"><span class="title">{html.escape(title)}</span>'
        f'<span class="small">{html.escape(small)}</span></button></li>'
    )


def _title(title: str, language: str) -> str:
    return present.display_line(title, 60) or say("history.untitled", language)


def _empty(words: str) -> str:
    return f'<p class="small">{html.escape(present.display_line(words, 120))}</p>'
