"""`macaron web`: who gets the page, what of the disk it serves, and how its process begins and ends."""

import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from app.page_address import PageAddress, own_address, read_page, remove_page, write_page
from app.paths import Paths, make_home
from tests.app.running import ROOT, complaint, macaron, start, wait_until
from tests.ui.browser.running import RunningPage, page_running
from tests.ui.scripted import ScriptedClient

SECRET = "the secret of this test"
PLACES = ("/", "/en/", "/zh/", "/en/config", "/en/theme.css", "/en/gradio_api/queue/data", "/en/gradio_api/file=x")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPage]:
    with page_running(ScriptedClient, tmp_path_factory.mktemp("web") / "home") as running:
        yield running


@pytest.fixture
def browser(page: RunningPage) -> Iterator[httpx.Client]:
    """A browser that is logged in, with the headers that browsers send."""
    with httpx.Client(base_url=page.url, headers={"sec-fetch-site": "same-origin"}, trust_env=False) as client:
        assert client.post("/login", json={"ticket": page.login_url.partition("#")[2]}).status_code == 204
        yield client


def asked(page: RunningPage, line: bytes, *headers: bytes) -> int:
    """The status of a request that is sent as these very bytes, as one of our own faces."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=10) as connection:
        token = b"Authorization: Bearer " + page.token.encode()
        connection.sendall(b"\r\n".join([line, *headers, token, b"Connection: close", b"", b""]))
        return int(connection.makefile("rb").readline().split()[1])


def joined(page: RunningPage, browser: httpx.Client, **changes: object) -> httpx.Response:
    body = {"data": [], "fn_index": 0, "session_hash": "s1", **changes}
    return browser.post("/en/gradio_api/queue/join", json=body, headers={"origin": page.url})


# Who gets in.


def test_A7_without_a_login_there_is_nothing_but_the_way_to_one(page: RunningPage) -> None:
    for place in PLACES:
        assert httpx.get(page.url + place, trust_env=False).status_code == 401, place
        sent = httpx.get(page.url + place, headers={"accept": "text/html"}, trust_env=False)
        assert (sent.status_code, sent.headers["location"]) == (303, "/login"), place


def test_A7_a_ticket_logs_in_one_browser_once(page: RunningPage) -> None:
    ticket = page.login_url.partition("#")[2]
    first = httpx.post(f"{page.url}/login", json={"ticket": ticket}, trust_env=False)
    assert first.status_code == 204
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert httpx.post(f"{page.url}/login", json={"ticket": ticket}, trust_env=False).status_code == 401


def test_A7_no_secret_is_in_what_the_page_sends(page: RunningPage, browser: httpx.Client) -> None:
    cookie = next(iter(browser.cookies.jar)).value
    for place in ("/login", "/en/", "/en/config"):
        sent = browser.get(place)
        assert sent.status_code == 200
        assert page.token not in sent.text and str(cookie) not in sent.text and str(page.home) not in sent.text


def test_the_front_door_leads_to_the_language_of_the_browser(browser: httpx.Client) -> None:
    for accepted, place in (("zh-CN,zh;q=0.9", "/zh/"), ("en-GB", "/en/"), ("fr", "/en/")):
        sent = browser.get("/", headers={"accept-language": accepted})
        assert (sent.status_code, sent.headers["location"]) == (307, place)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}", ""],
)
def test_A2_another_name_in_the_host_header_reaches_nothing(page: RunningPage, host: str) -> None:
    header = f"Host: {host.format(port=page.port)}".encode()
    for place in (*PLACES, "/login", "/en/gradio_api/heartbeat/s1"):
        assert asked(page, f"GET {place} HTTP/1.1".encode(), header) in (400, 421), place


def test_A2_two_hosts_and_an_absolute_target_reach_nothing(page: RunningPage) -> None:
    own = f"Host: 127.0.0.1:{page.port}".encode()
    assert asked(page, b"GET /en/ HTTP/1.1", own, b"Host: evil.example") in (400, 421)
    assert asked(page, b"GET http://evil.example/en/ HTTP/1.1", own) in (400, 421)
    assert asked(page, b"GET /en/ HTTP/1.1", own) == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "file://", "http://localhost:1", "chrome-extension://x"]
)
def test_A4_A5_a_foreign_origin_starts_nothing_whatever_name_it_calls_us(
    page: RunningPage, browser: httpx.Client, host: str, origin: str
) -> None:
    headers = {"origin": origin, "host": f"{host}:{page.port}"}
    for method, place in (
        ("POST", "/en/gradio_api/queue/join"),
        ("OPTIONS", "/en/gradio_api/queue/join"),
        ("GET", "/en/"),
    ):
        sent = browser.request(method, place, json={"data": [], "fn_index": 0}, headers=headers)
        assert sent.status_code == 403
        assert not [name for name in sent.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_A6_a_form_of_another_page_does_nothing(page: RunningPage, browser: httpx.Client, media_type: str) -> None:
    for place in ("/en/gradio_api/queue/join", "/en/gradio_api/cancel", "/login", "/logout", "/ticket"):
        sent = browser.post(place, content=b'{"data": []}', headers={"content-type": media_type, "origin": page.url})
        assert sent.status_code in (404, 415), place


def test_A11_nothing_can_be_framed(browser: httpx.Client) -> None:
    for place in ("/en/", "/en/config", "/en/theme.css", "/login", "/en/gradio_api/file=x"):
        sent = browser.get(place)
        assert sent.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in sent.headers["content-security-policy"]


# What of the disk is served.


@pytest.mark.parametrize(
    "path",
    [
        "../home/face.token",
        "/etc/passwd",
        "%2e%2e%2fetc%2fpasswd",
        "..\\..\\windows\\win.ini",
        "\\\\server\\share\\x",
        "/windows/win.ini",
        "x%00.txt",
        "a" * 5000,
        "secret.txt.",
        "secret.txt ",
        "CON",
        "SECRET.TXT",
        "https://evil.example/x",
    ],
)
def test_B1_no_path_whatever_serves_a_file(page: RunningPage, path: str) -> None:
    own = f"Host: 127.0.0.1:{page.port}".encode()
    for route in ("file=", "file/", "proxy=", "stream/", "custom_component/", "deep_link?deep_link="):
        line = f"GET /en/gradio_api/{route}{path.replace(' ', '%20')} HTTP/1.1".encode()
        assert asked(page, line, own) in (400, 404, 414, 431), route
    for route in ("assets/", "static/", "svelte/", "file="):
        line = f"GET /en/{route}{path.replace(' ', '%20')} HTTP/1.1".encode()
        assert asked(page, line, own) in (400, 403, 404), route


def test_B3_files_in_the_working_folder_and_in_the_temporary_one_are_not_served(
    page: RunningPage, browser: httpx.Client
) -> None:
    database = page.home / "macaron.db"
    planted = [
        Path.cwd() / "secret.txt",
        Path(tempfile.gettempdir()) / f"secret-{os.getpid()}.txt",
        page.home / "page" / "files" / "secret.txt",
        database,
    ]
    assert Path.cwd() == page.home / "page" / "empty"
    try:
        for file in planted:
            file.write_text(SECRET)
        for file in planted:
            for name in (str(file), file.name):
                sent = browser.get(f"/en/gradio_api/file={name}")
                assert sent.status_code == 404 and SECRET not in sent.text
    finally:
        for file in planted:
            file.unlink()


def test_B3_a_path_or_a_file_of_gradio_that_an_event_sends_is_no_file(
    page: RunningPage, browser: httpx.Client, tmp_path: Path
) -> None:
    """Gradio takes a dictionary with a path for a file of its own: nothing of ours passes one on."""
    secret = Path.cwd() / "secret.txt"
    secret.write_text(SECRET)
    try:
        planted = {"path": str(secret), "meta": {"_type": "gradio.FileData"}, "url": None, "orig_name": "x.txt"}
        functions = browser.get("/en/config").json()["dependencies"]
        for function in functions:
            for changes in (
                {"data": [planted, *function["inputs"]]},
                {"event_data": {"text": planted, "conversation": planted, "turn": planted, "files": [planted]}},
                {"data": [{"path": "http://127.0.0.1:1/", "meta": {"_type": "gradio.FileData"}}]},
            ):
                refused = joined(page, browser, fn_index=function["id"], **changes)
                assert (refused.status_code, refused.text) == (400, "This is no event of the page.")
        assert functions and not list((page.home / "page" / "files").rglob("secret*"))
    finally:
        secret.unlink()


@pytest.mark.parametrize(
    ("name", "media_type"), [("x.html", "text/html"), ("x.svg", "image/svg+xml"), ("x.xml", "text/xml")]
)
def test_B6_nothing_is_ever_uploaded_so_nothing_uploaded_is_served(
    page: RunningPage, browser: httpx.Client, name: str, media_type: str
) -> None:
    for place in ("/en/gradio_api/upload", "/en/gradio_api/component_server"):
        sent = browser.post(
            place, files={"files": (name, b"<script>alert(1)</script>", media_type)}, headers={"origin": page.url}
        )
        assert sent.status_code in (404, 415)
    assert not list((page.home / "page" / "files").rglob(name))


def test_A9_a_body_that_is_too_large_is_refused(page: RunningPage, browser: httpx.Client) -> None:
    sent = joined(page, browser, data=["x" * (9 << 20)])
    assert sent.status_code == 413


def test_the_page_has_no_api_and_no_documentation_of_one(browser: httpx.Client) -> None:
    for place in ("/docs", "/redoc", "/openapi.json", "/en/gradio_api/openapi.json", "/en/docs"):
        assert browser.get(place).status_code == 404, place
    assert browser.get("/en/gradio_api/info").json() == {"named_endpoints": {}, "unnamed_endpoints": {}}
    for place in ("/en/gradio_api/run/send", "/en/gradio_api/call/send", "/en/gradio_api/api/send"):
        assert browser.post(place, json={"data": []}).status_code == 404, place


def test_the_page_names_no_server_but_its_own(browser: httpx.Client) -> None:
    html = browser.get("/en/").text
    assert re.findall(r"<(?:link|script|meta|img)\b[^>]*=[\"'](?:https?:)?//[^>]*>", html) == []


# page.json.


def test_page_json_is_private_and_ours_to_remove(home: Path) -> None:
    paths = Paths(home)
    make_home(paths)
    ours = own_address(7728)
    write_page(paths, ours)
    assert stat.S_IMODE((home / "page.json").stat().st_mode) == 0o600
    assert read_page(paths) == ours
    remove_page(paths, PageAddress(1, 0.5, 7728))
    assert read_page(paths) == ours
    remove_page(paths, ours)
    assert read_page(paths) is None and not (home / "page.json").exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"pid": 1}',
        '{"pid": "1", "started_at": 1.0, "port": 7728}',
        '{"pid": 1, "started_at": 1.0, "port": 77280}',
        '{"pid": -1, "started_at": 1.0, "port": 7728}',
    ],
)
def test_page_json_with_anything_else_is_no_page(home: Path, content: str) -> None:
    paths = Paths(home)
    make_home(paths)
    (home / "page.json").write_text(content)
    assert read_page(paths) is None


def test_the_number_of_a_page_that_another_process_has_now_is_no_page(home: Path) -> None:
    paths = Paths(home)
    make_home(paths)
    write_page(paths, PageAddress(os.getpid(), psutil.Process().create_time() - 60, 7728))
    assert read_page(paths) is None


# The process.


@contextmanager
def web(home: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`macaron web --no-browser`, and the address it gives; ended with Ctrl+C."""
    with start("web", "--no-browser", "--language", "en", "--home", str(home), *arguments) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().decode().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


