"""Calendars of other programs are read and written; hostile files are refused or leave their events out."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

import engine.harness.builtin.dates.icalendar_files as icalendar_files
from engine.errors import ScoringStopped, UsageProblem
from engine.harness.builtin.dates.icalendar_files import read_calendar, write_calendar
from engine.store.dates import Event

BERLIN = ZoneInfo("Europe/Berlin")
NINE = datetime(2026, 3, 2, 9)
TEN = datetime(2026, 3, 2, 10)


def calendar(*events, before=""):
    lines = [f"BEGIN:VEVENT\n{event.strip()}\nEND:VEVENT" for event in events]
    return "\n".join(["BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x", before, *lines, "END:VCALENDAR\n"]).encode()


def read(*events, **options):
    return read_calendar(calendar(*events, **options), BERLIN)


def test_an_event_of_another_program_is_read():
    (event,) = read("""
UID:1@example.org
DTSTART;TZID=Asia/Shanghai:20260302T090000
DTEND;TZID=Asia/Shanghai:20260302T100000
RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20260501T000000Z
EXDATE;TZID=Asia/Shanghai:20260309T090000,20260316T090000
SUMMARY:Tea\\, 绿
 茶
LOCATION:咖啡馆
DESCRIPTION:bring\\ncups
BEGIN:VALARM
TRIGGER:-PT15M
ACTION:DISPLAY
END:VALARM
""").events
    assert event == Event(
        "Tea, 绿茶",
        NINE,
        TEN,
        zone="Asia/Shanghai",
        place="咖啡馆",
        notes="bring\ncups",
        rule="FREQ=WEEKLY;UNTIL=20260501T080000;BYDAY=MO",
        left_out=(datetime(2026, 3, 9, 9), datetime(2026, 3, 16, 9)),
        remind_minutes=15,
        source="imported",
        uid="1@example.org",
    )


@pytest.mark.parametrize(
    ("lines", "starts", "ends", "zone"),
    [
        pytest.param("DTSTART:20260302T090000Z\nDURATION:PT1H", NINE, TEN, "UTC", id="utc_with_duration"),
        pytest.param("DTSTART:20260302T090000", NINE, NINE, "", id="floating"),
        pytest.param(
            "DTSTART;TZID=W. Europe Standard Time:20260302T090000", NINE, NINE, "Europe/Berlin", id="zone_of_windows"
        ),
        pytest.param(
            "DTSTART;VALUE=DATE:20260302", datetime(2026, 3, 2), datetime(2026, 3, 3), "", id="a_day"
        ),
        pytest.param(
            "DTSTART;TZID=Europe/Berlin:20260302T090000\nDTEND:20260302T090000Z", NINE, TEN, "Europe/Berlin",
            id="an_end_in_another_zone",
        ),
    ],
)  # fmt: skip
def test_times_are_read_as_they_are_meant(lines, starts, ends, zone):
    (event,) = read(f"UID:1\nSUMMARY:x\n{lines}").events
    assert (event.starts, event.ends, event.zone) == (starts, ends, zone)


def test_one_time_that_was_moved_stands_for_itself():
    series, moved = read(
        "UID:1\nSUMMARY:Tea\nDTSTART:20260302T090000Z\nRRULE:FREQ=DAILY",
        "UID:1\nSUMMARY:Tea\nRECURRENCE-ID:20260304T090000Z\nDTSTART:20260304T110000Z",
    ).events
    assert series.left_out == (datetime(2026, 3, 4, 9),)
    assert (moved.instance, moved.rule, moved.starts.hour) == ("2026-03-04T09:00:00", "", 11)


def test_what_is_written_is_read_back_the_same():
    events = [
        Event("Tea; 绿茶", NINE, TEN, zone="Asia/Shanghai", place="a, b", notes="x\ny", remind_minutes=5, uid="1"),
        Event("Fair", datetime(2026, 3, 1), datetime(2026, 3, 4), is_all_day=True, uid="2",
              rule="FREQ=YEARLY;UNTIL=20300101T235959"),
        Event("Run", NINE, TEN, zone="Europe/Berlin", uid="3", rule="FREQ=WEEKLY;UNTIL=20260501T080000;BYDAY=MO",
              left_out=(datetime(2026, 3, 9, 9), datetime(2026, 3, 16, 9))),
        Event("Run", NINE.replace(day=17), TEN.replace(day=17), zone="Europe/Berlin", uid="3",
              instance="2026-03-16T09:00:00"),
    ]  # fmt: skip
    data = write_calendar(events, BERLIN)
    assert b"BEGIN:VTIMEZONE" in data
    assert read_calendar(data, BERLIN).events == tuple(replace(event, source="imported") for event in events)


def test_text_cannot_break_out_of_its_line():
    hostile = Event("x\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:2", NINE, TEN, uid="1\nDTSTART:19700101", zone="UTC")
    (event,) = read_calendar(write_calendar([hostile], BERLIN), BERLIN).events
    assert event.starts == NINE


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        pytest.param("DTSTART:garbage", "DTSTART", id="no_time"),
        pytest.param("SUMMARY:x", "without one start", id="no_start"),
        pytest.param("DTSTART:20260302T090000Z\nDTSTART:20260303T090000Z", "without one start", id="two_starts"),
        pytest.param("DTSTART:20260302T090000Z\nRRULE:FREQ=SECONDLY", "repetition", id="every_second"),
        pytest.param("DTSTART:20260302T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=40", "repetition", id="never"),
        pytest.param("DTSTART:20260302T090000Z\nRRULE:FREQ=DAILY\nRRULE:FREQ=DAILY", "single days", id="two_rules"),
        pytest.param("DTSTART:20260302T090000Z\nRDATE:20260303T090000Z", "single days", id="extra_days"),
        pytest.param("DTSTART;TZID=Mars/Base:20260302T090000", "time zone", id="unknown_zone"),
        pytest.param("DTSTART;TZID=../../../etc/passwd:20260302T090000", "time zone", id="zone_that_is_a_path"),
        pytest.param("DTSTART:00010101T000000Z", "cannot be", id="year_one"),
        pytest.param("DTSTART:99991231T235959Z\nDURATION:P9999999D", "cannot be", id="end_of_time"),
        pytest.param("DTSTART:20260302T090000Z\nSTATUS:CANCELLED", "cancelled", id="cancelled"),
        pytest.param("DTSTART:20260302T090000Z\nDURATION:-P1D", "cannot be", id="ends_before_it_starts"),
    ],
)
def test_an_event_that_cannot_be_taken_is_left_out_with_a_reason_and_the_others_are_read(lines, reason):
    imported = read(f"UID:bad\n{lines}", "UID:good\nSUMMARY:x\nDTSTART:20260302T090000Z")
    assert [event.uid for event in imported.events] == ["good"]
    ((said, count),) = imported.skipped.items()
    assert reason in said
    assert count == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"PK\x03\x04" + bytes(100), id="zip"),
        pytest.param(b"<html>BEGIN:VCALENDAR</html>", id="html"),
        pytest.param(b"BEGIN:VCALENDAR\n\xff\xfe", id="no_utf8"),
        pytest.param(b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\n" * 50_000, id="deep"),
        pytest.param(b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\nEND:VEVENT\n" * 30_000 + b"END:VCALENDAR", id="many"),
        pytest.param(b"BEGIN:VCALENDAR\nX:" + b"x" * (6 << 20), id="large"),
        pytest.param(b"BEGIN:VCALENDAR\nEND:VEVENT\nEND:VCALENDAR\n", id="ends_what_never_began"),
    ],
)
def test_a_hostile_file_is_refused(data):
    with pytest.raises(UsageProblem, match="file"):
        read_calendar(data, BERLIN)


def test_definitions_of_zones_are_not_followed():
    zone = (
        "BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0000\n"
        "TZOFFSETTO:+2300\nRRULE:FREQ=SECONDLY\nEND:STANDARD\nEND:VTIMEZONE"
    )
    (event,) = read("UID:1\nSUMMARY:x\nDTSTART;TZID=Europe/Berlin:20260302T090000", before=zone).events
    assert (event.starts, event.zone) == (NINE, "Europe/Berlin")


def test_an_import_can_be_stopped_and_is_bounded_in_time(monkeypatch):
    data = calendar("UID:1\nSUMMARY:x\nDTSTART:20260302T090000Z")
    with pytest.raises(ScoringStopped):
        read_calendar(data, BERLIN, lambda: True)
    monkeypatch.setattr(icalendar_files, "TIME_LIMIT_S", -1.0)
    with pytest.raises(UsageProblem, match="too long"):
        read_calendar(data, BERLIN)


def test_hidden_characters_and_endless_texts_are_cut():
    (event,) = read(f"UID:1\nSUMMARY:\x1b[31mred\x07 {'x' * 2000}\nDTSTART:20260302T090000Z").events
    assert event.title.startswith("[31mred xxx")
    assert len(event.title) == 500
