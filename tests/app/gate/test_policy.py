"""The rules as pure decisions; that they hold for every route of a server is in test_gate."""

import pytest

from app.gate.policy import Head, Policy, by_path, check, check_framing, check_length, covers

OWN = (b"host", b"127.0.0.1:7727")


def test_a_program_that_names_us_passes():
    assert check(Head("GET", "/", [OWN]), Policy(7727)) is None


def test_the_usual_port_may_be_left_out():
    assert check(Head("GET", "/", [(b"host", b"localhost")]), Policy(80)) is None
    assert check(Head("GET", "/", [(b"host", b"localhost:80")]), Policy(80)) is None
    assert check(Head("GET", "/", [(b"host", b"localhost")]), Policy(443)).code == "wrong_host"


def test_an_origin_is_compared_with_its_scheme():
    secure = Policy(443, names=("home.example",), scheme="https")
    host = (b"host", b"home.example")
    assert check(Head("POST", "/", [host, (b"origin", b"https://home.example")]), secure) is None
    assert check(Head("POST", "/", [host, (b"origin", b"http://home.example")]), secure).code == "wrong_origin"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param([(b"x", b"")] * 101, 431, id="too many"),
        pytest.param([(b"x", b"y" * 33_000)], 431, id="too long"),
        pytest.param([(b"content-length", b"1"), (b"content-length", b"1")], 400, id="two lengths"),
        pytest.param([(b"content-length", b"1"), (b"transfer-encoding", b"chunked")], 400, id="two framings"),
        pytest.param([(b"origin", b"a"), (b"origin", b"a")], 400, id="two origins"),
        pytest.param([(b"content-type", b"a"), (b"content-type", b"a")], 400, id="two types"),
        pytest.param([(b"x", b"1"), (b"x", b"2")], None, id="two of something else"),
    ],
)
def test_a_head_that_is_too_large_or_unclear_is_refused(headers, status):
    refusal = check_framing(Head("POST", "/", [OWN, *headers]))
    assert (refusal.status if refusal else None) == status


@pytest.mark.parametrize(
    ("length", "status"),
    [
        *((b"0", None), (b"8388608", None), (b"8388609", 413), (b"104857600", 413), (b"9" * 5000, 413)),
        *((b"-1", 400), (b"+1", 400), (b"1e3", 400), (b"0x10", 400), ("１".encode(), 400)),
    ],
)
def test_a_length_is_judged_before_the_body(length, status):
    refusal = check_length(Head("POST", "/", [OWN, (b"content-length", length)]), Policy(7727))
    assert (refusal.status if refusal else None) == status


def test_the_longest_path_that_covers_decides():
    rules = {"/files/": 1, "/files/big/": 2, "/files/big/one": 3}
    asked = ("/files/a", "/files/big/b", "/files/big/one", "/files", "/other", "/files/../other")
    assert [by_path(rules, path, 0) for path in asked] == [1, 2, 3, 0, 0, 0]


def test_a_path_covers_only_itself_unless_it_ends_in_a_slash():
    assert covers({"/health"}, "/health")
    assert not covers({"/health"}, "/health/more")
    assert covers({"/static/"}, "/static/a/b.js")
    assert not covers({"/static/"}, "/static/../api")
