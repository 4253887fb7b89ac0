"""Requests written by hand to test the router, apart from the phrases it learns from; nothing trains on them.

One JSON object a line: `id`, `language` (english or chinese), `expert` (who should answer), `text`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parent / "data"
HELD_OUT: Final = _DATA / "router_held_out.jsonl"
"""For the starter's four experts."""
FIFTH: Final = _DATA / "router_fifth_expert.jsonl"
"""For an expert of mathematics, L4, which no training example shows."""

FIFTH_SECTION: Final = """

## L4
adapter_name: starter-maths

### Description
Mathematics: arithmetic, equations, geometry, probability, proofs, and exercises worked step by step.
"""
"""What is added to the starter's lora.md for it."""


@dataclass(frozen=True, slots=True)
class Asked:
    request_id: str
    language: str
    expert: str
    text: str


def read_requests(path: Path) -> tuple[Asked, ...]:
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return tuple(Asked(line["id"], line["language"], line["expert"], line["text"]) for line in lines)


def every(requests: Sequence[Asked], step: int) -> tuple[Asked, ...]:
    """One of each `step`, so that all experts and languages are still there."""
    return tuple(requests[::step])