@pytest.mark.model
def test_the_page_starts_says_where_it_is_and_ends_with_ctrl_c(home: Path) -> None:
    make_home(Paths(home))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        Paths(home).settings.write_text(f"page_port = {port}\n")
        with web(home) as (process, address):
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/login#[\w-]{40,}", address)
            assert urlsplit(address).port != port
            found = read_page(Paths(home))
            assert found is not None and found.pid == process.pid
            again = macaron("web", "--no-browser", "--language", "en", "--home", str(home))
            assert again.code == 0 and "runs already" in again.err
            second = again.out.split()[-1]
            assert urlsplit(second).port == urlsplit(address).port and second != address
            listening = [
                connection.laddr.ip
                for connection in psutil.Process(process.pid).net_connections("inet")
                if connection.status == psutil.CONN_LISTEN
            ]
            assert listening == ["127.0.0.1"]
            assert list((home / "page" / "empty").iterdir()) == []
            assert psutil.Process(process.pid).cwd() == str(home / "page" / "empty")
            assert address.partition("#")[2] not in " ".join(psutil.Process(process.pid).cmdline())
    assert process.returncode == 0 and process.stderr is not None
    wait_until(lambda: read_page(Paths(home)) is None, "page.json is gone")


@pytest.mark.model
def test_a_page_that_was_killed_is_followed_by_another(home: Path) -> None:
    with web(home) as (process, _):
        process.kill()
        process.wait(30)
        assert (home / "page.json").exists()
        with web(home) as (_, address):
            assert httpx.get(address, trust_env=False).status_code == 200


def test_a_setting_that_is_wrong_is_told_and_no_page_starts(home: Path) -> None:
    make_home(Paths(home))
    Paths(home).settings.write_text("page_port = 99999\n")
    assert "page_port is 99999" in complaint(macaron("web", "--no-browser", "--home", str(home)), 2)


def test_help_loads_neither_gradio_nor_the_gate() -> None:
    done = macaron("web", "--help")
    assert done.code == 0 and "--no-browser" in done.out
    probe = "import sys, app.web; sys.exit('gradio' in sys.modules)"
    assert subprocess.run([os.sys.executable, "-c", probe], cwd=ROOT, check=False).returncode == 0  # type: ignore[attr-defined]
