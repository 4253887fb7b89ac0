"""Which of Gradio's routes there are, and what becomes of its HTML."""

import re
from pathlib import Path

import gradio
import pytest

from ui.browser.serving import at_home, content_security_policy, is_needed, names_a_file


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/config"),
        ("GET", "/theme.css"),
        ("GET", "/assets/index-DphvyggB.js"),
        ("GET", "/static/fonts/x.woff2"),
        ("GET", "/gradio_api/queue/data"),
        ("GET", "/gradio_api/heartbeat/ab12"),
        ("POST", "/gradio_api/queue/join"),
    ],
)
def test_what_the_page_needs_is_there(method: str, path: str) -> None:
    assert is_needed(method, path)


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=/etc/passwd",
        "/gradio_api/file/x",
        "/file=x",
        "/gradio_api/proxy=https://evil.test/",
        "/proxy=https://evil.test/",
        "/gradio_api/upload",
        "/gradio_api/upload_progress",
        "/gradio_api/component_server",
        "/gradio_api/run/send",
        "/gradio_api/api/send",
        "/gradio_api/call/send",
        "/gradio_api/call/v2/send",
        "/gradio_api/stream/x",
        "/gradio_api/process_recording",
        "/gradio_api/vibe-edit",
        "/gradio_api/vibe-code/",
        "/gradio_api/openapi.json",
        "/gradio_api/deep_link",
        "/gradio_api/run-history/connect",
        "/gradio_api/custom_component/x/y/z/w",
        "/gradio_api/mcp/sse",
        "/monitoring",
        "/monitoring/summary",
        "/login",
        "/token",
        "/user",
        "/svelte/x",
        "/pwa_icon",
        "/docs",
        "/assets/../../../etc/passwd",
        "/assets/..\\..\\windows\\win.ini",
        "/assets//etc/passwd\x00",
        "/gradio_api/queue/join/../../file=x",
        "/gradio_api/queue/data\n",
    ],
)
def test_B1_nothing_else_is_there(path: str) -> None:
    assert not any(is_needed(method, path) for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"))


def test_reading_never_acts_and_acting_never_reads() -> None:
    assert not is_needed("GET", "/gradio_api/queue/join") and not is_needed("POST", "/config")
    assert not is_needed("OPTIONS", "/gradio_api/queue/join")


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({"data": ["path", {"text": "path"}, 5, None], "session_hash": "s"}, False),
        ({"event_data": {"files": [{"name": "path", "text": '{"path": "x"}'}]}}, False),
        ({"data": [{"path": "/etc/passwd"}]}, True),
        ({"event_data": {"a": [[{"b": {"path": "http://127.0.0.1/", "meta": {}}}]]}}, True),
    ],
)
def test_B3_what_gradio_takes_for_a_file_is_found_wherever_it_is(value: object, names: bool) -> None:
    assert names_a_file(value) == names


def test_html_loses_what_leads_elsewhere_and_keeps_its_own() -> None:
    html = (
        b'<head><link rel="preconnect" href="https://fonts.test" />'
        b'<meta property="og:image" content="https://x.test/y" />'
        b'<script async src="//cdn.test/a.js"></script><script src="./assets/a.js"></script>'
        b'<link rel="stylesheet" href="./assets/a.css"></head>'
    )
    kept = at_home(html, "N1")
    assert b"test" not in kept
    assert b'<script nonce="N1" src="./assets/a.js">' in kept and b'href="./assets/a.css"' in kept
    assert kept.count(b'rel="icon" href="data:') == 1


def test_the_html_that_gradio_brings_leads_nowhere_else() -> None:
    template = Path(gradio.__file__).parent / "templates" / "frontend" / "index.html"
    kept = at_home(template.read_bytes(), "N1").decode()
    assert set(re.findall(r"(?:src|href|content)=[\"'](?:https?:)?//[^\"']*", kept)) == set()
    assert kept.count("<script") == kept.count('<script nonce="N1"')


def test_A11_the_policy_lets_in_no_stranger_and_no_frame() -> None:
    policy = dict(rule.split(" ", 1) for rule in content_security_policy("N1").split("; "))
    assert (
        policy["default-src"] == policy["frame-ancestors"] == policy["frame-src"] == policy["form-action"] == "'none'"
    )
    assert policy["connect-src"] == "'self'" and "'unsafe-inline'" not in policy["script-src"]
    assert not re.search(r"https?:|\*", content_security_policy("N1"))
