"""The verbs that talk to the agent: ask and chat."""

import os
import sys

import click

from app.cli.options import (
    conversation_option,
    expert_option,
    home_option,
    json_option,
    paths_of,
    profile_option,
)
from app.text_input import argument_text, question
from engine.errors import UsageProblem

off_record_option = click.option(
    "--off-record", is_flag=True, help="Keep nothing of this conversation: no history, no memory, no learning."
)


@click.command()
@click.argument("text", type=argument_text, required=False)
@click.option("--alone", is_flag=True, help="Run the agent in this program, without a host; nothing goes on running.")
@off_record_option
@json_option
@expert_option
@conversation_option
@profile_option
@home_option
def ask(
    text: str | None,
    alone: bool,
    off_record: bool,
    as_json: bool,
    expert: str | None,
    conversation: str | None,
    profile: str | None,
    home: str | None,
) -> int:
    """Ask one question and print the answer.

    Without TEXT, or with "-", the question is read from standard input. A leading "@L2 " pins an expert too.
    """
    _check_off_record(conversation, off_record=off_record)
    asked = question(text, sys.stdin)
    from app.ask import ask_once

    return ask_once(
        asked,
        paths_of(home),
        profile=profile,
        expert=expert,
        conversation_id=conversation,
        alone=alone,
        off_record=off_record,
        as_json=as_json,
    )


@click.command()
@expert_option
@conversation_option
@click.option("--continue", "newest", is_flag=True, help="Go on with the newest conversation.")
@off_record_option
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of the screens.")
@profile_option
@home_option
def chat(
    expert: str | None,
    conversation: str | None,
    newest: bool,
    off_record: bool,
    language: str | None,
    profile: str | None,
    home: str | None,
) -> int:
    """Chat in the terminal. F1 shows the keys; Esc stops an answer; Ctrl+Q quits."""
    _check_off_record(conversation or newest, off_record=off_record)
    from app.chat import run_chat

    return run_chat(
        paths_of(home),
        profile=profile,
        expert=expert,
        conversation_id=conversation,
        newest=newest,
        off_record=off_record,
        language=language,
        environment=os.environ,
    )


def _check_off_record(conversation: object, *, off_record: bool) -> None:
    """Raises: UsageProblem."""
    if conversation and off_record:
        raise UsageProblem("A conversation that is kept cannot go off the record.", "Begin a new one for that.")
