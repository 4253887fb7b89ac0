"""Whatever a model writes: nothing crashes, no cut changes the result, nothing is invented, time stays in bounds."""

import json
import random
import sys
from collections.abc import Iterator
from itertools import repeat

import pytest

from engine.harness.tool_calls import CallFault, Repair, ToolCall, after_faults, check_call, fault_of_text
from tests.engine.harness.tool_calls.corpus import TOOLS, Output, cut, outputs, parsed

MUTATIONS = 10_000
PARTS = 10
NAMES = {tool.name for tool in TOOLS}
SCRAPS = (
    *("<tool_call>", "</tool_call>", "<tool_calls>", "<function=get_time>", "<function=", "</function>"),
    *("<parameter=city>", "</parameter>", "<|python_tag|>", "[TOOL_CALLS]", "[ARGS]", "<think>", "</think>"),
    *("```", "```json\n", "\n```\n", "`", "~~~\n", "\n> ", "{", "}", "[", "]", "(", ")", '"', "'", '"""', "“", "”"),
    *(",", ":", "\\", "\\u", "\\ud800", "\n", "\n\n", " ", "\t", "\r\n", "\u2028", "\x00", "İ", "K", "你好", "😀"),
    *("True", "None", "NaN", "1e999", "-", "get_weather", "get_time(", '{"name": "get_time"}', "\ud800"),
)
OUTPUTS = list(outputs())


def mutated(chance: random.Random) -> tuple[Output, str]:
    """An output of the corpus and its text with one to four things done to it."""
    output = chance.choice(OUTPUTS)
    text = output.says
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((1, 1, 2, 5, 20, 80)))
        match chance.randrange(7):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:start] + chance.choice(SCRAPS) + text[start:]
            case 2:
                text = text[:start] + chance.choice(SCRAPS) + text[end:]
            case 3:
                text = text[:end] + text[start:]
            case 4:
                text = text[:start]
            case 5:
                text = text[:start] + text[start:end].swapcase() + text[end:]
            case 6:
                text = text[:start] + chance.choice(OUTPUTS).says[-end:] + text[start:]
    return output, text


def random_lengths(chance: random.Random) -> Iterator[int]:
    while True:
        yield chance.choice((1, 1, 2, 3, 4, 7, 30))


def is_within(part: str, whole: str) -> bool:
    """Whether all characters of `part` stand in `whole` in this order."""
    rest = iter(whole)
    return all(character in rest for character in part)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_mutated_output_is_read_the_same_whole_and_in_pieces_and_invents_nothing(part):
    chance = random.Random(f"tool calls {part}")
    called = 0
    for _ in range(MUTATIONS // PARTS):
        output, text = mutated(chance)
        in_thought = output.begins_in_thought
        found, rejected = parsed(output.style, [text], begins_in_thought=in_thought)
        pieces = cut(text, random_lengths(chance))
        assert parsed(output.style, pieces, begins_in_thought=in_thought) == (found, rejected), text
        texts = [item for item in found if isinstance(item, str)]
        calls = [item for item in found if isinstance(item, ToolCall)]
        assert is_within("".join(texts), text), text
        if not calls and text.strip():
            assert "".join(texts).split() == text.split() or "</" in text or "<|/" in text, text
        faults = [fault_of_text(one, TOOLS) for one in rejected]
        for call in calls:
            assert call.name in NAMES and isinstance(json.loads(call.arguments), dict)
            checked = check_call(call, TOOLS)
            if isinstance(checked, CallFault):
                faults.append(checked)
            else:
                json.loads(checked.arguments)
        for fault in faults:
            assert "\n" not in fault.text and len(fault.text) < 2_000
        if faults:
            assert isinstance(after_faults(faults, 0), Repair)
        called += bool(calls)
    assert called > MUTATIONS // PARTS // 8  # many still hold a call: the mutations do not just break everything


HOSTILE = (
    "<tool_call>",
    '<tool_call>{"',
    "<tool_call>{",
    '<tool_call>{"name": "get_time", "arguments": {"a": "',
    "<tool_call>[",
    "<tool_call>{}",
    "<tool_call>get_time(",
    '<tool_call>{"name": "get_time"}',
    "<tool_call><function=get_weather>",
    "<function=get_weather>",
    "<function=get_weather></function>",
    "<tool_call><function=get_weather><parameter=city>",
    "</parameter> ",
    "</function>     ",
    "<tool_call>\n```json\n",
    "\n```tool_code\n{",
    "```json\n{\n",
    '{"name": ',
    '\n{"name": "get_time", "arguments": {',
    "[[[[",
    "<|python_tag|>{'",
    "<think><tool_call>{}</tool_call></think>",
    "<think>",
    "`\n",
    "<",
    " ",
    "\\",
    "“",
)


def steps_of(style: str, text: str) -> int:
    """Functions called and left while `text` is read, Python's and those in C: the same in every run."""
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        parsed(style, [text])
    finally:
        sys.setprofile(before)
    return steps


@pytest.mark.parametrize("part", HOSTILE, ids=[f"{number:02}" for number in range(len(HOSTILE))])
def test_work_grows_with_the_length_alone(part):
    begun = '<tool_call>{"name": "get_weather", "arguments": {"city": "'
    within_xml = "<tool_call><function=get_weather>\n<parameter=city>"
    for style, beginning in (("bare", ""), ("json", begun), ("xml", within_xml)):
        short, long = (steps_of(style, beginning + (part * length)[:length]) for length in (400, 1_600))
        assert long < 7 * short, f"{style}, after {beginning!r}"


def test_a_long_value_takes_memory_and_time_of_its_own_length():
    for begun, ended in (
        ("<tool_call><function=write_file>\n<parameter=content>\n", "\n</parameter>\n</function>\n</tool_call>"),
        ("<tool_call>{'name': 'write_file', 'arguments': {'content': '", "'}}</tool_call>"),
    ):
        value = "x </function> y\\n" * 10_000 if "<function" in begun else "x } y ] " * 20_000
        (call,), rejected = parsed("xml", cut(begun + value + ended, repeat(4)))
        assert isinstance(call, ToolCall) and len(json.loads(call.arguments)["content"]) == len(value)
        assert rejected == []
