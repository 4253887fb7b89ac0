"""The gate and the login seen from a real browser: what another site's page can do there, and how one logs in."""

from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from app.gate.gate import Gate
from app.gate.policy import Policy
from app.gate.secrets import Secrets
from app.gate.serving import Server, listen, port_of
from app.gate.tickets import Logins, Tickets, login_routes, login_url, page_access
from app.paths import Paths, make_home
from tests.app.gate.sample import serve
from tests.support.browser import new_context, open_browser, open_page, watch_hosts

PAGE_POLICY = "default-src 'self'; frame-ancestors 'none'"
OURS = "<!doctype html><title>ours</title><p>private words</p>"
ATTACK = """async (target) => {
  // Everything a page can try against `target`; what comes back is all that it could read.
  const read = [];
  const tried = async (what, attempt) => {
    try { const got = await attempt(); if (got) read.push([what, got]); } catch {}
  };
  const paths = ["/", "/health", "/v1/models", "/api/effect", "/api/turns", "/docs", "/static/app.js", "/no", "/login"];
  const asks = [
    {}, { credentials: "include" }, { method: "POST", body: "{}" },
    { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}", credentials: "include" },
    { method: "POST", headers: { "Content-Type": "text/plain" }, body: "{}", credentials: "include" },
    { method: "POST", body: new URLSearchParams({ a: 1 }), credentials: "include" }, { method: "DELETE" },
    { mode: "no-cors", credentials: "include" },
    { mode: "no-cors", method: "POST", body: "{}", credentials: "include" },
  ];
  for (const path of paths) for (const ask of asks)
    await tried(path, async () => (await fetch(target + path, ask)).text());
  await tried("beacon", async () => { navigator.sendBeacon(target + "/api/effect", "{}"); return ""; });
  await tried("events", () => new Promise((done) => {
    const source = new EventSource(target + "/events", { withCredentials: true });
    source.onmessage = (event) => done(event.data); source.onerror = () => done(""); }));
  await tried("socket", () => new Promise((done) => {
    const socket = new WebSocket(target.replace("http", "ws") + "/socket");
    socket.onopen = () => done("open"); socket.onerror = () => done(""); }));
  for (const tag of ["img", "script", "iframe", "embed", "object"])
    await tried(tag, () => new Promise((done) => {
      const element = document.createElement(tag);
      const text = () => { try { return element.contentDocument.body.innerText; } catch { return ""; } };
      element.onload = () => done(text());
      element.onerror = () => done(""); setTimeout(() => done(""), 500);
      element[tag === "object" ? "data" : "src"] = target + "/api/effect"; document.body.append(element); }));
  for (const type of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]) {
    document.body.insertAdjacentHTML("beforeend", `<iframe name="${type}"></iframe>
      <form action="${target}/api/effect" method="post" enctype="${type}" target="${type}">
      <input name='{"a":"' value='"}'></form>`);
    document.body.lastElementChild.submit();
  }
  await new Promise((done) => setTimeout(done, 700));
  return read;
}"""


@contextmanager
def another_site(port=0):
    """A server whose page belongs to somebody else."""

    async def page(request):
        return HTMLResponse("<!doctype html><title>theirs</title><body></body>")

    listener = listen(port, fallback=False)
    with Server(Starlette(routes=[Route("/{rest:path}", page)]), [listener]).running():
        yield port_of(listener)


def test_A3_a_page_whose_name_is_rebound_to_us_cannot_read_one_byte(tmp_path):
    with open_page(names=("evil.test",)) as page:
        with another_site() as port:
            target = f"http://evil.test:{port}"
            page.goto(target)
            assert ["/", "<!doctype html><title>theirs</title><body></body>"] in page.evaluate(ATTACK, target)
        # Their server is gone and ours listens where their name leads: what a rebinding looks like to a browser.
        with serve(tmp_path, port=port, with_cors=True) as sample:
            assert page.evaluate(ATTACK, target) == []
            assert page.evaluate(f"fetch('{target}/health').then((answer) => answer.status)") == 421
            assert sample.calls == []
            assert sample.ask("GET /v1/models HTTP/1.1").status == 200


@dataclass
class Ours:
    """A page with a login behind its gate."""

    port: int
    secrets: Secrets
    tickets: Tickets = field(default_factory=Tickets)
    effects: list[str] = field(default_factory=list)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def fresh_url(self):
        return login_url(self.port, self.tickets.mint())


