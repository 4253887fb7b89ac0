"""Charts as SVG: what is in them, and that no values break them."""

import math
import random
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_training.runs.axes import number, span, tick_labels, ticks, ticks_around
from local_training.runs.charts import STYLE, Mark, Series, line_chart, svg_document

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


def drawn(*series: Series, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(line_chart("Reward", "step", "mean", series, **options))  # type: ignore[arg-type]


def texts(chart: ElementTree.Element) -> list[str]:
    return ["".join(one.itertext()) for one in chart.iter(f"{SVG}text")]


def count(chart: ElementTree.Element, tag: str) -> int:
    return len(list(chart.iter(f"{SVG}{tag}")))


def lines_of(chart: ElementTree.Element, place: int) -> list[str]:
    """The ways of the last group of that place: the first is its sample in the legend."""
    group = [one for one in chart.iter(f"{SVG}g") if one.get("class") == f"s{place}"][-1]
    return [one.get("d", "") for one in group.iter(f"{SVG}path")]


def test_a_chart_has_a_title_both_axes_and_its_series_in_a_legend():
    chart = drawn(Series("training", [(1, 0.2), (2, 0.4)]), Series("held out", [(0, 0.1)], "dots"))
    assert {"Reward", "step", "mean", "training", "held out"} <= set(texts(chart))


def test_a_chart_is_told_in_words_to_whoever_cannot_see_it():
    chart = drawn(Series("training", [(1, 0.2), (2, 0.1), (3, 0.75)]), marks=[Mark(0.9, "limit", "y")])
    assert chart.get("role") == "img"
    assert chart.findtext(f"{SVG}title") == "Reward"
    assert chart.findtext(f"{SVG}desc") == "training: 0.2 → 0.75 (0.1 – 0.75), x 1 → 3; limit: 0.9"


def test_a_higher_value_is_drawn_higher_and_a_later_one_further_right():
    (way,) = lines_of(drawn(Series("", [(1, 0.2), (2, 0.4)])), 0)
    left, low, right, high = map(float, way.removeprefix("M").split())
    assert left < right
    assert high < low


def test_points_are_joined_in_the_order_of_x():
    assert lines_of(drawn(Series("", [(3, 1), (1, 2), (2, 3)])), 0) == lines_of(
        drawn(Series("", [(1, 2), (2, 3), (3, 1)])), 0
    )


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf, 1e200])
def test_a_missing_value_leaves_a_gap(missing):
    points = [(1, 0.1), (2, 0.2), (3, missing), (4, 0.4), (5, 0.5)]
    assert len(lines_of(drawn(Series("", points)), 0)) == 2


def test_a_value_between_two_gaps_is_a_dot():
    chart = drawn(Series("", [(1, 0.1), (2, 0.2), (3, None), (4, 0.4), (5, None), (6, 0.6), (7, 0.7)]))
    assert len(lines_of(chart, 0)) == 2
    assert count(chart, "circle") == 1


def test_no_points_say_so():
    chart = drawn(Series("training", []), empty="没有数值")
    assert "没有数值" in texts(chart)
    assert count(chart, "path") == 1  # the sample in the legend
    assert chart.findtext(f"{SVG}desc") == "training: –"
    assert "no values" in texts(drawn())


def test_one_point_is_a_dot_within_the_axes():
    chart = drawn(Series("", [(5, 0.0)]), width=400, height=250)
    (dot,) = chart.iter(f"{SVG}circle")
    assert 0 < float(dot.get("cx", "")) < 400
    assert 0 < float(dot.get("cy", "")) < 250


def test_a_spread_is_a_band_along_a_line_and_whiskers_at_dots():
    points, spread = [(1, 0.2), (2, 0.4)], [(0.1, 0.3), (0.2, 0.9)]
    band = drawn(Series("", points, spread=spread))
    whiskers = drawn(Series("", points, "dots", spread))
    assert (count(band, "polygon"), count(whiskers, "polygon")) == (1, 0)
    assert len([one for one in whiskers.iter(f"{SVG}line") if one.get("class") == "whisker"]) == 2
    assert "1.0" in texts(band), "the axis has room for the spread"


def test_the_axis_begins_at_0_where_that_is_asked():
    points = [(1, 0.91), (2, 0.93)]
    assert "0.0" in texts(drawn(Series("", points), y_from_zero=True))
    assert not {"0", "0.0", "0.00", "0.000"} & set(texts(drawn(Series("", points))))


def test_steps_are_whole_numbers_also_when_there_are_two():
    chart = drawn(Series("", [(1, 0.2), (2, 0.4)]))
    assert {"1", "2"} <= set(texts(chart))
    assert "1.5" not in texts(chart)


