"""The view table alone, over a memory that behaves as llama.cpp's does and tells when it is misused."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.runtime.protocol import AdapterRef
from engine.runtime.views import NoFreeView, Snapshot, View, ViewTable, common_prefix, stack_key, usable_prefix

A = (("aaaa", 1.0),)
B = (("bbbb", 1.0),)


@dataclass
class FakeMemory:
    """Sequences of tokens, as the caller decodes them through `read`. Recurrent state cannot be cut."""

    is_recurrent: bool
    sequences: dict[int, list[int]] = field(default_factory=dict)
    recurrent: dict[int, list[int]] = field(default_factory=dict)

    def end_position(self, sequence: int) -> int:
        return len(self.sequences.get(sequence, []))

    def remove(self, sequence: int, start: int = 0) -> bool:
        tokens = self.sequences.get(sequence, [])
        if self.is_recurrent and 0 < start < len(self.recurrent.get(sequence, [])):
            return False
        self.sequences[sequence] = tokens[:start]
        if start == 0:
            self.recurrent[sequence] = []
        return True

    def copy(self, source: int, target: int, end: int | None = None) -> None:
        assert not self.sequences.get(target), "the target of a copy must be empty"
        assert end is None or not self.is_recurrent, "a partial copy of recurrent state is silently wrong"
        self.sequences[target] = self.sequences[source][:end]
        self.recurrent[target] = list(self.recurrent.get(source, []))

    def save(self, sequence: int, *, recurrent_only: bool) -> bytes:
        return bytes(self.recurrent[sequence] if recurrent_only else self.sequences[sequence])

    def restore(self, sequence: int, data: bytes, *, recurrent_only: bool) -> bool:
        self.recurrent[sequence] = list(data)
        if not recurrent_only:
            self.sequences[sequence] = list(data)
        return True


def table(memory: FakeMemory, *, max_views: int = 4, parked_bytes: int = 1000) -> ViewTable:
    return ViewTable(memory, max_views=max_views, snapshot_bytes=1000, parked_bytes=parked_bytes)


def read(views: ViewTable, memory: FakeMemory, view: View, tokens: list[int], snapshot_at: tuple[int, ...] = ()) -> int:
    """Decode what is missing, and return how many tokens were there already."""
    reused = len(view.tokens)
    assert memory.sequences.get(view.sequence, []) == view.tokens == tokens[:reused], "the state is what it says it is"
    if memory.is_recurrent:
        assert memory.recurrent.get(view.sequence, []) == view.tokens
    for position in range(reused, len(tokens)):
        if position in snapshot_at:
            views.snapshot(view)
        memory.sequences.setdefault(view.sequence, []).append(tokens[position])
        memory.recurrent.setdefault(view.sequence, []).append(tokens[position])
        view.tokens.append(tokens[position])
    return reused


def serve(
    views: ViewTable,
    memory: FakeMemory,
    tokens: list[int],
    key: str,
    stack: object = A,
    snapshot_at: tuple[int, ...] = (),
) -> int:
    view = views.acquire(tokens, stack, key)  # type: ignore[arg-type]
    reused = read(views, memory, view, tokens, snapshot_at)
    views.release(view)
    return reused


@given(st.lists(st.integers(0, 2), max_size=40), st.lists(st.integers(0, 2), max_size=40))
def test_the_common_prefix_is_as_long_as_can_be(left: list[int], right: list[int]) -> None:
    length = common_prefix(left, right)
    assert left[:length] == right[:length]
    assert length == min(len(left), len(right)) or left[length] != right[length]


def test_a_stack_is_known_by_content_and_scale_in_any_order() -> None:
    one, two = AdapterRef("/x", "aa", 1.0), AdapterRef("/y", "bb", 0.5)
    assert stack_key((one, two)) == stack_key((AdapterRef("/moved", "bb", 0.5), one))
    assert stack_key((one,)) != stack_key((AdapterRef("/x", "aa", 0.5),))
    assert stack_key((AdapterRef("/x", "aa", 0.0),)) == stack_key(())


@pytest.mark.parametrize(
    ("held", "snapshots", "wanted", "recurrent", "expected"),
    [
        ([1, 2, 3], [], [1, 2, 3, 4], False, 3),
        ([1, 2, 3], [], [1, 2, 3], False, 2),
        ([1, 2, 3], [], [1, 9], False, 1),
        ([1, 2, 3], [], [1, 2, 3, 4], True, 3),
        ([1, 2, 3], [], [1, 2, 3], True, 0),
        ([1, 2, 3, 4], [2], [1, 2, 3], True, 2),
        ([1, 2, 3, 4], [1, 3], [1, 2, 9, 9], True, 1),
        ([1, 2], [], [1], False, 0),
    ],
    ids=["extension", "same", "branch", "extension r", "same r", "snapshot", "older snapshot", "one token"],
)
def test_what_can_be_reused(
    held: list[int], snapshots: list[int], wanted: list[int], recurrent: bool, expected: int
) -> None:
    kept = [Snapshot(position, b"") for position in snapshots]
    assert usable_prefix(held, kept, wanted, recurrent) == expected


def test_a_view_serves_its_own_stack_only() -> None:
    memory = FakeMemory(is_recurrent=False)
    views = table(memory)
    serve(views, memory, [1, 2, 3], "talk", A)
    assert serve(views, memory, [1, 2, 3, 4], "talk", B) == 0
    assert serve(views, memory, [1, 2, 3, 4], "talk", A) == 3


def test_a_busy_view_is_neither_evicted_nor_given_twice() -> None:
    memory = FakeMemory(is_recurrent=False)
    views = table(memory, max_views=2)
    first = views.acquire([1, 2], A, "one")
    second = views.acquire([1, 2], A, "one")
    assert first is not second
    with pytest.raises(NoFreeView):
        views.acquire([1, 2], A, "two")


def test_forgetting_a_conversation_forgets_its_parked_views_too() -> None:
    memory = FakeMemory(is_recurrent=False)
    views = table(memory, max_views=1)
    serve(views, memory, [1, 2, 3], "c-1/L0")
    serve(views, memory, [7, 8, 9], "c-2/L0")
    assert [parked.cache_key for parked in views.parked] == ["c-1/L0"]
    views.drop("c-1/")
    assert views.parked == ()
    assert serve(views, memory, [1, 2, 3, 4], "c-1/L0") == 0


def test_parked_views_keep_to_their_budget() -> None:
    memory = FakeMemory(is_recurrent=False)
    views = table(memory, max_views=1, parked_bytes=10)
    for number in range(5):
        serve(views, memory, [number] * 4, f"c-{number}")
    assert sum(parked.size_bytes for parked in views.parked) <= 10
    assert [parked.cache_key for parked in views.parked] == ["c-2", "c-3"], "the oldest left first"


@pytest.mark.parametrize("is_recurrent", [False, True], ids=["attention", "recurrent"])
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["one", "two", "three", ""]),
            st.sampled_from([A, B]),
            st.lists(st.integers(1, 3), min_size=1, max_size=12),
            st.booleans(),
        ),
        max_size=25,
    )
)
def test_whatever_is_asked_a_view_holds_exactly_the_beginning_it_claims(
    is_recurrent: bool, requests: list[tuple[str, object, list[int], bool]]
) -> None:
    """`read` asserts it before every request: tokens, attention state and recurrent state agree."""
    memory = FakeMemory(is_recurrent=is_recurrent)
    views = table(memory, max_views=3, parked_bytes=40)
    for key, stack, tokens, make_room in requests:
        serve(views, memory, tokens, key, stack, snapshot_at=(2, 5, 8))
        if make_room:
            views.make_room()
        assert len(views.views) <= 3
