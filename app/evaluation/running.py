"""`macaron eval`: measure an expert or an adapter with suites, or ask the gate about one, and say what came out."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from app.adapters.files import path_of
from app.adapters.opening import open_shelf
from app.bases import find_base
from app.evaluation.judging import (
    EvaluationProgress,
    Judged,
    Who,
    champion_of,
    judge_candidate,
    shipped_examination,
)
from app.evaluation.opening import open_bench
from app.evaluation.parity import parity_of
from app.evaluation.wording import gate_lines, judged_json, progress_line, results_json, results_lines
from app.output import ProgressLine, print_json, print_text
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import Settings, load_settings, screen_language
from app.stopping import set_by_signals
from engine.adapters.gate import NIGHT, TEACH, AdapterResults, GateRules
from engine.adapters.records import AdapterRecord
from engine.errors import ScoringStopped, UnknownName, UsageProblem
from engine.evaluation.measuring import measure
from engine.evaluation.reading import Bench
from engine.evaluation.remembering import Remembered
from engine.evaluation.suites import Suite, read_suites, shipped_suites
from engine.routing.profile import Profile
from engine.runtime.identity import adapter_ref, fingerprint
from engine.runtime.protocol import AdapterRef, Stop
from ui.adapter_lines import short
from ui.durations import duration_text
from ui.inert import display_line
from ui.strings import say

NOT_PASSED: Final = 1
"""Exit code when the gate rejected, or had too little to tell."""
STOPPED: Final = 130
RULES: Final[Mapping[str, GateRules]] = {"night": NIGHT, "teach": TEACH}


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose answers are measured, as the options of the command name it."""

    adapter: str | None = None
    """The beginning of its hash; None is what the expert answers with now."""
    expert: str | None = None
    profile: str | None = None
    threads: int | None = None
    as_json: bool = False


def run_measure(
    paths: Paths, environment: Mapping[str, str], asked: Asked, *, names: Sequence[str] = (), against: Who | None = None
) -> int:
    """Run the suites of these names, or all. Exit code: 0, or 130 when it was stopped.

    Raises: UnknownName, UsageProblem, ModelProblem, RuntimeFailed, HomeBusy, StoreProblem.
    """
    suites = _chosen(shipped_suites(), names)
    session = _prepare(paths, environment, asked)
    with session.measuring() as (bench, stop, progress):
        other, compared = None, None
        if against is not None:
            if against == "champion":
                with open_shelf(paths) as shelf:
                    compared = champion_of(shelf, bench, paths)
            other = session.measured(bench, suites, compared, against, stop, progress, is_reference=True)
        mine = None if session.record is None else adapter_ref(path_of(paths, session.record))
        results = session.measured(bench, suites, mine, "expert", stop, progress, is_reference=asked.adapter is None)
        progress.clear()
        session.tell_results(bench, results, other, compared)
        return 0
    return STOPPED


def run_gate(
    paths: Paths, environment: Mapping[str, str], asked: Asked, *, rules: str = "night", target: Path | None = None
) -> int:
    """Ask the gate about an adapter, and keep what it says. Exit code: 0 passed, 1 not passed, 130 stopped.

    `target` is a folder with suites of what the adapter was trained for.

    Raises: UnknownName, UsageProblem, ModelProblem, RuntimeFailed, HomeBusy, StoreProblem.
    """
    examination = shipped_examination(_targets(target), rules=RULES[rules])
    session = _prepare(paths, environment, asked)
    record = session.record
    if asked.adapter is None or record is None:
        raise UsageProblem("The gate judges an adapter, and none was named.", "Name one of `macaron adapters list`.")
    with session.measuring() as (bench, stop, progress):
        judged = judge_candidate(
            bench,
            record,
            session.base,
            paths,
            partial(open_shelf, paths),
            examination=examination,
            rules=RULES[rules],
            parity=parity_of(paths, record),
            stop=stop,
            tell=lambda told: progress.show(progress_line(told, session.language)),
        )
        progress.clear()
        session.tell_judged(record, judged, rules)
        return 0 if judged.verdict.decision == "promote" else NOT_PASSED
    return STOPPED


