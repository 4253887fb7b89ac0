"""What could be completed where the cursor is: a command behind a slash, a file behind an @. A list above the prompt.

What is offered is worked out by pure functions; the widget only shows it and knows which offer is chosen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from textual.content import Content
from textual.fuzzy import FuzzySearch
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ui.attaching import mention_of
from ui.present import display_line
from ui.strings import say
from ui.terminal.commands import beginning_with

MAX_OFFERS: Final = 6
MAX_TRIED: Final = 60
"""Files that are looked into, best match first, until there are enough that hold text."""


@dataclass(frozen=True, slots=True)
class Offer:
    line: str
    """What is shown."""
    text: str
    """What takes the place of the last `replaced` characters before the cursor."""
    replaced: int


def command_offers(text: str, language: str) -> tuple[Offer, ...]:
    """For a text that is nothing but a slash and the beginning of a command."""
    return tuple(
        Offer(f"{command.name}  {say(command.help_key, language)}", f"{command.name} ", len(text))
        for command in beginning_with(text)
    )


def file_offers(fragment: str, written: str, files: Sequence[str], is_text: Callable[[str], bool]) -> tuple[Offer, ...]:
    """The files that match `fragment` best. `written` is the mention as it stands, from its @ to the cursor."""
    # A path that stands there in full needs no offer.
    likely = [path for path in matching(fragment, files)[:MAX_TRIED] if path != fragment]
    found = islice(filter(is_text, likely), MAX_OFFERS)
    return tuple(Offer(display_line(path), f"{mention_of(path)} ", len(written)) for path in found)


def matching(fragment: str, files: Sequence[str]) -> list[str]:
    """The paths that hold the characters of `fragment` in this order, the best match first; all for an empty one."""
    if not fragment:
        return list(files)
    search = FuzzySearch()
    scores = {path: search.match(fragment, path)[0] for path in files if _may_match(fragment, path)}
    return sorted((path for path, score in scores.items() if score > 0), key=lambda path: (-scores[path], len(path)))


def _may_match(fragment: str, path: str) -> bool:
    """A quick look before the thorough one, which takes a hundred times longer."""
    characters = iter(path.lower())
    return all(character in characters for character in fragment.lower())


class OfferList(OptionList, can_focus=False):
    """Hidden while there is nothing to offer."""

    def __init__(self) -> None:
        super().__init__(id="offers", markup=False)
        self.offers: tuple[Offer, ...] = ()
        self.was_moved = False
        """Whether the user went to an offer, so that Enter takes it instead of sending."""
        self.display = False

    def show(self, offers: tuple[Offer, ...]) -> None:
        if offers == self.offers:
            return
        self.offers, self.was_moved = offers[:MAX_OFFERS], False
        self.clear_options()
        self.add_options(Option(Content(offer.line)) for offer in offers)
        self.highlighted = 0 if offers else None
        self.display = bool(offers)

    def move(self, step: int) -> None:
        self.was_moved = True
        if step > 0:
            self.action_cursor_down()
        else:
            self.action_cursor_up()

    @property
    def chosen(self) -> Offer | None:
        return self.offers[self.highlighted] if self.offers and self.highlighted is not None else None
