"""The verb history: list, show, search, rename, forget, export and import what was said."""

import sys
from typing import Final, Literal

import click

from app.cli.options import home_option, json_option, paths_of
from app.output import is_terminal
from app.text_input import argument_text, question
from engine.errors import UsageProblem

_NO_SPAN: Final = ("No words were given.", 'Give them: --span "the words"; or on standard input, with --span -.')


@click.group()
def history() -> None:
    """What was said: list, show, search, rename, forget, export and import conversations."""


@history.command(name="list")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@json_option
@home_option
def history_list(limit: int, as_json: bool, home: str | None) -> int:
    """List conversations, the newest first."""
    from app.history import list_conversations

    return list_conversations(paths_of(home), limit, as_json=as_json)


@history.command(name="show")
@click.argument("conversation", type=argument_text)
@click.option("--tree", is_flag=True, help="One line for each turn of all branches; * marks the branch in use.")
@json_option
@home_option
def history_show(conversation: str, tree: bool, as_json: bool, home: str | None) -> int:
    """Show the branch in use of one conversation, or the tree of its turns."""
    from app.history import show_conversation

    return show_conversation(paths_of(home), conversation, tree=tree, as_json=as_json)


@history.command(name="search")
@click.argument("words", type=argument_text, nargs=-1, required=True)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@json_option
@home_option
def history_search(words: tuple[str, ...], limit: int, as_json: bool, home: str | None) -> int:
    """Search what was said, in English or Chinese."""
    from app.history import search_history

    return search_history(paths_of(home), " ".join(words), limit, as_json=as_json)


@history.command(name="rename")
@click.argument("conversation", type=argument_text)
@click.argument("title", type=argument_text)
@json_option
@home_option
def history_rename(conversation: str, title: str, as_json: bool, home: str | None) -> int:
    """Give a conversation another title."""
    from app.history import rename_conversation

    return rename_conversation(paths_of(home), conversation, title, as_json=as_json)


@history.command(name="forget")
@click.argument("turn_or_conversation", type=argument_text, required=False)
@click.option("--span", type=argument_text, metavar="TEXT", help="Only these words of it; - reads standard input.")
@click.option("--everywhere", is_flag=True, help="Those words wherever they are: in notes, dates, jobs, tools too.")
@click.option("--preview", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@home_option
def history_forget(
    turn_or_conversation: str | None,
    span: str | None,
    everywhere: bool,
    preview: bool,
    yes: bool,
    as_json: bool,
    home: str | None,
) -> int:
    """Forget a turn or a conversation, or words of it, for good: in history, search, memories, summaries, in what
    experts read of it, in what was learned from it. Adapters that were made from it answer no more.

    Backups and exports stay; they are listed with the command that removes them.
    """
    from app.forgetting.commands import run_forget

    words = None if span is None else question(span, sys.stdin, _NO_SPAN)
    asks = not yes and not preview
    if asks and (as_json or not is_terminal(sys.stdin)):
        raise UsageProblem("Nobody is there to be asked.", "Add --yes to do it without a question, or --preview.")
    return run_forget(
        paths_of(home),
        turn_or_conversation or "",
        words,
        is_everywhere=everywhere,
        only_preview=preview,
        ask=click.confirm if asks else None,
        as_json=as_json,
    )


@history.command(name="export")
@click.argument("conversations", type=argument_text, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Export every conversation.")
@click.option("--format", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
@click.option("--output", metavar="PATH", help="File, or folder (ending in /) for a file each.")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@json_option
@home_option
def history_export(
    conversations: tuple[str, ...],
    everything: bool,
    format: Literal["markdown", "json"],
    output: str | None,
    force: bool,
    as_json: bool,
    home: str | None,
) -> int:
    """Write conversations as Markdown to read, or as JSON that can be imported.

    Without --output they go to standard output; with --json then always as JSON, one conversation a line.
    """
    from app.exporting import export_history

    return export_history(
        paths_of(home),
        conversations,
        everything=everything,
        format=format,
        output=output,
        force=force,
        as_json=as_json,
    )


@history.command(name="import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--propose-memories", is_flag=True, help="Let what you said of yourself there wait for your review.")
@json_option
@home_option
def history_import(files: tuple[str, ...], propose_memories: bool, as_json: bool, home: str | None) -> int:
    """Add conversations from JSON that was exported, a .jsonl with one a line, or a .zip of such files; or from an
    export of ChatGPT: its .zip, the folder with what was in it, or its conversations.json.

    What is here already stays as it is; of ChatGPT's conversations what is new is added. What comes in counts as
    imported, never as typed: nothing of it is remembered. With --propose-memories what you said of yourself is put
    before you, and remembered once you have said so.
    """
    from app.importing import import_history

    return import_history(paths_of(home), files, propose_memories=propose_memories, as_json=as_json)
