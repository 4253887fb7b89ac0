"""The API that OpenAI's clients speak: models, chat completions, responses, embeddings.

Stateless and off the record. Knows neither the gate before it nor the rest of the host.
"""

from app.openai_api.router import openai_router

__all__ = ["openai_router"]
