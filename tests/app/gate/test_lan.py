"""A listener for other machines. On loopback, since tests reach nothing else."""

import pytest

from app.gate.gate import Gate
from app.gate.lan import lan_listener
from app.gate.secrets import Secrets
from app.gate.serving import Server
from app.paths import Paths, make_home
from engine.errors import UsageProblem
from tests.app.gate.sample import Sample, make_app, serve


@pytest.fixture
def secrets(home):
    make_home(Paths(home))
    secrets = Secrets(Paths(home))
    secrets.face_token.create()
    return secrets


@pytest.fixture
def on_lan(secrets, tmp_path):
    secrets.api_key.create()
    lan = lan_listener("127.0.0.1", 0, secrets, names=("studio.lan",))
    sample = Sample(port=lan.policy.port)
    gate = Gate(make_app(sample, tmp_path / "static"), lan.policy, secrets.api_access_of, public={"/health"})
    with Server(gate, [lan.socket]).running():
        yield sample


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "127.0.0.1", "192.168.1.5"])
def test_A8_without_an_api_key_nothing_listens(secrets, address):
    with pytest.raises(UsageProblem) as caught:
        lan_listener(address, 0, secrets, names=("studio.lan",))
    assert "API key" in caught.value.problem and caught.value.hint


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_A8_all_addresses_at_once_need_names(secrets, address):
    secrets.api_key.create()
    with pytest.raises(UsageProblem, match="stands for every address"):
        lan_listener(address, 0, secrets)


@pytest.mark.parametrize("address", ["", "studio.lan", "1.2.3", "127.0.0.1:80", "http://127.0.0.1"])
def test_an_address_must_be_one(secrets, address):
    secrets.api_key.create()
    with pytest.raises(UsageProblem, match="no IP address"):
        lan_listener(address, 0, secrets)


def test_A8_the_api_key_asks_the_model_and_nothing_else(on_lan, secrets):
    api = secrets.api_key.read().encode()
    assert on_lan.ask("GET /v1/models HTTP/1.1", secret=api, host=f"studio.lan:{on_lan.port}").status == 200
    assert on_lan.ask("GET /api/turns HTTP/1.1", secret=api).status == 403
    assert on_lan.ask("GET /v1/models HTTP/1.1", secret=api, host=f"evil.example:{on_lan.port}").status == 421


def test_A8_the_face_token_does_not_work_from_other_machines(on_lan, secrets):
    assert on_lan.ask("GET /v1/models HTTP/1.1", secret=secrets.face_token.read().encode()).status == 401


def test_A8_after_ten_failed_tries_an_address_is_refused_unheard(on_lan, secrets):
    api = secrets.api_key.read().encode()
    statuses = [on_lan.ask("GET /v1/models HTTP/1.1", secret=b"guess").status for _ in range(9)]
    assert set(statuses) == {401}
    assert on_lan.ask("GET /v1/models HTTP/1.1", secret=b"guess").status == 429
    reply = on_lan.ask("GET /v1/models HTTP/1.1", secret=api)
    assert reply.status == 429 and 0 < int(reply.headers["retry-after"]) <= 60
    assert on_lan.calls == []


def test_A8_tries_without_a_secret_do_not_count(on_lan, secrets):
    for _ in range(20):
        assert on_lan.ask("GET /v1/models HTTP/1.1", secret=b"").status == 401
    assert on_lan.ask("GET /v1/models HTTP/1.1", secret=secrets.api_key.read().encode()).status == 200


def test_A8_on_loopback_failed_tries_are_slowed_down_but_lock_nobody_out(tmp_path):
    with serve(tmp_path) as sample:
        for _ in range(10):
            sample.ask("GET /v1/models HTTP/1.1", secret=b"guess")
        refused = sample.ask("GET /v1/models HTTP/1.1", secret=b"guess")
        assert refused.status == 429 and "retry-after" in refused.headers
        assert sample.ask("GET /v1/models HTTP/1.1").status == 200
