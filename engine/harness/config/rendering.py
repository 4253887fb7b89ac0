"""What of the configuration stands in the head of a view: plain text within token budgets. Pure.

The text is untrusted to the encoder like every other (`engine.harness.encoding`): control tokens in it stay text. Cuts
nothing silently: what did not fit is said in the text and named in the result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from engine.harness.config.model import HarnessConfig, Instructions, Skill

Count = Callable[[str], int]
"""Tokens of a text, in the vocabulary of the base."""

RENDERING_VERSION: Final = 1
"""Part of every version id: to be raised whenever this module writes another text for the same configuration."""
READ_SKILL: Final = "read_skill"
"""Name of the tool by which a model reads a skill."""

_SKILLS_INTRO: Final = (
    "# Skills",
    "",
    f"Ways of working that are written down. If one fits the task, first read it with the tool {READ_SKILL}.",
)
_CUT: Final = "(The rest of these instructions does not fit here.)"
_MORE_SKILLS: Final = "(More skills do not fit in this list.)"
_SKILL_CUT: Final = "(The rest of this skill does not fit here.)"


@dataclass(frozen=True, slots=True)
class HeadText:
    """What is added to an expert's system text; empty where the configuration says nothing."""

    text: str
    left_out: tuple[str, ...] = ()
    """What did not fit wholly: names of folders ("" is the home) and of skills."""


def head_text(config: HarnessConfig, expert: str, count: Count, *, with_skills: bool = True) -> HeadText:
    """Instructions and the list of skills for `expert`.

    At most `budgets.instruction_tokens` and `budgets.skill_tokens` together. `with_skills` is whether the expert is
    offered the tool that reads them.
    """
    instructions = [text for text in config.instructions if text.reader in ("all", expert)]
    head = _with_instructions(instructions, config.budgets.instruction_tokens, count)
    if not with_skills or not config.skills:
        return head
    return _with_skills(head, config.skills, count(head.text) + config.budgets.skill_tokens, count)


def opened_skill(config: HarnessConfig, skill: Skill, count: Count, *, files_at: str = "") -> str:
    """All that a model reads once it asks for a skill, at most `budgets.opened_skill_tokens`.

    `files_at` is where it can reach the skill's files; empty where it cannot, and then they are not named.
    """
    lines = [f"# Skill {skill.name}", "", *skill.body.split("\n")]
    if skill.files and files_at:
        listed = ", ".join(file.path for file in skill.files)
        lines[1:1] = ["", f"Its files lie in {files_at}: {listed}"]
    return _fitted("", lines, _SKILL_CUT, config.budgets.opened_skill_tokens, count)[0]


def _with_instructions(instructions: Sequence[Instructions], tokens: int, count: Count) -> HeadText:
    text = ""
    left_out: list[str] = []
    for origin, group in groupby(instructions, key=lambda one: one.origin):
        heading = f"# Instructions for the folder {origin}" if origin else "# Instructions of the user"
        lines = [heading, "", *"\n\n".join(one.text for one in group).split("\n")]
        text, is_whole = _fitted(text, lines, _CUT, tokens, count, least=3)
        if not is_whole:
            left_out.append(origin)
    return HeadText(text, tuple(left_out))


def _with_skills(head: HeadText, skills: Sequence[Skill], tokens: int, count: Count) -> HeadText:
    lines = [*_SKILLS_INTRO, *map(_skill_line, skills)]
    text, is_whole = _fitted(head.text, lines, _MORE_SKILLS, tokens, count, least=len(_SKILLS_INTRO) + 1)
    listed = set(text.removeprefix(head.text).split("\n"))
    missing = () if is_whole else tuple(skill.name for skill in skills if _skill_line(skill) not in listed)
    return HeadText(text, (*head.left_out, *missing))


def _skill_line(skill: Skill) -> str:
    when = f" Use it when: {skill.when}" if skill.when else ""
    return f"- {skill.name}: {skill.description}{when}"


def _fitted(
    before: str, lines: Sequence[str], cut: str, tokens: int, count: Count, *, least: int = 1
) -> tuple[str, bool]:
    """(`before` and after it as many of `lines` as `tokens` allow for both, are those all of them).

    Where lines are missing, `cut` says so. With room for fewer than `least` lines there is only `cut`, and where not
    even that fits, only `before`.
    """

    def joined(kept: Sequence[str]) -> str:
        return "\n".join(((before, "") if before else ()) + tuple(kept))

    whole = joined(lines)
    if count(whole) <= tokens:
        return whole, True
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if count(joined((*lines[:middle], cut))) <= tokens:
            low = middle
        else:
            high = middle - 1
    # A longer text may have fewer tokens, so the search is only a good guess; what it found is counted here.
    while low and count(joined((*lines[:low], cut))) > tokens:
        low -= 1
    text = joined((*(lines[:low] if low >= least else ()), cut))
    return (text if count(text) <= tokens else before), False
