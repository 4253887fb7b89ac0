"""The commands of the chat: what a typed line means, and what the palette and the help list.

Pure. Knows no widget; `action` is the name of the chat's action that carries a command out.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    """As typed, with the slash."""
    action: str
    argument: str = ""
    """How an argument is written in the help; empty when there is none."""

    @property
    def help_key(self) -> str:
        """The key of its one-line explanation among the texts."""
        return f"command.{self.name.removeprefix('/')}"

    @property
    def usage(self) -> str:
        return f"{self.name} {self.argument}".rstrip()


COMMANDS = (
    Command("/new", "new"),
    Command("/expert", "expert", "L2 | auto"),
    Command("/history", "history", "words"),
    Command("/regenerate", "regenerate"),
    Command("/edit", "edit"),
    Command("/help", "help"),
    Command("/quit", "quit"),
)
KNOWN_NAMES = ", ".join(command.name for command in COMMANDS)


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


def parse(line: str) -> ForModel | Typed | Unknown:
    """What a submitted text means. `//text` is a message that begins with one slash."""
    text = line.strip()
    if not text.startswith("/"):
        # Blank lines around it go; the indentation of its first line is part of it.
        return ForModel(line.strip("\n").rstrip() if text else "")
    if text.startswith("//"):
        return ForModel(text[1:])
    name, _, argument = text.partition(" ")
    for command in COMMANDS:
        if command.name == name.lower():
            return Typed(command, argument.strip())
    return Unknown(name.split("\n", 1)[0])
