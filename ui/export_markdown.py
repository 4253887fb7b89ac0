"""A conversation as Markdown to read and to keep.

Pure: a copy in, text out. The file may be opened in any viewer, so nothing in it is fetched, run or followed by
itself: HTML, images and links are written as the text they are, addresses as code, and code only in fences of our own.
"""

import re
from collections.abc import Sequence
from typing import Final

from engine.values import ConversationCopy, TurnRecord
from ui.inert import display_line, display_text
from ui.present import route_line, state_line
from ui.strings import say, say_count
from ui.thinking import answer_text

_LANGUAGES: Final = re.compile(
    "bash|bat|c|clojure|cmake|console|cpp|csharp|css|csv|cxx|dart|diff|dockerfile|elixir|erlang|fish|fortran|go"
    "|haskell|html|ini|java|javascript|js|json|jsonl|jsx|julia|kotlin|latex|lua|makefile|md|markdown|matlab|nim|objc"
    "|ocaml|perl|php|powershell|ps1|py|python|r|rb|ruby|rs|rust|scala|sh|shell|sql|swift|tex|text|toml|ts|tsx|txt"
    "|typescript|xml|yaml|yml|zig|zsh"
)
"""Names after a fence that only colour the code. Others, such as mermaid, make viewers draw it or even run it."""

