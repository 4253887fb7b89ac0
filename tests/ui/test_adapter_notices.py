"""What a turn tells of personal adapters, in the user's language."""

from typing import Any

import pytest

from engine.events import Notice
from ui.present import notice_line


@pytest.mark.parametrize(
    ("code", "values", "english", "chinese"),
    [
        (
            "adapter_left_out",
            {"problem": "It is gone."},
            "abc of L2 cannot be used and was left out: It is gone.",
            "L2",
        ),
        ("canary_rolled_back", {}, "abc on trial for L2 was taken back", "已撤回"),
        ("canary_promoted", {}, "macaron adapters rollback L2", "已通过试用"),
    ],
)
def test_every_notice_of_adapters_has_its_words(code: str, values: dict[str, Any], english: str, chinese: str):
    notice = Notice(turn_id="t", number=3, code=code, values={"expert": "L2", "adapter": "abc", **values})
    assert english in notice_line(notice, "en")
    assert chinese in notice_line(notice, "zh")


def test_what_an_adapter_brings_into_a_notice_cannot_reach_the_terminal():
    values = {"expert": "L2", "adapter": "abc", "problem": "\x1b[31mred\x1b[0m"}
    notice = Notice(turn_id="t", number=3, code="adapter_left_out", values=values)
    assert "\x1b" not in notice_line(notice, "en")
