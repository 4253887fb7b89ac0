"""E-8: which addresses are taken apart at all, and which numbers may be connected to."""

import ipaddress

import pytest

from engine.errors import UsageProblem
from engine.harness.builtin.web.addresses import refusal, target_of


@pytest.mark.parametrize(
    "number",
    [
        *(
            "127.0.0.1",
            "127.8.9.1",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
        ),
        *("100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *(
            "192.0.2.1",
            "198.51.100.7",
            "203.0.113.9",
            "192.88.99.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
        ),
        *("fec0::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::1", "::127.0.0.1"),
        *("::8.8.8.8", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::ffff:0:127.0.0.1", "100::1", "fe80::1%1"),
    ],
)
def test_E8_a_number_that_is_not_public_is_refused(number):
    assert refusal(ipaddress.ip_address(number))


@pytest.mark.parametrize("number", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_a_public_number_may_be_connected_to(number):
    assert refusal(ipaddress.ip_address(number)) == ""


@pytest.mark.parametrize(
    "address",
    [
        *(
            "file:///etc/passwd",
            "gopher://example.org/",
            "data:text/html,x",
            "ftp://example.org/",
            "javascript:alert(1)",
        ),
        *(
            "",
            "example.org",
            "//example.org",
            "http://",
            "http:///x",
            "http:example.org",
            "https://[::1",
            "http://[1]/",
        ),
        *("http://user@example.org/", "http://user:pass@example.org/", "http://example.org@127.0.0.1/"),
        *("http://@example.org/", "http://a@b@example.org/", "http://example.org\\@127.0.0.1/", "http:\\\\example.org"),
        *("http://127.1/", "http://0x7f.1/", "http://0x7f000001/", "http://2130706433/", "http://017700000001/"),
        *("http://0177.0.0.1/", "http://127.0.0.01/", "http://127.0.0.1.5/", "http://1.2.3/", "http://999.1.1.1/"),
        *("http://①②⑦.⓪.⓪.①/", "http://example.org%2f@127.0.0.1/", "http://127.0.0.1%00.example.org/"),
        *(
            "http://exa mple.org/",
            "http://example.org/\r\nHost: x",
            "http://example.org/\u202e",
            "http://example..org/",
        ),
        *("http://[fe80::1%25eth0]/", "http://[::ffff:1.2.3.4%1]/", "http://-.-/", "http://example.org:22/"),
        *("http://example.org:99999/", "http://example.org:0x50/", "http://example.org:-80/", "http://" + "a" * 2100),
        *(
            "http://example.org:0/",
            "http://" + "a." * 130 + "org/",
            "http://[::127.0.0.1:80]/",
            "http://例\u3002子\x00/",
        ),
    ],
)
def test_E8_an_address_in_an_unusual_form_is_refused(address):
    with pytest.raises(UsageProblem):
        target_of(address)


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        pytest.param("https://example.org/a?b=c@d#e", "example.org", 443, id="plain"),
        pytest.param("http://EXAMPLE.org.:8080/", "example.org", 8080, id="folded"),
        pytest.param("https://例子.测试/", "xn--fsqu00a.xn--0zwm56d", 443, id="chinese"),
        pytest.param("http://8.8.8.8/", "8.8.8.8", 80, id="number"),
        pytest.param("http://[2606:4700::1111]/", "2606:4700::1111", 80, id="ipv6"),
    ],
)
def test_an_address_is_taken_apart(address, host, port):
    target = target_of(address)
    assert (target.host, target.port) == (host, port)
    assert "#" not in str(target.url)
