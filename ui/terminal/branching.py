"""Conversations and their branches on the screen: opening, stepping between versions, going where the tree shows."""

from collections.abc import Mapping, Sequence
from functools import partial

from textual import work

from engine.errors import AgentError
from engine.values import TurnRecord
from ui.branches import Position, neighbour, positions
from ui.present import Status, about_line, status_of_record
from ui.signals import MOST_MARKED, NOTED, noted_kinds
from ui.terminal.apart import apart
from ui.terminal.history import Chosen, HistoryScreen
from ui.terminal.talking import TalkingScreen
from ui.terminal.tree import TreeChoice, TreeScreen

FIRST: Position = (1, 1)


class BranchingScreen(TalkingScreen):
    # Conversations.

    async def action_new(self) -> None:
        await self._begin_anew(off_record=False)

    async def action_off_record(self) -> None:
        """A conversation that is kept nowhere."""
        if await self._begin_anew(off_record=True):
            await self.note("off_record.begun")

    async def _begin_anew(self, *, off_record: bool) -> bool:
        if self._refuse_while_busy():
            return False
        self.off_record = off_record
        self._switch_to(None, [], {})
        await self._transcript.clear()
        await self._welcome()
        return True

    async def _welcome(self) -> None:
        """The first screen of an empty conversation. Its last lines come when the base is loaded."""
        await self._transcript.welcome(about_line(self.about, self._language) if self.about is not None else "")

    def action_history(self, words: str = "") -> None:
        if not self._refuse_while_busy():
            screen = HistoryScreen(self._client, self._keymap, self._language, self._folder, words)
            self.app.push_screen(screen, self._history_closed)

    def _history_closed(self, chosen: Chosen | None) -> None:
        if chosen is not None:
            self._open(chosen)

    @work(exclusive=True, group="open")
    async def _open(self, chosen: Chosen) -> None:
        """Show a stored conversation, on the branch of the turn that was looked for."""
        try:
            conversation = await apart(partial(self._client.conversation, chosen.conversation_id))
            path, versions = await self._read(chosen.conversation_id)
            if chosen.turn_id is not None and chosen.turn_id not in [record.turn_id for record in path]:
                await apart(partial(self._client.select, chosen.turn_id))
                path, versions = await self._read(chosen.conversation_id)
        except AgentError as error:
            if self.conversation_id == chosen.conversation_id:
                self.conversation_id = None
            await self.show_error(error)
            return
        if self._refuse_while_busy():
            return
        self.off_record = conversation.is_off_record
        self._switch_to(chosen.conversation_id, path, versions)
        await self._transcript.open(path, versions, chosen.turn_id)

    async def _read(self, conversation_id: str) -> tuple[Sequence[TurnRecord], Mapping[str, Position]]:
        """(the turns of the branch in use, turn → which of its versions it is). Raises: AgentError."""
        path = await apart(partial(self._client.path, conversation_id))
        tree = await apart(partial(self._client.tree, conversation_id))
        noted = partial(self._client.signals, limit=MOST_MARKED, kinds=NOTED, conversation_id=conversation_id)
        self._transcript.noted = noted_kinds(await apart(noted))
        return path, positions(tree)

    def _switch_to(
        self, conversation_id: str | None, path: Sequence[TurnRecord], versions: Mapping[str, Position]
    ) -> None:
        """Keep the draft of the conversation on screen, and take on the other's."""
        self._prompt.switch(self.conversation_id, conversation_id)
        self.conversation_id = conversation_id
        self._take_up(path, versions)

    def _take_up(self, path: Sequence[TurnRecord], versions: Mapping[str, Position]) -> None:
        """Let prompts, status and branch be those of `path`."""
        self._prompts = [record.user_text for record in path]
        self.composer.remember(self._prompts)
        for record in path:
            if record.provenance != "typed":
                self.composer.pasted.remember(record.user_text)
        limit = self._status.context_tokens
        self._status = status_of_record(path[-1], limit) if path else Status(context_tokens=limit)
        self._branch = branch_of([record.turn_id for record in path], versions)
        self._refresh()

    # Versions.

    @work(exclusive=True, group="open")
    async def action_version(self, step: int) -> None:
        """Show the version before or behind the selected or the last turn."""
        if self._refuse_while_busy():
            return
        target = self._target("nothing.edit")
        if target is None:
            return
        turn_id, view = target
        if view.version[1] < 2:
            self.say_briefly("nothing.versions")
            return
        try:
            siblings = await apart(partial(self._client.siblings, turn_id))
        except AgentError as error:
            await self.show_error(error)
            return
        other = neighbour(siblings, turn_id, step)
        if other is None:
            self.say_briefly("nothing.more_versions")
            return
        await self._go_to(other.turn_id, is_selected=self.selected is not None)

    async def _go_to(self, turn_id: str, *, is_selected: bool) -> None:
        """Put the branch through this turn in use, and show it."""
        conversation_id = self.conversation_id
        if conversation_id is None:
            return
        try:
            await apart(partial(self._client.select, turn_id))
            path, versions = await self._read(conversation_id)
        except AgentError as error:
            await self.show_error(error)
            return
        if self._refuse_while_busy() or self.conversation_id != conversation_id:
            return
        self._prompt.cancel_aim()
        self._take_up(path, versions)
        await self._transcript.change_branch(path, versions)
        if is_selected and (view := self._transcript.view_of(turn_id)) is not None:
            view.focus()
        else:
            self.composer.focus()

    def _count_versions(self) -> None:
        self._count_versions_apart()

    @work(exclusive=True, group="versions")
    async def _count_versions_apart(self) -> None:
        if self.conversation_id is None:
            return
        try:
            versions = positions(await apart(partial(self._client.tree, self.conversation_id)))
        except AgentError as error:
            await self.show_error(error)
            return
        self._transcript.show_versions(versions)
        drawn = [view.turn_id for view in self._transcript.turns if view.turn_id is not None]
        self._branch = branch_of(drawn, versions)
        self._refresh()

    # The tree.

    @work(exclusive=True, group="open")
    async def action_tree(self) -> None:
        if self._refuse_while_busy():
            return
        if self.conversation_id is None:
            self.say_briefly("nothing.conversation")
            return
        selected = self.selected
        try:
            tree = await apart(partial(self._client.tree, self.conversation_id))
            path = await apart(partial(self._client.path, self.conversation_id))
        except AgentError as error:
            await self.show_error(error)
            return
        in_use = [record.turn_id for record in path]
        chosen = selected.turn_id if selected is not None else None
        screen = TreeScreen(tree, in_use, chosen, self._keymap, self._language)
        self.app.push_screen(screen, partial(self._tree_closed, {record.turn_id: record for record in tree}))

    def _tree_closed(self, tree: Mapping[str, TurnRecord], choice: TreeChoice | None) -> None:
        if choice is None:
            return
        if choice.is_branching:
            going = self._go_and_branch(choice.turn_id, tree[choice.turn_id].user_text)
        else:
            going = self._go_to(choice.turn_id, is_selected=True)
        self.run_worker(going, group="open", exclusive=True)

    async def _go_and_branch(self, turn_id: str, text: str) -> None:
        """Let the next message follow a turn, whose branch is put in use first, so that it is seen what is followed."""
        if self._transcript.view_of(turn_id) is None:
            await self._go_to(turn_id, is_selected=False)
        if not self._refuse_while_busy():
            self._branch_from(turn_id, text)

    def action_branch(self) -> None:
        """Let the next message follow the selected turn; without one, choose it in the tree."""
        if self._refuse_while_busy():
            return
        selected = self.selected
        if selected is None or selected.turn_id is None:
            self.action_tree()
        else:
            self._branch_from(selected.turn_id, selected.user_text)

    def _branch_from(self, turn_id: str, text: str) -> None:
        self._prompt.branch(turn_id, text)
        self._refresh()

    # Selecting.

    def action_select(self, step: int) -> None:
        view = self._transcript.beside(self.selected, step)
        if view is not None:
            self._transcript.release_anchor()
            view.focus()
        elif step > 0:
            self.composer.focus()


def branch_of(turn_ids: Sequence[str], versions: Mapping[str, Position]) -> Position:
    """The version that was chosen last on the way down a branch."""
    chosen = [versions[turn_id] for turn_id in turn_ids if versions.get(turn_id, FIRST)[1] > 1]
    return chosen[-1] if chosen else FIRST
