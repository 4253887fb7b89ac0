"""What a model proposes to remember, read from its answer: one JSON object a line with `kind`, `text` and `evidence`.

Pure. Lines that are anything else are left out; what remains is verified like every proposal.
"""

from typing import Any, Final, get_args

import engine.strict_json as strict_json
from engine.memory.values import MemoryKind
from engine.memory.writing.proposals import Proposal

MOST_LINES: Final = 50
_LONGEST_LINE: Final = 4_000


def read_proposals(answer: str) -> tuple[Proposal, ...]:
    """In the order of the lines."""
    lines = (line.strip().removesuffix(",") for line in answer.splitlines()[:MOST_LINES])
    found = (_proposal(line) for line in lines if line.startswith("{") and len(line) <= _LONGEST_LINE)
    return tuple(proposal for proposal in found if proposal is not None)


def _proposal(line: str) -> Proposal | None:
    try:
        read: Any = strict_json.loads(line)
    except ValueError:
        return None
    if not isinstance(read, dict):
        return None
    kind: Any = read.get("kind")
    text, evidence = read.get("text"), read.get("evidence")
    if kind not in get_args(MemoryKind) or not isinstance(text, str) or not isinstance(evidence, str):
        return None
    return Proposal(text, kind, evidence, author="model")
