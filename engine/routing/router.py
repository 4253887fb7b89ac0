"""Choose the expert of a turn.

Pure: texts and scores in, Route out. Knows neither llama.cpp, SQLite nor a face, so every rule is one line of a test.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.errors import BadText
from engine.harness.formats import ChatFormat, Part, Trusted
from engine.routing.profile import ROUTE_STEM, Profile, unknown_expert
from engine.runtime.protocol import Tokens
from engine.values import Route

SURFACE_EXPERT: Final = "L3"
"""The expert of generative UI; it answers what comes from an A2UI surface."""

# Chinese is written without spaces, so a Han character ends the label too: "@L2写一个脚本".
_PIN: Final = re.compile(r"\s*@(L\d+)(?=\s|$|[\u3400-\u9fff])[^\S\n]*\n?", re.IGNORECASE)
_JSON_FENCE: Final = re.compile(r"```json[^\S\n]*\n", re.IGNORECASE)


def parse_pin(text: str, experts: Sequence[str]) -> tuple[str | None, str]:
    """(the expert that a leading `@L2 ` asks for, the text without it).

    Raises: UnknownName when it is no expert, BadText when nothing else is said.
    """
    match = _PIN.match(text)
    if match is None:
        return None, text
    expert, rest = match[1].upper(), text[match.end() :]
    if expert not in experts:
        raise unknown_expert(expert, experts)
    if not rest.strip():
        raise BadText(f"Nothing is said to {expert}.", f"Write the message after it: `@{expert} your message`.")
    return expert, rest


def is_surface(text: str) -> bool:
    """Whether the request is an action on an A2UI surface, wrapped as JSON, rather than words of the user."""
    body = text.strip()
    fence = _JSON_FENCE.match(body)
    body = body[fence.end() :].lstrip() if fence else body
    if not body.startswith("{"):
        return False
    try:
        wrapper, _ = json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError):
        return False
    action = wrapper.get("action")
    return "userAction" in wrapper or "a2ui" in wrapper or (isinstance(action, dict) and "surfaceId" in action)


def needs_scores(
    *, experts: Sequence[str], pinned: str | None = None, follow_up: str | None = None, surface: bool = False
) -> bool:
    """Whether the router model must be asked at all."""
    return _unasked(experts, pinned, follow_up, surface) is None


def choose(
    *,
    scores: Mapping[str, float] | None,
    experts: Sequence[str],
    default: str,
    margin_nats: float,
    pinned: str | None = None,
    follow_up: str | None = None,
    surface: bool = False,
    current: str | None = None,
) -> Route:
    """The expert of a turn and why.

    `scores` are log-probabilities of labels in nats; without them all experts count as tied. `follow_up` is the
    expert whose tool call or UI action is open, `current` the one that answered last.
    Raises: UnknownName when `pinned` is no expert.
    """
    unasked = _unasked(experts, pinned, follow_up, surface)
    if unasked is not None:
        return unasked
    known = {expert: scores[expert] for expert in experts if expert in scores} if scores else {}
    ranked = sorted(known, key=known.__getitem__, reverse=True)
    if ranked and (len(ranked) == 1 or known[ranked[0]] - known[ranked[1]] >= margin_nats):
        return Route(ranked[0], "best", known)
    tied = [expert for expert in ranked if known[ranked[0]] - known[expert] < margin_nats] or experts
    if current is not None and current in tied:
        return Route(current, "current", known)
    return Route(default, "default", known)


def _unasked(experts: Sequence[str], pinned: str | None, follow_up: str | None, surface: bool) -> Route | None:
    """The route where a rule decides and no score is needed."""
    if pinned is not None:
        if pinned not in experts:
            raise unknown_expert(pinned, experts)
        return Route(pinned, "pinned")
    if follow_up is not None and follow_up in experts:
        return Route(follow_up, "follow_up")
    if surface and SURFACE_EXPERT in experts:
        return Route(SURFACE_EXPERT, "surface")
    if len(experts) == 1:
        return Route(experts[0], "only_expert")
    return None


def clip_request(tokens: Tokens, head_and_tail: int) -> Tokens:
    """At most `head_and_tail` tokens: of a longer request its head and its tail, half each."""
    if len(tokens) <= head_and_tail:
        return tokens
    tail = head_and_tail // 2
    return tokens[: head_and_tail - tail] + tokens[len(tokens) - tail :]


def label_texts(experts: Sequence[str]) -> tuple[str, ...]:
    """What the router may say next, in the order of `experts`."""
    return tuple(experts)


def route_parts(profile: Profile, chat_format: ChatFormat, request: str) -> tuple[Part, ...]:
    """The router's whole prompt; one of `label_texts` is to follow. `request` is already clipped.

    The starter reads the route text as system text, so that this long prefix is the same for every request and is
    computed once. The published Tall was trained with the route text after the request.
    """
    route = profile.texts.route
    request = request.strip()
    if profile.route.wire == "starter":
        return (
            *chat_format.head(route),
            *chat_format.user(f"{request}\n{ROUTE_STEM}", first=True, system=route),
            *chat_format.assistant_open(),
        )
    return (
        *chat_format.head(),
        *chat_format.user(f"{request}\n\n{route}", first=True),
        *chat_format.assistant_open(),
        Trusted(ROUTE_STEM),
    )
