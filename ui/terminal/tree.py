"""All branches of a conversation as a tree. Choosing a turn says which; going there is the chat's affair."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from engine.values import TurnRecord
from ui.branches import Branch, Position, outline, positions
from ui.present import display_line, rating_mark, state_line, version_mark
from ui.strings import say
from ui.terminal.keys import Keymap, binding, foot
from ui.terminal.line import Line

IN_USE, ELSEWHERE = "●", "○"
MAX_TEXT_CELLS: Final = 44


@dataclass(frozen=True, slots=True)
class TreeChoice:
    turn_id: str
    is_branching: bool
    """Whether the next message is to follow this turn, instead of the end of its branch."""


def turn_label(record: TurnRecord, version: Position, is_in_use: bool, language: str) -> str:
    """One line of the tree: whether it is in use, what the user wrote, which version, how it ended."""
    text = display_line(record.user_text, MAX_TEXT_CELLS) or say("tree.empty", language)
    marks = (version_mark(*version, language), state_line(record.state, language), rating_mark(record.rating, language))
    return " · ".join((f"{IN_USE if is_in_use else ELSEWHERE} {text}", *(mark for mark in marks if mark)))


class TreeScreen(ModalScreen[TreeChoice | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        binding("tree.branch", "branch"),
    ]
    help_topic = "tree"

    def __init__(
        self, turns: Sequence[TurnRecord], in_use: Sequence[str], chosen: str | None, keymap: Keymap, language: str
    ) -> None:
        """`in_use` are the turns of the branch in use, first to last; the cursor begins at `chosen`, or its end."""
        super().__init__()
        self._turns = turns
        self._in_use = in_use
        self._chosen = chosen or (in_use[-1] if in_use else None)
        self._keymap = keymap
        self._language = language

    def compose(self) -> ComposeResult:
        keys = (("↑ ↓", "foot.choose"), ("Enter", "foot.go"), ("tree.branch", "foot.branch"), ("Esc", "foot.close"))
        with Vertical(classes="panel"):
            yield Line(say("tree.title", self._language), classes="title")
            yield Tree[str]("")
            yield Line(foot(keys, self._keymap, self._language), classes="keys")

    def on_mount(self) -> None:
        tree = self.query_one(Tree)
        tree.show_root, tree.guide_depth = False, 2
        tree.auto_expand = False
        self._versions = positions(self._turns)
        nodes = self._plant(tree.root, outline(self._turns), set(self._in_use))
        tree.root.expand_all()
        tree.focus()
        if self._chosen in nodes:
            self.call_after_refresh(tree.move_cursor, nodes[self._chosen])

    def _plant(
        self, root: TreeNode[str], branches: Sequence[Branch], in_use: Container[str]
    ) -> dict[str, TreeNode[str]]:
        """Turn → its node. A version holds what follows it; turns without versions stand below one another."""
        nodes: dict[str, TreeNode[str]] = {}
        waiting = [(root, branch) for branch in reversed(branches)]
        while waiting:
            parent, branch = waiting.pop()
            # Versions of one message stand in a row, each with its own continuation inside.
            has_versions = self._versions[branch.turns[0].turn_id][1] > 1
            for place, record in enumerate(branch.turns):
                label = turn_label(record, self._versions[record.turn_id], record.turn_id in in_use, self._language)
                # As Text: a label that is a str would be read as markup.
                nodes[record.turn_id] = node = parent.add(Text(label), record.turn_id)
                if place == 0 and has_versions:
                    parent = node
            waiting.extend((node, behind) for behind in reversed(branch.branches))
        for node in nodes.values():
            node.allow_expand = bool(node.children)
        return nodes

    def on_tree_node_selected(self, event: Tree.NodeSelected[str]) -> None:
        if event.node.data is not None:
            self.dismiss(TreeChoice(event.node.data, is_branching=False))

    def action_branch(self) -> None:
        node = self.query_one(Tree).cursor_node
        if node is not None and node.data is not None:
            self.dismiss(TreeChoice(node.data, is_branching=True))
