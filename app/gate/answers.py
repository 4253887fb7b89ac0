"""How refusals look, and the headers that every response carries. Pure; decides nothing."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from app.gate.policy import Head, Policy, Refusal, covers
from ui.strings import say

_TYPES: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error", 503: "server_error"}
_ON_EVERY_RESPONSE: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_NO_FRAMES: Final = (b"content-security-policy", b"frame-ancestors 'none'")
_NEVER_SENT: Final = (b"access-control-", b"timing-allow-origin")
"""No other origin may read us, whatever a middleware of the application says."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def answer(refusal: Refusal, head: Head, policy: Policy) -> Answer:
    """JSON in the shape of the OpenAI API where programs ask, and both languages in plain text where people do."""
    if refusal.is_silent:
        return Answer(refusal.status, secured([(b"content-length", b"0")], head.path, policy), b"")
    text = f"gate.{refusal.code}"
    if covers(policy.json_paths, head.path):
        kind = _TYPES.get(refusal.status, "invalid_request_error")
        error = {"message": say(text, "en"), "type": kind, "code": refusal.code}
        media_type, body = b"application/json", json.dumps({"error": error}).encode("ascii")
    else:
        media_type, body = b"text/plain; charset=utf-8", f"{say(text, 'en')}\n{say(text, 'zh')}\n".encode()
    headers = [(b"content-type", media_type), (b"content-length", str(len(body)).encode("ascii"))]
    if refusal.status == 303:
        headers.append((b"location", policy.login_path.encode("ascii")))
    if refusal.status == 401 and not policy.login_path:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.retry_after_s is not None:
        headers.append((b"retry-after", str(refusal.retry_after_s).encode("ascii")))
    return Answer(refusal.status, secured(headers, head.path, policy), body)


def secured(headers: Iterable[tuple[bytes, bytes]], path: str, policy: Policy) -> list[tuple[bytes, bytes]]:
    """The headers of a response with ours in place of any that could weaken them.

    A Content-Security-Policy of the response's own stays; beside it, ours still forbids frames.
    """
    kept = [(name.lower(), value) for name, value in headers]
    kept = [(name, value) for name, value in kept if not name.startswith(_NEVER_SENT)]
    ours = [*_ON_EVERY_RESPONSE]
    if any(name == b"content-security-policy" for name, _ in kept):
        ours.append(_NO_FRAMES)
    else:
        ours.append((b"content-security-policy", policy.content_security_policy.encode("ascii")))
    if not covers(policy.static_paths, path):
        ours.append((b"cache-control", b"no-store"))
    replaced = {name for name, _ in ours} - {b"content-security-policy"}
    return [*((name, value) for name, value in kept if name not in replaced), *ours]
