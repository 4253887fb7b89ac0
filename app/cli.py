"""The command `macaron`: verbs and options. Each verb imports what it needs when it runs, so that --help is instant.

Exit codes: 0 done, 1 it failed, 2 it was asked for something impossible, 130 it was stopped.
"""

import os
import sys

import click

from app import __version__
from app.output import OutputFailed, print_error, write_utf8
from app.paths import Paths, find_home
from app.text_input import argument_text, expert_label, question
from engine.errors import AgentError

FAILED = 1
STOPPED = 130

_home_option = click.option("--home", metavar="DIR", help="Folder for everything the program keeps.")
_profile_option = click.option("--profile", metavar="P", help="Name or folder of a profile; default: starter.")
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for scripts.")
_expert_option = click.option(
    "--expert", type=expert_label, metavar="L2", help="Ask this expert instead of the one the router chooses."
)
_conversation_option = click.option(
    "--conversation", type=argument_text, metavar="ID", help="Go on with this conversation."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="macaron")
def cli() -> None:
    """A personal agent on your own computer: one local model, several experts, nothing leaves the machine."""


@cli.command()
@click.argument("text", type=argument_text, required=False)
@_json_option
@_expert_option
@_conversation_option
@_profile_option
@_home_option
def ask(
    text: str | None,
    as_json: bool,
    expert: str | None,
    conversation: str | None,
    profile: str | None,
    home: str | None,
) -> int:
    """Ask one question and print the answer.

    Without TEXT, or with "-", the question is read from standard input. A leading "@L2 " pins an expert too.
    """
    asked = question(text, sys.stdin)
    from app.ask import ask_once

    return ask_once(asked, _paths(home), profile=profile, expert=expert, conversation_id=conversation, as_json=as_json)


@cli.command()
@_expert_option
@_conversation_option
@click.option("--continue", "newest", is_flag=True, help="Go on with the newest conversation.")
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of the screens.")
@_profile_option
@_home_option
def chat(
    expert: str | None,
    conversation: str | None,
    newest: bool,
    language: str | None,
    profile: str | None,
    home: str | None,
) -> int:
    """Chat in the terminal. F1 shows the keys; Esc stops an answer; Ctrl+Q quits."""
    from app.chat import run_chat

    return run_chat(
        _paths(home),
        profile=profile,
        expert=expert,
        conversation_id=conversation,
        newest=newest,
        language=language,
        environment=os.environ,
    )


@cli.command()
@_json_option
@_profile_option
@_home_option
def doctor(as_json: bool, profile: str | None, home: str | None) -> int:
    """Check that everything is there, where the model runs and why, and how fast."""
    from app.doctor import run_doctor

    return run_doctor(_paths(home), profile=profile, as_json=as_json)


@cli.group()
def history() -> None:
    """What was said: list, show and search conversations."""


@history.command(name="list")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@_json_option
@_home_option
def history_list(limit: int, as_json: bool, home: str | None) -> int:
    """List conversations, the newest first."""
    from app.history import list_conversations

    return list_conversations(_paths(home), limit, as_json=as_json)


@history.command(name="show")
@click.argument("conversation", type=argument_text)
@_json_option
@_home_option
def history_show(conversation: str, as_json: bool, home: str | None) -> int:
    """Show the branch in use of one conversation."""
    from app.history import show_conversation

    return show_conversation(_paths(home), conversation, as_json=as_json)


@history.command(name="search")
@click.argument("words", type=argument_text, nargs=-1, required=True)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@_json_option
@_home_option
def history_search(words: tuple[str, ...], limit: int, as_json: bool, home: str | None) -> int:
    """Search what was said, in English or Chinese."""
    from app.history import search_history

    return search_history(_paths(home), " ".join(words), limit, as_json=as_json)


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


def _paths(home: str | None) -> Paths:
    return find_home(home, os.environ)
