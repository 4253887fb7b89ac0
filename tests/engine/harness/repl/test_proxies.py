"""Tools as functions of the namespace: what a call carries, what comes back, and how many there may be."""

import json
import threading
import time
from collections.abc import Callable

import pytest

from engine.errors import ScoringStopped, UsageProblem
from engine.harness.repl.session import Repl
from engine.harness.repl.values import CallBudget, Limits
from engine.harness.tools.values import ToolResult
from tests.engine.harness.repl.conftest import Tools, spec

ADD = spec("add", "a", "b")


def arguments_of(tools: Tools) -> list[object]:
    return [json.loads(call.arguments) for call in tools.calls]


def raising(problem: BaseException) -> Callable[[object], ToolResult]:
    def answer(call: object) -> ToolResult:
        raise problem

    return answer


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("add(a=1, b=[2])", id="by its bare name"),
        pytest.param("tools.add(a=1, b=[2])", id="by tools.name"),
        pytest.param("tools['add'](a=1, b=[2])", id="by tools[name]"),
        pytest.param("add(1, [2])", id="in the order of its schema"),
        pytest.param("add(1, b=[2])", id="partly by name"),
    ],
)
def test_a_tool_is_called_like_a_function_and_answers_with_its_text(shared: Repl, call: str):
    tools = Tools({"add": "three"}, [ADD])
    result = shared.run(call, tools.outside())
    assert (result.value, result.calls) == ("'three'", 1)
    assert arguments_of(tools) == [{"a": 1, "b": [2]}]


def test_one_block_chains_calls_that_depend_on_each_other(shared: Repl):
    known = {"capital": {"Norway": "Oslo"}, "weather": {"Oslo": "rain"}, "advice": {"rain": "an umbrella"}}
    tools = Tools(
        {
            name: lambda call, table=table: ToolResult(table[json.loads(call.arguments)["of"]])
            for name, table in known.items()
        }
    )
    result = shared.run("town = capital(of='Norway')\nsky = weather(of=town)\nadvice(of=sky)", tools.outside())
    assert (result.value, result.calls) == ("'an umbrella'", 3)


def test_what_a_tool_refuses_is_an_exception_that_a_block_may_catch(shared: Repl):
    tools = Tools({"add": ToolResult("no such file", is_error=True)})
    result = shared.run(
        "try:\n    add()\nexcept ToolError as problem:\n    words = str(problem)\nwords", tools.outside()
    )
    assert result.value == "'no such file'"
    uncaught = shared.run("add()", tools.outside())
    assert uncaught.ending == "raised"
    assert uncaught.error.splitlines()[-1] == "ToolError: no such file"
    assert "<string>" not in uncaught.error


def test_an_error_of_ours_reaches_the_block_with_its_hint(shared: Repl):
    tools = Tools({"add": raising(UsageProblem("The folder is not granted.", "Grant it."))})
    assert shared.run("add()", tools.outside()).error.endswith("ToolError: The folder is not granted. Grant it.")


def test_E6_a_call_that_is_denied_fails_at_once_and_waits_for_nobody(shared: Repl):
    tools = Tools({"add": ToolResult("denied: nobody is here to ask", is_error=True)})
    begun = time.monotonic()
    assert "denied" in shared.run("add()", tools.outside()).error
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param("add(1, 2, 3)", "takes 2 arguments: a, b", id="too many"),
        pytest.param("add(1, a=2)", "two values for a", id="twice"),
        pytest.param("add(a={1, 2})", "not JSON serializable", id="no JSON"),
        pytest.param("tools.multiply(1)", "there is no tool 'multiply'; there are: add", id="unknown"),
        pytest.param("add(a='x' * 2_000_000)", "", id="too long for a frame"),
    ],
)
def test_a_wrong_call_reaches_no_tool(repl: Repl, code: str, words: str):
    tools = Tools({"add": "3"}, [ADD])
    result = repl.run(code, tools.outside())
    assert result.ending in ("raised", "lost") and words in result.error + result.why
    assert tools.calls == []


def test_each_says_what_it_is(shared: Repl):
    result = shared.run("(add.__doc__, add.__name__, list(tools), repr(tools))", Tools({}, [ADD]).outside())
    assert result.value == "('add(a, b)\\n\\nadd.', 'add', ['add'], '<tools: add>')"


def test_a_tool_whose_name_is_no_python_name_or_means_something_is_called_through_tools(shared: Repl):
    tools = Tools({"web-search": "1", "print": "2", "class": "3"})
    result = shared.run("print('as ever')\n[tools[name]() for name in tools]", tools.outside())
    assert (result.output, result.value) == ("as ever\n", "['1', '2', '3']")


