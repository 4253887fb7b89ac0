"""E-8: a page is fetched from the number that was checked, within bounds, and from nowhere else."""

import gzip
import socket
import ssl
import subprocess
import threading
import time
import zlib
from dataclasses import replace

import pytest

import engine.harness.builtin.web.fetching as fetching
import engine.harness.builtin.web.toolboxes as toolboxes
from engine.errors import ScoringStopped, UsageProblem
from engine.harness.builtin.web.fetching import PUBLIC, Reach, fetch
from engine.harness.builtin.web.toolboxes import SHOWN_CHARACTERS, FetchToolbox


@pytest.fixture
def toolbox(near) -> FetchToolbox:
    return FetchToolbox(True, near)


def test_it_is_off_unless_it_is_enabled(server, call):
    toolbox = FetchToolbox(False)
    assert toolbox.specs() == ()
    assert "switched off" in toolbox.run(call("web_fetch", address=server.url())).text
    with pytest.raises(UsageProblem, match="switched off"):
        toolbox.preview(call("web_fetch", address=server.url()))


def test_the_whole_address_is_shown_before_anything_leaves(server, toolbox, call):
    fetching_it = call("web_fetch", address=server.url("/a?secret=1"))
    assert toolbox.preview(fetching_it).detail == server.url("/a?secret=1")
    assert server.asked == []


def test_a_page_comes_back_as_tainted_text_with_its_address(server, toolbox, call):
    server.answer("/a", "<title>Tea</title><p>Green &amp; 绿茶", "text/html; charset=utf-8")
    result = toolbox.run(call("web_fetch", address=server.url("/a")))
    assert result.text == f"{server.url('/a')}\n\nTea\n\nGreen & 绿茶"
    assert result.is_tainted
    assert not result.is_error


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.9.9.9"])
def test_E8_nothing_on_this_machine_is_reached(server, host):
    reach = replace(PUBLIC, ports=None)
    with pytest.raises(UsageProblem, match="cannot be fetched"):
        fetch(f"http://{host}:{server.port}/", reach)
    assert server.asked == []


def test_E8_ports_of_other_services_are_refused_before_anything_is_looked_up(server):
    with pytest.raises(UsageProblem, match=f"port {server.port}"):
        fetch(server.url())


def test_E8_a_name_that_is_public_first_and_near_then_is_connected_to_by_the_checked_number(server, near):
    server.answer("/", "one", "text/plain")
    looked_up = []

    def look_up(host, port):
        looked_up.append(host)
        return ["127.0.0.1"] if len(looked_up) == 1 else ["10.0.0.1"]

    # The name is unknown to the system, and a second look-up would lead elsewhere.
    page = fetch(f"http://rebind.example:{server.port}/", replace(near, look_up=look_up))
    assert page.data == b"one"
    assert looked_up == ["rebind.example"]
    assert server.hosts == [f"rebind.example:{server.port}"]


def test_E8_a_name_with_one_number_that_is_near_is_refused_whole(server):
    reach = Reach(lambda host, port: ["8.8.8.8", "127.0.0.1"], ports=None)
    with pytest.raises(UsageProblem, match="this machine"):
        fetch(f"http://both.example:{server.port}/", reach)
    assert server.asked == []


def test_where_one_number_of_a_name_is_not_reached_the_next_one_is(server, near):
    server.answer("/", "one", "text/plain")
    # Nothing of this machine listens at IPv6.
    reach = replace(near, look_up=lambda host, port: ["::1", "127.0.0.2", "127.0.0.1"])
    assert fetch(f"http://tea.example:{server.port}/", reach).data == b"one"
    with pytest.raises(UsageProblem, match="could not be read"):
        fetch(f"http://tea.example:{server.port}/", replace(near, look_up=lambda host, port: ["::1"]))


@pytest.mark.parametrize("found", [[], ["nonsense"]], ids=["nothing", "nonsense"])
def test_a_name_without_a_number_is_named(near, found):
    with pytest.raises(UsageProblem, match=r"no\.example"):
        fetch("http://no.example/", replace(near, look_up=lambda host, port: found))


@pytest.mark.parametrize(
    "location",
    [
        *("http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "//10.0.0.1/", "http://2130706433/"),
        *(
            "file:///etc/passwd",
            "gopher://127.0.0.1/",
            "http://u@127.0.0.1/",
            "http://far.example/",
            "http://[::ffff:a00:1]/",
        ),
    ],
)
def test_E8_a_redirect_is_checked_as_the_first_address_was(server, near, location):
    server.redirect("/a", location)
    with pytest.raises(UsageProblem):
        fetch(server.url("/a"), replace(near, look_up=lambda host, port: ["10.0.0.1"]))
    assert server.asked == ["/a"]


def test_redirects_are_followed_a_few_times_and_the_last_address_is_told(server, near):
    server.redirect("/a", "/b", 301)
    server.redirect("/b", server.url("/c"), 307)
    server.answer("/c", "there", "text/plain")
    assert fetch(server.url("/a"), near).address == server.url("/c")
    server.redirect("/loop", "/loop")
    with pytest.raises(UsageProblem, match="more than 5 times"):
        fetch(server.url("/loop"), near)
    assert server.asked.count("/loop") == 6


@pytest.mark.parametrize("location", ["", "http://[", "http://\x01"])
def test_a_redirect_to_nowhere_is_named(server, near, location):
    server.redirect("/a", location)
    with pytest.raises(UsageProblem):
        fetch(server.url("/a"), near)


def test_a_page_that_is_too_large_is_cut(server, near, toolbox, call, monkeypatch):
    monkeypatch.setattr(fetching, "MOST_BYTES", 1000)
    server.answer("/a", "x" * 5000, "text/plain")
    page = fetch(server.url("/a"), near)
    assert (len(page.data), page.is_cut) == (1000, True)
    assert "only its beginning" in toolbox.run(call("web_fetch", address=server.url("/a"))).text


def test_a_page_that_unpacks_to_very_much_is_cut_at_the_same_size(server, near):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(40)) + packer.flush()
    server.answer("/a", packed, "text/plain", Content_Encoding="gzip")
    page = fetch(server.url("/a"), near)
    assert (len(page.data), page.is_cut) == (fetching.MOST_BYTES, True)


