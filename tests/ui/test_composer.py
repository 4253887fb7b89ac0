"""Writing a message: what sends it, what starts a new line, what comes back."""

from textual import events

from tests.ui.driving import composer_of, run, send, shown, turns_of, type_text, wait_for, wait_until_ready
from tests.ui.scripted import ScriptedClient
from ui.terminal.app import ChatApp


async def test_enter_sends_what_was_typed() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await type_text(pilot, "hello there")
        await pilot.press("enter")
        await wait_for(pilot, lambda: client.names() == ["ask"])
        assert client.calls[0].text == "hello there"
        assert composer_of(pilot).text == ""


async def test_ctrl_j_and_shift_enter_start_a_new_line() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("a", "ctrl+j", "b", "shift+enter", "c")
        assert composer_of(pilot).text == "a\nb\nc"
        assert client.calls == []


async def test_an_empty_message_is_not_sent() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        await pilot.press("enter", "space", "ctrl+j", "enter")
        await pilot.pause()
        assert client.calls == []


async def test_a_paste_is_text_and_never_sends() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client)) as pilot:
        pilot.app.post_message(events.Paste("one\r\ntwo\n"))
        await wait_for(pilot, lambda: composer_of(pilot).text)
        assert composer_of(pilot).text == "one\ntwo\n"
        assert client.calls == []


async def test_control_sequences_in_a_paste_are_dropped() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        pilot.app.post_message(events.Paste("a\x1b[31mb\x07\ud800"))
        await wait_for(pilot, lambda: composer_of(pilot).text)
        assert composer_of(pilot).text == "ab\ufffd"


async def test_chinese_is_typed_shown_and_sent() -> None:
    client = ScriptedClient()
    async with run(ChatApp(client, language="zh")) as pilot:
        await type_text(pilot, "法国的首都是哪里？")
        assert "法国的首都是哪里？" in shown(pilot.app)
        await pilot.press("left", "backspace", "enter")
        await wait_for(pilot, lambda: client.names() == ["ask"])
        assert client.calls[0].text == "法国的首都是哪？"


async def test_wide_characters_wrap_inside_the_composer() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        composer_of(pilot).put("汉" * 60)
        await pilot.pause()
        assert composer_of(pilot).wrapped_document.height == 2
        assert shown(pilot.app).count("汉") == 60


async def test_the_composer_grows_to_ten_lines_and_no_further() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        composer = composer_of(pilot)
        assert composer.content_size.height == 1
        composer.put("1\n2\n3\n4")
        await wait_for(pilot, lambda: composer.content_size.height == 4)
        composer.put("\n".join("x" * 30))
        await wait_for(pilot, lambda: composer.content_size.height == 10)


async def test_up_on_an_empty_prompt_brings_back_earlier_prompts() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await send(pilot, "first")
        await wait_until_ready(pilot)
        await send(pilot, "second")
        await wait_until_ready(pilot)
        assert len(turns_of(pilot)) == 2
        await pilot.press("up")
        assert composer_of(pilot).text == "second"
        await pilot.press("up")
        assert composer_of(pilot).text == "first"
        await pilot.press("down", "down")
        assert composer_of(pilot).text == ""


async def test_up_in_a_text_of_ones_own_moves_the_cursor() -> None:
    async with run(ChatApp(ScriptedClient())) as pilot:
        await send(pilot, "first")
        await wait_until_ready(pilot)
        await pilot.press("a", "ctrl+j", "b", "up")
        assert composer_of(pilot).text == "a\nb"
        assert composer_of(pilot).cursor_location[0] == 0
