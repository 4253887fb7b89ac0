"""Who routes: the base with an adapter or without, asked as serving asks it, and the bag of words beside them.

Every answer is kept with its request, so that shares, confusions and mistakes are all counted from one list. Knows no
goals.
"""

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.assets import asset_path
from engine.harness.formats import choose_format
from engine.mixture import Mixture, harness_of
from engine.router_model import ROUTER, route_scores
from engine.routing.profile import ROUTE_STEM, Profile, load_profile
from engine.routing.router import choose
from engine.runtime.child import ChildRuntime
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import NEVER, LoadPlan, ModelInfo, Request, Runtime, Token
from local_training.routing.sections import PURPOSES
from tests.bench.bag_of_words import TextClassifier
from tests.bench.prompts import Prompts
from tests.bench.report import progress
from tests.bench.router_requests import FIFTH_SECTION, Asked
from tests.support.models import starter_base

PROFILE: Final = asset_path("profiles", "starter")
TRAINING: Final = asset_path("tasks", "router.jsonl")
KEPT_TOKENS: Final = 400
"""What the answering view has read before."""


@dataclass(frozen=True, slots=True)
class Answer:
    asked: Asked
    routed: str
    """Where the turn goes: the best label if it leads by the profile's margin, else the profile's default."""
    best: str
    """The likeliest label."""
    lead_nats: float
    """Of the best label over the second."""

    @property
    def is_right(self) -> bool:
        return self.routed == self.asked.expert


@dataclass(frozen=True, slots=True)
class FirstToken:
    """One request of a user, in seconds."""

    route_s: float
    answer_s: float
    """From the route to the answer's first token."""

    @property
    def route_share(self) -> float:
        return self.route_s / (self.route_s + self.answer_s)


@contextmanager
def open_engine(threads: int) -> Iterator[tuple[ChildRuntime, ModelInfo]]:
    runtime = ChildRuntime()
    try:
        yield runtime, runtime.load(LoadPlan(str(starter_base()), threads=threads))
    finally:
        runtime.close()


def mixture_of(profile: Profile, info: ModelInfo, adapter: Path | None) -> Mixture:
    """The profile with `adapter` as L0's, all other experts bare."""
    chat_format, _ = choose_format(info.architecture, info.markup, bos=info.bos, family=profile.family)
    stack = (adapter_ref(adapter),) if adapter else ()
    stacks = {expert: stack if expert == ROUTER else () for expert in profile.expert_ids}
    return Mixture(profile, harness_of(profile, chat_format, info.markup), info, stacks)


def starter() -> Profile:
    return load_profile(PROFILE)


def starter_and_fifth(folder: Path) -> Profile:
    """The starter with an expert of mathematics after its own, as a user adds one. `folder` is made."""
    shutil.copytree(PROFILE, folder)
    with (folder / "lora.md").open("a", encoding="utf-8") as file:
        file.write(FIFTH_SECTION)
    return load_profile(folder)


def route_all(requests: Sequence[Asked], runtime: Runtime, mixture: Mixture) -> tuple[Answer, ...]:
    """Every request as the first of a conversation."""
    answers = []
    for number, asked in enumerate(requests, start=1):
        answers.append(_routed(asked, runtime, mixture))
        if number % 100 == 0:
            progress(f"  {number} of {len(requests)} requests routed")
    return tuple(answers)


def route_by_words(requests: Sequence[Asked]) -> tuple[Answer, ...]:
    """By TF-IDF and logistic regression over the very requests that the router learns from.

    It knows no sections, so it learns only from those that are for one of the starter's four experts.
    """
    labels = {purpose: expert for expert, purpose in PURPOSES.items()}
    lines = [json.loads(line) for line in TRAINING.read_text(encoding="utf-8").splitlines()]
    known = [(_request(line), labels[line["tags"][1]]) for line in lines if line["tags"][1] in labels]
    classifier = TextClassifier([text for text, _ in known], [label for _, label in known])
    predicted = classifier.predict([asked.text for asked in requests])
    return tuple(Answer(asked, label, label, 0.0) for asked, label in zip(requests, predicted, strict=True))


def time_first_tokens(
    runtime: Runtime, mixture: Mixture, *, request_tokens: int, new_tokens: int, repeats: int, seed: int
) -> tuple[FirstToken, ...]:
    """Requests of `request_tokens`, each routed and then answered in a view that reads `new_tokens`, itself included.

    The route text is read before the first that counts, and the view has `KEPT_TOKENS` of a past.
    """
    prompts = Prompts(runtime.encode, seed)
    past = prompts.draw(KEPT_TOKENS)
    found = []
    for repeat in range(repeats + 1):
        between, request = prompts.draw(new_tokens - request_tokens), prompts.draw(request_tokens)
        text = runtime.decode(request)
        began = time.perf_counter()
        route_scores("", text, runtime, mixture, NEVER)
        routed = time.perf_counter()
        for piece in runtime.generate([Request((*past, *between, *request), 1, cache_key="answering view")]):
            if isinstance(piece, Token):
                answered = time.perf_counter()
        if repeat > 0:
            found.append(FirstToken(routed - began, answered - routed))
    return tuple(found)


def _routed(asked: Asked, runtime: Runtime, mixture: Mixture) -> Answer:
    profile = mixture.profile
    scores = route_scores(asked.request_id, asked.text, runtime, mixture, NEVER).scores
    first, second, *_ = sorted(scores, key=scores.__getitem__, reverse=True)
    route = choose(
        scores=scores,
        experts=profile.expert_ids,
        default=profile.route.default,
        margin_nats=profile.route.margin_nats,
    )
    return Answer(asked, route.expert, first, scores[first] - scores[second])


def _request(line: dict[str, list[dict[str, str]]]) -> str:
    return line["prompt"][-1]["content"].removesuffix(f"\n{ROUTE_STEM}")
