"""Which expert's tokens are decoded where, and how to get as many of them as possible for nothing.

A view is one llama.cpp sequence: token ids, decoded under one adapter stack. State computed under one stack is wrong
under another, so everything here is keyed by the stack; tokens alone are never enough. Knows neither text nor turns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.runtime.protocol import AdapterStack

StackKey = tuple[tuple[str, float], ...]


def stack_key(stack: AdapterStack) -> StackKey:
    """Identity of a stack: the content and scale of every adapter that has any effect, in a fixed order."""
    return tuple(sorted((adapter.content_hash, adapter.scale) for adapter in stack if adapter.scale != 0.0))


class Memory(Protocol):
    """What a view table needs of llama.cpp; `Native` in life."""

    is_recurrent: bool

    def end_position(self, sequence: int) -> int: ...
    def remove(self, sequence: int, start: int = 0) -> bool: ...
    def copy(self, source: int, target: int, end: int | None = None) -> None: ...
    def save(self, sequence: int, *, recurrent_only: bool) -> bytes: ...
    def restore(self, sequence: int, data: bytes, *, recurrent_only: bool) -> bool: ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Recurrent state of a view at `position` (tokens before it)."""

    position: int
    data: bytes


@dataclass(slots=True, eq=False)
class View:
    """`tokens` are those whose state the sequence holds, in order."""

    sequence: int
    stack: StackKey
    cache_key: str
    tokens: list[int] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    used: int = 0
    busy: bool = False


@dataclass(slots=True, eq=False)
class ParkedView:
    """A view that lost its sequence but not its state, which lies in host memory."""

    stack: StackKey
    cache_key: str
    tokens: list[int]
    snapshots: list[Snapshot]
    data: bytes
    used: int

    @property
    def size_bytes(self) -> int:
        return len(self.data)


