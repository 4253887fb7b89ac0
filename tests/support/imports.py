"""Which module imports what, read from source and never by running it.

Knows syntax only; which imports are allowed is the business of `tests/test_layers.py`.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("app", "engine", "local_training", "ui")
DYNAMIC_IMPORTS = frozenset({"import_module", "__import__", "run_module"})


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name of `module`. `target` may end in an attribute: `from engine import AgentError`."""

    module: str
    line: int
    target: str
    runs_at_import: bool
    """False inside a function and under `TYPE_CHECKING`."""

    @property
    def package(self) -> str:
        return self.target.partition(".")[0]

    def is_of(self, *modules: str) -> bool:
        return any(self.target == module or self.target.startswith(f"{module}.") for module in modules)

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def module_files(root: Path, package: str) -> Mapping[str, Path]:
    """Dotted module name to file, for a package under `root`; a package's `__init__` goes by the package's name."""
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(module: str, path: Path) -> list[Import]:
    """Every import of a file, lazy, type-only and dynamic ones (with a literal name) included."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return [
        Import(module, node.lineno, target, runs_at_import)
        for node, runs_at_import in _walk(tree, runs_at_import=True)
        for target in _targets(node, package)
    ]


def package_imports(root: Path, package: str) -> list[Import]:
    return [found for module, path in module_files(root, package).items() for found in imports_of(module, path)]


def import_graph(root: Path) -> dict[str, set[str]]:
    """Module to the modules of ours that run before it when it is imported.

    Importing `a.b.c` also runs `a` and `a.b`, except where they are packages around the importing module: those are
    running already.
    """
    modules = {name: path for package in PACKAGES for name, path in module_files(root, package).items()}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for module, path in modules.items():
        for found in imports_of(module, path):
            if not found.runs_at_import:
                continue
            target = found.target if found.target in modules else found.target.rpartition(".")[0]
            if target in modules:
                graph[module] |= {target, *_parents(target)} - set(_parents(module)) - {module}
                # Named outright, a surrounding package must be complete, not merely running.
                if target in _parents(module) and found.target not in modules:
                    graph[module].add(target)
    return graph


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _walk(node: ast.AST, *, runs_at_import: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Every node below and including `node`, and whether it runs when the module is imported."""
    yield node, runs_at_import
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        branches = [(child, False) for child in node.body] + [(child, runs_at_import) for child in node.orelse]
    else:
        is_lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        branches = [(child, runs_at_import and not is_lazy) for child in ast.iter_child_nodes(node)]
    for child, runs in branches:
        yield from _walk(child, runs_at_import=runs)


def _targets(node: ast.AST, package: str) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (name.name for name in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            around = package.split(".")[: len(package.split(".")) - level + 1] if level else []
            source = ".".join([*around, *([module] if module else [])])
            yield from (source if name.name == "*" else f"{source}.{name.name}" for name in names)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(target)), *_]):
            if name in DYNAMIC_IMPORTS:
                yield target