def test_series_differ_in_more_than_colour():
    chart = drawn(*(Series(f"{place}", [(1, place), (2, place)]) for place in range(4)))
    dashes = [one.get("stroke-dasharray") for one in chart.iter(f"{SVG}path")]
    assert len(set(dashes)) == 4


def test_a_mark_is_drawn_with_its_label():
    marks = [Mark(2, "paused"), Mark(0.3, "limit", "y")]
    chart = drawn(Series("", [(1, 0.2), (3, 0.4)]), marks=marks)
    assert {"paused", "limit: 0.3"} <= set(texts(chart))
    assert len([one for one in chart.iter(f"{SVG}line") if one.get("class") == "mark"]) == 2


def test_a_limit_far_away_is_told_without_pressing_the_values_together():
    chart = drawn(Series("", [(1, 0.2), (3, 0.4)]), marks=[Mark(50, "limit", "y")])
    assert "↑ limit: 50" in texts(chart)
    assert texts(chart).count("0.4") or texts(chart).count("0.40")


def test_names_are_text_and_never_markup():
    hostile = '"><script>alert(1)</script>&amp;\x00\x1b'
    document = svg_document(
        line_chart(hostile, hostile, hostile, [Series(hostile, [(1, 1)])], marks=[Mark(1, hostile)])
    )
    chart = ElementTree.fromstring(document)
    assert count(chart, "script") == 0
    assert hostile.replace("\x00", "\ufffd").replace("\x1b", "\ufffd") in texts(chart)


def test_a_chart_stands_by_itself_as_a_document():
    document = svg_document(line_chart("Reward", "step", "mean", [Series("a", [(1, 1), (2, 2)])]))
    chart = ElementTree.fromstring(document)
    assert chart.tag == f"{SVG}svg"
    assert chart.findtext(f"{SVG}style", "").startswith(STYLE)
    assert "prefers-color-scheme:dark" in document
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", document)


def test_many_points_keep_their_extremes_and_the_chart_stays_small():
    generator = random.Random(0)
    points = [(step, generator.random()) for step in range(100_000)]
    points[50_321] = (50_321, 7.0)
    chart = line_chart("", "", "", [Series("", points)])
    assert len(chart) < 30_000
    assert " – 7)" in chart


@settings(max_examples=300, deadline=None)
@given(
    points=st.lists(st.tuples(NUMBERS, st.none() | NUMBERS), max_size=6),
    around=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=6, max_size=6),
    style=st.sampled_from(["line", "dots"]),
    from_zero=st.booleans(),
    mark=NUMBERS,
    axis=st.sampled_from(["x", "y"]),
)
def test_no_values_whatever_lead_out_of_the_picture(points, around, style, from_zero, mark, axis):
    spread = around[: len(points)]
    chart = drawn(
        Series("a", points, style, spread), y_from_zero=from_zero, marks=[Mark(mark, "m", axis)], width=400, height=250
    )
    for element in chart.iter():
        for name in ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy"):
            assert -10 <= float(element.get(name, "0")) <= 400
        for value in re.findall(r"[^ M,]+", element.get("d", "") + " " + element.get("points", "")):
            assert 0 <= float(value) <= 400


@settings(deadline=None)
@given(low=st.floats(-1e149, 1e149), high=st.floats(-1e149, 1e149), wanted=st.integers(3, 12))
def test_ticks_are_few_and_hold_their_values_between_them(low, high, wanted):
    low, high = span([low, high], from_zero=False)
    inner, outer = ticks(low, high, wanted), ticks_around(low, high, wanted)
    room = (high - low) * 1e-6
    assert 1 <= len(inner) <= wanted + 1
    assert all(low - room <= tick <= high + room for tick in inner)
    assert outer[0] <= low + room
    assert outer[-1] >= high - room
    assert len(tick_labels(outer)) == len(outer) >= 2


def test_ticks_are_round_and_written_alike():
    assert ticks(0.03, 0.71, 5) == [0.2, 0.4, 0.6]
    assert ticks_around(0.03, 0.71, 5) == [0.0, 0.2, 0.4, 0.6, 0.8]
    assert tick_labels([0.0, 0.05, 0.1]) == ["0.00", "0.05", "0.10"]
    assert tick_labels([-1000.0, 0.0, 1000.0]) == ["−1,000", "0", "1,000"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0312, "0.0312"), (12.0, "12"), (1234.5, "1,234"), (-0.5, "−0.5"), (1e-7, "1e-07"), (100, "100")],
)
def test_a_number_is_written_for_people(value, text):
    assert number(value) == text
