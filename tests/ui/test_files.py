"""Files that go with a message: offered behind an @, added by command, shown, taken back, sent as they are."""

from pathlib import Path

import pytest

from engine.errors import StoreProblem
from engine.values import Attachment
from tests.ui.driving import (
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
from tests.ui.scripted import ScriptedClient, turn
from ui.attaching import MAX_FILES
from ui.terminal.app import ChatApp
from ui.terminal.offers import matching


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "notes.txt").write_text("milk", encoding="utf-8")
    (folder / "src" / "main.py").write_text("x = 1", encoding="utf-8")
    (folder / "清单.md").write_text("茶", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    return folder


async def test_an_at_sign_offers_the_text_files_of_the_folder(folder: Path) -> None:
    async with run(ChatApp(ScriptedClient(), folder=folder)) as pilot:
        await type_text(pilot, "read @")
        await wait_for_text(pilot, "src/main.py")
        text = shown(pilot.app)
        assert "notes.txt" in text and "清单.md" in text
        assert "picture.png" not in text


async def test_tab_completes_the_file_that_matches(folder: Path) -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, folder=folder)) as pilot:
        await type_text(pilot, "explain @mai")
        await wait_for_text(pilot, "src/main.py")
        await pilot.press("tab")
        assert composer_of(pilot).text == "explain @src/main.py "
        await wait_for_text(pilot, "With it go: src/main.py")
        await wait_for_text(pilot, "1 file attached")
        await pilot.press("enter")
        await wait_for(pilot, lambda: "ask" in client.names())
        ask = client.last("ask")
        assert ask.text == "explain @src/main.py"
        assert ask.attachments == (Attachment("src/main.py", "x = 1"),)
        assert ask.provenance == "typed"
        await wait_for_text(pilot, "attached: src/main.py")


async def test_another_offer_is_chosen_with_the_arrows_and_taken_with_enter(folder: Path) -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, folder=folder)) as pilot:
        await type_text(pilot, "@")
        await wait_for_text(pilot, "notes.txt")
        await pilot.press("down", "enter")
        assert composer_of(pilot).text == "@清单.md "
        assert client.names() == []


async def test_enter_sends_when_no_offer_was_gone_to(folder: Path) -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, folder=folder)) as pilot:
        await type_text(pilot, "mail me @no")
        await wait_for_text(pilot, "notes.txt")
        await pilot.press("enter")
        await wait_for(pilot, lambda: client.names() == ["ask"])
        assert client.last("ask").attachments == ()


async def test_escape_closes_the_offers_first(folder: Path) -> None:
    async with run(ChatApp(ScriptedClient(), folder=folder)) as pilot:
        await type_text(pilot, "@no")
        await wait_for_text(pilot, "notes.txt")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "notes.txt" not in shown(pilot.app))
        assert composer_of(pilot).text == "@no"


async def test_a_file_in_the_middle_of_a_text_is_completed_in_place(folder: Path) -> None:
    async with run(ChatApp(ScriptedClient(), folder=folder)) as pilot:
        await type_text(pilot, "看@清，谢谢")
        await pilot.press("left", "left", "left")
        await wait_for_text(pilot, "清单.md")
        await pilot.press("tab")
        assert composer_of(pilot).text == "看@清单.md ，谢谢"


async def test_tab_completes_a_command(folder: Path) -> None:
    async with run(ChatApp(ScriptedClient(), folder=folder)) as pilot:
        await type_text(pilot, "/hi")
        await wait_for_text(pilot, "/history  Find and continue a conversation")
        await pilot.press("tab")
        assert composer_of(pilot).text == "/history "
        await wait_for(pilot, lambda: "Find and continue" not in shown(pilot.app))


async def test_tab_without_an_offer_leaves_the_prompt_alone(folder: Path) -> None:
    async with run(ChatApp(ScriptedClient(), folder=folder)) as pilot:
        await type_text(pilot, "hello")
        await pilot.press("tab")
        assert composer_of(pilot).has_focus and composer_of(pilot).text == "hello"


async def test_a_file_is_added_by_command_and_taken_back(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "far.txt"
    elsewhere.write_text("away", encoding="utf-8")
    client = ScriptedClient()
    async with run(ChatApp(client, folder=folder), columns=120) as pilot:
        await send(pilot, f"/attach {elsewhere}")
        await wait_for_text(pilot, "With it go: far.txt (4 B).")
        await send(pilot, "/attach notes.txt")
        await wait_for_text(pilot, "far.txt (4 B), notes.txt (4 B)")
        await wait_for_text(pilot, "2 files attached")
        await pilot.press("backspace")
        await wait_for(pilot, lambda: "notes.txt (4 B)" not in shown(pilot.app))
        await send(pilot, "/attach none")
        await wait_for(pilot, lambda: "With it go" not in shown(pilot.app))
        await send(pilot, "/attach notes.txt")
        await wait_for_text(pilot, "notes.txt (4 B)")
        await send(pilot, "look")
        await wait_for(pilot, lambda: "ask" in client.names())
        assert client.last("ask").attachments == (Attachment("notes.txt", "milk"),)
        await wait_until_ready(pilot)
        assert "With it go" not in shown(pilot.app)


@pytest.mark.parametrize(
    ("language", "problem"), [("en", "picture.png is not a text file."), ("zh", "picture.png 不是文本文件。")]
)
async def test_a_file_that_cannot_go_is_refused_and_the_message_stays(
    folder: Path, language: str, problem: str
) -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, folder=folder, language=language)) as pilot:
        await send(pilot, "look at @picture.png")
        await wait_for_text(pilot, problem)
        assert composer_of(pilot).text == "look at @picture.png"
        assert client.names() == []


