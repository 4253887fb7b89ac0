"""`macaron web`: the page in the browser, in a process of its own, behind the gate.

One page per home: a second call asks the one that runs for a login and opens a browser with it. Knows what is served
and to whom; what the page shows is `ui.browser`'s affair.
"""

import asyncio
import os
import shutil
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final
from weakref import WeakSet

from fastapi import FastAPI
from filelock import FileLock, Timeout
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.gate.gate import Gate
from app.gate.login_page import preferred_language
from app.gate.policy import Policy
from app.gate.secrets import Secrets
from app.gate.serving import Server, listen, port_of
from app.gate.tickets import LOGIN_PATH, Logins, Tickets, login_routes, login_url, page_access
from app.models.listing import first_start_note
from app.output import print_note, print_text
from app.page_address import ask_login, own_address, read_page, remove_page, write_page
from app.paths import Paths, make_home
from app.remote_client import RemoteClient, connect
from app.settings import load_settings, screen_language
from app.teaching.spawning import SpawningTeacher, profile_in_use
from engine.errors import AgentError, HomeBusy
from ui.client import Client
from ui.strings import LANGUAGES, say
from ui.teaching_work import Teaching

_START_S: Final = 60.0
_END_LESSON_S: Final = 2.0
"""How long a lesson may hold the end of the page up; its own process ends in order without us."""


def run_page(paths: Paths, *, profile: str | None, language: str | None, opens_browser: bool) -> int:
    """Blocks until Ctrl+C, or returns at once when the page of this home runs already. Exit code 0.

    Raises: HomeBusy, UsageProblem for a setting that is wrong, and whatever keeps a host from starting.
    """
    make_home(paths)
    settings = load_settings(paths.settings)
    spoken = language or screen_language(settings, os.environ)
    with ExitStack() as stack:
        starting = stack.enter_context(_only_one(paths))
        connect_tab = stack.enter_context(_clients(paths, profile, first_start_note(paths, spoken, os.environ)))
        running = read_page(paths)
        if running is not None and (address := ask_login(running, paths)) is not None:
            print_note(say("web.running", spoken))
            _show(running.port, address, spoken, opens_browser=opens_browser)
            return 0
        secrets, tickets = Secrets(paths), Tickets()
        secrets.face_token.create()
        listener = listen(settings.page_port)
        stack.callback(listener.close)
        port = port_of(listener)
        gate = page_app(
            connect_tab,
            port,
            secrets,
            tickets,
            language=language or settings.language,
            theme=settings.theme,
            folder=_own_folder(paths),
            teaching=stack.enter_context(_teaching(paths, profile, connect_tab())),
        )
        page = own_address(port)
        write_page(paths, page)
        stack.callback(remove_page, paths, page)
        starting.release()
        if settings.page_port not in (0, port):
            print_note(say("web.port_taken", spoken, wanted=settings.page_port, port=port))
        _show(port, login_url(port, tickets.mint()), spoken, opens_browser=opens_browser)
        print_text(say("web.how", spoken))
        Server(gate, [listener]).run()
    return 0


def page_app(
    connect_tab: Callable[[], Client],
    port: int,
    secrets: Secrets,
    tickets: Tickets,
    *,
    language: str = "",
    theme: str = "",
    folder: Path,
    teaching: Teaching | None = None,
) -> Gate:
    """Everything the page's process answers on `port`, behind its gate.

    `language` "" follows the browser; both are always there, each under its own name. `folder` is what Gradio may
    write to; the working folder of the process should be empty, and is for `run_page` to choose. Without `teaching`
    nothing can be taught.
    """
    os.environ.update(quiet_environment(folder))
    from ui.browser.page import build_page  # Gradio reads its environment when it is imported
    from ui.browser.serving import MAX_BODY_BYTES, Shield, mount_page

    async def front_door(request: Request) -> Response:
        chosen = language or preferred_language(request.headers.get("accept-language", ""))
        return RedirectResponse(f"/{chosen}/", 307)

    logins = Logins(port, epoch=lambda: secrets.face_token.epoch)
    routes = [Route("/", front_door, methods=["GET"]), *login_routes(tickets, logins, port, language)]
    inner = FastAPI(routes=list(routes), docs_url=None, redoc_url=None, openapi_url=None)

    async def mount_all() -> None:
        for name in LANGUAGES:
            mount_page(
                inner, build_page(connect_tab, language=name, theme=theme, teaching=teaching), f"/{name}", folder
            )

    asyncio.run(mount_all())
    mounts = tuple(f"/{name}" for name in LANGUAGES)
    policy = Policy(
        port,
        body_bytes=MAX_BODY_BYTES,
        static_paths=[f"{mount}/{kept}/" for mount in mounts for kept in ("assets", "static")],
        login_path=LOGIN_PATH,
    )
    return Gate(Shield(inner, mounts), policy, page_access(secrets, logins), public={LOGIN_PATH})


