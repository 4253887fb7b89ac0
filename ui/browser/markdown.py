"""Markdown of a model as HTML that can do nothing: no markup of its own, no picture, no address but the web's.

Pure: text in, HTML out. What looks like HTML is shown as text. A link says where it goes and leaves only on a click.
"""

import html
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from ui.inert import display_line, display_text
from ui.strings import say

SCHEMES: Final = ("http", "https", "mailto")
MAX_COLOURED_CHARACTERS: Final = 50_000
"""Longer code is shown in one colour: colouring takes time that grows with its length."""

_FORMATTER = HtmlFormatter(nowrap=True)


def answer_html(text: str, language: str, *, is_complete: bool = True) -> str:
    """`text` as HTML. An answer that still grows is not coloured, so that showing it again and again stays cheap."""
    renderer = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Inert)
    renderer.enable(["table", "strikethrough"])
    rendered: str = renderer.render(display_text(text), {"language": language, "is_complete": is_complete})
    return rendered


def plain_html(text: str) -> str:
    """Text that is shown as it is; line ends are the style sheet's affair."""
    return html.escape(display_text(text))


def line_html(text: str) -> str:
    return html.escape(display_line(text))


class _Inert(RendererHTML):
    """Draws the few things that could reach out, and code with a button that copies it."""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        words = " · ".join(filter(None, (token.content, str(token.attrGet("src") or ""))))
        return f'<span class="unloaded">{line_html(say("image", env["language"], text=words))}</span>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        address = str(tokens[idx].attrGet("href") or "")
        if not _leads_to_the_web(address):
            return '<span class="unlinked">'
        return f'<a href="{html.escape(address)}" target="_blank" rel="noopener noreferrer nofollow">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        opening = _opening_of(tokens, idx)
        address = str(tokens[opening].attrGet("href") or "")
        said = "".join(token.content for token in tokens[opening + 1 : idx])
        # Words may claim another address than the one they lead to, so it is always said where they do not say it.
        shown = "" if said == address else f' <span class="address">({line_html(address)})</span>'
        return f"{'</a>' if _leads_to_the_web(address) else '</span>'}{shown}"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        words = tokens[idx].info.split()
        return _code_html(tokens[idx].content, words[0] if words else "", env)

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _code_html(tokens[idx].content, "", env)


def _leads_to_the_web(address: str) -> bool:
    """Whether a click may open it. A path of our own origin may not: pages of ours are never a model's to open."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in SCHEMES and bool(parts.netloc or parts.scheme == "mailto")


def _opening_of(tokens: Sequence[Token], closing: int) -> int:
    """Links do not nest, so the nearest opening before it is its own."""
    return max(index for index in range(closing) if tokens[index].type == "link_open")


def _code_html(code: str, name: str, env: Any) -> str:
    copy = html.escape(say("page.copy_code", env["language"]))
    button = f'<button type="button" class="quiet" data-action="copy-code" aria-label="{copy}">{copy}</button>'
    head = f'<div class="code-head"><span>{line_html(name[:40])}</span>{button}</div>'
    return f'<div class="code">{head}<pre><code>{_coloured(code, name, env["is_complete"])}</code></pre></div>'


def _coloured(code: str, name: str, is_complete: bool) -> str:
    """Code with the classes of Pygments, or just as text where its language is not known."""
    if not name or not is_complete or len(code) > MAX_COLOURED_CHARACTERS:
        return html.escape(code)
    try:
        lexer = get_lexer_by_name(name, stripnl=False)
    except ClassNotFound:
        return html.escape(code)
    coloured: str = highlight(code, lexer, _FORMATTER)
    return coloured
