"""Everything is joined here: settings, profile, runtime, store, agent, client."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.bases import find_base
from app.local_client import LocalClient
from app.opening import open_store
from app.paths import Paths, make_home
from app.settings import Settings, load_settings
from engine.agent import Agent
from engine.assets import asset_path
from engine.harness.formats import choose_format
from engine.harness.prompt import make_harness
from engine.mixture import Mixture
from engine.routing.profile import Profile, find_profile, load_profile
from engine.runtime.identity import adapter_ref
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan, Runtime
from engine.store import Store


@dataclass(frozen=True, slots=True)
class Opened:
    """What a face needs. `notices` are things to tell the user once, as text."""

    client: LocalClient
    settings: Settings
    profile: Profile
    notices: tuple[str, ...]


@contextmanager
def open_client(
    paths: Paths, profile_name: str | None, *, expert: str | None = None, conversation_id: str | None = None
) -> Iterator[Opened]:
    """Load the base and open the home; everything is closed again on the way out.

    An expert or a conversation that there is not is refused here, before the base is loaded, which may take minutes.

    Raises: HomeBusy, UnknownName, ModelProblem, RuntimeFailed, StoreProblem.
    """
    make_home(paths)
    settings = load_settings(paths.settings)
    profile = load_chosen_profile(paths, profile_name or settings.profile)
    if expert is not None:
        profile.expert(expert)
    base = find_base(profile, paths)
    with ExitStack() as stack:
        store = stack.enter_context(open_store(paths))
        if conversation_id is not None:
            store.conversation(conversation_id)
        runtime = LlamaRuntime()
        stack.callback(runtime.close)
        agent, notices = build_agent(runtime, store, profile, load_plan(profile, base, settings))
        client = LocalClient(agent, store, runtime, profile)
        stack.callback(client.stop)
        yield Opened(client, settings, profile, notices)


def load_chosen_profile(paths: Paths, name: str) -> Profile:
    return load_profile(find_profile(name, [paths.profiles, asset_path("profiles")]))


def load_plan(profile: Profile, base: Path, settings: Settings) -> LoadPlan:
    return LoadPlan(
        base=str(base),
        context_tokens=profile.context_tokens,
        pool_tokens=2 * profile.context_tokens,
        threads=settings.threads or usable_cores(),
        embedder=str(asset_path("embedder", "all-MiniLM-L6-v2-Q8_0.gguf")),
    )


def usable_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def build_agent(runtime: Runtime, store: Store, profile: Profile, plan: LoadPlan) -> tuple[Agent, tuple[str, ...]]:
    """Load the base and put the agent together.

    Raises: ModelProblem, RuntimeFailed.
    """
    info = runtime.load(plan)
    chat_format, is_known = choose_format(info.architecture, info.markup, bos=info.bos, family=profile.family)
    notices = []
    if not is_known:
        notices.append(
            f"The chat format of {info.name} is not known; ChatML is used. "
            "If answers look wrong, set `family` in the profile's profile.toml."
        )
    stacks = {expert.expert: (adapter_ref(expert.adapter),) if expert.adapter else () for expert in profile.experts}
    harness = make_harness(profile, chat_format, info.markup)
    return Agent(runtime, store, Mixture(profile, harness, info, stacks)), tuple(notices)
