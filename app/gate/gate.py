"""The gate as ASGI middleware: nothing passes to the application that the policy or the secrets refuse.

    app = Gate(fastapi_app, Policy(port), authenticate=secrets.access_of, public={"/health"})

Put it outside everything else. It asks pure functions and tells their answers; it knows no route and no secret.
The access that was granted is in `request.state.access`, which is None on public paths asked without a secret.
"""

import asyncio
import time
from collections.abc import Callable, Collection, MutableMapping
from contextlib import suppress
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.gate.answers import answer, secured
from app.gate.bodies import Bodies, BodyLimits, Gone, check_nesting
from app.gate.policy import (
    Access,
    Head,
    Headers,
    Policy,
    Refusal,
    body_limit,
    check,
    check_access,
    check_content_type,
    check_length,
    covers,
    values,
)
from app.gate.tries import FailedTries

Authenticate = Callable[[Headers], Access | None]
"""What the secret in these headers grants. Called again while a response goes on, so that rotation ends it."""

_RECHECK_S: Final = 2.0
_PROXY_HEADERS: Final = (b"x-forwarded-", b"forwarded", b"x-real-ip")
"""Nothing is in front of us, so whoever sends these means to be taken for somebody else."""


class Gate:
    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        authenticate: Authenticate,
        public: Collection[str] = (),
        limits: BodyLimits | None = None,
    ) -> None:
        """`public` are paths that need no secret, as the paths of a policy; all other checks hold for them too."""
        self._app = app
        self._policy = policy
        self._authenticate = authenticate
        self._public = frozenset(public)
        self._bodies = Bodies(limits or BodyLimits())
        self._tries = FailedTries()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        head = _head_of(scope)
        admitted = self._admit(head, (scope.get("client") or ("", 0))[0])
        if isinstance(admitted, Refusal):
            await self._refuse(admitted, head, scope, receive, send)
            return
        inner = {**scope, "headers": _without_proxies(head.headers)}
        inner["state"] = {**scope.get("state", {}), "access": admitted}
        exchange = _Exchange(receive, send, head, self._policy, lambda: self._is_still(admitted, head))
        if scope["type"] == "websocket":
            await self._app(inner, exchange.receive_socket, send)
        else:
            await self._answer(inner, exchange, head)

    def _admit(self, head: Head, address: str) -> Access | Refusal | None:
        """What the request may do, or why it may do nothing."""
        if refusal := check(head, self._policy):
            return refusal
        if self._policy.lock_out and (wait_s := self._tries.wait_s(address)):
            return Refusal("too_many_tries", 429, wait_s)
        access = self._authenticate(head.headers)
        if access is None and values(head.headers, b"authorization"):
            self._tries.add(address)
        is_public = covers(self._public, head.path)
        if access is None and not is_public:
            return self._no_access(head, address)
        if access is not None and not is_public and (refusal := check_access(head, access, self._policy)):
            return refusal
        return check_content_type(head, self._policy) or check_length(head, self._policy) or access

    def _no_access(self, head: Head, address: str) -> Refusal:
        if wait_s := self._tries.wait_s(address):
            return Refusal("too_many_tries", 429, wait_s)
        if not self._policy.login_path:
            return Refusal("no_access", 401)
        is_person = head.method == "GET" and any(b"text/html" in accept for accept in values(head.headers, b"accept"))
        return Refusal("not_logged_in", 303 if is_person else 401)

    async def _refuse(self, refusal: Refusal, head: Head, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted, so the server says 403
            return
        told = answer(refusal, head, self._policy)
        await send({"type": "http.response.start", "status": told.status, "headers": told.headers})
        await send({"type": "http.response.body", "body": told.body})

    async def _answer(self, scope: Scope, exchange: "_Exchange", head: Head) -> None:
        try:
            body = await self._bodies.read(exchange.receive_unread, body_limit(head, self._policy))
        except Gone:
            return
        if isinstance(body, Refusal):
            await self._refuse(body, head, scope, exchange.receive_unread, exchange.send_unsecured)
            return
        size_bytes = len(body)
        try:
            if _is_json(head) and (refusal := check_nesting(body)):
                await self._refuse(refusal, head, scope, exchange.receive_unread, exchange.send_unsecured)
                return
            exchange.body = body
            del body  # a stream may go on for hours after its body was read
            await self._app(scope, exchange.receive, exchange.send)
            await exchange.finish()
        finally:
            self._bodies.release(size_bytes)

    def _is_still(self, access: Access | None, head: Head) -> bool:
        return access is None or self._authenticate(head.headers) == access


class _Exchange:
    """One request that was let in, and its response; ends as if the client had hung up when its access is withdrawn."""

    def __init__(
        self, receive: Receive, send: Send, head: Head, policy: Policy, is_still_allowed: Callable[[], bool]
    ) -> None:
        self.receive_unread = receive
        self.send_unsecured = send
        self.body: bytes | None = None
        self._head = head
        self._policy = policy
        self._is_still_allowed = is_still_allowed
        self._check_at = time.monotonic() + _RECHECK_S
        self._is_withdrawn = False
        self._is_streaming = False

    async def receive(self) -> Message:
        """The body first, then word of the client or of its access being gone."""
        if self.body is not None:
            body, self.body = self.body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive_or({"type": "http.disconnect"})

    async def receive_socket(self) -> Message:
        return await self._receive_or({"type": "websocket.disconnect", "code": 1008, "reason": ""})

    async def send(self, message: Message) -> None:
        if self._look_again():
            return  # as to a client that hung up
        if message["type"] == "http.response.start":
            headers = secured(message.get("headers", ()), self._head.path, self._policy)
            self._is_streaming = all(name != b"content-length" for name, _ in headers)
            message = {**message, "headers": headers}
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            self._is_streaming = False
        await self.send_unsecured(message)

    async def finish(self) -> None:
        """End a stream that was cut off, so that the client hears it at once."""
        if self._is_withdrawn and self._is_streaming:
            await self.send_unsecured({"type": "http.response.body", "body": b"", "more_body": False})

    async def _receive_or(self, end: Message) -> Message:
        while not self._look_again():
            # No task of its own: whoever asks without waiting must get what is there already.
            with suppress(TimeoutError):
                async with asyncio.timeout(_RECHECK_S):
                    return await self.receive_unread()
        return end

    def _look_again(self) -> bool:
        """Whether access was withdrawn, as of at most two seconds ago."""
        now = time.monotonic()
        if now >= self._check_at and not self._is_withdrawn:
            self._check_at = now + _RECHECK_S
            self._is_withdrawn = not self._is_still_allowed()
        return self._is_withdrawn


def _head_of(scope: MutableMapping[str, Any]) -> Head:
    method = "WEBSOCKET" if scope["type"] == "websocket" else scope["method"]
    return Head(method, scope["path"], scope["headers"])


def _without_proxies(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if not name.startswith(_PROXY_HEADERS)]


def _is_json(head: Head) -> bool:
    return any(value.lower().startswith(b"application/json") for value in values(head.headers, b"content-type"))
