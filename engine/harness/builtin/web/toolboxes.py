"""The tools for the web: search, where the user has named a server, and fetch, where the user has enabled it.

What leaves this machine is what the preview shows: the query and the address that it goes to. All that comes back is
text of others.
"""

from collections.abc import Sequence
from typing import Final

from httpx import URL
from pydantic import Field

from engine.errors import UsageProblem
from engine.harness.builtin.entries import Arguments, EntryToolbox, entry, shortened
from engine.harness.builtin.interrupting import run_until
from engine.harness.builtin.web.addresses import Target, target_of
from engine.harness.builtin.web.fetching import PUBLIC, Page, Reach, fetch
from engine.harness.builtin.web.searching import MOST_RESULTS, Found, query_url, search, search_address
from engine.harness.builtin.web.visibility import visible
from engine.harness.tools.values import Invocation, Preview, ToolResult, ToolSpec

SEARCH_LIMIT_S: Final = 20.0
FETCH_LIMIT_S: Final = 30.0
SHOWN_CHARACTERS: Final = 24_000
QUERY_CHARACTERS: Final = 400


class WebSearch(Arguments):
    """Search the web. The words leave this computer."""

    query: str = Field(min_length=1, max_length=QUERY_CHARACTERS, description="Words to search for.")
    language: str = Field(default="", pattern=r"^[A-Za-z-]{0,12}$", description="Such as en or zh; empty for any.")
    page: int = Field(default=1, ge=1, le=10)


class WebFetch(Arguments):
    """Read a page of the web as text."""

    address: str = Field(description="Public http or https address.")
    first_character: int = Field(default=0, ge=0, description="Where to begin in a long page.")


class SearchToolbox(EntryToolbox):
    def __init__(self, server: str) -> None:
        """`server` is the address of a SearXNG server; empty for none, and then nothing is offered.

        Raises: UsageProblem for a text that is no address.
        """
        self._server = search_address(server) if server.strip() else None
        super().__init__([entry(WebSearch, "web_search", "network", False, self._preview_search, self._search)])

    def specs(self) -> Sequence[ToolSpec]:
        return super().specs() if self._server is not None else ()

    def _preview_search(self, asked: WebSearch, invocation: Invocation) -> Preview:
        _, url = self._asked(asked)
        return Preview(f"Search the web for {shortened(asked.query, 100)}", f"{asked.query}\n\nGoes to {url}")

    def _search(self, asked: WebSearch, invocation: Invocation) -> ToolResult:
        server, url = self._asked(asked)
        found = run_until(
            lambda is_given_up: search(server, url, is_given_up), invocation.stop, SEARCH_LIMIT_S, "The search"
        )
        return ToolResult(_listed(found, asked.query))

    def _asked(self, asked: WebSearch) -> tuple[Target, URL]:
        """Raises: UsageProblem."""
        if self._server is None:
            raise UsageProblem("No search server is set.", "Set the address of a SearXNG server first.")
        return self._server, query_url(self._server, asked.query, asked.language, asked.page)


class FetchToolbox(EntryToolbox):
    def __init__(self, is_enabled: bool, reach: Reach = PUBLIC) -> None:
        """`reach` is for tests, whose servers are on this machine."""
        self._is_enabled = is_enabled
        self._reach = reach
        super().__init__([entry(WebFetch, "web_fetch", "network", False, self._preview_fetch, self._fetch)])

    def specs(self) -> Sequence[ToolSpec]:
        return super().specs() if self._is_enabled else ()

    def _preview_fetch(self, asked: WebFetch, invocation: Invocation) -> Preview:
        self._check_enabled()
        target = target_of(asked.address, self._reach.ports)
        return Preview(f"Fetch a page from {target.host}", str(target.url))

    def _fetch(self, asked: WebFetch, invocation: Invocation) -> ToolResult:
        self._check_enabled()
        text = run_until(
            lambda is_given_up: _text_of(fetch(asked.address, self._reach, is_given_up)),
            invocation.stop,
            FETCH_LIMIT_S,
            "Fetching the page",
        )
        end = asked.first_character + SHOWN_CHARACTERS
        more = f"\n({len(text) - end} more characters; go on at {end}.)" if len(text) > end else ""
        return ToolResult(text[asked.first_character : end] + more)

    def _check_enabled(self) -> None:
        if not self._is_enabled:
            raise UsageProblem("Fetching pages is switched off.", "Ask the user to enable it.")


def _listed(found: Sequence[Found], query: str) -> str:
    if not found:
        return f"Nothing was found for {query!r}."
    parts = [f"{number}. {one.title}\n{one.address}\n{one.snippet}" for number, one in enumerate(found, start=1)]
    return "\n\n".join(part.strip() for part in parts[:MOST_RESULTS])


def _text_of(page: Page) -> str:
    # lxml is loaded with the first page, not with the program.
    from engine.harness.builtin.web.readable import decoded, readable

    text = decoded(page.data, page.charset)
    if page.content_type in ("text/html", "application/xhtml+xml"):
        title, text = readable(text, page.address)
        text = f"{title}\n\n{text}" if title else text
    else:
        text = visible(text)
    cut = "\n(The page is longer; only its beginning was read.)" if page.is_cut else ""
    return f"{visible(page.address)}\n\n{text.strip() or '(no text)'}{cut}"
