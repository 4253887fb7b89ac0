"""Whatever a model, a user or a stored text holds, on the screen it is only text."""

import pytest
from textual.widgets.markdown import MarkdownBlock

from engine.errors import RuntimeFailed
from engine.values import Conversation, SearchHit
from tests.ui.driving import composer_of, run, send, shown, turns_of, wait_for, wait_for_text, wait_until_ready
from tests.ui.scripted import Gate, ScriptedClient, notice, turn
from tests.ui.test_inert import ATTACKS
from ui.terminal.answer import AnswerMarkdown, inert_parser
from ui.terminal.app import ChatApp

MARKUP = "[@click=app.quit]click[/] [bold]b[/bold] [/nothing] [red"
HOSTILE_MARKDOWN = {
    "markup": MARKUP,
    "markup in a heading": f"# {MARKUP}",
    "markup in a list": f"- {MARKUP}\n1. {MARKUP}",
    "markup in a table": f"| {MARKUP} | b |\n|---|---|\n| {MARKUP} | {MARKUP} |",
    "markup in code": f"```\n{MARKUP}\n```\n`{MARKUP}`",
    "a language with markup": f"```{MARKUP}\nx\n```",
    "a language that is a path": "```../../etc/passwd\nx\n```",
    "HTML": "<script>alert(1)</script> <b>x</b>\n\n<div onclick='x'>y</div>",
    "a link that runs an action": "[x](<app.quit()>) [y](javascript:alert(1))",
    "a reference link": "[x][1]\n\n[1]: https://evil.example",
    "a link around an image": "[![alt](https://evil.example/i.png)](https://evil.example)",
    "emphasis inside a link": "[**bold** and *more*](https://evil.example)",
    "headings without letters": "# !!!\n\n## 你好\n\n### 👩‍💻\n\n#",
    "a huge list number": "999999999. x",
    "deep nesting": "> " * 30 + "x\n" + "- " * 30 + "y",
    "a fence that never closes": "```python\nx = '",
    "tabs": "a\tb\n\n\tcode\tcode",
    "only blanks": "   \n\n  ",
}


@pytest.mark.parametrize("text", HOSTILE_MARKDOWN.values(), ids=HOSTILE_MARKDOWN.keys())
async def test_no_answer_can_do_more_than_be_read(text: str) -> None:
    client = ScriptedClient()
    client.will(*text, final_text=text)
    async with run(ChatApp(client), rows=60) as pilot:
        await send(pilot, f"{text}?")
        # Where drawing takes long, nobody has wanted anything since.
        await wait_for(pilot, lambda: [name for name in client.names() if name != "idle"] == ["ask"])
        await wait_until_ready(pilot)
        for block in pilot.app.screen.query(MarkdownBlock):
            assert not [span for span in block._content.spans if "@click" in str(getattr(span.style, "meta", ""))]
            await pilot.hover(block)  # tooltips are drawn
        await pilot.click(turns_of(pilot)[0], offset=(4, 4))
        assert pilot.app.is_running


async def test_markup_in_a_table_stays_text_under_the_mouse() -> None:
    client = ScriptedClient()
    client.will("| head |\n|---|\n| [/nothing] |\n")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "table")
        await wait_for_text(pilot, "[/nothing]")
        await wait_until_ready(pilot)
        assert [cell.tooltip for cell in pilot.app.screen.query("MarkdownTableCellContents")] == [None, None]


async def test_no_control_character_reaches_the_screen() -> None:
    attacks = [text for text, _ in ATTACKS.values()]
    everything = "\n\n".join(attacks)
    stored = [turn("x1", "c", everything, state="failed", answer_text=everything, problem=everything, hint=everything)]
    client = ScriptedClient(stored={"c": stored})
    notices = [notice(text, key=text) for text in attacks]
    client.will(*notices, *everything, state="failed", problem=everything, hint=everything)
    async with run(ChatApp(client, conversation_id="c"), rows=700) as pilot:
        await wait_for(pilot, lambda: turns_of(pilot))
        await send(pilot, everything)
        await wait_for(pilot, lambda: "ask" in client.names())
        await wait_until_ready(pilot)
        await pilot.press("ctrl+e")
        text = shown(pilot.app)
        assert text.count("31mx") >= 8  # both turns are on the screen in full
        assert_harmless(text + composer_of(pilot).text)


