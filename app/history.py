"""`macaron history`: what was said, for people and for scripts. Runs no model."""

import os
from dataclasses import asdict

from app.opening import open_store
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import load_settings, screen_language
from engine.values import TurnRecord
from ui.present import conversation_line, display_line, display_text, error_lines, hit_line, route_line, state_line


def list_conversations(paths: Paths, limit: int, *, as_json: bool) -> int:
    language = _language(paths)
    with open_store(paths) as store:
        conversations = store.conversations(limit)
    if as_json:
        print_json([asdict(conversation) for conversation in conversations])
        return 0
    for conversation in conversations:
        print_text(f"{display_line(conversation.conversation_id)}  {conversation_line(conversation, language)}")
    return 0


def show_conversation(paths: Paths, conversation_id: str, *, as_json: bool) -> int:
    language = _language(paths)
    with open_store(paths) as store:
        conversation = store.conversation(conversation_id)
        turns = store.path(conversation.leaf_turn_id) if conversation.leaf_turn_id else ()
    if as_json:
        print_json({**asdict(conversation), "turns": [asdict(turn) for turn in turns]})
        return 0
    print_text(conversation_line(conversation, language))
    for turn in turns:
        print_text()
        for line in _turn_lines(turn, language):
            print_text(line)
    return 0


def search_history(paths: Paths, query: str, limit: int, *, as_json: bool) -> int:
    language = _language(paths)
    with open_store(paths) as store:
        hits = store.search(query, limit)
    if as_json:
        print_json([asdict(hit) for hit in hits])
        return 0
    for hit in hits:
        print_text(f"{display_line(hit.conversation_id)}  {hit_line(hit, language)}")
    return 0


def _language(paths: Paths) -> str:
    return screen_language(load_settings(paths.settings), os.environ)


def _turn_lines(turn: TurnRecord, language: str) -> list[str]:
    lines = [f"> {line}" for line in display_text(turn.user_text).splitlines()]
    if turn.route:
        lines.append(f"[{route_line(turn.route, language)}]")
    if turn.answer_text:
        lines.append(display_text(turn.answer_text))
    if turn.state != "answered":
        lines.append(f"[{state_line(turn.state, language)}]")
    if turn.problem:
        lines += error_lines(turn.problem, turn.hint, language)
    return lines
