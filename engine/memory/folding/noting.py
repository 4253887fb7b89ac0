"""The lines that one turn gives to a running memory, by rules in English and Chinese.

Pure. Only what the user typed for themselves becomes a statement, a decision or a number that counts, in their own
words. Of other texts (attached, pasted, imported, from tools) not a word is taken, since the lines stand in the system
text; answers are not either once such a text was read, as they may repeat it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from engine.memory.escaping import escaped
from engine.memory.folding.values import FoldedLine, LineKind
from engine.memory.scripts import simplified
from engine.memory.writing.own_words import own_sentences, own_text
from engine.memory.writing.patterns import any_of
from engine.memory.writing.proposals import Proposal
from engine.memory.writing.proposing import RuleProposer
from engine.memory.writing.verifying import Refused, Said, names_in, verify
from engine.values import TurnRecord

LINE_CELLS: Final = 160
"""Of a decision, a given or an open question; a wide character takes two."""
GIST_CELLS: Final = 72
"""Of what was asked and answered."""
_MOSTLY: Final = 0.5
"""A message of which more is in other lines needs none that says what was asked."""
_LIKINGS: Final = ("liking:", "favourite:")
_THOUGHT: Final = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_WIDE: Final = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]"
)
_NUMBER: Final = re.compile("[0-9]|[一二三四五六七八九十百千两]+(?:[年月号点元块岁万千百]|个月)")
"""A single 一 is more often an article."""
_DECIDED: Final = any_of(
    r"\blet(?:'s|s| us) (?:go with|use|take|keep|stick (?:with|to)|do|call it|settle on|choose|pick|make it)\b",
    r"\b(?:we|I)(?:'ve| have)? (?:just |finally |now )*(?:decided|agreed|settled on|chose|chosen|picked|opted)\b",
    r"\b(?:we|I)(?:'ll| will|'m going to| are going to) (?:go with|use|take|stick (?:with|to)|settle on)\b",
    r"^(?:decision|decided|agreed|final)\b[^:]{0,20}:",
    "(?:那|咱们?|我们)?就(?:用|选|按|定|这么|这样|叫)|决定(?:了|用|选|采用|把|在)?|定(?:了|下来)|说好|选定"
    "|我们(?:采用|改用|选)|确定(?:用|为|是)",
)
_OPEN: Final = any_of(
    r"\bstill (?:need|have) to (?:decide|find out|check|figure|choose|ask)\b",
    r"\b(?:open|unanswered) (?:question|point|issue)\b|\bto be (?:decided|determined|confirmed)\b|\bTBD\b",
    r"\b(?:haven't|have not|hasn't|has not|not) (?:\w+ )?(?:decided|settled|chosen|agreed)(?: \w+)? ?(?:yet)?\b",
    r"\b(?:come|get) back to (?:this|that|it)\b",
    "还没(?:有)?(?:决定|想好|定|确定|选)|待(?:定|确认|办)|以后再|回头再|之后再|改天再|有待|未定",
)
_STATES: Final = any_of(
    r"\b(?:is|are|was|were|costs?|has|have|means?|called|named|starts?|ends?|needs?|weighs?|measures?|lies|stands)\b"
    r"|'s\b|=|:",
    "[是为叫有在要共约]|等于|总共|一共|[:：=]",
)


@dataclass(frozen=True, slots=True)
class Noted:
    """A line and the user's words it is taken from; where it is a statement, the proposal that tells what it ends."""

    line: FoldedLine
    evidence: str = ""
    proposal: Proposal | None = None


def noted_in(
    turn: TurnRecord, *, speaks: bool, is_clean: bool, proposals: Sequence[Proposal] = ()
) -> tuple[Noted, ...]:
    """What it gives, statements first.

    speaks: what the message says may be taken for facts about the user (`engine.memory.writing.frames`).
    is_clean: neither this turn nor one before it holds text that the user did not type.
    proposals: of a model, verified like those of the rules.
    """
    sentences = own_sentences(turn.user_text, turn.provenance, turn.attachments)
    told = list(_statements(turn, Said(turn.user_text, sentences), proposals)) if speaks else []
    known = {noted.evidence for noted in told}
    told += _further(turn, [one for one in map(escaped, sentences) if one not in known])
    covered = sum(map(len, {noted.evidence for noted in told}))
    return (*told, *_gist(turn, covered), *_foreign(turn), *(_answered(turn) if is_clean else ()))


