"""Answers of POST /v1/responses: one object, or the official sequence of events.

An answer is at most one message, then the tool calls; each is one output item.
"""

import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from app.openai_api.chat import event, fingerprint
from app.openai_api.problems import error_body
from app.openai_api.responses_body import ResponsesBody
from app.openai_api.running import Piece, Text, Whole
from engine.completing import Began, Called, Ended, Message
from engine.errors import AgentError
from engine.harness.tool_calls import ToolCall


@dataclass(slots=True)
class ResponseAnswer:
    """A response under way. Its output grows; everything else is fixed."""

    body: ResponsesBody
    began: Began
    response_id: str = field(default_factory=lambda: f"resp_{secrets.token_hex(24)}")
    created: int = field(default_factory=lambda: int(time.time()))
    whole: Whole = field(default_factory=Whole)
    output: list[dict[str, Any]] = field(default_factory=list)
    _events: int = 0
    _said_before: tuple[int, int] = (0, 0)
    """Characters and tokens of earlier messages of this answer: text may come after a call."""

    def finished(self, whole: Whole) -> dict[str, Any]:
        """The response of an answer that came as a whole."""
        self.whole = whole
        if whole.text or not whole.calls:
            self.output.append(self._message_item())
        self.output += [_call_item(call) for call in whole.calls]
        return self._ended()

    def answer_message(self) -> Message:
        """What a later response reads of this one."""
        return Message("assistant", self.whole.text, tuple(self.whole.calls))

    async def stream(
        self, pieces: AsyncGenerator[Piece, None], keep: Callable[[dict[str, Any]], None]
    ) -> AsyncGenerator[bytes, None]:
        """Server-sent events. `keep` is given the finished response before the last event tells of it."""
        try:
            async with aclosing(pieces):
                yield self._event("response.created", response=self._response("in_progress"))
                yield self._event("response.in_progress", response=self._response("in_progress"))
                async for piece in pieces:
                    self.whole.take(piece)
                    for told in self._told(piece):
                        yield told
            response = self._ended()
            keep(response)
            yield self._event(f"response.{response['status']}", response=response)
        except AgentError as error:
            failure = error_body(error)["error"]
            response = self._response("failed")
            response["error"] = {"code": "server_error", "message": failure["message"]}
            yield self._event("response.failed", response=response)

    def _told(self, piece: Piece) -> list[bytes]:
        match piece:
            case Text(text=text, logprobs=logprobs):
                opened = [] if self._is_message_open else self._open_message(len(text), len(logprobs))
                delta = self._event(
                    "response.output_text.delta", **self._place(), content_index=0, delta=text, logprobs=list(logprobs)
                )
                return [*opened, delta]
            case Called(call=call):
                return [*self._close_message(), *self._tell_call(call)]
            case Ended():
                # An answer without a word is a message without one.
                opened = [] if self.output else self._open_message(0, 0)
                return [*opened, *self._close_message()]

    @property
    def _is_message_open(self) -> bool:
        return bool(self.output) and self.output[-1]["status"] == "in_progress"

    def _place(self) -> dict[str, Any]:
        return {"item_id": self.output[-1]["id"], "output_index": len(self.output) - 1}

    def _open_message(self, characters: int, tokens: int) -> list[bytes]:
        """Begin a message; so many characters and tokens of it have come."""
        self._said_before = len(self.whole.text) - characters, len(self.whole.logprobs) - tokens
        self.output.append({**self._message_item(), "content": [], "status": "in_progress"})
        return [
            self._event("response.output_item.added", output_index=len(self.output) - 1, item=self.output[-1]),
            self._event("response.content_part.added", **self._place(), content_index=0, part=_text_part("", [])),
        ]

    def _close_message(self) -> list[bytes]:
        if not self._is_message_open:
            return []
        place = self._place()
        item = self._message_item()
        item["id"] = place["item_id"]
        self.output[-1] = item
        (part,) = item["content"]
        return [
            self._event(
                "response.output_text.done", **place, content_index=0, text=part["text"], logprobs=part["logprobs"]
            ),
            self._event("response.content_part.done", **place, content_index=0, part=part),
            self._event("response.output_item.done", output_index=place["output_index"], item=item),
        ]

    def _tell_call(self, call: ToolCall) -> list[bytes]:
        item = _call_item(call)
        self.output.append(item)
        place = self._place()
        opened = {**item, "arguments": "", "status": "in_progress"}
        return [
            self._event("response.output_item.added", output_index=place["output_index"], item=opened),
            self._event("response.function_call_arguments.delta", **place, delta=call.arguments),
            self._event("response.function_call_arguments.done", **place, arguments=call.arguments, name=call.name),
            self._event("response.output_item.done", output_index=place["output_index"], item=item),
        ]

    def _event(self, kind: str, /, **values: Any) -> bytes:
        number, self._events = self._events, self._events + 1
        return event({"type": kind, "sequence_number": number, **values}, kind)

    def _message_item(self) -> dict[str, Any]:
        characters, tokens = self._said_before
        return {
            "id": f"msg_{secrets.token_hex(24)}",
            "type": "message",
            "role": "assistant",
            "status": "incomplete" if self.whole.finish_reason == "length" else "completed",
            "content": [_text_part(self.whole.text[characters:], self.whole.logprobs[tokens:])],
        }

    def _ended(self) -> dict[str, Any]:
        response = self._response("incomplete" if self.whole.finish_reason == "length" else "completed")
        usage = self.whole.usage
        response["usage"] = {
            "input_tokens": usage.prompt_tokens,
            "input_tokens_details": {"cached_tokens": usage.reused_tokens, "cache_write_tokens": 0},
            "output_tokens": usage.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        }
        if response["status"] == "incomplete":
            response["incomplete_details"] = {"reason": "max_output_tokens"}
        return response

    def _response(self, status: str) -> dict[str, Any]:
        body = self.body
        choice = body.tool_choice or "auto"
        text_format = body.text.format if body.text else None
        return {
            "id": self.response_id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": body.instructions,
            "max_output_tokens": body.max_output_tokens,
            "model": body.model,
            "output": list(self.output),
            "parallel_tool_calls": body.parallel_tool_calls is not False,
            "previous_response_id": body.previous_response_id,
            "store": body.store is not False,
            "temperature": body.temperature,
            "top_p": body.top_p,
            "text": {"format": _format_json(text_format.model_dump(by_alias=True) if text_format else {})},
            "tool_choice": choice if isinstance(choice, str) else choice.model_dump(exclude_none=True),
            "tools": [{"strict": None, **tool} for tool in body.tools or ()],
            "truncation": "disabled",
            "usage": None,
            "metadata": body.metadata or {},
            "user": body.user,
            "system_fingerprint": fingerprint(self.began),
            "macaron": {"expert": self.began.route.expert, "reason": self.began.route.reason},
        }


def _text_part(text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(logprobs)}


def _call_item(call: ToolCall) -> dict[str, Any]:
    return {
        "id": f"fc_{secrets.token_hex(24)}",
        "type": "function_call",
        "status": "completed",
        "call_id": f"call_{secrets.token_hex(12)}",
        "name": call.name,
        "arguments": call.arguments,
    }


def _format_json(values: Mapping[str, Any]) -> dict[str, Any]:
    if values.get("type") != "json_schema":
        return {"type": values.get("type", "text")}
    return {key: values[key] for key in ("type", "name", "schema", "strict")}
