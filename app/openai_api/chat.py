"""Answers of POST /v1/chat/completions: one object, or a stream of chunks in the shape the official client reads.

Tool calls come whole, in one chunk each: what is not yet a valid call is not shown as one.
"""

import json
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from app.openai_api.chat_body import ChatBody
from app.openai_api.problems import error_body
from app.openai_api.running import Piece, Text, Whole, usage_of
from engine.completing import Began, Called
from engine.errors import AgentError
from engine.harness.tool_calls import ToolCall
from engine.runtime.protocol import Usage


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What all chunks of one completion have in common."""

    model: str
    began: Began
    count: int
    wants_logprobs: bool
    includes_usage: bool
    completion_id: str
    created: int

    @classmethod
    def to(cls, body: ChatBody, began: Began) -> "ChatAnswer":
        completion_id = f"chatcmpl-{secrets.token_hex(12)}"
        return cls(
            body.model,
            began,
            body.count,
            bool(body.logprobs),
            body.includes_usage,
            completion_id,
            int(time.time()),
        )

    def whole(self, wholes: Sequence[Whole]) -> dict[str, Any]:
        """The completion as one object."""
        choices = [
            {
                "index": index,
                "message": _message(whole),
                "logprobs": self._logprobs(whole.logprobs),
                "finish_reason": whole.finish_reason,
            }
            for index, whole in enumerate(wholes)
        ]
        return {**self._head("chat.completion"), "choices": choices, "usage": usage_json(usage_of(list(wholes)))}

    async def stream(self, pieces: AsyncGenerator[Piece, None]) -> AsyncGenerator[bytes, None]:
        """Server-sent events. An error after the start is an event too; a stream that breaks has no [DONE]."""
        wholes = [Whole() for _ in range(self.count)]
        try:
            async with aclosing(pieces):
                for index in range(self.count):
                    yield self._chunk(index, {"role": "assistant", "content": ""})
                async for piece in pieces:
                    whole = wholes[piece.index]
                    whole.take(piece)
                    match piece:
                        case Text(index, text, logprobs):
                            yield self._chunk(index, {"content": text}, logprobs)
                        case Called(index, call):
                            delta = [{"index": len(whole.calls) - 1, **call_json(call)}]
                            yield self._chunk(index, {"tool_calls": delta})
                        case _:
                            yield self._chunk(piece.index, {}, finish_reason=whole.finish_reason)
                if self.includes_usage:
                    usage = usage_json(usage_of(wholes))
                    yield event({**self._head("chat.completion.chunk"), "choices": [], "usage": usage})
            yield b"data: [DONE]\n\n"
        except AgentError as error:
            yield event(error_body(error))

    def _chunk(
        self,
        index: int,
        delta: dict[str, Any],
        logprobs: Sequence[dict[str, Any]] = (),
        finish_reason: str | None = None,
    ) -> bytes:
        shown = self._logprobs(logprobs) if logprobs else None
        choice = {"index": index, "delta": delta, "logprobs": shown, "finish_reason": finish_reason}
        usage = {"usage": None} if self.includes_usage else {}
        return event({**self._head("chat.completion.chunk"), "choices": [choice], **usage})

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.completion_id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": fingerprint(self.began),
            "macaron": {"expert": self.began.route.expert, "reason": self.began.route.reason},
        }

    def _logprobs(self, entries: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
        return {"content": list(entries), "refusal": None} if self.wants_logprobs else None


def fingerprint(began: Began) -> str:
    """Changes whenever equal seeds may no longer give equal answers: another base, or other texts around it."""
    return f"fp_{began.base_hash[:10]}_{began.harness_version}"


def usage_json(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.reused_tokens},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def call_json(call: ToolCall) -> dict[str, Any]:
    return {
        "id": f"call_{secrets.token_hex(12)}",
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def event(value: dict[str, Any], name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def _message(whole: Whole) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": whole.text, "refusal": None}
    if whole.calls:
        message["content"] = whole.text or None
        message["tool_calls"] = [call_json(call) for call in whole.calls]
    return message
