"""What our own faces call. The gate has let the request in; here it must also come from a face, not from an API key.

Nothing is changed by a GET. Bodies are JSON; answers are JSON or a stream of server-sent events.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, Literal, TypeVar

import psutil
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

import app
from app.host import calls
from app.host.address import HostAddress
from app.host.queue import QueueClosed, QueueFull
from app.host.service import Service
from app.host.turns import Turns
from app.off_record import OffTheRecord
from engine.agent import Agent, Steps
from engine.errors import AgentError, HomeBusy, UnknownName, UsageProblem
from engine.runtime import wire
from engine.runtime.protocol import Stop
from engine.values import Attachment, Provenance
from ui.job_shelf import JobShelf

T = TypeVar("T")

WAITING_S: Final = 1.0
"""How often a turn that waits for others tells how many there are."""
HEARTBEAT_S: Final = 5.0
"""A stream that has nothing to say still shows that it lives, so that a dead host is noticed."""
MOST_CALLS: Final = 64
"""Management calls at once. Some wait for a base that is being loaded, and must not keep others from being served."""
_MAX_KEY: Final = 64
_STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class NotAFace(AgentError):
    """The caller may ask the model, but not administer."""


class AttachmentBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    text: str


class TurnBody(BaseModel):
    """A turn to begin. `key` is the face's own name for it; the rest as in `ui.client.Client`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: str = Field(min_length=8, max_length=_MAX_KEY)
    kind: Literal["ask", "regenerate", "edit"]
    text: str = ""
    turn_id: str = ""
    conversation_id: str | None = None
    parent_turn_id: str | None = None
    expert: str | None = None
    provenance: Provenance = "typed"
    attachments: list[AttachmentBody] = Field(default_factory=list)
    attended: bool = False
    """A person is there to permit what tools would do."""
    off_record: bool = False
    """A conversation that begins with it is kept nowhere."""

    def is_off_record(self, hidden: OffTheRecord) -> bool:
        """Whether it begins a conversation that is off the record, or goes on with one."""
        if self.kind == "ask" and self.conversation_id is None:
            return self.off_record
        return hidden.holds(conversation_id=self.conversation_id, turn_id=self.turn_id or None)

    def start(self, agent: Agent, stop: Stop) -> Steps:
        given: dict[str, Any] = {"expert": self.expert, "attended": self.attended, "stop": stop}
        match self.kind:
            case "regenerate":
                return agent.regenerate(self.turn_id, **given)
            case "edit":
                return agent.edit(self.turn_id, self.text, provenance=self.provenance, **given)
            case "ask":
                return agent.turn(
                    self.text,
                    conversation_id=self.conversation_id,
                    parent_turn_id=self.parent_turn_id,
                    provenance=self.provenance,
                    attachments=tuple(Attachment(file.name, file.text) for file in self.attachments),
                    **given,
                )


def require_face(request: Request) -> None:
    """Raises: NotAFace."""
    if request.scope.get("state", {}).get("access") != "face":
        raise NotAFace("An API key may not do this.", "Use Macaron's own chat, page or command line.")


def native_router(service: Service, address: HostAddress, jobs: JobShelf, stop_host: Callable[[], None]) -> APIRouter:
    """The routes under /api. `stop_host()` ends the host, from any thread."""
    router = APIRouter(prefix="/api", dependencies=[Depends(require_face)])
    turns = Turns(service.queue, service.feed)
    executor = ThreadPoolExecutor(MOST_CALLS, "calls")

    def _holder(name: str) -> Any:
        holders = {
            calls.ADAPTER_NAMES: service.shelf,
            calls.JOB_NAMES: jobs,
            calls.INTERVIEW_NAMES: service.interview_shelf,
            calls.SUGGESTION_NAMES: service.suggestion_shelf,
            calls.TOOL_NAMES: service.tools,
            calls.MEMORY_NAMES: service.memories,
        }
        return next((holder for names, holder in holders.items() if name in names), service)

    @router.post("/call/{name}")
    async def call(name: str, request: Request) -> JSONResponse:
        known = calls.call_named(name)
        arguments = calls.arguments_from_plain(known, await _json(request))
        work = partial(getattr(_holder(name), name), **arguments)
        result = await asyncio.get_running_loop().run_in_executor(executor, work)
        if name == "forget":
            turns.forget_over()
        if name in calls.CHANGING:
            service.feed.publish("conversation", call=name)
        return JSONResponse({"result": wire.to_plain(result)})

    @router.post("/turns")
    async def begin(body: TurnBody) -> StreamingResponse:
        is_off_record = body.is_off_record(service.off_record)
        turns.begin(body.key, "faces", service.turn(body.start, is_off_record=is_off_record))
        return _stream(_turn_events(turns, body.key, -1))

    @router.get("/turns/{key}/events")
    async def follow(key: str, after: int = -1) -> StreamingResponse:
        turns.ahead(key)  # an unknown turn is an error, not a stream
        return _stream(_turn_events(turns, key, after))

    @router.post("/turns/{key}/stop")
    async def stop(key: str) -> dict[str, bool]:
        turns.stop(key)
        return {"stopped": True}

    @router.get("/events")
    async def events(instance: str = "", after: int | None = None) -> StreamingResponse:
        known = after if instance in ("", address.instance) else -2  # numbers of another host mean nothing here
        return _stream(_feed_events(service, address, known))

    @router.get("/host")
    async def about_host() -> dict[str, Any]:
        return facts(service, address)

    @router.post("/host/stop")
    async def end() -> dict[str, bool]:
        stop_host()
        return {"stopping": True}

    return router


