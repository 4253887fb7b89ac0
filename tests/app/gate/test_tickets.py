"""Tickets, logins and the login page, without a browser; with one they are in test_browser."""

import json

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app.gate.gate import Gate
from app.gate.login_page import login_csp, login_html, preferred_language
from app.gate.policy import Policy
from app.gate.secrets import Secrets
from app.gate.serving import Server, listen, port_of
from app.gate.tickets import LOGIN_IDLE_S, TICKET_S, Logins, Tickets, login_routes, login_url, page_access
from app.gate.tries import FailedTries
from app.paths import Paths, make_home
from tests.app.gate.sample import Sample


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def cookie_of(logins, value):
    return [(b"cookie", f"other=1; {logins.cookie_name}={value}".encode())]


def test_A7_a_ticket_works_once():
    tickets = Tickets()
    ticket = tickets.mint()
    assert [tickets.redeem(ticket), tickets.redeem(ticket), tickets.redeem("")] == [True, False, False]


def test_A7_a_ticket_is_dead_after_a_minute():
    clock = Clock()
    tickets = Tickets(clock)
    ticket = tickets.mint()
    late = tickets.mint()
    clock.now += TICKET_S - 1
    assert tickets.redeem(ticket)
    clock.now += 1
    assert not tickets.redeem(late)


def test_only_so_many_tickets_are_kept():
    tickets = Tickets()
    minted = [tickets.mint() for _ in range(100)]
    assert [tickets.redeem(ticket) for ticket in minted] == [False] * 36 + [True] * 64


def test_a_login_lasts_while_it_is_used():
    clock = Clock()
    logins = Logins(7728, clock=clock)
    headers = cookie_of(logins, logins.open())
    for _ in range(3):
        clock.now += LOGIN_IDLE_S - 1
        assert logins.access_of(headers) == "page"
    clock.now += LOGIN_IDLE_S
    assert logins.access_of(headers) is None


def test_A7_a_login_of_another_port_is_none_here():
    here, there = Logins(7728), Logins(7729)
    assert there.access_of(cookie_of(there, here.open())) is None
    assert here.cookie_name != there.cookie_name


def test_A7_every_login_can_be_ended():
    logins = Logins(7728)
    first, second = (cookie_of(logins, logins.open()) for _ in range(2))
    logins.close(first)
    assert (logins.access_of(first), logins.access_of(second)) == (None, "page")
    logins.revoke_all()
    assert logins.access_of(second) is None


@pytest.fixture
def secrets(home):
    make_home(Paths(home))
    secrets = Secrets(Paths(home))
    secrets.face_token.create()
    return secrets


def test_A7_a_rotated_face_token_ends_the_logins_of_browsers(secrets):
    logins = Logins(7728, lambda: secrets.face_token.epoch)
    headers = cookie_of(logins, logins.open())
    assert logins.access_of(headers) == "page"
    Secrets(Paths(secrets.face_token.path.parent)).face_token.rotate()
    assert logins.access_of(headers) is None


def test_the_login_that_was_idle_longest_makes_room():
    logins = Logins(7728)
    first = cookie_of(logins, logins.open())
    second = cookie_of(logins, logins.open())
    for _ in range(62):
        logins.open()
    assert logins.access_of(first) == "page"
    logins.open()
    assert (logins.access_of(first), logins.access_of(second)) == ("page", None)


@pytest.fixture
def page(secrets):
    """A page of one line behind its gate, and what a test needs to log in."""
    listener = listen(0)
    page = Sample(port=port_of(listener))
    page.secrets, page.tickets = secrets, Tickets()
    logins = Logins(page.port, lambda: secrets.face_token.epoch)

    async def home(request):
        return PlainTextResponse(f"welcome {request.state.access}")

    app = Starlette(routes=[*login_routes(page.tickets, logins, page.port), Route("/", home)])
    policy = Policy(page.port, login_path="/login")
    with Server(Gate(app, policy, page_access(secrets, logins), public={"/login"}), [listener]).running():
        yield page


def post(page, path, body, *headers, secret=b""):
    length = f"Content-Length: {len(body)}"
    return page.ask(
        f"POST {path} HTTP/1.1", "Content-Type: application/json", length, *headers, body=body, secret=secret
    )


def log_in(page, ticket):
    return post(page, "/login", json.dumps({"ticket": ticket}).encode())


