"""The web is searched through the server that the user named, and only the query leaves."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from engine.errors import UsageProblem
from engine.harness.builtin.web.toolboxes import SearchToolbox


def results(*found):
    return json.dumps({"query": "tea", "results": list(found)})


@pytest.fixture
def toolbox(server) -> SearchToolbox:
    return SearchToolbox(server.url("/searxng"))


def test_without_a_server_nothing_is_offered(call):
    toolbox = SearchToolbox("")
    assert toolbox.specs() == ()
    assert "No search server" in toolbox.run(call("web_search", query="tea")).text


def test_the_query_and_where_it_goes_are_shown_before_it_leaves(server, toolbox, call):
    preview = toolbox.preview(call("web_search", query="绿茶 & tea", language="zh"))
    query, goes = preview.detail.split("\n\nGoes to ")
    assert query == "绿茶 & tea"
    assert goes.startswith(server.url("/searxng/search?"))
    assert parse_qs(urlsplit(goes).query)["q"] == ["绿茶 & tea"]
    assert server.asked == []


def test_what_leaves_is_what_was_shown(server, toolbox, call):
    server.answer("/searxng/search", results(), "application/json")
    searching = call("web_search", query="绿茶 & tea", page=2)
    shown = toolbox.preview(searching).detail.rpartition("Goes to ")[2]
    assert toolbox.run(searching).text == "Nothing was found for '绿茶 & tea'."
    assert [server.url(path) for path in server.asked] == [shown]


def test_what_is_found_is_listed_within_bounds_and_tainted(server, toolbox, call):
    found = [
        {"title": f"Tea {n}", "url": f"https://example.org/{n}", "content": "green\x1b[2J " * 500} for n in range(30)
    ]
    server.answer("/searxng/search", results(*found), "application/json")
    result = toolbox.run(call("web_search", query="tea"))
    assert result.is_tainted
    assert result.text.startswith("1. Tea 0\nhttps://example.org/0\ngreen[2J green")
    assert result.text.count("https://") == 10
    assert len(result.text) < 10_000
    assert "\x1b" not in result.text


def test_what_is_no_result_is_passed_over(server, toolbox, call):
    odd = [
        None,
        1,
        {"title": "x"},
        {"url": "javascript:alert(1)"},
        {"url": "file:///etc/passwd"},
        {"url": ["http://x"]},
    ]
    server.answer("/searxng/search", results(*odd, {"url": "https://example.org", "title": 3}), "application/json")
    assert toolbox.run(call("web_search", query="tea")).text == "1. (without title)\nhttps://example.org"


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        pytest.param("Forbidden", 403, "formats", id="without_json"),
        pytest.param("", 429, "too often", id="too_often"),
        pytest.param("", 500, "answered with 500", id="broken"),
        pytest.param("<html>", 200, "no JSON", id="html"),
        pytest.param("[" * 200_000, 200, "deep", id="deep"),
        pytest.param("[]", 200, "no results", id="a_list"),
        pytest.param('{"results": 3}', 200, "no results", id="a_number"),
        pytest.param(b"\xff", 200, "not UTF-8", id="no_text"),
        pytest.param("x" * (3 << 20), 200, "more than 2 MiB", id="endless"),
    ],
)
def test_an_answer_that_cannot_be_used_is_named_with_what_to_do(server, toolbox, call, body, status, said):
    server.answer("/searxng/search", body, "application/json", status)
    result = toolbox.run(call("web_search", query="tea"))
    assert result.is_error
    assert said in result.text


def test_E8_the_server_does_not_lead_on_elsewhere(server, toolbox, call):
    server.redirect("/searxng/search", "/other")
    assert "answered with 302" in toolbox.run(call("web_search", query="tea")).text
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_named(call):
    assert "could not be read" in SearchToolbox("http://127.0.0.1:9").run(call("web_search", query="tea")).text


@pytest.mark.parametrize(
    "address", ["searx", "file:///etc/passwd", "http://me:secret@127.0.0.1/", "http://x/?q=1", "ftp://x"]
)
def test_a_text_that_is_no_address_is_refused_when_it_is_set(address):
    with pytest.raises(UsageProblem):
        SearchToolbox(address)


@pytest.mark.parametrize("arguments", [{"query": ""}, {"query": "x" * 401}, {"query": "x", "language": "&q=y"}])
def test_wrong_arguments_leave_nothing(server, toolbox, call, arguments):
    assert toolbox.run(call("web_search", **arguments)).is_error
    assert server.asked == []
