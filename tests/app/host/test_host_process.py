"""A real host on the real starter: faces start it, share it, come back to it, and it ends when it should."""

import json
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from app.host.address import HostAddress, read_address
from app.host.connection import HostConnection
from app.host.starting import ensure_host, find_host, read_token
from app.paths import Paths
from app.remote_client import RemoteClient, connect
from engine.errors import AgentError, HomeBusy, UnknownName
from engine.events import Notice, TextDelta, TurnClosed, TurnEvent, TurnOpened
from engine.values import Attachment
from tests.app.running import complaint, macaron, start, wait_until
from tests.support.hosting import end_host, host_pid

pytestmark = pytest.mark.model

LONG = "@L0 Write a long story about a river, at least one thousand words, and do not stop early."


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("shared") / "home"
    yield home
    end_host(home)


@pytest.fixture(scope="module")
def client(shared_home: Path, starter_base: Path) -> Iterator[RemoteClient]:
    client = connect(Paths(shared_home))
    client.about()  # the base is loaded, so that no test waits for it
    yield client
    client.close()


def closed_of(events: Iterator[TurnEvent]) -> TurnClosed:
    *_, last = events
    assert isinstance(last, TurnClosed)
    return last


def native(client: RemoteClient) -> httpx.Client:
    """The host as a face's own requests reach it."""
    token = read_token(client.address)
    return httpx.Client(base_url=client.address.url, headers={"Authorization": f"Bearer {token}"}, timeout=30)


def test_a_turn_through_the_host_tells_the_same_story_as_one_in_this_process(client: RemoteClient) -> None:
    events = list(client.ask("@L0 What is the capital of France?"))
    assert [event.number for event in events] == list(range(len(events)))
    assert isinstance(events[0], TurnOpened) and isinstance(events[-1], TurnClosed)
    assert "Paris" in events[-1].text
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == events[-1].text
    (record,) = client.path(events[0].conversation_id)
    assert (record.turn_id, record.answer_text, record.state) == (events[0].turn_id, events[-1].text, "answered")


def test_attachments_and_chinese_arrive_as_they_were_sent(client: RemoteClient) -> None:
    file = Attachment("笔记.txt", "The password of the day is 拿铁.")
    opened = next(client.ask("@L0 这是什么？", attachments=[file]))
    assert isinstance(opened, TurnOpened)
    assert (opened.user_text, opened.attachments) == ("这是什么？", ("笔记.txt",))
    (hit, *_) = client.search("这是什么")
    assert client.path(hit.conversation_id)[0].attachments == (file,)


def test_an_error_of_the_agent_is_raised_as_what_it_is(client: RemoteClient) -> None:
    with pytest.raises(UnknownName, match="no conversation `c-none`"):
        list(client.ask("hello", conversation_id="c-none"))
    with pytest.raises(UnknownName, match="no turn"):
        client.siblings("t-none")
    with pytest.raises(UnknownName, match="no profile `grande`"):
        client.use_profile("grande")


def test_a_profile_that_cannot_be_loaded_leaves_the_old_one_answering(client: RemoteClient) -> None:
    with pytest.raises(AgentError, match="not on this machine"):
        client.use_profile("tall")
    assert client.about().profile == "starter"
    assert closed_of(client.ask("@L0 Say hello.")).state == "answered"


def test_stopping_from_another_thread_ends_the_turn_and_keeps_its_text(client: RemoteClient) -> None:
    turn = client.ask(LONG)
    shown = 0
    for event in turn:
        shown += isinstance(event, TextDelta)
        if shown == 5:
            break
    started = time.monotonic()
    threading.Thread(target=client.stop).start()
    closed = closed_of(turn)
    assert time.monotonic() - started < 1.0
    assert closed.state == "stopped" and closed.text


def test_a_face_that_closes_its_turn_stops_it(client: RemoteClient) -> None:
    turn = client.ask(LONG)
    opened = next(turn)
    next(event for event in turn if isinstance(event, TextDelta))
    turn.close()
    wait_until(lambda: client.path(opened.conversation_id)[0].state == "stopped", "the turn is stopped")


