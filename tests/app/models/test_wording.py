"""Sizes, rates and progress in words."""

import pytest

from app.models.download import Step
from app.models.wording import Meter, step_line, table
from ui.durations import duration_text
from ui.sizes import size_text


def test_sizes_are_decimal_as_the_hub_counts():
    assert [size_text(size) for size in (5, 1_500, 2_497_280_256)] == ["5 B", "1.5 kB", "2.5 GB"]


def test_a_rate_needs_two_looks_and_forgets_the_distant_past():
    meter = Meter()
    meter.take(0.0, 0)
    assert meter.bytes_per_s is None and meter.seconds_left(100) is None
    meter.take(10.0, 1000)
    assert meter.bytes_per_s == 100 and meter.seconds_left(2000) == 10
    for second in range(11, 60):
        meter.take(float(second), 1000 + (second - 10) * 10)
    assert meter.bytes_per_s == pytest.approx(10)


def test_a_download_that_began_anew_is_measured_anew():
    meter = Meter()
    meter.take(0.0, 5000)
    meter.take(1.0, 0)
    assert meter.bytes_per_s is None


def test_progress_says_how_much_how_fast_and_how_long():
    meter = Meter()
    meter.take(0.0, 0)
    meter.take(1.0, 1_000_000)
    step = Step("fetching", 1_000_000, 61_000_000)
    assert step_line(step, meter, "en") == "1.0 MB of 61.0 MB · 1.0 MB/s · 1 min left"
    assert step_line(step, meter, "zh") == "1.0 MB/61.0 MB · 1.0 MB/秒 · 剩余 1 分钟"
    assert "503" in step_line(Step("retrying", 0, 10, "the hub answered 503"), meter, "en")
    assert [duration_text(seconds, "en") for seconds in (5, 90, 7200)] == ["5 s", "2 min", "2.0 h"]


def test_columns_line_up_in_both_languages():
    lines = table([("a", "能运行", "x"), ("bb", "fits", "y")])
    assert lines == ["a   能运行  x", "bb  fits    y"]
