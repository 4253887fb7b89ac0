"""What every face may rely on: order, numbers, version, and JSON."""

import json

import pytest

from engine.errors import RuntimeFailed
from engine.events import EVENT_VERSION, Notice, Reading, RouteChosen, TextDelta, TurnClosed, TurnOpened
from tests.support.talking import Talk, make_profile, open_talk

LONG = "A long answer that other experts only hear about."


def answered(talk: Talk) -> None:
    talk.runtime.will_prefer("L2")
    talk.say("你好 " * 30, answer="Hi, 你好!")


def failed(talk: Talk) -> None:
    talk.runtime.will_fail(RuntimeFailed("The memory is full.", "Close other programs."), after="Hel")
    talk.say()


def failed_before_the_route(talk: Talk) -> None:
    talk.runtime.will_fail_to_score(RuntimeFailed("The memory is full."))
    talk.say()


def summarising(talk: Talk) -> None:
    talk.say("One.", "L1", answer=LONG)
    talk.say("Two.", "L2")


def regenerated(talk: Talk) -> None:
    talk.regenerate(talk.say("One.").turn_id)


ENDS = [answered, failed, failed_before_the_route, summarising, regenerated]


@pytest.mark.parametrize("play", ENDS, ids=lambda play: play.__name__)
def test_a_turn_is_opened_first_and_closed_last_and_its_events_are_numbered_without_gaps(talk, play):
    play(talk)
    kinds = [type(event) for event in talk.events]
    assert (kinds[0], kinds[-1]) == (TurnOpened, TurnClosed)
    assert (kinds.count(TurnOpened), kinds.count(TurnClosed)) == (1, 1)
    assert [event.number for event in talk.events] == list(range(len(talk.events)))
    assert {event.turn_id for event in talk.events} == {talk.events[0].turn_id}


@pytest.mark.parametrize("play", ENDS, ids=lambda play: play.__name__)
def test_every_event_goes_through_json_with_its_kind_and_version(talk, play):
    play(talk)
    for event in talk.events:
        said = json.loads(json.dumps(event.to_json()))
        assert (said["v"], said["event"]) == (EVENT_VERSION, type(event).__name__)
        assert (said["turn_id"], said["number"]) == (event.turn_id, event.number)


def test_the_last_event_in_json_holds_all_that_a_face_shows_of_a_finished_turn(talk):
    answered(talk)
    closed = talk.events[-1]
    said = closed.to_json()
    assert (said["state"], said["text"]) == ("answered", "Hi, 你好!")
    assert said["route"] == {"expert": "L2", "reason": "best", "scores": dict(closed.route.scores)}
    assert said["usage"]["prompt_tokens"] == closed.usage.prompt_tokens
    assert said["timing"]["first_token"] == closed.timing.first_token
    assert said["context_tokens"] == talk.profile.context_tokens


def test_a_notice_in_json_holds_its_code_and_values(tmp_path):
    with open_talk(tmp_path, profile=make_profile(max_answer_tokens=3)) as talk:
        talk.say(answer="12345")
        (notice,) = (event for event in talk.events if isinstance(event, Notice))
        assert (notice.to_json()["code"], notice.to_json()["values"]) == ("length", {"tokens": 3})


def test_the_route_comes_before_any_reading_and_reading_before_any_text(talk):
    summarising(talk)
    order = [TurnOpened, RouteChosen, Reading, TextDelta, TurnClosed]
    ranks = [order.index(type(event)) for event in talk.events]
    assert ranks == sorted(ranks)
    assert set(ranks) == set(range(len(order)))


def test_the_deltas_together_are_the_text_of_the_turn(talk):
    for play in (answered, failed, summarising):
        play(talk)
        assert talk.shown() == talk.events[-1].text != ""
