"""A process that lies on the wire: it is not believed, it is ended, and the next block finds a new one."""

import time

import pytest

from engine.harness.repl.session import Repl
from engine.harness.repl.values import Limits
from tests.engine.harness.repl.conftest import Tools

WIRE = """
import json, os, struct, time
session = save_tool.__self__
end, run_id = session._wire._write_end, session._run_id
def raw(data):
    while data: data = data[os.write(end, data):]
def say(**fields):
    body = json.dumps(fields).encode()
    raw(struct.pack(">I", len(body)) + body)
"""


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param("raw(b'hello, this is no frame at all')", id="no frame"),
        pytest.param("raw(struct.pack('>I', 2**32 - 1))", id="four gigabytes announced"),
        pytest.param("raw(struct.pack('>I', 5) + b'{{{{{')", id="no JSON"),
        pytest.param("raw(struct.pack('>I', 400_000) + b'[' * 400_000)", id="deep JSON"),
        pytest.param("say(kind='ready')", id="ready again"),
        pytest.param("say(kind='eval', code='1')", id="an unknown kind"),
        pytest.param("say(kind='done')", id="missing fields"),
        pytest.param("say(kind='done', run_id='0' * 16, value='1', error=None)", id="the end of another block"),
        pytest.param("say(kind='call', run_id='', name='add', arguments='{}')", id="a call of no block"),
        pytest.param("say(kind='call', run_id=run_id, name=7, arguments='{}')", id="a number as name"),
        pytest.param("os.close(end)", id="a closed pipe"),
        pytest.param(
            "os.close(session._wire._read_end)\nsay(kind='call', run_id=run_id, name='add', arguments='{}')",
            id="deaf",
        ),
    ],
)
def test_what_breaks_the_rules_ends_the_process(repl: Repl, lie: str):
    tools = Tools({"add": "3"})
    repl.run("kept = 1")
    result = repl.run(f"{WIRE}{lie}\ntime.sleep(60)", tools.outside())
    assert result.ending == "lost"
    assert "breaks the rules" in result.why or "did not heed" in result.why
    assert "NameError" in repl.run("kept").error


def test_a_frame_that_never_ends_runs_into_the_limit_of_time(hasty: Repl):
    begun = time.monotonic()
    code = f"{WIRE}raw(struct.pack('>I', 1000))\nwhile True:\n    raw(b' ')\n    time.sleep(0.3)"
    assert hasty.run(code).ending in ("lost", "interrupted")
    assert time.monotonic() - begun < 10


def test_an_end_that_is_told_early_is_only_the_end_of_its_own_block(repl: Repl):
    first = repl.run(f"{WIRE}say(kind='done', run_id=run_id, value='a lie', error=None)\ntime.sleep(0.2)")
    assert (first.ending, first.value) == ("finished", "a lie")
    second = repl.run("'the truth'")
    assert second.ending == "lost", "its end could have been told by the one before"
    assert repl.run("'the truth'").value == "'the truth'"


def test_the_end_of_the_next_block_cannot_be_told_in_advance(repl: Repl):
    guesses = "for _ in range(50): say(kind='done', run_id=os.urandom(8).hex(), value='a lie', error=None)"
    code = f"{WIRE}say(kind='done', run_id=run_id, value=None, error=None)\n{guesses}"
    repl.run(code)
    result = repl.run("'the truth'")
    assert result.value != "a lie"


def test_a_value_as_large_as_a_frame_may_be_is_cut(repl: Repl):
    result = repl.run(f"{WIRE}say(kind='done', run_id=run_id, value='v' * 1_000_000, error=None)\ntime.sleep(1)")
    assert result.value is not None and len(result.value) < 7_000


def test_a_flood_of_calls_whose_answers_are_not_read_ends_the_process(repl: Repl):
    tools = Tools({"add": "3"})
    body = "json.dumps({'kind': 'call', 'run_id': run_id, 'name': 'add', 'arguments': '{}'}).encode()"
    code = f"{WIRE}body = {body}\nraw((struct.pack('>I', len(body)) + body) * 500)\ntime.sleep(60)"
    result = repl.run(code, tools.outside())
    assert result.ending == "lost"
    assert "without reading the answer" in result.why
    assert len(tools.calls) == result.calls < 5


def test_calls_that_come_one_by_one_for_ever_end_with_the_budget(repl: Repl):
    tools = Tools({"add": "3"})
    code = f"{WIRE}while True: say(kind='call', run_id=run_id, name='add', arguments='{{}}')"
    result = repl.run(code, tools.outside())
    # A second call may come before the answer to the first was taken, or after it: that is the machine's to say.
    assert result.ending in ("lost", "interrupted")
    assert len(tools.calls) == result.calls <= Limits().calls


def test_a_call_of_a_tool_that_was_not_offered_is_left_to_the_one_who_permits(repl: Repl):
    seen = []
    tools = Tools({"add": "3"})
    outside = tools.outside()
    code = f"{WIRE}say(kind='call', run_id=run_id, name='secret_tool', arguments='not JSON')\nsession._wire.receive()"
    result = repl.run(
        code, type(outside)((), lambda call: seen.append(call) or tools.answer(call.__class__("add", "{}")))
    )
    assert [(call.name, call.arguments) for call in seen] == [("secret_tool", "not JSON")]
    assert "'text': '3'" in (result.value or "")


@pytest.mark.parametrize("words", ["say(kind='save', run_id=run_id, name='f', block=10**9, line=1, example='f()')"])
def test_a_function_that_no_block_defined_is_not_saved(repl: Repl, words: str):
    result = repl.run(f"{WIRE}{words}\nsession._wire.receive()")
    assert result.saved == ()
    assert "'is_error': True" in (result.value or "")


def test_limits_hold_though_the_child_forgets_its_own(hasty: Repl):
    result = hasty.run("session = save_tool.__self__\nsession._is_running = False\nwhile True: pass")
    assert result.ending == "lost"
