"""Benches on real bases, suites of a few items, and adapters that are broken in known ways."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gguf
import numpy as np

from engine.assets import asset_path
from engine.evaluation.reading import VIEWS, Bench
from engine.evaluation.suites import (
    ChoiceItem,
    ContainsAny,
    EvaluationMessage,
    GeneralText,
    JsonObject,
    LongestWords,
    Suite,
    WrittenItem,
)
from engine.harness.formats import choose_format
from engine.mixture import Mixture, harness_of
from engine.routing.profile import load_profile
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan
from tests.support.adapters import write_random_adapter

CONTEXT_TOKENS = 1024


@contextmanager
def open_bench(base: Path, expert: str = "L0") -> Iterator[Bench]:
    """llama.cpp in this process, on one thread, with the starter's texts and no adapters of the factory."""
    profile = load_profile(asset_path("profiles", "starter"))
    runtime = LlamaRuntime()
    plan = LoadPlan(
        str(base), context_tokens=CONTEXT_TOKENS, pool_tokens=4 * CONTEXT_TOKENS, threads=1, max_views=VIEWS
    )
    info = runtime.load(plan)
    chat_format, _ = choose_format(info.architecture, info.markup, bos=info.bos, family=None)
    stacks = {one.expert: () for one in profile.experts}
    try:
        yield Bench(runtime, Mixture(profile, harness_of(profile, chat_format, info.markup), info, stacks), expert)
    finally:
        runtime.close()


def said(*texts: str) -> tuple[EvaluationMessage, ...]:
    """By user and assistant in turn."""
    return tuple(EvaluationMessage(("user", "assistant")[place % 2], text) for place, text in enumerate(texts))


def choices(name: str = "capitals", content_hash: str = "c" * 64, count: int = 6) -> Suite:
    """Items to be read: a question with an answer in one word and two others, one of them longer."""
    items = tuple(
        ChoiceItem(
            f"{name}-{number}", said(f"What is {number} and {number}?"), str(2 * number), ("7", "I do not know.")
        )
        for number in range(count)
    )
    return Suite(name, "general", content_hash, items)


def written(name: str = "short", content_hash: str = "d" * 64, count: int = 10) -> Suite:
    """Items to be answered, more than fit into one batch: all pass the first check, and none the other two."""
    passed = [
        WrittenItem(f"passed-{number}", said(f"Say {number}."), (LongestWords(100),), 4) for number in range(count)
    ]
    failed = WrittenItem("no-object", said("Say it."), (JsonObject(), ContainsAny(("xylophone",))), 4)
    return Suite(name, "probe", content_hash, (*passed, failed))


def texts(count: int = 3) -> tuple[GeneralText, ...]:
    return tuple(GeneralText(f"t{number}", f"Why {number}?", f"Because of {number}.") for number in range(count))


def zero_adapter(base: Path, target: Path) -> Path:
    """One that changes nothing."""
    return write_random_adapter(base, target, rank=2, strength=0.0)


def exploded_adapter(base: Path, target: Path) -> Path:
    """One whose update is many times as large as the weights it is added to."""
    return write_random_adapter(base, target, rank=2, strength=7.5)


def foreign_adapter(_base: Path, target: Path) -> Path:
    """One for a base of another architecture."""
    writer = gguf.GGUFWriter(target, "llama")
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, 16.0)
    for end in ("lora_a", "lora_b"):
        writer.add_tensor(f"blk.0.attn_q.weight.{end}", np.ones((64, 64), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def nan_adapter(base: Path, target: Path) -> Path:
    """One with a single weight that is no number, in a matrix that every token passes."""
    sound = write_random_adapter(base, target.with_suffix(".sound"), rank=2)
    content = bytearray(sound.read_bytes())
    reader = gguf.GGUFReader(sound)
    tensor = next(tensor for tensor in reader.tensors if tensor.name.endswith("attn_output.weight.lora_b"))
    content[tensor.data_offset : tensor.data_offset + 4] = np.float32("nan").tobytes()
    target.write_bytes(content)
    return target
