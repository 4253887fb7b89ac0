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


@click.command()
@click.argument("text", type=argument_text, required=False)
@click.option("--alone", is_flag=True, help="Run the agent in this program, without a host; nothing goes on running.")
@json_option
@expert_option
@conversation_option
@profile_option
@home_option
def ask(
    text: str | None,
    alone: bool,
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

    return ask_once(
        asked,
        paths_of(home),
        profile=profile,
        expert=expert,
        conversation_id=conversation,
        alone=alone,
        as_json=as_json,
    )


@click.command()
@expert_option
@conversation_option
@click.option("--continue", "newest", is_flag=True, help="Go on with the newest conversation.")
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of the screens.")
@profile_option
@home_option
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
        paths_of(home),
        profile=profile,
        expert=expert,
        conversation_id=conversation,
        newest=newest,
        language=language,
        environment=os.environ,
    )
