"""The host's process from start to end: lock, store, listener, address, and everything closed again in order.

`macaron serve` runs it in the foreground; a face starts it in the background, where it tells in one line on standard
output how its start went.
"""

import json
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

import app
from app.gate.gate import Gate
from app.gate.lan import lan_listener
from app.gate.policy import Policy
from app.gate.secrets import Secrets
from app.gate.serving import Server, listen, port_of, stopped_by_signals
from app.host.address import HostAddress, remove_address, write_address
from app.host.lifetime import Lifetime
from app.host.routes import error_response, native_router
from app.host.service import Service
from app.jobs.hosting import hosted_jobs
from app.openai_api import openai_router
from app.opening import open_store
from app.output import print_error
from app.paths import Paths
from app.settings import Settings, load_settings
from engine.errors import AgentError, UsageProblem
from engine.runtime import wire
from ui.job_shelf import JobShelf

_BODY_BYTES: Final = {
    "/api/turns": 16 << 20,
    "/api/call/import_conversation": 128 << 20,
    "/api/call/merge_conversation": 128 << 20,
}
"""Bodies that may be larger than others: a message with its files, and a conversation of 64 MB written as JSON."""

Report = Callable[[HostAddress, Service], None]
"""What to do once the host listens."""


@dataclass(frozen=True, slots=True)
class HostOptions:
    """How this host was started. `port`: None takes the one of the settings, or a free one where that is taken."""

    profile: str | None = None
    port: int | None = None
    lan: tuple[str, int] | None = None
    """Another address and port on which other machines may use the API."""
    is_wanted: bool = False
    """Started by the user to stay; otherwise it ends when nobody needs it."""


def run_host(paths: Paths, options: HostOptions, report: Report) -> None:
    """Blocks until the host is told to end, by a signal, by a face, or because nobody needs it any more.

    Raises: HomeBusy, StoreProblem, UsageProblem for a port that is taken or a setting that is wrong.
    """
    settings = load_settings(paths.settings)
    with ExitStack() as stack:
        store = stack.enter_context(open_store(paths))
        keys = Secrets(paths)
        keys.face_token.create()
        listener = _listener(settings, options)
        stack.callback(listener.close)
        address = HostAddress(
            os.getpid(), port_of(listener), secrets.token_hex(8), app.__version__, str(paths.face_token)
        )
        service = Service(paths, store, settings, options.profile)
        stack.callback(service.close)
        jobs = stack.enter_context(hosted_jobs(service))

        def stop_all() -> None:
            jobs.end_soon()
            service.queue.stop_all()

        server = Server(
            build_app(service, address, keys, jobs, lambda: server.stop()), [listener], before_stop=stop_all
        )
        stack.enter_context(stopped_by_signals(server.stop))
        if options.lan is not None:
            stack.enter_context(_lan_server(service, keys, options.lan).running())
        write_address(paths, address)
        stack.callback(remove_address, paths, address)
        service.preload()
        lifetime = Lifetime(
            service,
            server.stop,
            limit_s=settings.idle_minutes * 60.0,
            is_wanted=options.is_wanted,
            pending_jobs=jobs.pending,
        )
        lifetime.start()
        stack.callback(lifetime.stop)
        report(address, service)
        server.run()


def build_app(
    service: Service, address: HostAddress, keys: Secrets, jobs: JobShelf, stop_host: Callable[[], None]
) -> Gate:
    """Everything the host answers, behind its gate."""
    api = _fastapi()

    @api.get("/health")
    async def health() -> dict[str, str]:
        """Bare liveness: that this host lives, and which start of it."""
        return {"status": "ok", "instance": address.instance}

    api.include_router(native_router(service, address, jobs, stop_host))
    api.include_router(openai_router(service))
    return Gate(api, Policy(address.port, body_bytes_by_path=_BODY_BYTES), keys.access_of, public={"/health"})


def _lan_server(service: Service, keys: Secrets, where: tuple[str, int]) -> Server:
    """What other machines reach: the model, with the API key, and nothing else."""
    listener = lan_listener(*where, keys)
    api = _fastapi()
    api.include_router(openai_router(service))
    return Server(Gate(api, listener.policy, keys.api_access_of), [listener.socket])


def _fastapi() -> FastAPI:
    # Its own documentation pages load scripts from elsewhere, so there are none.
    api = FastAPI(title="Macaron Tall", version=app.__version__, docs_url=None, redoc_url=None)
    api.add_exception_handler(AgentError, error_response)
    api.add_exception_handler(RequestValidationError, _malformed)
    return api


def _listener(settings: Settings, options: HostOptions) -> socket.socket:
    """A port that was asked for is that port or an error; the settings' one may be replaced by a free one."""
    if options.port is not None:
        return listen(options.port, fallback=False)
    return listen(settings.port, fallback=True)


def _malformed(request: Request, error: Exception) -> JSONResponse:
    """A body of the wrong shape, told as our other errors are."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    problem = UsageProblem(f"{place}: {first['msg']}.", "Send what the call takes.")
    return JSONResponse({"error": wire.error_to_plain(problem)}, 400)


def run_in_background(paths: Paths, options: HostOptions) -> int:
    """For a face that waits for one line: {"port": …} or {"error": …}. Standard output leads nowhere afterwards."""
    told = False

    def tell(value: object) -> None:
        nonlocal told
        told = True
        os.write(1, json.dumps(value).encode() + b"\n")
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.close(nowhere)

    try:
        run_host(paths, options, lambda address, service: tell({"port": address.port}))
    except AgentError as error:
        print_error(error.problem, error.hint, as_json=False)
        if not told:
            tell({"error": wire.error_to_plain(error)})
        return error.exit_code
    return 0
