"""The secret files and what they open."""

import os
import stat
import threading
import time

import pytest

from app.gate.secrets import SecretFile, Secrets, bearer
from app.paths import Paths, make_home
from engine.errors import AgentError
from tests.app.gate.sample import serve


@pytest.fixture
def paths(home):
    make_home(Paths(home))
    return Paths(home)


def authorization(secret):
    return [(b"authorization", b"Bearer " + secret.encode())]


def test_A7_a_new_secret_is_long_and_only_its_owner_may_read_it(paths):
    before = os.umask(0)
    try:
        secret = Secrets(paths).face_token.create()
    finally:
        os.umask(before)
    assert len(secret) == 43
    assert stat.S_IMODE(paths.face_token.stat().st_mode) == 0o600
    assert list(paths.home.iterdir()) == [paths.face_token]


def test_A7_at_no_moment_of_writing_could_another_read_it(paths):
    modes = set()
    is_over = threading.Event()

    def look():
        while not is_over.is_set():
            for path in paths.home.iterdir():
                try:
                    modes.add(stat.S_IMODE(path.stat().st_mode))
                except FileNotFoundError:
                    continue

    watcher = threading.Thread(target=look)
    watcher.start()
    for _ in range(200):
        Secrets(paths).face_token.rotate()
    is_over.set()
    watcher.join()
    assert modes == {0o600}


def test_a_secret_stays_what_it_is_until_it_is_rotated(paths):
    secret = Secrets(paths).face_token.create()
    assert Secrets(paths).face_token.create() == secret
    assert Secrets(paths).face_token.rotate() != secret


def test_there_is_no_secret_before_one_is_made(paths):
    secrets = Secrets(paths)
    assert secrets.api_key.read() is None
    assert not secrets.api_key.matches(b"")
    assert secrets.access_of([(b"authorization", b"Bearer ")]) is None


def test_A7_each_secret_opens_its_own(paths):
    secrets = Secrets(paths)
    face, api = secrets.face_token.create(), secrets.api_key.create()
    assert secrets.access_of(authorization(face)) == "face"
    assert secrets.access_of(authorization(api)) == "api"
    assert secrets.access_of(authorization(face[:-1])) is None
    assert secrets.api_access_of(authorization(face)) is None
    assert secrets.api_access_of(authorization(api)) == "api"


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([], id="none"),
        pytest.param([(b"authorization", b"Bearer a"), (b"authorization", b"Bearer a")], id="two"),
        pytest.param([(b"authorization", b"Basic a")], id="basic"),
        pytest.param([(b"authorization", b"a")], id="bare"),
        pytest.param([(b"x-api-key", b"a"), (b"api-key", b"a"), (b"cookie", b"token=a")], id="elsewhere"),
    ],
)
def test_A7_a_secret_comes_in_one_header_only(headers):
    assert bearer(headers) is None


@pytest.mark.parametrize("candidate", [b"", b"\xff" * 43, "咖啡".encode(), b"\0", b"x" * 100_000])
def test_A7_anything_that_is_not_the_secret_is_just_wrong(paths, candidate):
    secret = Secrets(paths).face_token
    secret.create()
    assert not secret.matches(candidate)


def test_A7_a_file_that_others_can_read_is_refused_with_the_cure(paths):
    secret = Secrets(paths).face_token.create()
    paths.face_token.chmod(0o640)
    secrets = Secrets(paths)
    with pytest.raises(AgentError) as caught:
        secrets.face_token.read()
    assert "other users" in caught.value.problem and f"chmod 600 {paths.face_token}" in caught.value.hint
    assert secrets.access_of(authorization(secret)) is None
    paths.face_token.chmod(0o600)
    assert secrets.access_of(authorization(secret)) == "face"


def test_A7_a_file_that_others_can_read_from_now_on_opens_nothing_any_more(paths):
    secrets = Secrets(paths)
    secret = secrets.face_token.create()
    paths.face_token.chmod(0o644)
    assert secrets.access_of(authorization(secret)) is None


def test_A7_a_link_a_folder_and_a_pipe_are_no_secrets(paths, tmp_path):
    real = SecretFile(tmp_path / "elsewhere", "It")
    real.create()
    paths.face_token.symlink_to(real.path)
    paths.api_key.mkdir()
    os.mkfifo(tmp_path / "pipe", 0o600)
    for secret in (Secrets(paths).face_token, Secrets(paths).api_key, SecretFile(tmp_path / "pipe", "It")):
        with pytest.raises(AgentError) as caught:
            secret.read()
        assert "Remove" in caught.value.hint


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 50, b"with a tab\t" * 5, "密钥".encode() * 20])
def test_a_damaged_file_is_refused_with_the_cure(paths, content):
    paths.face_token.write_bytes(content)
    paths.face_token.chmod(0o600)
    with pytest.raises(AgentError) as caught:
        Secrets(paths).face_token.read()
    assert "Remove" in caught.value.hint


def test_a_secret_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(AgentError) as caught:
        SecretFile(tmp_path / "no such folder" / "key", "The API key").create()
    assert "The API key cannot be written" in caught.value.problem


def test_A7_a_file_that_another_process_replaced_counts_from_the_next_request(paths):
    here, there = Secrets(paths), Secrets(paths)
    old = here.face_token.create()
    epoch = here.face_token.epoch
    new = there.face_token.rotate()
    assert here.access_of(authorization(old)) is None
    assert here.access_of(authorization(new)) == "face"
    assert here.face_token.epoch == epoch + 1
    there.face_token.path.unlink()
    assert here.access_of(authorization(new)) is None
    assert here.face_token.epoch == epoch + 2


def test_a_file_that_is_only_touched_is_the_same_secret(paths):
    secrets = Secrets(paths)
    secrets.face_token.create()
    epoch = secrets.face_token.epoch
    os.utime(paths.face_token)
    assert secrets.face_token.epoch == epoch


def test_A7_rotation_ends_streams_that_are_open(paths, tmp_path):
    secrets = Secrets(paths)
    secret = secrets.face_token.create().encode()
    with serve(tmp_path, authenticate=secrets.access_of) as sample:
        threading.Timer(0.5, Secrets(paths).face_token.rotate).start()
        began = time.monotonic()
        reply = sample.ask("GET /events HTTP/1.1", secret=secret)
        assert 0.5 <= time.monotonic() - began < 5
        assert reply.body.startswith(b"c\r\ndata: tick") and reply.body.endswith(b"0\r\n\r\n")
        assert sample.ask("GET /v1/models HTTP/1.1", secret=secret).status == 401
