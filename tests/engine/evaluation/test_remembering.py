"""Results of references are measured once; whatever they depend on, or damage, makes them measured again."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.adapters.gate.inputs import ItemResult, SuiteResult
from engine.evaluation.measuring import measure
from engine.evaluation.reading import Bench
from engine.evaluation.remembering import Remembered, key_of
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import AdapterRef
from tests.support.evaluating import choices, open_bench, written

RESULT = SuiteResult("capitals", "general", "c" * 64, (ItemResult("a", True, 0.1, "g"), ItemResult("b", None, 1e-9)))


@pytest.fixture(scope="module")
def bench(tiny_moe: Path) -> Iterator[Bench]:
    with open_bench(tiny_moe) as opened:
        yield opened


def test_what_was_kept_is_found_by_its_key_alone(tmp_path: Path):
    remembered = Remembered(tmp_path / "deep" / "folder")
    assert remembered.find("key", SuiteResult) is None
    remembered.keep("key", RESULT)
    assert remembered.find("key", SuiteResult) == RESULT
    assert remembered.find("another key", SuiteResult) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: b"[1]",
        lambda content: b'{"key": "key"}',
        lambda content: content.replace(b"true", b"false"),
        lambda content: content.replace(b"capitals", b"Capitals"),
        lambda content: b"\xff" * 9,
        lambda content: b"[" * 100_000,
    ],
)
def test_a_damaged_file_counts_as_absent(tmp_path: Path, damage: Callable[[bytes], bytes]):
    remembered = Remembered(tmp_path)
    remembered.keep("key", RESULT)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert remembered.find("key", SuiteResult) is None
    remembered.keep("key", RESULT)
    assert remembered.find("key", SuiteResult) == RESULT


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path: Path):
    (tmp_path / "file").write_text("")
    remembered = Remembered(tmp_path / "file")
    remembered.keep("key", RESULT)
    assert remembered.find("key", SuiteResult) is None


def test_only_the_owner_may_read_what_is_kept(tmp_path: Path):
    remembered = Remembered(tmp_path / "evaluations")
    remembered.keep("key", RESULT)
    (file,) = (tmp_path / "evaluations").iterdir()
    assert [path.stat().st_mode & 0o077 for path in (file, file.parent)] == [0, 0]


def test_those_used_least_recently_are_forgotten_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.evaluation.remembering._MOST_FILES", 2)
    remembered = Remembered(tmp_path)
    for place, key in enumerate(("one", "two")):
        remembered.keep(key, RESULT)
        for file in tmp_path.iterdir():
            if file.stat().st_mtime > 10:
                os.utime(file, (place, place))
    remembered.find("one", SuiteResult)
    remembered.keep("three", RESULT)
    assert [remembered.find(key, SuiteResult) is not None for key in ("one", "two", "three")] == [True, False, True]


@pytest.mark.model
def test_a_key_names_everything_that_a_result_depends_on(bench: Bench):
    stack = (AdapterRef("x.gguf", "a" * 32),)

    def with_mixture(**changes: object) -> Bench:
        return replace(bench, mixture=replace(bench.mixture, **changes))

    info, harness = bench.mixture.info, bench.mixture.harness
    keys = [
        key_of(bench, stack, "suite", "c"),
        key_of(bench, (), "suite", "c"),
        key_of(bench, (replace(stack[0], content_hash="b" * 32),), "suite", "c"),
        key_of(bench, (replace(stack[0], scale=0.5),), "suite", "c"),
        key_of(bench, stack, "suite 2", "c"),
        key_of(bench, stack, "suite", "d"),
        key_of(replace(bench, expert="L1"), stack, "suite", "c"),
        key_of(with_mixture(info=replace(info, base_hash="0" * 32)), stack, "suite", "c"),
        key_of(with_mixture(info=replace(info, backend="CUDA0 (a card)")), stack, "suite", "c"),
        key_of(with_mixture(harness=replace(harness, version="other")), stack, "suite", "c"),
    ]
    assert len(set(keys)) == len(keys)
    moved = (replace(stack[0], path="elsewhere.gguf"),)
    slower = with_mixture(info=replace(info, backend="CPU, 7 threads (another)"))
    assert key_of(slower, moved, "suite", "c") == keys[0], "neither a path nor the threads change a result"


@pytest.mark.model
def test_only_suites_that_changed_are_measured_again(bench: Bench, tmp_path: Path):
    remembered = Remembered(tmp_path)

    def asked(*suites) -> list[str]:
        """The suites of which an item was asked."""
        told: list[str] = []
        measure(bench, (), suites, content_hash="", remembered=remembered, tell=lambda name, done, _: told.append(name))
        return [name for name in dict.fromkeys(told) if told.count(name) > 1]

    assert asked(choices(), written()) == ["capitals", "short"]
    assert asked(choices(), written()) == []
    assert asked(choices(content_hash="e" * 64), written()) == ["capitals"]
    for file in tmp_path.iterdir():
        if json.loads(file.read_bytes())["result"]["suite"] == "short":
            file.write_bytes(b"{")
    assert asked(choices(), written()) == ["short"]


@pytest.mark.model
def test_remembered_results_are_those_that_were_measured(bench: Bench, tiny_moe_adapters, tmp_path: Path):
    stack = (adapter_ref(tiny_moe_adapters[0]),)
    suites = [choices(), written()]
    first = measure(bench, stack, suites, content_hash="a", remembered=Remembered(tmp_path))
    assert measure(bench, stack, suites, content_hash="a", remembered=Remembered(tmp_path)) == first
    assert measure(bench, stack, suites, content_hash="a") == first
