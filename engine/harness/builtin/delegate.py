"""The tool by which one expert hands a part of its task to another and reads the answer."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, create_model

from engine.errors import UsageProblem
from engine.harness.builtin.entries import Arguments, EntryToolbox, entry, shortened
from engine.harness.tools.values import Invocation, Preview, ToolResult

TASK_CHARACTERS = 20_000


class DelegateToolbox(EntryToolbox):
    """The other expert reads the task alone, has no tools, and leaves nothing in its view."""

    def __init__(self, experts: Sequence[tuple[str, str]]) -> None:
        """`experts` are those that may be asked: label and description."""
        labels = tuple(label for label, _ in experts)
        listed = "; ".join(f"{label}: {shortened(text, 120)}" for label, text in experts)
        which: Any = Literal.__getitem__(labels)
        kind = create_model(
            "Delegate",
            __base__=Arguments,
            __doc__=f"Hand a part of the task to another expert and get its answer. {listed}",
            expert=(which, Field(description="Which one.")),
            task=(
                str,
                Field(
                    min_length=1,
                    max_length=TASK_CHARACTERS,
                    description="All that it needs to know: it sees nothing else of this conversation.",
                ),
            ),
        )
        super().__init__([entry(kind, "delegate", "nothing", False, self._preview, self._delegate)])

    def _preview(self, asked: Arguments, invocation: Invocation) -> Preview:
        given = asked.model_dump()
        return Preview(f"Ask {given['expert']}", given["task"])

    def _delegate(self, asked: Arguments, invocation: Invocation) -> ToolResult:
        given = asked.model_dump()
        if invocation.others is None:
            raise UsageProblem("Nobody can be asked from here.", "Answer without it.")
        return ToolResult(invocation.others.consult(given["expert"], given["task"]), is_tainted=False)
