"""The gate in front of a real server: what reaches a handler, and what does not."""

import asyncio
import json
import socket
import time

import pytest

from app.gate.gate import Gate
from app.gate.policy import Policy
from tests.app.gate.sample import API, EVERY_ROUTE, FACE, Sample, make_app, secret_access, serve
from tests.app.running import wait_until

JSON = "Content-Type: application/json"


def test_our_own_face_reaches_every_route(sample):
    assert sample.ask("GET /api/turns HTTP/1.1").body == b'{"handler":"turns as face"}'
    assert sample.ask("GET /static/app.js HTTP/1.1").status == 200
    assert sample.ask("GET /no/such/route HTTP/1.1").status == 404


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_A2_every_name_of_loopback_works_with_our_port(sample, name):
    assert sample.ask("GET /v1/models HTTP/1.1", host=f"{name}:{sample.port}").status == 200


@pytest.mark.parametrize("path", EVERY_ROUTE)
@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:PORT", "127.0.0.1.evil.example:PORT", "localhost.evil.example:PORT"),
        *("127.0.0.1", "127.0.0.1:1", "localhost", " ", "user@127.0.0.1:PORT", "127.0.0.1:PORT@evil.example"),
        *("localhost.:PORT", "LOCALHOST:PORT", "LocalHost:PORT", "127.1:PORT", "0.0.0.0:PORT", "2130706433:PORT"),
        *(
            "[::ffff:127.0.0.1]:PORT",
            "[::ffff:7f00:1]:PORT",
            "::1:PORT",
            "[0:0:0:0:0:0:0:1]:PORT",
            "127.0.0.1:PORT,evil",
        ),
    ],
)
def test_A2_no_route_answers_under_another_name(sample, path, host):
    reply = sample.ask(f"GET {path} HTTP/1.1", host=host.replace("PORT", str(sample.port)))
    assert (reply.status, sample.calls) == (421, [])


@pytest.mark.parametrize("path", EVERY_ROUTE)
def test_A2_no_route_answers_to_two_hosts_or_none(sample, path):
    own = f"Host: {sample.host}"
    assert sample.say(f"GET {path} HTTP/1.1\r\nConnection: close\r\n{own}\r\n{own}\r\n\r\n".encode()).status == 421
    assert (
        sample.say(f"GET {path} HTTP/1.1\r\nConnection: close\r\n{own}\r\nHost: evil.example\r\n\r\n".encode()).status
        == 421
    )
    assert sample.say(f"GET {path} HTTP/1.1\r\nConnection: close\r\nHost:\r\n\r\n".encode()).status == 421
    assert sample.say(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode()).status == 421
    assert sample.say(f"GET {path} HTTP/1.0\r\nConnection: close\r\n\r\n".encode()).status == 421
    assert sample.calls == []


@pytest.mark.parametrize("path", EVERY_ROUTE)
def test_A2_no_route_answers_to_a_target_that_names_a_host(sample, path):
    assert sample.ask(f"GET http://evil.example{path} HTTP/1.1").status == 421
    assert sample.ask(f"GET http://{sample.host}{path} HTTP/1.1").status == 421
    assert sample.calls == []


def test_A2_names_can_be_added(tmp_path):
    with serve(tmp_path, names=("studio.lan",)) as sample:
        assert sample.ask("GET /v1/models HTTP/1.1", host=f"studio.lan:{sample.port}").status == 200
        assert sample.ask("GET /v1/models HTTP/1.1", host="studio.lan").status == 421


@pytest.mark.parametrize("path", EVERY_ROUTE)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_A4_no_handler_runs_for_another_origin(sample, method, path):
    for origin in foreign_origins(sample):
        reply = sample.ask(f"{method} {path} HTTP/1.1", f"Origin: {origin}", JSON, "Content-Length: 0")
        assert (origin, reply.status) == (origin, 403)
        assert not [name for name in reply.headers if name.startswith("access-control-")]
    assert sample.calls == []


def foreign_origins(sample):
    own = f"http://{sample.host}"
    return (
        *("http://evil.example", "null", "file://", "", "chrome-extension://abcdefghijklmnop", "moz-extension://x"),
        *(f"http://127.0.0.1:{sample.port + 1}", "http://127.0.0.1", f"http://localhost:{sample.port}"),
        *(f"https://{sample.host}", own.upper(), f"{own}/", f"{own}.evil.example", f"{own}, {own}", f"{own} {own}"),
    )