class NoFreeView(Exception):
    """Every sequence is busy; fewer requests can run together than were asked for."""


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the longest common beginning. Binary search over slices: comparing those runs in C."""
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def usable_prefix(
    tokens: Sequence[int], snapshots: Iterable[Snapshot], wanted: Sequence[int], is_recurrent: bool
) -> int:
    """How many leading tokens of `wanted` this state can provide.

    One token of `wanted` is always left to decode, since only decoding yields logits. Recurrent state cannot be cut:
    it serves whole, or from a snapshot.
    """
    limit = min(common_prefix(tokens, wanted), len(wanted) - 1)
    if not is_recurrent or len(tokens) <= limit:
        return min(limit, len(tokens))
    return max((snapshot.position for snapshot in snapshots if snapshot.position <= limit), default=0)


class ViewTable:
    """All views of one context. Finds, forks, cuts, parks and evicts; the caller decodes what is missing."""

    def __init__(self, memory: Memory, *, max_views: int, snapshot_bytes: int, parked_bytes: int) -> None:
        self._memory = memory
        self._snapshot_budget = snapshot_bytes
        self._parked_budget = parked_bytes
        self._free = list(range(max_views))[::-1]
        self._views: list[View] = []
        self._parked: list[ParkedView] = []
        self._clock = 0

    @property
    def views(self) -> tuple[View, ...]:
        return tuple(self._views)

    @property
    def parked(self) -> tuple[ParkedView, ...]:
        return tuple(self._parked)

    def acquire(self, wanted: Sequence[int], stack: StackKey, cache_key: str) -> View:
        """A busy view whose tokens are a beginning of `wanted`, as long a one as there is.

        Raises: NoFreeView.
        """
        wanted = list(wanted)
        own = next(
            (v for v in self._views if cache_key and v.cache_key == cache_key and v.stack == stack and not v.busy), None
        )
        best, best_length = self._best(wanted, stack)
        own_length = self._usable(own, wanted) if own else 0
        if own is None or (best is not own and best_length > own_length):
            own = self._fork(best if best_length else None, best_length, own, stack, cache_key)
        else:
            self.cut(own, own_length)
        own.busy = True
        self._touch(own)
        return own

    def release(self, view: View) -> None:
        """The request is over; a view without a cache key is forgotten at once."""
        view.busy = False
        self._touch(view)
        if not view.cache_key:
            self._drop(view)

    def cut(self, view: View, length: int) -> None:
        """Make the view hold exactly its first `length` tokens, or fewer where its memory cannot do better."""
        if length == len(view.tokens) and self._memory.end_position(view.sequence) == length:
            return
        if length > 0 and not self._rewind(view, length):
            length = 0
        if length == 0:
            self._memory.remove(view.sequence)
        del view.tokens[length:]
        view.snapshots = [snapshot for snapshot in view.snapshots if snapshot.position <= length]

    def recover(self, view: View) -> None:
        """After an aborted or failed decode: bring the memory back to `view.tokens`, or to what is left of them."""
        length = len(view.tokens)
        if self._memory.is_recurrent:
            # The recurrent state may have moved on although the batch does not count.
            length = max((s.position for s in view.snapshots if s.position <= length), default=0)
            if length == 0 or not self._rewind(view, length, has_moved=True):
                length = 0
                self._memory.remove(view.sequence)
            del view.tokens[length:]
        else:
            self._memory.remove(view.sequence, length)
            self.cut(view, min(length, self._memory.end_position(view.sequence)))

    def snapshot(self, view: View) -> None:
        """Keep the recurrent state at the view's present length, where the base needs that."""
        position = len(view.tokens)
        if not self._memory.is_recurrent or position == 0:
            return
        if any(snapshot.position == position for snapshot in view.snapshots):
            return
        data = self._memory.save(view.sequence, recurrent_only=True)
        if not data:
            return
        view.snapshots.append(Snapshot(position, data))
        view.snapshots.sort(key=lambda snapshot: snapshot.position)
        self._trim_snapshots()

    def fork(self, source: View, cache_key: str = "") -> View:
        """A new busy view that shares the whole of `source`.

        Raises: NoFreeView.
        """
        for old in [v for v in self._views if cache_key and v.cache_key == cache_key and v.stack == source.stack]:
            self._drop(old)
        view = self._fork(source, len(source.tokens), None, source.stack, cache_key)
        view.busy = True
        return view

    def make_room(self) -> bool:
        """Park or forget the least recently used idle view. False when there is none."""
        idle = [view for view in self._views if not view.busy]
        if not idle:
            return False
        self._evict(min(idle, key=lambda view: view.used))
        return True

    def drop(self, cache_key_prefix: str) -> None:
        for view in [v for v in self._views if v.cache_key.startswith(cache_key_prefix) and not v.busy]:
            self._drop(view)
        self._parked = [parked for parked in self._parked if not parked.cache_key.startswith(cache_key_prefix)]

    # Finding

    def _usable(self, state: View | ParkedView, wanted: Sequence[int]) -> int:
        return usable_prefix(state.tokens, state.snapshots, wanted, self._memory.is_recurrent)

    def _best(self, wanted: Sequence[int], stack: StackKey) -> tuple[View | ParkedView | None, int]:
        best: View | ParkedView | None = None
        best_length = 0
        states: list[View | ParkedView] = [*self._views, *self._parked]
        for state in states:
            if state.stack == stack and (length := self._usable(state, wanted)) > best_length:
                best, best_length = state, length
        return best, best_length

    # Making

    def _fork(
        self, source: View | ParkedView | None, length: int, reuse: View | None, stack: StackKey, cache_key: str
    ) -> View:
        if reuse is not None:
            self.cut(reuse, 0)
            view = reuse
        else:
            view = View(self._take_sequence(source), stack, cache_key)
            self._views.append(view)
        if isinstance(source, ParkedView):
            self._unpark(source, view)
        elif source is not None:
            self._copy(source, view, length)
        self.cut(view, min(length, len(view.tokens)))
        return view

    def _copy(self, source: View, target: View, length: int) -> None:
        if self._memory.is_recurrent:
            # A partial copy would cut the attention state but keep the recurrent state of the end: copy all, then cut.
            self._memory.copy(source.sequence, target.sequence)
            target.tokens = list(source.tokens)
            target.snapshots = list(source.snapshots)
        else:
            self._memory.copy(source.sequence, target.sequence, length)
            target.tokens = source.tokens[:length]

    def _unpark(self, parked: ParkedView, view: View) -> None:
        while not self._memory.restore(view.sequence, parked.data, recurrent_only=False):
            self._memory.remove(view.sequence)
            if not self._make_room_except(view):
                return
        view.tokens = list(parked.tokens)
        view.snapshots = list(parked.snapshots)
        if parked.cache_key == view.cache_key:
            self._parked.remove(parked)

    def _make_room_except(self, view: View) -> bool:
        was_busy, view.busy = view.busy, True
        try:
            return self.make_room()
        finally:
            view.busy = was_busy

    def _take_sequence(self, needed: View | ParkedView | None) -> int:
        if not self._free:
            idle = [view for view in self._views if not view.busy and view is not needed]
            if not idle:
                raise NoFreeView
            self._evict(min(idle, key=lambda view: view.used), keep=needed)
        return self._free.pop()

    # Losing

    def _rewind(self, view: View, length: int, *, has_moved: bool = False) -> bool:
        """has_moved: the recurrent state is no longer that of `view.tokens`."""
        if self._memory.is_recurrent and (has_moved or length != len(view.tokens)):
            snapshot = next((s for s in view.snapshots if s.position == length), None)
            if snapshot is None or not self._memory.restore(view.sequence, snapshot.data, recurrent_only=True):
                return False
        return self._memory.remove(view.sequence, length) and self._memory.end_position(view.sequence) == length

    def _evict(self, view: View, keep: View | ParkedView | None = None) -> None:
        if view.cache_key and view.tokens and self._parked_budget > 0:
            data = self._memory.save(view.sequence, recurrent_only=False)
            if data and len(data) <= self._parked_budget:
                self._parked.append(
                    ParkedView(view.stack, view.cache_key, view.tokens, view.snapshots, data, view.used)
                )
                self._trim_parked(keep)
        self._drop(view)

    def _drop(self, view: View) -> None:
        self._memory.remove(view.sequence)
        self._views.remove(view)
        self._free.append(view.sequence)

    def _trim_parked(self, keep: View | ParkedView | None) -> None:
        while sum(parked.size_bytes for parked in self._parked) > self._parked_budget:
            victims = [parked for parked in self._parked if parked is not keep]
            if not victims:
                return
            self._parked.remove(min(victims, key=lambda parked: parked.used))

    def _trim_snapshots(self) -> None:
        holders: list[View | ParkedView] = [*self._views, *self._parked]
        total = sum(len(snapshot.data) for holder in holders for snapshot in holder.snapshots)
        while total > self._snapshot_budget:
            holder = min((h for h in holders if h.snapshots), key=lambda h: h.used)
            total -= len(holder.snapshots.pop(0).data)

    def _touch(self, view: View) -> None:
        self._clock += 1
        view.used = self._clock
