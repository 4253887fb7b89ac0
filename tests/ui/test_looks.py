"""How the chat looks where a terminal can show less: few colours, none, few columns and lines."""

from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from textual.theme import Theme

from tests.ui.driving import composer_of, run, send, shown, type_text, wait_for, wait_for_text
from tests.ui.scripted import ScriptedClient, turn
from ui.inert import cell_width
from ui.terminal.app import ChatApp
from ui.terminal.palette import DARK, LIGHT

GROUNDS = [
    *((text, "background") for text in ("foreground", "muted", "accent", "error")),
    *((text, "panel") for text in ("foreground", "muted", "error")),
]
"""What is written on what."""
COLUMNS, ROWS = 60, 20


def colour(theme: Theme, name: str) -> Color:
    return Color.parse(theme.variables.get(name) or getattr(theme, name))


def luminance(of: Color) -> float:
    """Relative luminance as WCAG defines it, from 0 to 1."""
    parts = [part / 255 for part in of.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize(("text", "ground"), GROUNDS)
def test_every_text_is_read_on_its_ground(theme: Theme, text: str, ground: str) -> None:
    light, dark = sorted((luminance(colour(theme, text)), luminance(colour(theme, ground))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5  # WCAG 2, level AA


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize(("text", "ground"), GROUNDS)
def test_every_text_differs_from_its_ground_in_sixteen_colours(theme: Theme, text: str, ground: str) -> None:
    of_text, of_ground = (colour(theme, name).downgrade(ColorSystem.STANDARD).number for name in (text, ground))
    assert of_text != of_ground


@pytest.mark.parametrize(("argument", "theme"), [("light", LIGHT), ("dark", DARK), ("LIGHT", LIGHT)])
async def test_the_theme_is_chosen_by_command(argument: str, theme: Theme) -> None:
    async with run(ChatApp(ScriptedClient(), dark=theme is LIGHT)) as pilot:
        await send(pilot, f"/theme {argument}")
        await wait_for(pilot, lambda: pilot.app.theme == theme.name)


async def test_the_command_alone_takes_the_other_theme_and_a_wrong_name_is_refused() -> None:
    async with run(ChatApp(ScriptedClient(), dark=False)) as pilot:
        await send(pilot, "/theme")
        await wait_for(pilot, lambda: pilot.app.theme == DARK.name)
        await send(pilot, "/theme pink")
        await wait_for_text(pilot, "Write /theme dark or /theme light.")


@pytest.mark.parametrize("is_without_colour", [False, True], ids=["colour", "NO_COLOR"])
async def test_a_selection_an_offer_and_a_thumb_are_seen_without_colour_too(
    monkeypatch: pytest.MonkeyPatch, is_without_colour: bool
) -> None:
    if is_without_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    client = ScriptedClient(stored={"c": [turn("a", "c", "q", answer_text="<think>hm</think>A.", rating=1)]})
    async with run(ChatApp(client, conversation_id="c")) as pilot:
        await wait_for_text(pilot, "thumb up (+1)")
        await pilot.press("alt+up")
        await wait_for_text(pilot, "▌You")
        assert "▸ thought" in shown(pilot.app)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("key", ["", "f1", "ctrl+l", "ctrl+t", "ctrl+b", "ctrl+p", "alt+up", "ctrl+e"])
async def test_a_small_terminal_shows_every_layer_in_its_frame(language: str, key: str, tmp_path: Path) -> None:
    path = [turn("a", "c", "法国的首都是哪里？" * 9, answer_text="The answer is long. " * 30)]
    client = ScriptedClient(stored={"c": path})
    app = ChatApp(client, conversation_id="c", language=language, folder=tmp_path)
    async with run(app, COLUMNS, ROWS) as pilot:
        await wait_for_text(pilot, "The answer is long.")
        if key:
            await pilot.press(key)
            await pilot.pause(0.2)
        lines = shown(app).splitlines()
        assert len(lines) <= ROWS and max(map(cell_width, lines)) <= COLUMNS
        assert "╭" in shown(app) or key == "ctrl+p"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_foot_fits_eighty_columns_in_every_mode(language: str) -> None:
    client = ScriptedClient(stored={"c": [turn("a", "c", "asked", answer_text="x")]})
    last_words = {"en": ("quit", "back", "help"), "zh": ("退出", "返回", "帮助")}[language]
    async with run(ChatApp(client, conversation_id="c", language=language)) as pilot:
        await wait_for_text(pilot, "asked")
        for keys, last in zip(((), ("alt+up",), ("e",)), last_words, strict=True):
            await pilot.press(*keys)
            await wait_for(pilot, lambda last=last: shown(pilot.app).splitlines()[-1].endswith(last))


async def test_the_prompt_wraps_and_keeps_its_cursor_among_wide_and_narrow_characters() -> None:
    async with run(ChatApp(ScriptedClient()), COLUMNS, ROWS) as pilot:
        await type_text(pilot, "a中b文c")
        composer = composer_of(pilot)
        x = composer.cursor_screen_offset.x
        await pilot.press("left")
        assert composer.cursor_screen_offset.x == x - 1
        await pilot.press("left")
        assert composer.cursor_screen_offset.x == x - 3
        await type_text(pilot, "汉")
        assert "a中b汉文c" in shown(pilot.app)