def quiet_environment(folder: Path) -> dict[str, str]:
    """What the environment must hold before Gradio is imported: no word to anyone, and one folder to write to."""
    return {
        "GRADIO_ANALYTICS_ENABLED": "False",
        "GRADIO_TEMP_DIR": str(folder),
        "GRADIO_SHARE": "False",
        "GRADIO_SSR_MODE": "False",
        "GRADIO_MCP_SERVER": "False",
        "GRADIO_RUN_HISTORY": "False",
        # It would keep figures of ten thousand clicks and sum them up after each; nobody can ask for them.
        "GRADIO_ANALYTICS_MAX_EVENTS": "1",
        "GRADIO_ANALYTICS_CACHE_FREQUENCY": "1000000000",
    }


@contextmanager
def _only_one(paths: Paths) -> Iterator[FileLock]:
    """Two that start at once do so one after the other, so that the second finds the first."""
    lock = FileLock(paths.page.with_suffix(".lock"), mode=0o600)
    try:
        lock.acquire(timeout=_START_S)
    except Timeout as error:
        raise HomeBusy(
            f"Another program has been starting the page of {paths.home} for too long.", "Try again in a moment."
        ) from error
    try:
        yield lock
    finally:
        lock.release()


@contextmanager
def _clients(paths: Paths, profile: str | None, note: str) -> Iterator[Callable[[], Client]]:
    """What gives each tab its client. The first is made now, so that a host runs, or the reason why not is told.

    It also keeps the host from ending while the page is there. `note` is shown to who has only just begun.
    """
    clients: WeakSet[RemoteClient] = WeakSet()

    def connect_tab() -> Client:
        client = connect(paths, notices=[note] if note else [], attended=True)
        clients.add(client)
        return client

    first = connect(paths, profile=profile, attended=True)
    first.watch()
    try:
        yield connect_tab
    finally:
        for client in [first, *clients]:
            client.close()


@contextmanager
def _teaching(paths: Paths, profile: str | None, client: Client) -> Iterator[Teaching]:
    """The lessons of all tabs; the one that runs ends with the page. `client` knows the profile in use."""
    teaching = Teaching(SpawningTeacher(paths, os.environ, profile_in_use(client, paths, profile)))
    try:
        yield teaching
    finally:
        teaching.close(_END_LESSON_S)


def _own_folder(paths: Paths) -> Path:
    """An empty folder for Gradio's files. The process moves into another, since Gradio may serve its working folder.

    Raises: AgentError.
    """
    try:
        shutil.rmtree(paths.page, ignore_errors=True)
        paths.page.mkdir(mode=0o700, exist_ok=True)
        files, empty = paths.page / "files", paths.page / "empty"
        for folder in (files, empty):
            folder.mkdir(mode=0o700)
        os.chdir(empty)
    except OSError as error:
        raise AgentError(
            f"The folder {paths.page} cannot be made: {error.strerror}.", "Remove it, or choose another home."
        ) from error
    return files


def _show(port: int, address: str, language: str, *, opens_browser: bool) -> None:
    """Open `address`, which logs a browser in once, or say how. Without a browser the address is for the user."""
    if not opens_browser:
        print_text(say("web.ticket", language, address=address))
        return
    print_text(say("web.listening", language, address=f"http://127.0.0.1:{port}/"))
    # Starting a browser may take long, or forever where it runs in the terminal.
    threading.Thread(target=webbrowser.open, args=(address,), name="browser", daemon=True).start()
