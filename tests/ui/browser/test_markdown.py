"""Markdown of a model as HTML: what it looks like, and what it can never become."""

import re

import pytest

from ui.browser.markdown import MAX_COLOURED_CHARACTERS, answer_html, line_html, plain_html


def tags(html: str) -> set[str]:
    return set(re.findall(r"<([a-z][a-z0-9]*)", html))


def test_markdown_is_drawn() -> None:
    html = answer_html("# Tea\n**hot** *green*\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n~~old~~", "en")
    assert {"h1", "strong", "em", "ul", "li", "table", "th", "td", "s"} <= tags(html)


def test_a_single_line_end_is_kept() -> None:
    assert "<br" in answer_html("one\ntwo", "en")


def test_html_is_shown_as_text() -> None:
    html = answer_html('<img src=x onerror="a()"> <script>a()</script>\n\n<div>\nb\n</div>\n\n<!-- c -->', "en")
    assert tags(html) <= {"p", "br"}
    assert "&lt;script&gt;a()&lt;/script&gt;" in html and "&lt;!-- c --&gt;" in html


@pytest.mark.parametrize(("language", "words"), [("en", "image, not loaded"), ("zh", "图片，未加载")])
def test_F2_a_picture_is_named_with_its_address_and_never_loaded(language: str, words: str) -> None:
    html = answer_html('![a "cat"](http://evil.test/?d=1 "title") ![b][r]\n\n[r]: https://evil.test/b', language)
    assert tags(html) == {"p", "span"}
    assert f"[{words}" in html and "http://evil.test/?d=1" in html and "https://evil.test/b" in html


def test_a_link_says_where_it_leads_and_tells_no_one_where_it_was_clicked() -> None:
    html = answer_html("[my bank](https://evil.test/) <https://a.test/>", "en")
    assert '<span class="address">(https://evil.test/)</span>' in html
    assert html.count('target="_blank" rel="noopener noreferrer nofollow"') == 2
    assert "(https://a.test/)" not in html


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "/logout",
        "//evil.test/x",
        "login#ticket",
        "http:///x",
        "blob:x",
        "macaron:x",
    ],
)
def test_only_addresses_of_the_web_become_links(address: str) -> None:
    assert "<a " not in answer_html(f"[words](<{address}>)", "en")


def test_an_address_cannot_leave_its_attribute() -> None:
    html = answer_html('[x](<https://a.test/"onmouseover="a()>)', "en")
    assert re.fullmatch(r'<p><a href="[^"]*" target="_blank" rel="[^"]*">x</a> <span class="address">.*</p>\n', html)


def test_code_is_coloured_when_it_is_complete() -> None:
    code = "```python\nprint('<b>')\n```"
    assert '<span class="nb">print</span>' in answer_html(code, "en")
    growing = answer_html(code, "en", is_complete=False)
    assert '<span class="nb">' not in growing and "print(&#x27;&lt;b&gt;&#x27;)" in growing


@pytest.mark.parametrize("name", ["", "nonsense", '"><img src=x onerror=a()>', "python"])
def test_the_name_of_a_code_block_is_only_a_name(name: str) -> None:
    html = answer_html(f"```{name}\nx < 1\n```", "en")
    assert tags(html) <= {"div", "span", "button", "pre", "code"}


def test_very_long_code_is_not_coloured() -> None:
    assert "<span class=" not in answer_html(f"```python\n{'x = 1' * MAX_COLOURED_CHARACTERS}\n```", "en")


def test_a_fence_that_is_still_open_is_code_already() -> None:
    assert "<pre>" in answer_html("```python\nx = 1", "en", is_complete=False)


def test_control_characters_and_changes_of_direction_are_gone() -> None:
    hostile = "a\x1b[2Jb\u202ec\x00d"
    for html in (answer_html(hostile, "en"), plain_html(hostile), line_html(hostile)):
        assert "abcd" in html


def test_plain_text_keeps_its_lines_and_nothing_else() -> None:
    assert plain_html("<b>\n*x*") == "&lt;b&gt;\n*x*"