def test_a_face_that_lost_its_connection_finds_its_turn_again_without_a_gap(client: RemoteClient) -> None:
    with native(client) as http:
        body = {"key": "a-key-of-this-test", "kind": "ask", "text": "@L0 Count from one to twenty in words."}
        received: list[int] = []
        with http.stream("POST", "/api/turns", json=body) as answer:
            for line in answer.iter_lines():
                if line.startswith("id: "):
                    received.append(int(line.removeprefix("id: ")))
                if len(received) == 6:
                    break
        with http.stream("GET", "/api/turns/a-key-of-this-test/events", params={"after": received[-1]}) as answer:
            received += [int(line.removeprefix("id: ")) for line in answer.iter_lines() if line.startswith("id: ")]
    assert received == list(range(len(received)))


def test_the_same_key_sent_twice_begins_one_turn(client: RemoteClient) -> None:
    before = len(client.conversations(limit=1000))
    body = {"key": "sent-twice-by-a-nervous-face", "kind": "ask", "text": "@L0 Say hello."}
    with native(client) as http:
        first, second = (http.post("/api/turns", json=body).text for _ in range(2))
    assert first == second
    assert len(client.conversations(limit=1000)) == before + 1


def test_the_feed_tells_other_faces_of_a_turn_and_can_be_resumed(client: RemoteClient) -> None:
    connection = HostConnection(Paths(Path(client.address.token_file).parent), client.address)
    told: list[tuple[str, dict[str, str]]] = []
    listening = threading.Event()

    def follow() -> None:
        for name, data in connection.events("GET", "/api/events"):
            listening.set()
            told.append((name, data))
            if name == "turn_closed":
                return

    follower = threading.Thread(target=follow)
    follower.start()
    assert listening.wait(10)
    closed = closed_of(client.ask("@L0 Say hello."))
    follower.join(10)
    assert [name for name, _ in told] == ["hello", "turn_opened", "turn_closed"]
    assert told[1][1]["turn_id"] == closed.turn_id
    replayed = connection.events("GET", "/api/events", params={"instance": client.address.instance, "after": -1})
    assert [next(replayed)[0] for _ in range(2)] == ["hello", "engine"], "from the first event on"
    replayed.close()
    connection.close()


def test_a_second_face_attaches_to_the_host_that_runs(client: RemoteClient, shared_home: Path) -> None:
    assert ensure_host(Paths(shared_home)) == client.address


def test_history_is_read_from_the_host_while_it_runs(client: RemoteClient, shared_home: Path) -> None:
    closed = closed_of(client.ask("@L0 Say hello to 拿铁."))
    done = macaron("history", "show", closed.conversation_id, "--home", str(shared_home))
    assert done.code == 0 and "拿铁" in done.out


def test_a_second_host_for_the_same_home_is_refused(client: RemoteClient, shared_home: Path) -> None:
    said = complaint(macaron("serve", "--home", str(shared_home)), HomeBusy.exit_code)
    assert str(host_pid(shared_home)) in said


def test_the_status_says_what_the_host_does(client: RemoteClient, shared_home: Path) -> None:
    done = macaron("serve", "--status", "--json", "--home", str(shared_home))
    assert done.code == 0
    assert done.json["running"] is True and done.json["profile"] == "starter"
    assert psutil.pid_exists(done.json["engine_pid"])


def test_A1_the_host_listens_on_loopback_only(client: RemoteClient) -> None:
    listening = [c for c in psutil.Process(client.address.pid).net_connections() if c.status == psutil.CONN_LISTEN]
    assert {c.laddr.ip for c in listening} == {"127.0.0.1"}
    engine = psutil.Process(client.host()["engine_pid"])
    assert [c for c in engine.net_connections() if c.status == psutil.CONN_LISTEN] == []


