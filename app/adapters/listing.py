"""`macaron adapters list|show|diff`: what there is, in words and for scripts. Runs no model."""

from collections.abc import Mapping
from dataclasses import asdict

from app.adapters.opening import open_shelf
from app.adapters.wording import difference_row, differences, heads, row
from app.models.wording import table
from app.output import print_json, print_text
from app.paths import Paths
from app.settings import load_settings, screen_language
from engine.adapters.records import AdapterState
from ui.adapter_lines import detail_lines, facts, short
from ui.strings import say


def run_list(
    paths: Paths,
    environment: Mapping[str, str],
    *,
    expert: str | None,
    state: AdapterState | None,
    limit: int,
    after: str | None,
    as_json: bool,
) -> int:
    """`after` names the last adapter of the page before. Raises: UnknownName, UsageProblem, HomeBusy, StoreProblem."""
    with open_shelf(paths) as shelf:
        before = None if after is None else shelf.adapter(after).record.number
        # One more than is shown tells whether there is a next page.
        found = shelf.adapters(expert=expert, state=state, limit=limit + 1, before=before)
    shown, more = found[:limit], len(found) > limit
    if as_json:
        following = shown[-1].content_hash if more else None
        print_json({"adapters": [asdict(record) for record in shown], "next": following})
        return 0
    language = screen_language(load_settings(paths.settings), environment)
    if not shown:
        print_text(say("adapters.none", language))
        return 0
    for line in table([heads(language), *(row(record, language) for record in shown)]):
        print_text(line.rstrip())
    if more:
        print_text(say("adapters.more", language, name=short(shown[-1].content_hash)))
    return 0


def run_show(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> int:
    """Raises: UnknownName, UsageProblem, HomeBusy, StoreProblem."""
    with open_shelf(paths) as shelf:
        details = shelf.adapter(name)
    if as_json:
        print_json(asdict(details))
        return 0
    language = screen_language(load_settings(paths.settings), environment)
    for line in table(facts(details.record, language)):
        print_text(line)
    for line in detail_lines(details, language):
        print_text(line)
    return 0


def run_diff(paths: Paths, environment: Mapping[str, str], name: str, other_name: str, *, as_json: bool) -> int:
    """Raises: UnknownName, UsageProblem, HomeBusy, StoreProblem."""
    with open_shelf(paths) as shelf:
        one, other = shelf.adapter(name), shelf.adapter(other_name)
    found = differences(one, other)
    hashes = one.record.content_hash, other.record.content_hash
    if as_json:
        print_json({"adapters": hashes, "differences": {what: [mine, theirs] for what, mine, theirs in found}})
        return 0
    language = screen_language(load_settings(paths.settings), environment)
    if not found:
        print_text(say("adapters.alike", language))
        return 0
    for line in table([["", *map(short, hashes)], *(difference_row(*each, language) for each in found)]):
        print_text(line.rstrip())
    return 0
