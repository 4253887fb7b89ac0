"""`macaron servers`: the MCP servers of harness.toml; what starts and what is offered is decided here, by a person."""

from collections.abc import Callable, Mapping
from typing import Any

from app.credentials import remove_server_secret, set_server_secret
from app.harness.opening import open_tools
from app.models.wording import table
from app.output import print_json, print_note, print_text
from app.paths import Paths
from app.settings import language_of
from engine.errors import UnknownName, UsageProblem
from engine.harness.config import secret_names
from engine.harness.mcp import Listing, ServerStatus
from ui.inert import display_line, display_text
from ui.strings import say, say_count
from ui.tool_shelf import ToolShelf

Ask = Callable[[str], bool]


def run_list(paths: Paths, environment: Mapping[str, str], *, as_json: bool) -> int:
    with open_tools(paths) as shelf:
        servers = shelf.servers()
    if as_json:
        print_json({"servers": [_facts(one) for one in servers]})
        return 0
    language = language_of(paths.settings, environment)
    if not servers:
        print_text(say("servers.none", language))
        return 0
    heads = [say(f"servers.list.{head}", language) for head in ("name", "state", "tools", "what")]
    for line in table([heads, *(_row(one, language) for one in servers)]):
        print_text(line.rstrip())
    return 0


def run_show(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> int:
    """Everything that is approved. Raises: UnknownName."""
    with open_tools(paths) as shelf:
        server = _named(shelf, name)
    if as_json:
        print_json(_facts(server))
        return 0
    language = language_of(paths.settings, environment)
    print_text(f"{display_line(name)} · {say(f'servers.state.{_state(server)}', language)}")
    if server.health.problem:
        print_text(display_text(server.health.problem))
    print_text(display_text(server.description))
    if server.health.listing is not None:
        print_text("")
        print_text(_tools_text(server.health.listing, language))
    if server.printed:
        print_text("")
        print_text(say("servers.printed", language))
        print_text(display_text(server.printed))
    return 0


def run_approve(
    paths: Paths, environment: Mapping[str, str], name: str, entry: str, tools: str, ask: Ask | None, *, as_json: bool
) -> int:
    """Start the server and offer its tools, as far as the caller agrees.

    `entry` and `tools` are the fingerprints of what the caller has read, as `list --json` tells them; what is missing
    of them is shown and asked for by `ask`. Raises: UnknownName, UsageProblem, ServerFailed.
    """
    language = language_of(paths.settings, environment)
    with open_tools(paths) as shelf:
        server = _named(shelf, name)
        if not server.entry_fingerprint:
            raise UsageProblem(f"{name} cannot be used: {server.health.problem}", "Correct it in harness.toml.")
        if not server.may_start:
            if not entry:
                _show(display_text(server.description), as_json=as_json)
                question = say("servers.ask.start", language, name=display_line(name))
                if not _asked(ask, question, "--entry", "macaron servers list --json"):
                    print_note(say("servers.not", language))
                    return 1
            shelf.approve_server(name, entry or server.entry_fingerprint)
        if not as_json:
            print_note(say("servers.starting", language, name=display_line(name)))
        server = shelf.start_server(name)
        listing = server.health.listing
        if listing is not None and not server.may_offer:
            if not tools:
                _show(_tools_text(listing, language), as_json=as_json)
                question = say("servers.ask.tools", language, name=display_line(name))
                if not _asked(ask, question, "--tools", f"macaron servers restart {name} --json"):
                    print_note(say("servers.not", language))
                    return 1
            shelf.approve_server_tools(name, tools or listing.fingerprint)
        server = _named(shelf, name)
    if as_json:
        print_json(_facts(server))
    else:
        print_text(say("servers.approved", language, name=display_line(name)))
    return 0


def run_revoke(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> int:
    """Raises: UnknownName."""
    with open_tools(paths) as shelf:
        shelf.revoke_server(name)
        server = _named(shelf, name)
    if as_json:
        print_json(_facts(server))
    else:
        print_text(say("servers.revoked", language_of(paths.settings, environment), name=display_line(name)))
    return 0


def run_restart(paths: Paths, environment: Mapping[str, str], name: str, *, as_json: bool) -> int:
    """Raises: UnknownName, UsageProblem, ServerFailed."""
    with open_tools(paths) as shelf:
        server = shelf.start_server(name)
    if as_json:
        print_json(_facts(server))
    else:
        language = language_of(paths.settings, environment)
        print_text(f"{display_line(name)} · {say(f'servers.state.{_state(server)}', language)}")
    return 0


def run_secret_set(paths: Paths, environment: Mapping[str, str], name: str, read: Callable[[str], str]) -> int:
    """`read` asks for the secret without showing it. Raises: NoKeyring, UsageProblem."""
    language = language_of(paths.settings, environment)
    if not _can_be_named(name):
        raise UsageProblem(
            f"`{name:.80}` cannot be the name of a secret.", "Use letters, digits, dots, dashes and slashes."
        )
    set_server_secret(name, read(say("servers.secret.ask", language, name=display_line(name))))
    print_text(say("servers.secret.set", language, name=display_line(name)))
    return 0


def run_secret_remove(paths: Paths, environment: Mapping[str, str], name: str) -> int:
    """Raises: NoKeyring."""
    key = "servers.secret.removed" if remove_server_secret(name) else "servers.secret.none"
    print_text(say(key, language_of(paths.settings, environment), name=display_line(name)))
    return 0


def _can_be_named(name: str) -> bool:
    try:
        return [one.name for one in secret_names("${keyring:" + name + "}")] == [name]
    except ValueError:
        return False


def _named(shelf: ToolShelf, name: str) -> ServerStatus:
    """Raises: UnknownName."""
    servers = shelf.servers()
    found = next((one for one in servers if one.name == name), None)
    if found is None:
        known = ", ".join(one.name for one in servers) or "none"
        raise UnknownName(f"There is no MCP server `{name:.80}`.", f"In harness.toml: {known}.")
    return found


def _asked(ask: Ask | None, question: str, option: str, command: str) -> bool:
    """Raises: UsageProblem where nobody can be asked."""
    if ask is None:
        raise UsageProblem(
            "What a server may do is decided by a person who has read it.",
            f"Read it with `{command}` and give {option} with the fingerprint that stands there.",
        )
    return ask(question)


def _show(text: str, *, as_json: bool) -> None:
    if not as_json:
        print_text(text)


def _state(server: ServerStatus) -> str:
    """What a person has to know first."""
    if not server.entry_fingerprint:
        return "refused"
    if not server.may_start:
        return "waits"
    if server.health.state == "running" and not server.may_offer:
        return "tools_wait"
    return "not_running" if server.health.state == "waiting" else server.health.state


def _row(server: ServerStatus, language: str) -> list[str]:
    listing = server.health.listing
    count = "" if listing is None else str(len(listing.tools))
    what = server.health.problem or " ".join(server.description.split())
    return [display_line(server.name), say(f"servers.state.{_state(server)}", language), count, display_line(what, 60)]


def _tools_text(listing: Listing, language: str) -> str:
    lines = [say_count("servers.tools", language, len(listing.tools))]
    for tool in listing.tools:
        hidden = say_count("servers.hidden", language, tool.hidden_count) if tool.hidden_count else ""
        lines.append(f"- {display_line(tool.own_name)} {hidden}".rstrip())
        lines += [f"  {line}" for line in display_text(tool.spec.tool.description).splitlines()]
    lines += [f"- {display_line(one.name)}: {display_line(one.reason)}" for one in listing.refused]
    return "\n".join(lines)


def _facts(server: ServerStatus) -> dict[str, Any]:
    health, listing = server.health, server.health.listing
    return {
        "name": server.name,
        "what": server.description,
        "state": _state(server),
        "problem": health.problem,
        "entry": server.entry_fingerprint,
        "may_start": server.may_start,
        "tools": "" if listing is None else listing.fingerprint,
        "may_offer": server.may_offer,
        "offered": [] if listing is None else [_tool_facts(tool.own_name, tool.spec.tool) for tool in listing.tools],
        "refused": [] if listing is None else [{"name": one.name, "reason": one.reason} for one in listing.refused],
    }


def _tool_facts(own_name: str, tool: Any) -> dict[str, Any]:
    return {
        "name": own_name,
        "offered_as": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
