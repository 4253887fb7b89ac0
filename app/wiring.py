"""Everything is joined here: settings, profile, runtime, store, agent, client."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import psutil

from app.adapters.factory import enter_factory
from app.adapters.shelf import StoreShelf
from app.bases import find_base
from app.forgetting.forgetting import Forgetting
from app.harness.hands import HomeHands
from app.harness.home_tools import HomeTools
from app.harness.tool_shelf import StoredTools
from app.interview.shelf import StoredInterview
from app.local_client import LocalClient
from app.memory.shelf import StoredMemories
from app.off_record import OffTheRecord
from app.opening import open_store
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import Settings, load_settings
from app.suggestions.shelf import StoredSuggestions
from engine.adapters.catalogue import Catalogue
from engine.adapters.serving import CatalogueAdapters
from engine.agent import Agent
from engine.assets import asset_path
from engine.harness.formats import choose_format
from engine.harness.tool_calls import style_of
from engine.memory.keeping import KeptMemories
from engine.memory.runtime_embedder import RuntimeEmbedder
from engine.memory.turning import TurnMemory
from engine.memory.weighting import rules_from
from engine.mixture import Mixture, harness_of
from engine.personal import Uncounted
from engine.routing.profile import Profile
from engine.runtime import ladder
from engine.runtime.child import ChildRuntime
from engine.runtime.identity import adapter_ref
from engine.runtime.protocol import WHERE_IT_PAYS, LoadPlan, Runtime
from engine.runtime.quarantine import Quarantine
from engine.store import Store
from engine.values import About
from ui.client import Client

_EMBEDDER: Final = "all-MiniLM-L6-v2-Q8_0.gguf"
_MEMORY_SHARE: Final = 0.9
"""Part of the machine's memory the engine child may hold for itself; mapped model files do not count."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a face needs."""

    client: Client
    settings: Settings


@dataclass(frozen=True, slots=True)
class Built:
    agent: Agent
    off_record: Agent | None
    """The same for conversations that are kept nowhere; None where there are none."""
    mixture: Mixture
    about: About


@contextmanager
def attached(paths: Paths, profile_name: str | None, *, stays: bool) -> Iterator[Opened]:
    """A client of the home's host, which is started when none runs and goes on afterwards.

    `stays`: a face that is open for long, under which the host must not end because nobody has spoken for a while.

    Raises: AgentError with the reason why there can be no host.
    """
    from app.remote_client import connect  # its libraries are of no use to a program that runs alone

    make_home(paths)
    settings = load_settings(paths.settings)
    client = connect(paths, profile=profile_name, attended=stays)
    if stays:
        client.watch()
    try:
        yield Opened(client, settings)
    finally:
        client.close()


@contextmanager
def open_client(
    paths: Paths, profile_name: str | None, *, expert: str | None = None, conversation_id: str | None = None
) -> Iterator[Opened]:
    """The agent in this process, without a host: load the base, open the home, close everything on the way out.

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
        runtime = engine_child(paths)
        stack.callback(runtime.close)
        tools = stack.enter_context(closing(HomeTools(paths, store.database)))
        plan = load_plan(profile, base, settings, paths.models)
        hidden = stack.enter_context(OffTheRecord())
        memories = open_memories(store, runtime, settings, paths.models)
        built = build_agent(
            runtime,
            store,
            profile,
            plan,
            adapters=paths.adapters,
            tools=tools,
            memories=memories,
            off_record=hidden.store,
        )
        shelf = StoreShelf(Catalogue(store.database), paths.adapters)
        client = LocalClient(
            built.agent,
            store,
            runtime,
            profile,
            built.about,
            shelf,
            StoredTools(tools),
            StoredMemories(memories, store, Forgetting(paths, store)),
            StoredSuggestions(paths, store),
            StoredInterview(store, memories),
            hidden=hidden,
            hidden_agent=built.off_record,
        )
        stack.callback(client.stop)
        yield Opened(client, settings)


def engine_child(paths: Paths) -> ChildRuntime:
    """llama.cpp in a process of its own, which may take most of the memory but not all of it."""
    limit = int(psutil.virtual_memory().total * _MEMORY_SHARE)
    return ChildRuntime(memory_bytes=limit, quarantine=Quarantine(paths.quarantine))


def load_plan(profile: Profile, base: Path, settings: Settings, models: Path | None = None) -> LoadPlan:
    """`models`: the folder of the home's models, where the file of an embedder may lie."""
    return LoadPlan(
        base=str(base),
        context_tokens=profile.context_tokens,
        pool_tokens=2 * profile.context_tokens,
        threads=settings.threads,
        draft_tokens=WHERE_IT_PAYS,
        embedder=str(embedder_file(settings, models)),
    )


