"""Chat formats: how one message looks to each family of base models.

Views only ever grow, so messages are rendered one by one and never a whole conversation. Only the templates beside
this module are rendered; those inside model files are not even read. The result is parts, not a string: what came
from a template is `Trusted` and may hold control tokens, everything else is `Untrusted` and never can.
Knows no tokenizer; `engine.harness.encoding` turns parts into token ids.
"""

import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

Family = Literal["chatml", "qwen3", "qwen35", "llama3", "gemma3", "mistral"]
FAMILIES: Final[tuple[Family, ...]] = get_args(Family)

# The official templates of these families strip every message.
_STRIPPING: Final = frozenset({"llama3", "gemma3", "mistral"})


@dataclass(frozen=True, slots=True)
class Trusted:
    """Text of a template. Control tokens in it are meant."""

    text: str


@dataclass(frozen=True, slots=True)
class Untrusted:
    """Text of a person, a model, a file or a tool. Control tokens in it are mere characters."""

    text: str


Part = Trusted | Untrusted

Content = str | tuple[Part, ...]
"""What a message says. A bare text is untrusted; parts may hold markup of our own, such as that of a tool call."""


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """The pieces of a conversation in one family's format. Concatenate them in the order they were said."""

    family: Family
    bos: str = ""
    """Text of the token that must begin every prompt. Only ChatML asks for it; the other templates bring their own."""
    has_system_markup: bool = False
    """The vocabulary has Mistral's `[SYSTEM_PROMPT]`."""

    def head(self, system: Content = "") -> tuple[Part, ...]:
        """The beginning of a view. Without a system text none is invented."""
        return self._render("head", system)

    def user(self, text: Content, *, first: bool = False, system: Content = "") -> tuple[Part, ...]:
        """A message of the user. Families without a system role put `system` in front of the first one."""
        return self._render("user", text, first, system)

    def assistant_open(self, thinking: bool = False) -> tuple[Part, ...]:
        """What the model continues."""
        return self._render("assistant_open", thinking)

    def assistant_close(self) -> tuple[Part, ...]:
        """What follows the model's own tokens once it has answered."""
        return self._render("assistant_close")

    def assistant(self, text: Content) -> tuple[Part, ...]:
        """A complete message of the assistant that lies in the past."""
        return self._render("assistant", text)

    def tool_result(self, text: Content) -> tuple[Part, ...]:
        """What a tool gave back, in the one family that has a role for it; the others let the user say it."""
        return self._render("tool_result", text) if self.family == "llama3" else self.user(text)

    def _render(self, macro: str, *arguments: Content | bool) -> tuple[Part, ...]:
        # Content goes through the renderer as a name that nobody can guess, so it is found again with certainty.
        mark = secrets.token_hex(16)
        contents: list[tuple[Part, ...]] = []

        def shielded(argument: Content | bool) -> str | bool:
            if isinstance(argument, bool):
                return argument
            content = self._parts_of(argument)
            if not content:
                return ""
            contents.append(content)
            return f"{mark}{len(contents) - 1};"

        module = (
            environment()
            .get_template(f"{self.family}.jinja")
            .make_module({"bos": self.bos, "has_system_markup": self.has_system_markup})
        )
        rendered = str(getattr(module, macro)(*map(shielded, arguments)))
        pieces = re.split(f"{mark}(\\d+);", rendered)
        runs = (contents[int(piece)] if i % 2 else (Trusted(piece),) for i, piece in enumerate(pieces))
        return tuple(part for run in runs for part in run if part.text)

    def _parts_of(self, content: Content) -> tuple[Part, ...]:
        if isinstance(content, tuple):
            return content
        text = content.strip() if self.family in _STRIPPING else content
        return (Untrusted(text),) if text else ()


@cache
def environment() -> ImmutableSandboxedEnvironment:
    """The renderer of the shipped templates: sandboxed, and strict about names it does not know."""
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )


def detect_family(architecture: str, markup: Collection[str]) -> tuple[Family, bool]:
    """The family of a base and whether that is certain; ("chatml", False) when nothing is known about it.

    `architecture` as the GGUF names it, `markup` the texts of its control and markup tokens.
    """
    if "<|im_start|>" in markup:
        # Chat tunes of other families add this token and then use it, so it decides before their own markup.
        if "<|im_sep|>" in markup:
            return "chatml", False
        if "<think>" in markup and architecture.startswith("qwen35"):
            return "qwen35", True
        if "<think>" in markup and architecture.startswith("qwen3"):
            return "qwen3", True
        return "chatml", True
    if "<|start_header_id|>" in markup:
        return "llama3", True
    if "<start_of_turn>" in markup:
        return "gemma3", True
    if "[INST]" in markup:
        return "mistral", True
    return "chatml", False


def choose_format(
    architecture: str, markup: Collection[str], *, bos: str = "", family: Family | None = None
) -> tuple[ChatFormat, bool]:
    """The format of a base and whether it is known, for the caller's notice. `family` overrides what is detected.

    `bos` is the text of the token the vocabulary wants before every prompt; empty when it wants none.
    """
    detected, is_known = detect_family(architecture, markup)
    chosen = family or detected
    chat_format = ChatFormat(chosen, bos=bos, has_system_markup="[SYSTEM_PROMPT]" in markup)
    return chat_format, is_known or family is not None
