"""What a message of an export says, to whom, and what is left out of it and why."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.chatgpt.messages import Message, read_message, read_moment
from tests.support.chatgpt_export import BEGAN


def message(role: str, content: Any, *, recipient: str = "all", **metadata: Any) -> dict[str, Any]:
    return {
        "author": {"role": role},
        "content": {"content_type": "text", "parts": [content]} if isinstance(content, str) else content,
        "recipient": recipient,
        "metadata": metadata,
        "create_time": BEGAN,
    }


def said(*given: Any, **more: Any) -> tuple[str, str]:
    read = read_message(message(*given, **more))
    assert not read.left_out
    return read.speaker, read.text


def left_out(*given: Any, **more: Any) -> str:
    read = read_message(message(*given, **more))
    assert (read.speaker, read.text) == ("", "")
    return read.left_out


def test_texts_are_taken_as_they_are():
    assert said("user", "Hi 咖啡\n\n- a") == ("user", "Hi 咖啡\n\n- a")
    assert said("assistant", {"content_type": "text", "parts": ["One.", "", "Two."]}) == ("assistant", "One.\n\nTwo.")


def test_files_are_named_in_the_text():
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "width": 9}
    content = {"content_type": "multimodal_text", "parts": [pointer, "What is this?"]}
    files = [{"id": "file-1", "name": "cat.png"}, {"id": "file-2", "name": "notes\n.txt"}]
    assert said("user", content, attachments=files)[1] == "What is this?\n\n[image: cat.png]\n[attached: notes .txt]"
    assert said("user", content)[1] == "What is this?\n\n[image: file-1]"
    assert said("user", "", attachments=files[1:])[1] == "[attached: notes .txt]", "a file without a word is a message"


def test_what_was_spoken_is_text():
    heard = {"content_type": "audio_transcription", "text": "Good morning.", "direction": "in"}
    sound = {
        "content_type": "real_time_user_audio_video_asset_pointer",
        "audio_asset_pointer": {"asset_pointer": "s://f"},
    }
    assert (
        said("user", {"content_type": "multimodal_text", "parts": [heard, sound]})[1] == "Good morning.\n\n[audio: f]"
    )


def test_code_that_was_run_and_what_it_printed_are_part_of_the_answer():
    code = {"content_type": "code", "language": "unknown", "text": "print('```')"}
    assert said("assistant", code, recipient="python") == ("assistant", "````python\nprint('```')\n````")
    assert said("tool", {"content_type": "execution_output", "text": "```\n"}) == ("assistant", "````output\n```\n````")
    assert said("tool", {"content_type": "multimodal_text", "parts": ["note", {"content_type": "image_asset_pointer"}]})
    assert left_out("tool", {"content_type": "execution_output", "text": ""}) == ""


def test_documents_that_were_written_are_part_of_the_answer():
    call = '{"name": "poem", "type": "document", "content": "Leaves."}'
    assert said("assistant", call, recipient="canmore.create_textdoc")[1] == "poem:\n\nLeaves."
    code = '{"name": "add", "type": "code/python", "content": "1 + 1"}'
    assert said("assistant", code, recipient="canmore.create_textdoc")[1] == "add:\n\n```python\n1 + 1\n```"
    assert left_out("assistant", "[" * 9999, recipient="canmore.create_textdoc") == "tool"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(message("system", ""), "", id="empty system"),
        pytest.param(message("system", "You are"), "hidden", id="system"),
        pytest.param(
            message("user", {"content_type": "user_editable_context", "user_profile": "x"}), "hidden", id="settings"
        ),
        pytest.param(message("assistant", "x", is_visually_hidden_from_conversation=True), "hidden", id="hidden"),
        pytest.param(message("assistant", {"content_type": "thoughts", "thoughts": []}), "reasoning", id="thoughts"),
        pytest.param(
            message("assistant", {"content_type": "reasoning_recap", "content": "5 s"}), "reasoning", id="recap"
        ),
        pytest.param(message("assistant", "search('x')", recipient="browser"), "tool", id="call"),
        pytest.param(message("tool", {"content_type": "tether_quote", "text": "Page."}), "tool", id="page"),
        pytest.param(message("tool", {"content_type": "tether_browsing_display", "result": "P."}), "tool", id="pages"),
        pytest.param(message("assistant", {"content_type": "hologram", "beam": 1}), "unknown", id="new kind"),
        pytest.param(message("critic", "Hm."), "unknown", id="new role"),
        pytest.param(message("assistant", ""), "", id="empty"),
        pytest.param(message("assistant", {"content_type": "multimodal_text", "parts": [None, 3]}), "", id="no parts"),
    ],
)
def test_what_is_left_out_has_its_reason(given: dict[str, Any], reason: str):
    read = read_message(given)
    assert (read.speaker, read.text, read.left_out) == ("", "", reason)


@pytest.mark.parametrize("nothing", [None, 3, "text", [], {}, {"author": []}, {"author": {"role": ["user"]}}])
def test_what_is_no_message_says_nothing(nothing: Any):
    assert read_message(nothing) == Message()


@pytest.mark.parametrize("odd", [None, [], {}, 7, True, "x", [["y"]], float("nan")])
def test_a_field_of_another_kind_does_no_harm(odd: Any):
    for name in ("metadata", "recipient", "status", "create_time"):
        assert read_message(message("user", "Hi.") | {name: odd}).text == "Hi."
    content = {"content_type": odd, "parts": odd, "text": odd, "language": odd}
    read_message(message("user", content, attachments=odd, content_references=odd, finish_details=odd))
    read_message(
        message("tool", {"content_type": "multimodal_text", "parts": [{"content_type": odd, "asset_pointer": odd}]})
    )


def test_an_answer_that_was_cut_off_is_known():
    assert read_message(message("assistant", "Once") | {"status": "finished_partial_completion"}).is_cut_off
    assert read_message(message("assistant", "Once", finish_details={"type": "interrupted"})).is_cut_off
    assert not read_message(message("assistant", "Once", finish_details={"type": "stop"})).is_cut_off


def test_citations_are_shown_as_the_page_showed_them_or_not_at_all():
    mark, other = "\ue200cite\ue202turn0search1\ue201", "\ue200cite\ue202turn0search2\ue201"
    references = [{"matched_text": mark, "alt": "([Tea](https://example.org))"}, {"matched_text": 5}]
    shown = said("assistant", f"Tea. {mark} {other}", content_references=references)[1]
    assert shown == "Tea. ([Tea](https://example.org))"


def test_half_a_surrogate_pair_becomes_a_sign_that_can_be_written():
    assert said("user", "Hi \ud83d!")[1] == "Hi \ufffd!"
    assert said("user", "Hi \U0001f331!")[1] == "Hi \U0001f331!"


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (BEGAN, datetime(2024, 3, 1, 12, tzinfo=UTC)),
        (BEGAN * 1000, datetime(2024, 3, 1, 12, tzinfo=UTC)),
        ("2024-03-01T13:00:00+01:00", datetime(2024, 3, 1, 12, tzinfo=UTC)),
        ("2024-03-01T12:00:00", datetime(2024, 3, 1, 12, tzinfo=UTC)),
        *(
            (odd, None)
            for odd in (None, True, "soon", 0, -5, float("nan"), float("inf"), 10**400, 1e300, "0001-01-01", {})
        ),
    ],
)
def test_times_are_read_in_every_way_they_are_written(value: Any, moment: datetime | None):
    assert read_moment(value) == moment


def test_a_fence_cannot_be_closed_by_its_code_nor_named_by_it():
    code = {"content_type": "code", "language": "py", "text": "a\n```\nb"}
    assert said("assistant", code)[1] == "````py\na\n```\nb\n````"
    assert said("assistant", code | {"language": "py\n~~~", "text": "a"})[1] == "```\na\n```"