async def test_a_file_that_is_not_there_is_refused_by_the_command(folder: Path) -> None:
    async with run(ChatApp(ScriptedClient(), folder=folder)) as pilot:
        await send(pilot, "/attach gone.txt")
        await wait_for_text(pilot, "There is no file")
        await send(pilot, "/attach")
        await wait_for_text(pilot, "Write /attach and the path of a text file")


async def test_more_files_than_may_go_are_refused(folder: Path) -> None:
    names = [f"f{number}.txt" for number in range(MAX_FILES + 1)]
    for name in names:
        (folder / name).write_text("x", encoding="utf-8")
    client = ScriptedClient()
    async with run(ChatApp(client, folder=folder)) as pilot:
        await send(pilot, " ".join(f"@{name}" for name in names))
        await wait_for_text(pilot, "More than 8 files.")
        assert client.names() == []


async def test_files_of_a_refused_message_come_back_with_it(folder: Path) -> None:
    client = ScriptedClient()
    client.will(refused=StoreProblem("No.", ""))
    async with run(ChatApp(client, folder=folder)) as pilot:
        await send(pilot, "/attach notes.txt")
        await wait_for_text(pilot, "notes.txt (4 B)")
        await send(pilot, "look")
        await wait_for_text(pilot, "Problem: No.")
        assert composer_of(pilot).text == "look"
        assert "notes.txt (4 B)" in shown(pilot.app)


async def test_every_conversation_keeps_its_files_with_its_draft(folder: Path) -> None:
    async with run(ChatApp(ScriptedClient(), folder=folder)) as pilot:
        await send(pilot, "hello")
        await wait_until_ready(pilot)
        await send(pilot, "/attach notes.txt")
        await wait_for_text(pilot, "notes.txt (4 B)")
        await pilot.press("ctrl+n")
        await wait_for(pilot, lambda: "notes.txt" not in shown(pilot.app))
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "hello")
        await pilot.press("enter")
        await wait_for_text(pilot, "notes.txt (4 B)")


async def test_an_edited_message_keeps_its_files_and_takes_no_others(folder: Path) -> None:
    stored = turn("a", "c", "see @notes.txt", answer_text="ok", attachments=(Attachment("notes.txt", "milk"),))
    client = ScriptedClient(stored={"c": [stored]})
    async with run(ChatApp(client, folder=folder, conversation_id="c"), columns=100) as pilot:
        await wait_for_text(pilot, "attached: notes.txt")
        await pilot.press("ctrl+e")
        composer_of(pilot).put("see @notes.txt and @src/main.py")
        await pilot.press("enter")
        await wait_for_text(pilot, "src/main.py cannot be added.")
        composer_of(pilot).put("see @notes.txt again")
        await pilot.press("enter")
        await wait_for(pilot, lambda: "edit" in client.names())
        await wait_until_ready(pilot)
        assert turns_of(pilot)[0].attachments == ("notes.txt",)


async def test_a_leading_expert_is_no_file(folder: Path) -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, folder=folder)) as pilot:
        await send(pilot, "@L2 sort a list")
        await wait_for(pilot, lambda: "ask" in client.names())
        assert (client.last("ask").text, client.last("ask").attachments) == ("@L2 sort a list", ())


async def test_G6_names_of_files_are_plain_text(folder: Path) -> None:
    hostile = "[@click=app.quit]x.txt"
    (folder / hostile).write_text("x", encoding="utf-8")
    (folder / "bell\x07.txt").write_text("x", encoding="utf-8")
    name = "\x1b]0;t\x07[@click=app.quit]y[/]\u202e.txt"
    stored = turn("a", "c", "q", answer_text="ok", attachments=(Attachment(name, "x"),))
    async with run(ChatApp(ScriptedClient(stored={"c": [stored]}), folder=folder, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "attached: [@click=app.quit]y[/].txt")
        await type_text(pilot, "@x")
        await wait_for_text(pilot, hostile)
        await pilot.press("tab")
        await wait_for_text(pilot, f"With it go: {hostile}")
        assert not set(shown(pilot.app)) & set("\x1b\x07\u202e")


@pytest.mark.parametrize(
    ("fragment", "best"),
    [("main", "src/main.py"), ("mp", "src/main.py"), ("NOTES", "notes.txt"), ("清", "清单.md"), ("", "a/notes2.txt")],
)
def test_the_best_match_comes_first(fragment: str, best: str) -> None:
    assert matching(fragment, ["a/notes2.txt", "notes.txt", "src/main.py", "清单.md"])[0] == best


def test_what_does_not_hold_the_characters_in_order_does_not_match() -> None:
    assert matching("zq", ["a/notes2.txt"]) == []