async def test_titles_and_search_results_are_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = f"\x1b[2J{MARKUP}\nsecond"
    client = ScriptedClient(hits={"x": [SearchHit("c", "t", "user", hostile, hostile, hostile)]})
    listed = Conversation("c", hostile, "starter", hostile, hostile, None, 1)
    monkeypatch.setattr(client, "conversations", lambda **_: [listed])
    async with run(ChatApp(client), columns=120) as pilot:
        await pilot.press("ctrl+l")
        await wait_for_text(pilot, "[@click=app.quit]click")
        assert_harmless(shown(pilot.app))
        await pilot.press("x")
        await wait_for_text(pilot, "· you")
        assert_harmless(shown(pilot.app))


async def test_names_and_purposes_of_experts_are_plain_text() -> None:
    client = ScriptedClient(known_experts=((f"L0{MARKUP}", f"\x1b]0;t\x07{MARKUP}"), ("L1", "ok")))
    async with run(ChatApp(client), columns=120) as pilot:
        await pilot.press("ctrl+t")
        await wait_for_text(pilot, "L0[@click=app.quit]click[/]")
        await pilot.press("down", "enter")
        await wait_for_text(pilot, "pinned to L0[@click=app.quit]")
        assert_harmless(shown(pilot.app))


async def test_an_unknown_command_is_repeated_as_plain_text() -> None:
    async with run(ChatApp(ScriptedClient()), columns=120) as pilot:
        await send(pilot, "/[@click=app.quit]x[/nothing]")
        await wait_for_text(pilot, "There is no command /[@click=app.quit]x[/nothing].")


async def test_the_text_of_an_error_is_plain_text() -> None:
    client = ScriptedClient()
    client.will(refused=RuntimeFailed(f"\x1b[2J{MARKUP}", MARKUP))
    async with run(ChatApp(client), columns=120) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, f"Problem: {MARKUP}")
        assert_harmless(shown(pilot.app))


async def test_a_sequence_cut_between_two_pieces_is_not_shown_in_part() -> None:
    client, rest = ScriptedClient(), Gate()
    client.will("before \x1b[3", rest, "1mafter")
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "before")
        rest.open()
        await wait_for_text(pilot, "before after")


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        pytest.param("[bank](https://evil.example/a?b=c)", "bank (https://evil.example/a?b=c)", id="link"),
        pytest.param("[https://a.example](https://b.example)", "https://a.example (https://b.example)", id="disguise"),
        pytest.param("<https://a.example>", "https://a.example", id="address"),
        pytest.param("https://a.example", "https://a.example", id="bare address"),
        pytest.param("![pic](http://a.example/p.png)", "[image, not loaded: pic (http://a.example/p.png)]", id="image"),
        pytest.param("![](http://a.example/p.png)", "[image, not loaded: http://a.example/p.png]", id="no alt text"),
        pytest.param("<b>x</b>", "<b>x</b>", id="HTML"),
    ],
)
async def test_links_and_images_show_their_full_address_and_do_nothing(markdown: str, text: str) -> None:
    client = ScriptedClient()
    client.will(markdown)
    async with run(ChatApp(client)) as pilot:
        await send(pilot, "hi")
        await wait_for_text(pilot, "L2 · best")
        await wait_until_ready(pilot)
        assert text in shown(pilot.app).splitlines()[4].strip()


def test_line_ends_inside_a_paragraph_are_kept() -> None:
    tokens = inert_parser("en").parse("一行\n二行")
    assert [token.type for token in tokens[1].children or []] == ["text", "hardbreak", "text"]


async def test_streaming_ends_with_the_same_blocks_as_drawing_at_once() -> None:
    text = "# T\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```\n\nend [l](http://a.example)"
    client = ScriptedClient(stored={"c": [turn("x1", "c", "q", answer_text=text)]})
    client.will(*text)
    async with run(ChatApp(client, conversation_id="c"), rows=80) as pilot:
        await wait_for_text(pilot, "end l (http://a.example)")
        await send(pilot, "again")
        await wait_for(pilot, lambda: len(turns_of(pilot)) == 2)
        await wait_until_ready(pilot)
        drawn, streamed = (
            [type(block).__name__ for block in answer.query(MarkdownBlock)]
            for answer in pilot.app.screen.query(AnswerMarkdown)
        )
        assert streamed == drawn


def assert_harmless(text: str) -> None:
    assert not [c for c in text if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0]
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
