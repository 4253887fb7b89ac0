"""The prompt: the field, what it offers, the files that go with the message, and which turn it edits or follows.

Knows no client. Keeps the draft of every conversation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Final

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, TextArea

from engine.values import Attachment
from ui.attaching import (
    MAX_FILES,
    NotAttached,
    attach_below,
    files_below,
    looks_like_text,
    mentioned,
    open_mention,
    shown_size,
)
from ui.present import display_line
from ui.strings import say
from ui.terminal.apart import apart
from ui.terminal.composer import Composer
from ui.terminal.keys import Keymap
from ui.terminal.line import Line
from ui.terminal.offers import OfferList, command_offers, file_offers

FILES_FRESH_S: Final = 10.0
"""How long what was found in the folder is good for offers."""
MAX_BRANCH_CELLS: Final = 32
MAX_NAME_CELLS: Final = 40


@dataclass(frozen=True, slots=True)
class Draft:
    text: str = ""
    attached: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Sending:
    """A message on its way, with all that is needed to give it back."""

    text: str
    attached: tuple[Attachment, ...]
    editing_turn_id: str | None
    kept_names: tuple[str, ...]
    """Files that the edited message had already."""
    parent_turn_id: str | None
    parent_text: str


class PromptBox(Vertical):
    """The composer, and above it whatever must be known before sending."""

    class Changed(Message):
        """Other files go with the message than before."""

    def __init__(self, language: str, keymap: Keymap, folder: Path) -> None:
        super().__init__(id="prompt")
        self._language = language
        self._keymap = keymap
        self._folder = folder
        self._offers = OfferList()
        self.composer = Composer(say("composer.placeholder", language), self._offers)
        self.editing_turn_id: str | None = None
        """The turn whose message is being edited."""
        self._kept_names: tuple[str, ...] = ()
        self.correcting_turn_id: str | None = None
        """The turn whose answer is being edited."""
        self.parent_turn_id: str | None = None
        """The turn that the next message is to follow; None for the end of the branch in use."""
        self._parent_text = ""
        self.attached: tuple[Attachment, ...] = ()
        """Files that were added by command; those named in the text are read when it is sent."""
        self._mentioned: tuple[str, ...] = ()
        self._aim = Line("", classes="aim")
        self._attached_line = Line("", classes="aim")
        self._aim.display = self._attached_line.display = False
        self._before_edit: Draft | None = None
        self._drafts: dict[str | None, Draft] = {}
        self._files: tuple[str, ...] = ()
        self._files_until = 0.0

    def compose(self) -> ComposeResult:
        yield self._aim
        yield self._attached_line
        yield self._offers
        yield self.composer

    # What is being written.

    @property
    def is_aimed(self) -> bool:
        """Whether Enter does something else than to go on with the branch in use."""
        return self._is_editing or self.parent_turn_id is not None

    @property
    def _is_editing(self) -> bool:
        return self.editing_turn_id is not None or self.correcting_turn_id is not None

    def edit(self, turn_id: str, text: str, kept_names: tuple[str, ...]) -> None:
        """Put an earlier message in the composer; what stood there comes back afterwards."""
        self._begin_edit()
        self.editing_turn_id, self._kept_names = turn_id, kept_names
        self._take_up(Draft(text))
        self._aim.show(say("composer.editing", self._language, stop=self._keymap.first("app.escape")))
        self.composer.focus()

    def correct(self, turn_id: str, text: str) -> None:
        """Put an answer in the composer; what stood there comes back afterwards."""
        self._begin_edit()
        self.correcting_turn_id = turn_id
        self._take_up(Draft(text))
        self._aim.show(say("composer.correcting", self._language, stop=self._keymap.first("app.escape")))
        self.composer.focus()

    def _begin_edit(self) -> None:
        if not self._is_editing:
            self._before_edit = self._draft()
        self.editing_turn_id = self.correcting_turn_id = self.parent_turn_id = None
        self._kept_names = ()

    def branch(self, turn_id: str, text: str) -> None:
        """Let the next message follow this turn, whose own message is `text`."""
        self.cancel_aim()
        self.parent_turn_id, self._parent_text = turn_id, text
        shown = display_line(text, MAX_BRANCH_CELLS)
        stop = self._keymap.first("app.escape")
        self._aim.show(say("composer.branching", self._language, text=shown, stop=stop))
        self.composer.focus()

    def cancel_aim(self) -> None:
        """Give up an edit, which brings back the draft from before it, or a branch, which keeps what was written."""
        if self._is_editing:
            self.clear()
        self.parent_turn_id = None
        self._aim.show("")

    def clear(self) -> None:
        """After sending, or when an edit is given up: back to the draft from before the edit."""
        draft, self._before_edit = self._before_edit or Draft(), None
        self.editing_turn_id = self.correcting_turn_id = self.parent_turn_id = None
        self._kept_names = ()
        self._aim.show("")
        self._take_up(draft)

    def sending(self, text: str) -> Sending:
        """What is sent now, to be given back with `restore` if it is refused."""
        return Sending(
            text, self.attached, self.editing_turn_id, self._kept_names, self.parent_turn_id, self._parent_text
        )

    def restore(self, sending: Sending) -> None:
        if sending.editing_turn_id is not None:
            self.edit(sending.editing_turn_id, sending.text, sending.kept_names)
            return
        if sending.parent_turn_id is not None:
            self.branch(sending.parent_turn_id, sending.parent_text)
        self._take_up(Draft(sending.text, sending.attached))

    def switch(self, left_conversation_id: str | None, entered_conversation_id: str | None) -> None:
        """Keep the draft of one conversation and bring back that of another."""
        self.cancel_aim()
        self._drafts[left_conversation_id] = self._draft()
        self._take_up(self._drafts.pop(entered_conversation_id, Draft()))

    def _draft(self) -> Draft:
        return Draft(self.composer.text, self.attached)

    def _take_up(self, draft: Draft) -> None:
        self.composer.put(draft.text)
        self.attached = draft.attached
        self._show_attached()

    # Files.

    def attach(self, attachment: Attachment) -> None:
        """Raises: NotAttached when there are too many."""
        others = tuple(kept for kept in self.attached if kept.name != attachment.name)
        self.set_attached((*others, attachment))

    def set_attached(self, attached: Sequence[Attachment]) -> None:
        if len(attached) > MAX_FILES:
            raise self._too_many()
        self.attached = tuple(attached)
        self._show_attached()

    def all_attached(self, text: str) -> tuple[Attachment, ...]:
        """The files that were added, then those that `text` names. Raises: NotAttached.

        An edited message keeps its own files, so none may be added to it.
        """
        if self.editing_turn_id is not None:
            names = [*(kept.name for kept in self.attached), *mentioned(text, self._folder)]
            if added := [name for name in names if name not in self._kept_names]:
                shown = display_line(added[0], MAX_NAME_CELLS)
                hint = say("attach.editing.hint", self._language)
                raise NotAttached(say("attach.editing", self._language, name=shown), hint)
            return ()
        names = [name for name in mentioned(text, self._folder) if name not in {kept.name for kept in self.attached}]
        if len(self.attached) + len(names) > MAX_FILES:
            raise self._too_many()
        return (*self.attached, *(attach_below(self._folder, name, self._language) for name in names))

    @property
    def attached_count(self) -> int:
        return len(self.attached) + len(self._mentioned)

    def _too_many(self) -> NotAttached:
        return NotAttached(say("attach.many", self._language, limit=MAX_FILES), say("attach.many.hint", self._language))

    def _show_attached(self) -> None:
        names = {*self._kept_names, *(kept.name for kept in self.attached)}
        self._mentioned = tuple(name for name in mentioned(self.composer.text, self._folder) if name not in names)
        shown = [
            say("attach.name", self._language, name=display_line(kept.name, MAX_NAME_CELLS), size=shown_size(kept.text))
            for kept in self.attached
        ]
        shown += [display_line(name, MAX_NAME_CELLS) for name in self._mentioned]
        key = "attach.pending" if self.attached else "attach.mentioned"
        self._attached_line.show(say(key, self._language, names=", ".join(shown)) if shown else "")
        self.post_message(self.Changed())

    def on_composer_empty_deleted(self) -> None:
        if self.attached:
            self.set_attached(self.attached[:-1])

    # Offers.

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.attached_count or "@" in self.composer.text:
            self._show_attached()
        self._offer()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._offer()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """An offer was clicked."""
        event.stop()
        self.composer.take(self._offers.offers[event.option_index])
        self.composer.focus()

    def close_offers(self) -> bool:
        """False when none were open."""
        was_open = bool(self._offers.offers)
        self._offers.show(())
        return was_open

    def _offer(self) -> None:
        composer = self.composer
        is_own = composer.selection.is_empty and not composer.shows_recalled
        typed = open_mention(composer.before_cursor) if is_own else None
        if typed is not None:
            self._offer_files(*typed)
            return
        self.workers.cancel_group(self, "offers")
        is_at_end = is_own and composer.cursor_location == composer.document.end
        self._offers.show(command_offers(composer.text, self._language) if is_at_end else ())

    @work(exclusive=True, group="offers")
    async def _offer_files(self, fragment: str, written: str) -> None:
        """Look through the folder, unless that was done a moment ago, and offer what matches."""
        if monotonic() > self._files_until:
            self._files = await apart(partial(files_below, self._folder))
            self._files_until = monotonic() + FILES_FRESH_S
        is_text = partial(looks_like_text, self._folder)
        self._offers.show(await apart(lambda: file_offers(fragment, written, self._files, is_text)))
