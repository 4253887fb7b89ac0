"""The architecture as a test: who may import whom, and what no module may do."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.imports import PACKAGES, Import, import_graph, imports_of, module_files, package_imports

ROOT = Path(__file__).parents[1]

ALLOWED = {
    "engine": set(),
    "ui": {"engine"},
    "local_training": {"engine"},
    "app": {"engine", "ui", "local_training"},
}
LIGHT_TRAINING = (
    "local_training.example_files",
    "local_training.examples",
    "local_training.lessons",
    "local_training.runs.creating",
    "local_training.runs.events",
    "local_training.runs.folder",
    "local_training.runs.metrics",
    "local_training.runs.recipe",
    "local_training.runs.report",
)
"""What the program may know of training: the runs it begins and watches, and the report it reads."""

ONLY_IN = {
    "llama_cpp": "engine.runtime",
    "torch": "local_training",
    "transformers": "local_training",
    "peft": "local_training",
    "accelerate": "local_training",
    "gradio": "ui.browser",
    "huggingface_hub": "app.models",
    "icalendar": "engine.harness.builtin.dates",
    "keyring": "app.credentials",
    "lxml": "engine.harness.builtin.web",
    "mcp": "engine.harness.mcp",
    "mcp_types": "engine.harness.mcp",
    "textual": "ui.terminal",
}
"""Heavy or native libraries, and the one place that touches each."""

RUNS_BLOCKS = "engine.harness.repl.child"
"""The program inside the sandbox, which runs what a model wrote. Nothing of ours imports it."""

CODE_RUNNING_FORMATS = ("cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve")
"""Reading a file of theirs can run code, and files come from outside."""

SPEAKERS = re.compile(r"app\.(cli([_.].*)?|output)")
"""Modules that may write to standard output: the command line, in however many files, and its output."""


def test_the_packages_are_the_ones_that_have_rules():
    assert set(ALLOWED) == set(PACKAGES)
    for package in PACKAGES:
        assert module_files(ROOT, package), f"{package} has no module, so every rule about it would hold"


def wrong_directions(root: Path, package: str) -> list[Import]:
    forbidden = set(PACKAGES) - ALLOWED[package] - {package}
    return [found for found in package_imports(root, package) if found.package in forbidden]


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_one_way(package):
    assert report(wrong_directions(ROOT, package)) == ""


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import ui", id="plain"),
        pytest.param("from ui.client import Client", id="from"),
        pytest.param("def turn():\n    import ui.client as face\n", id="lazy"),
        pytest.param(
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ui import client\n", id="types_only"
        ),
        pytest.param("class Face:\n    try:\n        import ui\n    except ImportError:\n        pass\n", id="nested"),
        pytest.param("import importlib\nface = importlib.import_module('ui.client')\n", id="dynamic"),
    ],
)
def test_a_planted_import_in_the_wrong_direction_is_caught(tmp_path, source):
    plant(tmp_path, "engine/inner/planted.py", source)
    (caught,) = wrong_directions(tmp_path, "engine")
    assert (caught.module, caught.package) == ("engine.inner.planted", "ui")


def test_imports_in_the_right_direction_are_not_caught(tmp_path):
    plant(tmp_path, "ui/planted.py", "import json\nfrom engine.errors import AgentError\nfrom ui import client\n")
    assert wrong_directions(tmp_path, "ui") == []


def test_a_relative_import_counts_as_what_it_names(tmp_path):
    path = plant(tmp_path, "engine/inner/planted.py", "from . import near\nfrom ..far import Thing\n")
    assert [found.target for found in imports_of("engine.inner.planted", path)] == [
        "engine.inner.near",
        "engine.far.Thing",
    ]


def test_the_program_knows_only_the_light_half_of_training():
    found = [found for found in package_imports(ROOT, "app") if found.package == "local_training"]
    assert report(found for found in found if not found.is_of(*LIGHT_TRAINING)) == ""


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_heavy_library_is_touched_in_one_place(library):
    home = ONLY_IN[library]
    found = [found for package in PACKAGES for found in package_imports(ROOT, package) if found.package == library]
    assert report(found for found in found if not is_within(found.module, home)) == ""


def test_the_light_half_of_training_needs_no_heavy_library():
    found = [found for found in package_imports(ROOT, "local_training") if is_within(found.module, *LIGHT_TRAINING)]
    assert report(found for found in found if found.package in ONLY_IN) == ""


def cycle(root: Path) -> list[str]:
    """Modules that import one another while being imported, in a ring; empty when there is none."""
    try:
        TopologicalSorter(import_graph(root)).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_one_another():
    assert cycle(ROOT) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("import engine.second", "from engine.first import Thing", id="modules"),
        pytest.param("from engine import Thing", "", id="through_the_package"),
    ],
)
def test_a_planted_cycle_is_caught(tmp_path, first, second):
    plant(tmp_path, "engine/__init__.py", "from engine.first import Thing")
    plant(tmp_path, "engine/first.py", first)
    plant(tmp_path, "engine/second.py", second)
    assert "engine.first" in cycle(tmp_path)


def test_a_lazy_or_type_only_import_closes_no_cycle(tmp_path):
    plant(tmp_path, "engine/first.py", "import engine.second")
    plant(
        tmp_path,
        "engine/second.py",
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from engine.first import Thing\n"
        "def late():\n    import engine.first\n",
    )
    assert cycle(tmp_path) == []


def test_packaging_is_no_package():
    # It would hide the library `packaging` from everything that runs in the checkout.
    assert (ROOT / "packaging").is_dir()
    assert not (ROOT / "packaging" / "__init__.py").exists()


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_named_like_one_of_the_standard_library(package):
    # A script run from inside the package would import it instead of Python's own.
    names = {path.stem for path in (ROOT / package).iterdir()}
    assert names & sys.stdlib_module_names == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_says_what_it_is(package):
    silent = [name for name, path in module_files(ROOT, package).items() if not ast.get_docstring(parse(path))]
    assert silent == []


@pytest.mark.parametrize("package", ["app", "engine", "ui"])
def test_only_the_command_line_prints(package):
    printing = [
        f"{module}:{node.lineno}"
        for module, path in module_files(ROOT, package).items()
        if not SPEAKERS.fullmatch(module)
        for node in ast.walk(parse(path))
        if is_call_of(node, "print")
    ]
    assert printing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_from_outside_can_run_code(package):
    found = [
        f"{module}:{line} {what}"
        for module, path in module_files(ROOT, package).items()
        for line, what in code_runners(module, path)
        if module != RUNS_BLOCKS
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        pytest.param("import pickle", "pickle", id="pickle"),
        pytest.param("from joblib import load", "joblib.load", id="joblib"),
        pytest.param("numpy.load(path, allow_pickle=True)", "allow_pickle", id="allow_pickle"),
        pytest.param("torch.load(path, weights_only=False)", "weights_only", id="weights_only"),
        pytest.param("yaml.load(text, Loader)", "yaml.load", id="yaml"),
        pytest.param("eval(text)", "eval", id="eval"),
        pytest.param("exec(text)", "exec", id="exec"),
        pytest.param("numpy.load(path, allow_pickle=False)\nmodel.eval()\nyaml.safe_load(text)\n", None, id="harmless"),
    ],
)
def test_a_planted_code_runner_is_caught(tmp_path, source, caught):
    path = plant(tmp_path, "engine/planted.py", source)
    assert [what for _, what in code_runners("engine.planted", path)] == ([caught] if caught else [])


def code_runners(module: str, path: Path) -> Iterator[tuple[int, str]]:
    """(line, what) of everything in a file that could run code out of data."""
    for found in imports_of(module, path):
        if found.is_of(*CODE_RUNNING_FORMATS):
            yield found.line, found.target
    for node in ast.walk(parse(path)):
        if is_call_of(node, "eval", "exec"):
            yield node.lineno, node.func.id
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="yaml"), attr="load" | "unsafe_load" | "full_load")):
                yield node.lineno, ast.unparse(node.func)
            case ast.keyword(arg="allow_pickle", value=value) if ast.unparse(value) != "False":
                yield node.lineno, "allow_pickle"
            case ast.keyword(arg="weights_only", value=value) if ast.unparse(value) != "True":
                yield node.lineno, "weights_only"


def is_call_of(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def is_within(module: str, *places: str) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in places)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def plant(root: Path, name: str, source: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return path


def report(found) -> str:
    return "\n".join(str(one) for one in found)
