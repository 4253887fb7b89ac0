"""Ask a SearXNG server that the user has named, and read what it finds.

The server is the user's choice, so it may be on this machine; it is asked directly, and it never leads on elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

import engine.strict_json as strict_json
from engine.errors import UsageProblem
from engine.harness.builtin.entries import shortened
from engine.harness.builtin.web.addresses import Target, target_of
from engine.harness.builtin.web.fetching import USER_AGENT, WAIT_S, bounded, failures_named
from engine.harness.builtin.web.visibility import visible

MOST_BYTES: Final = 2 << 20
MOST_RESULTS: Final = 10
TITLE_CHARACTERS: Final = 200
SNIPPET_CHARACTERS: Final = 600
ADDRESS_CHARACTERS: Final = 500


@dataclass(frozen=True, slots=True)
class Found:
    title: str
    address: str
    snippet: str


def search_address(server: str) -> Target:
    """Where a server is asked. Raises: UsageProblem for a text that is no address of one."""
    target = target_of(server.rstrip("/"), ports=None)
    if target.url.query:
        raise UsageProblem("The address of the search server holds a question.", "Give only its beginning.")
    path = target.url.path.rstrip("/")
    url = target.url.copy_with(path=path if path.endswith("/search") else f"{path}/search")
    return Target(url, target.host, target.port)


def query_url(server: Target, query: str, language: str, page: int) -> httpx.URL:
    """All that leaves this machine."""
    asked = {"q": query, "format": "json", "language": language, "pageno": str(page)}
    return server.url.copy_merge_params({name: value for name, value in asked.items() if value})


def search(server: Target, url: httpx.URL, is_given_up: Callable[[], bool] = lambda: False) -> Sequence[Found]:
    """Raises: UsageProblem."""
    headers = {"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": "gzip"}
    with (
        failures_named(server.host),
        httpx.Client(trust_env=False, follow_redirects=False, timeout=httpx.Timeout(WAIT_S)) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        _check_status(server, response.status_code)
        data, is_cut = bounded(response, MOST_BYTES, is_given_up)
    if is_cut:
        raise UsageProblem(f"{server.host} answered with more than {MOST_BYTES >> 20} MiB.", "Ask for less.")
    return _found(server, data)


def _check_status(server: Target, status: int) -> None:
    if status == 403:
        raise UsageProblem(
            f"{server.host} refuses to answer in JSON.",
            "Add `json` to `search: formats:` in the settings of the SearXNG server, or use another server.",
        )
    if status == 429:
        raise UsageProblem(f"{server.host} was asked too often.", "Wait a little, or use a server of your own.")
    if status != 200:
        raise UsageProblem(f"{server.host} answered with {status}.", "Check the address of the search server.")


def _found(server: Target, data: bytes) -> Sequence[Found]:
    try:
        answer = strict_json.loads(data.decode("utf-8"))
    except ValueError as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise UsageProblem(
            f"The answer of {server.host} cannot be read: {reason}.",
            "Check that it is the address of a SearXNG server.",
        ) from None
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise UsageProblem(
            f"The answer of {server.host} holds no results.", "Check that it is the address of a SearXNG server."
        )
    read = [_result(one) for one in results[: 2 * MOST_RESULTS] if isinstance(one, dict)]
    return [one for one in read if one.address][:MOST_RESULTS]


def _result(one: dict[str, Any]) -> Found:
    address = _text(one.get("url"), ADDRESS_CHARACTERS + 1)
    is_of_the_web = address.startswith(("http://", "https://")) and len(address) <= ADDRESS_CHARACTERS
    return Found(
        title=_text(one.get("title"), TITLE_CHARACTERS) or "(without title)",
        address=address if is_of_the_web else "",
        snippet=_text(one.get("content"), SNIPPET_CHARACTERS),
    )


def _text(value: Any, most_characters: int) -> str:
    return shortened(visible(value[: 4 * most_characters]), most_characters) if isinstance(value, str) else ""
