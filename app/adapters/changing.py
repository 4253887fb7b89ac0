"""`macaron adapters promote|rollback|remove`: by hand, through the host where one runs. Runs no model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from app.adapters.opening import open_shelf
from app.bases import find_base
from app.output import print_json, print_text
from app.paths import Paths
from app.profiles import load_chosen_profile
from app.settings import load_settings, screen_language
from engine.adapters.canary import TURNS
from engine.adapters.records import AdapterRecord, Swap
from engine.errors import UsageProblem
from engine.runtime.identity import fingerprint
from ui.adapter_changes import BY_HAND
from ui.adapter_lines import has_passed, short, swap_line
from ui.adapter_shelf import AdapterShelf
from ui.inert import display_line
from ui.sizes import size_text
from ui.strings import say, say_count
from ui.verdicts import gate_warning

Ask = Callable[[str], bool]
_KEPT: Final = 0
"""Exit code when the person said no: that is an answer, not a failure."""


def run_promote(
    paths: Paths, environment: Mapping[str, str], name: str, ask: Ask | None, *, as_json: bool, canary: bool = False
) -> int:
    """`ask` None takes it for agreed; `canary` begins a trial instead.

    Raises: UnknownName, UsageProblem, ModelProblem, HomeBusy, StoreProblem.
    """
    language = screen_language(load_settings(paths.settings), environment)
    with open_shelf(paths) as shelf:
        details = shelf.adapter(name)
        record, warning = details.record, gate_warning(details, language)
        # Nothing is asked where nothing would change, or where it is refused anyway.
        is_settled = record.state == "champion" or (canary and record.state == "canary")
        if ask is not None and not is_settled:
            question = say(
                "adapters.promote.ask_canary" if canary else "adapters.promote.ask",
                language,
                name=short(record.content_hash),
                expert=record.expert,
                turns=TURNS,
            )
            if not ask(f"{warning} {question}".lstrip()):
                print_text(say("adapters.unchanged", language))
                return _KEPT
        begin = shelf.begin_canary if canary else shelf.promote_adapter
        swap = begin(record.content_hash, BY_HAND)
    if as_json:
        print_json({**_swap_json(swap), "gate_passed": has_passed(details)})
        return 0
    if ask is None and warning:
        print_text(warning)
    if canary:
        print_text(_trial_line(swap, record.expert, language))
    else:
        print_text(swap_line("adapters.promoted", swap, record.expert, language))
    return 0


def run_rollback(
    paths: Paths,
    environment: Mapping[str, str],
    expert: str | None,
    *,
    profile: str | None,
    to_factory: bool,
    as_json: bool,
) -> int:
    """Raises: UnknownName, UsageProblem when nothing or more than one thing could be meant; HomeBusy, StoreProblem."""
    settings = load_settings(paths.settings)
    language = screen_language(settings, environment)
    chosen = load_chosen_profile(paths, profile or settings.profile)
    if expert is not None:
        chosen.expert(expert)
    with open_shelf(paths) as shelf:
        used = shelf.adapters_in_use(chosen.name)
        if len({record.base_hash for record in used}) > 1:
            base_hash = fingerprint(find_base(chosen, paths))
            used = [record for record in used if record.base_hash == base_hash]
        record = _in_use(used, expert, chosen.name)
        swap = shelf.roll_back_adapter(record.content_hash, BY_HAND, to_factory=to_factory)
    if as_json:
        print_json(_swap_json(swap))
    else:
        print_text(swap_line("adapters.rolled_back", swap, record.expert, language))
    return 0


def run_remove(paths: Paths, environment: Mapping[str, str], name: str, ask: Ask | None, *, as_json: bool) -> int:
    """`ask` None takes it for agreed. Raises: UnknownName, UsageProblem for one in use, HomeBusy, StoreProblem."""
    language = screen_language(load_settings(paths.settings), environment)
    with open_shelf(paths) as shelf:
        record = shelf.adapter(name).record
        if ask is not None:
            question = say(
                "adapters.remove.ask", language, name=short(record.content_hash), size=size_text(record.size_bytes)
            )
            if not ask(question):
                print_text(say("adapters.unchanged", language))
                return _KEPT
        shelf.remove_adapter(record.content_hash)
    _tell_removed([record], language, as_json=as_json)
    return 0


def run_remove_unused(paths: Paths, environment: Mapping[str, str], ask: Ask | None, *, as_json: bool) -> int:
    """All that has retired but the last champions of every expert. Raises: HomeBusy, StoreProblem, AgentError."""
    language = screen_language(load_settings(paths.settings), environment)
    with open_shelf(paths) as shelf:
        unused = list(_unused(shelf))
        if unused and ask is not None:
            size = size_text(sum(record.size_bytes for record in unused))
            if not ask(say("adapters.remove.ask_unused", language, count=len(unused), size=size)):
                print_text(say("adapters.unchanged", language))
                return _KEPT
        for record in unused:
            shelf.remove_adapter(record.content_hash)
    _tell_removed(unused, language, as_json=as_json)
    return 0


def _in_use(used: Sequence[AdapterRecord], expert: str | None, profile: str) -> AdapterRecord:
    """What is to be taken back; a canary before its champion. Raises: UsageProblem."""
    wanted = [record for record in used if expert in (None, record.expert)]
    experts = sorted({record.expert for record in wanted})
    if not experts:
        who = f"{expert} of the profile {profile}" if expert else f"Every expert of the profile {profile}"
        raise UsageProblem(
            f"{who} answers as it came: there is nothing to go back from.", "See `macaron adapters list`."
        )
    if len(experts) > 1:
        raise UsageProblem(
            f"Several experts have an adapter of their own: {', '.join(experts)}.",
            f"Name one, such as `macaron adapters rollback {experts[0]}`.",
        )
    return min(wanted, key=lambda record: record.state != "canary")


def _unused(shelf: AdapterShelf) -> Iterator[AdapterRecord]:
    after = 0
    while page := shelf.unused_adapters(after=after):
        yield from page
        after = page[-1].number


def _swap_json(swap: Swap) -> dict[str, object]:
    return {
        "now": asdict(swap.now) if swap.now else None,
        "previous": asdict(swap.previous) if swap.previous else None,
    }


def _trial_line(swap: Swap, expert: str, language: str) -> str:
    now, previous = (
        short(one.content_hash) if one else say("adapters.factory_alone", language) for one in (swap.now, swap.previous)
    )
    return say("adapters.on_trial", language, now=now, previous=previous, expert=display_line(expert), turns=TURNS)


def _tell_removed(removed: Sequence[AdapterRecord], language: str, *, as_json: bool) -> None:
    freed_bytes = sum(record.size_bytes for record in removed)
    if as_json:
        print_json({"removed": [record.content_hash for record in removed], "freed_bytes": freed_bytes})
    elif not removed:
        print_text(say("adapters.remove.nothing", language))
    else:
        print_text(f"{say_count('adapters.removed', language, len(removed))} {size_text(freed_bytes)}")
