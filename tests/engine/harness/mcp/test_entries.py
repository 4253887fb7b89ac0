"""Servers of the configuration: which may be used, what a person approves of them, and a fingerprint of just that."""

import pytest

from engine.errors import UsageProblem
from engine.harness.config import PlacedServer
from engine.harness.mcp.entries import (
    MOST_SERVERS,
    HttpEntry,
    StdioEntry,
    described,
    entries_of,
    fingerprint_of,
    prefix_of,
    with_secrets,
)


def server(**written):
    return PlacedServer.model_validate(written)


def only(name="time", **written):
    (entry,), problems = entries_of({name: server(**written)})
    assert problems == ()
    return entry


def problem_of(name="time", **written):
    entries, (problem,) = entries_of({name: server(**written), "good": server(command="good")})
    assert [entry.name for entry in entries] == ["good"]
    assert problem.name == name
    return problem.problem


def test_a_program_keeps_its_arguments_its_environment_its_place_and_its_time():
    read = only(command="uvx", args=["mcp-server-time"], env={"KEY": "${env:KEY}"}, place="/srv/project", timeout_s=5.0)
    assert read == StdioEntry("time", "uvx", ("mcp-server-time",), {"KEY": "${env:KEY}"}, "/srv/project", 5.0)


def test_an_address_keeps_its_headers():
    read = only(url="https://example.org/mcp", headers={"Authorization": "Bearer ${TOKEN}"}, timeout_s=5.0)
    assert read == HttpEntry("time", "https://example.org/mcp", {"Authorization": "Bearer ${TOKEN}"}, 5.0)


def test_a_server_that_is_switched_off_is_left_out():
    assert entries_of({"a": server(command="x", disabled=True)}) == ((), ())


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        pytest.param("ftp://example.org", "http", id="other_scheme"),
        pytest.param("http://example.org/mcp", "https", id="open_to_others_on_the_way"),
        pytest.param("http://8.8.8.8/mcp", "https", id="open_to_others_by_number"),
        pytest.param("https://exämple.org", "ASCII", id="look_alike_letters"),
        pytest.param("https://[half", "address", id="no_address"),
        pytest.param("https://example.org/#part", "address", id="part_of_a_page"),
    ],
)
def test_an_address_others_could_read_or_take_for_another_is_refused(url, reason):
    assert reason in problem_of(url=url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/mcp", "http://localhost/", "http://[::1]:1", "http://192.168.1.5/"]
)
def test_http_is_allowed_within_the_own_network(url):
    assert only(url=url).url == url


def test_g_4_what_a_person_could_not_see_when_approving_is_refused():
    hidden = PlacedServer.model_construct(command="x", args=("a\u202eb",), env={}, headers={}, url=None, disabled=False)
    _, (problem,) = entries_of({"time": hidden})
    assert "cannot be seen" in problem.problem


@pytest.mark.parametrize("name", ["saved", "Saved"])
def test_a_name_of_the_programs_own_is_refused(name):
    assert "the program's own" in problem_of(name, command="x")


def test_names_that_would_look_alike_before_tools_are_refused():
    entries, (problem,) = entries_of({"my_time": server(command="x"), "My.time": server(command="y")})
    assert [entry.name for entry in entries] == ["my_time"]
    assert "too much like `my_time`" in problem.problem


def test_there_is_a_limit_to_servers():
    entries, problems = entries_of({f"s{number}": server(command="x") for number in range(MOST_SERVERS + 5)})
    assert (len(entries), len(problems)) == (MOST_SERVERS, 5)


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        pytest.param("time", "time", id="kept"),
        pytest.param("My-time.server", "My-time_server", id="made_safe"),
        pytest.param("a__b", "a_b", id="no_double_underscore"),
    ],
)
def test_the_prefix_of_a_server_is_its_name_made_safe(name, prefix):
    assert prefix_of(name) == prefix


def test_names_in_other_scripts_and_long_ones_stay_apart():
    prefixes = {prefix_of(name) for name in ("天气", "日历", "x" * 40, "x" * 41)}
    assert len(prefixes) == 4
    assert all(prefix.isascii() and len(prefix) <= 24 and "__" not in prefix for prefix in prefixes)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(StdioEntry("n", "y", ("a",), {"K": "v"}), id="command"),
        pytest.param(StdioEntry("n", "x", ("b",), {"K": "v"}), id="arguments"),
        pytest.param(StdioEntry("n", "x", ("a",), {"K": "w"}), id="environment"),
        pytest.param(StdioEntry("n", "x", ("a",), {"K": "v"}, "/srv"), id="folder"),
        pytest.param(HttpEntry("n", "https://x"), id="kind"),
    ],
)
def test_the_fingerprint_changes_with_everything_that_decides_what_runs(other):
    assert fingerprint_of(other) != fingerprint_of(StdioEntry("n", "x", ("a",), {"K": "v"}))


def test_how_long_calls_may_take_needs_no_new_approval():
    assert fingerprint_of(StdioEntry("n", "x", call_s=5.0)) == fingerprint_of(StdioEntry("n", "x"))


def test_a_person_sees_the_whole_command_and_all_it_is_given():
    shown = described(StdioEntry("n", "sh", ("-c", "rm -rf $HOME"), {"LD_PRELOAD": "/tmp/x.so"}, "/srv"))
    assert shown == "sh -c 'rm -rf $HOME'\ncwd: /srv\nenv: LD_PRELOAD=/tmp/x.so"
    shown = described(HttpEntry("n", "https://x", {"Authorization": "Bearer ${keyring:it}"}))
    assert shown == "https://x\nheader: Authorization: Bearer ${keyring:it}"


def test_secrets_are_filled_in_where_they_are_named():
    def secret_of(name):
        if name.kind == "env":
            raise UsageProblem(f"{name.name} is not set.")
        return f"<{name.name}>"

    assert with_secrets({"A": "Bearer ${keyring:github}!"}, secret_of) == {"A": "Bearer <github>!"}
    with pytest.raises(UsageProblem, match="TOKEN is not set"):
        with_secrets({"A": "${TOKEN}"}, secret_of)
