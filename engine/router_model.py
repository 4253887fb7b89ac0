"""Ask the router: score every expert's label for the current request, on the router's adapter stack.

Knows nothing of the conversation; the decision itself is `engine.routing.router.choose`.
"""

from dataclasses import dataclass
from typing import Final

from engine.harness.encoding import encode_parts
from engine.harness.prompt import Harness
from engine.mixture import Mixture
from engine.routing import router
from engine.routing.profile import Profile
from engine.runtime.protocol import Runtime, ScoreRequest, Stop, Tokens, Usage
from engine.values import Trace

ROUTER: Final = "L0"
"""The router runs on this expert's stack, where the profile has it; else on the first expert's."""


@dataclass(frozen=True, slots=True)
class RouteScores:
    """`scores` are log-probabilities in nats, by expert; the trace holds the likeliest label as its completion."""

    scores: dict[str, float]
    usage: Usage
    trace: Trace


def shown_request(text: str, runtime: Runtime, request_tokens: int) -> str:
    """What the router reads of a request: all of it, or the head and the tail of a long one."""
    request = runtime.encode(text)
    clipped = router.clip_request(request, request_tokens)
    return text if clipped == request else runtime.decode(clipped)


def route_prompt(text: str, runtime: Runtime, profile: Profile, harness: Harness) -> Tokens:
    """Token ids after which the labels are scored."""
    shown = shown_request(text, runtime, profile.route.request_tokens)
    return encode_parts(router.route_parts(profile, harness.chat_format, shown), runtime, harness.markup)


def route_scores(turn_id: str, text: str, runtime: Runtime, mixture: Mixture, stop: Stop) -> RouteScores:
    """Raises: ScoringStopped, RuntimeFailed."""
    profile, experts = mixture.profile, mixture.profile.expert_ids
    prompt = route_prompt(text, runtime, profile, mixture.harness)
    labels = tuple(runtime.encode(label) for label in router.label_texts(experts))
    owner = ROUTER if ROUTER in experts else experts[0]
    scored = runtime.score(ScoreRequest(prompt, labels, mixture.stacks[owner], cache_key="route"), stop)
    scores = dict(zip(experts, scored.totals(), strict=True))
    likeliest = labels[experts.index(max(scores, key=scores.__getitem__))]
    return RouteScores(scores, scored.usage, mixture.trace(turn_id, "route", owner, prompt, likeliest))
