"""Forgetting as a face sees it: what would go, and what has gone. A seam and lines of text, no process."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from engine.forgetting import Forgotten, Place, Retired, Wanted
from ui.inert import display_line
from ui.strings import say

FEWEST_CORRECTIONS: Final = 8
"""From so many on an expert can be taught."""


class Forgetter(Protocol):
    """Every call may raise `engine.AgentError`."""

    def preview_forgetting(self, wanted: Wanted) -> Forgotten:
        """What would go, and what would stay elsewhere. Nothing is changed."""
        ...

    def forget(self, wanted: Wanted) -> Forgotten:
        """It goes, and all that was made from it: it cannot be brought back.

        What holds it for a while longer is finished at the next start, should this be cut off.
        """
        ...


def preview_lines(found: Forgotten, language: str) -> Iterator[str]:
    """What would go."""
    if not found.places:
        yield say("forget.nothing", language)
        return
    yield say("forget.will_go", language)
    yield from _places(found.places, language)
    for one in found.adapters:
        yield f"  {_adapter(one, language)}"
    yield from _kept(found, language)


def forgotten_lines(done: Forgotten, language: str) -> Iterator[str]:
    """What has gone, what follows for experts, and what is left."""
    if not done.places:
        yield say("forget.nothing", language)
    else:
        yield say("forget.gone", language)
        yield from _places(done.places, language)
    for one in done.adapters:
        yield _adapter(one, language)
        if one.was_answering:
            key = "forget.teach" if one.corrections >= FEWEST_CORRECTIONS else "forget.teach.too_few"
            command = f"macaron teach --expert {display_line(one.expert)}"
            yield say(key, language, expert=display_line(one.expert), count=one.corrections, command=command)
    if not done.is_scrubbed:
        yield say("forget.not_scrubbed", language)
    yield from _kept(done, language)


def _places(places: Sequence[Place], language: str) -> Iterator[str]:
    for place in places:
        yield f"  {say(f'forget.place.{place.kind}', language)}: {place.count:,}"


def _adapter(one: Retired, language: str) -> str:
    key = "forget.adapter.answering" if one.was_answering else "forget.adapter"
    return say(key, language, name=one.content_hash[:12], expert=display_line(one.expert))


def _kept(found: Forgotten, language: str) -> Iterator[str]:
    """What stays, and how it goes."""
    if found.elsewhere:
        yield say("forget.elsewhere", language)
        yield from _places(found.elsewhere, language)
        yield say("forget.everywhere", language, command="macaron history forget --everywhere --span -")
    if found.remaining:
        yield say("forget.remaining", language)
        for copy in found.remaining:
            kind = say(f"forget.copy.{copy.kind}", language)
            made = f" · {display_line(copy.made_at[:10])}" if copy.made_at else ""
            yield f"  {kind}{made}: {display_line(copy.command, 400)}"
    yield say("forget.unknown_copies", language)
