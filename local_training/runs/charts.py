"""Charts as SVG: series of numbers in, text out. Pure; knows no run and no page.

A chart stands in a page that has `STYLE`, or by itself as `svg_document(chart)`. It takes its ink from the page,
tells series apart by dashes and shapes as well as colours, and says its content in words to whoever cannot see it.
Numbers that are missing (None), not finite or beyond any scale leave a gap.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from local_training.runs.axes import BEYOND, Scale, number, span, tick_labels, ticks, ticks_around

STYLE: Final = """\
.chart{color:inherit;font:13px system-ui,"Noto Sans CJK SC",sans-serif}
.chart text{fill:currentColor;stroke:none}.chart .heading{font-weight:650;font-size:14px}
.chart .grid{stroke-opacity:.14}.chart .axis{stroke-opacity:.6}
.chart .mark{stroke-opacity:.55;stroke-dasharray:2 3}.chart .small{font-size:12px;fill-opacity:.85}
.chart .s0{color:#1f5c99}.chart .s1{color:#a8323e}.chart .s2{color:#2f6b45}.chart .s3{color:#7a4a00}
@media (prefers-color-scheme:dark){
.chart .s0{color:#93c6f5}.chart .s1{color:#f2a0a0}.chart .s2{color:#9cd3ae}.chart .s3{color:#e9c27a}}
"""
"""For the page around charts."""
_DOCUMENT_STYLE: Final = """\
svg.chart{color:#222;background:#fff}@media (prefers-color-scheme:dark){svg.chart{color:#eee;background:#1b1b1f}}
"""
_DASHES: Final = ("", "7 3", "2 3", "9 3 2 3")
_MOST_POINTS: Final = 1000
"""Drawn of one series; of more, the least and the most of each stretch."""
_NOT_IN_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TOP: Final = 30
_LINE: Final = 19
_BOTTOM: Final = 44


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: Sequence[tuple[float, float | None]]
    """(x, y), in any order."""
    style: Literal["line", "dots"] = "line"
    spread: Sequence[tuple[float, float]] | None = None
    """(low, high) around each point: a band along a line, whiskers at dots."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A dashed line across the chart: where something happened (axis x), or a limit (axis y)."""

    at: float
    label: str
    axis: Literal["x", "y"] = "x"


@dataclass(frozen=True, slots=True)
class _Point:
    x: float
    y: float | None
    low: float | None
    high: float | None


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    series: Sequence[Series],
    *,
    width: int = 640,
    height: int = 320,
    y_from_zero: bool = False,
    marks: Sequence[Mark] = (),
    empty: str = "no values",
) -> str:
    """One `<svg>` element of `width` by `height` units, without a style of its own; `empty` stands in an empty one."""
    drawn = [_points(one) for one in series]
    marks = [mark for mark in marks if _shown(mark.at) is not None]
    x_values = [point.x for points in drawn for point in points if point.y is not None]
    y_values = [y for points in drawn for point in points for y in (point.low, point.y, point.high) if y is not None]
    legend, legend_height = _legend([one for one in series if one.name], width)
    parts = [_text(12, 19, title, "heading"), *legend]
    top = _TOP + legend_height
    if x_values:
        x_values += [mark.at for mark in marks if mark.axis == "x"]
        parts += _plot(x_label, y_label, series, drawn, marks, (x_values, y_values), (width, height, top), y_from_zero)
    else:
        parts.append(_text(width / 2, (top + height) / 2, empty, "small", "middle"))
    told = _escape("; ".join(_told(one.name, points) for one, points in zip(series, drawn, strict=True)) or empty)
    limits = "".join(f"; {_escape(mark.label)}: {number(mark.at)}" for mark in marks)
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13" fill="currentColor">'
        f"<title>{_escape(title)}</title><desc>{told}{limits}</desc>{''.join(parts)}</svg>"
    )


def svg_document(chart: str) -> str:
    """A chart of `line_chart` as the content of an .svg file, light or dark as its reader has it."""
    at = chart.index("<title>")
    return f"{chart[:at]}<style>{STYLE}{_DOCUMENT_STYLE}</style>{chart[at:]}\n"


def _points(series: Series) -> list[_Point]:
    spread: Sequence[tuple[float | None, float | None]] = series.spread or [(None, None)] * len(series.points)
    found = [
        _Point(x, _shown(y), _shown(low), _shown(high))
        for (x, y), (low, high) in zip(series.points, spread, strict=True)
        if _shown(x) is not None
    ]
    found.sort(key=lambda point: point.x)
    return _thinned(found)


def _shown(value: float | None) -> float | None:
    """The value, or None where it has no place on any axis."""
    return None if value is None or not abs(value) < BEYOND else value


def _thinned(points: list[_Point]) -> list[_Point]:
    if len(points) <= _MOST_POINTS:
        return points
    stretches = _MOST_POINTS // 2
    kept: list[_Point] = []
    for place in range(stretches):
        stretch = points[place * len(points) // stretches : (place + 1) * len(points) // stretches]
        known = sorted((point for point in stretch if point.y is not None), key=lambda point: point.y or 0.0)
        ends = [known[0], known[-1]] if known else stretch[:1]
        kept += sorted(ends, key=lambda point: point.x)
    return kept


def _plot(
    x_label: str,
    y_label: str,
    series: Sequence[Series],
    drawn: Sequence[list[_Point]],
    marks: Sequence[Mark],
    values: tuple[list[float], list[float]],
    size: tuple[int, int, int],
    from_zero: bool,
) -> list[str]:
    """Axes, marks and series below the legend, which ends at `size[2]`."""
    width, height, top = size
    whole = all(value == int(value) for value in values[0])
    y_low, y_high = span(values[1], from_zero)
    y_ticks = ticks_around(y_low, y_high, max(2, (height - top - _BOTTOM) // 38))
    labels = tick_labels(y_ticks)
    left = 20 + max(text_width(label, 12) for label in labels)
    y_scale = Scale(y_ticks[0], y_ticks[-1], height - _BOTTOM, top + 22)
    x_scale = Scale(*span(values[0], False), left, width - 18)
    parts = [_text(12, top + 10, y_label, "small")]
    for value, label in zip(y_ticks, labels, strict=True):
        y = y_scale.place(value)
        parts.append(_line((f"{left:.1f}", y), (f"{x_scale.end:.1f}", y), "grid"))
        parts.append(_text(left - 7, float(y) + 4, label, "small", "end"))
    x_ticks = ticks(x_scale.low, x_scale.high, max(3, (width - round(left)) // 80), whole)
    for value, label in zip(x_ticks, tick_labels(x_ticks), strict=True):
        x = x_scale.place(value)
        parts.append(_line((x, f"{y_scale.start:.1f}"), (x, f"{y_scale.start + 4:.1f}"), "axis"))
        parts.append(_text(float(x), y_scale.start + 18, label, "small", "middle"))
    floor = f"{y_scale.start:.1f}"
    parts.append(_line((f"{left:.1f}", floor), (f"{x_scale.end:.1f}", floor), "axis"))
    parts.append(_text(x_scale.end, height - 8, x_label, "small", "end"))
    for place, mark in enumerate(marks):
        parts += _mark(mark, place, x_scale, y_scale)
    for place, (one, points) in enumerate(zip(series, drawn, strict=True)):
        parts.append(f'<g class="s{place % len(_DASHES)}">{"".join(_series(one, points, place, x_scale, y_scale))}</g>')
    return parts


def _series(series: Series, points: list[_Point], place: int, x_scale: Scale, y_scale: Scale) -> Iterator[str]:
    for run in _runs(points):
        places = [(x_scale.place(x), y_scale.place(y)) for x, y in run.points]
        if series.style == "line":
            if run.band:
                edge = [f"{x_scale.place(x)},{y_scale.place(high)}" for x, _, high in run.band]
                edge += [f"{x_scale.place(x)},{y_scale.place(low)}" for x, low, _ in reversed(run.band)]
                yield f'<polygon points="{" ".join(edge)}" fill="currentColor" fill-opacity=".15" stroke="none"/>'
            yield _path(places, place) if len(places) > 1 else _dot(places[0], place, "")
            continue
        for x, low, high in run.band:
            yield _line((x_scale.place(x), y_scale.place(low)), (x_scale.place(x), y_scale.place(high)), "whisker")
        for at, (x, y) in zip(places, run.points, strict=True):
            yield _dot(at, place, f"{number(x)}: {number(y)}")


@dataclass(frozen=True, slots=True)
class _Run:
    """Points without a gap between them, and the spread (x, low, high) of those that have one."""

    points: list[tuple[float, float]]
    band: list[tuple[float, float, float]]


def _runs(points: Sequence[_Point]) -> Iterator[_Run]:
    run = _Run([], [])
    for point in points:
        if point.y is None:
            if run.points:
                yield run
            run = _Run([], [])
            continue
        run.points.append((point.x, point.y))
        if point.low is not None and point.high is not None:
            run.band.append((point.x, point.low, point.high))
    if run.points:
        yield run


def _mark(mark: Mark, place: int, x_scale: Scale, y_scale: Scale) -> list[str]:
    if mark.axis == "x":
        x = x_scale.place(mark.at)
        is_right = float(x) > (x_scale.start + x_scale.end) / 2
        label_y = y_scale.end - 2 + 14 * (place % 3)
        return [
            _line((x, f"{y_scale.start:.1f}"), (x, f"{y_scale.end - 10:.1f}"), "mark"),
            _text(float(x) + (-5 if is_right else 5), label_y, mark.label, "small", "end" if is_right else "start"),
        ]
    if not y_scale.holds(mark.at):
        # Drawing it would press the values together; that it is far away is what there is to know.
        arrow = "↑" if mark.at > y_scale.high else "↓"
        label_y = y_scale.end - 12 + 15 * (place % 3)
        return [_text(x_scale.end, label_y, f"{arrow} {mark.label}: {number(mark.at)}", "small", "end")]
    y = y_scale.place(mark.at)
    return [
        _line((f"{x_scale.start:.1f}", y), (f"{x_scale.end:.1f}", y), "mark"),
        _text(x_scale.start + 5, float(y) - 4, f"{mark.label}: {number(mark.at)}", "small"),
    ]


def _legend(series: Sequence[Series], width: int) -> tuple[list[str], int]:
    """A sample and the name of each series, in as many lines as they need, and how high those are together."""
    parts: list[str] = []
    x, line = 12.0, 0
    for place, one in enumerate(series):
        needed = 40 + text_width(one.name, 12)
        if x > 12 and x + needed > width:
            x, line = 12.0, line + 1
        y = _TOP + 6 + line * _LINE
        sample = (
            _path([(f"{x:.1f}", f"{y:.1f}"), (f"{x + 22:.1f}", f"{y:.1f}")], place)
            if one.style == "line"
            else _dot((f"{x + 11:.1f}", f"{y:.1f}"), place, "")
        )
        parts.append(f'<g class="s{place % len(_DASHES)}">{sample}</g>{_text(x + 28, y + 4, one.name, "small")}')
        x += needed
    return parts, _LINE * (line + 1) if parts else 0


def _path(places: Sequence[tuple[str, str]], place: int) -> str:
    dashes = _DASHES[place % len(_DASHES)]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    way = " ".join(f"{x} {y}" for x, y in places)
    return f'<path d="M{way}" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"{dashed}/>'


def _dot(at: tuple[str, str], place: int, tip: str) -> str:
    x, y = at
    told = f"<title>{_escape(tip)}</title>" if tip else ""
    if place % 2:
        middle = f"{x} {y}"
        return (
            f'<rect x="{x}" y="{y}" width="8" height="8" transform="rotate(45 {middle}) translate(-4 -4)">{told}</rect>'
        )
    return f'<circle cx="{x}" cy="{y}" r="4.5">{told}</circle>'


def _line(start: tuple[str, str], end: tuple[str, str], role: str) -> str:
    at = f'x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}"'
    return f'<line class="{role}" {at} stroke="currentColor" stroke-width="{1.5 if role == "whisker" else 1}"/>'


def _text(x: float, y: float, text: str, role: str, anchor: str = "start") -> str:
    return f'<text class="{role}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escape(text)}</text>'


def _told(name: str, points: Sequence[_Point]) -> str:
    """A series in figures, which read the same in every language: first → last (least – most)."""
    known = [(point.x, point.y) for point in points if point.y is not None]
    intro = f"{name}: " if name else ""
    if not known:
        return f"{intro}–"
    least, most = min(y for _, y in known), max(y for _, y in known)
    ends = f"{number(known[0][1])} → {number(known[-1][1])}"
    return f"{intro}{ends} ({number(least)} – {number(most)}), x {number(known[0][0])} → {number(known[-1][0])}"


def text_width(text: str, size: float) -> float:
    """About how wide `text` is in a proportional font: East Asian characters are twice as wide as others."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return size * (wide + 0.56 * (len(text) - wide))


def _escape(text: str) -> str:
    return html.escape(_NOT_IN_XML.sub("\ufffd", text))
