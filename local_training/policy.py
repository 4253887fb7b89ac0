"""The policy that learns: the frozen base, the expert's frozen adapter where it has one, and one adapter in training.

Token ids in, log-probabilities of answer tokens out. Knows no loss, no optimizer, no tokenizer and no reward. Adapters
come and go as PEFT folders. One call at a time: which adapters are active is a state of the model.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import torch
from peft import LoraConfig, LoraModel
from peft.functional import cast_adapter_dtype
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from engine.adapters.lora import Pairs
from engine.adapters.peft_folder import config_of, read_peft, write_peft
from engine.errors import AdapterMismatch, UsageProblem
from engine.runtime.protocol import Tokens
from local_training.adapter_layers import lora_layers, lora_like, new_lora, put_pairs, take_pairs
from local_training.base_model import LINEAR_KINDS, best_device, load_base
from local_training.training_memory import Memory, training_memory

Active = Literal["policy", "anchor", "base"]
"""Which weights compute: all of them; without the trained adapter (what KL is measured against); the bare base."""

_TRAINED: Final = "personal"
_EXPERT: Final = "expert"
_HEAD_ROWS: Final = 256
"""Rows of logits (one per answer token) that exist at a time; the vocabulary makes them the largest of all tensors."""
_ADAM_COPIES: Final = 4
"""Weights, gradients and two moments."""


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt and the answer whose tokens are scored. Neither may be empty."""

    prompt: Tokens
    answer: Tokens


def load_policy(
    base: Path,
    *,
    expert: Path | None = None,
    rank: int = 8,
    alpha: float = 32.0,
    seed: int = 0,
    checkpointing: bool = False,
    device: torch.device | None = None,
) -> "Policy":
    """A policy over the GGUF `base`; its new adapter changes nothing yet and is the same for the same seed.

    expert: PEFT folder of the frozen adapter to stack on.
    checkpointing: compute a block's activations again in the backward pass; less memory, a third more time.

    Raises: ModelMissing, BadModelFile, ModelProblem, AdapterMismatch, OutOfMemory.
    """
    model = load_base(base, device or best_device())
    frozen = read_peft(expert).pairs if expert else None
    return Policy(model, name=base.name, expert=frozen, rank=rank, alpha=alpha, seed=seed, checkpointing=checkpointing)