def test_A4_a_preflight_of_another_origin_is_refused_and_gets_no_permission(sample):
    asks = ("Access-Control-Request-Method: POST", "Access-Control-Request-Private-Network: true")
    reply = sample.ask("OPTIONS /api/effect HTTP/1.1", "Origin: http://evil.example", *asks, secret=b"")
    assert (reply.status, sample.calls) == (403, [])
    assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_A4_our_own_origin_passes(sample):
    reply = sample.ask("POST /api/effect HTTP/1.1", f"Origin: {sample.address}", JSON, "Content-Length: 2", body=b"{}")
    assert (reply.status, sample.calls) == (200, ["effect"])


def test_A4_two_origins_are_none(sample):
    own = f"Origin: {sample.address}"
    assert sample.ask("GET /api/effect HTTP/1.1", own, own).status == 400
    assert sample.ask("GET /api/effect HTTP/1.1", own, "Origin: http://evil.example").status == 400
    assert sample.calls == []


@pytest.mark.parametrize("path", EVERY_ROUTE)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "unknown", ""])
def test_A4_a_browser_that_comes_from_another_site_is_refused_without_an_origin_too(sample, path, site):
    reply = sample.ask(f"GET {path} HTTP/1.1", f"Sec-Fetch-Site: {site}", "Sec-Fetch-Mode: no-cors")
    assert (reply.status, sample.calls) == (403, [])


def test_A4_a_person_at_the_address_bar_can_only_read(sample):
    assert sample.ask("GET /v1/models HTTP/1.1", "Sec-Fetch-Site: none").status == 200
    sample.calls.clear()
    reply = sample.ask("POST /api/effect HTTP/1.1", "Sec-Fetch-Site: none", JSON, "Content-Length: 2", body=b"{}")
    assert (reply.status, sample.calls) == (403, [])


def test_A4_a_web_socket_is_refused_before_it_is_accepted(tmp_path):
    sample = Sample(port=7727)
    gate = Gate(make_app(sample, tmp_path), Policy(7727), secret_access)
    secret = (b"authorization", b"Bearer " + FACE)
    own = (b"host", b"127.0.0.1:7727")
    for headers in (
        [own, secret, (b"origin", b"http://evil.example")],
        [own, secret, (b"origin", b"null")],
        [own, secret, (b"origin", b"http://127.0.0.1:7728")],
        [(b"host", b"evil.example:7727"), secret],
        [own, (b"origin", b"http://127.0.0.1:7727")],
    ):
        assert open_socket(gate, headers)[0]["type"] == "websocket.close"
    assert sample.calls == []
    assert open_socket(gate, [own, secret, (b"origin", b"http://127.0.0.1:7727")])[0]["type"] == "websocket.accept"


def open_socket(gate, headers):
    """What a server would be told to send to this handshake."""
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": "/socket", "headers": headers, "query_string": b"", "subprotocols": []}
    asyncio.run(gate({**scope, "client": ("127.0.0.1", 1), "state": {}}, receive, send))
    return sent


def test_A4_an_upgrade_on_the_real_server_is_refused_like_any_request(sample):
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA")
    assert sample.ask("GET /socket HTTP/1.1", *upgrade, "Origin: http://evil.example").status == 403
    assert sample.ask("GET /socket HTTP/1.1", *upgrade, secret=b"").status == 401
    assert sample.calls == []


@pytest.fixture(scope="module")
def with_cors(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("cors"), with_cors=True) as sample:
        yield sample


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_A5_a_cors_middleware_inside_lets_nobody_in(with_cors, name, method):
    host = f"{name}:{with_cors.port}"
    asks = (JSON, "Content-Length: 0", "Access-Control-Request-Method: POST")
    for origin in ("http://evil.example", "null", f"http://{name}:{with_cors.port + 1}"):
        reply = with_cors.ask(f"{method} /api/effect HTTP/1.1", f"Origin: {origin}", *asks, host=host)
        assert reply.status == 403
        assert not [header for header in reply.headers if header.startswith("access-control-")]
    assert with_cors.calls == []


def test_A5_a_mapped_address_is_no_name_of_ours_whatever_is_inside(with_cors):
    mapped = f"[::ffff:127.0.0.1]:{with_cors.port}"
    reply = with_cors.ask("GET /api/effect HTTP/1.1", f"Origin: http://{mapped}", host=mapped)
    assert (reply.status, with_cors.calls) == (421, [])


def test_A5_no_permission_of_the_middleware_leaves_the_gate(with_cors):
    reply = with_cors.ask("GET /v1/models HTTP/1.1", f"Origin: {with_cors.address}")
    with_cors.calls.clear()
    assert reply.status == 200
    assert not [header for header in reply.headers if header.startswith("access-control-")]


