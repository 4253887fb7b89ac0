"""The training file of the starter's router: lines of the kind sft whose answer is a label.

The system message is the route text, the user's message the request with the stem after it, so that the run reads the
very tokens that serving scores. Equal for equal seeds. Pure but for reading the phrases.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from engine.routing.profile import ROUTE_STEM, Profile
from local_training.routing.phrases import LANGUAGES, Bank, Language, Sections, read_bank, read_sections
from local_training.routing.requests import spoken
from local_training.routing.sections import Kind, Showing, ask_another, show

EXAMPLES: Final = 7680
"""Lines of the file that comes with the program."""
SEED: Final = 0
ENGLISH: Final = 960
"""So many lines at the beginning are English: a base that hardly knows Chinese sooner learns without it what the labels
mean."""
EASY: Final = 2880
"""So many, those included, show the starter's own experts as they are: from descriptions in any words and order a small
model learns nothing before it can tell requests apart."""
TOGETHER: Final = 8
"""Lines that follow each other and show the same experts: a run reads what they have in common once."""

_TRIES: Final = 100


@dataclass(frozen=True, slots=True)
class RouteExample:
    example_id: str
    language: Language
    showing: Showing
    phrase: str
    request: str
    """As the router is shown it."""


def route_examples(profile: Profile, shown: Callable[[str], str], count: int, seed: int) -> Iterator[RouteExample]:
    """`count` examples, soon English and Chinese by turns; each depends on the seed and its number alone.

    shown: what of a request the router is shown (`engine.router_model.shown_request`).
    """
    banks = {language: read_bank(language) for language in LANGUAGES}
    sections = read_sections()
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        language = LANGUAGES[0 if number < ENGLISH else number % len(LANGUAGES)]
        first = number - number % TOGETHER
        kind: Kind | None = "own" if first < EASY else None
        showing = ask_another(show(profile, sections, random.Random(f"{seed} {first} experts"), kind), chance)
        phrase, text = _request(showing, language, banks, sections, chance)
        yield RouteExample(f"{number:05d}", language, showing, phrase, shown(text))


def example_line(example: RouteExample) -> str:
    """One line of an example file. Examples of one phrase are a group, so that none is held out from the others."""
    showing = example.showing
    line = {
        "id": example.example_id,
        "prompt": [
            {"role": "system", "content": showing.route},
            {"role": "user", "content": f"{example.request.strip()}\n{ROUTE_STEM}"},
        ],
        "expert": "L0",
        "answer": showing.label,
        "group": example.phrase[:100],
        "tags": [example.language, showing.asked, showing.kind],
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def _request(
    showing: Showing,
    language: Language,
    banks: dict[Language, Bank],
    sections: Sections,
    chance: random.Random,
) -> tuple[str, str]:
    """(phrase, request) for the expert that is asked, such that no other expert that is shown could claim it."""
    invented = sections.invented.get(showing.asked)
    phrases = invented.requests[language] if invented else banks[language].requests[showing.asked]
    others = [sections.invented[purpose].claims for _, purpose in showing.experts if purpose in sections.invented]
    for _ in range(_TRIES):
        phrase = chance.choice(phrases)
        text = spoken(phrase, language, banks, chance)
        if showing.asked != "chat" or not any(claims.search(f"{phrase}\n{text}") for claims in others):
            return phrase, text
    raise ValueError(f"no request for {showing.asked} is left that {showing.experts} do not claim")
