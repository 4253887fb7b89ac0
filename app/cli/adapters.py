"""The verb adapters: bring in adapters of other programs."""

import os
from pathlib import Path
from typing import Literal

import click

from app.cli.options import home_option, json_option, paths_of, profile_option


@click.group()
def adapters() -> None:
    """Adapters: bring in LoRA adapters that were trained elsewhere."""


@adapters.command(name="import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--type",
    "data_type",
    default="f16",
    show_default=True,
    type=click.Choice(["f16", "q8_0", "f32"]),
    help="How weights of a PEFT adapter are stored; q8_0 takes half the room of f16.",
)
@json_option
@profile_option
@home_option
def adapters_import(
    path: Path, data_type: Literal["f16", "q8_0", "f32"], as_json: bool, profile: str | None, home: str | None
) -> int:
    """Check that the adapter PATH fits the base of the profile, and keep it in the home.

    PATH is a folder that PEFT saved, which is converted, or a GGUF adapter, which is copied as it is.
    """
    from app.adapters import run_import

    return run_import(paths_of(home), os.environ, path, profile=profile, data_type=data_type, as_json=as_json)
