"""The engine behind a pipe: the same answers as in this process, and calls that outlive the child that served them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from engine.assets import asset_path
from engine.errors import (
    AdapterMismatch,
    AgentError,
    BadModelFile,
    ContextOverflow,
    ModelMissing,
    OutOfMemory,
    RuntimeFailed,
    UsageProblem,
)
from engine.runtime.child import ChildRuntime
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import Finished, LoadPlan, Piece, Prefilled, Request, Sampling, ScoreRequest, Token, Tokens
from engine.runtime.quarantine import Quarantine
from tests.support.completing import Completion, complete, complete_all, loaded, stack

pytestmark = pytest.mark.model

EMBEDDER = "all-MiniLM-L6-v2-Q8_0.gguf"
STORY = "Once upon a time, in a small town by the sea, there lived a"
LONG = "The weather station on the hill reports wind, rain and the height of the snow every hour of the day. "
LINES = r'root ::= ("- " [a-z ]{4,12} "\n"){12}'
MEMORY_BYTES = 20 << 20


def plan_for(base: Path, **changes: object) -> LoadPlan:
    defaults: dict[str, object] = {"context_tokens": 2048, "pool_tokens": 4096, "threads": 1, "max_views": 4}
    return LoadPlan(str(base), **{**defaults, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def plan(starter_base: Path) -> LoadPlan:
    return plan_for(starter_base, micro_batch_tokens=128, embedder=str(asset_path("embedder", EMBEDDER)))


@pytest.fixture(scope="module")
def child(plan: LoadPlan) -> Iterator[ChildRuntime]:
    runtime = ChildRuntime()
    runtime.load(plan)
    yield runtime
    runtime.close()


@pytest.fixture(scope="module")
def near(plan: LoadPlan, starter_base: Path) -> Iterator[LlamaRuntime]:
    """The same base in this process."""
    with loaded(starter_base, max_views=4, micro_batch_tokens=128, embedder=plan.embedder) as runtime:
        yield runtime


@pytest.fixture(scope="module")
def story(child: ChildRuntime) -> Tokens:
    return child.encode(STORY)


@pytest.fixture(scope="module")
def long_prompt(child: ChildRuntime) -> Tokens:
    """1,200 tokens: seconds to read on one thread."""
    return child.encode(LONG * 70)[:1200]


@pytest.fixture(autouse=True)
def nothing_is_remembered(request: pytest.FixtureRequest) -> None:
    """Every test reads its prompt itself."""
    if "child" in request.fixturenames:
        request.getfixturevalue("child").drop("")


def kill(runtime: ChildRuntime, number: int = signal.SIGKILL) -> int:
    process_id = runtime.process_id
    assert process_id is not None
    os.kill(process_id, number)
    return process_id


def hear(
    runtime: ChildRuntime, request: Request, *, when: Callable[[Piece], bool], do: Callable[[], object]
) -> list[Piece]:
    """All pieces; `do` runs at the first one for which `when` holds."""
    pieces: list[Piece] = []
    done = False
    for piece in runtime.generate([request]):
        pieces.append(piece)
        if not done and when(piece):
            done = True
            do()
    assert done, "the moment never came"
    return pieces


def tokens_of(pieces: list[Piece]) -> tuple[int, ...]:
    return tuple(piece.token for piece in pieces if isinstance(piece, Token))


def logprobs_of(pieces: list[Piece]) -> list[float]:
    return [piece.logprob for piece in pieces if isinstance(piece, Token) and piece.logprob is not None]


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Token | Finished))


def end_of(pieces: list[Piece]) -> Finished:
    assert isinstance(pieces[-1], Finished)
    assert sum(isinstance(piece, Finished) for piece in pieces) == 1
    return pieces[-1]


# The same as in this process


def test_a_child_says_what_the_engine_says_in_this_process(
    child: ChildRuntime, near: LlamaRuntime, starter_adapters: tuple[Path, ...], story: Tokens
) -> None:
    near.drop("")
    for adapters in ((), stack(starter_adapters[0]), stack(starter_adapters[1], scale=0.5)):
        ours, theirs = (complete(runtime, story, adapters, max_tokens=16, logprobs=3) for runtime in (child, near))
        assert ours.tokens == theirs.tokens
        assert ours.logprobs == theirs.logprobs
        assert (ours.text, ours.reason) == (theirs.text, theirs.reason)
        assert ours.usage.prompt_tokens == theirs.usage.prompt_tokens


def test_every_call_of_the_protocol_gives_the_same(
    child: ChildRuntime, near: LlamaRuntime, plan: LoadPlan, story: Tokens
) -> None:
    near.drop("")
    question = ScoreRequest(story, ((10, 11), (12,)))
    assert child.score(question).logprobs == near.score(question).logprobs
    for text in (STORY, "", "你好，世界 🌊 <|im_start|>"):
        assert child.encode(text) == near.encode(text)
        assert child.decode(child.encode(text)) == text
    assert np.array_equal(child.embed(["one", "二"]), near.embed(["one", "二"]))
    ours, theirs = (complete_all(runtime, [Request(story, 6), Request(story, 5)]) for runtime in (child, near))
    assert [answer.tokens for answer in ours] == [answer.tokens for answer in theirs]

    complete(child, story, max_tokens=2, cache_key="a/1")
    assert child.views() == (("a/1", len(story) + 1),)
    child.drop("a/")
    assert child.views() == ()


def test_loading_tells_the_same_about_the_model(plan: LoadPlan, near: LlamaRuntime) -> None:
    runtime = ChildRuntime()
    assert runtime.load(plan) == near.load(plan)
    runtime.close()


def test_several_callers_are_served_at_once(child: ChildRuntime, story: Tokens) -> None:
    expected = complete(child, story, max_tokens=12).tokens
    answers: list[Completion] = []

    def ask() -> None:
        answers.append(complete(child, story, max_tokens=12))
        child.encode(str(len(answers)))

    callers = [threading.Thread(target=ask) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert [answer.tokens for answer in answers] == [expected] * 5


@pytest.mark.parametrize("phase", [Prefilled, Token], ids=["reading", "writing"])
def test_a_stop_ends_a_call_within_a_second(child: ChildRuntime, long_prompt: Tokens, phase: type[Piece]) -> None:
    stop = threading.Event()
    prompt = long_prompt if phase is Prefilled else long_prompt[:50]
    stopped_at = 0.0
    pieces = []
    for piece in child.generate([Request(prompt, 500)], stop):
        pieces.append(piece)
        if not stopped_at and isinstance(piece, phase):
            stopped_at = time.perf_counter()
            stop.set()
    assert time.perf_counter() - stopped_at < 1.0
    assert end_of(pieces).reason == "stopped"
    assert end_of(pieces).usage.completion_tokens == len(tokens_of(pieces)) < 500


def test_closing_the_answer_ends_the_work_in_the_child(child: ChildRuntime, story: Tokens) -> None:
    pieces = child.generate([Request(story, 2000)])
    next(piece for piece in pieces if isinstance(piece, Token))
    pieces.close()
    started = time.perf_counter()
    complete(child, story, max_tokens=1)
    assert time.perf_counter() - started < 1.0, "the next call does not wait for 2,000 tokens"


def test_an_error_in_the_child_arrives_as_it_is(
    child: ChildRuntime, near: LlamaRuntime, tiny_moe_adapters: tuple[Path, ...], story: Tokens, tmp_path: Path
) -> None:
    faulty: dict[type[AgentError], Request] = {
        ContextOverflow: Request(story * 200, 5),
        AdapterMismatch: Request(story, 5, stack(tiny_moe_adapters[0])),
        UsageProblem: Request(story, 5, json_schema="{"),
    }
    for kind, request in faulty.items():
        errors = []
        for runtime in (child, near):
            with pytest.raises(kind) as caught:
                list(runtime.generate([request]))
            errors.append((type(caught.value), caught.value.problem, caught.value.hint))
        assert errors[0] == errors[1]
        assert all(errors[0][1:])
    complete(child, story, max_tokens=1)


def test_a_base_that_is_missing_or_none_is_refused_and_another_can_be_loaded(tmp_path: Path, tiny_moe: Path) -> None:
    runtime = ChildRuntime()
    (tmp_path / "bad.gguf").write_text("not a model, though long enough to be one")
    with pytest.raises(ModelMissing):
        runtime.load(plan_for(tmp_path / "nowhere.gguf"))
    with pytest.raises(BadModelFile):
        runtime.load(plan_for(tmp_path / "bad.gguf"))
    with pytest.raises(RuntimeFailed, match="No base"):
        runtime.encode("x")
    assert runtime.load(plan_for(tiny_moe)).architecture == "qwen35moe"
    runtime.close()
    with pytest.raises(RuntimeFailed, match="closed"):
        runtime.encode("x")


# The child is killed


@pytest.mark.parametrize("moment", ["while idle", "reading", "writing", "writing much"])
def test_an_answer_whose_child_is_killed_is_the_undisturbed_one(
    child: ChildRuntime, long_prompt: Tokens, moment: str
) -> None:
    prompt = long_prompt[:280]
    request = Request(prompt, 24, logprobs=0, cache_key="view")
    undisturbed = list(child.generate([request]))
    child.drop("")
    count = 0

    def is_now(piece: Piece) -> bool:
        nonlocal count
        count += isinstance(piece, Token)
        return {
            "while idle": isinstance(piece, Prefilled),
            "reading": isinstance(piece, Prefilled) and 0 < piece.done < len(prompt),
            "writing": count == 1,
            "writing much": count == 20,
        }[moment]

    before = child.process_id
    if moment == "while idle":
        kill(child)
        pieces = list(child.generate([request]))
    else:
        pieces = hear(child, request, when=is_now, do=lambda: kill(child))

    assert child.process_id not in (None, before)
    assert tokens_of(pieces) == tokens_of(undisturbed)
    assert text_of(pieces) == text_of(undisturbed)
    usage, expected = end_of(pieces).usage, end_of(undisturbed).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (expected.prompt_tokens, expected.completion_tokens)
    assert usage.reused_tokens <= usage.prompt_tokens
    gaps = [abs(one - other) for one, other in zip(logprobs_of(pieces), logprobs_of(undisturbed), strict=True)]
    assert max(gaps) < 0.2, "but for rounding in batches of another size"


def test_a_recurrent_base_goes_on_after_a_kill_as_if_nothing_had_happened(
    tiny_moe: Path, tiny_moe_adapters: tuple[Path, ...]
) -> None:
    runtime = ChildRuntime()
    runtime.load(plan_for(tiny_moe))
    request = Request((5, 6, 7) * 30, 60, stack(tiny_moe_adapters[0]), logprobs=0, cache_key="view", snapshot_at=(40,))
    undisturbed = list(runtime.generate([request]))
    runtime.drop("")
    killed: list[int] = []
    said = 0
    pieces = []
    for piece in runtime.generate([request]):
        pieces.append(piece)
        said += isinstance(piece, Token)
        if said in (5, 30) and len(killed) < (1 if said == 5 else 2):
            killed.append(kill(runtime))
    assert len(set(killed)) == 2
    assert tokens_of(pieces) == tokens_of(undisturbed)
    assert logprobs_of(pieces) == pytest.approx(logprobs_of(undisturbed), abs=0.02)
    assert end_of(pieces).usage.completion_tokens == 60
    runtime.close()


def test_all_requests_of_a_list_go_on_after_a_kill(child: ChildRuntime, story: Tokens) -> None:
    requests = [Request(story, 10), Request(child.encode("The sea is"), 3), Request(story[:5], 14)]
    undisturbed = complete_all(child, requests)
    said: list[list[int]] = [[] for _ in requests]
    ends = {}
    killed = False
    for piece in child.generate(requests):
        if isinstance(piece, Token):
            said[piece.index].append(piece.token)
        elif isinstance(piece, Finished):
            ends[piece.index] = piece
        if not killed and 1 in ends:
            killed = True
            kill(child)
    assert [tuple(tokens) for tokens in said] == [answer.tokens for answer in undisturbed]
    assert [ends[index].usage.completion_tokens for index in range(3)] == [10, 3, 14]
    assert [ends[index].usage.prompt_tokens for index in range(3)] == [len(request.tokens) for request in requests]


def test_an_answer_within_a_grammar_goes_on_within_it(child: ChildRuntime, story: Tokens) -> None:
    request = Request(story, 80, grammar=LINES)
    undisturbed = list(child.generate([request]))
    count = 0

    def is_now(piece: Piece) -> bool:
        nonlocal count
        count += isinstance(piece, Token)
        return count == 15

    pieces = hear(child, request, when=is_now, do=lambda: kill(child))
    assert text_of(pieces) == text_of(undisturbed)
    assert all(line.startswith("- ") for line in text_of(pieces).split("\n")[:-1])


def test_an_answer_that_ends_at_a_text_still_does_so_when_half_of_it_was_said(
    child: ChildRuntime, story: Tokens
) -> None:
    full = complete(child, story, max_tokens=12).text
    stop_text = full[10:22]
    request = Request(story, 40, stop=(stop_text,))
    count = 0

    def is_now(piece: Piece) -> bool:
        nonlocal count
        count += isinstance(piece, Token)
        return count == 4

    pieces = hear(child, request, when=is_now, do=lambda: kill(child))
    assert text_of(pieces) == full[: full.index(stop_text)]
    assert end_of(pieces).reason == "stop"


def test_other_calls_are_asked_again_when_the_child_is_gone(child: ChildRuntime, story: Tokens) -> None:
    question = ScoreRequest(story, ((10, 11),))
    expected = (child.score(question).logprobs, child.embed(["a"]).tolist(), child.encode("Fresh words 1"))
    for number, call in enumerate(
        (
            lambda: child.score(question).logprobs,
            lambda: child.embed(["a"]).tolist(),
            lambda: child.encode(f"Fresh words {1}"),
        )
    ):
        child._encoded.clear()
        kill(child)
        assert call() == expected[number]


def test_several_callers_all_survive_a_kill(child: ChildRuntime, story: Tokens) -> None:
    expected = complete(child, story, max_tokens=20).tokens
    answers: list[tuple[int, ...]] = []
    first = threading.Event()

    def ask() -> None:
        tokens = []
        for piece in child.generate([Request(story, 20)]):
            if isinstance(piece, Token):
                first.set()
                tokens.append(piece.token)
        answers.append(tuple(tokens))

    callers = [threading.Thread(target=ask) for _ in range(3)]
    for caller in callers:
        caller.start()
    first.wait(10)
    kill(child)
    for caller in callers:
        caller.join(60)
    assert answers == [expected] * 3


def test_a_kill_during_the_load_is_forgiven_once(starter_base: Path) -> None:
    runtime = ChildRuntime()
    killer = threading.Thread(target=lambda: (wait_for(lambda: runtime.process_id is not None), kill(runtime)))
    killer.start()
    info = runtime.load(plan_for(starter_base))
    killer.join()
    assert info.architecture == "llama"
    assert complete(runtime, runtime.encode(STORY), max_tokens=2).usage.completion_tokens == 2
    runtime.close()


def test_a_child_that_always_dies_fails_the_call_after_three(tiny_moe: Path, tmp_path: Path) -> None:
    record = tmp_path / "quarantine.json"
    runtime = ChildRuntime(quarantine=Quarantine(record))
    runtime.load(plan_for(tiny_moe))
    killed = []

    def always() -> None:
        for piece in runtime.generate([Request((5,) * 1900, 4)]):
            if isinstance(piece, Prefilled) and piece.done == 0:
                killed.append(kill(runtime))

    with pytest.raises(RuntimeFailed, match="SIGKILL") as failed:
        always()
    assert len(set(killed)) == 3
    assert failed.value.hint
    assert not record.exists(), "nobody crashed, it was killed"
    assert complete(runtime, (5, 6, 7), max_tokens=2).usage.completion_tokens == 2
    runtime.close()


def test_an_adapter_the_child_crashes_over_is_remembered_unless_it_worked_before(
    tiny_moe: Path, tiny_moe_adapters: tuple[Path, ...], tmp_path: Path
) -> None:
    quarantine = Quarantine(tmp_path / "quarantine.json")
    runtime = ChildRuntime(quarantine=quarantine)
    runtime.load(plan_for(tiny_moe))
    proven, suspect = stack(tiny_moe_adapters[0]), stack(tiny_moe_adapters[1])
    complete(runtime, (5, 6), proven, max_tokens=1)

    for adapters in (proven, suspect):
        with pytest.raises(RuntimeFailed, match="SIGSEGV"):
            for piece in runtime.generate([Request((5,) * 1900, 4, adapters)]):
                if isinstance(piece, Prefilled) and piece.done == 0:
                    kill(runtime, signal.SIGSEGV)

    complete(runtime, (5, 6), proven, max_tokens=1)
    with pytest.raises(BadModelFile, match="SIGSEGV"):
        complete(runtime, (5, 6), suspect, max_tokens=1)
    with pytest.raises(BadModelFile, match="SIGSEGV"):
        runtime.score(ScoreRequest((5, 6), ((7,),), suspect))
    quarantine.check(str(tiny_moe))
    runtime.close()


def test_a_child_that_hangs_is_noticed_and_replaced(tiny_moe: Path) -> None:
    runtime = ChildRuntime(silence_s=2.0)
    runtime.load(plan_for(tiny_moe))
    request = Request((5, 6, 7), 30)
    undisturbed = tokens_of(list(runtime.generate([request])))
    count = 0

    def is_now(piece: Piece) -> bool:
        nonlocal count
        count += isinstance(piece, Token)
        return count == 3

    started = time.perf_counter()
    pieces = hear(runtime, request, when=is_now, do=lambda: kill(runtime, signal.SIGSTOP))
    assert tokens_of(pieces) == undisturbed
    assert time.perf_counter() - started < 8.0
    runtime.close()


@pytest.mark.parametrize(
    "nonsense",
    [
        {"id": 1, "value": ["T", 7, 5, "x", None, []]},
        {"id": 1, "value": ["T", 0, "5", "x", None, []]},
        {"id": 1, "value": ["X"]},
        {"id": 1, "value": None},
        {"id": 1, "error": {"type": 5}},
    ],
    ids=["no such request", "a token that is none", "no such piece", "nothing", "an error that is none"],
)
def test_a_child_that_talks_nonsense_is_ended(nonsense: dict[str, object], tmp_path: Path) -> None:
    """A hostile file may have taken the child over; what it says is checked before it is believed."""
    # Python runs this before anything else, so it answers in the engine's place.
    (tmp_path / "sitecustomize.py").write_text(TALKER.format(nonsense=nonsense))
    runtime = ChildRuntime(environment={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[3]}"})
    runtime.load(LoadPlan("any"))
    with pytest.raises(RuntimeFailed, match="ended unexpectedly"):
        list(runtime.generate([Request((5, 6), 4)]))
    runtime.close()


def test_a_child_that_takes_no_notice_of_a_stop_is_ended(tiny_moe: Path) -> None:
    runtime = ChildRuntime(silence_s=3.0)
    runtime.load(plan_for(tiny_moe))
    stop = threading.Event()
    pieces = []
    for piece in runtime.generate([Request((5, 6, 7), 2000)], stop):
        pieces.append(piece)
        if isinstance(piece, Token) and not stop.is_set():
            kill(runtime, signal.SIGSTOP)
            stop.set()
    assert end_of(pieces).reason == "stopped"
    assert end_of(pieces).usage.completion_tokens == len(tokens_of(pieces))
    runtime.close()


# Around the child


def wait_for(condition: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def is_gone(process_id: int) -> bool:
    return not psutil.pid_exists(process_id) or psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE


TALKER = """
import sys
from engine.runtime import wire
while True:
    message, _ = wire.read_frame(sys.stdin.buffer)
    info = dict(base_hash="", architecture="", name="", context_train=1, vocab_size=1, backend="")
    answer = {{"value": info}} if message["op"] == "load" else {nonsense!r}
    wire.write_frame(sys.stdout.buffer, {{**answer, "id": message["id"]}})
    wire.write_frame(sys.stdout.buffer, {{"end": True, "id": message["id"]}})
