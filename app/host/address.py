"""host.json: where the host of a home listens and which process it is. It holds no secret, only where one lies."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from app.files import write_private
from app.paths import Paths


@dataclass(frozen=True, slots=True)
class HostAddress:
    pid: int
    port: int
    """On 127.0.0.1."""
    instance: str
    """Another one for every start: numbers of events count from 0 within it."""
    version: str
    token_file: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def write_address(paths: Paths, address: HostAddress) -> None:
    """Readable by the owner only, and never half-written."""
    write_private(paths.host, [json.dumps(asdict(address)).encode()], overwrite=True)


def read_address(paths: Paths) -> HostAddress | None:
    """None when there is none, it cannot be read, or its process is gone: a host that was killed leaves its file."""
    address = _parse(paths.host)
    return address if address is not None and psutil.pid_exists(address.pid) else None


def remove_address(paths: Paths, address: HostAddress) -> None:
    """If it is still ours."""
    if _parse(paths.host) == address:
        paths.host.unlink(missing_ok=True)


def _parse(file: Path) -> HostAddress | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        address = HostAddress(**found)
    except (OSError, ValueError, TypeError):
        return None
    right = isinstance(address.pid, int) and isinstance(address.port, int) and 0 < address.port < 65536
    return address if right and all(isinstance(text, str) for text in (address.instance, address.token_file)) else None
