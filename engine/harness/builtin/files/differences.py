"""What an edit changes, as a unified diff that `patch` and `git apply` turn into the very same file.

Pure. Only `\\n` ends a line here, so that carriage returns and form feeds are shown where they are.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

_CONTEXT_LINES: Final = 3
_MOST_COMPARED: Final = 1_000_000
"""Lines before times lines after, of what lies between the first and the last change: comparing takes as many steps."""
NO_NEWLINE: Final = "\\ No newline at end of file"

Opcode = tuple[str, int, int, int, int]


def unified_diff(before: str | None, after: str | None, shown: str) -> str:
    """None stands for a file that is not there. Empty where nothing changes."""
    if before == after:
        return ""
    old, new = _lines(before or ""), _lines(after or "")
    lines = [
        "--- /dev/null" if before is None else f"--- a/{shown}",
        "+++ /dev/null" if after is None else f"+++ b/{shown}",
    ]
    for group in _groups(_opcodes(old, new)):
        lines.extend(_hunk(group, old, new))
    return "\n".join(lines) + "\n"


def changed_lines(before: str | None, after: str | None) -> tuple[int, int]:
    """How many lines go, and how many come."""
    codes = [code for code in _opcodes(_lines(before or ""), _lines(after or "")) if code[0] != "equal"]
    return sum(code[2] - code[1] for code in codes), sum(code[4] - code[3] for code in codes)


def _lines(text: str) -> list[str]:
    """Each with its line end; the last one may have none."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """As difflib's, but what is equal at both ends is set aside first, and a middle too large to compare is one
    replacement."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    codes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    if len(middle_old) * len(middle_new) <= _MOST_COMPARED:
        found = SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes()
        codes.extend((tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in found)
    else:
        codes.append(("replace", head, len(old) - tail, head, len(new) - tail))
    if tail:
        codes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return codes


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items are the same from the beginning."""
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))


def _groups(codes: Sequence[Opcode]) -> Iterator[list[Opcode]]:
    """Changes with a few equal lines around them; those that are near one another go together."""
    group: list[Opcode] = []
    for number, (tag, a, b, c, d) in enumerate(codes):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        is_first, is_last = number == 0, number == len(codes) - 1
        if not is_first and not is_last and b - a <= 2 * _CONTEXT_LINES:
            group.append((tag, a, b, c, d))
            continue
        if not is_first:
            kept = min(b - a, _CONTEXT_LINES)
            yield [*group, (tag, a, a + kept, c, c + kept)]
        kept = 0 if is_last else min(b - a, _CONTEXT_LINES)
        group = [(tag, b - kept, b, d - kept, d)]
    if any(code[0] != "equal" for code in group):
        yield group


def _hunk(group: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    for tag, a, b, c, d in group:
        if tag == "equal":
            yield from _marked(" ", old[a:b])
        else:
            yield from _marked("-", old[a:b])
            yield from _marked("+", new[c:d])


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start}" + (f",{length}" if length != 1 else "")


def _marked(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_NEWLINE