def test_A7_a_ticket_buys_a_cookie_that_scripts_and_other_sites_never_get(page):
    reply = log_in(page, page.tickets.mint())
    assert reply.status == 204
    name, *flags = reply.headers["set-cookie"].split("; ")
    assert name.startswith(f"macaron_{page.port}=") and len(name.partition("=")[2]) == 43
    assert {flag.lower() for flag in flags} == {"httponly", "samesite=strict", "path=/", f"max-age={int(LOGIN_IDLE_S)}"}
    assert page.ask("GET / HTTP/1.1", f"Cookie: {name}", secret=b"").body == b"welcome page"
    assert page.ask("GET / HTTP/1.1", secret=b"").status == 401


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"{}", b'{"ticket": 1}', b'{"ticket": "x"}', b"\xff"])
def test_A7_without_a_ticket_there_is_no_cookie(page, body):
    reply = post(page, "/login", body)
    assert reply.status == 401
    assert "set-cookie" not in reply.headers


def test_A7_a_ticket_in_the_query_is_none_and_reading_the_page_spends_nothing(page):
    ticket = page.tickets.mint()
    reply = page.ask(f"GET /login?ticket={ticket} HTTP/1.1", secret=b"")
    assert reply.status == 200 and "set-cookie" not in reply.headers
    assert log_in(page, ticket).status == 204


def test_A7_guessing_tickets_is_slowed_down(page):
    assert [log_in(page, "guess").status for _ in range(11)] == [401] * 10 + [429]
    assert log_in(page, page.tickets.mint()).status == 429


def test_A7_only_a_face_is_given_a_ticket(page):
    face = page.secrets.face_token.read().encode()
    name = log_in(page, page.tickets.mint()).headers["set-cookie"].partition(";")[0]
    assert post(page, "/ticket", b"{}").status == 401
    assert post(page, "/ticket", b"{}", f"Cookie: {name}").status == 403
    assert post(page, "/ticket", b"{}", secret=page.secrets.api_key.create().encode()).status == 401
    address, _, ticket = json.loads(post(page, "/ticket", b"{}", secret=face).body)["url"].partition("#")
    assert address == f"{page.address}/login"
    assert log_in(page, ticket).status == 204


def test_A7_logging_out_ends_the_login(page):
    name = log_in(page, page.tickets.mint()).headers["set-cookie"].partition(";")[0]
    assert post(page, "/logout", b"{}", f"Cookie: {name}").status == 204
    assert page.ask("GET / HTTP/1.1", f"Cookie: {name}", secret=b"").status == 401


def test_A11_the_login_page_allows_its_own_script_and_nothing_else(page):
    headers = page.ask("GET /login HTTP/1.1", secret=b"").headers
    assert "default-src 'none'; script-src 'sha256-" in login_csp()
    assert headers["content-security-policy"] == "frame-ancestors 'none'"  # the last of two; the first is its own
    assert headers["x-frame-options"] == "DENY"


def test_the_login_page_speaks_the_language_of_the_browser(page):
    chinese = page.ask("GET /login HTTP/1.1", "Accept-Language: zh-CN,en;q=0.5", secret=b"").body.decode()
    english = page.ask("GET /login HTTP/1.1", "Accept-Language: en-GB,zh;q=0.5", secret=b"").body.decode()
    assert '<html lang="zh-CN">' in chinese and "登录票据" in chinese
    assert '<html lang="en">' in english and "ticket was used already" in english


def test_the_login_page_holds_no_secret_and_asks_nobody_else():
    assert login_html("en") == login_html("en")
    assert "http" not in login_html("en") and "//" not in login_html("zh").replace("// A ticket", "")
    assert preferred_language("") == "en"


def test_the_address_of_a_ticket_has_it_in_the_fragment():
    assert login_url(7728, "abc") == "http://127.0.0.1:7728/login#abc"


def test_failed_tries_of_one_address_hold_up_no_other():
    clock = Clock()
    tries = FailedTries(limit=3, window_s=60, clock=clock)
    for _ in range(3):
        tries.add("192.0.2.1")
        clock.now += 10
    assert (tries.wait_s("192.0.2.1"), tries.wait_s("192.0.2.2")) == (30, 0)
    clock.now += 30
    assert tries.wait_s("192.0.2.1") == 0
    tries.add("192.0.2.1")
    assert tries.wait_s("192.0.2.1") == 10


def test_failed_tries_are_kept_of_a_bounded_number_of_addresses():
    tries = FailedTries(limit=1)
    for number in range(2000):
        tries.add(str(number))
    assert sum(tries.wait_s(str(number)) > 0 for number in range(2000)) == 1024
