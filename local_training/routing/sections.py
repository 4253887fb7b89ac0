"""Which experts a router is shown, under which labels and in which words, and who of them is asked. Pure.

Three kinds of showing: the starter's own four as they are; those and invented ones after them, as a user adds experts;
and any three to six in other words under shuffled labels, so that only what is read can tell who is meant.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from engine.routing.profile import ROUTE_STEM, Expert, Profile, describe_experts, fill
from local_training.routing.phrases import Sections

Kind = Literal["own", "added", "shuffled"]

PURPOSES: Final[Mapping[str, str]] = {"L0": "chat", "L1": "agent", "L2": "coding", "L3": "surface"}
"""What the starter's experts are for, in the words of the phrases."""
_KINDS: Final[tuple[Kind, ...]] = ("own", "added", "shuffled")
_WEIGHTS: Final = (0.45, 0.30, 0.25)
_INVENTED_SHARE: Final = 0.5
"""Of the showings with invented experts, those that ask one of them."""
_HIGHEST_LABEL: Final = 9


@dataclass(frozen=True, slots=True)
class Showing:
    kind: Kind
    route: str
    """What the router reads as system text."""
    experts: tuple[tuple[str, str], ...]
    """(label, what it is for) of all that are shown."""
    asked: str
    """What the one that is asked is for."""

    @property
    def label(self) -> str:
        return next(label for label, purpose in self.experts if purpose == self.asked)


def show(profile: Profile, sections: Sections, chance: random.Random, kind: Kind | None = None) -> Showing:
    """One showing of the starter `profile`, another one for every state of `chance`; of any kind, or of this one."""
    kind = kind or chance.choices(_KINDS, _WEIGHTS)[0]
    if kind == "shuffled":
        return _shuffled(profile, sections, chance)
    own = [(expert, PURPOSES[expert.expert]) for expert in profile.experts]
    if kind == "own":
        return _showing(kind, _own_route(profile), own, chance.choice(own)[1])
    names = chance.sample(sorted(sections.invented), chance.randint(1, 2))
    added = [
        (_expert(f"L{len(own) + place}", chance.choice(sections.invented[name].wordings)), name)
        for place, name in enumerate(names)
    ]
    asked = chance.choice(added if chance.random() < _INVENTED_SHARE else own)[1]
    return _showing(kind, _own_route(profile), [*own, *added], asked)


def ask_another(showing: Showing, chance: random.Random) -> Showing:
    """The same experts in the same words, of whom perhaps another is asked: invented ones as often as the own."""
    purposes = [purpose for _, purpose in showing.experts]
    own = [purpose for purpose in purposes if purpose in PURPOSES.values()]
    invented = [purpose for purpose in purposes if purpose not in own]
    return replace(showing, asked=chance.choice(invented if invented and chance.random() < _INVENTED_SHARE else own))


def _shuffled(profile: Profile, sections: Sections, chance: random.Random) -> Showing:
    count = chance.randint(3, 6)
    own = chance.sample(sorted(sections.own), chance.randint(2, min(4, count)))
    invented = chance.sample(sorted(sections.invented), count - len(own))
    asked = chance.choice(invented if invented and chance.random() < _INVENTED_SHARE else own)
    purposes = [*own, *invented]
    chance.shuffle(purposes)
    highest = count - 1 if chance.random() < 0.7 else _HIGHEST_LABEL
    numbers = sorted(chance.sample(range(highest + 1), count))
    descriptions = _own_descriptions(profile)
    experts = []
    for number, purpose in zip(numbers, purposes, strict=True):
        wordings = sections.own[purpose] if purpose in sections.own else sections.invented[purpose].wordings
        known = [descriptions[purpose]] if purpose in descriptions else []
        experts.append((_expert(f"L{number}", chance.choice([*known, *wordings])), purpose))
    template = chance.choice([_own_route(profile), *sections.routes])
    return _showing("shuffled", template, experts, asked)


def _showing(kind: Kind, template: str, experts: Sequence[tuple[Expert, str]], asked: str) -> Showing:
    route = fill(template, describe_experts([expert for expert, _ in experts]))
    return Showing(kind, route, tuple((expert.expert, purpose) for expert, purpose in experts), asked)


def _own_route(profile: Profile) -> str:
    """The profile's route.md, as `engine.routing.profile` takes it before the experts are filled in."""
    template = (profile.folder / "route.md").read_text(encoding="utf-8-sig")
    return template.strip().removesuffix(ROUTE_STEM).strip()


def _own_descriptions(profile: Profile) -> dict[str, str]:
    return {PURPOSES[expert.expert]: expert.description for expert in profile.experts}


def _expert(label: str, description: str) -> Expert:
    return Expert(label, "", description, None, "")
