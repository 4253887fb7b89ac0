"""The list of conversations, their titles, and the files they are exported to."""

import json
import os
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from engine.errors import StoreProblem, UsageProblem
from engine.values import ConversationCopy, SearchHit
from tests.ui.driving import chat_of, run, send, shown, type_text, wait_for, wait_for_text
from tests.ui.scripted import Call, ScriptedClient, conversation, turn
from ui.export import from_json
from ui.terminal.app import ChatApp
from ui.terminal.exporting import ExportWish, parse_wish, write_export
from ui.terminal.history import CONVERSATIONS_AT_ONCE, HistoryScreen

TURNS = [turn("a", "tea", "green tea?", answer_text="<think>hm</think>Steep it.")]
COPY = ConversationCopy(conversation("tea", TURNS), tuple(TURNS))


def library() -> ScriptedClient:
    return ScriptedClient(
        stored={"tea": list(TURNS), "cats": [turn("b", "cats", "what do cats eat?", answer_text="Meat.")]},
        hits={"Meat": [SearchHit("cats", "b", "assistant", "what do cats eat?", "Meat.", "2026-03-04T05:06:07Z")]},
    )


def asked(client: ScriptedClient) -> list[Call]:
    return [call for call in client.calls if call.name == "ask"]


# Titles.


