"""The page as it is served, on a real port of this machine and behind its gate, over Clients that a test prepares."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.gate.secrets import Secrets
from app.gate.serving import Server, listen, port_of
from app.gate.tickets import Tickets, login_url
from app.paths import Paths, make_home
from app.web import page_app
from ui.client import Client
from ui.teaching_work import Teaching


@dataclass(frozen=True, slots=True)
class RunningPage:
    port: int
    token: str
    """What our own faces show to the gate."""
    tickets: Tickets
    home: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def login_url(self) -> str:
        """Logs one browser in, once."""
        return login_url(self.port, self.tickets.mint())

    @property
    def face(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}


@contextmanager
def page_running(connect: Callable[[], Client], home: Path, teaching: Teaching | None = None) -> Iterator[RunningPage]:
    """The page of `home` while the block runs; the process works in an empty folder, as `macaron web` does."""
    paths = Paths(home)
    make_home(paths)
    files, empty = paths.page / "files", paths.page / "empty"
    for folder in (files, empty):
        folder.mkdir(parents=True, exist_ok=True)
    secrets, tickets = Secrets(paths), Tickets()
    token = secrets.face_token.create()
    listener = listen(0)
    port = port_of(listener)
    before = Path.cwd()
    os.chdir(empty)
    try:
        # On a thread of its own, because a browser that is open has an event loop running in this one.
        with ThreadPoolExecutor(1) as pool:
            app = pool.submit(page_app, connect, port, secrets, tickets, folder=files, teaching=teaching).result()
        with Server(app, [listener]).running():
            yield RunningPage(port, token, tickets, home)
    finally:
        os.chdir(before)
