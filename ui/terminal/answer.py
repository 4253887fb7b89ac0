"""Markdown that an expert wrote, drawn so that nothing in it can act.

Links and images become plain text with their full address: nothing is fetched and nothing can be clicked. HTML is
shown as it is written. Line ends inside a paragraph are kept, as in the source.
"""

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from textual.app import ComposeResult
from textual.content import Content
from textual.highlight import HighlightTheme, highlight
from textual.widgets import Markdown

# Only the private module has fences and the parts of a table; see _CodeTheme and _TableContent for why we need them.
from textual.widgets._markdown import MarkdownFence, MarkdownTable, MarkdownTableCellContents, MarkdownTableContent
from textual.widgets.markdown import MarkdownBlock, MarkdownStream

from ui.present import DisplayStream, display_text
from ui.strings import say


def inert_parser(language: str) -> MarkdownIt:
    """A parser of GitHub-like Markdown without links, images and HTML."""
    parser = MarkdownIt("gfm-like", {"html": False, "linkify": False})

    def rewrite(state: StateCore) -> None:
        for token in state.tokens:
            if token.type == "inline" and token.children is not None:
                token.children = _inert(token.children, language)

    parser.core.ruler.push("inert", rewrite)
    return parser


def _inert(tokens: list[Token], language: str) -> list[Token]:
    """`tokens` of one line of text, with links and images written out."""
    kept: list[Token] = []
    starts: list[int] = []
    for token in tokens:
        if token.type == "link_open":
            starts.append(len(kept))
            kept.append(token)
        elif token.type == "link_close":
            start = starts.pop()
            address = _address(kept[start], "href")
            inside = kept[start + 1 :]
            kept[start:] = [*inside, _text(_suffix("".join(part.content for part in inside), address, language))]
        elif token.type == "image":
            kept.append(_text(say("image", language, text=_link_text(token.content, _address(token, "src"), language))))
        elif token.type == "softbreak":
            kept.append(Token("hardbreak", "br", 0))
        else:
            kept.append(token)
    return kept


def _address(token: Token, attribute: str) -> str:
    return display_text(str(token.attrs.get(attribute, "")))


def _link_text(text: str, address: str, language: str) -> str:
    return text + _suffix(text, address, language) if text else address


def _suffix(text: str, address: str, language: str) -> str:
    """What is written behind a link; nothing when its text is its address already."""
    if text == address:
        return ""
    return say("link", language, text="", address=address)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


class _TableContent(MarkdownTableContent):
    def compose(self) -> ComposeResult:
        for cell in super().compose():
            # Textual gives each cell a tooltip made from its text, and reads markup in it.
            if isinstance(cell, MarkdownTableCellContents):
                cell.tooltip = None
            yield cell


class _Table(MarkdownTable):
    def compose(self) -> ComposeResult:
        self._headers, self._rows = self._get_headers_and_rows()
        yield _TableContent(self._headers, self._rows)


class _CodeTheme(HighlightTheme):
    # Textual underlines the names of functions, which reads as a link.
    STYLES = {token: style.replace(" underline", "") for token, style in HighlightTheme.STYLES.items()}  # noqa: RUF012


class _Fence(MarkdownFence):
    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        if ansi:
            return super().highlight(code, language, ansi, dark)
        return highlight(code, language=language or None, theme=_CodeTheme)


class AnswerMarkdown(Markdown):
    """One answer. `write` it as it arrives, then `finish` with the whole text."""

    BLOCKS: dict[str, type[MarkdownBlock]] = {  # noqa: RUF012 (as the base class declares it)
        **Markdown.BLOCKS,
        "table_open": _Table,
        "fence": _Fence,
        "code_block": _Fence,
    }

    def __init__(self, text: str, language: str) -> None:
        super().__init__(display_text(text), parser_factory=lambda: inert_parser(language), open_links=False)
        self._incoming = DisplayStream()
        self._stream: MarkdownStream | None = None

    async def write(self, piece: str) -> None:
        if self._stream is None:
            self._stream = Markdown.get_stream(self)
        await self._stream.write(self._incoming.feed(piece))

    async def finish(self, text: str) -> None:
        """Draw the whole text once more: a fence that closed late is drawn wrongly by appending alone."""
        if self._stream is not None:
            await self._stream.stop()
            self._stream = None
        await self.update(display_text(text))