def embedder_file(settings: Settings, models: Path | None = None) -> Path:
    """The one that is set, by its path or its name in `models`; else the one that comes with the program."""
    if not settings.embedder:
        return asset_path("embedder", _EMBEDDER)
    named = Path(settings.embedder).expanduser()
    in_models = None if models is None else models / settings.embedder
    return in_models if in_models is not None and in_models.is_file() else named


def open_memories(store: Store, runtime: Runtime, settings: Settings, models: Path | None = None) -> KeptMemories:
    """What is remembered, for all who need it in this process: it holds an index in memory, so there must be one only.

    Raises: ModelMissing, BadModelFile for an embedder that is none; StoreProblem.
    """
    embedder = RuntimeEmbedder(embedder_file(settings, models), runtime.embed)
    return KeptMemories(store, embedder, rules=rules_from(settings.memory))


def build_agent(
    runtime: Runtime,
    store: Store,
    profile: Profile,
    plan: LoadPlan,
    *,
    adapters: Path | None = None,
    tools: HomeTools | None = None,
    memories: KeptMemories | None = None,
    off_record: Store | None = None,
) -> Built:
    """Load the base, with less room where memory is short, and put the agent together.

    `adapters` is the folder of the files that the store's catalogue names; None leaves personal adapters out. Without
    `tools` the agent only talks; without `memories` it knows nothing of its user. `off_record` holds the
    conversations that are kept nowhere; None where there are none.

    Raises: ModelProblem, RuntimeFailed; UsageProblem for a harness.toml that is wrong.
    """
    info, plan, short = ladder.load(runtime, plan)
    profile = replace(profile, context_tokens=plan.context_tokens)
    chat_format, is_known = choose_format(info.architecture, info.markup, bos=info.bos, family=profile.family)
    notices = [short] if short else []
    if not is_known:
        notices.append(
            f"The chat format of {info.name} is not known; ChatML is used. "
            "If answers look wrong, set `family` in the profile's profile.toml."
        )
    stacks = {expert.expert: (adapter_ref(expert.adapter),) if expert.adapter else () for expert in profile.experts}
    harness = harness_of(profile, chat_format, info.markup)
    base = profile.base_model or info.name
    about = About(base, info.backend, info.backend_reason, tuple(notices), profile.name, profile.context_tokens)
    mixture = Mixture(profile, harness, info, stacks)
    personal = None if adapters is None else _personal(store, adapters, mixture)
    hands = None if tools is None else HomeHands(tools, profile, runtime, style_of(chat_format.family))
    memory = None if memories is None else TurnMemory(memories)
    agent = Agent(runtime, store, mixture, personal=personal, hands=hands, memory=memory)
    uncounted = None if personal is None else Uncounted(personal)
    hidden = None if off_record is None else Agent(runtime, off_record, mixture, personal=uncounted, hands=hands)
    return Built(agent, hidden, mixture, about)


def _personal(store: Store, folder: Path, mixture: Mixture) -> CatalogueAdapters:
    catalogue = Catalogue(store.database)
    enter_factory(catalogue, mixture.profile, mixture.info.base_hash)
    return CatalogueAdapters(catalogue, folder, mixture.profile.name, mixture.info.base_hash)
