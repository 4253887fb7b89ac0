"""A server that is reached over streamable HTTP: one origin, bounded answers, nothing from the environment.

Knows HTTP, no tools. The SDK bounds events and follows no redirect to another origin; this bounds everything else.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from engine.harness.mcp.entries import HttpEntry, SecretOf, with_secrets
from engine.harness.mcp.values import MOST_MESSAGE_BYTES

_CONNECT_S: Final = 20.0
_READ_S: Final = 600.0
"""Of silence in one answer; how long a call may take is decided elsewhere."""


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size_bytes = 0
        async for chunk in self._body:
            size_bytes += len(chunk)
            if size_bytes > MOST_MESSAGE_BYTES:
                raise httpx2.StreamError(f"the answer has more than {MOST_MESSAGE_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            # A few packed bytes may become any number, and none were asked for.
            raise httpx2.DecodingError("the server packed its answer although it was asked not to", request=request)
        is_endless = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        if not is_endless:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _BoundedBody(response.stream)
        return response


@asynccontextmanager
async def remote_streams(entry: HttpEntry, secret_of: SecretOf) -> AsyncIterator[Any]:
    """The SDK's pair of streams. Raises: AgentError where a secret is missing."""
    headers = {**with_secrets(entry.headers, secret_of), "accept-encoding": "identity"}
    timeout = httpx2.Timeout(_CONNECT_S, read=_READ_S)
    async with httpx2.AsyncClient(
        headers=headers, timeout=timeout, transport=_BoundedTransport(trust_env=False), trust_env=False
    ) as client:
        streams: AbstractAsyncContextManager[Any] = streamable_http_client(
            entry.url, http_client=client, max_sse_event_size=MOST_MESSAGE_BYTES
        )
        async with streams as pair:
            yield pair