def test_A6_no_get_changes_anything(client: RemoteClient) -> None:
    """Every route that answers a GET, asked with the full right to do anything."""
    before = client.conversations(limit=1000)
    with native(client) as http:
        paths = [
            "/api/host", "/api/host/stop", "/api/turns", "/api/call/rename?conversation_id=x&title=y", "/v1/models",
            "/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/health",
        ]  # fmt: skip
        codes = {path: http.get(path).status_code for path in paths}
    assert codes["/api/host"] == codes["/v1/models"] == codes["/health"] == 200
    assert all(codes[path] in (404, 405) for path in paths if codes[path] != 200)
    assert client.conversations(limit=1000) == before
    assert client.host()["pid"] == client.address.pid


def test_A7_an_api_key_may_ask_the_model_and_nothing_else(client: RemoteClient, shared_home: Path) -> None:
    key = macaron("key", "--home", str(shared_home)).out.strip()
    assert key and key != read_token(client.address)
    with httpx.Client(base_url=client.address.url, headers={"Authorization": f"Bearer {key}"}) as http:
        assert http.get("/v1/models").status_code == 200
        for path in ("/api/call/conversations", "/api/turns", "/api/host/stop"):
            assert http.post(path, json={}).status_code in (401, 403), path
        assert http.get("/api/host").status_code in (401, 403)
        assert http.get("/api/events").status_code in (401, 403)


def test_A7_secrets_are_in_no_command_line_environment_or_log(client: RemoteClient, shared_home: Path) -> None:
    secrets = [
        read_token(client.address).encode(),
        macaron("key", "--home", str(shared_home)).out.strip().encode(),
    ]
    host = psutil.Process(client.address.pid)
    shown = [host, *host.children(recursive=True)]
    seen = [Path(f"/proc/{p.pid}/{part}").read_bytes() for p in shown for part in ("cmdline", "environ")]
    seen.append((shared_home / "host.log").read_bytes())
    seen.append((shared_home / "host.json").read_bytes())
    assert not [text for text in seen for secret in secrets if secret in text]


def test_what_the_host_writes_is_readable_by_its_owner_only(client: RemoteClient, shared_home: Path) -> None:
    assert stat.S_IMODE(shared_home.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in shared_home.iterdir() if file.is_file()}
    assert {"host.json", "host.log", "face.token", "macaron.db"} <= set(modes)
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}


def test_serve_says_where_it_listens_and_ends_with_ctrl_c(home: Path) -> None:
    with start("serve", "--json") as host:
        assert host.stdout is not None
        told = json.loads(host.stdout.readline())
        assert httpx.get(f"http://127.0.0.1:{told['port']}/health").json()["status"] == "ok"
        host.terminate()
        _, errors = host.communicate(timeout=30)
    assert (host.returncode, errors) == (0, b"")
    assert not (home / "host.json").exists() and not (home / "home.pid").exists()


def test_stop_ends_the_host_and_a_running_turn_keeps_its_text(home: Path) -> None:
    client = connect(Paths(home))
    turn = client.ask(LONG)
    opened = next(event for event in turn if isinstance(event, TurnOpened))
    next(event for event in turn if isinstance(event, TextDelta))
    pid = client.address.pid
    assert macaron("serve", "--stop", "--json").json == {"stopped": True}
    wait_until(lambda: not psutil.pid_exists(pid), "the host has ended")
    rest = list(turn)
    assert isinstance(rest[-1], TurnClosed) and rest[-1].state == "stopped"
    (record,) = client.path(opened.conversation_id)
    assert record.state == "stopped" and record.answer_text
    client.close()


def test_a_port_that_is_taken_is_replaced_unless_it_was_asked_for(home: Path, tmp_path: Path) -> None:
    with start("serve", "--json") as first:
        assert first.stdout is not None
        taken = json.loads(first.stdout.readline())["port"]
        other = tmp_path / "other"
        other.mkdir(mode=0o700)
        (other / "settings.toml").write_text(f"port = {taken}\n")
        said = complaint(macaron("serve", "--port", str(taken), "--home", str(other)), 1)
        assert str(taken) in said
        with start("serve", "--home", str(other)) as second:
            assert second.stdout is not None
            assert str(taken) not in second.stdout.readline().decode()
            second.terminate()
            _, errors = second.communicate(timeout=30)
            assert str(taken) in errors.decode()
        first.terminate()
        first.communicate(timeout=30)


