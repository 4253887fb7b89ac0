"""Adapters that are loaded, up to a budget of bytes; the least recently used one leaves first."""

from collections import OrderedDict
from pathlib import Path
from typing import Any

from engine.errors import AdapterMismatch, UsageProblem
from engine.runtime.gguf import GGUFHeader, check_adapter, read_header
from engine.runtime.identity import adapter_ref
from engine.runtime.native import Native
from engine.runtime.protocol import AdapterRef, AdapterStack


class AdapterPool:
    """Loads and checks adapters for one base and sets stacks of them."""

    def __init__(self, native: Native, base: GGUFHeader, *, budget_bytes: int) -> None:
        self._native = native
        self._base = base
        self._budget_bytes = budget_bytes
        self._loaded: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._attached: tuple[tuple[str, float], ...] = ()

    @property
    def loaded(self) -> tuple[str, ...]:
        """Content hashes of the loaded adapters, least recently used first."""
        return tuple(self._loaded)

    def attach(self, stack: AdapterStack) -> None:
        """Make `stack` the active set.

        Raises: AdapterMismatch, BadModelFile, ModelMissing, RuntimeFailed, UsageProblem.
        """
        active = [adapter for adapter in stack if adapter.scale != 0.0]
        if len({adapter.content_hash for adapter in active}) < len(active):
            raise UsageProblem("An adapter occurs twice in one stack.", "Name it once, with the sum of its scales.")
        wanted = tuple((adapter.content_hash, adapter.scale) for adapter in active)
        if wanted == self._attached:
            for content_hash, _ in wanted:
                self._loaded.move_to_end(content_hash)
            return
        keep = {adapter.content_hash for adapter in active}
        handles = [(self._handle(adapter, keep), adapter.scale) for adapter in active]
        self._native.attach(handles)
        self._attached = wanted

    def close(self) -> None:
        self._detach()
        while self._loaded:
            self._native.free_adapter(self._loaded.popitem()[1][0])

    def _handle(self, adapter: AdapterRef, keep: set[str]) -> Any:
        if adapter.content_hash in self._loaded:
            self._loaded.move_to_end(adapter.content_hash)
            return self._loaded[adapter.content_hash][0]
        header = read_header(Path(adapter.path))
        check_adapter(header, self._base)
        if adapter_ref(Path(adapter.path)).content_hash != adapter.content_hash:
            raise AdapterMismatch(
                f"{adapter.path} is no longer the adapter it was: its content changed.",
                "Restart the program, or import the changed file as a new adapter.",
            )
        self._free_room(header.size_bytes, keep)
        handle = self._native.load_adapter(adapter.path)
        self._loaded[adapter.content_hash] = (handle, header.size_bytes)
        return handle

    def _free_room(self, size_bytes: int, keep: set[str]) -> None:
        while sum(size for _, size in self._loaded.values()) + size_bytes > self._budget_bytes:
            victim = next((content_hash for content_hash in self._loaded if content_hash not in keep), None)
            if victim is None:
                return  # the stack itself is larger than the budget; it is needed all the same
            self._detach()
            self._native.free_adapter(self._loaded.pop(victim)[0])

    def _detach(self) -> None:
        if self._attached:
            self._native.attach(())
            self._attached = ()
