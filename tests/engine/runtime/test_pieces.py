"""The bytes of tokens, through the pipe of the engine child."""

import pytest

from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import LoadPlan
from engine.runtime.resuming import pieces_from_plain
from engine.runtime.wire import WireError


def test_the_bytes_of_tokens_join_to_the_text_though_characters_are_split(starter_base):
    runtime = ChildRuntime()
    try:
        runtime.load(LoadPlan(str(starter_base), context_tokens=512, pool_tokens=512, threads=1))
        tokens = runtime.encode("咖啡 and 🙂")
        pieces = runtime.pieces(tokens)
    finally:
        runtime.close()
    assert len(pieces) == len(tokens)
    assert b"".join(pieces).decode() == "咖啡 and 🙂"
    assert any(not piece.isascii() and len(piece) < 3 for piece in pieces)


def test_no_tokens_have_no_bytes():
    assert pieces_from_plain([], b"") == ()


@pytest.mark.parametrize(
    ("sizes", "block"),
    [([2, 3], b"abcd"), ([2], b"abc"), ([-1, 2], b"a"), ("ab", b"ab"), ([1.0], b"a"), (None, b"")],
)
def test_bytes_that_do_not_add_up_are_no_answer(sizes, block):
    with pytest.raises(WireError):
        pieces_from_plain(sizes, block)
