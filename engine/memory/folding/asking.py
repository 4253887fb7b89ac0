"""What a model is asked when turns are folded: which of the user's words must still be known, one JSON object a line.

Pure but for the encoder it is given. The same prompt serves and trains. The model reads only what the user says for
themselves, so that no text of others can steer it, and whatever it proposes is verified against those words.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from engine.harness.prompt import Harness, PromptState, build, head
from engine.memory.folding.values import RunningMemory
from engine.memory.writing.model_proposals import read_proposals
from engine.memory.writing.own_words import own_sentences
from engine.memory.writing.proposals import Proposal
from engine.runtime.protocol import Encoder, Tokens
from engine.values import TurnRecord

ANSWER_TOKENS: Final = 256
_INSTRUCTION: Final = """These are sentences of a user from earlier in a conversation. Which of them must still be \
known later in it? Write one line of JSON for each such fact and nothing else:
{"kind": "fact", "text": "...", "evidence": "..."}
"kind" is preference, fact, relation, plan or instruction. "text" says it in the user's language in at most twenty \
words. "evidence" repeats the user's sentence exactly. Add no name, no number and nothing else that they did not say. \
Leave out what is known already."""


def writing_prompt(
    harness: Harness, encoder: Encoder, expert: str, before: RunningMemory, sentences: Sequence[str]
) -> Tokens:
    """What `expert` reads to propose lines for `sentences`, beside what is known."""
    known = "\n".join(f"- {line}" for line in before.shown)
    said = "\n".join(f"- {sentence}" for sentence in sentences)
    parts = (_INSTRUCTION, f"Known already:\n{known}" if known else "", f"The user's sentences:\n{said}")
    message = "\n\n".join(part for part in parts if part)
    beginning = head(harness, encoder, expert, with_tools=False)
    return build(PromptState(expert, beginning, (), (), message), harness, encoder, with_tools=False).tokens


def sentences_of(turn: TurnRecord) -> tuple[str, ...]:
    """What of a turn the model may read."""
    return own_sentences(turn.user_text, turn.provenance, turn.attachments)


def proposals_by_turn(answer: str, turns: Sequence[TurnRecord]) -> Mapping[str, Sequence[Proposal]]:
    """What a model has proposed, by the turn in which the user said it; what nobody said is left out."""
    found: dict[str, list[Proposal]] = {}
    for proposal in read_proposals(answer):
        said = [turn.turn_id for turn in turns if proposal.evidence.strip() in sentences_of(turn)]
        if said:
            found.setdefault(said[-1], []).append(proposal)
    return found