@pytest.fixture
def ours(home):
    make_home(Paths(home))
    secrets = Secrets(Paths(home))
    secrets.face_token.create()
    listener = listen(0)
    ours = Ours(port_of(listener), secrets)
    logins = Logins(ours.port, lambda: secrets.face_token.epoch)

    async def index(request):
        ours.effects.append("index")
        return HTMLResponse(OURS)

    async def effect(request):
        ours.effects.append(request.method)
        return HTMLResponse(OURS)

    routes = [
        *login_routes(ours.tickets, logins, ours.port),
        Route("/", index),
        Route("/api/effect", effect, methods=["GET", "POST", "DELETE"]),
    ]
    policy = Policy(ours.port, login_path="/login", content_security_policy=PAGE_POLICY)
    gate = Gate(Starlette(routes=routes), policy, page_access(secrets, logins), public={"/login"})
    with Server(gate, [listener]).running():
        yield ours


def log_in(page, ours):
    page.goto(ours.fresh_url())
    page.wait_for_url(ours.address + "/")


def test_A4_A6_another_site_has_no_effect_on_a_browser_that_is_logged_in(ours):
    with open_browser(names=("evil.test",)) as browser, another_site() as port:
        context = new_context(browser)
        log_in(context.new_page(), ours)
        ours.effects.clear()
        # To the browser another port of 127.0.0.1 is the same site: it sends our cookie along.
        for place in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", f"http://evil.test:{port}"):
            theirs = context.new_page()
            theirs.goto(place)
            assert theirs.evaluate(ATTACK, ours.address) == []
        assert ours.effects == []


def test_A4_a_frame_without_an_origin_and_a_local_file_have_no_effect(ours, tmp_path):
    with open_browser() as browser, another_site() as port:
        context = new_context(browser)
        log_in(context.new_page(), ours)
        ours.effects.clear()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}")
        page.set_content("<iframe sandbox='allow-scripts allow-forms' srcdoc='<body></body>'></iframe>")
        assert page.frames[1].evaluate("self.origin") == "null"
        assert page.frames[1].evaluate(ATTACK, ours.address) == []
        file = tmp_path / "theirs.html"
        file.write_text("<!doctype html><body></body>", encoding="utf-8")
        page.goto(file.as_uri())
        assert page.evaluate(ATTACK, ours.address) == []
        assert ours.effects == []


def test_A11_our_page_cannot_be_framed(ours):
    with open_browser() as browser, another_site() as port:
        context = new_context(browser)
        log_in(context.new_page(), ours)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}")
        page.set_content(f"<iframe src='{ours.address}/'></iframe><iframe src='{ours.address}/login'></iframe>")
        page.wait_for_timeout(500)
        assert [frame.url for frame in page.frames[1:]] == ["chrome-error://chromewebdata/"] * 2


def test_A7_a_ticket_logs_a_browser_in_once_and_leaves_no_trace(ours):
    with open_browser() as browser:
        page = new_context(browser).new_page()
        hosts = watch_hosts(page)
        url = ours.fresh_url()
        sent = []
        page.on("request", lambda request: sent.append(request.url))
        page.goto(url)
        page.wait_for_url(ours.address + "/")
        ticket = url.partition("#")[2]
        assert page.inner_text("p") == "private words"
        assert page.evaluate("history.length") == 2  # the blank tab and our page: the login is not among them
        page.go_back()
        assert ticket not in page.url
        page.go_forward()
        assert ticket not in page.url + page.content()
        assert hosts == {f"127.0.0.1:{ours.port}"}
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
        assert page.evaluate("document.cookie") == ""

        other = new_context(browser).new_page()
        other.goto(url)
        other.wait_for_selector("#dead:visible")
        assert "macaron web" in other.inner_text("#dead")
        assert other.context.cookies() == []


@pytest.mark.parametrize(
    ("language", "nothing", "dead"),
    [("en", "To log in, run", "This login ticket was used already"), ("zh", "要登录", "此登录票据已被使用")],
)
def test_the_login_page_says_what_to_do(ours, language, nothing, dead):
    with open_page(language=language) as page:
        problems = []
        page.on("console", lambda message: problems.append(message.text))
        page.goto(ours.address)
        assert page.url == f"{ours.address}/login"
        page.wait_for_selector("#none:visible")
        assert nothing in page.inner_text("main")
        assert not [text for text in problems if "Content Security Policy" in text]
        page.goto(login_url(ours.port, "used"))  # only the fragment changes
        page.wait_for_selector("#dead:visible")
        assert dead in page.inner_text("main")
        assert page.url == f"{ours.address}/login"


def test_A7_rotating_the_face_token_logs_the_browser_out(ours):
    with open_page() as page:
        log_in(page, ours)
        Secrets(Paths(ours.secrets.face_token.path.parent)).face_token.rotate()
        page.reload()
        page.wait_for_url(ours.address + "/login")
        assert page.context.request.post(f"{ours.address}/api/effect", data={}).status == 401
