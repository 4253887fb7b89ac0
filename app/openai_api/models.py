"""GET /v1/models: the one that routes, and one per expert. Pure; knows no HTTP."""

from collections.abc import Sequence
from typing import Any, Final

from app.openai_api.asking import MODEL
from app.openai_api.problems import ApiProblem

Experts = Sequence[tuple[str, str]]
"""(label, what it is for) of every expert."""

_ROUTING: Final = "Chooses the expert for each request."


def list_models(experts: Experts, created: int) -> dict[str, Any]:
    """`created` in seconds since 1970."""
    pinned = [_model(f"{MODEL}:{expert}", description, created) for expert, description in experts]
    return {"object": "list", "data": [_model(MODEL, _ROUTING, created), *pinned]}


def one_model(model: str, experts: Experts, created: int) -> dict[str, Any]:
    """Raises: ApiProblem."""
    for known in list_models(experts, created)["data"]:
        if known["id"] == model:
            return dict(known)
    raise ApiProblem(
        f"The model {model[:80]!r} does not exist.",
        "See /v1/models.",
        status=404,
        code="model_not_found",
        param="model",
    )


def _model(model: str, description: str, created: int) -> dict[str, Any]:
    return {"id": model, "object": "model", "created": created, "owned_by": "local", "description": description}
