"""Run a completion on the host's queue and follow it, for as long as the client is there.

A client that hangs up ends its work, whether it waits in the queue, is being read, or is being answered. What both
endpoints show of an answer is collected here; how it looks is theirs.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Generator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

from fastapi import Request

from app.host.queue import QueueClosed
from app.host.service import Loaded, Service
from app.openai_api.logprobs import logprobs_of
from app.openai_api.problems import ApiProblem, ClientGone
from engine.completing import Asked, Began, Called, Ended, Said, complete
from engine.errors import AgentError, UnknownName
from engine.harness.tool_calls import ToolCall
from engine.runtime.protocol import FinishReason, Stop, Usage

LANE: Final = "api"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Text:
    """More text of answer `index`, with an entry per token where log-probabilities were asked for."""

    index: int
    text: str
    logprobs: tuple[dict[str, Any], ...] = ()


Piece = Text | Called | Ended


@dataclass(slots=True)
class Whole:
    """One answer, as far as it has come."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    logprobs: list[dict[str, Any]] = field(default_factory=list)
    reason: FinishReason = "stopped"
    usage: Usage = Usage()

    def take(self, piece: Piece) -> None:
        match piece:
            case Text(text=text, logprobs=logprobs):
                self.text += text
                self.logprobs += logprobs
            case Called(call=call):
                self.calls.append(call)
            case Ended(reason=reason, usage=usage):
                self.reason, self.usage = reason, usage

    @property
    def finish_reason(self) -> str:
        """In the API's words."""
        if self.calls:
            return "tool_calls"
        return "length" if self.reason == "length" else "stop"


def usage_of(wholes: list[Whole]) -> Usage:
    """Of all answers together; their prompt is one and counts once."""
    first = wholes[0].usage
    return Usage(first.prompt_tokens, first.reused_tokens, sum(whole.usage.completion_tokens for whole in wholes))


def loaded(service: Service) -> Loaded:
    """On the queue's thread. Raises: ApiProblem when there is nothing to ask at the moment."""
    try:
        return service.loaded()
    except QueueClosed:
        raise
    except AgentError as error:
        raise ApiProblem(error.problem, error.hint, status=503, code="model_not_loaded") from error


async def begin(service: Service, request: Request, asked: Asked) -> tuple[Began, AsyncGenerator[Piece, None]]:
    """Queue the completion and wait until it is being read. Close the generator to stop it.

    Raises: AgentError for everything that can be refused, ClientGone.
    """

    def work(stop: Stop) -> Generator[Began | Piece, None, None]:
        mixture = loaded(service).built.agent.current_mixture()
        check_expert(asked.expert, mixture.profile.expert_ids)
        for piece in complete(asked, service.runtime, mixture, stop):
            if isinstance(piece, Said):
                # Here, where waiting for the engine holds nobody else up.
                entries = logprobs_of(piece.tokens, service.runtime.pieces) if asked.logprobs is not None else []
                yield Text(piece.index, piece.text, tuple(entries))
            else:
                yield piece

    pieces = service.queue.run(LANE, work)
    try:
        first = await while_there(request, anext(pieces))
    except StopAsyncIteration as error:
        raise QueueClosed("The host is ending.", "Start it again.") from error
    assert isinstance(first, Began)
    return first, cast(AsyncGenerator[Piece, None], pieces)


def check_expert(expert: str | None, known: Sequence[str]) -> None:
    """Raises: UnknownName."""
    if expert is not None and expert not in known:
        raise UnknownName(f"The model has no expert {expert[:40]!r}.", f"There are {', '.join(known)}.")


async def collect(request: Request, pieces: AsyncGenerator[Piece, None], count: int) -> list[Whole]:
    """All answers, once they are complete. Raises: AgentError, ClientGone."""

    async def all_of_it() -> list[Whole]:
        wholes = [Whole() for _ in range(count)]
        async with aclosing(pieces):
            async for piece in pieces:
                wholes[piece.index].take(piece)
        return wholes

    return await while_there(request, all_of_it())


async def while_there(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`, unless the client hangs up first, which cancels it. Raises: ClientGone."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_hang_up(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone
    finally:
        for pending in (task, watch):
            pending.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
