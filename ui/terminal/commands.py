"""The commands of the chat: what a typed line means, and what the palette and the help list.

Pure. Knows no widget; `action` is the name of the chat's action that carries a command out.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

LIKE_ENOUGH: Final = 0.6
"""How alike a word and the name of a command must be for the name to be suggested, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    """As typed, with the slash."""
    action: str
    argument: str = ""
    """How an argument is written in the help; empty when there is none."""
    alias: str = ""
    """Another name that is understood, with the slash."""

    @property
    def help_key(self) -> str:
        """The key of its one-line explanation among the texts."""
        return f"command.{self.name.removeprefix('/')}"

    @property
    def usage(self) -> str:
        return f"{self.name} {self.argument}".rstrip()


COMMANDS = (
    Command("/new", "new"),
    Command("/off-record", "off_record"),
    Command("/expert", "expert", "L2 | auto"),
    Command("/history", "history", "words"),
    Command("/regenerate", "regenerate", alias="/retry"),
    Command("/edit", "edit"),
    Command("/branch", "branch"),
    Command("/tree", "tree"),
    Command("/rename", "rename", "title"),
    Command("/export", "export", "[json] [file]"),
    Command("/attach", "attach", "file | none"),
    Command("/thumb", "thumb", "up | down | none"),
    Command("/better", "better", "answer"),
    Command("/edit-answer", "edit_answer"),
    Command("/pick", "pick"),
    Command("/signals", "signals"),
    Command("/memory", "memory", "words"),
    Command("/teach", "teach", "L2 | stop | result"),
    Command("/interview", "interview"),
    Command("/copy", "copy"),
    Command("/profile", "profile", "name"),
    Command("/adapters", "adapters"),
    Command("/mode", "mode", "ask | plan | auto"),
    Command("/theme", "theme", "dark | light"),
    Command("/help", "help"),
    Command("/quit", "quit"),
)
KNOWN_NAMES = ", ".join(command.name for command in COMMANDS)
_BY_NAME: Final = {name: command for command in COMMANDS for name in (command.name, command.alias) if name}


@dataclass(frozen=True, slots=True)
class ForModel:
    """Text for the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A command and what was written behind it."""

    command: Command
    argument: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A slash and a word that is no command."""

    name: str
    nearest: str = ""
    """The name of the command that was probably meant; empty when none is like it."""


def parse(line: str) -> ForModel | Typed | Unknown:
    """What a submitted text means. `//text` is a message that begins with one slash."""
    text = line.strip()
    if not text.startswith("/"):
        # Blank lines around it go; the indentation of its first line is part of it.
        return ForModel(line.strip("\n").rstrip() if text else "")
    if text.startswith("//"):
        return ForModel(text[1:])
    name, argument = (*text.split(maxsplit=1), "")[:2]
    command = _BY_NAME.get(name.lower())
    if command is not None:
        return Typed(command, argument.strip())
    like = get_close_matches(name.lower(), _BY_NAME, n=1, cutoff=LIKE_ENOUGH)
    return Unknown(name, like[0] if like else "")


def beginning_with(text: str) -> tuple[Command, ...]:
    """The commands whose names begin with a text that is a slash and part of a word; an exact name needs no offer."""
    if not text.startswith("/") or text.startswith("//") or len(text.split()) != 1 or text != text.strip():
        return ()
    typed = text.lower()
    return tuple(
        command
        for command in COMMANDS
        if typed != command.name and typed in (command.name[: len(typed)], command.alias)
    )
