"""`macaron models add`, `pull`, `use`, `remove` and `token`: what they say while they do it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final

from app.credentials import hub_token, remove_hub_token, set_hub_token
from app.models.adding import add_model
from app.models.catalogue import CatalogueBase
from app.models.choosing import Chosen, use_profile
from app.models.download import Step
from app.models.fit import fit
from app.models.headers import read_base
from app.models.hub import Repo, RepoFile
from app.models.machine import this_machine
from app.models.pulling import pull
from app.models.removing import plan_removal, remove_profile
from app.models.wording import Meter, fit_line, step_line
from app.output import ProgressLine, print_json, print_note, print_text
from app.paths import Paths, make_home
from app.settings import load_settings, screen_language
from ui.inert import display_line
from ui.sizes import size_text
from ui.strings import say

_JSON_EVERY_S: Final = 1.0

Ask = Callable[[str], bool]
"""A question to the user; True for yes."""


def run_add(
    paths: Paths, environment: Mapping[str, str], model: str, *, name: str | None, force: bool, as_json: bool
) -> int:
    language = screen_language(load_settings(paths.settings), environment)
    machine = this_machine(environment)
    added = add_model(paths, environment, machine, model, name=name, force=force)
    found = fit(added.base.shape, machine, added.made.context_tokens)
    if as_json:
        print_json(
            {
                "name": added.made.name,
                "profile": str(added.made.folder),
                "path": str(added.base.path),
                "family": added.base.family,
                "context_tokens": added.made.context_tokens,
                "is_linked": added.is_linked,
                "fit": {**asdict(found), "need_bytes": found.need.total},
            }
        )
        return 0
    tokens = f"{added.made.context_tokens:,}"
    print_text(say("models.added", language, name=added.made.name, tokens=tokens))
    print_text(fit_line(found, language))
    if added.base.family is None:
        print_note(say("models.family_unknown", language))
    if added.is_linked:
        print_note(say("models.linked", language))
    return 0


def run_pull(
    paths: Paths,
    environment: Mapping[str, str],
    target: str,
    *,
    revision: str | None,
    name: str | None,
    force: bool,
    as_json: bool,
) -> int:
    settings = load_settings(paths.settings)
    language = screen_language(settings, environment)
    machine = this_machine(environment)
    talk = _JsonTalk() if as_json else _TextTalk(language)
    try:
        done = pull(paths, settings, environment, machine, target, talk, revision=revision, name=name, force=force)
    finally:
        talk.end()
    if as_json:
        print_json(
            {
                "event": "done",
                "name": done.name,
                "path": str(done.file),
                "was_here": done.was_here,
                "licence": done.licence,
            }
        )
        return 0
    print_text(say("pull.was_here" if done.was_here else "pull.done", language, file=display_line(done.file.name)))
    if done.made is None:
        print_text(say("pull.profile_here", language, name=done.name))
    else:
        print_text(say("models.added", language, name=done.name, tokens=f"{done.made.context_tokens:,}"))
        print_text(fit_line(fit(read_base(done.file).shape, machine, done.made.context_tokens), language))
    return 0


class _TextTalk:
    """A pull for people: what it will do, then one line that changes."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._line = ProgressLine()
        self._meter = Meter()
        self._file = ""

    def plan(self, repo: Repo, files: tuple[RepoFile, ...], known: CatalogueBase | None) -> None:
        language = self._language
        if known:
            title, about = known.title.in_language(language), known.about.in_language(language)
            print_text(say("pull.known", language, title=title, about=about))
        for file in files:
            size = size_text(file.size_bytes)
            print_text(say("pull.plan", language, repo=repo.name, file=display_line(file.path), size=size))
        licence = " ".join(filter(None, (repo.licence or (known.licence if known else ""), repo.licence_link)))
        key = "pull.licence" if licence else "pull.licence.unknown"
        print_text(say(key, language, licence=display_line(licence)))

    def step(self, file: str, step: Step) -> None:
        if file != self._file:
            self._file, self._meter = file, Meter()
        if step.stage == "fetching":
            self._meter.take(time.monotonic(), step.done)
        self._line.show(display_line(step_line(step, self._meter, self._language)))

    def end(self) -> None:
        self._line.clear()


