"""llama-server as the other side of a comparison: built from the sources of the installed binding, and run as fairly as
it can be.

The source tree lies inside the sdist of llama-cpp-python, so both sides are the same llama.cpp, compiled the same way.
The build takes minutes and is kept. `python -m tests.bench.llama_server` only builds. Measures nothing.
"""

import importlib.metadata
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import httpx
import platformdirs

from engine.runtime.protocol import LoadPlan
from tests.bench.report import progress

_PACKAGE: Final = "llama-cpp-python"
_START_S: Final = 120.0
_END_S: Final = 10.0
_NOT_KEPT: Final = httpx.Limits(max_keepalive_connections=0)
"""After a stream the server sometimes closes the connection just when the next request is sent on it. A new one costs a
fifth of a millisecond."""
_BUILD_FLAGS: Final = (
    # The binding's own build has no more than these: Release, for this very processor, with OpenMP.
    "-DCMAKE_BUILD_TYPE=Release",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
)


class CannotBuild(Exception):
    """There is no llama-server to compare with; the message says why."""


def version() -> str:
    """Of the installed binding, which is also that of the server."""
    return importlib.metadata.version(_PACKAGE)


def cache_folder() -> Path:
    """`MACARON_BENCH_CACHE`, or a folder in the user's cache."""
    chosen = os.environ.get("MACARON_BENCH_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("macaron-tall")) / "bench"


def server_binary() -> Path:
    """The built server, from the cache or from nothing.

    Raises: CannotBuild.
    """
    folder = cache_folder() / f"llama-server-{version()}"
    binary = folder / "build" / "bin" / ("llama-server.exe" if sys.platform == "win32" else "llama-server")
    if not binary.exists():
        if shutil.which("cmake") is None:
            raise CannotBuild("llama-server cannot be built: there is no cmake on the path.")
        progress(f"building llama-server {version()}; this takes some minutes, once")
        folder.mkdir(parents=True, exist_ok=True)
        _build(_unpack(_download(folder), folder) / "vendor" / "llama.cpp", folder / "build")
    return binary


def _download(folder: Path) -> Path:
    exact = f"{_PACKAGE}=={version()}"
    _run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", _PACKAGE, "-d", str(folder), exact])
    (archive,) = folder.glob("llama_cpp_python-*.tar.gz")
    return archive


def _unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def _build(source: Path, build: Path) -> None:
    _run(["cmake", "-S", str(source), "-B", str(build), *_BUILD_FLAGS])
    _run(["cmake", "--build", str(build), "--config", "Release", "--target", "llama-server", "-j"])


def _run(command: Sequence[str]) -> None:
    """Raises: CannotBuild with the end of what the command said."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        last = " ".join(done.stdout.strip().splitlines()[-3:])
        raise CannotBuild(f"llama-server cannot be built: `{' '.join(command[:4])} …` failed: {last}")


@contextmanager
def running(plan: LoadPlan, adapters: Sequence[Path]) -> Iterator[tuple[httpx.Client, int]]:
    """A server with the base, pool, batches and threads of `plan`: (client, process id).

    It has one slot per adapter and one more, for the bare base. Its prompt cache in host memory is off, since that
    mixes up the states of different adapters; with a slot pinned per adapter it is not missed.

    Raises: CannotBuild.
    """
    binary, port = server_binary(), _free_port()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [str(binary), *_options(plan, adapters, port)],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},
        )
        try:
            # No proxy of the environment between two local processes.
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}", timeout=600, limits=_NOT_KEPT, trust_env=False
            ) as client:
                _wait_until_ready(client, process, said)
                yield client, process.pid
        finally:
            _end(process)


def _options(plan: LoadPlan, adapters: Sequence[Path], port: int) -> list[str]:
    named = {
        "--model": plan.base,
        "--ctx-size": plan.pool_tokens,
        "--batch-size": plan.batch_tokens,
        "--ubatch-size": plan.micro_batch_tokens,
        "--threads": plan.threads,
        "--threads-batch": plan.threads,
        "--cache-type-k": plan.kv_type,
        "--cache-type-v": plan.kv_type,
        "--parallel": len(adapters) + 1,
        "--cache-ram": 0,
        "--lora": ",".join(map(str, adapters)),
        "--host": "127.0.0.1",
        "--port": port,
        "--log-verbosity": 1,
    }
    flags = ["--kv-unified", "--lora-init-without-apply", "--no-cache-idle-slots", "--no-slots", "--no-ui", "--offline"]
    return [*flags, *(str(word) for pair in named.items() for word in pair)]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(client: httpx.Client, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if client.get("/health").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass  # it does not listen yet
        time.sleep(0.1)
    said.seek(0)
    last = said.read().decode("utf-8", "replace").strip().splitlines()[-3:]
    raise CannotBuild(f"llama-server did not start: {' '.join(last) or 'it said nothing'}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    try:
        print(server_binary())
    except CannotBuild as problem:
        sys.exit(str(problem))
