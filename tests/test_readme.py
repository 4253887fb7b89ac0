"""The README tells the truth: its commands, options and settings are those of the program."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

from app.cli import cli
from app.settings import Settings
from local_training.example_files import parse_examples
from local_training.examples import ExampleKind
from local_training.runs.recipe import parse_recipe
from local_training.task_files import parse_tasks

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for child_name, child in command.commands.items():
            yield from _commands(child, f"{name} {child_name}")
    else:
        yield name, command


COMMANDS = dict(_commands(cli, "macaron"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_listed(name: str) -> None:
    assert f"| `{name}" in README


@pytest.mark.parametrize(
    "option",
    sorted(
        {
            opt
            for command in COMMANDS.values()
            for parameter in command.params
            if not getattr(parameter, "hidden", False)
            for opt in parameter.opts
            if opt.startswith("--")
        }
    ),
)
def test_every_option_is_explained(option: str) -> None:
    assert f"`{option}" in README


def test_no_command_is_listed_that_does_not_exist() -> None:
    listed = set(re.findall(r"^\| `(macaron [a-z ]+?)(?: [A-Z…]+)*` \|", README, re.MULTILINE))
    assert listed == set(COMMANDS)


def test_every_setting_is_explained_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", README, re.MULTILINE))
    defaults = {field.name: getattr(Settings(), field.name) for field in fields(Settings)}
    assert rows == {name: f'"{value}"' if isinstance(value, str) else str(value) for name, value in defaults.items()}


def test_the_first_screen_holds_the_two_commands() -> None:
    first_screen = README.splitlines()[:15]
    commands = [line for line in first_screen if line.startswith("python -m pip install")]
    assert len(commands) == 2
    assert commands[0].endswith('macaron ask "What is the capital of France?"')
    assert commands[1].endswith("python -m pytest")


def test_the_recipe_it_shows_is_one() -> None:
    (recipe,) = re.findall(r"```toml\n(kind = .*?)```", README, re.DOTALL)
    assert parse_recipe(recipe.encode(), "README.md").rollouts.branches == 8


def test_the_data_it_shows_is_read() -> None:
    task, folding, *examples = re.search(r"```json\n(\{\"id\": \"capital-1\".*?)```", README, re.DOTALL)[1].splitlines()
    assert parse_tasks(f"{task}\n{folding}".encode())[1] == ()
    kinds: tuple[ExampleKind, ...] = ("sft", "dpo", "kto")
    for kind, example in zip(kinds, examples, strict=True):
        assert parse_examples(example.encode(), kind)[1] == ()


def test_every_file_and_folder_it_names_exists() -> None:
    tree = README.split("## What is where")[1].split("```")[1]
    parent = Path()
    for line in tree.splitlines():
        match = re.match(r"^(  )?([\w.]+/?)\s", line)
        if match is None:
            continue
        path = Path(match[2]) if match[1] is None else parent / match[2]
        if match[1] is None:
            parent = path
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`((?:assets|packaging|tests|engine)/[\w./]+)`", README):
        assert (ROOT / name).exists(), name
