"""What the host costs: the same completions asked of the engine directly and over HTTP, many clients, idle clients.

`python -m tests.bench.http [--json] [--quick] [--seed N]`. Both sides run the starter on one thread each and take
turns, so that neither computes while the other is timed. The direct side is the code the host itself runs.
"""

import asyncio
import contextlib
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx
import psutil

from app.bases import find_base
from app.gate.secrets import Secrets
from app.host.address import HostAddress
from app.host.starting import ensure_host, read_token
from app.paths import Paths, make_home
from app.profiles import load_chosen_profile
from app.settings import Settings
from app.wiring import build_agent, load_plan
from engine.completing import Asked, Ended, Message, Said, complete
from engine.mixture import Mixture
from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import NEVER
from engine.store import Store
from tests.bench.report import Figure, Goal, Report, arguments, middle, progress, show
from tests.support.hosting import end_host

GOALS: Final = {
    "first_token_overhead_ms": Goal("first_token_overhead_ms", "ms, HTTP minus direct", "<=50"),
    "throughput_ratio": Goal("throughput_ratio", "tokens/s, HTTP/direct", ">=0.95"),
    "clients_completed_of_16": Goal("clients_completed_of_16", "clients", ">=16"),
    "fairness_max_over_median": Goal("fairness_max_over_median", "slowest client/median client", "<=1.5"),
    "idle_clients_200_rss_mb": Goal("idle_clients_200_rss_mb", "MB more with 200 idle streams", "reported"),
}
THREADS: Final = 1
CLIENTS: Final = 16
IDLE_CLIENTS: Final = 200
SUBJECTS: Final = ("rivers", "bread", "the moon", "bridges", "tea", "glass", "snow", "maps", "bees", "clocks")


@dataclass(frozen=True, slots=True)
class Timed:
    """One completion as its client saw it."""

    first_ms: float
    total_ms: float
    tokens: int
    text: str

    @property
    def tokens_per_s(self) -> float:
        return self.tokens * 1000 / self.total_ms


@dataclass(frozen=True, slots=True)
class Crowd:
    """One round of many clients."""

    completed: int
    """Clients that got every answer they asked for."""
    waits_ms: tuple[float, ...]
    """Mean time to a whole answer, per client."""

    @classmethod
    def of(cls, clients: Sequence[Sequence[Timed | None]]) -> "Crowd":
        """From the completions of each client, None where one failed."""
        done = [[timed for timed in client if timed is not None] for client in clients]
        waits = tuple(sum(timed.total_ms for timed in client) / len(client) for client in done if client)
        return cls(sum(len(got) == len(asked) for got, asked in zip(done, clients, strict=True)), waits)


def main() -> None:
    options = arguments("http", __doc__ or "").parse_args()
    repeats, tokens, rounds, asked_by_each = (3, 24, 1, 1) if options.quick else (9, 96, 5, 3)
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "home"
        stack.callback(end_host, home)
        host = start_host(home)
        direct = stack.enter_context(direct_side(home.parent / "direct.db"))
        pairs = compare(direct, host, prompts(options.seed, repeats), tokens)
        progress("200 idle clients")
        # Before the many: memory that those have used and given back would hide what the idle ones take.
        idle = asyncio.run(idle_clients(host))
        crowds = []
        for number in range(rounds):
            progress(f"16 clients, round {number + 1} of {rounds}")
            texts = prompts(options.seed + 1 + number, CLIENTS)
            crowds.append(Crowd.of(asyncio.run(many_clients(host, texts, 16, asked_by_each))))
    show(report(pairs, crowds, idle), as_json=options.json)