SIMPLE_BODIES = {
    "text": ("text/plain", b'{"a":1}'),
    "text of JSON": ("text/plain; application/json", b'{"a":1}'),
    "form": ("application/x-www-form-urlencoded", b"a=1"),
    "multipart": (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
    ),
    "list": ("application/json, text/plain", b"{}"),
    "other JSON": ("application/csp-report", b"{}"),
    "empty": ("", b"{}"),
}


@pytest.mark.parametrize("kind", SIMPLE_BODIES)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_A6_what_a_foreign_form_can_send_is_refused_even_with_a_secret(sample, method, kind):
    media_type, body = SIMPLE_BODIES[kind]
    head = (f"{method} /api/effect HTTP/1.1", f"Content-Type: {media_type}", f"Content-Length: {len(body)}")
    assert (sample.ask(*head, body=body).status, sample.calls) == (415, [])


def test_A6_a_body_or_a_post_without_a_type_is_refused(sample):
    assert sample.ask("POST /api/effect HTTP/1.1", "Content-Length: 0").status == 415
    assert sample.ask("POST /api/effect HTTP/1.1").status == 415
    assert sample.ask("DELETE /api/effect HTTP/1.1", "Content-Length: 2", body=b"{}").status == 415
    assert sample.ask("POST /api/effect HTTP/1.1", JSON, "Content-Type: text/plain", "Content-Length: 0").status == 400
    assert sample.calls == []
    assert sample.ask("DELETE /api/effect HTTP/1.1").status == 200


def test_A6_an_image_a_form_and_a_beacon_of_another_site_have_no_effect(sample):
    image = ("GET /api/effect HTTP/1.1", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image")
    form = ("POST /api/effect HTTP/1.1", "Origin: null", "Content-Type: application/x-www-form-urlencoded")
    beacon = ("POST /api/effect HTTP/1.1", "Origin: http://evil.example", "Content-Type: text/plain;charset=UTF-8")
    assert sample.ask(*image).status == 403
    assert sample.ask(*form, "Content-Length: 3", body=b"a=1").status == 403
    assert sample.ask(*beacon, "Content-Length: 3", body=b"a=1").status == 403
    assert sample.calls == []


def test_A6_another_type_is_taken_only_where_the_path_allows_it(sample):
    media_type, body = SIMPLE_BODIES["multipart"]
    head = (f"Content-Type: {media_type}", f"Content-Length: {len(body)}")
    assert sample.ask("POST /gradio_api/upload HTTP/1.1", *head, body=body).status == 200
    assert sample.ask("POST /gradio_api/upload/../effect HTTP/1.1", *head, body=body).status == 415


@pytest.mark.parametrize("path", [path for path in EVERY_ROUTE if path != "/health"])
def test_A7_without_a_secret_nothing_answers(sample, path):
    assert (sample.ask(f"GET {path} HTTP/1.1", secret=b"").status, sample.calls) == (401, [])


def test_A7_only_what_is_public_answers_without_a_secret(sample):
    assert sample.ask("GET /health HTTP/1.1", secret=b"").status == 200
    assert sample.ask("GET /health/ HTTP/1.1", secret=b"").status == 401
    assert sample.ask("GET /healthz HTTP/1.1", secret=b"").status == 401


@pytest.mark.parametrize(
    "header",
    [
        *(
            "x-api-key: face-secret",
            "api-key: face-secret",
            "Cookie: token=face-secret",
            "X-Authorization: Bearer face-secret",
        ),
        *(
            "Authorization: face-secret",
            "Authorization: Basic ZmFjZS1zZWNyZXQ=",
            "Proxy-Authorization: Bearer face-secret",
        ),
        *(
            "Authorization: Bearer",
            "Authorization: Bearer ",
            "Authorization: Bearer face-secretx",
            "Authorization: Bearer \xe9",
        ),
    ],
)
def test_A7_a_secret_anywhere_else_grants_nothing(sample, header):
    reply = sample.ask("GET /v1/models?api_key=face-secret&token=face-secret HTTP/1.1", header, secret=b"")
    assert (reply.status in (401, 429), sample.calls) == (True, [])


def test_A7_another_header_does_not_widen_what_the_api_key_grants(sample):
    assert sample.ask("GET /v1/models HTTP/1.1", secret=API).status == 200
    sample.calls.clear()
    for extra in ("x-api-key: face-secret", "Cookie: macaron=face-secret", "X-Forwarded-For: 127.0.0.1"):
        assert sample.ask("GET /api/turns HTTP/1.1", extra, secret=API).status == 403
    assert sample.calls == []


@pytest.mark.parametrize("path", ["/v1/../api/turns", "/v1/%2e%2e/api/turns", "//v1/models", "/V1/models", "/v1"])
def test_A7_a_path_that_only_looks_like_the_api_is_not_open_to_its_key(sample, path):
    assert (sample.ask(f"GET {path} HTTP/1.1", secret=API).status, sample.calls) == (403, [])


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("GET /v1/models HTTP/1.1", id="answered"),
        pytest.param("GET /no/such/route HTTP/1.1", id="not found"),
        pytest.param("POST /v1/models HTTP/1.1", id="refused"),
        pytest.param("GET /static/app.js HTTP/1.1", id="static"),
    ],
)
def test_A11_every_answer_forbids_frames_sniffing_and_keeping(sample, line):
    headers = sample.ask(line).headers
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


