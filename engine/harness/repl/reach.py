"""What the source of a tool reaches, whether its name is free, and hashes that stand for both. Pure.

Reads the text of a program and runs none of it. It may name too much, never too little: whoever runs a saved tool
offers it only the tools named here, so that a call hidden from this reading finds nothing to call.
"""

import ast
import builtins
import hashlib
import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.harness.repl.values import PYTHON
from engine.harness.tools.values import ToolSpec

SAVED: Final = "saved"
"""`ToolSpec.source` of a tool that was saved here."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,63}", re.IGNORECASE | re.ASCII)
_OF_THE_NAMESPACE: Final = ("tools", "save_tool", "ToolError")
_HIDING_NAMES: Final = (
    *("eval", "exec", "compile", "__import__", "globals", "locals", "vars", "getattr", "setattr", "delattr"),
    *("__builtins__", "__loader__", "__spec__"),
)
_HIDING_MODULES: Final = ("builtins", "ctypes", "importlib", "marshal", "pickle", "runpy", "code", "gc", "inspect")


@dataclass(frozen=True, slots=True)
class Reach:
    tools: tuple[str, ...]
    imports: tuple[str, ...]
    """Top-level names of modules."""
    hidden: tuple[str, ...]
    """Names with which code can be run or found that the text does not show."""


def reach_of(source: str, tool_names: Iterable[str]) -> Reach:
    """Which of these tools the source calls, and what it imports. Raises: SyntaxError."""
    known = set(tool_names)
    tools: set[str] = set()
    imports: set[str] = set()
    hidden: set[str] = set()
    read: set[ast.AST] = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                imports.update(alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=module, level=level):
                imports.add("." * level + (module or "").partition(".")[0])
            case ast.Attribute(value=ast.Name(id="tools") as whole, attr=name) if name in known:
                tools.add(name)
                read.add(whole)
            case ast.Subscript(value=ast.Name(id="tools") as whole, slice=ast.Constant(value=str(name))) if (
                name in known
            ):
                tools.add(name)
                read.add(whole)
            case ast.Name(id=name) if name in known:
                tools.add(name)
            case ast.Name(id=name) if name in _HIDING_NAMES:
                hidden.add(name)
            case ast.Attribute(attr=name) if name.startswith("__") and name.endswith("__"):
                hidden.add(name)
    hidden.update(imports.intersection(_HIDING_MODULES))
    # `tools` handed on whole: what is called through it then does not show here.
    hidden.update("tools" for node in ast.walk(tree) if _is_tools(node) and node not in read)
    return Reach(tuple(sorted(tools)), tuple(sorted(imports)), tuple(sorted(hidden)))


def _is_tools(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "tools"


def name_problem(name: str, offered: Sequence[ToolSpec]) -> str:
    """Why a saved tool cannot be called this, as a sentence; empty when it can. A newer version keeps its name."""
    if not _NAME.fullmatch(name):
        return f"`{name[:70]}` is no name for a tool: letters a to z, digits and underscores, 2 to 64 of them."
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or hasattr(builtins, name):
        return f"`{name}` means something in Python already."
    if name in _OF_THE_NAMESPACE:
        return f"`{name}` means something in the namespace of blocks already."
    # Upper and lower case must not tell two tools apart for a person who reads them.
    taken = {spec.tool.name.casefold() for spec in offered if spec.source != SAVED}
    if name.casefold() in taken | {PYTHON}:
        return f"There is a tool `{name}` already that was not saved here."
    return ""


def content_hash(source: str) -> str:
    """SHA-256 of the text, in hexadecimal."""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def spec_hash(spec: ToolSpec) -> str:
    """What stands for a tool that was not saved here: all that a model sees of it, and who brought it."""
    seen = [spec.source, spec.tool.name, spec.tool.description, spec.tool.parameters]
    return content_hash(json.dumps(seen, sort_keys=True, ensure_ascii=True))


def all_reached(name: str, sources: Mapping[str, str], others: Iterable[str]) -> frozenset[str]:
    """Every tool that the saved tool `name` reaches, through other saved ones too; itself where it comes back to it.

    `sources` are those of all saved tools, by name, and `others` the names of all other tools. Raises: KeyError when
    `name` is not among the sources; SyntaxError.
    """
    names = {*sources, *others}
    reached: set[str] = set()
    waiting = [sources[name]]
    while waiting:
        found = set(reach_of(waiting.pop(), names).tools) - reached
        reached |= found
        waiting += [sources[each] for each in found if each in sources]
    return frozenset(reached)


def approval_hash(name: str, sources: Mapping[str, str], others: Mapping[str, str]) -> str:
    """Stands for a saved tool and everything it reaches: any of it changed, and the hash is another.

    `others` are hashes of the other tools, by name (`spec_hash`). Raises: KeyError; SyntaxError.
    """
    parts = {name: content_hash(sources[name])}
    for each in all_reached(name, sources, others):
        parts[each] = content_hash(sources[each]) if each in sources else others[each]
    return content_hash(json.dumps(sorted(parts.items())))