@dataclass(frozen=True, slots=True)
class _Session:
    """One run of the command: what is measured, and how it is told."""

    paths: Paths
    settings: Settings
    language: str
    asked: Asked
    profile: Profile
    base: Path
    expert: str
    record: AdapterRecord | None
    """The adapter that was named, or the one that answers now; None where the expert answers as it came."""
    started: float

    @contextmanager
    def measuring(self) -> Iterator[tuple[Bench, Stop, ProgressLine]]:
        """An engine, a flag that Ctrl+C sets, and a line for progress. A stop leaves the block, and has been told.

        While the base is loaded, Ctrl+C ends the program as usual.
        """
        progress = ProgressLine()
        threads = self.settings.threads if self.asked.threads is None else self.asked.threads
        progress.show(say("loading", self.language))
        try:
            with (
                open_bench(self.paths, self.profile, self.base, self.expert, threads=threads) as bench,
                set_by_signals() as stop,
            ):
                yield bench, stop, progress
        except ScoringStopped:
            progress.clear()
            if self.asked.as_json:
                print_json({"stopped": True})
            else:
                print_text(say("eval.stopped", self.language))
        finally:
            progress.clear()

    def measured(
        self,
        bench: Bench,
        suites: Sequence[Suite],
        adapter: AdapterRef | None,
        who: Who,
        stop: Stop,
        progress: ProgressLine,
        *,
        is_reference: bool,
    ) -> AdapterResults:
        """An adapter that was named is always measured; what others are held against is remembered."""

        def tell(suite: str, done: int, total: int) -> None:
            progress.show(progress_line(EvaluationProgress(who, suite, done, total), self.language))

        return measure(
            bench,
            bench.stack(adapter),
            suites,
            content_hash="" if adapter is None else adapter.content_hash,
            remembered=Remembered(self.paths.evaluations) if is_reference else None,
            stop=stop,
            tell=tell,
        )

    def tell_results(
        self, bench: Bench, results: AdapterResults, other: AdapterResults | None, compared: AdapterRef | None
    ) -> None:
        if self.asked.as_json:
            against = None if other is None else {"adapter": other.content_hash, "suites": results_json(other, None)}
            found = {"adapter": results.content_hash, "suites": results_json(results, other), "against": against}
            print_json({**self._about_json(bench), **found})
            return
        name = short(results.content_hash) if results.content_hash else say("adapters.factory_alone", self.language)
        key = "eval.measured.now" if self.asked.adapter is None else "eval.measured.adapter"
        print_text(say(key, self.language, expert=self.expert, profile=display_line(self.profile.name), name=name))
        if other is not None:
            key = "eval.against.factory" if compared is None else "eval.against.champion"
            print_text(say(key, self.language, name=short(other.content_hash)))
        for line in results_lines(results, other, self.language):
            print_text(line)
        print_text(say("eval.seconds", self.language, time=duration_text(self._seconds(), self.language)))

    def tell_judged(self, record: AdapterRecord, judged: Judged, rules: str) -> None:
        if self.asked.as_json:
            about = {"profile": self.profile.name, "expert": self.expert, "adapter": record.content_hash}
            print_json({**about, "rules": rules, "seconds": round(self._seconds(), 1), **judged_json(judged)})
            return
        name = short(record.content_hash)
        profile = display_line(self.profile.name)
        title = say("eval.gate.title", self.language, name=name, expert=self.expert, profile=profile, rules=rules)
        for line in (title, *gate_lines(judged, self.language)):
            print_text(line)
        print_text(say("eval.seconds", self.language, time=duration_text(self._seconds(), self.language)))
        is_passed = judged.verdict.decision == "promote"
        if record.state in ("champion", "canary"):
            print_text(say("eval.gate.in_use", self.language, expert=self.expert))
        else:
            print_text(say(f"eval.gate.next.{'passed' if is_passed else 'failed'}", self.language, name=name))

    def _about_json(self, bench: Bench) -> dict[str, Any]:
        return {
            "profile": self.profile.name,
            "expert": self.expert,
            "base_hash": bench.mixture.info.base_hash,
            "seconds": round(self._seconds(), 1),
        }

    def _seconds(self) -> float:
        return time.monotonic() - self.started


def _prepare(paths: Paths, environment: Mapping[str, str], asked: Asked) -> _Session:
    """Everything that can be refused before the base is loaded. Raises: UnknownName, UsageProblem, ModelProblem."""
    make_home(paths)
    settings = load_settings(paths.settings)
    profile = load_chosen_profile(paths, asked.profile or settings.profile)
    base = find_base(profile, paths)
    if asked.expert is not None:
        profile.expert(asked.expert)
    record: AdapterRecord | None = None
    expert = asked.expert or profile.route.default
    with open_shelf(paths) as shelf:
        if asked.adapter is not None:
            record = shelf.adapter(asked.adapter).record
            _check_fits(record, profile, asked.expert)
            expert = record.expert
        else:
            base_hash = fingerprint(base)
            answering = [one for one in shelf.adapters_in_use(profile.name) if one.base_hash == base_hash]
            mine = [one for one in answering if one.expert == expert]
            record = min(mine, key=lambda one: one.state != "canary", default=None)
    language = screen_language(settings, environment)
    return _Session(paths, settings, language, asked, profile, base, expert, record, time.monotonic())


def _check_fits(record: AdapterRecord, profile: Profile, expert: str | None) -> None:
    """Raises: UsageProblem."""
    if record.profile != profile.name:
        raise UsageProblem(
            f"The adapter {short(record.content_hash)} is for the profile {record.profile}, not for {profile.name}.",
            "Name its profile with --profile.",
        )
    if expert is not None and record.expert != expert:
        raise UsageProblem(
            f"The adapter {short(record.content_hash)} is for {record.expert}, not for {expert}.",
            "Leave out --expert: an adapter is measured with its own.",
        )
    profile.expert(record.expert)


def _chosen(suites: Sequence[Suite], names: Sequence[str]) -> Sequence[Suite]:
    """Raises: UnknownName."""
    known = {suite.name: suite for suite in suites}
    for name in names:
        if name not in known:
            raise UnknownName(f"There is no suite {display_line(name, 60)}.", f"Suites: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(names)] if names else suites


def _targets(folder: Path | None) -> Sequence[Suite]:
    """Suites of a folder, whatever their own role, as what the adapter was trained for. Raises: UsageProblem."""
    if folder is None:
        return ()
    found = read_suites(folder)
    if not found:
        raise UsageProblem(
            f"{folder} holds no suites.", "They are files that end in .jsonl, in a folder `general` or `probes` of it."
        )
    return [replace(suite, role="target") for suite in found]
