"""Words to be forgotten: found in whatever case and with whatever spaces between them, and replaced by a mark. Pure."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from engine.forgetting import MARK

LEAST_BYTES: Final = 16
"""Of UTF-8: a shorter message, taken as a whole, is not looked for elsewhere: anybody says it."""


class Spans:
    def __init__(self, texts: Iterable[str]) -> None:
        """Blank ones and the mark itself are left out."""
        known = {" ".join(text.split()) for text in texts} - {"", MARK}
        # Longer ones first: a part of one would leave the rest of it behind.
        self.texts = tuple(sorted(known, key=lambda text: (-len(text), text)))
        # A mark that is there already is taken whole, so that nothing is forgotten within it.
        patterns = [re.escape(MARK), *map(_loose, self.texts)]
        self._pattern = re.compile("|".join(patterns), re.IGNORECASE)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def are_in(self, text: str) -> bool:
        return bool(self.texts) and any(found[0] != MARK for found in self._pattern.finditer(text))

    def redacted(self, text: str) -> str:
        return self._pattern.sub(MARK, text) if self.texts else text

    def redacted_json(self, text: str) -> str:
        """As `redacted`, of the values within a JSON text, whatever signs it writes otherwise."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self.redacted(text)
        within = self._within(value)
        return text if within == value else json.dumps(within, ensure_ascii=False)

    def _within(self, value: Any) -> Any:
        match value:
            case str():
                return self.redacted(value)
            case list():
                return [self._within(item) for item in value]
            case dict():
                return {self.redacted(name): self._within(item) for name, item in value.items()}
            case bool() | None:
                return value
            case _:
                return MARK if self.are_in(str(value)) else value


def long_enough(texts: Iterable[str]) -> list[str]:
    """Those that say enough to be looked for where they might have been repeated."""
    return [text for text in texts if len(text.strip().encode()) >= LEAST_BYTES]


def _loose(text: str) -> str:
    return r"\s+".join(map(re.escape, text.split()))
