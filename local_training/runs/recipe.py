"""A recipe: what is learned, from which file, with which settings, and when to stop. TOML in, checked values out.

Every complaint names the key, because people write recipes by hand. Paths are relative to the recipe. Light: no torch.

    kind = "rl"                # sft, rft, dpo, kto or rl
    data = "questions.jsonl"   # tasks for rl and rft, examples for the others
    steps = 20

    [rollouts]
    branches = 8
"""

import tomllib
import unicodedata
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from engine.errors import UsageProblem

Kind = Literal["sft", "rft", "dpo", "kto", "rl"]
SAMPLING_KINDS: Final = frozenset({"rft", "rl"})
"""Kinds that learn from what the policy writes itself, hence need tasks and rollouts; the others need examples."""
_MOST_RECIPE_BYTES: Final = 1 << 20
_FAULTS_SHOWN: Final = 20


def _readable(name: str) -> str:
    if not name.strip() or any(unicodedata.category(character) == "Cc" for character in name):
        raise ValueError("must be a name, without line ends or other control characters")
    return name


Name = Annotated[str, AfterValidator(_readable)]
"""Of a file or an expert."""


class _Table(BaseModel):
    # Strict: "8" in quotes is a mistake, not a number.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class AdapterTable(_Table):
    """The adapter that is trained."""

    rank: int = Field(default=8, ge=1, le=512)
    alpha: float = Field(default=32.0, ge=1e-6, le=1e6)


class OptimizerTable(_Table):
    """AdamW. The rate rises in a line over `warmup_steps` and stays, or falls in a line to 0 after the last step."""

    rate: float = Field(default=1e-4, gt=0, le=1)
    warmup_steps: int = Field(default=2, ge=0)
    schedule: Literal["constant", "linear"] = "constant"
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.99, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0, le=1)
    clip_norm: float = Field(default=1.0, gt=0)
    """Longest gradient; longer ones are shortened to it."""


class BatchTable(_Table):
    """What one optimizer step learns from, and how it is put through the model."""

    examples: int = Field(default=16, ge=1, le=4096)
    """Of sft, dpo and kto."""
    order: Literal["shuffled", "file"] = "shuffled"
    """Of sft: in random orders, or as the examples stand in the file, which can then begin with what is easy."""
    pack: int = Field(default=1, ge=1, le=1024)
    """Of sft: so many examples that follow each other in the file and begin alike are drawn together. What examples of
    a step have in common is read once in any case."""
    prompts: int = Field(default=6, ge=1, le=1024)
    """Of rl and rft: groups of branches that teach something."""
    graph_tokens: int = Field(default=1024, ge=1)
    """Tokens that one graph may hold; fewer take less memory."""
    short_prompt_tokens: int = Field(default=1024, ge=0)
    """Longer prompts are replayed: read once without gradient, their branches one at a time."""
    through_prompt: bool = True
    """Let the gradient flow through short prompts."""
    checkpointing: bool = False
    """Compute activations again in the backward pass; less memory, a third more time."""


class RolloutTable(_Table):
    """How rl and rft let the policy write."""

    branches: int = Field(default=8, ge=2, le=256)
    max_tokens: int = Field(default=256, ge=1, le=1 << 17)
    temperature: float = Field(default=1.0, gt=0, le=10)
    """At 1 the gradient is that of the policy that sampled; below it fewer answers are wild, and the gradient is that
    of the policy at 1 over the answers of the cooler one."""
    together: int = Field(default=16, ge=1, le=256)
    waves: int = Field(default=2, ge=1, le=16)
    """Draws per step at most, where groups teach nothing."""
    context_tokens: int = Field(default=2048, ge=64)
    """Longest prompt plus answer."""


class RewardTable(_Table):
    """What is added to the rewards that the tasks name."""

    length_strength: float = Field(default=0.0, ge=0, le=1)
    """What a right answer loses for length: 0 nothing, 1 all of it at `max_tokens` beyond the shortest right one."""
    longest_tokens: int | None = Field(default=None, ge=1)
    """The length at which it loses all of that; `max_tokens` where it is not given."""
    overlong_tokens: int = Field(default=0, ge=0)
    """Over so many tokens before the limit the reward falls by 1; 0 is off."""
    unfinished: Literal["score", "mask"] = "score"
    """Whether answers that were cut off are judged as they stand, or left out."""
    shuffled: bool = False
    """Give the rewards of each step to other branches, at random: a control that must not learn."""


class LossTable(_Table):
    """The numbers of the losses; each kind takes those it has."""

    advantages: Literal["dr_grpo", "grpo"] = "dr_grpo"
    clip_low: float = Field(default=0.2, gt=0, lt=1)
    clip_high: float = Field(default=0.28, gt=0)
    cap: float = Field(default=2.0, ge=1)
    """Truncated importance sampling."""
    band_low: float = Field(default=0.5, ge=0, lt=1)
    band_high: float = Field(default=5.0, gt=1)
    """IcePop: tokens with a weight outside teach nothing."""
    kl: float = Field(default=0.0, ge=0)
    """Weight of the KL to the anchor in rl."""
    familiar: float = Field(default=1.0, gt=0, le=1)
    """sft: answer tokens that the anchor finds more likely than this are not learned, but kept as likely as they were;
    1 learns all of them."""
    keep: int = Field(default=1, ge=1)
    """rft: answers imitated per prompt."""
    at_least: float = 0.5
    """rft: the least reward of an answer that is imitated."""
    beta: float = Field(default=0.1, gt=0)
    """dpo and kto."""
    reference: Literal["zero", "batch"] = "zero"
    """kto: the reference point; `zero` is APO-zero, right for small batches."""


