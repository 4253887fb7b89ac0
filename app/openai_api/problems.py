"""Errors in the shape that OpenAI's clients expect, with the status that makes them raise the right exception.

Knows no endpoint.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from app.host.queue import QueueClosed, QueueFull
from engine.errors import AgentError, ContextOverflow, ModelProblem, OutOfMemory, UnknownName, UsageProblem

RETRY_AFTER_S: Final = 2
CLIENT_GONE: Final = 499
"""Nobody reads this status; it only ends the request."""


class ApiProblem(AgentError):
    """A refusal that says its own status, code and the parameter it is about."""

    def __init__(
        self, problem: str, hint: str = "", *, status: int = 400, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(problem, hint)
        self.status = status
        self.code = code
        self.param = param


class ClientGone(Exception):
    """The client hung up; there is nobody to answer."""


class ApiRoute(APIRoute):
    """A route whose errors have this API's shape, whatever the application around it does with others."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except ClientGone:
                return Response(status_code=CLIENT_GONE)
            except AgentError as error:
                return error_response(error)

        return handle


def error_response(error: AgentError) -> JSONResponse:
    status = status_of(error)
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_S)} if status in (429, 503) else {}
    return JSONResponse(error_body(error), status, headers)


def error_body(error: AgentError) -> dict[str, Any]:
    message = f"{error.problem} {error.hint}".strip()
    code, param = getattr(error, "code", None), getattr(error, "param", None)
    match error:
        case ContextOverflow():
            code, param = "context_length_exceeded", "messages"
        case UnknownName():
            code, param = "model_not_found", "model"
        case QueueFull():
            code = "rate_limit_exceeded"
    return {"error": {"message": message, "type": _kind(status_of(error)), "param": param, "code": code}}


def status_of(error: AgentError) -> int:
    match error:
        case ApiProblem(status=status):
            return status
        case UnknownName():
            return 404
        case UsageProblem():
            return 400
        case QueueFull():
            return 429
        case QueueClosed() | ModelProblem() | OutOfMemory():
            return 503
    return 500


def _kind(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"
