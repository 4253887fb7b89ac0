"""A better answer is noted, not sent: "better: …", /better, the answer edited, one of two picked; all can be erased."""

import pytest
from textual import events

from engine.errors import UsageProblem
from engine.values import Attachment
from tests.ui.driving import composer_of, run, send, shown, turns_of, wait_for, wait_for_text, wait_until_ready
from tests.ui.scripted import ScriptedClient, turn
from ui.terminal.app import ChatApp
from ui.terminal.signals import SignalsScreen

PASTED = "A paragraph from a page of the web, which is surely longer than what anyone would type.\nAnd a second line."


async def answered(pilot, client: ScriptedClient, text: str = "Capital of France?", answer: str = "Lyon.") -> None:
    client.will(answer)
    await send(pilot, text)
    await wait_for_text(pilot, answer.rpartition(">")[2])
    await wait_until_ready(pilot)


@pytest.mark.parametrize(("said", "language"), [("Better: Paris.", "en"), ("更好的回答：Paris.", "zh")])
async def test_a_better_answer_is_noted_and_not_sent(said: str, language: str) -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, language=language)) as pilot:
        await answered(pilot, client)
        await send(pilot, said)
        await wait_for(pilot, lambda: composer_of(pilot).text == "")
        await wait_for_text(pilot, {"en": "Noted as a better answer", "zh": "已逐字记为更好的回答"}[language])
        assert client.names().count("ask") == 1
        noted = client.last("correct")
        assert (noted.text, noted.value, noted.provenance) == ("Paris.", "correction", "typed")
        assert noted.turn_id == turns_of(pilot)[-1].turn_id
        assert {"en": "better answer noted", "zh": "已记下更好的回答"}[language] in shown(pilot.app)


async def test_with_nothing_answered_yet_the_same_words_are_a_message() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "better: Paris.")
        await wait_until_ready(pilot)
        await wait_for(pilot, lambda: "ask" in client.names())
        assert client.last("ask").text == "better: Paris."
        assert "correct" not in client.names()


async def test_so_they_are_where_files_go_with_them() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        pilot.app.chat._prompt.attach(Attachment("notes.txt", "Milk"))
        await send(pilot, "better: these notes")
        await wait_for(pilot, lambda: client.names().count("ask") == 2)
        assert "correct" not in client.names()
        await wait_until_ready(pilot)


async def test_a_pasted_better_answer_waits_to_be_confirmed_and_the_user_is_told() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        composer_of(pilot).put("better: ")
        composer_of(pilot).post_message(events.Paste(PASTED))
        await wait_for(pilot, lambda: "second line" in composer_of(pilot).text)
        await pilot.press("enter")
        await wait_for_text(pilot, "until you confirm it")
        assert client.last("correct").provenance == "pasted"


async def test_the_command_notes_a_better_answer_of_several_lines() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        await send(pilot, "/better\nParis.\n\nIt lies on the Seine.")
        await wait_for_text(pilot, "Noted as a better answer")
        assert client.last("correct").text == "Paris.\n\nIt lies on the Seine."


async def test_the_command_alone_says_how_it_is_used() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        await send(pilot, "/better")
        await wait_for_text(pilot, "Write /better and what should have been answered.")
        assert "correct" not in client.names()


@pytest.mark.parametrize("said", ["better: Lyon.", "/better Lyon."])
async def test_what_is_refused_goes_back_to_the_prompt(said: str) -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        client.management_error = UsageProblem("This is what was answered.", "Write another.")
        await send(pilot, said)
        await wait_for_text(pilot, "This is what was answered.")
        assert composer_of(pilot).text == said


