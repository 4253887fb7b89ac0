"""Read and check the body of a request: size, JSON, Unicode, then the model of its endpoint.

Parameters that are not known here are ignored: clients send those of many vendors. What is known is checked strictly.
"""

import json
from typing import Any, Final, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, ValidationError

from app.openai_api.problems import ApiProblem

MOST_BODY_BYTES: Final = 8 << 20
_SHOWN_CHARACTERS: Final = 200
"""Of what a client sent, in an error."""


class Body(BaseModel):
    """Base of all bodies and their parts. Numbers are finite, and a text is never taken for a number."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, frozen=True, protected_namespaces=())


B = TypeVar("B", bound=Body)


async def read_body(request: Request, model: type[B]) -> B:
    """Raises: ApiProblem."""
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MOST_BODY_BYTES:
            raise ApiProblem(f"The body has more than {MOST_BODY_BYTES} bytes.", "Send less at once.", status=413)
        chunks.append(chunk)
    return checked(parse_json(b"".join(chunks)), model)


def parse_json(data: bytes) -> Any:
    """Raises: ApiProblem for anything but JSON of valid Unicode and finite numbers."""
    try:
        value = json.loads(data, parse_constant=_no_constant)
        # Half characters (lone surrogates) and numbers beyond range get this far; no text of ours may hold them.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ApiProblem("The body is no valid JSON, or holds text that is no Unicode.", "Send UTF-8 JSON.") from error
    if not isinstance(value, dict):
        raise ApiProblem("The body is no JSON object.", "Send an object.")
    return value


def checked(value: Any, model: type[B]) -> B:
    """Raises: ApiProblem that names the first parameter that is wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        steps = [str(step) for step in first["loc"] if not _is_alternative(step)]
        param = ".".join(steps)[:_SHOWN_CHARACTERS]
        message = first["msg"].removeprefix("Value error, ")[:_SHOWN_CHARACTERS]
        raise ApiProblem(f"Invalid value for {param or 'the body'}: {message}.", param=param or None) from error


def _is_alternative(step: int | str) -> bool:
    """Whether a step names one of the types a value may have, such as `str` or `list[Part]`: no use to a client."""
    return isinstance(step, str) and (step in ("str", "dict", "list") or not step.isidentifier() or step[0].isupper())


def unsupported(what: str, param: str) -> NoReturn:
    """Refuse what this API does not do, instead of doing something else. Raises: ApiProblem."""
    raise ApiProblem(f"{what} not supported here.", "Leave it out.", code="unsupported_parameter", param=param)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
