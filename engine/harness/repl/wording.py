"""What came of a block, as a model reads it. Pure."""

from engine.harness.repl.values import BlockResult

_NOTHING = "(nothing was printed, and there is no value)"


def as_text(result: BlockResult) -> str:
    """What was printed, then the value, then what went wrong, then what was saved."""
    parts = [result.output.rstrip("\n")]
    if result.value is not None:
        parts.append(f"value: {result.value}")
    parts += [result.error, result.why]
    parts += [f"Saved as a tool of this conversation: {tool.name}" for tool in result.saved]
    return "\n".join(part for part in parts if part) or _NOTHING