def test_a_host_that_cannot_start_says_why_to_the_face_that_started_it(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "macaron.db").write_bytes(b"this is no database" * 1000)
    with pytest.raises(AgentError, match=r"macaron\.db"):
        connect(Paths(home))
    assert read_address(Paths(home)) is None


def test_faces_that_start_at_once_get_one_host(home: Path) -> None:
    found: list[HostAddress] = []
    threads = [threading.Thread(target=lambda: found.append(ensure_host(Paths(home)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4 and len(set(found)) == 1
    assert find_host(Paths(home)) == found[0]


def test_an_open_face_counts_as_one_and_hears_what_others_do(client: RemoteClient, shared_home: Path) -> None:
    heard: list[str] = []
    face = connect(Paths(shared_home))
    face.watch(lambda name, values: heard.append(name))
    wait_until(lambda: "hello" in heard, "the face is connected")
    assert client.host()["faces"] >= 1
    closed_of(client.ask("@L0 Say hello."))
    wait_until(lambda: "turn_closed" in heard, "the face has heard of the turn")
    face.close()
    wait_until(lambda: client.host()["faces"] == 0, "the face is gone", timeout_s=40)


def test_A7_rotating_the_secrets_shuts_out_who_has_the_old_ones_and_our_own_faces_go_on(home: Path) -> None:
    client = connect(Paths(home))
    old = {"Authorization": f"Bearer {read_token(client.address)}"}
    key = macaron("key", "rotate").out.strip()
    assert httpx.get(f"{client.address.url}/v1/models", headers=old).status_code == 401
    assert httpx.get(f"{client.address.url}/v1/models", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert closed_of(client.ask("@L0 Say hello.")).state == "answered"
    client.close()


def test_a_turn_that_waits_for_another_says_so(client: RemoteClient, shared_home: Path) -> None:
    other = connect(Paths(shared_home))
    long = client.ask(LONG)
    next(event for event in long if isinstance(event, TextDelta))
    waiting = other.ask("@L0 Say hello.")
    first = next(waiting)
    assert isinstance(first, Notice) and (first.code, first.values) == ("waiting", {"ahead": 1})
    client.stop()
    assert closed_of(long).state == "stopped"
    assert closed_of(waiting).state == "answered"
    other.close()


def test_a_token_that_was_lost_is_told_with_the_way_out_which_works(home: Path) -> None:
    client = connect(Paths(home))
    (home / "face.token").unlink()
    with pytest.raises(AgentError) as caught:
        client.conversations()
    assert "face.token" in caught.value.problem and "macaron key rotate" in caught.value.hint
    assert macaron("key", "rotate").code == 0
    assert client.conversations() == ()
    client.close()


def test_A8_beyond_loopback_nothing_listens_without_a_key_and_with_one_only_the_api_does(home: Path) -> None:
    refused = complaint(macaron("serve", "--lan", "127.0.0.2:0"), 2)
    assert "--lan" in refused
    port = free_port("127.0.0.2")
    assert "without an API key" in complaint(macaron("serve", "--lan", f"127.0.0.2:{port}"), 2)
    key = macaron("key").out.strip()
    with start("serve", "--json", "--lan", f"127.0.0.2:{port}") as host:
        assert host.stdout is not None
        host.stdout.readline()
        url = f"http://127.0.0.2:{port}"
        face = (home / "face.token").read_text().strip()
        codes = {
            (path, name): httpx.get(f"{url}{path}", headers={"Authorization": f"Bearer {secret}"}).status_code
            for path in ("/v1/models", "/api/host", "/health")
            for name, secret in (("key", key), ("face", face))
        }
        host.terminate()
        host.communicate(timeout=30)
    assert codes[("/v1/models", "key")] == 200
    assert {code for asked, code in codes.items() if asked != ("/v1/models", "key")} <= {401, 403, 404, 429}


def free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
