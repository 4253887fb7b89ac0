"""The tools that take the calendar from and to iCalendar files in granted folders, and out again what came in."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol
from zoneinfo import ZoneInfo

from pydantic import Field

from engine.errors import UnknownName
from engine.harness.builtin.dates.icalendar_files import Imported, read_calendar, write_calendar
from engine.harness.builtin.dates.moments import when
from engine.harness.builtin.entries import Arguments, EntryToolbox, ShownStates, entry
from engine.harness.tools.values import Invocation, Preview, ToolResult
from engine.store.dates import DateStore, Event


class ImportCalendar(Arguments):
    """Add the events of an iCalendar file (.ics) in a granted folder to the user's calendar."""

    path: str = Field(description="Path that begins with the name of a granted folder.")
    with_reminders: bool = Field(default=False, description="Also take over its reminders.")


class ExportCalendar(Arguments):
    """Write the user's whole calendar to a new iCalendar file (.ics) in a granted folder."""

    path: str = Field(description="Path that begins with the name of a granted folder.")


class EraseImported(Arguments):
    """Take imported events out of the user's calendar again, from one number to another."""

    first: int = Field(description="Number of the first event, as the import said.")
    last: int = Field(description="Number of the last event.")


class FileAccess(Protocol):
    """Files in granted folders, by paths as a model writes them; every method raises UsageProblem."""

    def read_bytes(self, path: str) -> bytes: ...

    def new_file(self, path: str) -> str:
        """How a file is written that could be made there; makes nothing."""
        ...

    def write_new_file(self, path: str, data: bytes) -> None: ...


class CalendarFileToolbox(EntryToolbox):
    def __init__(self, store: DateStore, zone: ZoneInfo, files: FileAccess) -> None:
        """`zone` is the user's; `files` may be the toolbox for files."""
        self._store, self._zone, self._files = store, zone, files
        self._shown = ShownStates()
        super().__init__(
            [
                entry(ImportCalendar, "import_calendar", "files", True, self._preview_import, self._import),
                entry(EraseImported, "erase_imported", "own_data", True, self._preview_erase, self._erase),
                entry(ExportCalendar, "export_calendar", "files", True, self._preview_export, self._export),
            ]
        )

    def _preview_import(self, asked: ImportCalendar, invocation: Invocation) -> Preview:
        imported = self._imported(asked, invocation)
        self._shown.remember(invocation, imported)
        detail = _listed(imported.events) + _skipped(imported)
        return Preview(f"Add {len(imported.events)} events from {asked.path}", detail)

    def _import(self, asked: ImportCalendar, invocation: Invocation) -> ToolResult:
        imported = self._imported(asked, invocation)
        self._shown.check(invocation, imported, asked.path)
        added = self._store.add_all(imported.events)
        here = len(imported.events) - len(added)
        known = f" {here} were here already and stay as they are." if here else ""
        back = f" To undo: erase_imported {added[0].event_id} to {added[-1].event_id}." if added else ""
        return ToolResult(f"Added {len(added)} events.{known}{back}{_skipped(imported)}", is_tainted=False)

    def _preview_erase(self, asked: EraseImported, invocation: Invocation) -> Preview:
        events = self._erasable(asked)
        self._shown.remember(invocation, events)
        return Preview(f"Erase {len(events)} imported events", _listed(events))

    def _erase(self, asked: EraseImported, invocation: Invocation) -> ToolResult:
        self._shown.check(invocation, self._erasable(asked), "The calendar")
        gone = self._store.erase_imported(asked.first, asked.last)
        return ToolResult(f"Erased {len(gone)} events. To undo: import_calendar again.", is_tainted=False)

    def _erasable(self, asked: EraseImported) -> Sequence[Event]:
        events = self._store.imported(asked.first, asked.last)
        if not events:
            raise UnknownName(
                f"No event from {asked.first} to {asked.last} was imported.", "List the events to see their numbers."
            )
        return events

    def _preview_export(self, asked: ExportCalendar, invocation: Invocation) -> Preview:
        shown = self._files.new_file(asked.path)
        return Preview(f"Write the calendar to {shown}", f"{len(self._store.all())} events to {shown}")

    def _export(self, asked: ExportCalendar, invocation: Invocation) -> ToolResult:
        events = self._store.all()
        self._files.write_new_file(asked.path, write_calendar(events, self._zone))
        return ToolResult(f"Wrote {len(events)} events to {asked.path}. undo_write takes it back.", is_tainted=False)

    def _imported(self, asked: ImportCalendar, invocation: Invocation) -> Imported:
        data = self._files.read_bytes(asked.path)
        imported = read_calendar(data, self._zone, invocation.stop.is_set)
        if asked.with_reminders:
            return imported
        return replace(imported, events=tuple(replace(event, remind_minutes=None) for event in imported.events))


def _listed(events: Sequence[Event]) -> str:
    return "\n".join(f"{when(event)}  {event.title}" for event in events)


def _skipped(imported: Imported) -> str:
    return "".join(f"\n{count} left out: {reason}." for reason, count in imported.skipped.items())
