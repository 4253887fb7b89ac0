"""How much memory training takes, from the shape of a model. Pure arithmetic; loads nothing and asks no system."""

from dataclasses import dataclass
from typing import Any, Final

_FLOATS_PER_WIDTH: Final = 1.2
"""Numbers kept for the backward pass per input or output of a linear layer: 1.0 were measured for llama, 1.15 for
qwen3."""
_LOGIT_COPIES: Final = 3
"""The logits, their float32 copy or exponentials, and their gradient."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What training takes, in bytes, beside what Python and torch take for themselves.

    Weights, adapters and the prompt's keys and values are counted; the rest estimates what the backward pass keeps.
    A process on the CPU was seen to take up to 100 MB more than that.
    """

    weights: int
    """Of the frozen base."""
    adapters: int
    """Weights of all adapters; of the trainable one also gradients and the two moments of Adam."""
    prompt_token: int
    """Keys and values, kept once per prompt token while its branches are replayed."""
    replayed_token: int
    """The same as the backward pass keeps it, per prompt token and branch in one graph."""
    branch_token: int
    """Activations kept for the backward pass, per branch token in one graph."""
    logit_token: int
    """Logits and their gradients, per answer token, of which `logit_tokens` exist at a time."""
    logit_tokens: int

    def peak(self, prompt_tokens: int, branch_tokens: int, at_once: int = 1) -> int:
        """Of one call of `accumulate`, with branches of `branch_tokens` and `at_once` of them in one graph.

        With the gradient through the prompt, its tokens count as tokens of one more branch.
        """
        in_graph = branch_tokens * at_once
        prompt = prompt_tokens * (self.prompt_token + at_once * self.replayed_token)
        branches = in_graph * self.branch_token + min(in_graph, self.logit_tokens) * self.logit_token
        mask = 4 * in_graph * (prompt_tokens + branch_tokens)
        return self.weights + self.adapters + prompt + branches + mask


def training_memory(
    config: Any,
    *,
    weights: int,
    adapters: int,
    widths: int,
    number_bytes: int,
    checkpointing: bool,
    logit_tokens: int,
) -> Memory:
    """For a llama or qwen3 model with this transformers `config`.

    widths: inputs plus outputs, summed over the linear layers of all blocks.
    number_bytes: of one activation, 4 for float32.
    """
    # With checkpointing the backward pass computes one block after the other again, from its inputs.
    blocks = 1 if checkpointing else config.num_hidden_layers
    cache = 2 * config.num_key_value_heads * config.head_dim * number_bytes
    # Keys and values are repeated for the heads that share them.
    repeated = 2 * config.num_attention_heads * config.head_dim * number_bytes
    kept = _FLOATS_PER_WIDTH * number_bytes * widths * blocks / config.num_hidden_layers
    return Memory(
        weights=weights,
        adapters=adapters,
        prompt_token=cache * config.num_hidden_layers,
        replayed_token=(cache + repeated) * blocks,
        branch_token=int(kept) + config.num_hidden_layers * config.hidden_size * number_bytes,
        logit_token=_LOGIT_COPIES * 4 * config.vocab_size,
        logit_tokens=logit_tokens,
    )