class AnchorTable(_Table):
    """Keeps the policy where the anchor is on everyday requests, which no recipe is about."""

    weight: float = Field(default=0.0, ge=0, le=1000)
    """Of KL(anchor || policy) on them, in nats a token, in what is minimised; 0 is off."""
    requests: int = Field(default=64, ge=1)
    """Requests that the anchor answers once, before the first step; at most as many as there are."""
    leave_out: tuple[Literal["en", "zh"], ...] = Field(default=(), strict=False)
    """Languages of requests that the recipe is about after all."""
    tokens: int = Field(default=48, ge=1, le=4096)
    """Of each answer, at most."""
    batch: int = Field(default=8, ge=1, le=1024)
    """Answers that one step is held to."""
    within_nats: float | None = Field(default=None, gt=0)
    """How far from the anchor the finished adapter may be on them, as KL a token; one that is further is scaled down to
    that. Not given, it stays as it was trained."""


class EvaluationTable(_Table):
    """Held-out tasks, answered greedily before the first step, every so many steps and after the last."""

    held_out: float = Field(default=0.2, ge=0, lt=1)
    """Share of the tasks or examples that is never trained on."""
    every: int = Field(default=0, ge=0)
    """0: only before the first and after the last step."""
    items: int = Field(default=200, ge=0)
    """At most so many; 0 for no evaluation."""
    max_tokens: int = Field(default=256, ge=1)
    parity: int = Field(default=64, ge=1)
    """Answers, at most, on which engine and trainer are compared after the last step."""


class LimitTable(_Table):
    """What the run may take."""

    minutes: float = Field(default=60.0, gt=0)
    """Of wall-clock time over all its starts, pauses not counted. Then it ends with what it has."""
    memory_gib: float = Field(default=0.0, ge=0)
    """Of this process; smaller pieces are tried first. 0: what the machine has."""
    nice: int = Field(default=10, ge=0, le=19)
    threads: int = Field(default=0, ge=0, le=1024)
    """CPU threads; 0 takes as many as there are cores."""


class StopTable(_Table):
    """Rules that end a run early, keeping the adapter of the step before. Those not given are off."""

    kl_general_nats: float | None = Field(default=None, gt=0)
    """KL from the anchor on general texts, a token."""
    kl_target_nats: float | None = Field(default=None, gt=0)
    """KL from the anchor on the answers that are trained."""
    mismatch_nats: float | None = Field(default=0.1, gt=0)
    """Mean distance between the log-probabilities of trainer and sampler, a token."""
    masked_share: float | None = Field(default=0.02, gt=0, le=1)
    """Tokens outside the band."""
    entropy_drop: float | None = Field(default=None, gt=0, le=1)
    """Share of the first step's entropy that may be lost."""
    barren_steps: int = Field(default=3, ge=1)
    """Steps in a row of which all groups were equal."""


class Recipe(_Table):
    kind: Kind
    data: Name
    expert: Name = "L0"
    steps: int = Field(ge=1, le=100_000)
    seed: int = Field(default=0, ge=0, lt=2**31)
    adapter: AdapterTable = AdapterTable()
    optimizer: OptimizerTable = OptimizerTable()
    batch: BatchTable = BatchTable()
    rollouts: RolloutTable = RolloutTable()
    reward: RewardTable = RewardTable()
    loss: LossTable = LossTable()
    anchor: AnchorTable = AnchorTable()
    evaluation: EvaluationTable = EvaluationTable()
    limits: LimitTable = LimitTable()
    stop: StopTable = StopTable()

    @model_validator(mode="after")
    def _fits_together(self) -> "Recipe":
        if self.rollouts.max_tokens >= self.rollouts.context_tokens:
            raise ValueError("rollouts.max_tokens must be below rollouts.context_tokens, which holds the prompt too")
        if self.reward.overlong_tokens > self.rollouts.max_tokens:
            raise ValueError("reward.overlong_tokens must not be above rollouts.max_tokens")
        if self.kind not in SAMPLING_KINDS:
            for name in ("rollouts", "reward"):
                if name in self.model_fields_set:
                    raise ValueError(f"[{name}] belongs to rl and rft; {self.kind} learns from given answers")
        return self


def read_recipe(path: Path) -> Recipe:
    """Raises: UsageProblem when the file cannot be read, or with every key that is wrong."""
    return parse_recipe(recipe_content(path), path.name)


def recipe_content(path: Path) -> bytes:
    """All bytes of a recipe. Raises: UsageProblem when the file cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_RECIPE_BYTES + 1)
    except OSError as error:
        raise UsageProblem(
            f"The recipe {path.name} cannot be read: {error.strerror or error}.",
            "Check its path and whether you may read it.",
        ) from error
    if len(content) > _MOST_RECIPE_BYTES:
        raise UsageProblem(f"{path.name} is too large for a recipe.", "Name the file that begins with `kind = `.")
    return content


def parse_recipe(content: bytes, name: str) -> Recipe:
    """Raises: UsageProblem, as `read_recipe`."""
    try:
        values: dict[str, Any] = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageProblem(f"{name} is not valid TOML: {error}.", "Correct that place.") from error
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        lines = [f"  {'.'.join(map(str, fault['loc'])) or 'recipe'}: {fault['msg']}" for fault in faults]
        shown = "\n".join(lines[:_FAULTS_SHOWN])
        raise UsageProblem(f"{name} has {len(lines)} wrong or missing:\n{shown}", "Correct these keys.") from error
