"""One loaded Mixture-of-LoRA as a value: what runs, under which texts, with which adapters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.harness.formats import ChatFormat
from engine.harness.prompt import Harness, make_harness
from engine.routing.profile import Profile
from engine.runtime.protocol import AdapterRef, AdapterStack, ModelInfo, Tokens
from engine.values import Trace


def harness_of(profile: Profile, chat_format: ChatFormat, markup: Mapping[str, int]) -> Harness:
    """The harness that a profile asks for."""
    systems = {expert.expert: expert.system for expert in profile.experts}
    return make_harness(systems, profile.texts.summary, chat_format, markup, thinking=profile.thinking)


@dataclass(frozen=True, slots=True)
class Mixture:
    profile: Profile
    harness: Harness
    info: ModelInfo
    stacks: Mapping[str, AdapterStack]
    """The adapters that every expert of the profile came with; empty for the bare base."""
    personal: Mapping[str, AdapterRef] = field(default_factory=dict)
    """What is stacked on them now, by expert. The router runs without: its answers are not what was learned."""

    def stack(self, expert: str) -> AdapterStack:
        """What this expert answers under."""
        own = self.personal.get(expert)
        return self.stacks[expert] if own is None else (*self.stacks[expert], own)

    @property
    def answering_stacks(self) -> Mapping[str, AdapterStack]:
        """`stack` of every expert."""
        return {expert: self.stack(expert) for expert in self.stacks}

    def trace(
        self,
        turn_id: str,
        kind: Literal["route", "answer", "summary", "delegate"],
        expert: str,
        prompt: Tokens,
        completion: Tokens,
        seed: int = 0,
    ) -> Trace:
        """What `expert` just read and wrote, with everything needed to repeat it."""
        return Trace(
            turn_id,
            kind,
            expert,
            prompt,
            completion,
            self.stacks[expert] if kind == "route" else self.stack(expert),
            self.info.base_hash,
            self.harness.version,
            seed,
        )
