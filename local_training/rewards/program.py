"""A program in the answer, tried on cases. It decides.

What is expected never enters the process that runs the program, so there is nothing in there to find, and a program
that ends early has simply not answered.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from engine import strict_json
from local_training.rewards.confined import Limits, ProgramEnd, run_python
from local_training.rewards.parameters import Parameters
from local_training.rewards.values import Judgement, Outcome, right_if

_FENCE: Final = "```"
_PYTHON: Final = ("", "python", "py", "python3")
_TOO_SLOW: Final = "takes longer than"
_MOST_CASES: Final = 50
_MOST_SOURCE_CHARACTERS: Final = 100_000
_DRIVER: Final = """
import json, os, sys
task = json.loads(sys.stdin.buffer.readline())
code = compile(task["source"], "answer", "exec")
if task["function"] is None:
    exec(code, {"__name__": "__main__"})
    sys.stdout.flush()
else:
    # What the program prints is not its result.
    result = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    names = {"__name__": "answer"}
    exec(code, names)
    value = names[task["function"]](*task["arguments"])
    os.write(result, json.dumps(value, allow_nan=False).encode())
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments and result of a function, or what a program reads and writes."""

    given: Any
    expected: Any


@dataclass(frozen=True, slots=True)
class ProgramTest:
    """All cases pass, or with `partial` the share of them. The program is the last Python fence, or all of the text."""

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    decides: ClassVar[bool] = True
    cases: tuple[Case, ...]
    function: str | None = None
    """Called with each case's arguments; None for programs that read standard input and write standard output."""
    partial: bool = False
    limits: Limits = field(default=Limits())
    may_be_unconfined: bool = False
    """Set by whoever scores, never by a task."""

    @classmethod
    def read(cls, parameters: Parameters) -> "ProgramTest":
        function = parameters.text("function", "") or None
        if function is not None and not function.isidentifier():
            raise parameters.problem("`function` is no name of a function")
        listed = parameters.given("cases")
        if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST_CASES:
            raise parameters.problem(f"`cases` must be a list of 1 to {_MOST_CASES}")
        return cls(
            tuple(_case(one, function is not None, parameters) for one in listed),
            function,
            parameters.flag("partial", False),
            Limits(
                parameters.number("time_s", 5.0, least=0.1, most=60.0),
                parameters.whole("memory_mib", 512, least=64, most=8192) << 20,
            ),
        )

    def judge(self, outcome: Outcome) -> Judgement:
        source = program_in(outcome.text)
        if not source.strip() or len(source) > _MOST_SOURCE_CHARACTERS:
            return right_if(False, "it holds no program, or one that is too long")
        passed, first_fault = 0, ""
        for number, case in enumerate(self.cases, start=1):
            fault = self._fault(source, case)
            passed += not fault
            first_fault = first_fault or (f"; case {number} {fault}" if fault else "")
            if fault and not self.partial:
                return right_if(False, f"case {number} {fault}")
            # One that waits would wait in every case.
            if fault.startswith(_TOO_SLOW):
                break
        return Judgement(passed / len(self.cases), f"{passed} of {len(self.cases)} cases pass{first_fault}")

    def _fault(self, source: str, case: Case) -> str:
        """How the program fails the case, as a clause; empty when it passes."""
        task = {"source": source, "function": self.function, "arguments": case.given if self.function else []}
        given = json.dumps(task) + "\n" + ("" if self.function else case.given)
        end = run_python(_DRIVER, given, self.limits, may_be_unconfined=self.may_be_unconfined)
        if end.timed_out:
            return f"{_TOO_SLOW} {self.limits.time_s:g} s"
        return self._result_fault(end, case.expected) if self.function else _output_fault(end, case.expected)

    def _result_fault(self, end: ProgramEnd, expected: Any) -> str:
        try:
            value = strict_json.loads(end.output)
        except ValueError:
            return f"gives no result ({end.last_words or 'it ended early':.120})"
        return "" if _is_close(value, expected) else f"gives {json.dumps(value, ensure_ascii=False):.80}"


def program_in(text: str) -> str:
    """The last fence of Python, or of no language, also where it is left open; all of the text where there is none."""
    found: list[list[str]] = []
    language: str | None = None
    for line in text.splitlines():
        if language is None and line.startswith(_FENCE):
            language = line.removeprefix(_FENCE).strip().lower()
            found += [[]] if language in _PYTHON else []
        elif language is not None and line.rstrip() == _FENCE:
            language = None
        elif language in _PYTHON:
            found[-1].append(line)
    return "\n".join(found[-1]) if found else text


def _output_fault(end: ProgramEnd, expected: str) -> str:
    if end.exit_code != 0:
        return f"fails ({end.last_words or f'exit code {end.exit_code}':.120})"
    return "" if _lines(end.output) == _lines(expected) else f"writes {end.output.strip()!r:.80}"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _is_close(left: Any, right: Any) -> bool:
    """Equal as JSON, but for rounding of fractions."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_is_close, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_is_close(value, right[name]) for name, value in left.items())
    if isinstance(left, float) and isinstance(right, int | float) and not isinstance(right, bool):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
    return strict_json.same(left, right)


def _case(value: Any, is_call: bool, parameters: Parameters) -> Case:
    given, expected = ("arguments", "result") if is_call else ("input", "output")
    kind: type = list if is_call else str
    is_case = isinstance(value, Mapping) and value.keys() == {given, expected} and isinstance(value[given], kind)
    if not is_case or (not is_call and not isinstance(value[expected], str)):
        what = "a list of `arguments` and a `result`" if is_call else "texts as `input` and `output`"
        raise parameters.problem(f"a case must have {what}, and nothing else")
    return Case(value[given], value[expected])
