"""Where a download may be led and who sees the token."""

import pytest

from app.models.redirects import RedirectRefused, check_endpoint, headers_for, next_address
from app.models.transfer import DownloadFailed, Fault, asked_wait_s, judge
from engine.errors import UsageProblem

HUB = "https://hub.example"
FILE = f"{HUB}/owner/model/resolve/main/file.gguf"


def public(host: str) -> list[str]:
    return ["93.184.216.34", "2606:2800:220:1::"]


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/owner/new/resolve/main/file.gguf", f"{HUB}/owner/new/resolve/main/file.gguf"),
        ("https://files.example/a?signature=b", "https://files.example/a?signature=b"),
        ("//files.example/a", "https://files.example/a"),
        ("https://8.8.8.8/a", "https://8.8.8.8/a"),
    ],
)
def test_C5_a_hub_may_lead_within_itself_and_to_public_hosts_over_https(location: str, target: str):
    assert next_address(FILE, location, HUB, public) == target


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.9", "169.254.169.254", "::1", "fd00::1", "0.0.0.0"]
)
def test_C5_a_name_that_stands_for_a_private_address_is_refused(address: str):
    with pytest.raises(RedirectRefused, match="own network"):
        next_address(FILE, "https://files.example/a", HUB, lambda host: ["93.184.216.34", address])


def test_a_name_that_a_proxy_stands_in_for_is_allowed():
    target = "https://files.example/a"
    assert next_address(FILE, target, HUB, lambda host: ["198.18.0.7"]) == target
    with pytest.raises(RedirectRefused):
        next_address(FILE, "https://198.18.0.7/a", HUB, None)


def test_the_token_goes_to_the_hub_alone_and_never_in_the_clear():
    assert headers_for(FILE, HUB, "secret") == {"Authorization": "Bearer secret"}
    for other in ("https://files.example/a", "http://hub.example/a", "https://hub.example:8443/a"):
        assert headers_for(other, HUB, "secret") == {}
    assert headers_for("http://192.168.1.9/a", "http://192.168.1.9", "secret") == {}
    assert headers_for("http://127.0.0.1:9/a", "http://127.0.0.1:9", "secret") != {}
    assert headers_for(FILE, HUB, None) == {}


@pytest.mark.parametrize(
    "url", ["https://mirror.example/", "http://127.0.0.1:8000", "http://192.168.1.9", "http://nas"]
)
def test_a_mirror_is_https_or_on_the_own_network(url: str):
    assert check_endpoint(f" {url} ") == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    ["http://mirror.example", "mirror.example", "ftp://mirror.example", "https://u:p@mirror.example", "https://", "https://m.example?a=1"],
)  # fmt: skip
def test_an_address_that_can_be_no_hub_is_refused_without_its_password(url: str):
    with pytest.raises(UsageProblem) as caught:
        check_endpoint(url)
    assert "u:p" not in caught.value.problem


def test_a_whole_answer_and_a_right_range_are_taken():
    assert judge(206, {"content-range": "bytes 10-19/100", "content-length": "10"}, 10, 19, 100) == (10, 10)
    assert judge(200, {"content-length": "100"}, 10, 19, 100) == (0, 100)
    assert judge(200, {}, 10, 19, 100) == (0, 100)


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        pytest.param(206, {}, id="no range"),
        pytest.param(206, {"content-range": "bytes 0-9/100"}, id="other range"),
        pytest.param(206, {"content-range": "bytes 10-19/101"}, id="other total"),
        pytest.param(206, {"content-range": "bytes 10-19/*"}, id="unknown total"),
        pytest.param(206, {"content-range": "bytes 10-19/100", "content-length": "9"}, id="other length"),
        pytest.param(200, {"content-length": "99"}, id="other whole length"),
        pytest.param(200, {"content-encoding": "gzip"}, id="encoded"),
        pytest.param(503, {}, id="503"),
    ],
)
def test_C5_an_answer_that_does_not_match_is_tried_again(status: int, headers: dict[str, str]):
    with pytest.raises(Fault):
        judge(status, headers, 10, 19, 100)


@pytest.mark.parametrize("status", [204, 304, 400, 401, 403, 404, 410, 416])
def test_an_answer_that_will_not_change_ends_the_download(status: int):
    with pytest.raises(DownloadFailed):
        judge(status, {}, 10, 19, 100)


def test_a_hub_may_ask_for_time_in_seconds_or_until_a_date():
    assert asked_wait_s("120", 0) == 120
    assert asked_wait_s("Thu, 01 Jan 1970 00:01:00 GMT", 20) == 40
    assert asked_wait_s("Thu, 01 Jan 1970 00:01:00 GMT", 90) == 0
    assert asked_wait_s("", 0) is None and asked_wait_s("soon", 0) is None
