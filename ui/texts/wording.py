"""One text in every language a face speaks."""

from typing import NamedTuple


class Wording(NamedTuple):
    en: str
    zh: str
