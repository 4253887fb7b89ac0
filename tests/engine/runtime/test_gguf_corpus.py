"""Hostile model files: refused with a reason, or harmless. A child may die of them; this process never does."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.errors import AgentError, BadModelFile, ModelProblem, RuntimeFailed
from engine.runtime.child import ChildRuntime
from engine.runtime.gguf import check_adapter, check_base, read_header
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterStack, Finished, LoadPlan, Request, Token
from engine.runtime.quarantine import Quarantine
from tests.support.adapters import write_random_adapter
from tests.support.corpus import Malformed, corpus, mutation
from tests.support.models import tiny_moe

pytestmark = pytest.mark.model

PATIENCE_S = 5.0
LEAST_FILES = 40
SEED = 20261129


class Deadline:
    """A stop flag that sets itself."""

    def __init__(self, after_s: float) -> None:
        self._end = time.monotonic() + after_s

    def is_set(self) -> bool:
        return time.monotonic() > self._end


def plan(base: Path) -> LoadPlan:
    return LoadPlan(
        str(base),
        context_tokens=128,
        pool_tokens=128,
        max_views=2,
        threads=1,
        batch_tokens=64,
        micro_batch_tokens=64,
        snapshot_bytes=1 << 20,
        parked_bytes=1 << 20,
    )


@dataclass
class Trial:
    """Tries files the way the program does: checks, then a child, then a few words with it."""

    good_base: Path
    record: Path
    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base_header = read_header(self.good_base)
        self.runtime = self.new_runtime()
        self.has_good_base = False

    def new_runtime(self) -> ChildRuntime:
        return ChildRuntime(quarantine=Quarantine(self.record), silence_s=PATIENCE_S)

    def accepts(self, file: Path, kind: str) -> bool:
        """Whether our own checks let the file through. Anything but a ModelProblem with a reason rises."""
        try:
            header = read_header(file)
            if kind == "base":
                check_base(header)
            else:
                check_adapter(header, self.base_header)
        except ModelProblem as refused:
            assert len(refused.problem) > len(file.name) + 10, "it says what is wrong"
            assert refused.hint
            self._count("refused in Python", file, refused.problem)
            return False
        return True

    def use(self, file: Path, kind: str) -> str:
        """What becomes of a file that was let through."""
        try:
            outcome, reason = self._speak(file, kind), ""
        except AgentError as error:
            outcome, reason = "refused by llama.cpp", error.problem
            if isinstance(error, RuntimeFailed) and "ended unexpectedly" in reason:
                outcome = "crashed the child"
                self.check_remembered(file, kind)
            assert reason
        self._count(outcome, file, reason)
        return outcome

    def check_remembered(self, file: Path, kind: str) -> None:
        """In this runtime and in the next process's."""
        for runtime in (self.runtime, self.new_runtime()):
            before = runtime.process_id
            with pytest.raises(BadModelFile, match="crashed the engine"):
                if kind == "base":
                    runtime.load(plan(file))
                else:
                    list(runtime.generate([Request((5, 6), 2, (adapter_ref(file),))]))
            assert runtime.process_id == before, "no child was started for it"
            if runtime is not self.runtime:
                runtime.close()

    def _speak(self, file: Path, kind: str) -> str:
        stack: AdapterStack = ()
        if kind == "base":
            self.has_good_base = False
            self.runtime.load(plan(file))
        else:
            if not self.has_good_base:
                self.runtime.load(plan(self.good_base))
                self.has_good_base = True
            stack = (adapter_ref(file),)
        prompt = self.runtime.encode("Hello, 你好 wörld.\n") or (5, 6, 7)
        request = Request(prompt, 4, stack, logprobs=0)
        pieces = list(self.runtime.generate([request], Deadline(PATIENCE_S)))
        end = pieces[-1]
        assert isinstance(end, Finished)
        if end.reason == "stopped":
            return "hung until it was stopped"
        self.runtime.decode([piece.token for piece in pieces if isinstance(piece, Token)])
        return "works"

    def _count(self, outcome: str, file: Path, reason: str) -> None:
        self.counts[outcome] += 1
        self.reasons[file.name] = f"{outcome}: {reason[:100]}"


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_adapter(tiny_moe(), tmp_path_factory.mktemp("adapter") / "good.gguf")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    trial = Trial(tiny_moe(), tmp_path_factory.mktemp("record") / "quarantine.json")
    yield trial
    trial.runtime.close()


def files(adapter: Path) -> dict[str, Malformed]:
    return {malformed.name: malformed for malformed in corpus(tiny_moe(), adapter)}


NAMES = sorted(files(tiny_moe()))


def test_the_corpus_is_large_and_begins_with_good_files(trial: Trial, adapter: Path) -> None:
    assert len(NAMES) >= LEAST_FILES
    assert trial.accepts(tiny_moe(), "base")
    assert trial.accepts(adapter, "adapter")
    assert trial.use(tiny_moe(), "base") == "works"
    assert trial.use(adapter, "adapter") == "works"


@pytest.mark.parametrize("name", NAMES)
def test_a_malformed_file_is_refused_or_harmless(trial: Trial, adapter: Path, tmp_path: Path, name: str) -> None:
    malformed = files(adapter)[name]
    file = malformed.write(tmp_path)
    started = time.perf_counter()
    accepted = trial.accepts(file, malformed.kind)
    assert time.perf_counter() - started < 1.0, "whatever it announces, refusing takes no time"
    if accepted:
        trial.use(file, malformed.kind)


