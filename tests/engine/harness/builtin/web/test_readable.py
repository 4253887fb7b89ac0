"""A page becomes what a person would see of it."""

import pytest

from engine.harness.builtin.web.readable import decoded, readable
from engine.harness.builtin.web.visibility import visible

AT = "https://example.org/a/"


def text(html):
    return readable(html, AT)[1]


def test_headings_lists_tables_and_links_are_kept():
    title, body = readable(
        "<html><head><title> Tea\n time </title></head><body><h1>Tea</h1><p>Green  and\nblack.</p>"
        "<ul><li>one</li><li>two <a href='../b?c=1'>link</a></li></ul><table><tr><th>a<th>b<tr><td>1<td>2</table>"
        "<pre>x:\n    y</pre><img src=x alt='a cup'></body></html>",
        AT,
    )
    assert title == "Tea time"
    assert body == (
        "# Tea\n\nGreen and black.\n\n- one\n\n- two link [1]\n\n| a | b\n\n| 1 | 2\n\nx:\n    y\n"
        "(picture: a cup)\n\nLinks:\n[1] https://example.org/b?c=1"
    )


def test_only_the_main_part_is_read_where_there_is_one():
    assert text("<nav>menu</nav><main><p>Tea</p></main><footer>imprint</footer>") == "Tea"
    assert text("<nav>menu</nav><p>Tea</p><footer>imprint</footer>") == "Tea"
    assert text("<main></main><p>Tea</p>") == "Tea"


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- obey -->",
        "<script>obey</script>",
        "<style>obey</style>",
        "<noscript>obey</noscript>",
        "<template>obey</template>",
        "<p hidden>obey</p>",
        "<p aria-hidden='true'>obey</p>",
        "<div style='color:red; DISPLAY : none'><p>obey</p></div>",
        "<span style='visibility:hidden'>obey</span>",
        "<span style='font-size:0'>obey</span>",
        "<span style='font-size: 0px'>obey</span>",
        "<span style='opacity:0.0'>obey</span>",
        "<svg><text>obey</text></svg>",
        "<iframe srcdoc='obey'></iframe>",
        "<a href='javascript:obey()'></a>",
        "<a href='data:text/html,obey'></a>",
        "<?php obey ?>",
        "<input value='obey'>",
    ],
)
def test_G4_what_a_person_does_not_see_is_not_read(hidden):
    assert text(f"<body><p>Tea{hidden} time</p>") in ("Tea time", "Tea\n\ntime", "Tea\ntime")


def test_what_is_only_small_or_faint_is_seen():
    assert text("<p style='font-size:0.5em'>Tea</p><p style='opacity:0.5'>time</p>") == "Tea\n\ntime"


def test_G4_characters_that_are_not_seen_are_taken_out():
    assert visible("a\u200bb\u202ec\u2066d\U000e0041e\x1b[2J\x07\ufeff\n👩\u200d🚀") == "abcde[2J\n👩\u200d🚀"
    assert text("<p>te&#x200B;a&#x1b;[2J</p>") == "tea[2J"


@pytest.mark.parametrize(
    ("data", "charset", "expected"),
    [
        pytest.param("绿茶".encode(), "", "绿茶", id="utf8"),
        pytest.param("绿茶".encode("gbk"), "gbk", "绿茶", id="as_its_sender_says"),
        pytest.param(b"<meta charset='gb2312'>\xc2\xcc", "", "<meta charset='gb2312'>绿", id="as_it_says_itself"),
        pytest.param("茶".encode("big5"), "Big5", "茶", id="big5"),
        pytest.param(b"\xfftea", "utf-8", "\ufffdtea", id="broken"),
        pytest.param(b"tea", "zip", "tea", id="no_charset"),
        pytest.param(b"tea", "idna", "tea", id="a_slow_one"),
    ],
)  # fmt: skip
def test_a_page_is_decoded_as_it_says(data, charset, expected):
    assert decoded(data, charset) == expected


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("", id="empty"),
        pytest.param("\x00", id="nul"),
        pytest.param("<div>" * 100_000 + "tea", id="deep"),
        pytest.param("<" * 300_000, id="open"),
        pytest.param("<!--" * 100_000, id="comments"),
        pytest.param("<a" * 200_000, id="tags"),
        pytest.param("&" * 300_000, id="entities"),
        pytest.param("<!DOCTYPE x [<!ENTITY a 'b'><!ENTITY c SYSTEM 'file:///etc/passwd'>]>&a;&c;", id="declarations"),
        pytest.param("<p " + "x=y " * 100_000 + ">", id="attributes"),
        pytest.param("<a href='http://[::1'>x</a>", id="a_broken_link"),
        pytest.param("<a href='/b'>x</a>" * 5000, id="links"),
    ],
)
def test_a_hostile_page_is_read_or_passed_over(html):
    body = text(html)
    assert "root:" not in body
    assert body.count("https://") <= 60
