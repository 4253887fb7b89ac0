"""`macaron memory review`: a person looks at what waits, one by one, or a script says what becomes of which."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from app.memory.commands import print_memories
from app.memory.opening import open_memory_shelf
from app.models.wording import table
from app.output import print_error, print_json, print_text
from app.paths import Paths
from app.settings import language_of
from engine.errors import UsageProblem
from engine.memory.values import Memory
from ui.memory_lines import facts, passages, text_line
from ui.memory_shelf import MemoryShelf
from ui.strings import say

_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The person at the terminal."""

    choose: Callable[[str], str]
    """Given the question: a approve, e edit, r reject, s skip, q quit."""
    write: Callable[[str, str], str]
    """Given the question and the text as it is; the text as it should be."""


def run_review(paths: Paths, environment: Mapping[str, str], reviewer: Reviewer | None, *, as_json: bool) -> int:
    """Without a person what waits is listed. Raises: HomeBusy, StoreProblem."""
    language = language_of(paths.settings, environment)
    with open_memory_shelf(paths) as shelf:
        waiting = list(_waiting(shelf))
        if as_json:
            print_json({"memories": [asdict(memory) for memory in waiting]})
        elif not waiting:
            print_text(say("memory.none.waiting", language))
        elif reviewer is None:
            print_memories(waiting, language)
        else:
            _look_at_each(shelf, waiting, reviewer, language)
    return 0


def run_decide(
    paths: Paths,
    environment: Mapping[str, str],
    approved: Sequence[int],
    rejected: Sequence[int],
    *,
    as_json: bool,
) -> int:
    """Either all of it or nothing. Raises: UnknownName, UsageProblem, HomeBusy, StoreProblem."""
    language = language_of(paths.settings, environment)
    if both := set(approved) & set(rejected):
        raise UsageProblem(f"{min(both)} is to be approved and rejected.", "Name it once.")
    with open_memory_shelf(paths) as shelf:
        memories = {memory_id: shelf.memory(memory_id).memory for memory_id in (*approved, *rejected)}
        for memory in memories.values():
            if memory.state != "pending":
                raise UsageProblem(f"Memory {memory.memory_id} waits for nobody.", "See `macaron memory review`.")
        for memory_id in dict.fromkeys(approved):
            shelf.approve_memory(memory_id)
        for memory_id in dict.fromkeys(rejected):
            shelf.forget_memory(memory_id)
    if as_json:
        print_json({"approved": list(dict.fromkeys(approved)), "rejected": list(dict.fromkeys(rejected))})
        return 0
    for memory in memories.values():
        key = "memory.approved" if memory.memory_id in approved else "memory.rejected"
        print_text(say(key, language, text=text_line(memory, language)))
    return 0


def _look_at_each(shelf: MemoryShelf, waiting: Sequence[Memory], reviewer: Reviewer, language: str) -> None:
    done = Counter[str]()
    for place, memory in enumerate(waiting, start=1):
        print_text("\n" + say("memory.review.place", language, place=place, count=len(waiting)))
        _show(shelf, memory, language)
        choice = reviewer.choose(say("memory.review.choose", language))
        if choice == "q":
            break
        done[_carried_out(shelf, memory, choice, reviewer, language)] += 1
    left = shelf.memory_standing().pending
    print_text(say("memory.review.done", language, approved=done["a"], edited=done["e"], rejected=done["r"], left=left))


def _carried_out(shelf: MemoryShelf, memory: Memory, choice: str, reviewer: Reviewer, language: str) -> str:
    """What became of it: a wording that cannot be kept is told, and the memory waits on."""
    if choice == "a":
        shelf.approve_memory(memory.memory_id)
    elif choice == "r":
        shelf.forget_memory(memory.memory_id)
    elif choice == "e":
        try:
            shelf.edit_memory(memory.memory_id, reviewer.write(say("memory.review.write", language), memory.text))
        except UsageProblem as problem:
            print_error(problem.problem, problem.hint, as_json=False)
            return "s"
    return choice


def _show(shelf: MemoryShelf, memory: Memory, language: str) -> None:
    details = shelf.memory(memory.memory_id)
    print_text(text_line(memory, language, None))
    for line in table(facts(details, language)):
        print_text(line)
    for heading, text in passages(details, language):
        print_text(f"{heading}: {text}")


def _waiting(shelf: MemoryShelf) -> Iterator[Memory]:
    before: int | None = None
    while page := shelf.memories(states=("pending",), limit=_PAGE, before=before):
        yield from page
        before = page[-1].memory_id