_FENCE: Final = re.compile(r"(?P<before>(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*)(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_HEADING: Final = re.compile(r"(?P<before>[ \t>]*)(?P<marks>#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*$")
_CODE: Final = r"(?P<code>(?<!`)(?P<run>`+)(?!`)(?P<inside>.+?)(?<!`)(?P=run)(?!`))|"
_OTHERS: Final = (
    r"(?P<ticks>`+|~{3,})"
    r"|(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<address>(?:[a-z][a-z0-9+.-]{1,15}://|www\.)[^\s`<>()\[\]{}|\"，。；：！？、（）《》「」“”]+)"
    r"|(?P<sign>[\\<\[{$])"
)
_PART: Final = re.compile(_CODE + _OTHERS, re.IGNORECASE)
_PART_OF_LONG_LINE: Final = re.compile(_OTHERS, re.IGNORECASE)
"""Looking for the end of code takes too long in lines that were made for that."""
_LONG_LINE_CHARACTERS: Final = 20_000
_SIGNS: Final = {"<": "&lt;", "\\<": "&lt;"}
"""`<` could begin HTML whatever escapes a viewer knows; the other signs are escaped."""


def to_markdown(copy: ConversationCopy, language: str) -> str:
    """The branch in use from top to bottom, then what other branches hold and where they fork."""
    conversation = copy.conversation
    main, others = branches(copy)
    title = _inert_line(conversation.title) or say("history.untitled", language)
    facts = [
        say("export.profile", language, profile=_inert_line(conversation.profile)),
        say("export.when", language, began=_minute(conversation.created_at), ended=_minute(conversation.updated_at)),
        say_count("history.turns", language, len(copy.turns)),
    ]
    blocks = [f"# {title}", " · ".join(facts)]
    for number, turn in enumerate(main, start=1):
        blocks += _turn_blocks(turn, number, language)
    if others:
        blocks += ["---", f"# {say('export.branches', language)}"]
    depth_of = _depths(copy.turns)
    branch_of = {turn.turn_id: 0 for turn in main}
    for number, branch in enumerate(others, start=1):
        branch_of |= {turn.turn_id: number for turn in branch}
        depth = depth_of[branch[0].turn_id]
        blocks.append(f"## {_fork_line(number, depth, branch_of.get(branch[0].parent_turn_id or ''), language)}")
        for offset, turn in enumerate(branch):
            blocks += _turn_blocks(turn, depth + offset, language)
    return "\n\n".join(blocks) + "\n"


def _fork_line(number: int, depth: int, parent_branch: int | None, language: str) -> str:
    """Where the branch of this number leaves another; its first turn has this depth. Branch 0 is the one in use."""
    if parent_branch is None:
        return say("export.branch_first", language, number=number)
    key = "export.branch_of_branch" if parent_branch else "export.branch"
    return say(key, language, number=number, turn=depth - 1, other=parent_branch)


def branches(copy: ConversationCopy) -> tuple[tuple[TurnRecord, ...], tuple[tuple[TurnRecord, ...], ...]]:
    """(the branch in use, the rest of every other branch), each from its first turn down; every turn comes once.

    A rest begins where it leaves what comes before it. Oldest rest first.
    """
    by_id = {turn.turn_id: turn for turn in copy.turns}
    parents = {turn.parent_turn_id for turn in copy.turns}
    leaves = [turn.turn_id for turn in copy.turns if turn.turn_id not in parents]
    seen: set[str] = set()
    chains = []
    for leaf in (copy.conversation.leaf_turn_id, *leaves):
        chain: list[TurnRecord] = []
        while leaf is not None and leaf in by_id and leaf not in seen:
            seen.add(leaf)
            chain.append(by_id[leaf])
            leaf = by_id[leaf].parent_turn_id
        chains.append(tuple(reversed(chain)))
    main, *others = chains
    return main, tuple(chain for chain in others if chain)


def _depths(turns: Sequence[TurnRecord]) -> dict[str, int]:
    """1 for a first turn, 2 for what follows it. Parents come before their children."""
    depths: dict[str, int] = {}
    for turn in turns:
        depths[turn.turn_id] = depths.get(turn.parent_turn_id or "", 0) + 1
    return depths


def _turn_blocks(turn: TurnRecord, number: int, language: str) -> list[str]:
    who = say("you", language)
    if turn.provenance != "typed":
        who = f"{who} ({say(f'provenance.{turn.provenance}', language)})"
    blocks = [f"## {number} · {who}"]
    if turn.attachments:
        names = ", ".join(_inert_line(file.name) for file in turn.attachments)
        blocks.append(f"*{say('export.attached', language, names=names)}*")
    blocks.append(inert_markdown(turn.user_text, keep_lines=True))
    answerer = _inert_line(route_line(turn.route, language)) if turn.route else say("role.assistant", language)
    blocks.append(f"## {number} · {answerer}")
    blocks.append(inert_markdown(answer_text(turn.answer_text)))
    if turn.state != "answered":
        blocks.append(f"*{state_line(turn.state, language)}*")
    if turn.problem:
        blocks.append(say("error.problem", language, problem=_inert_line(turn.problem)))
    return [block for block in blocks if block]


def inert_markdown(text: str, *, keep_lines: bool = False) -> str:
    """Markdown that looks much the same and that no viewer fetches, runs or follows anything for.

    Headings go down two levels, so that they stay within their turn. `keep_lines` keeps line ends within paragraphs.
    """
    lines: list[str] = []
    code: list[str] = []
    fence, info = "", ""
    for line in display_text(text).split("\n"):
        if fence:
            if _closes(line, fence):
                lines += _fenced(code, info)
                fence, code = "", []
            else:
                code.append(line)
        elif (opened := _FENCE.fullmatch(line)) and not (opened["marks"][0] == "`" and "`" in opened["info"]):
            fence, info = opened["marks"], opened["info"]
            lines += [opened["before"]] if opened["before"].strip(" \t>") else []
        else:
            lines += _prose(line, bool(lines and lines[-1].strip()), keep_lines)
    if fence:
        lines += _fenced(code, info)
    return "\n".join(lines).strip("\n")


def _closes(line: str, fence: str) -> bool:
    marks = line.strip(" \t>")
    return set(marks) == {fence[0]} and len(marks) >= len(fence)


def _fenced(code: Sequence[str], info: str) -> list[str]:
    """A code block that starts a line and whose fence is longer than any within, so that all viewers see its end."""
    longest = max((len(run) for line in code for run in re.findall("`+", line)), default=0)
    marks = "`" * max(3, longest + 1)
    words = info.split()
    name = words[0].lower() if words and _LANGUAGES.fullmatch(words[0].lower()) else ""
    return ["", f"{marks}{name}", *code, marks, ""]


def _prose(line: str, follows_text: bool, keep_line: bool) -> list[str]:
    if heading := _HEADING.match(line):
        marks = "#" * min(6, len(heading["marks"]) + 2)
        return [f"{heading['before']}{marks}{_inert(line[heading.end() :])}"]
    if follows_text and _UNDERLINE.match(line):
        # Right below a text these lines would make a heading of it.
        return ["", line] if "-" in line else [line.replace("=", "\\=", 1)]
    inert = _inert(line)
    return [f"{inert}  " if keep_line and inert.strip() else inert]


def _inert_line(text: str) -> str:
    return _inert(display_line(text))


def _inert(line: str) -> str:
    pattern = _PART if len(line) <= _LONG_LINE_CHARACTERS else _PART_OF_LONG_LINE
    return pattern.sub(_inert_part, line)


def _inert_part(found: "re.Match[str]") -> str:
    text = found[0]
    match found.lastgroup:
        case "code" if "|" not in text:
            return text
        case "code":
            # In a table viewers cut at the stroke first, and what was code is none any more.
            ticks = "\\`" * len(found["run"])
            return f"{ticks}{_PART_OF_LONG_LINE.sub(_inert_part, found['inside'])}{ticks}"
        case "ticks":
            return f"\\{text[0]}" * len(text)
        case "escaped":
            return _SIGNS.get(text, text)
        case "address":
            # Next to other code its marks would run together.
            before = " " if found.string[max(0, found.start() - 1)] == "`" else ""
            after = " " if found.string.startswith("`", found.end()) else ""
            return f"{before}`{text}`{after}"
        case _:
            return _SIGNS.get(text, f"\\{text}")


def _minute(timestamp: str) -> str:
    return display_line(timestamp[:16].replace("T", " "), 16)