def is_clean_turn(turn: TurnRecord) -> bool:
    """Whether all its text was typed by the user or written by the model."""
    return turn.provenance == "typed" and not turn.attachments and not any(call.is_tainted for call in turn.calls)


def cut(text: str, cells: int) -> str:
    """Its beginning on one line, at most so wide, without half of a word; a wide character counts two."""
    line = escaped(text)
    width = 0
    for place, character in enumerate(line):
        width += 2 if _WIDE.match(character) else 1
        if width > cells:
            kept = line[:place]
            if _is_narrow(line[place]) and _is_narrow(kept[-1:]):
                kept = kept[: kept.rfind(" ")] if " " in kept else kept
            return kept.rstrip() + "…"
    return line


def is_pinned(proposal: Proposal) -> bool:
    """Whether it must not be lost: it was to be remembered, or is an instruction, a name, a date or a number."""
    if proposal.is_asked_for or proposal.kind in ("instruction", "relation") or proposal.due_on:
        return True
    if proposal.slot and not proposal.slot.startswith(_LIKINGS):
        return True
    return bool(names_in(proposal.text)) or bool(_NUMBER.search(proposal.text))


def _statements(turn: TurnRecord, said: Said, proposals: Sequence[Proposal]) -> Iterator[Noted]:
    """What the user says of themselves as the rules see it, and of other sentences as a model does."""
    today = date.fromisoformat(turn.created_at[:10])
    by_rules = RuleProposer().propose(said.sentences, today)
    known = {proposal.evidence for proposal in by_rules}
    for proposal in (*by_rules, *(proposal for proposal in proposals if proposal.evidence not in known)):
        verdict = verify(proposal, said)
        if not isinstance(verdict, Refused):
            pinned = is_pinned(verdict)
            line = FoldedLine(verdict.kind, verdict.text, turn.turn_id, pinned, verdict.slot, verdict.due_on)
            yield Noted(line, verdict.evidence, verdict)


def _further(turn: TurnRecord, sentences: Sequence[str]) -> Iterator[Noted]:
    """Decisions, what is given for the task, and what is still open."""
    for sentence in sentences:
        kind = _kind_of(sentence)
        if kind is not None:
            yield Noted(FoldedLine(kind, cut(sentence, LINE_CELLS), turn.turn_id), sentence)


def _kind_of(sentence: str) -> LineKind | None:
    plain = simplified(sentence)
    if _OPEN.search(plain):
        return "question"
    if _DECIDED.search(plain):
        return "decision"
    return "given" if _STATES.search(plain) and (_NUMBER.search(plain) or names_in(sentence)) else None


def _gist(turn: TurnRecord, covered: int) -> Iterator[Noted]:
    """What was asked for, where the other lines do not tell; as an open question where the answer was stopped."""
    if turn.provenance != "typed":
        return
    own = " ".join(own_text(turn.user_text).replace("\ufffc", "…").split())
    if own and covered < _MOSTLY * len(own):
        yield Noted(FoldedLine("question" if turn.state == "stopped" else "asked", cut(own, GIST_CELLS), turn.turn_id))


def _foreign(turn: TurnRecord) -> Iterator[Noted]:
    if turn.attachments:
        count = sum(len(file.text) for file in turn.attachments)
        yield Noted(FoldedLine("attached", f"{count:,} characters, no longer shown", turn.turn_id))
    if turn.provenance == "pasted":
        yield Noted(FoldedLine("pasted", f"{len(turn.user_text):,} characters, no longer shown", turn.turn_id))


def _answered(turn: TurnRecord) -> Iterator[Noted]:
    text = turn.summary or _THOUGHT.sub(" ", turn.answer_text)
    if shown := cut(text, GIST_CELLS):
        yield Noted(FoldedLine("answered", shown, turn.turn_id))


def _is_narrow(character: str) -> bool:
    """Whether it may be within a word or a number that is written with spaces around it."""
    return not character.isspace() and not _WIDE.match(character)
