"""What a source reaches, which names are free, and that a hash stands for everything that is reached."""

import pytest

from engine.harness.repl.reach import (
    all_reached,
    approval_hash,
    content_hash,
    name_problem,
    reach_of,
    spec_hash,
)
from tests.engine.harness.repl.conftest import spec

KNOWN = ("add", "fetch", "web-search")


@pytest.mark.parametrize(
    ("source", "tools"),
    [
        ("add(1)", ("add",)),
        ("tools.add(1)", ("add",)),
        ("tools['web-search'](1)", ("web-search",)),
        ("def f():\n    return [fetch(x) for x in y]", ("fetch",)),
        ("handler = add", ("add",)),
        ("print('add')", ()),
        ("thing.add(1)", ()),
        ("tools.unknown()", ()),
        ("add(tools.fetch())", ("add", "fetch")),
    ],
)
def test_the_tools_that_a_source_names_are_found(source: str, tools: tuple[str, ...]):
    assert reach_of(source, KNOWN).tools == tools


def test_imports_are_found_wherever_they_stand():
    source = (
        "import os.path, json as j\ndef f():\n    from urllib.request import urlopen\nclass A:\n    from . import near"
    )
    assert reach_of(source, ()).imports == (".", "json", "os", "urllib")


@pytest.mark.parametrize(
    ("source", "hidden"),
    [
        ("eval('add(1)')", ("eval",)),
        ("exec(code)", ("exec",)),
        ("__import__('o' + 's')", ("__import__",)),
        ("import importlib", ("importlib",)),
        ("import ctypes.util", ("ctypes",)),
        ("getattr(tools, 'ad' + 'd')()", ("getattr", "tools")),
        ("().__class__.__base__.__subclasses__()", ("__base__", "__class__", "__subclasses__")),
        ("globals()['add']()", ("globals",)),
        ("t = tools\nt.add()", ("tools",)),
        ("[tools[name]() for name in names]", ("tools",)),
        ("tools.add(1)", ()),
        ("x = 'eval'", ()),
    ],
)
def test_E11_ways_around_the_text_are_named(source: str, hidden: tuple[str, ...]):
    assert reach_of(source, KNOWN).hidden == hidden


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("files", "already"),
        ("FILES", "already"),
        ("weather", "already"),
        ("python", "already"),
        ("print", "Python"),
        ("class", "Python"),
        ("match", "Python"),
        ("tools", "namespace"),
        ("save_tool", "namespace"),
        ("fіles", "no name"),
        ("_private", "no name"),
        ("two words", "no name"),
        ("x" * 65, "no name"),
        ("a", "no name"),
        ("", "no name"),
        ("ok\n", "no name"),
    ],
)
def test_E7_a_name_that_means_something_already_is_refused(name: str, words: str):
    offered = [spec("files"), spec("weather", source="a server"), spec("my_tool", source="saved")]
    assert words in name_problem(name, offered)


@pytest.mark.parametrize("name", ["my_tool", "new_tool", "celsius2"])
def test_a_new_name_and_that_of_a_saved_tool_are_free(name: str):
    assert name_problem(name, [spec("files"), spec("my_tool", source="saved")]) == ""


SOURCES = {
    "top": "def top(): return middle()",
    "middle": "def middle(): return tools.leaf() + fetch()",
    "leaf": "def leaf(): return 1",
    "alone": "def alone(): return 2",
    "round_a": "def round_a(): return round_b()",
    "round_b": "def round_b(): return round_a()",
}
OTHERS = {"fetch": "1", "add": "2"}


def test_everything_is_reached_through_other_saved_tools_too():
    assert all_reached("top", SOURCES, OTHERS) == {"middle", "leaf", "fetch"}
    assert all_reached("alone", SOURCES, OTHERS) == set()


def test_E11_tools_that_call_each_other_reach_themselves():
    assert all_reached("round_a", SOURCES, OTHERS) == {"round_a", "round_b"}


@pytest.mark.parametrize("changed", ["top", "middle", "leaf"])
def test_E11_a_changed_byte_in_anything_that_is_reached_changes_the_hash(changed: str):
    before = approval_hash("top", SOURCES, OTHERS)
    assert approval_hash("top", SOURCES | {changed: SOURCES[changed] + " "}, OTHERS) != before


def test_E11_so_does_another_tool_that_is_reached_and_nothing_else_does():
    before = approval_hash("top", SOURCES, OTHERS)
    assert approval_hash("top", SOURCES, OTHERS | {"fetch": "9"}) != before
    assert approval_hash("top", SOURCES, OTHERS | {"add": "9"}) == before
    assert approval_hash("top", SOURCES | {"alone": "def alone(): return 3"}, OTHERS) == before


def test_E11_a_helper_that_appears_under_a_name_in_the_source_changes_the_hash():
    sources = {name: text for name, text in SOURCES.items() if name != "leaf"}
    assert approval_hash("top", sources, OTHERS) != approval_hash("top", SOURCES, OTHERS)


def test_the_hash_of_a_source_is_that_of_its_text():
    assert content_hash("x") == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"


def test_the_hash_of_another_tool_stands_for_all_that_a_model_sees_of_it():
    assert len({spec_hash(each) for each in (spec("a"), spec("b"), spec("a", "x"), spec("a", source="s"))}) == 4
