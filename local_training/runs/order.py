"""Which items a run takes next: all of them in a new random order, then all again in another. Pure; light: no torch."""

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

Item = TypeVar("Item")


def take(items: Sequence[Item], start: int, count: int, seed: int) -> tuple[Item, ...]:
    """`count` items from place `start` of that endless order on; one pass holds every item once."""
    return tuple(_at(items, place, seed) for place in range(start, start + count))


def take_in_order(items: Sequence[Item], start: int, count: int) -> tuple[Item, ...]:
    """The same of the order that they have; after the last comes the first."""
    return tuple(items[place % len(items)] for place in range(start, start + count))


def _at(items: Sequence[Item], place: int, seed: int) -> Item:
    epoch, within = divmod(place, len(items))
    return items[_order(len(items), epoch, seed)[within]]


@lru_cache(maxsize=4)  # a batch asks for one or two passes, once per item
def _order(count: int, epoch: int, seed: int) -> tuple[int, ...]:
    order = list(range(count))
    random.Random(f"{seed} {epoch}").shuffle(order)
    return tuple(order)