def report(pairs: Sequence[tuple[Timed, Timed]], crowds: Sequence[Crowd], idle: Figure) -> Report:
    """`pairs` are (direct, HTTP) of the same prompt."""
    completed = [float(crowd.completed) for crowd in crowds]
    figures = {
        "first_token_overhead_ms": middle([http.first_ms - direct.first_ms for direct, http in pairs]),
        "throughput_ratio": middle([http.tokens_per_s / direct.tokens_per_s for direct, http in pairs]),
        "clients_completed_of_16": Figure(min(completed), len(completed), (min(completed), max(completed))),
        "fairness_max_over_median": middle([max(crowd.waits_ms) / median(crowd.waits_ms) for crowd in crowds]),
        "idle_clients_200_rss_mb": idle,
    }
    rows = [
        {
            "direct first token ms": direct.first_ms,
            "HTTP first token ms": http.first_ms,
            "direct tokens/s": direct.tokens_per_s,
            "HTTP tokens/s": http.tokens_per_s,
            "same text": direct.text == http.text,
        }
        for direct, http in pairs
    ]
    return Report(
        "http",
        [(goal, figures[name]) for name, goal in GOALS.items()],
        {
            "one client": rows,
            "16 clients, mean ms per answer": [
                {"round": number, "fastest": min(crowd.waits_ms), "median": median(crowd.waits_ms)}
                | {"slowest": max(crowd.waits_ms)}
                for number, crowd in enumerate(crowds)
            ],
        },
        packages=("llama-cpp-python", "fastapi", "uvicorn", "httpx"),
        notes={"threads_of_each_side": THREADS},
    )


def prompts(seed: int, count: int) -> list[str]:
    """Different beginnings, so that no side answers from what it has read before."""
    draw = random.Random(seed)
    return [f"{draw.randrange(10**6)}: tell me everything about {draw.choice(SUBJECTS)}." for _ in range(count)]


# One client


def compare(
    direct: tuple[ChildRuntime, Mixture], host: HostAddress, texts: Sequence[str], tokens: int
) -> list[tuple[Timed, Timed]]:
    """(direct, HTTP) for each text; which side is first alternates."""
    pairs = []
    with client_of(host) as http:
        ask_http(http, "Warm up.", tokens)
        ask_direct(*direct, "Warm up.", tokens)
        for number, text in enumerate(texts):
            if number % 2:
                over_http = ask_http(http, text, tokens)
                pairs.append((ask_direct(*direct, text, tokens), over_http))
            else:
                pairs.append((ask_direct(*direct, text, tokens), ask_http(http, text, tokens)))
            progress(f"  {number + 1} of {len(texts)}: {[round(timed.first_ms) for timed in pairs[-1]]} ms")
    return pairs


@contextlib.contextmanager
def direct_side(database: Path) -> Iterator[tuple[ChildRuntime, Mixture]]:
    """The starter in an engine child of this process."""
    profile = load_chosen_profile(Paths(database.parent), "starter")
    base = find_base(profile, Paths(database.parent))
    with closing(ChildRuntime()) as runtime, Store.open(database) as store:
        plan = load_plan(profile, base, Settings(threads=THREADS))
        yield runtime, build_agent(runtime, store, profile, plan).mixture


def start_host(home: Path) -> HostAddress:
    paths = Paths(home)
    make_home(paths)
    paths.settings.write_text(f"threads = {THREADS}\nport = 0\n", encoding="utf-8")
    Secrets(paths).api_key.create()
    return ensure_host(paths)


def client_of(host: HostAddress) -> httpx.Client:
    return httpx.Client(base_url=host.url, headers=authorization(host), timeout=600, trust_env=False)


def authorization(host: HostAddress) -> dict[str, str]:
    return {"Authorization": f"Bearer {read_token(host)}"}


def ask_direct(runtime: ChildRuntime, mixture: Mixture, text: str, tokens: int) -> Timed:
    asked = Asked((Message("user", text),), "L0", max_tokens=tokens, sampling={"temperature": 0.0, "seed": 1})
    started = time.perf_counter()
    first, said, count = 0.0, [], 0
    for piece in complete(asked, runtime, mixture, NEVER):
        match piece:
            case Said(text=more) if more:
                first = first or time.perf_counter()
                said.append(more)
            case Ended(usage=usage):
                count = usage.completion_tokens
    return Timed(1000 * (first - started), 1000 * (time.perf_counter() - started), count, "".join(said))