class Policy:
    """A transformers model of the llama or qwen3 family with LoRA on all linear layers of its blocks.

    Takes the model over: freezes it, puts adapters into it.

    Raises: AdapterMismatch when `expert` was made for another base.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        name: str,
        expert: Pairs | None = None,
        rank: int = 8,
        alpha: float = 32.0,
        seed: int = 0,
        checkpointing: bool = False,
    ) -> None:
        self._name = name
        self._rank, self._alpha, self._checkpointing = rank, float(alpha), checkpointing
        self._stack = [_TRAINED] if expert is None else [_EXPERT, _TRAINED]
        self.model: Any = model
        self.model.train(False)  # nothing random in a forward pass, whoever runs it
        self._tuner: LoraModel | None = None
        self._inject(_TRAINED, new_lora(rank, alpha, LINEAR_KINDS), seed)
        if expert is not None:
            self._add_expert(expert)
        self._activate("policy")
        # transformers' own checkpointing takes the cache away from the blocks, and with it the prompt of a replay.
        for block in self._backbone.layers if checkpointing else ():
            block.forward = partial(_checkpointed, block.forward)

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.model.parameters()).device
        return device

    @property
    def number_type(self) -> torch.dtype:
        """Of activations."""
        data_type: torch.dtype = self._backbone.embed_tokens.weight.dtype
        return data_type

    @property
    def trainable(self) -> tuple[torch.nn.Parameter, ...]:
        """Weights of the adapter that is trained, in an order that is the same every time."""
        return tuple(weight for name, weight in self.model.named_parameters() if f".{_TRAINED}." in name)

    @property
    def memory(self) -> Memory:
        weights = trained = frozen = 0
        for name, weight in self.model.named_parameters():
            if "lora_" not in name:
                weights += weight.nbytes
            elif f".{_TRAINED}." in name:
                trained += weight.nbytes
            else:
                frozen += weight.nbytes
        return training_memory(
            self.model.config,
            weights=weights,
            adapters=frozen + _ADAM_COPIES * trained,
            widths=sum(sum(layer.base_layer.weight.shape) for _, layer in lora_layers(self.model)),
            number_bytes=self.number_type.itemsize,
            checkpointing=self._checkpointing,
            logit_tokens=_HEAD_ROWS,
        )

    @contextlib.contextmanager
    def using(self, active: Active) -> Iterator[None]:
        """Compute with these weights inside the block, and with the whole policy again after it."""
        self._activate(active)
        try:
            yield
        finally:
            self._activate("policy")

    def hidden(
        self,
        ids_BT: torch.Tensor,
        cache: Any = None,
        *,
        positions_BT: torch.Tensor | None = None,
        mask_B1TT: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Last hidden states (B, T, width) of tokens that follow what `cache` holds. Right padding is harmless.

        positions_BT, mask_B1TT: where tokens stand and what is added to their attention, if not one after the other.
        """
        output = self._backbone(
            input_ids=ids_BT,
            position_ids=positions_BT,
            attention_mask=mask_B1TT,
            cache=cache,
            use_cache=cache is not None,
        )
        hidden: torch.Tensor = output.last_hidden_state
        return hidden

    def token_logprobs(self, hidden_NH: torch.Tensor, targets_N: torch.Tensor) -> torch.Tensor:
        """float32 (N): log-probability in nats of each target after its hidden state, before temperature.

        Logits of many tokens exist for a few rows at a time and are computed again in the backward pass.
        """
        if len(targets_N) <= _HEAD_ROWS:
            return self._head_logprobs(hidden_NH, targets_N)
        parts = [
            checkpoint(self._head_logprobs, rows_NH, goals_N, use_reentrant=False)
            for rows_NH, goals_N in zip(
                torch.split(hidden_NH, _HEAD_ROWS), torch.split(targets_N, _HEAD_ROWS), strict=True
            )
        ]
        return torch.cat(parts)

    def logprobs(self, examples: Sequence[Example]) -> tuple[torch.Tensor, ...]:
        """float32 (T) per example: the log-probabilities of its answer's tokens, from one padded batch in one graph.

        Raises: UsageProblem when a prompt or an answer is empty.
        """
        if not examples:
            return ()
        if any(not example.prompt or not example.answer for example in examples):
            raise UsageProblem("An example has no prompt or no answer.", "Leave it out: there is nothing to learn.")
        return self.answer_logprobs(self.answer_hidden(examples), [example.answer for example in examples])

    def answer_hidden(self, examples: Sequence[Example]) -> tuple[torch.Tensor, ...]:
        """(T, width) per example: the hidden states that precede its answer's tokens, from one padded batch."""
        # The last token of an answer predicts nothing that is scored.
        ids_BT = pad([example.prompt + example.answer[:-1] for example in examples], self.device)
        hidden_BTH = self.hidden(ids_BT)
        return tuple(
            hidden_BTH[row, len(example.prompt) - 1 :][: len(example.answer)] for row, example in enumerate(examples)
        )

    def kl(self, from_NH: torch.Tensor, to_NH: torch.Tensor) -> torch.Tensor:
        """float32 (N): KL in nats between what the hidden states `from_NH` and `to_NH` predict, over all tokens."""
        return torch.cat(
            [
                checkpoint(self._head_kl, one_NH, other_NH, use_reentrant=False)
                for one_NH, other_NH in zip(
                    torch.split(from_NH, _HEAD_ROWS), torch.split(to_NH, _HEAD_ROWS), strict=True
                )
            ]
        )

    def answer_logprobs(self, rows_TH: Sequence[torch.Tensor], answers: Sequence[Tokens]) -> tuple[torch.Tensor, ...]:
        """float32 (T) per answer, from the hidden states that precede its tokens."""
        targets_N = torch.tensor([token for answer in answers for token in answer], device=self.device)
        logprobs_N = self.token_logprobs(torch.cat(list(rows_TH)), targets_N)
        return tuple(torch.split(logprobs_N, [len(answer) for answer in answers]))

    def save(self, folder: Path) -> None:
        """Write the trained adapter as a PEFT folder, over one that is there.

        Raises: DiskFull, AgentError.
        """
        write_peft(folder, take_pairs(self.model, _TRAINED, self._alpha), base_name=self._name, overwrite=True)

    def restore(self, folder: Path) -> None:
        """Go on from an adapter that `save` wrote, bit by bit the same.

        Raises: ModelMissing, BadModelFile, AdapterMismatch; the adapter is unchanged then.
        """
        saved = read_peft(folder).pairs
        layers = {path for path, _ in lora_layers(self.model)}
        mine = (self._rank, self._alpha)
        if saved.keys() != layers or any((pair.rank, pair.alpha) != mine for pair in saved.values()):
            found = config_of(saved)
            raise AdapterMismatch(
                f"The adapter in {folder.name} has another rank, alpha or set of layers than this run's.",
                f"Continue with the rank ({found.rank}) and alpha ({found.alpha:g}) it was trained with.",
            )
        put_pairs(self.model, _TRAINED, saved, self._name)

    def scale(self, factor: float) -> None:
        """Make the trained adapter change the model by so much of what it does now."""
        with torch.no_grad():
            for _, layer in lora_layers(self.model):
                layer.lora_B[_TRAINED].weight.mul_(factor)

    @property
    def _backbone(self) -> Any:
        return self.model.model  # both families call it so

    def _inject(self, adapter_name: str, config: LoraConfig, seed: int = 0) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if self._tuner is None:
                self._tuner = LoraModel(self.model, config, adapter_name)
            else:
                self._tuner.peft_config[adapter_name] = config
                self._tuner.inject_adapter(self.model, adapter_name)
        # The base may be bfloat16; steps of an optimizer would get lost in that.
        cast_adapter_dtype(self.model, adapter_name)

    def _add_expert(self, expert: Pairs) -> None:
        unknown = sorted(set(expert) - {path for path, _ in lora_layers(self.model)})
        if unknown:
            raise AdapterMismatch(
                f"The expert's adapter changes {unknown[0]}, which {self._name} does not have.",
                "Use an adapter that was made for this base.",
            )
        self._inject(_EXPERT, lora_like(expert))
        put_pairs(self.model, _EXPERT, expert, self._name)

    def _activate(self, active: Active) -> None:
        names = {"policy": self._stack, "anchor": self._stack[:-1], "base": []}[active]
        for _, layer in lora_layers(self.model):
            layer.enable_adapters(bool(names))
            if names:
                layer.set_adapter(names)
        # PEFT makes every active adapter trainable and every disabled one not; here one is, always.
        for name, weight in self.model.named_parameters():
            weight.requires_grad_(f".{_TRAINED}." in name)

    def _head_kl(self, from_NH: torch.Tensor, to_NH: torch.Tensor) -> torch.Tensor:
        before_NV, after_NV = (self.model.lm_head(rows).float().log_softmax(dim=1) for rows in (from_NH, to_NH))
        divergence_N: torch.Tensor = (before_NV.exp() * (before_NV - after_NV)).sum(dim=1)
        return divergence_N

    def _head_logprobs(self, hidden_NH: torch.Tensor, targets_N: torch.Tensor) -> torch.Tensor:
        logits_NV = self.model.lm_head(hidden_NH).float()
        chosen_N = logits_NV.gather(1, targets_N[:, None])[:, 0]
        logprobs_N: torch.Tensor = chosen_N - logits_NV.logsumexp(dim=1)
        return logprobs_N


def pad(sequences: Sequence[Tokens], device: torch.device) -> torch.Tensor:
    """int64 (B, T), filled with token 0 on the right, where causal attention lets nothing see it."""
    longest = max(len(tokens) for tokens in sequences)
    return torch.tensor([[*tokens, *([0] * (longest - len(tokens)))] for tokens in sequences], device=device)


def _checkpointed(forward: Any, *args: Any, **kwargs: Any) -> Any:
    if not torch.is_grad_enabled():
        return forward(*args, **kwargs)
    return checkpoint(forward, *args, use_reentrant=False, **kwargs)