async def test_an_edited_answer_is_noted_whole_and_the_draft_comes_back() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        await send(pilot, "/edit-answer")
        await wait_for(pilot, lambda: composer_of(pilot).text == "Lyon.")
        assert "Editing the answer" in shown(pilot.app)
        await send(pilot, "/Paris is the capital.")
        await wait_for_text(pilot, "Noted as the answer you want")
        noted = client.last("correct")
        assert (noted.text, noted.value, noted.provenance) == ("/Paris is the capital.", "edit", "typed")
        assert composer_of(pilot).text == ""
        assert "Editing the answer" not in shown(pilot.app)
        assert "edited answer noted" in shown(pilot.app)
        assert "Lyon." in shown(pilot.app), "what was answered stays"


async def test_only_the_answer_is_edited_not_what_was_thought() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client, answer="<think>Hm, France.</think>Lyon.")
        await send(pilot, "/edit-answer")
        await wait_for(pilot, lambda: composer_of(pilot).text == "Lyon.")


async def test_escape_gives_an_edited_answer_up_and_brings_the_draft_back() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        composer_of(pilot).put("a draft")
        await pilot.press("alt+up", "a")
        await wait_for(pilot, lambda: composer_of(pilot).text == "Lyon.")
        await pilot.press("escape")
        await wait_for(pilot, lambda: composer_of(pilot).text == "a draft")
        assert "correct" not in client.names()


async def test_one_of_two_answers_is_picked_with_a_key() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        client.will("Paris.")
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "Paris.")
        await wait_until_ready(pilot)
        await pilot.press("alt+up", "p")
        await wait_for_text(pilot, "this answer is the better one")
        assert client.last("pick").turn_id == turns_of(pilot)[-1].turn_id


async def test_what_was_said_of_answers_is_listed_confirmed_and_erased() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await answered(pilot, client)
        client.correct("t1", "Paris. " + "It lies on the Seine. " * 5, provenance="pasted")
        client.correct("t1", "Pâris.")
        await send(pilot, "/signals")
        await wait_for_text(pilot, "better answer · Pâris.")
        await pilot.press("down")
        await wait_for_text(pilot, "better answer · not confirmed · Paris.")
        await pilot.press("c")
        await wait_for(pilot, lambda: "not confirmed" not in shown(pilot.app))
        await pilot.press("x")
        await wait_for(pilot, lambda: "Seine" not in shown(pilot.app))
        assert [signal.text for signal in client.signed.values()] == ["Pâris."]
        await wait_for_text(pilot, "better answer · Pâris.")
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, SignalsScreen)


async def test_a_noted_answer_is_marked_when_its_conversation_is_opened_again_until_it_is_erased() -> None:
    client = ScriptedClient(stored={"tea": [turn("t1", "tea", "Tea?", answer_text="Black.")]})
    client.correct("t1", "Green?")
    client.correct("t1", "Green.", "edit")
    async with run(ChatApp(client, conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "edited answer noted")
        await send(pilot, "/signals")
        await wait_for_text(pilot, "edited answer · Green.")
        await pilot.press("x")
        await wait_for(pilot, lambda: "Green." not in shown(pilot.app))
        await pilot.press("escape")
        await wait_for_text(pilot, "better answer noted")
        assert "edited answer noted" not in shown(pilot.app)


async def test_a_long_list_is_read_as_the_user_goes_down() -> None:
    client = ScriptedClient()
    for number in range(230):
        client.correct("t1", f"Answer {number}.")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "/signals")
        await wait_for_text(pilot, "Answer 229.")
        for _ in range(3):
            await pilot.press("end")
            await pilot.pause(0.05)
        await wait_for_text(pilot, "Answer 0.")


async def test_an_empty_list_says_what_would_be_in_it() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await send(pilot, "/signals")
        await wait_for_text(pilot, "Nothing yet.")
        await pilot.press("x", "c")
        await wait_for_text(pilot, "Nothing yet.")


async def test_a_list_that_cannot_be_read_says_why() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        client.management_error = UsageProblem("The disk is gone.", "Plug it in.")
        await send(pilot, "/signals")
        await wait_for_text(pilot, "The disk is gone.")
