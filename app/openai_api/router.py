"""The routes of the API. Who may ask has been checked by the gate; here is only what is asked and answered.

Nothing of it is recorded: no conversation, memory or signal comes of a request.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.host.service import Service
from app.openai_api.bodies import read_body
from app.openai_api.chat import ChatAnswer
from app.openai_api.chat_body import ChatBody
from app.openai_api.embeddings import EmbeddingsBody, embed_work
from app.openai_api.models import Experts, list_models, one_model
from app.openai_api.problems import ApiProblem, ApiRoute
from app.openai_api.response_shelf import ResponseShelf
from app.openai_api.responses import ResponseAnswer
from app.openai_api.responses_body import ResponsesBody
from app.openai_api.running import LANE, Piece, begin, collect, while_there
from engine.completing import Message
from engine.errors import AgentError


def openai_router(service: Service) -> APIRouter:
    """The routes under /v1, which work through the service's queue."""
    router = APIRouter(prefix="/v1", route_class=ApiRoute)
    shelf = ResponseShelf(time.monotonic)
    created = int(time.time())

    @router.get("/models")
    async def models() -> JSONResponse:
        return JSONResponse(list_models(await _experts(service), created))

    @router.get("/models/{model}")
    async def model(model: str) -> JSONResponse:
        return JSONResponse(one_model(model, await _experts(service), created))

    @router.post("/chat/completions")
    async def chat(request: Request) -> Response:
        body = await read_body(request, ChatBody)
        began, pieces = await begin(service, request, body.asked())
        answer = ChatAnswer.to(body, began)
        if body.stream:
            return EventStream(answer.stream(pieces), pieces)
        return JSONResponse(answer.whole(await collect(request, pieces, body.count)))

    @router.post("/responses")
    async def respond(request: Request) -> Response:
        body = await read_body(request, ResponsesBody)
        earlier = _earlier(shelf, body)
        began, pieces = await begin(service, request, body.asked(earlier))
        answer = ResponseAnswer(body, began)

        def keep(response: dict[str, Any]) -> None:
            if body.store is not False:
                shelf.keep(response, (*earlier, *body.own_messages(), answer.answer_message()))

        if body.stream:
            return EventStream(answer.stream(pieces, keep), pieces)
        (whole,) = await collect(request, pieces, 1)
        response = answer.finished(whole)
        keep(response)
        return JSONResponse(response)

    @router.get("/responses/{response_id}")
    async def response(response_id: str) -> JSONResponse:
        return JSONResponse(shelf.get(response_id).response)

    @router.delete("/responses/{response_id}")
    async def forget(response_id: str) -> JSONResponse:
        shelf.forget(response_id)
        return JSONResponse({"id": response_id, "object": "response.deleted", "deleted": True})

    @router.post("/embeddings")
    async def embeddings(request: Request) -> JSONResponse:
        body = await read_body(request, EmbeddingsBody)
        async with aclosing(service.queue.run(LANE, embed_work(service, body))) as answers:
            return JSONResponse(await while_there(request, anext(answers)))

    return router


class EventStream(StreamingResponse):
    """Events made of `pieces`, whose work ends with the response: also when the client left before the first event."""

    def __init__(self, events: AsyncGenerator[bytes, None], pieces: AsyncGenerator[Piece, None]) -> None:
        super().__init__(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._pieces):
            await super().__call__(scope, receive, send)


async def _experts(service: Service) -> Experts:
    """Waits for the base the first time. Raises: ApiProblem."""
    try:
        return await asyncio.to_thread(service.experts)
    except AgentError as error:
        raise ApiProblem(error.problem, error.hint, status=503, code="model_not_loaded") from error


def _earlier(shelf: ResponseShelf, body: ResponsesBody) -> tuple[Message, ...]:
    """The conversation that this response goes on with. Raises: ApiProblem."""
    if body.previous_response_id is None:
        return ()
    try:
        return shelf.get(body.previous_response_id).messages
    except ApiProblem as error:
        raise ApiProblem(
            error.problem, error.hint, code="previous_response_not_found", param="previous_response_id"
        ) from error
