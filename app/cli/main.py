"""The command `macaron`: its verbs, and how it ends. Each verb imports what it needs when it runs; --help is instant.

Exit codes: 0 done, 1 it failed, 2 it was asked for something impossible, 130 it was stopped.
"""

import sys
from typing import Final

import click

from app import __version__
from app.cli.adapters import adapters
from app.cli.care import backup, doctor, restore, verify
from app.cli.evaluation import evaluate
from app.cli.history import history
from app.cli.interview import interview
from app.cli.jobs import jobs
from app.cli.memory import memory
from app.cli.models import models
from app.cli.servers import servers
from app.cli.serving import key, serve, web
from app.cli.signals import signals
from app.cli.suggestions import suggestions
from app.cli.talk import ask, chat
from app.cli.teaching import teach
from app.cli.tools import tools
from app.cli.training import train
from app.output import OutputFailed, print_error, write_utf8
from engine.errors import AgentError

FAILED: Final = 1
STOPPED: Final = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="macaron")
def cli() -> None:
    """A personal agent on your own computer: one local model, several experts, nothing leaves the machine."""


_TALK: Final = (ask, chat, web, serve, key, tools, servers)
_LEARNING: Final = (models, adapters, train, evaluate, teach, signals)
_CARE: Final = (history, memory, jobs, suggestions, doctor, backup, restore, verify)
for _verb in (*_TALK, *_LEARNING, *_CARE):
    cli.add_command(_verb)
memory.add_command(interview)


def main() -> None:
    """Run one verb; print problem and hint when it fails."""
    write_utf8()
    try:
        code = _run(as_json="--json" in sys.argv[1:])
    except (click.exceptions.Abort, KeyboardInterrupt):
        code = STOPPED
    except BrokenPipeError:
        code = FAILED  # the reader went away; nobody is left to tell
    except OutputFailed as error:
        print_error(error.problem, error.hint, as_json=False)
        code = error.exit_code
    sys.exit(code)


def _run(*, as_json: bool) -> int:
    """The exit code of the verb, or of the error that it ended with."""
    try:
        return cli.main(prog_name="macaron", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        verb = context.command_path if context else "macaron"
        print_error(error.format_message(), f"Run `{verb} --help` to see what it takes.", as_json=as_json)
        return error.exit_code
    except OutputFailed:
        raise
    except AgentError as error:
        print_error(error.problem, error.hint, as_json=as_json)
        return error.exit_code
