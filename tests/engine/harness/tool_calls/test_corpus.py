"""Every labelled output of a model is read, checked and explained as its label says, however its text is cut."""

import json
from itertools import repeat

import pytest

from engine.harness.tool_calls import CallFault, ToolCall, check_call, fault_of_text
from tests.engine.harness.tool_calls.corpus import TOOLS, Output, cut, outputs, parsed

OUTPUTS = list(outputs())
EACH = pytest.mark.parametrize("output", OUTPUTS, ids=[output.output_id for output in OUTPUTS])


def labelled(item):
    if isinstance(item, str):
        return item
    return {"call": item.name, "arguments": json.loads(item.arguments)}


def calls_of(output: Output) -> list[ToolCall]:
    found, _ = parsed(output.style, [output.says], begins_in_thought=output.begins_in_thought)
    return [item for item in found if isinstance(item, ToolCall)]


def test_the_corpus_has_every_family_and_both_languages():
    assert len(OUTPUTS) >= 80 and len({output.output_id for output in OUTPUTS}) == len(OUTPUTS)
    for style in ("json", "xml", "bare"):
        of_style = [output for output in OUTPUTS if output.style == style]
        assert len(of_style) >= 20
        assert any(any("一" <= character <= "鿿" for character in output.says) for output in of_style)


@EACH
def test_an_output_is_read_as_labelled_however_it_is_cut(output):
    for step in (len(output.says), 5, 1):
        pieces = cut(output.says, repeat(step))
        found, _ = parsed(output.style, pieces, begins_in_thought=output.begins_in_thought)
        assert [labelled(item) for item in found] == list(output.expect), f"in pieces of {step}"


@EACH
def test_its_calls_run_or_are_explained_as_labelled(output):
    calls = calls_of(output)
    wanted = output.runs or [{"arguments": json.loads(call.arguments)} for call in calls]
    assert len(wanted) == len(calls)
    for call, expected in zip(calls, wanted, strict=True):
        checked = check_call(call, TOOLS)
        if "fault" in expected:
            assert isinstance(checked, CallFault) and checked.tool == call.name
            assert expected["fault"] in checked.text and "\n" not in checked.text
        else:
            assert isinstance(checked, ToolCall), checked
            assert json.dumps(json.loads(checked.arguments)) == json.dumps(expected["arguments"])


@EACH
def test_what_only_looks_like_a_call_is_explained_and_nothing_else_is(output):
    _, rejected = parsed(output.style, [output.says], begins_in_thought=output.begins_in_thought)
    assert bool(rejected) == bool(output.rejected)
    if rejected:
        fault = fault_of_text(rejected[0], TOOLS)
        assert output.rejected in fault.text and "\n" not in fault.text
