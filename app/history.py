"""`macaron history`: what was said, for people and for scripts. Runs no model."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from app.opening import open_library
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import load_settings, screen_language
from engine.values import TurnRecord
from ui.present import conversation_line, display_line, display_text, error_lines, hit_line, route_line, state_line
from ui.strings import say

_TREE_CELLS = 72


def list_conversations(paths: Paths, limit: int, *, as_json: bool) -> int:
    language = language_of(paths)
    with open_library(paths) as library:
        conversations = library.conversations(limit=limit)
    if as_json:
        print_json([asdict(conversation) for conversation in conversations])
        return 0
    for conversation in conversations:
        print_text(f"{display_line(conversation.conversation_id)}  {conversation_line(conversation, language)}")
    return 0


def show_conversation(paths: Paths, conversation_id: str, *, tree: bool, as_json: bool) -> int:
    """The branch in use; with `tree` one line for every turn of every branch."""
    language = language_of(paths)
    with open_library(paths) as library:
        conversation = library.conversation(conversation_id)
        in_use = library.path(conversation_id)
        turns = library.tree(conversation_id) if tree else in_use
    if as_json:
        print_json({**asdict(conversation), "turns": [asdict(turn) for turn in turns]})
        return 0
    print_text(conversation_line(conversation, language))
    if tree:
        for line in tree_lines(turns, {turn.turn_id for turn in in_use}, language):
            print_text(line)
        return 0
    for turn in turns:
        print_text()
        for line in _turn_lines(turn, language):
            print_text(line)
    return 0


def search_history(paths: Paths, query: str, limit: int, *, as_json: bool) -> int:
    language = language_of(paths)
    with open_library(paths) as library:
        hits = library.search(query, limit=limit)
    if as_json:
        print_json([asdict(hit) for hit in hits])
        return 0
    for hit in hits:
        print_text(f"{display_line(hit.conversation_id)}  {hit_line(hit, language)}")
    return 0


def rename_conversation(paths: Paths, conversation_id: str, title: str, *, as_json: bool) -> int:
    with open_library(paths) as library:
        library.rename(conversation_id, title)
        conversation = library.conversation(conversation_id)
    if as_json:
        print_json(asdict(conversation))
    else:
        print_text(say("history.renamed", language_of(paths), title=display_line(conversation.title)))
    return 0


def language_of(paths: Paths) -> str:
    return screen_language(load_settings(paths.settings), os.environ)


def tree_lines(turns: Sequence[TurnRecord], in_use: set[str], language: str) -> Iterator[str]:
    """One line a turn, in the order of its branch: id, `*` where it is in use, and how it forks from others.

    A conversation without forks stays at the left edge; every fork goes one step to the right.
    """
    children: dict[str | None, list[TurnRecord]] = {}
    for turn in turns:
        children.setdefault(turn.parent_turn_id, []).append(turn)
    open_turns = [(turn, int(len(children[None]) > 1)) for turn in reversed(children.get(None, []))]
    while open_turns:
        turn, step = open_turns.pop()
        mark = "*" if turn.turn_id in in_use else " "
        yield display_line(turn.turn_id) + f"  {mark} {'  ' * min(step, 12)}{_tree_text(turn, language)}"
        below = children.get(turn.turn_id, [])
        open_turns += [(child, step + (len(below) > 1)) for child in reversed(below)]


def _tree_text(turn: TurnRecord, language: str) -> str:
    text = display_line(turn.user_text, _TREE_CELLS)
    route = f"  [{route_line(turn.route, language)}]" if turn.route else ""
    state = f"  [{state_line(turn.state, language)}]" if turn.state != "answered" else ""
    return f"{text}{route}{state}"


def _turn_lines(turn: TurnRecord, language: str) -> list[str]:
    lines = [f"> {line}" for line in display_text(turn.user_text).splitlines()]
    lines += [f"[{say('export.attached', language, names=display_line(file.name))}]" for file in turn.attachments]
    if turn.route:
        lines.append(f"[{route_line(turn.route, language)}]")
    if turn.answer_text:
        lines.append(display_text(turn.answer_text))
    if turn.state != "answered":
        lines.append(f"[{state_line(turn.state, language)}]")
    if turn.problem:
        lines += error_lines(turn.problem, turn.hint, language)
    return lines
