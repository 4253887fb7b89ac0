"""The short header of a skill: YAML between lines of `---`, or TOML between lines of `+++`. Pure.

Of YAML it takes what headers are made of, names with texts; a text stays as it is written, whatever it looks like, and
no tag makes an object of it.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from engine.harness.config.complaints import Complaint
from engine.harness.config.toml_lines import Step, line_of

MOST_HEADER_CHARACTERS: Final = 4_000
_MOST_NESTED: Final = 50
"""Characters that may open a level. The YAML reader's time grows with the square of the open ones."""
_OPENING: Final = re.compile(r"[\[{?]|- ")
_FENCES: Final = ("---", "+++")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    values: Mapping[str, Any]
    body: str
    line_at: Callable[[Sequence[Step]], int | None]
    """The line, within the whole file, of a key of `values`."""


def split(text: str, file: str) -> FrontMatter | Complaint:
    """Header and body of a file, or what is wrong with its header."""
    lines = text.split("\n")
    fence = lines[0].rstrip()
    if fence not in _FENCES:
        return Complaint(
            file, "It has no header.", "Begin it with a line `---`, then `name:` and `description:`, then `---`.", 1
        )
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == fence), None)
    if end is None:
        return Complaint(file, "Its header does not end.", f"End the header with a line `{fence}`.", 1)
    header, body = "\n".join(lines[1:end]), "\n".join(lines[end + 1 :]).strip()
    if len(header) > MOST_HEADER_CHARACTERS:
        hint = f"Keep it under {MOST_HEADER_CHARACTERS} characters; the rest belongs below it."
        return Complaint(file, "Its header is too long.", hint, 1)
    return _yaml(header, body, file) if fence == "---" else _toml(header, body, file)


def _toml(header: str, body: str, file: str) -> FrontMatter | Complaint:
    try:
        values = tomllib.loads(header)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a plain ValueError
        return Complaint(file, f"Its header is not valid TOML: {error}.", "Correct it.", 2)

    def line_at(path: Sequence[Step]) -> int | None:
        line = line_of(header, path)
        return 1 if line is None else line + 1

    return FrontMatter(values, body, line_at)


def _yaml(header: str, body: str, file: str) -> FrontMatter | Complaint:
    if len(_OPENING.findall(header)) > _MOST_NESTED:
        return Complaint(file, "Its header holds too many lists.", "Write `name: text`, one on each line.", 1)
    try:
        node = yaml.compose(header, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = 1 if mark is None else mark.line + 2
        hint = "Correct that line; put a text that holds `: ` or `#` in quotes."
        return Complaint(file, f"Its header is not valid YAML: {error.problem or 'it cannot be read'}.", hint, line)
    except (yaml.YAMLError, RecursionError):
        return Complaint(file, "Its header is not valid YAML.", "Write `name: text`, one on each line.", 1)
    if not isinstance(node, yaml.MappingNode):
        return Complaint(file, "Its header holds no names with texts.", "Write `name: text`, one on each line.", 2)
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 2
        if not isinstance(key, yaml.ScalarNode) or name in values:
            return Complaint(file, "A name in its header is no text, or there twice.", "Write every name once.", line)
        # Of what is no text only so much is kept that a check can say it should be one.
        values[name] = value.value if isinstance(value, yaml.ScalarNode) else []
        lines[name] = line
    return FrontMatter(values, body, lambda path: lines.get(str(path[0]), 1) if path else 1)
