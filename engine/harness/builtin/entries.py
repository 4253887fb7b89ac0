"""One tool of the program itself: a model of its arguments and two functions. A toolbox is a row of such entries.

Arguments come from a model and are checked against the very model that the schema is made from. Knows no tool.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

import engine.strict_json as strict_json
from engine.errors import AgentError, ScoringStopped, UnknownName, UsageProblem
from engine.harness.tool_calls import Tool
from engine.harness.tools.values import Invocation, Preview, Reach, ToolResult, ToolSpec

MOST_ARGUMENT_CHARACTERS: Final = 2_000_000
_MOST_SHOWN: Final = 100
_MOST_FAULTS: Final = 3
"""Faults named in one error: a model corrects a few at a time."""


class Arguments(BaseModel):
    """What one tool takes. Numbers written as text are taken for numbers, as small models write them."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Entry(Generic[A]):
    spec: ToolSpec
    arguments: type[A]
    preview: Callable[[A, Invocation], Preview]
    run: Callable[[A, Invocation], ToolResult]


class ShownStates:
    """What the state was that a preview was made from, so that what is done is what was shown. Thread-safe."""

    def __init__(self) -> None:
        self._digests: OrderedDict[tuple[str, str, str], bytes] = OrderedDict()
        self._locked = threading.Lock()

    def remember(self, invocation: Invocation, state: object) -> None:
        """`state` is anything whose `repr` says all of it."""
        with self._locked:
            self._digests[_key(invocation)] = _digest(state)
            while len(self._digests) > _MOST_SHOWN:
                self._digests.popitem(last=False)

    def check(self, invocation: Invocation, state: object, what: str) -> None:
        """Raises: UsageProblem when the call was shown with another state. One that was never shown passes."""
        with self._locked:
            shown = self._digests.pop(_key(invocation), None)
        if shown is not None and shown != _digest(state):
            raise UsageProblem(
                f"{what} has changed since the change was shown; nothing was done.",
                "Read it again and propose the change anew.",
            )


class EntryToolbox:
    """The toolbox of some entries; those of its kind only add where they come from."""

    def __init__(self, entries: Sequence[Entry[Any]]) -> None:
        self._entries = {entry.spec.tool.name: entry for entry in entries}
        self._specs = tuple(entry.spec for entry in entries)

    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    def preview(self, invocation: Invocation) -> Preview:
        """Raises: UsageProblem where the arguments are wrong or name what cannot be used."""
        entry = self._entry(invocation)
        return entry.preview(read_arguments(entry.arguments, invocation.call.arguments), invocation)

    def run(self, invocation: Invocation) -> ToolResult:
        """Raises: ScoringStopped."""
        stop_if_asked(invocation)
        try:
            entry = self._entry(invocation)
            return entry.run(read_arguments(entry.arguments, invocation.call.arguments), invocation)
        except ScoringStopped:
            raise
        except AgentError as error:
            is_tainted = any(spec.reach not in ("nothing", "own_data") for spec in self._specs)
            return ToolResult(f"{error.problem} {error.hint}".strip(), is_error=True, is_tainted=is_tainted)

    def _entry(self, invocation: Invocation) -> Entry[Any]:
        try:
            return self._entries[invocation.call.name]
        except KeyError:
            known = ", ".join(self._entries) or "none"
            raise UnknownName(f"There is no tool `{invocation.call.name:.80}` here.", f"Use one of: {known}.") from None


def entry(
    arguments: type[A],
    name: str,
    reach: Reach,
    changes: bool,
    preview: Callable[[A, Invocation], Preview],
    run: Callable[[A, Invocation], ToolResult],
) -> Entry[A]:
    """The description of the tool is the docstring of its arguments."""
    schema = _without_titles(arguments.model_json_schema())
    description = " ".join(str(schema.pop("description", "")).split())
    return Entry(ToolSpec(Tool(name, description, schema), reach, changes), arguments, preview, run)


def read_arguments(kind: type[A], text: str) -> A:
    """Raises: UsageProblem, which names what is wrong and where."""
    if len(text) > MOST_ARGUMENT_CHARACTERS:
        raise UsageProblem(
            f"The arguments have more than {MOST_ARGUMENT_CHARACTERS:,} characters.", "Do it in several smaller calls."
        )
    try:
        return kind.model_validate(strict_json.loads(text.strip() or "{}"))
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()]
        raise UsageProblem("; ".join(faults[:_MOST_FAULTS]) + ".", _takes(kind)) from None
    except ValueError as error:
        raise UsageProblem(f"The arguments cannot be read: {error}.", _takes(kind)) from None


def stop_if_asked(invocation: Invocation) -> None:
    """Raises: ScoringStopped."""
    if invocation.stop.is_set():
        raise ScoringStopped("The tool was stopped before it was done.")


def shortened(text: str, most_characters: int) -> str:
    """On one line, with a mark where it was cut."""
    line = " ".join(text.split())
    return line if len(line) <= most_characters else line[: most_characters - 1] + "…"


def _key(invocation: Invocation) -> tuple[str, str, str]:
    return invocation.turn_id, invocation.call.name, invocation.call.arguments


def _digest(state: object) -> bytes:
    return blake2b(repr(state).encode(errors="surrogatepass"), digest_size=16).digest()


def _takes(kind: type[Arguments]) -> str:
    required = [name for name, field in kind.model_fields.items() if field.is_required()]
    optional = [name for name in kind.model_fields if name not in required]
    parts = [f"It takes {', '.join(required)}" if required else "It needs no arguments"]
    return parts[0] + (f"; optional are {', '.join(optional)}." if optional else ".")


def _without_titles(schema: Any) -> Any:
    """Pydantic names every part after its field again, which only costs a model tokens."""
    if isinstance(schema, dict):
        is_part = "type" in schema or "$ref" in schema or "properties" in schema
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and is_part and isinstance(value, str))
        }
    return schema
