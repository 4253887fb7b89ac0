"""The verbs that keep something running: serve, web and key."""

import click

from app.cli.options import home_option, json_option, paths_of, profile_option
from app.output import print_json, print_text


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port on 127.0.0.1; default: the setting `port`.")
@click.option("--lan", metavar="ADDRESS:PORT", help="Let other machines use the API too, with the API key.")
@click.option("--stop", "is_stop", is_flag=True, help="End the host that runs for this home.")
@click.option("--status", "is_status", is_flag=True, help="Say what the host that runs is doing.")
@click.option("--background", is_flag=True, hidden=True)
@json_option
@profile_option
@home_option
def serve(
    port: int | None,
    lan: str | None,
    is_stop: bool,
    is_status: bool,
    background: bool,
    as_json: bool,
    profile: str | None,
    home: str | None,
) -> int:
    """Run the host: the agent for all faces, and the API that OpenAI's clients speak. Ctrl+C ends it.

    The chat, the page and ask start one by themselves when none runs; it ends when nobody needs it.
    """
    paths = paths_of(home)
    if is_stop or is_status:
        from app.host_control import show_status, stop_host

        return (stop_host if is_stop else show_status)(paths, as_json=as_json)
    from app.serving import serve as run_serve

    return run_serve(paths, profile=profile, port=port, lan=lan, background=background, as_json=as_json)


@click.command()
@click.argument("action", type=click.Choice(["show", "rotate"]), default="show")
@json_option
@home_option
def key(action: str, as_json: bool, home: str | None) -> int:
    """Show the key with which other programs may use the API, or make new secrets.

    Rotating ends every stream and every login of the page.
    """
    from app.serving import show_key

    value = show_key(paths_of(home), rotate=action == "rotate")
    if as_json:
        print_json({"api_key": value})
    else:
        print_text(value)
    return 0


@click.command()
@click.option("--no-browser", is_flag=True, help="Do not open a browser; print the address to open.")
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of the page.")
@profile_option
@home_option
def web(no_browser: bool, language: str | None, profile: str | None, home: str | None) -> int:
    """Chat in the browser. Ctrl+C ends the page; the host goes on."""
    from app.web import run_page

    return run_page(paths_of(home), profile=profile, language=language, opens_browser=not no_browser)
