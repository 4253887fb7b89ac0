"""`macaron memory`: what is remembered, for people and for scripts. Runs no model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from app.memory.opening import open_memory_shelf
from app.models.wording import table
from app.output import print_json, print_note, print_text
from app.paths import Paths
from app.settings import language_of
from engine.errors import UsageProblem
from engine.memory.values import Draft, Memory, MemoryKind, MemoryState, Standing, TrustTier
from ui.forgetting import forgotten_lines
from ui.inert import display_line
from ui.memory_lines import day_text, facts, kind_text, memory_line, passages, report_lines, state_text, text_line
from ui.strings import say, say_count

Ask = Callable[[str], bool]
_HEADS = ("number", "day", "kind", "state", "text")
_KEPT = 1
"""The exit code where the user did not agree."""


def run_list(
    paths: Paths,
    environment: Mapping[str, str],
    *,
    states: Sequence[MemoryState],
    kinds: Sequence[MemoryKind],
    trusts: Sequence[TrustTier],
    limit: int,
    before: int | None,
    as_json: bool,
) -> int:
    """Raises: HomeBusy, StoreProblem."""
    with open_memory_shelf(paths) as shelf:
        # One more than is shown tells whether there is a next page.
        found = shelf.memories(states=states, kinds=kinds, trusts=trusts, limit=limit + 1, before=before)
        standing = shelf.memory_standing()
    shown, more = found[:limit], len(found) > limit
    if as_json:
        following = shown[-1].memory_id if more else None
        print_json({"memories": [asdict(memory) for memory in shown], "next": following, "standing": asdict(standing)})
        return 0
    language = language_of(paths.settings, environment)
    if shown:
        print_memories(shown, language)
    else:
        is_all = tuple(states) == ("active",) and not kinds and not trusts and before is None
        print_text(say("memory.none" if is_all else "memory.none.such", language))
    if more:
        print_text(say("memory.more", language, number=shown[-1].memory_id))
    note_standing(standing, language)
    return 0


def run_search(paths: Paths, environment: Mapping[str, str], query: str, limit: int, *, as_json: bool) -> int:
    """Raises: HomeBusy, StoreProblem."""
    with open_memory_shelf(paths) as shelf:
        found = shelf.search_memories(query, limit=limit)
    if as_json:
        print_json({"memories": [asdict(memory) for memory in found]})
        return 0
    language = language_of(paths.settings, environment)
    if found:
        print_memories(found, language)
    else:
        print_text(say("memory.no_hits", language, query=display_line(query)))
    return 0


def run_show(paths: Paths, environment: Mapping[str, str], memory_id: int, *, as_json: bool) -> int:
    """Raises: UnknownName, HomeBusy, StoreProblem."""
    with open_memory_shelf(paths) as shelf:
        details = shelf.memory(memory_id)
    if as_json:
        print_json(asdict(details))
        return 0
    language = language_of(paths.settings, environment)
    print_text(text_line(details.memory, language, None))
    for line in table(facts(details, language)):
        print_text(line)
    for heading, text in passages(details, language):
        print_text(f"\n{heading}:\n{text}")
    return 0


def run_add(
    paths: Paths,
    environment: Mapping[str, str],
    text: str,
    *,
    kind: MemoryKind | None,
    due_on: str,
    is_pasted: bool,
    as_json: bool,
) -> int:
    """What came through a pipe nobody typed: it waits for the user. Raises: BadText, HomeBusy, StoreProblem."""
    language = language_of(paths.settings, environment)
    with open_memory_shelf(paths) as shelf:
        if not is_pasted:
            memory = shelf.add_memory(text, kind, due_on)
        else:
            waiting = shelf.propose_memories([Draft(text, kind or "fact", text, None, due_on=due_on, source="user")])
            if not waiting:
                raise UsageProblem(say("memory.known", language), "List the memories to see their numbers.")
            (memory,) = waiting
    if as_json:
        print_json(asdict(memory))
        return 0
    print_text(say("memory.added", language, number=memory.memory_id))
    if memory.state == "pending":
        print_text(say("memory.added.tainted", language))
    return 0


def run_edit(
    paths: Paths,
    environment: Mapping[str, str],
    memory_id: int,
    text: str | None,
    *,
    kind: MemoryKind | None,
    due_on: str | None,
    as_json: bool,
) -> int:
    """Raises: UnknownName, UsageProblem, BadText, HomeBusy, StoreProblem."""
    with open_memory_shelf(paths) as shelf:
        wording = shelf.memory(memory_id).memory.text if text is None else text
        memory = shelf.edit_memory(memory_id, wording, kind, due_on)
    if as_json:
        print_json(asdict(memory))
    else:
        print_text(say("memory.edited", language_of(paths.settings, environment), number=memory.memory_id))
    return 0


def run_forget(
    paths: Paths, environment: Mapping[str, str], memory_ids: Sequence[int], ask: Ask | None, *, as_json: bool
) -> int:
    """Either all of them or none; `ask` None takes it for agreed. Raises: UnknownName, HomeBusy, StoreProblem."""
    language, numbers = language_of(paths.settings, environment), list(dict.fromkeys(memory_ids))
    with open_memory_shelf(paths) as shelf:
        memories = [shelf.memory(memory_id).memory for memory_id in numbers]
        if ask is not None:
            for memory in memories:
                print_text(memory_line(memory, language))
            if not ask(say_count("memory.forget.ask", language, len(memories))):
                print_text(say("memory.kept", language))
                return _KEPT
        done = [found for memory_id in numbers if (found := shelf.forget_memory(memory_id)) is not None]
    if as_json:
        print_json({"forgotten": numbers, "gone": [asdict(one) for one in done]})
        return 0
    for one in done:
        for line in forgotten_lines(one, language):
            print_text(line)
    print_text(say("memory.forgotten", language, count=len(numbers)))
    return 0


def run_pause(paths: Paths, environment: Mapping[str, str], *, is_paused: bool, as_json: bool) -> int:
    """Raises: HomeBusy, StoreProblem."""
    with open_memory_shelf(paths) as shelf:
        standing = shelf.set_memory_pause(is_paused)
    if as_json:
        print_json(asdict(standing))
    else:
        key = "memory.paused" if is_paused else "memory.resumed"
        print_text(say(key, language_of(paths.settings, environment)))
    return 0


def run_report(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    """Raises: HomeBusy, StoreProblem."""
    with open_memory_shelf(paths) as shelf:
        report, standing = shelf.memory_report(), shelf.memory_standing()
    if as_json:
        print_json({"standing": asdict(standing), **asdict(report)})
        return 0
    for line in report_lines(report, standing, language_of(paths.settings, environment)):
        print_text(line)
    return 0


def print_memories(memories: Sequence[Memory], language: str) -> None:
    heads = [say(f"memory.list.{name}", language) for name in _HEADS]
    for line in table([heads, *(_row(memory, language) for memory in memories)]):
        print_text(line.rstrip())


def note_standing(standing: Standing, language: str) -> None:
    """What else a reader of a list should know."""
    if standing.pending:
        print_note(say_count("memory.waiting", language, standing.pending))
    if standing.paused_since is not None:
        print_note(say("memory.is_paused", language, day=day_text(standing.paused_since)))


def _row(memory: Memory, language: str) -> tuple[str, ...]:
    return (
        str(memory.memory_id),
        day_text(memory.created_at),
        kind_text(memory, language),
        state_text(memory, language),
        text_line(memory, language),
    )
