"""page.json: where the page of a home listens and which process it is. It holds no secret.

A process is known by its number and the moment it began, so that a number given to another program later is not taken
for the page: whoever is taken for it is sent the token of our faces.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
import psutil

from app.files import write_private
from app.gate.secrets import Secrets
from app.paths import Paths

_ANSWER_S = 10.0


@dataclass(frozen=True, slots=True)
class PageAddress:
    pid: int
    started_at: float
    """When the process began, as the system tells it, in seconds."""
    port: int
    """On 127.0.0.1."""


def own_address(port: int) -> PageAddress:
    """The address of a page in this process."""
    return PageAddress(os.getpid(), psutil.Process().create_time(), port)


def write_page(paths: Paths, address: PageAddress) -> None:
    """Readable by the owner only, and never half-written."""
    write_private(_file(paths), [json.dumps(asdict(address)).encode()], overwrite=True)


def read_page(paths: Paths) -> PageAddress | None:
    """None when there is none, it cannot be read, or its process is gone."""
    address = _parse(_file(paths))
    return address if address is not None and _lives(address) else None


def remove_page(paths: Paths, address: PageAddress) -> None:
    """If it is still ours."""
    if _parse(_file(paths)) == address:
        _file(paths).unlink(missing_ok=True)


def ask_login(address: PageAddress, paths: Paths) -> str | None:
    """An address that logs a browser in to the page that runs, once; None when the page does not answer.

    Raises: AgentError when the token of our faces cannot be read.
    """
    token = Secrets(paths).face_token.create()
    try:
        answer = httpx.post(
            f"http://127.0.0.1:{address.port}/ticket",
            json={},
            headers={"Authorization": f"Bearer {token}"},
            timeout=_ANSWER_S,
            trust_env=False,
        )
        url = answer.json().get("url") if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        return None
    return url if isinstance(url, str) else None


def _file(paths: Paths) -> Path:
    return paths.page.with_suffix(".json")


def _lives(address: PageAddress) -> bool:
    try:
        return bool(psutil.Process(address.pid).create_time() == address.started_at)
    except psutil.Error:
        return False


def _parse(file: Path) -> PageAddress | None:
    try:
        address = PageAddress(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    right = type(address.pid) is int and type(address.started_at) is float and type(address.port) is int
    return address if right and address.pid > 0 and 0 < address.port < 65536 else None