async def test_a_conversation_is_renamed_by_command() -> None:
    client = library()
    async with run(ChatApp(client, conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/rename 绿茶")
        await wait_for_text(pilot, "Renamed to “绿茶”.")
        assert client.titles == {"tea": "绿茶"}


async def test_without_a_title_the_old_one_is_there_to_be_changed() -> None:
    client = library()
    async with run(ChatApp(client, conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/rename")
        await wait_for_text(pilot, "Title of the conversation")
        assert pilot.app.screen.query_one(Input).value == "green tea?"
        await type_text(pilot, " Yes")
        await pilot.press("enter")
        await wait_for(pilot, lambda: client.titles == {"tea": "green tea? Yes"})


async def test_an_empty_title_is_not_taken_and_escape_keeps_the_old_one() -> None:
    client = library()
    async with run(ChatApp(client, conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/rename")
        await wait_for_text(pilot, "Title of the conversation")
        pilot.app.screen.query_one(Input).value = "  "
        await pilot.press("enter")
        await wait_for_text(pilot, "A title needs some text.")
        await pilot.press("escape")
        await wait_for(pilot, lambda: pilot.app.screen is chat_of(pilot).chat)
        assert client.titles == {}


async def test_G6_a_title_is_plain_text() -> None:
    client = library()
    client.titles["tea"] = "\x1b]0;x\x07[@click=app.quit]t[/]\u202e"
    async with run(ChatApp(client, conversation_id="tea")) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/rename")
        await wait_for_text(pilot, "[@click=app.quit]t[/]")
        assert pilot.app.screen.query_one(Input).value == "[@click=app.quit]t[/]"
        await pilot.press("escape")
        await send(pilot, "/rename \x1b[2J[red]r")
        await wait_for_text(pilot, "Renamed to “[red]r”.")


async def test_there_is_nothing_to_rename_or_export_before_the_first_message() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await wait_for_text(pilot, "Ask anything")
        await send(pilot, "/rename x")
        await wait_for_text(pilot, "There is no conversation yet.")
        await send(pilot, "/export")
        await wait_for_text(pilot, "There is no conversation yet.")


# The list.


async def test_the_chosen_conversation_is_renamed_in_the_list() -> None:
    client = library()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "what do cats eat?")
        await pilot.press("down", "ctrl+r")
        await wait_for_text(pilot, "Title of the conversation")
        pilot.app.screen.query_one(Input).value = "Cats"
        await pilot.press("enter")
        await wait_for_text(pilot, "  Cats  · 1 turn")
        assert pilot.app.screen.query_one(OptionList).highlighted == 1


async def test_the_chosen_conversation_is_exported_from_the_list(tmp_path: Path) -> None:
    client = library()
    async with run(ChatApp(client, folder=tmp_path), columns=160) as pilot:
        await send(pilot, "/history Meat")
        await wait_for_text(pilot, "· answer")
        await pilot.press("ctrl+s")
        # The path itself may break over lines anywhere.
        await wait_for_text(pilot, "Written to")
        assert "Meat." in (tmp_path / "what do cats eat.md").read_text(encoding="utf-8")


async def test_an_error_in_the_list_is_shown_in_it() -> None:
    client = library()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "what do cats eat?")
        client.management_error = StoreProblem("The host is gone.", "Wait.")
        await pilot.press("ctrl+s")
        await wait_for_text(pilot, "Problem: The host is gone.")
        assert "what do cats eat?" in shown(pilot.app)


async def test_more_conversations_come_when_the_end_of_the_list_is_near() -> None:
    count = 2 * CONVERSATIONS_AT_ONCE + 7
    stored = {f"c{n}": [turn(f"t{n}", f"c{n}", f"question {n}", answer_text="x")] for n in range(count)}
    client = ScriptedClient(stored=stored)
    async with run(ChatApp(client)) as pilot:
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "question 3")
        options = pilot.app.screen.query_one(OptionList)
        assert options.option_count == CONVERSATIONS_AT_ONCE
        for _ in range(CONVERSATIONS_AT_ONCE - 2):
            await pilot.press("down")
        await wait_for(pilot, lambda: options.option_count == 2 * CONVERSATIONS_AT_ONCE)
        options.highlighted = 2 * CONVERSATIONS_AT_ONCE - 1
        await wait_for(pilot, lambda: options.option_count == count)
        options.highlighted = count - 1
        await pilot.press("down", "enter")
        await wait_for(pilot, lambda: chat_of(pilot).chat.conversation_id == f"c{count - 1}")
        offsets = [call.value for call in client.calls if call.name == "conversations"]
        assert offsets == [0, CONVERSATIONS_AT_ONCE, 2 * CONVERSATIONS_AT_ONCE]


async def test_the_list_does_not_wrap_around_at_its_ends() -> None:
    async with run(ChatApp(library())) as pilot:
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "what do cats eat?")
        await pilot.press("up")
        assert pilot.app.screen.query_one(OptionList).highlighted == 0
        await pilot.press("down", "down")
        assert pilot.app.screen.query_one(OptionList).highlighted == 1
        assert isinstance(pilot.app.screen, HistoryScreen)


# Export.


async def test_a_conversation_is_exported_to_markdown_and_the_path_is_told(tmp_path: Path) -> None:
    async with run(ChatApp(library(), conversation_id="tea", folder=tmp_path), columns=160) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/export")
        await wait_for_text(pilot, f"Written to {tmp_path}/green tea.md")
        text = (tmp_path / "green tea.md").read_text(encoding="utf-8")
        assert "Steep it." in text and "hm" not in text.split()


async def test_a_conversation_is_exported_to_json_that_comes_back(tmp_path: Path) -> None:
    async with run(ChatApp(library(), conversation_id="tea", folder=tmp_path), columns=160) as pilot:
        await wait_for_text(pilot, "Steep it.")
        await send(pilot, "/export json tea.json")
        await wait_for_text(pilot, "tea.json")
        await wait_for(pilot, lambda: (tmp_path / "tea.json").exists())
        await wait_for_text(pilot, "Written to")
        assert from_json(json.loads((tmp_path / "tea.json").read_text(encoding="utf-8"))).turns == COPY.turns


@pytest.mark.parametrize(
    ("argument", "wish"),
    [
        ("", ExportWish()),
        ("markdown", ExportWish("markdown")),
        ("JSON", ExportWish("json")),
        ("md out.txt", ExportWish("markdown", "out.txt")),
        ("my file.md", ExportWish("markdown", "my file.md")),
        ("a.json", ExportWish("json", "a.json")),
        ("json a b.json", ExportWish("json", "a b.json")),
    ],
)
def test_a_format_and_a_file_may_be_named(argument: str, wish: ExportWish) -> None:
    assert parse_wish(argument) == wish


def test_a_name_of_ours_gives_way_to_a_free_one(tmp_path: Path) -> None:
    names = [write_export(COPY, ExportWish(), tmp_path, "en").name for _ in range(3)]
    assert names == ["green tea.md", "green tea 2.md", "green tea 3.md"]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_that_exists_is_never_overwritten(tmp_path: Path, kind: str) -> None:
    target, path = tmp_path / "target", tmp_path / "out.md"
    if kind == "file":
        path.write_text("mine", encoding="utf-8")
    else:
        path.symlink_to(target)
    with pytest.raises(UsageProblem, match="exists already") as refused:
        write_export(COPY, ExportWish("markdown", "out.md"), tmp_path, "en")
    assert "nothing is overwritten" in refused.value.hint
    assert not target.exists()
    assert kind == "link" or path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("path", ["no/such/folder.md", "bad\0name.md", "x" * 300 + ".md"])
def test_a_file_that_cannot_be_written_is_refused_with_the_reason(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageProblem, match=r"cannot be written: ."):
        write_export(COPY, ExportWish("markdown", path), tmp_path, "en")
    assert list(tmp_path.iterdir()) == []


def test_an_exported_file_is_the_users_alone(tmp_path: Path) -> None:
    path = write_export(COPY, ExportWish("json"), tmp_path, "zh")
    assert os.stat(path).st_mode & 0o077 == 0


# Off the record.


async def test_a_conversation_off_the_record_says_so_until_another_begins() -> None:
    client = library()
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "/off-record")
        await wait_for_text(pilot, "this conversation is in no history")
        await wait_for_text(pilot, "off the record")
        await send(pilot, "A secret.")
        await wait_for(pilot, lambda: len(asked(client)) == 1)
        await wait_for(pilot, lambda: chat_of(pilot).chat.running is None)
        await send(pilot, "/new")
        await wait_for(pilot, lambda: not chat_of(pilot).chat.off_record)
        await send(pilot, "Hello.")
        await wait_for(pilot, lambda: len(asked(client)) == 2)
        assert [call.value for call in asked(client)] == [True, None]


async def test_a_chat_can_begin_off_the_record_in_chinese() -> None:
    client = library()
    async with run(ChatApp(client, language="zh", off_record=True)) as pilot:
        await wait_for_text(pilot, "不留记录")
        await send(pilot, "你好")
        await wait_for(pilot, lambda: [call.value for call in asked(client)] == [True])
