"""The tool `python`: a namespace for each conversation, and what a person is shown before a block runs."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from engine.errors import ScoringStopped, UsageProblem
from engine.harness.repl.session import Repl
from engine.harness.repl.toolbox import ReplToolbox, code_of, has_hidden_characters
from engine.harness.repl.values import Limits, SavedTool
from engine.harness.schema_reading import read_schema
from engine.harness.tool_calls import ToolCall
from engine.harness.tools.values import Invocation, ToolResult, ToolSpec
from engine.runtime.protocol import NEVER, Stop
from tests.engine.harness.repl.conftest import PATIENT, spec


def python(code: str, conversation_id: str = "c1", stop: Stop = NEVER) -> Invocation:
    return Invocation(ToolCall("python", json.dumps({"code": code})), conversation_id, "t1", stop)


@dataclass
class Harness:
    """What stands around the toolbox: tools, their answers, and what was proposed."""

    specs: list[ToolSpec] = field(default_factory=lambda: [spec("add", "a"), spec("web", "q"), spec("python", "code")])
    call: Callable[[Invocation], ToolResult] = lambda invocation: ToolResult("5", is_tainted=False)
    calls: list[Invocation] = field(default_factory=list)
    proposed: list[tuple[Invocation, SavedTool, bool]] = field(default_factory=list)

    def toolbox(self, limits: Limits = PATIENT, **changes: object) -> ReplToolbox:
        def call(invocation: Invocation) -> ToolResult:
            self.calls.append(invocation)
            return self.call(invocation)

        return ReplToolbox(
            lambda invocation: self.specs, call, lambda *given: self.proposed.append(given), limits=limits, **changes
        )


@pytest.fixture
def harness(sandboxed: None) -> Harness:
    return Harness()


@pytest.fixture
def toolbox(harness: Harness) -> Iterator[ReplToolbox]:
    toolbox = harness.toolbox(most_open=2)
    yield toolbox
    toolbox.close()


def test_it_offers_one_tool_whose_schema_can_be_enforced():
    (offered,) = Harness().toolbox().specs()
    assert (offered.tool.name, offered.reach, offered.changes, offered.source) == ("python", "program", False, "")
    read_schema(offered.tool.parameters)


def test_a_conversation_keeps_its_namespace_and_shares_it_with_no_other(toolbox: ReplToolbox):
    toolbox.run(python("x = 1"))
    assert toolbox.run(python("x + 1")) == ToolResult("value: 2", is_error=False, is_tainted=False)
    other = toolbox.run(python("x", "c2"))
    assert other.is_error and "NameError" in other.text


def test_what_is_printed_the_value_and_the_error_are_told_in_this_order(toolbox: ReplToolbox):
    assert toolbox.run(python("print('hello')\n1")).text == "hello\nvalue: 1"
    assert toolbox.run(python("x = 1")).text == "(nothing was printed, and there is no value)"
    failed = toolbox.run(python("print('hello')\n1 / 0"))
    assert failed.is_error
    assert failed.text.startswith("hello\nTraceback") and failed.text.endswith("ZeroDivisionError: division by zero")


def test_tools_are_called_on_behalf_of_the_same_turn(harness: Harness, toolbox: ReplToolbox):
    assert toolbox.run(python("add(a=1)")).text == "value: '5'"
    (made,) = harness.calls
    assert made == Invocation(ToolCall("add", '{"a": 1}'), "c1", "t1", NEVER)


def test_a_block_cannot_run_another_block(harness: Harness, toolbox: ReplToolbox):
    assert "there is no tool 'python'" in toolbox.run(python("tools.python(code='1')")).text
    sly = "save_tool.__self__._ask({'kind': 'call', 'name': 'python', 'arguments': '{}'})"
    assert "a block cannot run another block" in toolbox.run(python(sly)).text
    assert harness.calls == []
    harness.call = lambda invocation: toolbox.run(python("1"))
    assert "A block cannot run another block" in toolbox.run(python("add(a=1)")).text


def test_a_tool_that_runs_blocks_finds_the_budget_of_the_block_that_called_it(harness: Harness, toolbox: ReplToolbox):
    budgets = []

    def call(invocation: Invocation) -> ToolResult:
        budgets.append(toolbox.budget_of(invocation.conversation_id))
        return ToolResult("5")

    harness.call = call
    toolbox.run(python("add(a=1)\nadd(a=2)"))
    assert budgets[0] is budgets[1] and budgets[0].used == 2
    assert toolbox.budget_of("c1") is None and toolbox.budget_of("unknown") is None


def test_text_of_others_taints_the_namespace_until_it_is_empty_again(harness: Harness, toolbox: ReplToolbox):
    harness.call = lambda invocation: ToolResult("page", is_tainted=invocation.call.name == "web")
    assert not toolbox.run(python("kept = add(a=1)")).is_tainted
    assert toolbox.run(python("kept = web(q='x')")).is_tainted
    assert toolbox.run(python("1 + 1")).is_tainted
    assert toolbox.run(python("import os\nos._exit(0)")).is_tainted
    assert not toolbox.run(python("1 + 1")).is_tainted


def test_a_saved_function_is_proposed_with_the_turn_and_the_taint_it_came_from(harness: Harness, toolbox: ReplToolbox):
    define = "def double(x: int) -> int:\n    'Twice.'\n    return 2 * x\n"
    result = toolbox.run(python(f"{define}save_tool(double, 'double(2) == 4')"))
    assert "Saved as a tool of this conversation: double" in result.text
    ((invocation, tool, is_tainted),) = harness.proposed
    assert (invocation.turn_id, tool.name, is_tainted) == ("t1", "double", False)
    harness.call = lambda invocation: ToolResult("page")
    toolbox.run(python("web(q='x')\nsave_tool(double, 'double(2) == 4')"))
    assert [tainted for _, _, tainted in harness.proposed] == [False, True]


def test_a_stop_ends_the_turn_and_keeps_the_namespace(toolbox: ReplToolbox):
    toolbox.run(python("x = 1"))
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(ScoringStopped):
        toolbox.run(python("while True: pass", stop=stop))
    assert toolbox.run(python("x")).text == "value: 1"


def test_a_stop_ends_the_wait_for_another_block_too(toolbox: ReplToolbox):
    stop, begun = threading.Event(), time.monotonic()
    first = threading.Thread(target=lambda: toolbox.run(python("import time\ntime.sleep(0.9)")))
    first.start()
    while toolbox.budget_of("c1") is None and time.monotonic() - begun < 10:
        time.sleep(0.01)
    stop.set()
    with pytest.raises(ScoringStopped, match="before Python ran"):
        toolbox.run(python("1", stop=stop))
    first.join()


def test_one_conversation_does_not_wait_for_another(toolbox: ReplToolbox):
    toolbox.run(python("import time"))
    toolbox.run(python("1", "c2"))
    first = threading.Thread(target=lambda: toolbox.run(python("time.sleep(0.8)")))
    first.start()
    assert toolbox.run(python("2", "c2")).text == "value: 2"
    assert first.is_alive()
    first.join()


def test_the_namespace_unused_for_longest_gives_way_and_its_conversation_is_told(toolbox: ReplToolbox):
    for name in ("c1", "c2", "c1", "c3"):
        toolbox.run(python("x = 1", name))
    assert toolbox.run(python("x", "c1")).text == "value: 1"
    gone = toolbox.run(python("x", "c2"))
    assert gone.text.endswith("This block began in an empty namespace: nothing of earlier blocks is left.")


def test_a_forgotten_conversation_leaves_nothing(toolbox: ReplToolbox):
    toolbox.run(python("x = 1"))
    toolbox.forget("c1")
    toolbox.forget("c1")
    assert "NameError" in toolbox.run(python("x")).text


def test_one_that_is_forgotten_while_its_block_runs_leaves_nothing_either(harness: Harness):
    made: list[Repl] = []

    def new_repl(limits: Limits) -> Repl:
        made.append(Repl(limits))
        return made[-1]

    toolbox = harness.toolbox(new_repl=new_repl)
    first = threading.Thread(target=lambda: toolbox.run(python("import time\ntime.sleep(60)")))
    first.start()
    while toolbox.budget_of("c1") is None:
        time.sleep(0.01)
    toolbox.forget("c1")
    first.join(timeout=20)
    assert not first.is_alive()
    assert [repl.is_running for repl in made] == [False]


def test_a_lost_process_is_told_with_its_variables(toolbox: ReplToolbox):
    result = toolbox.run(python("import os\nos._exit(1)"))
    assert result.is_error
    assert "All variables are gone; the next block begins with an empty namespace." in result.text


def test_without_a_sandbox_nothing_runs_and_the_model_is_told_what_to_install():
    toolbox = Harness().toolbox(new_repl=lambda limits: Repl(limits, lambda: None))
    result = toolbox.run(python("1"))
    assert result.is_error and "bubblewrap" in result.text


# What a person is shown


def test_E5_a_person_is_shown_the_whole_code_exactly_as_it_will_run(toolbox: ReplToolbox):
    code = "x = 'harmless'\n" + "#" * 5_000 + "\n" + "x = 'tail'"
    preview = toolbox.preview(python(code))
    assert (preview.title, preview.detail) == ("Run 3 lines of Python", code)
    assert toolbox.run(python(f"{preview.detail}\nx")).text == "value: 'tail'"
    assert toolbox.preview(python("1")).title == "Run 1 line of Python"


@pytest.mark.parametrize(
    ("code", "is_hidden"),
    [
        pytest.param("x = '\u202eevil'", True, id="right to left"),
        pytest.param("x\u200b = 1", True, id="no width"),
        pytest.param("x = 1\r# y", True, id="carriage return"),
        pytest.param("x = '\U000e0041'", True, id="a tag character"),
        pytest.param("x = '\x1b[2J'", True, id="escape"),
        pytest.param("x = '\u2028'", True, id="a line end of another kind"),
        pytest.param("名 = '咖啡 ☕ é'\n\tx\r\n", False, id="plain"),
    ],
)
def test_E5_characters_that_do_not_show_are_announced(code: str, is_hidden: bool):
    assert has_hidden_characters(code) == is_hidden
    assert ("do not show" in Harness().toolbox().preview(python(code)).title) == is_hidden


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"code": 1}',
        '{"code": ""}',
        '{"code": " \\n"}',
        '{"code": "1", "as_root": true}',
        "[" * 99_999,
        json.dumps({"code": "#" * 200_001}),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_shown_or_run(arguments: str):
    call = ToolCall("python", arguments)
    with pytest.raises(UsageProblem):
        code_of(call)
    toolbox = Harness().toolbox()
    with pytest.raises(UsageProblem):
        toolbox.preview(Invocation(call, "c1", "t1", NEVER))
    assert toolbox.run(Invocation(call, "c1", "t1", NEVER)).is_error


def test_line_ends_inside_the_text_of_a_call_are_taken_as_models_write_them():
    assert code_of(ToolCall("python", '{"code": "a = 1\nb = 2"}')) == "a = 1\nb = 2"
