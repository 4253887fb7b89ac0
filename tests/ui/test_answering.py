"""Who answers: the base that is still being loaded, other profiles, a queue before us, a host that was lost."""

import threading
from typing import Any

import pytest

from engine.errors import ModelMissing, RuntimeFailed
from engine.values import About
from tests.ui.driving import (
    chat_of,
    composer_of,
    run,
    send,
    shown,
    turns_of,
    type_text,
    wait_for,
    wait_for_text,
    wait_until_ready,
)
from tests.ui.scripted import Gate, ScriptedClient, notice, turn
from ui.terminal import talking
from ui.terminal.app import ChatApp
from ui.terminal.overlays import ProfilesScreen


class SlowClient(ScriptedClient):
    """Its base is loaded when the test opens `loading`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.loading = Gate()

    def about(self) -> About:
        self.loading.wait(threading.Event())
        return super().about()


async def test_the_chat_is_there_while_the_base_is_loaded() -> None:
    client = SlowClient()
    async with run(ChatApp(client)) as pilot:
        await wait_for_text(pilot, "loading the model · 0 s")
        assert "Ask anything" in shown(pilot.app)
        await type_text(pilot, "hi")
        assert composer_of(pilot).text == "hi"
        await wait_for_text(pilot, "loading the model · 1 s")
        client.loading.open()
        await wait_for_text(pilot, "A small base answers, on CPU")
        await wait_for_text(pilot, "ready")


async def test_a_base_that_cannot_be_loaded_is_told_and_the_chat_stays() -> None:
    client = ScriptedClient()

    def missing() -> About:
        raise ModelMissing("The base is missing.", "Pull it.")

    client.about = missing  # type: ignore[method-assign]
    async with run(ChatApp(client)) as pilot:
        await wait_for_text(pilot, "Problem: The base is missing.")
        assert "What to do: Pull it." in shown(pilot.app)
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "No conversations yet.")


async def test_a_stored_conversation_is_shown_before_the_base_is_loaded() -> None:
    client = SlowClient(stored={"c": [turn("a", "c", "q", answer_text="There.")]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "There.")
        client.loading.open()


async def test_quitting_does_not_wait_for_the_base() -> None:
    client = SlowClient()
    async with run(ChatApp(client)) as pilot:
        await wait_for_text(pilot, "loading the model")
        await pilot.press("ctrl+q")
        await wait_for(pilot, lambda: not pilot.app.is_running)
    client.loading.open()


async def test_another_profile_is_chosen_from_the_list() -> None:
    client = ScriptedClient(profile_gate=Gate())
    async with run(ChatApp(client, expert="L2")) as pilot:
        await send(pilot, "/profile")
        await wait_for_text(pilot, "tall · Large")
        await pilot.press("down", "enter")
        await wait_for_text(pilot, "loading profile tall · 0 s")
        await send(pilot, "hi")
        await wait_for_text(pilot, "The profile is being changed.")
        assert "ask" not in client.names()
        assert client.profile_gate is not None
        client.profile_gate.open()
        await wait_for_text(pilot, "Profile tall.")
        assert "The base of tall answers" in shown(pilot.app)
        assert chat_of(pilot).chat.pinned is None
        await pilot.press("enter")
        await wait_for(pilot, lambda: "ask" in client.names())


async def test_a_profile_is_chosen_by_name_and_an_unknown_one_refused() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "/profile huge")
        await wait_for_text(pilot, "There is no profile huge. Profiles: starter, tall.")
        await send(pilot, "/profile TALL")
        await wait_for_text(pilot, "Profile tall.")
        await send(pilot, "/profile")
        await wait_for_text(pilot, "tall · Large (current)")
        assert isinstance(pilot.app.screen, ProfilesScreen)


async def test_a_profile_that_cannot_be_loaded_is_told_and_the_old_one_answers_on() -> None:
    client = ScriptedClient()

    def fail(name: str) -> About:
        raise ModelMissing(f"The base of {name} is missing.", "Pull it.")

    client.use_profile = fail  # type: ignore[method-assign]
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "/profile tall")
        await wait_for_text(pilot, "Problem: The base of tall is missing.")
        await send(pilot, "hi")
        await wait_for_text(pilot, "An answer.")


async def test_waiting_for_other_turns_is_shown_and_no_note_of_the_turn() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will(notice("waiting", ahead=3), rest, "done", route=None)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "waiting: 3 before this one")
        rest.open()
        await wait_for_text(pilot, "done")
        assert "Note:" not in shown(pilot.app)


async def test_a_turn_whose_host_was_lost_says_how_to_go_on() -> None:
    client = ScriptedClient()
    client.will("half an ans", state="interrupted", problem="The agent's process ended.", hint="It starts again.")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "■ interrupted before the answer was complete")
        text = shown(pilot.app)
        assert "half an ans" in text
        assert "Problem: The agent's process ended." in text and "What to do: It starts again." in text
        assert "Press Ctrl+R to answer this message again." in text
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "An answer.")
        assert len(turns_of(pilot)) == 1


@pytest.mark.parametrize(
    "script",
    [
        pytest.param({"state": "interrupted", "problem": "Gone."}, id="a host that was just lost"),
        pytest.param({"broken": RuntimeFailed("Gone.", "")}, id="an error in mid-turn"),
    ],
)
async def test_no_idle_work_is_asked_for_after(monkeypatch: pytest.MonkeyPatch, script: dict[str, Any]) -> None:
    monkeypatch.setattr(talking, "IDLE_AFTER_S", 0.02)
    client = ScriptedClient()
    client.will("half", **script)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "Problem: Gone.")
        await wait_until_ready(pilot)
        await pilot.pause(0.2)
        assert "idle" not in client.names()


async def test_a_host_that_was_started_again_is_told_in_plain_words() -> None:
    client = ScriptedClient()
    client.will(notice("host_restarted"), "ok")
    async with run(ChatApp(client), columns=100) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "The host had ended and was started again.")
