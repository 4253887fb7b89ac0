"""Folding as a task: a running memory is written anew over some messages, then a question is answered from it alone.

All writes of a branch and its answer are one trajectory: they share the advantage of the one reward (Multi-conv DAPO,
Yu et al. 2025, arXiv:2507.02259). The prompts, the verifying of what is proposed and the merging are those of serving
(`engine.memory.folding`), but for the rules' own lines, which would leave nothing to learn. Light: no torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.harness.prompt import Folded, Harness, PromptState, build, head
from engine.memory.folding.asking import writing_prompt
from engine.memory.folding.noting import Noted, is_pinned
from engine.memory.folding.values import NOTHING, FoldedLine, RunningMemory
from engine.memory.folding.writing import fitted, merged
from engine.memory.writing.model_proposals import read_proposals
from engine.memory.writing.own_words import own_sentences
from engine.memory.writing.verifying import Refused, Said, verify
from engine.runtime.protocol import Encoder, Tokens

MEMORY_TOKENS: Final = 64
"""Of the lines of a running memory, where a task does not say."""


@dataclass(frozen=True, slots=True)
class FoldingPrompts:
    """What an expert reads on the way through one task."""

    expert: str
    harness: Harness
    messages: tuple[str, ...]
    """Of the user, each folded by one write."""
    question: str
    memory_tokens: int = MEMORY_TOKENS

    def longest(self, encoder: Encoder) -> Tokens:
        """The longest prompt on the way while nothing is remembered."""
        writes = [self.to_write(encoder, NOTHING, number) for number in range(len(self.messages))]
        return max((*writes, self.to_answer(encoder, NOTHING)), key=len)

    def to_write(self, encoder: Encoder, memory: RunningMemory, number: int) -> Tokens:
        """The prompt of the write over message `number`, from 0, after `memory`."""
        return writing_prompt(self.harness, encoder, self.expert, memory, own_sentences(self.messages[number]))

    def after(self, encoder: Encoder, memory: RunningMemory, number: int, written: str) -> RunningMemory:
        """The running memory once `written` was written over message `number`: what can be verified, in bounds."""
        message = self.messages[number]
        said = Said(message, own_sentences(message))
        lines: Sequence[FoldedLine] = memory.lines
        for proposal in read_proposals(written):
            verdict = verify(proposal, said)
            if not isinstance(verdict, Refused):
                line = FoldedLine(verdict.kind, verdict.text, str(number), is_pinned(verdict))
                lines = merged(lines, Noted(line, verdict.evidence, verdict))
        return fitted(lines, self.memory_tokens, lambda line: len(encoder.encode(f"- {line.shown}\n"))).memory

    def to_answer(self, encoder: Encoder, memory: RunningMemory) -> Tokens:
        """The question, under a head that holds the memory and nothing else of the messages."""
        folded = Folded(len(self.messages), memory.shown)
        beginning = head(self.harness, encoder, self.expert, folded)
        state = PromptState(self.expert, beginning, (), (), self.question)
        return build(state, self.harness, encoder, folded).tokens
