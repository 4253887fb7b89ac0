"""Logins of the page in a browser: a ticket that works once buys a cookie. All of it is in memory only.

`macaron web` opens /login#TICKET; the page takes the ticket out of the address bar and posts it; the answer sets the
cookie. Neither ticket nor cookie is ever in a log, a file or the source of a page. Knows no route but its own.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from secrets import token_urlsafe
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from app.gate.login_page import login_csp, login_html, preferred_language
from app.gate.policy import Access, Headers, values
from app.gate.secrets import Secrets
from app.gate.tries import FailedTries

TICKET_S: Final = 60.0
LOGIN_IDLE_S: Final = 30 * 24 * 3600.0
LOGIN_PATH: Final = "/login"
_MAX_TICKETS: Final = 64
_MAX_LOGINS: Final = 64
_RANDOM_BYTES: Final = 32


class Tickets:
    """Each is good for one login within a minute. Beyond a bound the oldest are dropped."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._minted: OrderedDict[bytes, float] = OrderedDict()

    def mint(self) -> str:
        ticket = token_urlsafe(_RANDOM_BYTES)
        self._minted[_digest(ticket)] = self._clock()
        if len(self._minted) > _MAX_TICKETS:
            self._minted.popitem(last=False)
        return ticket

    def redeem(self, ticket: str) -> bool:
        """Whether it was good; it is not any more."""
        minted = self._minted.pop(_digest(ticket), None)
        return minted is not None and self._clock() - minted < TICKET_S


class Logins:
    """The browsers that are logged in to the page on `port`.

    `epoch` is `lambda: secrets.face_token.epoch`: when the token is replaced, every login ends.
    """

    def __init__(
        self, port: int, epoch: Callable[[], int] = lambda: 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # Cookies are shared by all ports of a host, so the name tells our pages apart.
        self.cookie_name = f"macaron_{port}"
        self._epoch = epoch
        self._clock = clock
        self._opened_in = epoch()
        self._used_at: OrderedDict[bytes, float] = OrderedDict()

    def open(self) -> str:
        """The cookie of a new login. With too many, the one that was idle longest ends."""
        self._forget_if_rotated()
        cookie = token_urlsafe(_RANDOM_BYTES)
        self._used_at[_digest(cookie)] = self._clock()
        if len(self._used_at) > _MAX_LOGINS:
            self._used_at.popitem(last=False)
        return cookie

    def access_of(self, headers: Headers) -> Access | None:
        """ "page" for a browser that logged in and has been here within thirty days."""
        self._forget_if_rotated()
        return "page" if any(self._use(_digest(cookie)) for cookie in self._cookies(headers)) else None

    def close(self, headers: Headers) -> None:
        """Log this browser out."""
        for cookie in self._cookies(headers):
            self._used_at.pop(_digest(cookie), None)

    def revoke_all(self) -> None:
        self._used_at.clear()

    def _use(self, login: bytes) -> bool:
        used_at = self._used_at.pop(login, None)
        if used_at is None or self._clock() - used_at >= LOGIN_IDLE_S:
            return False
        self._used_at[login] = self._clock()
        return True

    def _forget_if_rotated(self) -> None:
        epoch = self._epoch()
        if epoch != self._opened_in:
            self._opened_in = epoch
            self.revoke_all()

    def _cookies(self, headers: Headers) -> list[str]:
        pairs = [pair.strip().partition(b"=") for value in values(headers, b"cookie") for pair in value.split(b";")]
        name = self.cookie_name.encode("ascii")
        return [value.decode("latin-1") for key, _, value in pairs if key == name]


def page_access(secrets: Secrets, logins: Logins) -> Callable[[Headers], Access | None]:
    """Who may use the page's process: a browser that logged in, and the face that starts browsers."""

    def access_of(headers: Headers) -> Access | None:
        return "face" if secrets.access_of(headers) == "face" else logins.access_of(headers)

    return access_of


def login_url(port: int, ticket: str) -> str:
    return f"http://127.0.0.1:{port}{LOGIN_PATH}#{ticket}"


def login_routes(tickets: Tickets, logins: Logins, port: int, language: str = "") -> list[Route]:
    """GET and POST /login, POST /logout, and POST /ticket, by which a face asks for one; `port` is the page's.

    /login must be public at the gate. `language` is "en" or "zh"; empty follows the browser.
    """
    tries = FailedTries()

    async def show(request: Request) -> Response:
        chosen = language or preferred_language(request.headers.get("accept-language", ""))
        return HTMLResponse(
            login_html(chosen), headers={"Content-Security-Policy": login_csp(), "Vary": "Accept-Language"}
        )

    async def log_in(request: Request) -> Response:
        address = request.client.host if request.client else ""
        if wait_s := tries.wait_s(address):
            return JSONResponse({"code": "busy"}, 429, headers={"Retry-After": str(wait_s)})
        if not tickets.redeem(await _ticket_of(request)):
            tries.add(address)
            return JSONResponse({"code": "dead"}, 401)
        response = Response(status_code=204)
        is_secure = request.url.scheme == "https"
        response.set_cookie(
            logins.cookie_name,
            logins.open(),
            max_age=int(LOGIN_IDLE_S),
            path="/",
            secure=is_secure,
            httponly=True,
            samesite="strict",
        )
        return response

    async def log_out(request: Request) -> Response:
        logins.close(request.headers.raw)
        response = Response(status_code=204)
        response.delete_cookie(logins.cookie_name, path="/", httponly=True, samesite="strict")
        return response

    async def mint(request: Request) -> Response:
        if request.state.access != "face":
            return JSONResponse({"code": "not_allowed"}, 403)
        return JSONResponse({"url": login_url(port, tickets.mint())})

    return [
        Route(LOGIN_PATH, show, methods=["GET"]),
        Route(LOGIN_PATH, log_in, methods=["POST"]),
        Route("/logout", log_out, methods=["POST"]),
        Route("/ticket", mint, methods=["POST"]),
    ]


async def _ticket_of(request: Request) -> str:
    """The ticket in a request, or what is certainly none."""
    try:
        given = await request.json()
    except ValueError:
        return ""
    ticket = given.get("ticket") if isinstance(given, dict) else None
    return ticket if isinstance(ticket, str) else ""


def _digest(secret: str) -> bytes:
    # Only hashes are kept, so that no memory dump logs anyone in; the time of a look-up by hash tells nothing either.
    return hashlib.sha256(secret.encode("utf-8", errors="surrogatepass")).digest()