class _JsonTalk:
    """A pull for scripts: one object a line, at most one a second for each stage."""

    def __init__(self) -> None:
        self._meter = Meter()
        self._last: tuple[str, str] = ("", "")
        self._next_s = 0.0

    def plan(self, repo: Repo, files: tuple[RepoFile, ...], known: CatalogueBase | None) -> None:
        size = sum(file.size_bytes for file in files)
        paths = [file.path for file in files]
        licence = repo.licence or (known.licence if known else "")
        print_json(
            {
                "event": "plan",
                "repo": repo.name,
                "revision": repo.commit,
                "files": paths,
                "size_bytes": size,
                "licence": licence,
                "is_gated": repo.is_gated,
            }
        )

    def step(self, file: str, step: Step) -> None:
        now_s = time.monotonic()
        if file != self._last[0]:
            self._meter = Meter()
        if step.stage == "fetching":
            self._meter.take(now_s, step.done)
        if (file, step.stage) == self._last and now_s < self._next_s and step.done < step.total:
            return
        self._last, self._next_s = (file, step.stage), now_s + _JSON_EVERY_S
        rate, left = self._meter.bytes_per_s, self._meter.seconds_left(step.total)
        print_json(
            {
                "event": "progress",
                "file": file,
                "stage": step.stage,
                "done_bytes": step.done,
                "total_bytes": step.total,
                "bytes_per_s": round(rate) if rate else None,
                "seconds_left": round(left) if left is not None else None,
                "note": step.note,
            }
        )

    def end(self) -> None:
        """Nothing is left open on the screen."""


def run_use(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> Chosen:
    """Returns what a host that runs is to be told."""
    chosen = use_profile(paths, name)
    if as_json:
        print_json({"profile": chosen.name, "title": chosen.title})
    else:
        language = screen_language(load_settings(paths.settings), environment)
        print_text(say("models.used", language, name=display_line(chosen.name)))
    return chosen


def run_remove(paths: Paths, environment: Mapping[str, str], name: str, ask: Ask | None, *, as_json: bool) -> int:
    """Remove a profile; `ask` None takes it for agreed."""
    make_home(paths)
    language = screen_language(load_settings(paths.settings), environment)
    removal = plan_removal(paths, name)
    size = size_text(removal.freed_bytes)
    if ask is not None:
        with_file = removal.fate == "deleted" and removal.file is not None
        file = removal.file.name if removal.file else ""
        key = "remove.ask_file" if with_file else "remove.ask"
        if not ask(say(key, language, name=name, file=display_line(file), size=size)):
            print_text(say("remove.kept", language))
            return 0
    remove_profile(paths, removal)
    if as_json:
        print_json({"removed": name, "freed_bytes": removal.freed_bytes, "file": removal.fate})
        return 0
    print_text(say("remove.done", language, name=name, size=size))
    if removal.fate in ("shared", "foreign"):
        print_text(say(f"remove.{removal.fate}", language))
    return 0


def run_token_set(paths: Paths, environment: Mapping[str, str], read: Callable[[str], str]) -> int:
    """`read` asks for the token without showing it."""
    language = screen_language(load_settings(paths.settings), environment)
    set_hub_token(read(say("token.ask", language)))
    print_text(say("token.set", language))
    return 0


def run_token_remove(paths: Paths, environment: Mapping[str, str]) -> int:
    language = screen_language(load_settings(paths.settings), environment)
    print_text(say("token.removed" if remove_hub_token() else "token.none", language))
    return 0


def run_token_status(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    language = screen_language(load_settings(paths.settings), environment)
    token = hub_token(environment)
    if as_json:
        print_json({"token": token.source if token else None})
        return 0
    print_text(say(f"token.in_{token.source}" if token else "token.none", language))
    return 0
