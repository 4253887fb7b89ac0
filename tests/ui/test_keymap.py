"""Keys of the user's own: which can be had, and that what is on screen names the ones in force."""

import pytest

from tests.ui.driving import chat_of, composer_of, run, shown, type_text, wait_for, wait_for_text
from tests.ui.scripted import ScriptedClient
from ui.strings import TEXTS
from ui.terminal.app import ChatApp
from ui.terminal.help import HelpScreen
from ui.terminal.history import HistoryScreen
from ui.terminal.keys import KEYS, Key, long_name, read_keymap, short_name


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.key_id)
def test_every_key_is_explained(key: Key) -> None:
    assert key.help_key in TEXTS


def test_no_two_keys_of_ours_clash() -> None:
    wanted = {key.key_id: key.keys for key in KEYS}
    assert read_keymap(wanted, "en")[1] == ()


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({"chat.new": "ctrl+g"}, id="another key"),
        pytest.param({"chat.new": "ctrl+r", "chat.regenerate": "ctrl+n"}, id="two that change places"),
        pytest.param({"chat.new": "f5,alt+n"}, id="two keys"),
        pytest.param({"turn.copy": "c", "turn.edit": "/"}, id="letters where nothing is written"),
        pytest.param({"history.rename": "ctrl+n"}, id="a key that works elsewhere only"),
        pytest.param({"turn.copy": "E"}, id="the capital of a letter that is taken"),
    ],
)
def test_a_wish_that_can_be_had_is_in_force(wanted: dict[str, str]) -> None:
    keymap, problems = read_keymap(wanted, "en")
    assert (dict(keymap.changed), problems) == (wanted, ())


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        pytest.param({"chat.nwe": "ctrl+g"}, "gives a key to chat.nwe, which there is not", id="unknown id"),
        pytest.param({"chat.new": "ctrl+oo"}, "ctrl+oo, for chat.new, is not a key", id="no such key"),
        pytest.param({"chat.new": ""}, "for chat.new, is not a key", id="nothing"),
        pytest.param({"chat.new": "n"}, "n, for chat.new, is needed for writing", id="a letter"),
        pytest.param({"chat.new": "enter"}, "enter, for chat.new, is needed for writing", id="enter"),
        pytest.param({"chat.new": "ctrl+l"}, "Ctrl+L, for chat.new, is the key of chat.history", id="a clash"),
        pytest.param({"turn.copy": "e"}, "E, for turn.copy, is the key of turn.edit", id="a clash on a turn"),
        pytest.param({"chat.new": "ctrl+q"}, "is the key of app.quit already", id="a clash with the program"),
        pytest.param({"\x1b[2Jx": "ctrl+g"}, "gives a key to x, which", id="a hostile id"),
    ],
)
def test_a_wish_that_cannot_be_had_is_told_and_the_old_key_stays(wanted: dict[str, str], problem: str) -> None:
    keymap, problems = read_keymap(wanted, "en")
    assert keymap.changed == {}
    assert len(problems) == 1 and problem in problems[0]


def test_of_two_wishes_for_one_key_the_first_is_had() -> None:
    keymap, problems = read_keymap({"chat.new": "ctrl+g", "chat.tree": "ctrl+g"}, "zh")
    assert keymap.changed == {"chat.new": "ctrl+g"}
    assert problems == ("settings.toml：chat.tree 的 Ctrl+G 已用于 chat.new。",)


@pytest.mark.parametrize(
    ("key", "short", "long"),
    [("ctrl+n", "^N", "Ctrl+N"), ("f1", "F1", "F1"), ("alt+left", "Alt+←", "Alt+Left"), ("plus", "+", "+")],
)
def test_keys_are_written_as_people_know_them(key: str, short: str, long: str) -> None:
    assert (short_name(key), long_name(key)) == (short, long)


async def test_another_key_does_what_the_old_one_did_and_is_named_everywhere() -> None:
    keymap = {"chat.history": "f6", "app.help": "f7", "turn.copy": "c"}
    async with run(ChatApp(ScriptedClient(), keymap=keymap), rows=60) as pilot:
        await wait_for_text(pilot, "F6 history")
        assert "F7 explains the keys" in shown(pilot.app)
        await pilot.press("ctrl+l", "f1")
        assert pilot.app.screen is chat_of(pilot).chat
        await pilot.press("f6")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
        await pilot.press("escape", "f7")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await wait_for_text(pilot, "F6                 list of conversations (chat.history)")
        await pilot.press(*["down"] * 8)
        await wait_for_text(pilot, "C                  copy the answer")


async def test_a_wish_that_cannot_be_had_is_told_at_the_start() -> None:
    async with run(ChatApp(ScriptedClient(), keymap={"chat.nwe": "f6"}, language="zh"), rows=40) as pilot:
        await wait_for_text(pilot, "settings.toml 中的按键编号 chat.nwe 不存在。")
        await type_text(pilot, "hi")
        assert composer_of(pilot).text == "hi"
