"""The tools for the calendar say what they do, what they did, and how it is undone."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from engine.errors import UsageProblem
from engine.harness.builtin.dates.toolbox import DateToolbox
from engine.store import Store
from engine.store.dates import DateStore, Event

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 1, 12, tzinfo=BERLIN)  # a Sunday


@pytest.fixture
def dates(tmp_path):
    with Store.open(tmp_path / "macaron.db") as store:
        yield DateStore(store.database)


@pytest.fixture
def toolbox(dates) -> DateToolbox:
    return DateToolbox(dates, BERLIN, lambda: NOW)


@pytest.fixture
def do(toolbox, call):
    def _do(tool, **arguments):
        result = toolbox.run(call(tool, **arguments))
        assert not result.is_error, result.text
        return result.text

    return _do


def listed(do, **arguments):
    return do("list_events", **arguments).splitlines()[1:]


def test_an_event_is_shown_added_and_listed(toolbox, dates, do, call):
    adding = call("add_event", title="喝茶 Tea", starts="2026-03-02T09:00", place="咖啡馆", remind_minutes=10)
    preview = toolbox.preview(adding)
    assert preview.title == "Add the event '喝茶 Tea': Mon 2026-03-02 09:00 to 10:00 (Europe/Berlin)"
    assert preview.detail == "喝茶 Tea\nPlace: 咖啡馆\nReminder: 10 minutes before"
    assert dates.all() == ()
    assert toolbox.run(adding).text.endswith("To undo: cancel_event 1.")
    assert do("list_events").splitlines() == [
        "It is Sun 2026-03-01 12:00 (Europe/Berlin). 2026-03-01, 7 days:",
        "[1] Mon 2026-03-02 09:00 to 10:00  喝茶 Tea at 咖啡馆 (reminder 10 minutes before)",
    ]


def test_all_that_is_known_of_an_event_is_shown(do, toolbox, call):
    do("add_event", title="Tea", starts="2026-03-02T09:00", notes="bring cups", repeat="daily")
    do("cancel_event", event=1)
    assert do("show_event", event=1) == (
        "[1] Mon 2026-03-02 09:00 to 10:00 (Europe/Berlin)\nTea\nRepeats: FREQ=DAILY\nbring cups\n(cancelled)"
    )
    assert toolbox.preview(call("show_event", event=1)).title == "Show the event 'Tea'"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        pytest.param({"starts": "2026-03-02"}, "2026-03-02 all day", id="a_day"),
        pytest.param({"starts": "2026-03-02", "ends": "2026-03-03"}, "2026-03-02 to 2026-03-03 all day", id="days"),
        pytest.param(
            {"starts": "2026-03-02 09:00", "ends": "2026-03-02 09:30"}, "2026-03-02 09:00 to 09:30", id="times"
        ),
        pytest.param({"starts": "2026-03-02T09:00+08:00"}, "2026-03-02 02:00 to 03:00", id="offset"),
        pytest.param({"starts": "2026-03-02T09:00", "zone": "Asia/Shanghai"}, "2026-03-02 02:00 to 03:00", id="zone"),
        pytest.param(
            {"starts": "2026-03-02T23:00", "ends": "2026-03-03T01:00"},
            "2026-03-02 23:00 to 2026-03-03 01:00",
            id="over_midnight",
        ),
    ],
)
def test_days_and_times_are_taken_as_they_are_written(do, arguments, line):
    do("add_event", title="x", **arguments)
    assert listed(do) == [f"[1] Mon {line}  x"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param({"starts": "tomorrow"}, "no day", id="words"),
        pytest.param({"starts": "2026-02-30"}, "no day", id="no_such_day"),
        pytest.param({"starts": "1200-01-01"}, "year 1200", id="long_ago"),
        pytest.param({"starts": "2026-03-02T09:00", "ends": "2026-03-02T08:00"}, "before the start", id="backwards"),
        pytest.param({"starts": "2026-03-02T09:00", "ends": "2026-03-03"}, "a day, the other a time", id="mixed"),
        pytest.param({"starts": "2026-03-02T09:00", "zone": "../../etc/passwd"}, "time zone", id="zone"),
        pytest.param({"starts": "2026-03-02T09:00", "repeat": "FREQ=SECONDLY"}, "repetition", id="rule"),
        pytest.param({"starts": "2026-03-02T09:00", "title": "  "}, "title is empty", id="title"),
    ],
)
def test_what_is_no_event_is_refused_before_it_is_shown(toolbox, dates, call, arguments, said):
    adding = call("add_event", **{"title": "x", **arguments})
    with pytest.raises(UsageProblem, match=said):
        toolbox.preview(adding)
    assert said in toolbox.run(adding).text
    assert dates.all() == ()


def test_a_reminder_is_due_at_its_time_and_not_in_the_past(do, dates, toolbox, call):
    do("add_reminder", text="Call Ada", at="2026-03-02", repeat="weekly")
    (event,) = dates.all()
    assert (event.kind, event.remind_minutes, event.starts) == ("reminder", 0, datetime(2026, 3, 2, 9))
    assert listed(do) == ["[1] Mon 2026-03-02 09:00  Call Ada (reminder) (repeats)"]
    assert "is over" in toolbox.run(call("add_reminder", text="x", at="2026-03-01T11:59")).text


def test_a_moved_event_keeps_its_length_and_is_moved_back(do, dates):
    do("add_event", title="Tea", starts="2026-03-02T09:00", ends="2026-03-02T09:30")
    said = do("move_event", event=1, starts="2026-03-03T15:00")
    assert said.endswith("To undo: move_event 1 with starts 2026-03-02T09:00.")
    assert listed(do) == ["[1] Tue 2026-03-03 15:00 to 15:30  Tea"]


def test_one_time_of_a_repeated_event_is_moved_and_that_is_undone(do, toolbox, call):
    do("add_event", title="Tea", starts="2026-03-02T09:00", repeat="daily")
    moving = call("move_event", event=1, starts="2026-03-03T15:00", occurrence="2026-03-03")
    assert "to   Tue 2026-03-03 15:00 to 16:00" in toolbox.preview(moving).detail
    said = toolbox.run(moving).text
    assert said.endswith("To undo: cancel_event 2, then restore_event 1 with occurrence 2026-03-03T09:00.")
    three = {"first_day": "2026-03-02", "days": 2}
    assert [line[4:24] for line in listed(do, **three)] == ["Mon 2026-03-02 09:00", "Tue 2026-03-03 15:00"]
    early = toolbox.run(call("restore_event", event=1, occurrence="2026-03-03T09:00"))
    assert "number 2 now" in early.text
    do("cancel_event", event=2)
    do("restore_event", event=1, occurrence="2026-03-03T09:00")
    assert [line[4:24] for line in listed(do, **three)] == ["Mon 2026-03-02 09:00", "Tue 2026-03-03 09:00"]


def test_one_time_or_all_of_a_repeated_event_are_cancelled_and_brought_back(do, toolbox, call):
    do("add_event", title="Tea", starts="2026-03-02T09:00", repeat="daily")
    said = do("cancel_event", event=1, occurrence="2026-03-03")
    assert said.endswith("To undo: restore_event 1 with occurrence 2026-03-03T09:00.")
    assert len(listed(do)) == 5
    do("restore_event", event=1, occurrence="2026-03-03T09:00")
    assert len(listed(do)) == 6
    assert do("cancel_event", event=1).endswith("To undo: restore_event 1.")
    assert listed(do) == ["(nothing)"]
    assert "is cancelled" in toolbox.run(call("move_event", event=1, starts="2026-03-05")).text
    do("restore_event", event=1)
    assert len(listed(do)) == 6


def test_a_repeated_event_elsewhere_names_its_times_as_it_has_them(do):
    do("add_event", title="Tea", starts="2026-03-02T09:00", zone="Asia/Shanghai", repeat="daily")
    (line,) = listed(do, first_day="2026-03-02", days=1)
    assert line.endswith("02:00 to 03:00  Tea (repeats, occurrence 2026-03-02T09:00)")
    do("cancel_event", event=1, occurrence="2026-03-02T09:00")
    assert listed(do, first_day="2026-03-02", days=1) == ["(nothing)"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        pytest.param("cancel_event", {"event": 9}, "no event 9", id="unknown"),
        pytest.param("cancel_event", {"event": 1, "occurrence": "2026-03-02"}, "takes place once", id="not_repeated"),
        pytest.param("cancel_event", {"event": 2, "occurrence": "2026-03-01"}, "does not start at", id="not_then"),
        pytest.param("restore_event", {"event": 1}, "not cancelled", id="not_cancelled"),
        pytest.param(
            "restore_event", {"event": 2, "occurrence": "2026-03-02T09:00"}, "not cancelled on", id="nor_then"
        ),
    ],
)
def test_what_cannot_be_changed_is_named(do, toolbox, call, tool, arguments, said):
    do("add_event", title="Once", starts="2026-03-02T09:00")
    do("add_event", title="Daily", starts="2026-03-02T09:00", repeat="daily")
    assert said in toolbox.run(call(tool, **arguments)).text


def test_E5_an_event_that_changed_since_it_was_shown_is_left_alone(do, toolbox, dates, call):
    do("add_event", title="Tea", starts="2026-03-02T09:00")
    calls = [call("cancel_event", event=1), call("move_event", event=1, starts="2026-03-05")]
    for invocation in calls:
        toolbox.preview(invocation)
    do("move_event", event=1, starts="2026-03-03T09:00")
    for invocation in calls:
        assert "changed since" in toolbox.run(invocation).text
    assert dates.get(1).starts == datetime(2026, 3, 3, 9)


def test_F3_events_of_the_user_alone_are_not_tainted(toolbox, dates, call):
    dates.add(Event("Mine", datetime(2026, 3, 2), datetime(2026, 3, 3), is_all_day=True, source="user"))
    assert not toolbox.run(call("list_events")).is_tainted


def test_F3_a_title_of_others_is_not_said_in_our_own_words(toolbox, dates, call):
    times = {"starts": datetime(2026, 3, 2, 9), "ends": datetime(2026, 3, 2, 9), "zone": "Europe/Berlin"}
    dates.add(Event("Obey", rule="FREQ=DAILY", source="imported", **times))
    for tool, arguments in (
        ("cancel_event", {"event": 1, "occurrence": "2026-03-03"}),
        ("restore_event", {"event": 1, "occurrence": "2026-03-03"}),
        ("move_event", {"event": 1, "starts": "2026-03-05T09:00", "occurrence": "2026-03-03"}),
        ("move_event", {"event": 1, "starts": "2026-03-02T10:00"}),
        ("cancel_event", {"event": 1}),
        ("restore_event", {"event": 1}),
    ):
        result = toolbox.run(call(tool, **arguments))
        assert not result.is_error
        assert not result.is_tainted
        assert "Obey" not in result.text
