"""`macaron chat`: the terminal face over the home's host."""

import sys
from collections.abc import Mapping

from app.models.listing import first_start_note
from app.output import ProgressLine, is_terminal
from app.paths import Paths
from app.settings import screen_language
from app.wiring import attached
from engine.errors import UsageProblem
from engine.routing.profile import unknown_expert
from ui.strings import detect_language, say


def run_chat(
    paths: Paths,
    *,
    profile: str | None,
    expert: str | None,
    conversation_id: str | None,
    newest: bool,
    off_record: bool,
    language: str | None,
    environment: Mapping[str, str],
) -> int:
    """Blocks until the user quits. Exit code 0.

    Raises: UsageProblem where there is no terminal, and all that `attached` does, before the screen is taken.
    """
    if not all(is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageProblem(
            "The chat needs a terminal: its input or output is a file or another program.",
            'Start it in a terminal window, or ask one question with `macaron ask "your question"`.',
        )
    # Only now: a wrong call is refused without loading the screen.
    from app.teaching.spawning import SpawningTeacher, profile_in_use
    from ui.terminal.app import ChatApp

    progress = ProgressLine()
    progress.show(say("loading", detect_language(environment)))
    with attached(paths, profile, stays=True) as opened:
        if conversation_id is not None:
            opened.client.conversation(conversation_id)  # one that there is not is refused before the screen is taken
        if expert is not None:
            known = tuple(name for name, _ in opened.client.experts())
            if expert not in known:
                raise unknown_expert(expert, known)
        progress.clear()
        if newest and conversation_id is None:
            found = opened.client.conversations(limit=1)
            conversation_id = found[0].conversation_id if found else None
        chosen = language or screen_language(opened.settings, environment)
        note = first_start_note(paths, chosen, environment)
        ChatApp(
            opened.client,
            conversation_id=conversation_id,
            expert=expert,
            language=chosen,
            dark=opened.settings.theme != "light",
            keymap=opened.settings.keys,
            notices=[note] if note else [],
            teacher=SpawningTeacher(paths, environment, profile_in_use(opened.client, paths, profile)),
            off_record=off_record,
        ).run()
    return 0
