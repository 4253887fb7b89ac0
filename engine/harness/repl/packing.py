"""Gather a function from the blocks that a model ran, with all that it needs to run alone. Pure: texts in, text out.

What the function uses must be an import, a function or class, or a plain constant, each written at the top level of a
block; anything else is refused by name. Knows nothing of what is in the namespace: the example, run where nothing else
is, shows whether the text was enough.
"""

import ast
import builtins
import symtable
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from engine.errors import UsageProblem

_MOST_SOURCE_CHARACTERS: Final = 20_000
_GIVEN: Final = ("tools", "ToolError")
"""Names that every namespace has."""


@dataclass(frozen=True, slots=True)
class _Binding:
    """What a name stands for. `place` is the block and the line, for the order in which things are written down."""

    place: tuple[int, int]
    text: str
    """Empty where it is something that cannot be written down."""
    is_import: bool = False


def parsed(source: str, what: str) -> ast.Module:
    """Raises: UsageProblem, which names `what` it is."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError) as problem:
        raise UsageProblem(f"{what} is not Python: {problem}.", "Correct it.") from None
    except (RecursionError, MemoryError):
        raise UsageProblem(f"{what} is nested too deeply.", "Simplify it.") from None


def pack(name: str, block: int, line: int, blocks: Mapping[int, str], tool_names: Collection[str]) -> str:
    """The text of a module: imports, constants and helpers, and last the function `name`.

    Its definition, or its first decorator, begins on `line` of the block numbered `block`. Raises: UsageProblem.
    """
    function = _definition(name, line, blocks.get(block, ""))
    bindings = _bindings(blocks)
    needed: dict[str, _Binding] = {}
    waiting = [function]
    while waiting:
        for free in sorted(_free_names(waiting.pop()) - {name} - set(needed)):
            binding = bindings.get(free)
            if binding is None:
                _check_is_given(name, free, tool_names)
            elif not binding.text:
                raise UsageProblem(
                    f"`{name}` uses `{free}`, which is neither an import, a function or class, nor a plain constant.",
                    f"Give `{free}` to it as an argument, or compute it inside.",
                )
            else:
                needed[free] = binding
                waiting.append(binding.text)
    imports = sorted({binding.text for binding in needed.values() if binding.is_import})
    rest = sorted({(binding.place, binding.text) for binding in needed.values() if not binding.is_import})
    parts = ["\n".join(imports)] if imports else []
    source = "\n\n\n".join([*parts, *(text for _, text in rest), function]) + "\n"
    if len(source) > _MOST_SOURCE_CHARACTERS:
        raise UsageProblem(
            f"`{name}` with all it uses is {len(source)} characters long.",
            f"Shorten it to {_MOST_SOURCE_CHARACTERS}.",
        )
    return source


def _definition(name: str, line: int, code: str) -> str:
    for node in parsed(code, "The block").body:
        if isinstance(node, ast.FunctionDef) and node.name == name and line == _first_line(node):
            return _text(code, node)
    raise UsageProblem(
        f"`{name}` was not found where it was defined.", "Define it with def at the top level of a block, then save it."
    )


def _bindings(blocks: Mapping[int, str]) -> dict[str, _Binding]:
    """The last meaning of each name over all blocks."""
    found: dict[str, _Binding] = {}
    for number, code in sorted(blocks.items()):
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # such a block has bound nothing
        for node in tree.body:
            for name, text, is_import in _bound(code, node):
                found[name] = _Binding((number, node.lineno), text, is_import)
    return found


def _bound(code: str, node: ast.stmt) -> Iterator[tuple[str, str, bool]]:
    """(name, text, whether it is an import) of all that one statement binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, _text(code, node), False
        case ast.Import(names=names):
            for alias in names:
                own = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                yield alias.asname or alias.name.partition(".")[0], own, True
        case ast.ImportFrom(module=str(module), names=names, level=0):
            for alias in names:
                own = f"from {module} import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                yield alias.asname or alias.name, own, True
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_plain(value):
            yield name, _text(code, node), False
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if _is_plain(value):
            yield name, f"{name} = {ast.unparse(value)}", False
        case _:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id, "", False
                elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield inner.name, "", False
                elif isinstance(inner, ast.Import | ast.ImportFrom):
                    for alias in inner.names:
                        yield alias.asname or alias.name.partition(".")[0], "", False


def _is_plain(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _free_names(text: str) -> set[str]:
    """Names that a definition or a statement takes from its module."""
    if text.startswith(("import ", "from ")):
        return set()
    top = symtable.symtable(text, "<saved>", "exec")
    used = {each.get_name() for each in top.get_symbols() if each.is_referenced()}
    waiting = top.get_children()
    while waiting:
        table = waiting.pop()
        used |= {each.get_name() for each in table.get_symbols() if each.is_global() and each.is_referenced()}
        waiting += table.get_children()
    return used - {each.get_name() for each in top.get_symbols() if each.is_assigned()}


def _check_is_given(function: str, name: str, tool_names: Collection[str]) -> None:
    if name in tool_names or name in _GIVEN or hasattr(builtins, name):
        return
    raise UsageProblem(
        f"`{function}` uses `{name}`, which no block defines at its top level.",
        "Define or import it in a block first, or inside the function.",
    )


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _text(code: str, node: ast.stmt) -> str:
    """As it was written, decorators and comments between the lines included."""
    first = node.lineno
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        first = min([first, *(each.lineno for each in node.decorator_list)])
    if node.end_lineno is None or node.col_offset:
        return ast.unparse(node)  # it stands behind another statement on its line
    # Python's own line ends only; `splitlines` knows more of them.
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")[first - 1 : node.end_lineno]
    lines[-1] = lines[-1].encode("utf-8")[: node.end_col_offset].decode("utf-8")
    return "\n".join(lines).rstrip()
