"""What a model thought, which tools it called, and what it answered are told apart, in whatever pieces they arrive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.thinking import Part, PartStream, answer_text, split, word_count

CALL = '{"name": "weather", "arguments": {"city": "Oslo"}}'
XML_CALL = "<function=weather>\n<parameter=city>\nOslo\n</parameter>\n"


def thinking(text: str, is_closed: bool = True) -> Part:
    return Part("thinking", text, is_closed)


def answer(text: str) -> Part:
    return Part("answer", text)


CASES = {
    "an answer alone": ("Paris.", (answer("Paris."),)),
    "nothing": ("", ()),
    "a thought first": ("<think>\nFrance.\n</think>\n\nParis.", (thinking("\nFrance.\n"), answer("Paris."))),
    "another name of the tag": ("<thinking>a</thinking>b", (thinking("a"), answer("b"))),
    "an empty thought is nothing": ("<think>\n\n</think>\n\nParis.", (answer("Paris."),)),
    "a thought that never ends": ("<think>\nFrance", (thinking("\nFrance", is_closed=False),)),
    "a thought that began before the text": ("France.\n</think>\n\nParis.", (thinking("France.\n"), answer("Paris."))),
    "its end in mid-line": ("so it is 4.</think>4", (thinking("so it is 4."), answer("4"))),
    "two thoughts": (
        "<think>a</think>b\n<think>c</think>d",
        (thinking("a"), answer("b\n"), thinking("c"), answer("d")),
    ),
    "a stray end after a thought is text": ("<think>a</think>b </think> c", (thinking("a"), answer("b </think> c"))),
    "a tag in a block of code": (
        "Look:\n```\n<think>\nx</think>\n```\nDone.",
        (answer("Look:\n```\n<think>\nx</think>\n```\nDone."),),
    ),
    "a tag behind a backtick": ("End it with `</think>`.", (answer("End it with `</think>`."),)),
    "a tag in mid-line": ("The tag <think> opens it.", (answer("The tag <think> opens it."),)),
    "a call": (f"<tool_call>\n{CALL}\n</tool_call>", (Part("tool_call", f"\n{CALL}\n", True),)),
    "a call between answers": (
        f"Let me see.\n<tool_call>{CALL}</tool_call>\nRain.",
        (answer("Let me see.\n"), Part("tool_call", CALL, True), answer("Rain.")),
    ),
    "a call in the other format": (
        f"<tool_call>\n{XML_CALL}</function>\n</tool_call>",
        (Part("tool_call", f"\n{XML_CALL}</function>\n", True),),
    ),
    "a call without its frame": (f"{XML_CALL}</function>", (Part("tool_call", XML_CALL, True),)),
    "a tag inside a thought": ("<think>a <tool_call> b</think>c", (thinking("a <tool_call> b"), answer("c"))),
    "less-than signs": ("1 < 2 and <b> and a<", (answer("1 < 2 and <b> and a<"),)),
    "Chinese": ("<think>首都是巴黎。</think>巴黎。", (thinking("首都是巴黎。"), answer("巴黎。"))),
}


@pytest.mark.parametrize(("text", "parts"), CASES.values(), ids=CASES.keys())
def test_a_text_falls_into_its_parts(text: str, parts: tuple[Part, ...]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize("text", [text for text, _ in CASES.values()], ids=CASES.keys())
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_pieces_of_any_size_give_the_same_parts(text: str, size: int) -> None:
    stream = PartStream()
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    stream.finish()
    assert stream.parts == split(text)


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<function=f>",
        "</function>",
        "```",
        "`",
        "\n",
        "a",
        " ",
        "汉",
    ]
)


@given(st.lists(PIECES, max_size=12), st.data())
def test_any_text_in_any_pieces_gives_the_same_parts(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    stream = PartStream()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        stream.feed(text[start:end])
    stream.finish()
    assert stream.parts == split(text)


@given(st.text("<>/think`\n a", max_size=40))
def test_no_word_is_lost(text: str) -> None:
    kept = "".join(part.text for part in split(text))
    for tag in ("<thinking>", "</thinking>", "<think>", "</think>"):
        text, kept = text.replace(tag, ""), kept.replace(tag, "")
    assert "".join(kept.split()) == "".join(text.split())


def test_a_tag_is_never_shown_in_part_while_it_arrives() -> None:
    stream = PartStream()
    seen = []
    for character in "<think>why</think>Paris":
        stream.feed(character)
        seen.extend(part.text for part in stream.parts)
    assert not [text for text in seen if "<" in text or "think" in text]


def test_an_answer_is_shown_as_it_arrives() -> None:
    stream = PartStream()
    stream.feed("Paris is the cap")
    assert stream.parts == (answer("Paris is the cap"),)


@pytest.mark.parametrize(("text", "name"), [(CALL, "weather"), (XML_CALL, "weather"), ("{}", ""), ("<function=", "")])
def test_a_call_tells_the_name_of_its_tool(text: str, name: str) -> None:
    assert Part("tool_call", text).tool_name == name


def test_the_answer_alone_holds_neither_thoughts_nor_calls() -> None:
    text = f"<think>hm</think>Let me see.\n<tool_call>{CALL}</tool_call>\nRain."
    assert answer_text(text) == "Let me see.\n\nRain."
    assert answer_text("plain\n\ntext") == "plain\n\ntext"


@pytest.mark.parametrize(
    ("text", "count"),
    [("two words", 2), ("它有五个字。", 5), ("用Python 3写", 4), ("2024年", 2), ("", 0), ("it's", 1), ("a\nb", 2)],
)
def test_words_are_counted_in_both_languages(text: str, count: int) -> None:
    assert word_count(text) == count
