"""The feed: every event once, in order, resumable after a gap as long as the gap is small."""

import asyncio

from app.host.feed import KEPT, Feed, HostEvent


async def take(feed: Feed, after: int | None, count: int) -> list[HostEvent]:
    events = feed.follow(after)
    try:
        return [await asyncio.wait_for(anext(events), 5) for _ in range(count)]
    finally:
        await events.aclose()


async def test_a_follower_gets_what_happens_from_now_on() -> None:
    feed = Feed()
    feed.publish("early")
    reader = asyncio.create_task(take(feed, None, 2))
    await asyncio.sleep(0.01)
    feed.publish("turn_opened", turn_id="t-1")
    feed.publish("turn_closed", turn_id="t-1")
    assert [event.name for event in await reader] == ["turn_opened", "turn_closed"]


async def test_a_follower_that_was_away_gets_what_it_missed() -> None:
    feed = Feed()
    for number in range(5):
        feed.publish("turn_opened", turn_id=f"t-{number}")
    missed = await take(feed, 1, 3)
    assert [event.number for event in missed] == [2, 3, 4]


async def test_a_gap_that_is_too_long_is_told_instead_of_filled_in_part() -> None:
    feed = Feed()
    for _ in range(KEPT + 10):
        feed.publish("turn_opened")
    (first,) = await take(feed, 3, 1)
    assert (first.name, first.number) == ("reset", KEPT + 9)


async def test_numbers_from_another_host_are_a_gap_too() -> None:
    feed = Feed()
    feed.publish("turn_opened")
    (first,) = await take(feed, 99, 1)
    assert first.name == "reset"


async def test_a_follower_that_left_is_forgotten() -> None:
    feed = Feed()
    feed.publish("turn_opened")
    await take(feed, -1, 1)
    assert feed.followers == 0