REASONS = {
    "base big-endian": "big-endian",
    "base version 99": "version is 99",
    "base 2^63 tensors": "9223372036854775808 tensors",
    "base key that is no text": "at byte 11862 has a name that is no valid text",
    "base value twice": "general.architecture twice",
    "base arrays without end": "general.odd is an array of arrays",
    "base 2^40 texts": "general.odd announces 1099511627776 texts",
    "base alignment 3": "general.alignment is 3",
    "base tensor twice": r"blk.0.attn_norm.weight twice",
    "base dimensions that overflow": r"blk.0.attn_qkv.weight has shape \[4294967296, 4294967296\]",
    "base tensors that overlap": "blk.0.attn_norm.weight begins at byte 0",
    "base ends in the data": "output_norm.weight lies outside the file",
    "base stretched to 1 TB": "1099511627776 bytes, of which its header accounts for",
    "base part of a split model": "one part of a model that was split into 3 files",
    "base no blocks": "qwen35moe.block_count is `0`",
    "base blocks missing": "qwen35moe.block_count is missing",
    "base 3 key heads": "qwen35moe.attention.head_count_kv is `3`",
    "base 9 of 8 experts used": "qwen35moe.expert_used_count is `9`",
    "base rope of 0": "qwen35moe.rope.dimension_count is `0`",
    "base norm epsilon NaN": "qwen35moe.attention.layer_norm_rms_epsilon is `nan`",
    "base vocabulary of 511": "token_type has 512 entries for 511 tokens",
    "base a token twice": "tokens holds 1 tokens twice",
    "base tokens that are no text": "tokens holds",
    "base token types too few": "token_type has 500 entries for 512 tokens",
    "base token types as floats": "token_type is no list of INT32",
    "base scores too few": "scores has 10 entries",
    "base token table with too few rows": r"token_embd.weight has shape \[64, 500\]",
    "base no vocabulary at all": "no vocabulary",
    "base matrix of bytes": "blk.0.attn_qkv.weight is of type I8",
    "adapter alpha NaN": "adapter.lora.alpha .it is nan",
    "adapter alpha missing": "adapter.lora.alpha .it is missing",
    "adapter half a pair": "blk.0.attn_qkv.weight has only one half",
    "adapter experts as a fourth dimension": "blk.0.ffn_up_exps.weight has a fourth dimension",
    "adapter a tensor that is no half": "holds blk.0.bias, which is no LoRA weight",
}


@pytest.mark.parametrize(("name", "reason"), REASONS.items(), ids=list(REASONS))
def test_the_reason_names_the_place(trial: Trial, adapter: Path, tmp_path: Path, name: str, reason: str) -> None:
    malformed = files(adapter)[name]
    with pytest.raises(ModelProblem, match=reason):
        header = read_header(malformed.write(tmp_path))
        if malformed.kind == "base":
            check_base(header)
        else:
            check_adapter(header, trial.base_header)


CRASHING = {
    "base as many expert groups as experts": "while it is loaded",
    "base attention in every 0th block": "while it is loaded, by a division",
    "base tokenizer needs byte tokens": "at the first text",
    "base matrix of 32-bit integers": "at the first token",
}
"""Files that get through our checks and end the child."""


@pytest.mark.parametrize("name", CRASHING, ids=list(CRASHING.values()))
def test_a_file_that_crashes_the_child_is_remembered_and_the_next_file_works(
    trial: Trial, adapter: Path, tmp_path: Path, name: str
) -> None:
    file = files(adapter)[name].write(tmp_path)
    trial.record.unlink(missing_ok=True)

    assert trial.accepts(file, "base")
    assert trial.use(file, "base") == "crashed the child"
    assert trial.use(tiny_moe(), "base") == "works"


def mutants(adapter: Path, count: int, seed: int) -> Iterator[Malformed]:
    """Alternately of the base and of the adapter."""
    source = random.Random(seed)
    originals = {"base": tiny_moe(), "adapter": adapter}
    data = {kind: path.read_bytes() for kind, path in originals.items()}
    ends = {kind: read_header(path).header_bytes for kind, path in originals.items()}
    for number in range(count):
        kind = "base" if number % 2 == 0 else "adapter"
        changed = mutation(data[kind], ends[kind], source)
        yield Malformed(f"mutant {number}", kind, lambda changed=changed: changed)  # type: ignore[misc,arg-type]


def test_random_damage_is_refused_or_harmless(trial: Trial, adapter: Path, tmp_path: Path) -> None:
    accepted = []
    for malformed in mutants(adapter, 150, SEED):
        file = malformed.write(tmp_path)
        if trial.accepts(file, malformed.kind):
            accepted.append((file, malformed.kind))
    assert len(accepted) < 100, "most damage is seen"
    for file, kind in random.Random(SEED).sample(accepted, 10):
        trial.use(file, kind)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_two_thousand_mutations_and_the_whole_corpus(
    adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, source in (
        ("corpus", corpus(tiny_moe(), adapter)),
        ("mutations", mutants(adapter, 2000, SEED + 1)),
    ):
        trial = Trial(tiny_moe(), tmp_path / f"{name}.json")
        for malformed in source:
            file = malformed.write(tmp_path)
            if trial.accepts(file, malformed.kind):
                trial.use(file, malformed.kind)
            file.unlink()
        trial.runtime.close()
        with capsys.disabled():
            print(f"\n{name}: {sum(trial.counts.values())} files: {dict(trial.counts)}")
            for file_name, reason in trial.reasons.items():
                if reason.startswith(("crashed", "hung")):
                    print(f"  {file_name}: {reason}")
