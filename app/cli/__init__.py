"""The command line. `main` is the program."""

from app.cli.main import cli, main

__all__ = ["cli", "main"]
