"""POST /v1/embeddings: one unit vector per text, from the small model that is loaded beside the base.

Tokens in the usage are counted as the base counts them; the embedder's own count differs a little. Texts longer than
the embedder's input of 512 tokens are known by their beginning.
"""

import base64
from collections.abc import Generator
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from app.host.queue import Work
from app.host.service import Service
from app.openai_api.asking import Name, expert_of
from app.openai_api.bodies import Body
from app.openai_api.problems import ApiProblem
from app.openai_api.running import check_expert, loaded
from engine.runtime.protocol import Stop

if TYPE_CHECKING:
    import numpy as np

MOST_TEXTS: Final = 512
MOST_TEXT_CHARACTERS: Final = 32_768
MOST_CHARACTERS: Final = 1 << 20
"""Of all texts of one request."""
_AT_ONCE: Final = 8
"""Texts between two looks at the stop flag."""


class EmbeddingsBody(Body):
    model: Name
    input: Any
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1, le=1 << 20)] | None = None

    def texts(self) -> list[str]:
        """Raises: ApiProblem."""
        texts = [self.input] if isinstance(self.input, str) else self.input
        if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_TEXTS:
            raise _problem(f"The input must be a text, or a list of 1 to {MOST_TEXTS} texts.", "Send texts.")
        if any(isinstance(text, int | list) for text in texts):
            raise _problem("Token ids are not supported: they belong to another model.", "Send texts.")
        if not all(isinstance(text, str) and text for text in texts):
            raise _problem("Every text of the input must have something in it.", "Leave empty ones out.")
        if max(map(len, texts)) > MOST_TEXT_CHARACTERS or sum(map(len, texts)) > MOST_CHARACTERS:
            raise _problem(
                f"A text may have {MOST_TEXT_CHARACTERS} characters, all together {MOST_CHARACTERS}.",
                "Split the texts, or send fewer at once.",
            )
        return texts


def embed_work(service: Service, body: EmbeddingsBody) -> Work[dict[str, Any]]:
    """The work for the queue; its only value is the whole answer. Raises: ApiProblem."""
    texts, expert = body.texts(), expert_of(body.model)

    def work(stop: Stop) -> Generator[dict[str, Any], None, None]:
        check_expert(expert, loaded(service).built.mixture.profile.expert_ids)
        vectors: list[Any] = []
        tokens = 0
        for start in range(0, len(texts), _AT_ONCE):
            if stop.is_set():
                return
            some = texts[start : start + _AT_ONCE]
            vectors += list(service.runtime.embed(some))
            tokens += sum(len(service.runtime.encode(text)) for text in some)
        dimensions = len(vectors[0])
        if body.dimensions not in (None, dimensions):
            raise ApiProblem(
                f"The vectors have {dimensions} dimensions, not {body.dimensions}.", "Leave it out.", param="dimensions"
            )
        yield _answer(body, vectors, tokens)

    return work


def _answer(body: EmbeddingsBody, vectors: "list[np.ndarray[Any, Any]]", tokens: int) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector, body.encoding_format)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": body.model, "usage": usage}


def _encoded(vector: "np.ndarray[Any, Any]", encoding: str) -> Any:
    if encoding == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    return vector.tolist()


def _problem(problem: str, hint: str) -> ApiProblem:
    return ApiProblem(problem, hint, code="invalid_value", param="input")