def facts(service: Service, address: HostAddress) -> dict[str, Any]:
    """What the host is doing, for `macaron doctor` and status displays."""
    current = service.current
    return {
        "instance": address.instance,
        "version": app.__version__,
        "pid": address.pid,
        "port": address.port,
        "rss_bytes": psutil.Process().memory_info().rss,
        "engine_pid": service.runtime.process_id,
        "engine_bytes": service.runtime.memory_bytes,
        "profile": current.built.mixture.profile.name if current else None,
        "waiting": service.queue.waiting,
        "is_busy": service.queue.is_busy,
        "faces": service.feed.followers,
        "repairs": list(service.store.repairs),
    }


def error_response(request: Request, error: Exception) -> JSONResponse:
    """Our errors as the faces read them; the status is for everybody else."""
    assert isinstance(error, AgentError)
    headers = {"Retry-After": "2"} if isinstance(error, QueueFull) else None
    return JSONResponse({"error": wire.error_to_plain(error)}, status_of(error), headers)


def status_of(error: AgentError) -> int:
    match error:
        case NotAFace():
            return 403
        case UnknownName():
            return 404
        case UsageProblem():
            return 400
        case HomeBusy():
            return 409
        case QueueFull():
            return 429
        case QueueClosed():
            return 503
        case _:
            return 500


async def _json(request: Request) -> Any:
    """Raises: UsageProblem."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise UsageProblem("The body is no valid JSON.", "Send an object.") from error


async def _turn_events(turns: Turns, key: str, after: int) -> AsyncGenerator[bytes, None]:
    """The turn's events; an error that refused it is an event too, since the stream has begun by then."""
    try:
        async for item in _with_heartbeats(turns.follow(key, after), WAITING_S):
            if item is not None:
                yield _event(item.number, "turn", item.to_json())
            elif ahead := turns.ahead(key):
                yield _event(None, "waiting", {"ahead": ahead})
            else:
                yield _comment("")
    except AgentError as error:
        yield _event(None, "error", wire.error_to_plain(error))


async def _feed_events(service: Service, address: HostAddress, after: int | None) -> AsyncGenerator[bytes, None]:
    yield _event(service.feed.newest if after is None else None, "hello", {"instance": address.instance})
    async for item in _with_heartbeats(service.feed.follow(after), HEARTBEAT_S):
        yield _comment("") if item is None else _event(item.number, item.name, item.values)


async def _with_heartbeats(items: AsyncGenerator[T, None], every_s: float) -> AsyncGenerator[T | None, None]:
    """The items, and None whenever there has been none for a while."""
    pending: asyncio.Task[T] | None = None
    try:
        while True:
            if pending is None:
                pending = asyncio.ensure_future(anext(items))
            done, _ = await asyncio.wait({pending}, timeout=every_s)
            if not done:
                yield None
                continue
            try:
                item = pending.result()
            except StopAsyncIteration:
                return
            finally:
                pending = None
            yield item
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)
        await items.aclose()


def _event(number: int | None, name: str, data: Mapping[str, Any]) -> bytes:
    lines = [] if number is None else [f"id: {number}"]
    return "\n".join([*lines, f"event: {name}", f"data: {json.dumps(data)}", "", ""]).encode()


def _comment(text: str) -> bytes:
    return f": {text}\n\n".encode()


def _stream(events: AsyncGenerator[bytes, None]) -> StreamingResponse:
    return StreamingResponse(events, media_type="text/event-stream", headers=_STREAM_HEADERS)
