"""Which signals may teach. Pure: where the texts came from in, yes or no out.

Learning takes a correction as a pair: what was asked and what should have been answered. Both must be the user's own
words; anything else waits until a person has looked at it and confirmed it.
"""

from collections.abc import Sequence
from typing import Final

from engine.signals.values import SignalSource
from engine.values import Attachment, Provenance

_OWN: Final = ("user", "typed")
NEVER_KEPT: Final = ("api", "tool")
"""Where a text comes from that no person has written or chosen; no signal is made of it."""


def is_own(source: SignalSource) -> bool:
    """Whether the user did it, or typed it."""
    return source in _OWN


def is_pair_tainted(source: SignalSource, question: Provenance, files: Sequence[Attachment]) -> bool:
    """Of a better answer from `source` to a message of provenance `question` that came with `files`."""
    return not is_own(source) or question != "typed" or bool(files)