def test_a_packed_page_is_unpacked_and_a_packing_not_asked_for_is_refused(server, near):
    server.answer("/a", gzip.compress(b"tea"), "text/plain", Content_Encoding="gzip")
    assert fetch(server.url("/a"), near).data == b"tea"
    for packing in ("br", "zstd", "deflate", "gzip, gzip"):
        server.answer("/b", b"tea", "text/plain", Content_Encoding=packing)
        with pytest.raises(UsageProblem, match="packed"):
            fetch(server.url("/b"), near)
    server.answer("/c", b"no gzip", "text/plain", Content_Encoding="gzip")
    with pytest.raises(UsageProblem, match="could not be read"):
        fetch(server.url("/c"), near)


@pytest.mark.parametrize("content_type", ["image/png", "application/pdf", "application/octet-stream", "video/mp4", ""])
def test_what_is_no_text_is_refused(server, near, content_type):
    server.answer("/a", b"\x89PNG", content_type)
    with pytest.raises(UsageProblem, match="not text"):
        fetch(server.url("/a"), near)


def test_an_answer_that_is_no_page_is_named(server, near):
    with pytest.raises(UsageProblem, match="404"):
        fetch(server.url("/missing"), near)


def test_a_server_that_never_ends_is_left_when_the_time_is_over_or_when_it_is_stopped(
    server, toolbox, call, monkeypatch
):
    def drip(request):
        request.send_response(200)
        request.send_header("Content-Type", "text/plain")
        request.end_headers()
        while True:
            request.wfile.write(b"x")
            request.wfile.flush()
            time.sleep(0.02)

    server.answers["/slow"] = drip
    monkeypatch.setattr(toolboxes, "FETCH_LIMIT_S", 0.3)
    assert "longer than" in toolbox.run(call("web_fetch", address=server.url("/slow"))).text
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(ScoringStopped):
        toolbox.run(call("web_fetch", address=server.url("/slow"), stop=stop))


def test_a_server_that_says_nothing_is_left(server, near, monkeypatch):
    monkeypatch.setattr(fetching, "WAIT_S", 0.2)
    over = threading.Event()
    server.answers["/mute"] = lambda request: over.wait(5)
    try:
        with pytest.raises(UsageProblem, match="did not answer"):
            fetch(server.url("/mute"), near)
    finally:
        over.set()


def test_nothing_of_the_environment_goes_along(server, near, monkeypatch, tmp_path):
    monkeypatch.setenv("HTTP_PROXY", "http://10.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://10.0.0.1:1")
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.answer("/a", "tea", "text/plain", Set_Cookie="id=1")
    server.redirect("/first", "/a")
    fetch(server.url("/first"), near)
    fetch(server.url("/a"), near)
    assert {name.lower() for headers in server.agents for name in headers} == {
        "host", "user-agent", "accept", "accept-encoding", "connection"
    }  # fmt: skip


def test_a_long_page_is_read_in_parts(server, toolbox, call):
    server.answer("/a", "x" * SHOWN_CHARACTERS + "end", "text/plain")
    first = toolbox.run(call("web_fetch", address=server.url("/a"))).text
    assert f"go on at {SHOWN_CHARACTERS}" in first
    rest = toolbox.run(call("web_fetch", address=server.url("/a"), first_character=SHOWN_CHARACTERS)).text
    assert rest.endswith("xend")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for tea.example that vouches for itself."""
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=tea.example", "-addext", "subjectAltName=DNS:tea.example"),
            *("-keyout", "key.pem", "-out", "c.pem"),
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def encrypted(require_program, request):
    """(what a server of that name speaks, what a client believes that trusts it)"""
    require_program("openssl")
    folder = request.getfixturevalue("certificate")
    speaking = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    speaking.load_cert_chain(folder / "c.pem", folder / "key.pem")
    return speaking, ssl.create_default_context(cafile=str(folder / "c.pem"))


def test_E8_a_certificate_is_checked_against_the_name_not_the_number(encrypted, near):
    speaking, trusting = encrypted
    names = []
    speaking.sni_callback = lambda connection, name, context: names.append(name)

    def serve(listening):
        for _ in range(3):
            connection, _ = listening.accept()
            try:
                with speaking.wrap_socket(connection, server_side=True) as wrapped:
                    wrapped.recv(10_000)
                    wrapped.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\ntea")
            except OSError:
                connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=[listening])
        thread.start()
        port = listening.getsockname()[1]
        reach = replace(near, look_up=lambda host, port: ["127.0.0.1"], certificates=trusting)
        assert fetch(f"https://tea.example:{port}/", reach).data == b"tea"
        for address, believed in (("coffee.example", trusting), ("tea.example", None)):
            with pytest.raises(UsageProblem, match="could not be read"):
                fetch(f"https://{address}:{port}/", replace(reach, certificates=believed))
        thread.join()
    assert names == ["tea.example", "coffee.example", "tea.example"]
