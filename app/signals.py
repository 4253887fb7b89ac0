"""`macaron signals`: what the user said of answers, for people and for scripts. Runs no model."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from app.models.wording import table
from app.opening import open_library
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import load_settings, screen_language
from engine.errors import UnknownName, UsageProblem
from engine.signals.values import CorrectionKind, Signal, SignalKind
from engine.values import TurnRecord
from ui.client import Library
from ui.present import display_line, display_text
from ui.signals import MAX_TEXT_CELLS, kind_words, state_words
from ui.strings import say

_HEADS = ("number", "day", "kind", "state", "text")


def run_list(
    paths: Paths,
    environment: Mapping[str, str],
    *,
    kinds: Sequence[SignalKind],
    expert: str | None,
    limit: int,
    before: int | None,
    as_json: bool,
) -> int:
    """Raises: HomeBusy, StoreProblem."""
    with open_library(paths) as library:
        # One more than is shown tells whether there is a next page.
        found = library.signals(limit=limit + 1, before=before, kinds=kinds, expert=expert)
    shown, more = found[:limit], len(found) > limit
    if as_json:
        print_json({"signals": [asdict(signal) for signal in shown], "next": shown[-1].signal_id if more else None})
        return 0
    language = screen_language(load_settings(paths.settings), environment)
    if not shown:
        print_text(say("signals.none", language))
        return 0
    heads = [say(f"signals.list.{name}", language) for name in _HEADS]
    for line in table([heads, *(_row(signal, language) for signal in shown)]):
        print_text(line.rstrip())
    if more:
        print_text(say("signals.more", language, number=shown[-1].signal_id))
    return 0


def run_show(paths: Paths, environment: Mapping[str, str], signal_id: int, *, as_json: bool) -> int:
    """Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_library(paths) as library:
        signal = _known(library, signal_id)
        turn = next(turn for turn in library.siblings(signal.turn_id) if turn.turn_id == signal.turn_id)
    if as_json:
        print_json({**asdict(signal), "asked": turn.user_text, "answered": turn.answer_text})
        return 0
    language = screen_language(load_settings(paths.settings), environment)
    for line in table(_facts(signal, language)):
        print_text(line.rstrip())
    texts = (("asked", turn.user_text), ("answered", turn.answer_text), ("better", signal.text))
    for name, text in texts:
        if text:
            print_text(f"\n{say(f'signals.show.{name}', language)}:\n{display_text(text)}")
    return 0


def run_erase(paths: Paths, environment: Mapping[str, str], signal_ids: Sequence[int], *, as_json: bool) -> int:
    """Either all of them or none. Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_library(paths) as library:
        for signal_id in signal_ids:
            _known(library, signal_id)
        for signal_id in dict.fromkeys(signal_ids):
            library.erase_signal(signal_id)
    if as_json:
        print_json({"erased": list(dict.fromkeys(signal_ids))})
    else:
        print_text(say("signals.erased", screen_language(load_settings(paths.settings), environment)))
    return 0


def run_confirm(paths: Paths, environment: Mapping[str, str], signal_id: int, *, as_json: bool) -> int:
    """Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_library(paths) as library:
        signal = library.confirm_signal(signal_id)
    if as_json:
        print_json(asdict(signal))
    else:
        print_text(say("signals.confirmed", screen_language(load_settings(paths.settings), environment)))
    return 0


def run_add(
    paths: Paths,
    environment: Mapping[str, str],
    text: str,
    *,
    turn_id: str | None,
    kind: CorrectionKind,
    is_pasted: bool,
    as_json: bool,
) -> int:
    """Without a turn it is about the last answer there is. Raises: AgentError."""
    with open_library(paths) as library:
        about = turn_id or _last_answer(library).turn_id
        signal = library.correct(about, text, kind, "pasted" if is_pasted else "typed")
    if as_json:
        print_json(asdict(signal))
        return 0
    language = screen_language(load_settings(paths.settings), environment)
    print_text(say("signals.noted", language, number=signal.signal_id))
    if signal.is_tainted:
        print_text(say("signals.noted.tainted", language, number=signal.signal_id))
    return 0


def _last_answer(library: Library) -> TurnRecord:
    """Of the conversation that was last spoken in. Raises: UsageProblem."""
    for conversation in library.conversations(limit=1):
        if path := library.path(conversation.conversation_id):
            return path[-1]
    raise UsageProblem("There is no answer yet.", "Ask something first: macaron ask.")


def _known(library: Library, signal_id: int) -> Signal:
    """Raises: UnknownName."""
    for signal in library.signals(limit=1, before=signal_id + 1):
        if signal.signal_id == signal_id:
            return signal
    raise UnknownName(f"There is no signal {signal_id}.", "List what there is with `macaron signals list`.")


def _row(signal: Signal, language: str) -> tuple[str, ...]:
    return (
        str(signal.signal_id),
        display_line(signal.created_at[:10]),
        kind_words(signal, language),
        state_words(signal, language),
        display_line(signal.text, MAX_TEXT_CELLS),
    )


def _facts(signal: Signal, language: str) -> list[tuple[str, str]]:
    state = state_words(signal, language)
    facts = [
        ("signals.list.number", str(signal.signal_id)),
        ("signals.list.day", display_line(signal.created_at)),
        ("signals.list.kind", kind_words(signal, language)),
        ("signals.list.state", state),
        ("signals.show.source", signal.source),
        ("signals.show.turn", display_line(signal.turn_id)),
        ("signals.show.other", display_line(signal.other_turn_id or "")),
    ]
    return [(say(key, language), value) for key, value in facts if value]
