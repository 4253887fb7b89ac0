"""From the source of a function and its example to a tool that may be kept. Pure: reads texts and runs nothing.

The same reading serves a function that a model saves and a source that a person has edited.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.errors import UsageProblem
from engine.harness.repl.output import clean
from engine.harness.repl.packing import parsed
from engine.harness.repl.reach import content_hash, name_problem, reach_of
from engine.harness.repl.signature import parameters_schema
from engine.harness.repl.values import SavedTool
from engine.harness.tools.values import ToolSpec

_MOST_DESCRIPTION_CHARACTERS: Final = 600
_MOST_EXAMPLE_CHARACTERS: Final = 4_000


def describe(name: str, source: str, example: str, offered: Sequence[ToolSpec]) -> SavedTool:
    """The tool that `source` makes of its function `name`; whether the example passes is still to be tried.

    `offered` are the tools there are. Raises: UsageProblem.
    """
    if problem := name_problem(name, offered):
        raise UsageProblem(problem, "Give the function another name.")
    tree = parsed(source, "The source")
    _check_top_level(tree)
    function = _function(tree, name)
    description = clean(ast.get_docstring(function) or "").strip()
    if not description:
        raise UsageProblem(f"`{name}` has no docstring.", "Say in one what it does and returns: it is the description.")
    if len(description) > _MOST_DESCRIPTION_CHARACTERS:
        raise UsageProblem(
            f"The docstring of `{name}` is {len(description)} characters long.",
            f"Shorten it to {_MOST_DESCRIPTION_CHARACTERS}.",
        )
    checked_example(name, example)
    reach = reach_of(source, [spec.tool.name for spec in offered if spec.tool.name != name])
    return SavedTool(
        name=name,
        description=description,
        parameters=parameters_schema(function),
        source=source,
        example=example,
        content_hash=content_hash(source),
        tools=reach.tools,
        imports=reach.imports,
        hidden=reach.hidden,
    )


def checked_example(name: str, example: str) -> str:
    """The example as a program that raises unless it holds: a last expression must be true. Raises: UsageProblem."""
    if len(example) > _MOST_EXAMPLE_CHARACTERS:
        raise UsageProblem(
            f"The example of `{name}` is {len(example)} characters long.", f"Shorten it to {_MOST_EXAMPLE_CHARACTERS}."
        )
    tree = parsed(example, f"The example of `{name}`")
    if not any(_is_call_of(node, name) for node in ast.walk(tree)):
        raise UsageProblem(f"The example does not call `{name}`.", f"Write one such as: assert {name}(...) == ...")
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        words = ast.Constant("the example ended in something that is not true")
        tree.body[-1] = ast.copy_location(ast.Assert(test=last.value, msg=words), last)
    elif not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise UsageProblem(
            f"The example calls `{name}` and checks nothing.", f"Write one such as: assert {name}(...) == ..."
        )
    return ast.unparse(ast.fix_missing_locations(tree))


def call_of(tool: SavedTool, arguments: Mapping[str, Any]) -> str:
    """The block that calls a saved tool, where its source has run before it."""
    # As one dictionary: a name of an argument comes from outside as well, and must not be read as code.
    return f"{tool.name}(**{dict(arguments)!r})"


def _check_top_level(tree: ast.Module) -> None:
    """Only what defines something: a tool does nothing before it is called."""
    for node in tree.body:
        match node:
            case ast.Import() | ast.ImportFrom(level=0) | ast.FunctionDef() | ast.ClassDef():
                continue
            case ast.Assign(targets=[ast.Name()]) | ast.Expr(value=ast.Constant(value=str())):
                continue
        raise UsageProblem(
            f"Line {node.lineno} of the source does more than define something.",
            "Keep to imports, constants, functions and classes at the top level.",
        )


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if len(found) != 1:
        raise UsageProblem(f"The source defines `{name}` {len(found)} times.", "Define it once, with def.")
    if found[0].decorator_list:
        raise UsageProblem(f"`{name}` has a decorator.", "Save the plain function.")
    return found[0]


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
