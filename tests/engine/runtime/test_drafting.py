"""Guessing tokens ahead changes the speed and nothing else: same answers, same views, same counts.

On a tiny Qwen3.5-MoE with a block for drafting, whose guesses are right often but not always; so both the kept and the
taken back ones occur, the latter on gated-delta layers that keep no history of their own.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from engine.errors import UsageProblem
from engine.runtime import ladder
from engine.runtime.drafting import USUAL_DRAFT_TOKENS, DraftCounts, Drafter, can_draft, draft_tokens, wants_drafting
from engine.runtime.llama import LlamaRuntime
from engine.runtime.mtp import MtpContext
from engine.runtime.native import Native
from engine.runtime.protocol import (
    WHERE_IT_PAYS,
    AdapterStack,
    Finished,
    LoadPlan,
    Request,
    Sampling,
    ScoreRequest,
    Token,
    Tokens,
)
from engine.runtime.views import View, ViewTable
from tests.support.completing import Completion, complete, complete_all, largest_gap, loaded, stack
from tests.support.mtp import write_drafting_base

TOLERANCE_NATS = 0.02
DRAFTED = 3

PLAN = LoadPlan("base.gguf")


@pytest.fixture(scope="module")
def often_right(tiny_moe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_drafting_base(tiny_moe, tmp_path_factory.mktemp("drafting") / "often-right.gguf")


@pytest.fixture(scope="module", params=["often right", "seldom right"])
def base(request: pytest.FixtureRequest, often_right: Path, tiny_moe: Path) -> Path:
    """The second says more about the state, which weighs more in it."""
    if request.param == "often right":
        return often_right
    return write_drafting_base(tiny_moe, often_right.with_name("seldom-right.gguf"), trunk_share=1.0)


@pytest.fixture(scope="module")
def plain(base: Path) -> Iterator[LlamaRuntime]:
    with loaded(base) as runtime:
        yield runtime


@pytest.fixture
def drafting(base: Path) -> Iterator[LlamaRuntime]:
    with loaded(base, draft_tokens=DRAFTED) as runtime:
        yield runtime


@pytest.fixture(params=["base alone", "with an adapter"])
def adapters(request: pytest.FixtureRequest, tiny_moe_adapters: tuple[Path, ...]) -> AdapterStack:
    return () if request.param == "base alone" else stack(tiny_moe_adapters[0], scale=0.3)


def prompt(number: int, length: int = 30) -> Tokens:
    """Any ids of the tiny vocabulary will do."""
    return tuple((37 * number + 11 * position) % 500 + 3 for position in range(length))


def agree(left: Completion, right: Completion) -> bool:
    same = (left.tokens, left.text, left.reason) == (right.tokens, right.text, right.reason)
    return same and largest_gap(left, right) <= TOLERANCE_NATS


# When to draft


def test_drafting_pays_only_with_all_layers_on_a_gpu() -> None:
    assert wants_drafting(PLAN, can_draft=True, has_gpu=True)
    assert not wants_drafting(PLAN, can_draft=True, has_gpu=False)
    assert not wants_drafting(PLAN, can_draft=False, has_gpu=True)
    assert not wants_drafting(replace(PLAN, gpu_layers=20), can_draft=True, has_gpu=True)
    assert not wants_drafting(replace(PLAN, tensor_overrides=(("exps", "CPU"),)), can_draft=True, has_gpu=True)


def test_what_the_plan_says_goes_before_what_pays() -> None:
    assert draft_tokens(PLAN, can_draft=True, has_gpu=True) == 0
    assert draft_tokens(replace(PLAN, draft_tokens=3), can_draft=True, has_gpu=False) == 3
    left_open = replace(PLAN, draft_tokens=WHERE_IT_PAYS)
    assert draft_tokens(left_open, can_draft=True, has_gpu=True) == USUAL_DRAFT_TOKENS
    assert draft_tokens(left_open, can_draft=True, has_gpu=False) == 0


def test_only_a_single_block_of_a_known_architecture_can_draft() -> None:
    assert can_draft("qwen35moe", 1)
    assert not can_draft("qwen35moe", 0)
    assert not can_draft("qwen35moe", 2)
    assert not can_draft("llama", 1)


def test_where_memory_is_short_drafting_is_given_up_first() -> None:
    (smaller, given_up), *_ = ladder.steps_down(replace(PLAN, draft_tokens=2))
    assert smaller == PLAN
    assert given_up == "no tokens drafted ahead"


@pytest.mark.model
def test_a_base_says_whether_it_can_draft_and_how_much_it_does(base: Path, tiny_moe: Path) -> None:
    runtime = LlamaRuntime()
    try:
        for path, asked, told in ((base, 0, (True, 0)), (base, 2, (True, 2)), (tiny_moe, 0, (False, 0))):
            info = runtime.load(LoadPlan(str(path), pool_tokens=1024, threads=1, draft_tokens=asked))
            assert (info.can_draft, info.draft_tokens) == told
        left_open = LoadPlan(str(base), pool_tokens=1024, threads=1, gpu_layers=0, draft_tokens=WHERE_IT_PAYS)
        assert runtime.load(left_open).draft_tokens == 0
    finally:
        runtime.close()


@pytest.mark.model
def test_drafting_with_a_base_that_cannot_is_refused(tiny_moe: Path) -> None:
    with pytest.raises(UsageProblem, match="cannot draft") as caught, loaded(tiny_moe, draft_tokens=2):
        pass
    assert "MTP" in caught.value.hint


@pytest.mark.model
@pytest.mark.parametrize("count", [-2, 17, 1000])
def test_a_number_of_draft_tokens_that_makes_no_sense_is_refused(often_right: Path, count: int) -> None:
    with pytest.raises(UsageProblem, match=str(count)), loaded(often_right, draft_tokens=count):
        pass


# The same answers


@pytest.mark.model
@pytest.mark.parametrize("number", range(4))
def test_greedy_answers_and_their_log_probabilities_stay_the_same(
    plain: LlamaRuntime, drafting: LlamaRuntime, adapters: AdapterStack, number: int
) -> None:
    left = complete(plain, prompt(number), adapters, max_tokens=60)
    right = complete(drafting, prompt(number), adapters, max_tokens=60)

    assert len(right.tokens) > 5
    assert agree(left, right)


@pytest.mark.model
def test_some_guesses_are_right_and_some_are_taken_back(often_right: Path) -> None:
    with loaded(often_right, draft_tokens=DRAFTED) as runtime:
        for number in range(4):
            complete(runtime, prompt(number), max_tokens=60)
        counts = runtime.draft_counts()

    assert counts.accepted >= counts.drafted // 10
    assert counts.drafted - counts.accepted >= counts.drafted // 10


@pytest.mark.model
def test_a_block_that_is_always_right_saves_most_passes(tiny_moe: Path, tmp_path: Path) -> None:
    base = write_drafting_base(tiny_moe, tmp_path / "base.gguf", trunk_share=0.0)
    with loaded(base, draft_tokens=DRAFTED) as runtime:
        complete(runtime, prompt(0), max_tokens=61)
        counts = runtime.draft_counts()

    assert counts.accepted >= 0.7 * counts.drafted
    assert 60 - counts.accepted <= 25, "passes of the base"


@pytest.mark.model
@pytest.mark.parametrize("temperature", [0.7, 1.5])
def test_sampled_answers_of_equal_seeds_stay_the_same(
    plain: LlamaRuntime, drafting: LlamaRuntime, temperature: float
) -> None:
    same = 0
    for seed in range(10):
        sampling = Sampling(temperature=temperature, top_k=40, top_p=0.95, repeat_penalty=1.1, seed=seed)
        left = complete(plain, prompt(seed), max_tokens=20, sampling=sampling)
        right = complete(drafting, prompt(seed), max_tokens=20, sampling=sampling)
        assert right.tokens == complete(drafting, prompt(seed), max_tokens=20, sampling=sampling).tokens
        same += agree(left, right)

    assert same >= 9, "a draw on the very edge between two tokens may fall to the other side"


@pytest.mark.model
def test_a_grammar_is_kept_to(plain: LlamaRuntime, drafting: LlamaRuntime) -> None:
    grammar = 'root ::= ("yes" | "no")+ " " [0-9] [0-9] [0-9]'

    right = complete(drafting, prompt(1), max_tokens=40, grammar=grammar)

    assert agree(complete(plain, prompt(1), max_tokens=40, grammar=grammar), right)


@pytest.mark.model
def test_the_likeliest_tokens_are_told_with_each(plain: LlamaRuntime, drafting: LlamaRuntime) -> None:
    def told(runtime: LlamaRuntime) -> list[tuple[int, float]]:
        pieces = runtime.generate([Request(prompt(2), 30, logprobs=3)])
        return [best for piece in pieces if isinstance(piece, Token) for best in piece.top]

    left, right = told(plain), told(drafting)

    assert [token for token, _ in left] == [token for token, _ in right]
    assert [value for _, value in left] == pytest.approx([value for _, value in right], abs=TOLERANCE_NATS)


# The same ends


@pytest.mark.model
@pytest.mark.parametrize("max_tokens", range(1, 9))
def test_the_length_is_exact(plain: LlamaRuntime, drafting: LlamaRuntime, max_tokens: int) -> None:
    right = complete(drafting, prompt(3), max_tokens=max_tokens)

    assert (len(right.tokens), right.reason) == (max_tokens, "length")
    assert agree(complete(plain, prompt(3), max_tokens=max_tokens), right)


@pytest.mark.model
def test_the_context_may_be_filled_to_its_end(base: Path) -> None:
    answers = []
    for count in (0, DRAFTED):
        with loaded(base, context_tokens=256, pool_tokens=256, draft_tokens=count) as runtime:
            answers.append(complete(runtime, prompt(3, 200), max_tokens=500))

    assert len(answers[1].tokens) == 56
    assert agree(*answers)


def say(runtime: LlamaRuntime, plain: LlamaRuntime, number: int, position: int) -> Completion:
    """An answer in the view "talk" that a stop text ends at this position, so that guesses beyond it are void."""
    tokens = complete(plain, prompt(number), max_tokens=30).tokens
    stop = plain.decode(tokens[position : position + 2])
    return complete(runtime, prompt(number), max_tokens=30, stop=(stop,), cache_key="talk")


@pytest.mark.model
@pytest.mark.parametrize("position", range(4, 12))
def test_a_stop_text_ends_at_the_same_token(plain: LlamaRuntime, drafting: LlamaRuntime, position: int) -> None:
    left, right = say(plain, plain, 2, position), say(drafting, plain, 2, position)

    assert agree(left, right)
    assert right.reason == "stop"
    assert left.usage.completion_tokens == right.usage.completion_tokens == len(right.tokens)
    assert plain.views()[-1] == drafting.views()[-1], "the same tokens were kept"
    plain.drop("")


@pytest.mark.model
@pytest.mark.parametrize("after", range(1, 8))
def test_a_set_stop_ends_the_answer_and_the_view_goes_on_exactly(
    plain: LlamaRuntime, drafting: LlamaRuntime, after: int
) -> None:
    stop = Event()
    said: list[int] = []
    reason = ""
    for piece in drafting.generate([Request(prompt(9), 1500, cache_key="talk")], stop):
        if isinstance(piece, Token):
            said.append(piece.token)
            if len(said) == after:
                stop.set()
        elif isinstance(piece, Finished):
            reason = piece.reason

    assert reason == "stopped"
    assert tuple(said) == complete(plain, prompt(9), max_tokens=len(said)).tokens
    on = (*prompt(9), *said)
    again = complete(drafting, on, max_tokens=30, said=tuple(said), cache_key="talk")
    assert agree(complete(plain, on, max_tokens=30, said=tuple(said)), again)


@pytest.mark.model
@pytest.mark.parametrize("count", range(1, 6))
def test_a_caller_that_goes_away_leaves_an_exact_view(plain: LlamaRuntime, drafting: LlamaRuntime, count: int) -> None:
    said: list[int] = []
    pieces = drafting.generate([Request(prompt(5), 60, cache_key="talk")])
    for piece in pieces:
        if isinstance(piece, Token):
            said.append(piece.token)
        if len(said) == count:
            break
    pieces.close()

    longer = (*prompt(5), *said, *prompt(6))
    assert agree(complete(plain, longer, max_tokens=30), complete(drafting, longer, max_tokens=30, cache_key="talk"))


# The same views


def talk(runtime: LlamaRuntime, adapters: AdapterStack, turns: int = 3) -> tuple[Tokens, list[int], list[Completion]]:
    """All tokens of a conversation, where each turn begins, and the answers."""
    tokens: Tokens = ()
    boundaries: list[int] = []
    answers = []
    for number in range(turns):
        boundaries.append(len(tokens))
        tokens += prompt(number)
        snapshot_at = (*boundaries, len(tokens))
        answers.append(complete(runtime, tokens, adapters, max_tokens=15, cache_key="talk", snapshot_at=snapshot_at))
        tokens += answers[-1].tokens
    return tokens, boundaries, answers


@pytest.mark.model
def test_a_view_is_entered_again_with_all_its_tokens(
    plain: LlamaRuntime, drafting: LlamaRuntime, adapters: AdapterStack
) -> None:
    tokens, _, left = talk(plain, adapters)
    same, _, right = talk(drafting, adapters)

    assert tokens == same
    for one, other in zip(left, right, strict=True):
        assert agree(one, other)
        assert replace(one.usage, prefill_ms=0, decode_ms=0) == replace(other.usage, prefill_ms=0, decode_ms=0)
    plain.drop("")


@pytest.mark.model
def test_a_regenerated_answer_is_the_same(plain: LlamaRuntime, drafting: LlamaRuntime, adapters: AdapterStack) -> None:
    tokens, boundaries, answers = talk(drafting, adapters)
    question = tokens[: -len(answers[-1].tokens)]

    again = complete(drafting, question, adapters, max_tokens=15, cache_key="talk", snapshot_at=tuple(boundaries))

    assert again.usage.reused_tokens == boundaries[-1]
    assert agree(complete(plain, question, adapters, max_tokens=15), again)


@pytest.mark.model
@pytest.mark.parametrize("count", range(2, 8))
def test_a_copy_of_a_view_is_exact_although_guesses_were_just_taken_back(
    plain: LlamaRuntime, drafting: LlamaRuntime, count: int
) -> None:
    longer = (*prompt(1), *say(drafting, plain, 1, count).tokens, *prompt(2))

    copied = complete(drafting, longer, max_tokens=20, cache_key="other")
    original = complete(drafting, longer, max_tokens=20, cache_key="talk")

    assert copied.usage.reused_tokens >= 30
    expected = complete(plain, longer, max_tokens=20)
    assert agree(expected, copied)
    assert agree(expected, original)


@pytest.mark.model
def test_a_parked_view_comes_back_exactly(base: Path, plain: LlamaRuntime) -> None:
    with loaded(base, draft_tokens=DRAFTED, max_views=2) as runtime:
        longer = (*prompt(1), *say(runtime, plain, 1, 5).tokens, *prompt(2))
        for number in range(2, 5):
            complete(runtime, prompt(number), cache_key=f"other {number}")
        back = complete(runtime, longer, max_tokens=30, cache_key="talk")

    assert back.usage.reused_tokens >= 30
    assert agree(complete(plain, longer, max_tokens=30), back)


@pytest.mark.model
def test_a_decode_that_broke_off_leaves_nothing_behind(base: Path) -> None:
    native = Native(LoadPlan(str(base), pool_tokens=512, threads=1, draft_tokens=DRAFTED))
    try:
        views = ViewTable(native, max_views=4, snapshot_bytes=1 << 20, parked_bytes=0)
        view = views.acquire(prompt(1), (), "talk")
        native.decode(prompt(1), range(30), [view.sequence] * 30, [False] * 30)
        view.tokens.extend(prompt(1))
        views.snapshot(view)
        native.decode([7], [30], [view.sequence], [True])
        expected = native.logits(0).copy()
        native.remove(view.sequence, 30)
        views.recover(view)

        # llama.cpp itself goes back when a batch is aborted, to states it may not have computed.
        native.decode([9, 8], [30, 31], [view.sequence] * 2, [False, False])
        native.remove(view.sequence, 30)
        native.decode([9], [30], [view.sequence], [False])
        native.remove(view.sequence, 30)
        views.recover(view)
        assert view.tokens == list(prompt(1))
        native.decode([7], [30], [view.sequence], [True])

        assert abs(native.logits(0) - expected).max() < 1e-3
    finally:
        native.close()


# Together with other work


@pytest.mark.model
def test_requests_in_one_list_are_decoded_together_as_ever(
    plain: LlamaRuntime, drafting: LlamaRuntime, adapters: AdapterStack
) -> None:
    requests = [Request(prompt(number), 12, adapters, logprobs=0) for number in (1, 2, 2)]

    for left, right in zip(complete_all(plain, requests), complete_all(drafting, requests), strict=True):
        assert agree(left, right)
    assert drafting.draft_counts().drafted == 0


@pytest.mark.model
def test_a_view_that_was_decoded_without_guesses_can_be_guessed_for_again(
    plain: LlamaRuntime, drafting: LlamaRuntime
) -> None:
    requests = [Request(prompt(number), 12, cache_key=f"view {number}", logprobs=0) for number in (1, 2)]
    first, _ = complete_all(drafting, requests)
    longer = (*prompt(1), *first.tokens)

    right = complete(drafting, longer, max_tokens=40, cache_key="view 1")

    assert agree(complete(plain, longer, max_tokens=40), right)
    assert drafting.draft_counts().drafted > 0


@pytest.mark.model
def test_scores_stay_the_same_and_leave_the_view_as_it_was(plain: LlamaRuntime, drafting: LlamaRuntime) -> None:
    request = ScoreRequest(
        (*prompt(1), *say(drafting, plain, 1, 3).tokens), ((5, 6, 7), (5, 9), (11,)), cache_key="talk"
    )

    left, right = plain.score(request), drafting.score(request)

    for one, other in zip(left.logprobs, right.logprobs, strict=True):
        assert one == pytest.approx(other, abs=TOLERANCE_NATS)
    longer = (*request.tokens, *prompt(2))
    assert agree(complete(plain, longer, max_tokens=20), complete(drafting, longer, max_tokens=20, cache_key="talk"))


# What the block reads


@pytest.fixture
def native(tiny_moe: Path, tmp_path: Path) -> Iterator[Native]:
    """A base whose block looks far back and at hidden states, so that every gap would show in its guesses."""
    path = write_drafting_base(tiny_moe, tmp_path / "base.gguf", trunk_share=1.0, block_share=1.0)
    native = Native(LoadPlan(str(path), pool_tokens=1024, threads=1, draft_tokens=8))
    yield native
    native.close()


def read(native: Native, sequence: int, tokens: Tokens, start: int = 0, *, step: int = 64) -> MtpContext:
    """Read `tokens` in batches of at most `step`, the block following."""
    mtp = native.mtp
    assert mtp is not None
    for first in range(0, len(tokens), step):
        part = tokens[first : first + step]
        positions = range(start + first, start + first + len(part))
        native.decode(part, positions, [sequence] * len(part), [False] * len(part))
        mtp.follow(sequence, part, start + first)
    return mtp


@pytest.fixture
def whole(native: Native) -> list[int]:
    """Guesses after one prompt and a token, read from the start in one batch."""
    guesses = read(native, 7, prompt(1, 40)).draft(7, 11, 8)
    native.remove(7)
    return guesses


@pytest.mark.model
def test_a_token_is_read_with_the_hidden_state_before_it(native: Native) -> None:
    mtp = read(native, 0, prompt(1))
    native.decode((5, 6), (30, 31), (0, 0), (False, False))
    states = mtp.states(2)
    before = mtp.note(0, (), 30, states[:0]).hidden

    trail = mtp.note(0, (5, 6), 30, states)

    assert [token for token, _ in trail.unread] == [5, 6]
    assert (trail.unread[0][1] == before).all()
    assert (trail.unread[1][1] == states[0]).all()
    assert abs(states[0] - before).max() > 0.1


@pytest.mark.model
@pytest.mark.parametrize("step", [1, 7, 39])
def test_guesses_do_not_depend_on_the_batches_read(native: Native, whole: list[int], step: int) -> None:
    assert len(set(whole)) > 1
    assert read(native, 0, prompt(1, 40), step=step).draft(0, 11, 8) == whole


@pytest.mark.model
def test_guesses_that_came_to_nothing_leave_no_trace(native: Native, whole: list[int]) -> None:
    mtp = read(native, 0, prompt(1, 40)[:33])
    mtp.draft(0, 400, 8)
    read(native, 0, prompt(1, 40)[33:], 33)
    mtp.draft(0, 401, 3)

    assert mtp.draft(0, 11, 8) == whole


@pytest.mark.model
def test_a_copy_guesses_as_its_source(native: Native, whole: list[int]) -> None:
    read(native, 0, prompt(1, 40)[:20])
    native.copy(0, 1)
    read(native, 0, prompt(3, 10), 20)

    mtp = read(native, 1, prompt(1, 40)[20:], 20)

    assert mtp.draft(1, 11, 8) == whole


@pytest.mark.model
def test_after_a_partly_right_guess_the_block_goes_on_from_what_was_kept(native: Native, whole: list[int]) -> None:
    read(native, 0, prompt(1, 40)[:38])
    view = View(0, (), "talk", list(prompt(1, 40)[:38]))
    drafter = Drafter(native)
    native.decode((*prompt(1, 40)[38:], 5, 6), range(38, 42), [0] * 4, [True] * 4)
    view.tokens.extend(prompt(1, 40)[38:])

    drafter.keep(view, 38, 4)

    assert native.end_position(0) == 40
    assert drafter.counts == DraftCounts(drafted=3, accepted=1)
    assert drafter.draft(view, 11, 8) == whole


@pytest.mark.model
def test_after_a_cut_the_block_reads_on_from_there(native: Native) -> None:
    mtp = read(native, 0, prompt(1, 36))
    read(native, 0, prompt(2, 4), 36)
    assert native.remove(0, 36)
    native.decode((5,), (36,), (0,), (False,))

    trail = mtp.note(0, (5,), 36, mtp.states(1))

    assert (trail.read, trail.position) == (36, 37)
    assert len(mtp.draft(0, 11, 8)) == 8


@pytest.mark.model
def test_the_block_starts_anew_where_it_missed_something(native: Native) -> None:
    mtp = read(native, 0, prompt(1))
    native.decode((5,), (30,), (0,), (False,))

    read(native, 0, prompt(2), 31)

    assert len(mtp.draft(0, 11, 8)) == 8
    native.remove(0)
    assert mtp.draft(0, 11, 8) == [], "nothing is known of an empty sequence"