def test_A11_a_response_with_a_policy_of_its_own_cannot_be_framed_either(tmp_path):
    sample = Sample(port=7727)
    app = make_app(sample, tmp_path)

    @app.middleware("http")
    async def weaker(request, call_next):
        response = await call_next(request)
        response.headers["Content-Security-Policy"] = "frame-ancestors *"
        response.headers["X-Frame-Options"] = "ALLOWALL"
        return response

    answer, _ = ask_gate(Gate(app, Policy(7727), secret_access), "/v1/models")
    assert [value for name, value in answer["headers"] if name == b"content-security-policy"] == [
        b"frame-ancestors *",
        b"frame-ancestors 'none'",
    ]
    assert [value for name, value in answer["headers"] if name == b"x-frame-options"] == [b"DENY"]


def test_only_static_files_may_be_kept(tmp_path):
    with serve(tmp_path, static_paths=("/static/",)) as sample:
        assert "cache-control" not in sample.ask("GET /static/app.js HTTP/1.1").headers
        assert sample.ask("GET /static/../v1/models HTTP/1.1").headers["cache-control"] == "no-store"


def test_refusals_are_json_for_programs_and_both_languages_for_people(sample):
    error = json.loads(sample.ask("GET /v1/models HTTP/1.1", secret=b"").body)["error"]
    assert (error["type"], error["code"]) == ("authentication_error", "no_access")
    assert "Authorization: Bearer" in error["message"]
    lines = sample.ask("GET / HTTP/1.1", secret=b"").body.decode().splitlines()
    assert "secret is missing" in lines[0] and "密钥缺失" in lines[1]


def test_who_is_lost_is_told_so_and_a_page_under_a_strange_name_hears_nothing(sample):
    assert "127.0.0.1" in sample.ask("GET / HTTP/1.1", host="localhost:1").body.decode()
    assert json.loads(sample.ask("GET /v1/models HTTP/1.1", host="[::1]").body)["error"]["code"] == "wrong_host"
    for strange in ("evil.example", f"evil.example:{sample.port}", "localhost.evil.example:1", "[::ffff:127.0.0.1]:1"):
        assert sample.ask("GET /v1/models HTTP/1.1", host=strange).body == b""


@pytest.mark.parametrize(("path", "word"), [("/events", "events ended"), ("/v1/patient", "hung up")])
def test_a_handler_hears_that_its_client_hung_up(sample, path, word):
    with socket.create_connection(("127.0.0.1", sample.port), timeout=10) as connection:
        secret = f"Authorization: Bearer {FACE.decode()}"
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {sample.host}\r\n{secret}\r\n\r\n".encode())
        time.sleep(0.1)
    wait_until(lambda: word in sample.calls, "the handler ended", timeout_s=2)


def test_a_person_who_is_not_logged_in_is_sent_to_the_login_page(tmp_path):
    with serve(tmp_path, login_path="/login") as sample:
        reply = sample.ask("GET / HTTP/1.1", "Accept: text/html,*/*", secret=b"")
        assert (reply.status, reply.headers["location"]) == (303, "/login")
        assert sample.ask("GET /v1/models HTTP/1.1", "Accept: */*", secret=b"").status == 401


def test_nobody_can_pretend_to_come_through_a_proxy(sample):
    pretended = (
        "X-Forwarded-For: 8.8.8.8",
        "X-Forwarded-Host: evil.example",
        "Forwarded: host=evil",
        "X-Real-IP: 8.8.8.8",
    )
    seen = sample.ask("GET /client HTTP/1.1", *pretended, "X-Mine: 1").body.decode().split()
    assert "x-mine" in seen
    assert not [name for name in seen if "forwarded" in name or name == "x-real-ip"]


def ask_gate(gate, path):
    """(the start, the body) of an answer, without a server between."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "state": {}}
    headers = [(b"host", b"127.0.0.1:7727"), (b"authorization", b"Bearer " + FACE)]
    asyncio.run(gate({**scope, "headers": headers, "client": ("127.0.0.1", 1), "scheme": "http"}, receive, send))
    return sent[0], b"".join(message.get("body", b"") for message in sent[1:])
