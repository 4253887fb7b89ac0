"""Is the file of an adapter whole, made for this base, and does the engine compute with it? Changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.adapters.gate.inputs import Integrity
from engine.adapters.gguf_lora import check_finite
from engine.errors import AdapterMismatch, BadModelFile, OutOfMemory, RuntimeFailed, ScoringStopped
from engine.evaluation.reading import Bench, Reader
from engine.evaluation.suites import EvaluationMessage
from engine.runtime.gguf import GGUFHeader, check_adapter, read_header
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterRef, Stop

_ASKED = (EvaluationMessage("user", "Hi."),)


def inspect(path: Path, content_hash: str, made_for: str, base: Path, bench: Bench, stop: Stop) -> Integrity:
    """Of the adapter at `path`, which should have this hash and be for the base of the hash `made_for`.

    What cannot be tried any more, because something before it failed, is not held against it as well.

    Raises: ModelMissing when there is no such file; OutOfMemory, ScoringStopped.
    """
    adapter = adapter_ref(path)
    found = Integrity(
        is_finite=True,
        has_its_hash=adapter.content_hash == content_hash,
        fits_base=made_for == bench.mixture.info.base_hash,
        loads_in_engine=True,
        size_bytes=path.stat().st_size,
    )
    try:
        header = read_header(path)
        found = replace(found, fits_base=found.fits_base and _fits(header, read_header(base)))
        found = replace(found, is_finite=_holds(lambda: check_finite(header)))
    except BadModelFile:
        return replace(found, loads_in_engine=False)
    if is_sound(found):
        found = replace(found, loads_in_engine=_loads(adapter, bench, stop))
    return found


def is_sound(found: Integrity) -> bool:
    """Whether it makes sense to ask the adapter anything."""
    return found.is_finite and found.has_its_hash and found.fits_base and found.loads_in_engine


def _fits(adapter: GGUFHeader, base: GGUFHeader) -> bool:
    """Raises: BadModelFile when it is no adapter at all."""
    try:
        check_adapter(adapter, base)
    except AdapterMismatch:
        return False
    return True


def _holds(check: Callable[[], None]) -> bool:
    try:
        check()
    except BadModelFile:
        return False
    return True


def _loads(adapter: AdapterRef, bench: Bench, stop: Stop) -> bool:
    try:
        with Reader(bench, bench.stack(adapter), stop) as reader:
            reader.logprobs(_ASKED, [reader.answer_tokens("Hello.")])
    except (OutOfMemory, ScoringStopped):
        raise
    except (AdapterMismatch, BadModelFile, RuntimeFailed):
        return False
    return True