"""

HOST = """
import sys
from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import LoadPlan, Request
runtime = ChildRuntime()
runtime.load(LoadPlan(sys.argv[1], context_tokens=4096, pool_tokens=4096, threads=1))
print(runtime.process_id, flush=True)
for _ in runtime.generate([Request((5,) * 3, 4000)]):
    pass
"""


def test_a_child_ends_with_its_host_whatever_the_hosts_end(tiny_moe: Path) -> None:
    root = str(Path(__file__).parents[3])
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(tiny_moe)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert host.stdout is not None
    process_id = int(host.stdout.readline())
    assert not is_gone(process_id)
    host.kill()
    wait_for(lambda: is_gone(process_id), 2.0)
    host.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits private memory")
def test_a_limit_too_small_for_the_context_is_a_clear_error(tiny_moe: Path) -> None:
    runtime = ChildRuntime(memory_bytes=600 << 20)
    with pytest.raises(OutOfMemory, match="memory") as failed:
        runtime.load(plan_for(tiny_moe, pool_tokens=4 << 20))
    assert failed.value.hint
    assert runtime.load(plan_for(tiny_moe)).architecture == "qwen35moe", "with less it fits"
    runtime.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits private memory")
@pytest.mark.parametrize("limit_bytes", [50 << 20, 100 << 20, 200 << 20], ids=lambda limit: f"{limit >> 20} MiB")
def test_a_limit_too_small_for_anything_is_an_error_that_blames_no_file(
    tiny_moe: Path, tmp_path: Path, limit_bytes: int
) -> None:
    record = tmp_path / "quarantine.json"
    runtime = ChildRuntime(memory_bytes=limit_bytes, quarantine=Quarantine(record))
    with pytest.raises(RuntimeFailed) as failed:
        runtime.load(plan_for(tiny_moe))
    assert failed.value.hint
    assert not record.exists()
    runtime.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_child_knows_no_secrets_and_no_python_settings_of_the_host(
    tiny_moe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-one")
    monkeypatch.setenv("HF_TOKEN", "secret-two")
    monkeypatch.setenv("PYTHONSTARTUP", "startup.py")
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    runtime = ChildRuntime(environment={"LLAMA_ARG_NOTE": "ours"})
    runtime.load(plan_for(tiny_moe))
    lines = Path(f"/proc/{runtime.process_id}/environ").read_bytes().decode().split("\0")
    environment = dict(line.split("=", 1) for line in lines if line)
    runtime.close()

    assert not [name for name, value in environment.items() if "secret" in value or name.startswith("HF_")]
    assert [name for name in environment if name.startswith("PYTHON")] == ["PYTHONPATH"]
    assert "elsewhere" not in environment["PYTHONPATH"]
    assert environment["OMP_WAIT_POLICY"] == "passive"
    assert environment["LLAMA_ARG_NOTE"] == "ours"


def test_nothing_is_printed_by_the_host(tiny_moe: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runtime = ChildRuntime()
    runtime.load(plan_for(tiny_moe))
    complete(runtime, (5, 6, 7), max_tokens=3)
    kill(runtime)
    complete(runtime, (5, 6, 7), max_tokens=3)
    runtime.close()
    assert capfd.readouterr() == ("", "")


def tree_bytes() -> int:
    """Resident memory of this process and its children."""
    own = psutil.Process()
    return sum(process.memory_info().rss for process in (own, *own.children(recursive=True)))


def test_closing_gives_all_memory_back_however_often(starter_base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def once() -> int:
        runtime = ChildRuntime()
        runtime.load(plan_for(starter_base))
        complete(runtime, runtime.encode(LONG * 5), max_tokens=4)
        held = tree_bytes()
        process_id = runtime.process_id
        runtime.close()
        assert process_id is not None
        assert is_gone(process_id)
        return held

    once()  # imports and first buffers of the host itself
    before = tree_bytes()
    held = [once() for _ in range(5)]
    after = tree_bytes()
    with capsys.disabled():
        print(
            f"\nmemory: {before >> 20} MiB before, {max(held) >> 20} held, {(after - before) / (1 << 20):+.2f} after 5"
        )
    assert min(held) - before > MEMORY_BYTES, "there was something to give back"
    assert abs(after - before) < MEMORY_BYTES


def test_releasing_frees_the_memory_and_the_next_call_brings_it_back(tiny_moe: Path) -> None:
    runtime = ChildRuntime()
    runtime.load(plan_for(tiny_moe))
    before = complete(runtime, (5, 6, 7), max_tokens=5)
    runtime.release()
    assert runtime.process_id is None
    assert complete(runtime, (5, 6, 7), max_tokens=5).tokens == before.tokens
    runtime.close()
    runtime.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_restart_takes_no_longer_than_two_cold_starts(starter_base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def cold() -> float:
        started = time.perf_counter()
        runtime = ChildRuntime()
        runtime.load(plan_for(starter_base))
        next(piece for piece in runtime.generate([Request(tuple(range(300, 364)), 4)]) if isinstance(piece, Token))
        elapsed = time.perf_counter() - started
        runtime.close()
        return elapsed

    def restarted() -> float:
        runtime = ChildRuntime()
        runtime.load(plan_for(starter_base))
        pieces = runtime.generate([Request(tuple(range(300, 364)), 40, sampling=Sampling())])
        for _ in range(3):
            next(piece for piece in pieces if isinstance(piece, Token))
        dead = kill(runtime)
        started = time.perf_counter()
        # Tokens that were on their way when it died still come; only those of its successor count.
        next(piece for piece in pieces if isinstance(piece, Token) and runtime.process_id not in (None, dead))
        elapsed = time.perf_counter() - started
        pieces.close()
        runtime.close()
        return elapsed

    cold()
    times = [(cold(), restarted()) for _ in range(5)]
    cold_s, restart_s = (sorted(column)[2] for column in zip(*times, strict=True))
    with capsys.disabled():
        print(f"\nrestart: {json.dumps({'cold_s': round(cold_s, 3), 'restart_s': round(restart_s, 3)})}")
    assert restart_s <= 2 * cold_s