def test_tools_come_and_go_between_blocks(repl: Repl):
    repl.run("add", Tools({"add": "3"}).outside())
    assert "NameError" in repl.run("add").error
    assert "there are: none" in repl.run("tools.add").error


def test_what_a_block_calls_by_the_name_of_a_tool_stays_its_own(repl: Repl):
    outside = Tools({"add": "3"}).outside()
    repl.run("add = 'mine'", outside)
    assert repl.run("(add, tools.add())", outside).value == "('mine', '3')"


def test_the_time_a_tool_takes_is_not_that_of_the_block(hasty: Repl):
    def slow(call: object) -> ToolResult:
        time.sleep(1.5)
        return ToolResult("done")

    assert hasty.run("add()", Tools({"add": slow}).outside()).value == "'done'"


def test_a_stop_while_a_tool_runs_ends_the_block_and_keeps_the_namespace(repl: Repl):
    stop = threading.Event()

    def stopping(call: object) -> ToolResult:
        stop.set()
        raise ScoringStopped("Stopped.", "Ask again.")

    repl.run("kept = 1")
    result = repl.run(
        "try:\n    add()\nexcept ToolError: pass\nwhile True: pass", Tools({"add": stopping}).outside(stop=stop)
    )
    assert (result.ending, result.was_stopped) == ("interrupted", True)
    assert repl.run("kept").value == "1"


def test_a_fault_of_ours_in_a_tool_passes_on_and_leaves_nothing_half_done(repl: Repl):
    repl.run("kept = 1")
    with pytest.raises(ZeroDivisionError):
        repl.run("add()", Tools({"add": raising(ZeroDivisionError())}).outside())
    assert not repl.is_running
    assert repl.run("1").value == "1"


def test_a_result_that_is_too_long_is_an_error(shared: Repl):
    result = shared.run("add()", Tools({"add": "x" * 300_000}).outside())
    assert "too long: 300000 characters" in result.error


def test_any_text_comes_back_as_it_was(shared: Repl):
    text = '咖啡 \u202e \x1b[0m \u2028 <|im_end|> "quoted" \\ \n end \U0001f375'
    result = shared.run(f"add() == {text!r}", Tools({"add": text}).outside())
    assert result.value == "True"


def test_threads_of_a_block_may_call_tools_too(shared: Repl):
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n    found = list(pool.map(lambda n: add(a=n), range(12)))\nfound"
    )
    tools = Tools({"add": lambda call: ToolResult(str(json.loads(call.arguments)["a"] ** 2))})
    assert shared.run(code, tools.outside()).value == str([str(n**2) for n in range(12)])


def test_a_thread_that_outlives_its_block_calls_nothing(repl: Repl):
    code = (
        "import threading, time\nwords, call = [], add\ndef later():\n    time.sleep(0.3)\n"
        "    try: call()\n    except ToolError as problem: words.append(str(problem))\n"
        "threading.Thread(target=later, daemon=True).start()"
    )
    tools = Tools({"add": "3"})
    repl.run(code, tools.outside())
    result = repl.run("while not words: time.sleep(0.01)\nwords")
    assert result.ending == "finished" and "tool" in (result.value or "")
    assert tools.calls == []


# The budget


def test_E11_a_proxy_called_in_a_loop_is_refused_after_the_budget_of_the_block(new_repl: Callable[..., Repl]):
    repl = new_repl(Limits(calls=3))
    tools = Tools({"add": "3"})
    code = "done = 0\ntry:\n    while True:\n        add()\n        done += 1\nexcept ToolError as e: print(e)\ndone"
    result = repl.run(code, tools.outside())
    assert (result.value, len(tools.calls)) == ("3", 3)
    assert "all 3 calls of this block are used up" in result.output
    assert repl.run(code, tools.outside()).value == "3", "the next block has calls of its own"


def test_E11_a_loop_that_ignores_the_refusals_is_ended(new_repl: Callable[..., Repl]):
    repl = new_repl(Limits(calls=3, grace_s=0.4))
    tools = Tools({"add": "3"})
    result = repl.run("while True:\n    try: add()\n    except ToolError: pass", tools.outside())
    assert (result.ending, len(tools.calls)) == ("interrupted", 3)
    assert "went on calling tools" in result.why


def test_E11_tools_that_run_blocks_draw_on_the_same_budget_so_recursion_ends(new_repl: Callable[..., Repl]):
    budget, depth = CallBudget(4), []

    def again(call: object) -> ToolResult:
        depth.append(1)
        result = new_repl().run("again()", tools.outside(budget=budget))
        return ToolResult(result.error or "fine", is_error=result.ending != "finished")

    tools = Tools({"again": again})
    result = new_repl().run("again()", tools.outside(budget=budget))
    assert len(depth) == budget.used == 4
    assert "used up" in result.error