def ask_http(http: httpx.Client, text: str, tokens: int) -> Timed:
    started = time.perf_counter()
    with http.stream("POST", "/v1/chat/completions", json=body(text, tokens)) as answer:
        answer.raise_for_status()
        reader = Reader(started)
        for line in answer.iter_lines():
            reader.take(line)
    return reader.timed()


def body(text: str, tokens: int) -> dict[str, Any]:
    return {
        "model": "macaron:L0",
        "messages": [{"role": "user", "content": text}],
        "max_tokens": tokens,
        "temperature": 0,
        "seed": 1,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


class Reader:
    """Reads the events of one streamed completion."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._first = 0.0
        self._said: list[str] = []
        self._tokens = 0
        self._is_done = False

    def take(self, line: str) -> None:
        data = line.removeprefix("data: ")
        if data == line or not data:
            return
        if data == "[DONE]":
            self._is_done = True
            return
        chunk = json.loads(data)
        for choice in chunk["choices"]:
            if text := choice["delta"].get("content"):
                self._first = self._first or time.perf_counter()
                self._said.append(text)
        if chunk.get("usage"):
            self._tokens = chunk["usage"]["completion_tokens"]

    def timed(self) -> Timed:
        assert self._is_done and self._tokens, "the stream ended before its answer did"
        now = time.perf_counter()
        return Timed(
            1000 * (self._first - self._started), 1000 * (now - self._started), self._tokens, "".join(self._said)
        )


# Many clients


async def many_clients(
    host: HostAddress, texts: Sequence[str], tokens: int, asked_by_each: int
) -> list[list[Timed | None]]:
    """Every client asks again as soon as it has its answer."""
    ready = asyncio.Barrier(len(texts))

    async def client(text: str) -> list[Timed | None]:
        done: list[Timed | None] = []
        async with httpx.AsyncClient(
            base_url=host.url, headers=authorization(host), timeout=600, trust_env=False
        ) as http:
            await ready.wait()
            for number in range(asked_by_each):
                try:
                    done.append(await ask_async(http, f"{number} {text}", tokens))
                except (httpx.HTTPError, AssertionError) as error:
                    progress(f"  a client failed: {error!r}")
                    done.append(None)
        return done

    return list(await asyncio.gather(*(client(text) for text in texts)))


async def ask_async(http: httpx.AsyncClient, text: str, tokens: int) -> Timed:
    started = time.perf_counter()
    async with http.stream("POST", "/v1/chat/completions", json=body(text, tokens)) as answer:
        answer.raise_for_status()
        reader = Reader(started)
        async for line in answer.aiter_lines():
            reader.take(line)
    return reader.timed()


async def idle_clients(host: HostAddress) -> Figure:
    """How much the host's own memory grows with streams that only wait; it must answer meanwhile."""
    process = psutil.Process(host.pid)
    before = process.memory_info().rss
    async with contextlib.AsyncExitStack() as stack:
        limits = httpx.Limits(max_connections=None)
        http = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=host.url, headers=authorization(host), timeout=60, limits=limits, trust_env=False
            )
        )
        streams = []  # held, because one that is let go of is closed
        for _ in range(IDLE_CLIENTS):
            answer = await stack.enter_async_context(http.stream("GET", "/api/events"))
            answer.raise_for_status()
            streams.append(answer.aiter_lines())
            await anext(streams[-1])
        await ask_async(http, "Say hello.", 8)
        grown = process.memory_info().rss - before
        facts = (await http.get("/api/host")).json()
        assert facts["faces"] == IDLE_CLIENTS, f"only {facts['faces']} streams were open"
    return Figure(grown / 2**20, 1)


if __name__ == "__main__":
    main()
