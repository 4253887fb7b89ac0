"""The page inside a web application: Gradio with everything off that the page does not use.

Gradio brings some sixty routes: files, uploads, a proxy, an API, share links. The page needs a handful. `Shield`
answers 404 to the rest before Gradio sees them, so that a fault in one of them is nobody's way in. It is not a gate:
who may ask is decided before it.
"""

import asyncio
import html
import json
import re
import secrets
from pathlib import Path
from typing import Final

import gradio as gr
from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.browser.look import icon_address, page_css, page_theme

MAX_BODY_BYTES: Final = 8 << 20
"""Of one request: a message with its attachments and what was pasted."""

_NEEDED_FOR_READING: Final = re.compile(
    r"/(?:"
    r"|config|theme\.css|robots\.txt"
    r"|(?:assets|static)/(?!.*\.\.)[\w./+@-]{1,200}"
    r"|gradio_api/(?:info|app_id|startup-events|queue/data|heartbeat/\w+|login_check)"
    r")"
)
_NEEDED_FOR_ACTING: Final = re.compile(r"/gradio_api/(?:queue/join|cancel|reset)/?")
_ABROAD: Final = re.compile(rb"<(?:meta|link|script)\b[^>]*?(?:https?:)?//[^>]*>(?:\s*</script>)?", re.IGNORECASE)
_SCRIPT: Final = re.compile(rb"<script\b", re.IGNORECASE)


def mount_page(parent: FastAPI, page: gr.Blocks, path: str, folder: Path) -> None:
    """Mount `page` at `path`. `folder` is what Gradio may write to; run from an empty working folder besides.

    Raises: RuntimeError without a running event loop, where Gradio would make some of its own and close none.
    """
    asyncio.get_running_loop()
    gr.mount_gradio_app(
        parent,
        page,
        path,
        theme=page_theme(),
        css=page_css(),
        footer_links=[],
        run_history=False,
        allowed_paths=[],
        blocked_paths=[str(Path.home()), str(folder.parent)],
        max_file_size=1,
        show_error=False,
        ssr_mode=False,
        enable_monitoring=False,
        mcp_server=False,
        pwa=False,
        app_kwargs={"docs_url": None, "redoc_url": None, "openapi_url": None},
    )
    # Gradio checks where files come from only in what it launched itself (6.31, processing_utils.py:578).
    page.has_launched = True


def is_needed(method: str, path: str) -> bool:
    """Whether the page uses this; `path` is below where the page is mounted, percent-decoded."""
    if method in ("GET", "HEAD"):
        return _NEEDED_FOR_READING.fullmatch(path) is not None
    return method == "POST" and _NEEDED_FOR_ACTING.fullmatch(path) is not None


def at_home(page: bytes, nonce: str) -> bytes:
    """The HTML of Gradio without its links to elsewhere, its scripts marked as the only ones that may run."""
    page = _ABROAD.sub(b"", page).replace(b"</head>", f'<link rel="icon" href="{icon_address()}"></head>'.encode(), 1)
    return _SCRIPT.sub(f'<script nonce="{html.escape(nonce)}"'.encode(), page)


def content_security_policy(nonce: str) -> str:
    """Everything from our own origin, in no frame. Gradio makes functions of texts, so `eval` has to be allowed;
    scripts in HTML, event handlers in attributes included, do not run without the nonce of this very response."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "manifest-src 'self'",
            "frame-src 'none'",
            "frame-ancestors 'none'",
            "base-uri 'self'",
            "form-action 'none'",
        )
    )


def names_a_file(value: object) -> bool:
    """Whether JSON holds what Gradio takes for a file of its own, and would copy or even fetch. The page has none."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            if isinstance(found.get("path"), str):
                return True
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
    return False


class Shield:
    """ASGI middleware around an application in which pages are mounted at `mounts`, such as ("/en", "/zh")."""

    def __init__(self, app: ASGIApp, mounts: tuple[str, ...]) -> None:
        self._app = app
        self._mounts = mounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        mount = next((mount for mount in self._mounts if _is_below(scope.get("path", ""), mount)), None)
        if scope["type"] == "lifespan" or mount is None:
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif not is_needed(scope["method"], scope["path"][len(mount) :] or "/"):
            await _refuse(send, 404, b"There is nothing here.")
        elif scope["method"] != "POST":
            await self._app(_uncancelled(scope), receive, _Homely(send))
        elif (body := await _sound_body(receive)) is None:
            await _refuse(send, 400, b"This is no event of the page.")
        else:
            await self._app(scope, _Replayed(body, receive), _Homely(send))


class _Replayed:
    """A body that was read already, and then what the client says after it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Homely:
    """Sends on what the page answers; HTML is held back until it is whole, and made to stay at home."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["content-security-policy"] = "default-src 'none'; frame-ancestors 'none'"
            if headers.get("content-type", "").startswith("text/html"):
                self._head = message
                return
            await self._send(message)
        elif self._head is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._head)

    async def _send_page(self, head: Message) -> None:
        nonce = secrets.token_urlsafe(16)
        body = at_home(self._body, nonce)
        headers = MutableHeaders(scope=head)
        headers["content-length"] = str(len(body))
        headers["content-security-policy"] = content_security_policy(nonce)
        headers["cache-control"] = "no-store"
        await self._send(head)
        await self._send({"type": "http.response.body", "body": body})


def _is_below(path: str, mount: str) -> bool:
    return path == mount or path.startswith(f"{mount}/")


def _uncancelled(scope: Scope) -> Scope:
    """A stream of answers that ends by itself when its reader hangs up, and is not cut off.

    Gradio (6.31, routes.py:1895) ends it when no answer is due. The browser hangs up at once, and where that cuts the
    stream off, whatever was asked for meanwhile is dropped. Servers of version 2.4 of ASGI cut nothing off. The
    heartbeat is another matter: being cut off is how it learns that a tab was closed.
    """
    if not scope["path"].endswith("/queue/data"):
        return scope
    return {**scope, "asgi": {**scope["asgi"], "spec_version": "2.4"}}


async def _sound_body(receive: Receive) -> bytes | None:
    """The whole body, whose size the gate has bounded; None when it is no JSON or names a file."""
    body, is_whole = b"", False
    while not is_whole:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        is_whole = not message.get("more_body", False)
    try:
        return None if names_a_file(json.loads(body)) else body
    except (ValueError, RecursionError):
        return None


async def _refuse(send: Send, status: int, words: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words})
