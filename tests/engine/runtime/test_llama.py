"""The runtime on the real starter: completing, branching, constraining, scoring, stopping, forgetting."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.assets import asset_path
from engine.errors import AdapterMismatch, BadModelFile, ContextOverflow, ModelMissing, RuntimeFailed, UsageProblem
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import (
    Finished,
    LoadPlan,
    Prefilled,
    Request,
    Sampling,
    ScoreRequest,
    Token,
    Tokens,
)
from tests.support.completing import complete, complete_all, loaded, stack

pytestmark = pytest.mark.model

SILENCE_S = 1.0


@pytest.fixture(scope="module")
def runtime(starter_base: Path) -> Iterator[LlamaRuntime]:
    embedder = str(asset_path("embedder", "all-MiniLM-L6-v2-Q8_0.gguf"))
    with loaded(starter_base, context_tokens=6144, pool_tokens=8192, threads=2, embedder=embedder) as runtime:
        yield runtime


@pytest.fixture(scope="module")
def question(runtime: LlamaRuntime, starter_base: Path) -> Tokens:
    start, end = 1, 2  # <|im_start|>, <|im_end|> of SmolLM2
    text = runtime.encode
    return (
        start,
        *text("user\nWhat is the capital of France?"),
        end,
        *text("\n"),
        start,
        *text("assistant\n"),
    )


def test_the_starter_knows_paris(runtime: LlamaRuntime, question: Tokens) -> None:
    answer = complete(runtime, question, max_tokens=32)
    assert "Paris" in answer.text
    assert answer.reason == "eos"


def test_a_log_probability_is_that_of_the_softmax_over_the_vocabulary(runtime: LlamaRuntime, question: Tokens) -> None:
    (pieces,) = [list(runtime.generate([Request(question, 4, logprobs=5)]))]
    tokens = [piece for piece in pieces if isinstance(piece, Token)]

    scored = runtime.score(ScoreRequest(question, (tuple(piece.token for piece in tokens),))).logprobs[0]

    assert [piece.logprob for piece in tokens] == pytest.approx(scored, abs=0.02)
    for piece in tokens:
        assert piece.top[0] == (piece.token, piece.logprob), "greedy takes the likeliest"
        assert [value for _, value in piece.top] == sorted((value for _, value in piece.top), reverse=True)
        assert sum(np.exp(value) for _, value in piece.top) < 1.0


def test_the_same_seed_says_the_same_and_another_seed_something_else(runtime: LlamaRuntime, question: Tokens) -> None:
    def said(seed: int) -> tuple[int, ...]:
        return complete(runtime, question, max_tokens=24, sampling=Sampling(temperature=1.5, seed=seed)).tokens

    assert said(7) == said(7)
    assert len({said(seed) for seed in range(4)}) > 1


def test_branches_of_one_prompt_are_read_once_and_decoded_as_if_alone(runtime: LlamaRuntime, question: Tokens) -> None:
    runtime.drop("")
    requests = [Request(question, 16, sampling=Sampling(temperature=1.0, seed=seed), logprobs=0) for seed in range(5)]

    together = complete_all(runtime, requests)

    assert [branch.usage.reused_tokens for branch in together] == [0] + [len(question)] * 4
    alone = [complete_all(runtime, [request])[0] for request in requests]
    assert together[0].tokens[0] == alone[0].tokens[0]
    for one, other in zip(together, alone, strict=True):
        assert one.logprobs[0] == pytest.approx(other.logprobs[0], abs=0.02)
    assert runtime.views() == (), "branches without a cache key leave nothing behind"


def test_more_requests_than_views_are_served_in_waves(runtime: LlamaRuntime) -> None:
    prompts = [runtime.encode(f"Number {number} is followed by") for number in range(11)]

    answers = complete_all(runtime, [Request(prompt, 3) for prompt in prompts])

    assert [len(answer.tokens) for answer in answers] == [3] * 11


def test_requests_with_different_adapters_go_into_one_list(
    runtime: LlamaRuntime, question: Tokens, starter_adapters: tuple[Path, ...]
) -> None:
    stacks = [(), stack(starter_adapters[0]), (), stack(starter_adapters[1])]

    mixed = complete_all(runtime, [Request(question, 6, adapters, logprobs=0) for adapters in stacks])

    for adapters, answer in zip(stacks, mixed, strict=True):
        assert answer.tokens[0] == complete(runtime, question, adapters, max_tokens=6).tokens[0]


def test_a_json_schema_is_kept_to(runtime: LlamaRuntime, question: Tokens) -> None:
    schema = {"type": "object", "properties": {"capital": {"enum": ["Rome", "Paris"]}}, "required": ["capital"]}

    answer = complete(runtime, question, max_tokens=48, json_schema=json.dumps(schema))

    assert json.loads(answer.text)["capital"] in ("Rome", "Paris")
    assert answer.reason == "eos"


@pytest.mark.parametrize("seed", range(3))
def test_a_grammar_holds_at_any_temperature(runtime: LlamaRuntime, question: Tokens, seed: int) -> None:
    grammar = 'root ::= ("yes" | "no") " "? [0-9] [0-9]'

    answer = complete(runtime, question, max_tokens=16, grammar=grammar, sampling=Sampling(temperature=3.0, seed=seed))

    assert answer.text[:2] in ("ye", "no")
    assert answer.text[-2:].isdigit()


@pytest.mark.parametrize("broken", [{"grammar": "root ::= ("}, {"json_schema": '{"$ref": "#/nowhere"}'}])
def test_a_broken_grammar_is_refused_and_the_runtime_lives_on(
    runtime: LlamaRuntime, question: Tokens, broken: dict[str, str]
) -> None:
    with pytest.raises(UsageProblem):
        complete(runtime, question, **broken)
    assert complete(runtime, question, max_tokens=1).reason == "length"


def test_a_stop_text_ends_the_answer_and_is_not_part_of_it(runtime: LlamaRuntime, question: Tokens) -> None:
    answer = complete(runtime, question, max_tokens=32, stop=("is Paris",))
    assert answer.reason == "stop"
    assert answer.text == "The capital of France "


def test_a_completion_that_broke_off_goes_on_where_it_was(runtime: LlamaRuntime, question: Tokens) -> None:
    schema = {"type": "object", "properties": {"capital": {"enum": ["Rome", "Paris"]}}, "required": ["capital"]}
    options: dict[str, Any] = {"json_schema": json.dumps(schema), "stop": ("zzz",)}
    whole = complete(runtime, question, max_tokens=48, **options)
    said = whole.tokens[:3]

    rest = complete(runtime, (*question, *said), max_tokens=45, said=said, **options)

    assert whole.reason == rest.reason == "eos"
    assert (*said, *rest.tokens) == whole.tokens
    assert runtime.decode(said) + rest.text == whole.text


def test_a_completion_that_had_ended_is_not_continued(runtime: LlamaRuntime, question: Tokens) -> None:
    whole = complete(runtime, question, max_tokens=32)
    rest = complete(runtime, (*question, *whole.tokens), said=whole.tokens)
    assert (rest.reason, rest.tokens) == ("eos", ())


def test_labels_are_scored_as_if_each_were_read_alone(runtime: LlamaRuntime, question: Tokens) -> None:
    labels = tuple(
        runtime.encode(text) for text in ("The capital is Paris", "The capital is Rome", "Paris", "The town", "Rome")
    )

    together = runtime.score(ScoreRequest(question, labels))

    for label, scores in zip(labels, together.logprobs, strict=True):
        alone = runtime.score(ScoreRequest(question, (label,))).logprobs[0]
        assert scores == pytest.approx(alone, abs=0.05)
    totals = dict(zip(("capital Paris", "capital Rome", "Paris", "town", "Rome"), together.totals(), strict=True))
    assert totals["Paris"] > totals["Rome"]
    assert totals["capital Paris"] > totals["capital Rome"]


def test_a_long_label_is_scored_in_several_batches(runtime: LlamaRuntime, question: Tokens) -> None:
    label = runtime.encode("Paris, which lies on the river Seine, " * 30)
    assert len(label) > 256

    (scores,) = runtime.score(ScoreRequest(question, (label,))).logprobs

    assert len(scores) == len(label)
    assert np.mean(scores[-50:]) > np.mean(scores[:10]), "a repeated sentence grows likely"


def test_like_texts_have_like_vectors_in_any_order(runtime: LlamaRuntime) -> None:
    vectors = runtime.embed(["a cat", "a kitten", "income tax law", ""])
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3
    assert runtime.embed(["income tax law"])[0] == pytest.approx(vectors[2], abs=1e-6)


@pytest.mark.parametrize("text", ["plain words", "héllo — 你好，世界 👩‍👩‍👧 \n\ttabs", "<|im_start|>user"])
def test_text_survives_encoding_and_decoding(runtime: LlamaRuntime, text: str) -> None:
    tokens = runtime.encode(text)
    assert runtime.decode(tokens) == text
    assert not {1, 2} & set(tokens), "control tokens in text stay text"


class TestStopping:
    def test_during_prefill_of_4000_tokens(self, runtime: LlamaRuntime) -> None:
        prompt = runtime.encode("Every word of this prompt has to be read before anything is said. " * 400)[:4000]
        assert len(prompt) == 4000
        stop, pieces = threading.Event(), []
        asked_at = _set_after(stop, 1.0)

        for piece in runtime.generate([Request(prompt, 64, cache_key="long")], stop):
            pieces.append(piece)

        silence = time.perf_counter() - asked_at()
        assert silence < SILENCE_S
        assert isinstance(pieces[-1], Finished)
        assert pieces[-1].reason == "stopped"
        assert not any(isinstance(piece, Token) for piece in pieces), "it was stopped while reading"

    def test_what_was_read_before_the_stop_is_not_read_again(self, runtime: LlamaRuntime) -> None:
        prompt = runtime.encode("Every word of this prompt has to be read before anything is said. " * 400)[:3000]
        stop = threading.Event()
        read = 0
        for piece in runtime.generate([Request(prompt, 1, cache_key="resumed")], stop):
            if isinstance(piece, Prefilled) and piece.done >= 256:
                read = max(read, piece.done)
                stop.set()

        first = next(iter(runtime.generate([Request(prompt, 0, cache_key="resumed")])))

        assert isinstance(first, Prefilled)
        assert first.reused >= read >= 256
        runtime.drop("resumed")

    def test_during_decode_keeps_the_partial_text(self, runtime: LlamaRuntime, question: Tokens) -> None:
        stop, text, end = threading.Event(), "", None
        asked_at = _set_after(stop, 0.8)
        request = Request(question, 4000, sampling=Sampling(temperature=4.0, seed=3), cache_key="talk")

        for piece in runtime.generate([request], stop):
            if isinstance(piece, Token):
                text += piece.text
            end = piece

        assert time.perf_counter() - asked_at() < SILENCE_S
        assert isinstance(end, Finished)
        assert end.reason == "stopped"
        assert text
        assert end.usage.completion_tokens > 1

    def test_a_caller_that_goes_away_stops_its_request(self, runtime: LlamaRuntime, question: Tokens) -> None:
        pieces = runtime.generate([Request(question, 4000, sampling=Sampling(temperature=4.0, seed=3))])
        next(pieces)
        pieces.close()

        started = time.perf_counter()
        assert complete(runtime, question, max_tokens=1).reason == "length"
        assert time.perf_counter() - started < SILENCE_S

    def test_the_next_answer_is_that_of_a_fresh_start(self, runtime: LlamaRuntime, question: Tokens) -> None:
        fresh = complete(runtime, question, max_tokens=12)
        stop = threading.Event()
        for piece in runtime.generate([Request(question, 4000, cache_key="again")], stop):
            if isinstance(piece, Token):
                stop.set()

        assert complete(runtime, question, max_tokens=12, cache_key="again").tokens == fresh.tokens


def test_two_callers_are_served_one_after_the_other(runtime: LlamaRuntime, question: Tokens) -> None:
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(complete(runtime, question, max_tokens=32).text))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["The capital of France is Paris."] * 4


def test_a_prompt_longer_than_the_context_is_refused(runtime: LlamaRuntime) -> None:
    with pytest.raises(ContextOverflow, match="6144"):
        complete(runtime, [3] * 6144)


def test_an_answer_ends_where_the_context_ends(starter_base: Path) -> None:
    with loaded(starter_base, context_tokens=64, pool_tokens=256) as runtime:
        prompt = runtime.encode("one two three four five six seven eight nine ten " * 10)[:60]
        answer = complete(runtime, prompt, max_tokens=100, sampling=Sampling(temperature=4.0, seed=1))
    assert answer.reason == "length"
    assert len(answer.tokens) == 4


def test_a_resumed_completion_may_fill_the_context(starter_base: Path) -> None:
    with loaded(starter_base, context_tokens=64, pool_tokens=256) as runtime:
        prompt = runtime.encode("one two three four five six seven eight nine ten " * 10)[:60]
        sampling = Sampling(temperature=4.0, seed=1)
        said = complete(runtime, prompt, max_tokens=100, sampling=sampling).tokens
        rest = complete(runtime, (*prompt, *said), max_tokens=96, said=said, sampling=sampling)
    assert (rest.reason, rest.tokens) == ("length", ())


def test_invalid_weights_are_an_error_and_not_an_answer(
    runtime: LlamaRuntime, question: Tokens, starter_adapters: tuple[Path, ...], tmp_path: Path
) -> None:
    data = bytearray(starter_adapters[0].read_bytes())
    data[-4096:] = np.full(1024, np.nan, np.float32).tobytes()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(data)

    with pytest.raises(RuntimeFailed, match="invalid weights"):
        complete(runtime, question, stack(broken))
    assert "Paris" in complete(runtime, question, max_tokens=32).text


def test_views_that_do_not_fit_are_parked_and_come_back_for_nothing(starter_base: Path) -> None:
    with loaded(starter_base, context_tokens=512, pool_tokens=1024, max_views=2, parked_bytes=1 << 28) as runtime:
        prompts = [runtime.encode(f"Story number {number}. " + "It went on and on. " * 30)[:150] for number in range(4)]
        first = [complete(runtime, prompt, cache_key=f"story-{n}") for n, prompt in enumerate(prompts)]
        assert len(runtime.views()) == 2

        again = complete(runtime, (*prompts[0], *first[0].tokens, *prompts[1][:5]), cache_key="story-0")

    assert again.usage.reused_tokens == 150 + len(first[0].tokens) - 1


def test_without_room_to_park_a_view_is_read_again(starter_base: Path) -> None:
    with loaded(starter_base, context_tokens=512, pool_tokens=1024, max_views=2, parked_bytes=0) as runtime:
        prompts = [runtime.encode(f"{number} stories. " + "It went on and on. " * 30)[:150] for number in range(4)]
        first = [complete(runtime, prompt, cache_key=f"story-{n}") for n, prompt in enumerate(prompts)]

        again = complete(runtime, prompts[0], cache_key="story-0")

    assert again.usage.reused_tokens <= 1
    assert again.tokens == first[0].tokens


def test_the_pool_makes_room_for_the_view_that_is_read(starter_base: Path) -> None:
    with loaded(starter_base, context_tokens=500, pool_tokens=512, max_views=6, parked_bytes=0) as runtime:
        text = "The pool of cells is shared by all the views there are. " * 40
        for number in range(4):
            answer = complete(runtime, runtime.encode(f"{number}: {text}")[:400], cache_key=f"view-{number}")
            assert answer.usage.prompt_tokens == 400
        assert len(runtime.views()) == 1


def test_adapters_beyond_the_budget_leave_and_come_back_unchanged(
    starter_base: Path, starter_adapters: tuple[Path, ...]
) -> None:
    size = starter_adapters[0].stat().st_size
    with loaded(starter_base, adapter_bytes=int(2.5 * size)) as runtime:
        prompt = runtime.encode("Once upon a time there was")
        first = [complete(runtime, prompt, stack(adapter)) for adapter in starter_adapters]
        second = [complete(runtime, prompt, stack(adapter)) for adapter in starter_adapters]
    assert [answer.logprobs for answer in first] == [answer.logprobs for answer in second]
    assert len({answer.logprobs for answer in first}) == 4


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, ModelMissing),
        (b"", BadModelFile),
        (b"PK\x03\x04" + b"\0" * 100, BadModelFile),
        (b"GGUF" + b"\xff" * 100, BadModelFile),
    ],
    ids=["missing", "empty", "zip", "garbage"],
)
def test_a_file_that_is_no_base_is_refused(tmp_path: Path, content: bytes | None, problem: type[Exception]) -> None:
    path = tmp_path / "base.gguf"
    if content is not None:
        path.write_bytes(content)
    runtime = LlamaRuntime()
    try:
        with pytest.raises(problem):
            runtime.load(LoadPlan(str(path)))
        with pytest.raises(RuntimeFailed, match="No base is loaded"):
            complete(runtime, [1, 2, 3])
    finally:
        runtime.close()


def test_a_truncated_base_is_refused(tmp_path: Path, tiny_moe: Path) -> None:
    path = tmp_path / "base.gguf"
    path.write_bytes(tiny_moe.read_bytes()[:-1000])
    runtime = LlamaRuntime()
    try:
        with pytest.raises(BadModelFile, match="incomplete"):
            runtime.load(LoadPlan(str(path)))
    finally:
        runtime.close()


def test_an_adapter_for_another_base_is_refused(
    runtime: LlamaRuntime, question: Tokens, tiny_moe_adapters: tuple[Path, ...]
) -> None:
    with pytest.raises(AdapterMismatch, match="qwen35moe"):
        complete(runtime, question, stack(tiny_moe_adapters[0]))
    assert "Paris" in complete(runtime, question, max_tokens=32).text


def test_a_closed_runtime_says_so(starter_base: Path) -> None:
    runtime = LlamaRuntime()
    runtime.close()
    runtime.close()
    with pytest.raises(RuntimeFailed, match="closed"):
        runtime.load(LoadPlan(str(starter_base)))


def _set_after(stop: threading.Event, delay_s: float):  # type: ignore[no-untyped-def]
    """Set `stop` after a while; returns a function that tells when that was."""
    moments: list[float] = []

    def ask() -> None:
        moments.append(time.perf_counter())
        stop.set()

    timer = threading.Timer(delay_s, ask)
    timer.start()

    def asked_at() -> float:
        timer.join()
        return moments[0]

    return asked_at
