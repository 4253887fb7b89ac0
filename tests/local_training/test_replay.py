"""Replay: the gradients of one graph with a detached prompt, in the memory of one branch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import ModelProblem, OutOfMemory, UsageProblem
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.replay import Plan, accumulate, choose_plan, score  # noqa: E402
from tests.support.tiny_policy import random_adapter, tiny_llama, tiny_policy, tiny_qwen3  # noqa: E402
from tests.support.whole_graph import cosine, gradient_of, relative_error, whole_graph  # noqa: E402

torch.set_num_threads(1)

ROOT = Path(__file__).parents[2]
PROMPT = tuple((7 * n) % 61 for n in range(40))
BRANCHES = ((1, 2, 3), (4, 5, 6, 7, 8), (9,), (3, 3, 3, 3))
ADVANTAGES = (1.0, -0.5, 2.0, 0.25)
MAKERS = pytest.mark.parametrize("make", [tiny_llama, tiny_qwen3], ids=["llama", "qwen3"])
WAYS = pytest.mark.parametrize("at_once", [1, 2, 4], ids=["one_by_one", "two_at_once", "all_at_once"])


def loss_of_branch(number, logprobs_T):
    return -ADVANTAGES[number] * logprobs_T.sum() / sum(map(len, BRANCHES))


def accumulated(policy, plan, prompt=PROMPT):
    policy.model.zero_grad()
    result = accumulate(policy, prompt, BRANCHES, loss_of_branch, plan=plan)
    return result, gradient_of(policy)


def one_graph(policy, *, detach_prompt, prompt=PROMPT):
    return whole_graph(policy, prompt, BRANCHES, loss_of_branch, detach_prompt=detach_prompt)


@MAKERS
@WAYS
@pytest.mark.parametrize("checkpointing", [False, True], ids=["kept", "checkpointed"])
def test_gradients_agree_with_one_graph_whose_prompt_is_detached(make, at_once, checkpointing):
    policy = tiny_policy(make(), checkpointing=checkpointing)
    expected_losses, expected = one_graph(policy, detach_prompt=True)

    result, found = accumulated(policy, Plan(at_once))

    assert result.losses == pytest.approx(expected_losses, rel=1e-5)
    assert cosine(found, expected) >= 0.9999
    assert relative_error(found, expected) <= 1e-5


def test_the_detached_prompt_does_make_a_difference_which_the_reference_shows():
    policy = tiny_policy()
    _, detached = one_graph(policy, detach_prompt=True)
    _, full = one_graph(policy, detach_prompt=False)

    assert cosine(detached, full) < 0.99


@WAYS
def test_through_the_prompt_the_gradients_are_those_of_the_full_graph(at_once):
    policy = tiny_policy()
    expected_losses, expected = one_graph(policy, detach_prompt=False)

    result, found = accumulated(policy, Plan(at_once, through_prompt=True))

    assert result.losses == pytest.approx(expected_losses, rel=1e-5)
    assert relative_error(found, expected) <= 1e-5


@WAYS
def test_gradients_agree_on_top_of_a_frozen_expert(tmp_path, at_once):
    policy = tiny_policy(expert=random_adapter(tmp_path / "expert", tiny_policy()))
    _, expected = one_graph(policy, detach_prompt=True)

    _, found = accumulated(policy, Plan(at_once))

    assert relative_error(found, expected) <= 1e-5
    frozen = [weight for name, weight in policy.model.named_parameters() if ".expert." in name]
    assert frozen and all(weight.grad is None for weight in frozen)


def test_replay_and_plain_batching_give_the_same_losses_and_log_probabilities():
    policy = tiny_policy()
    replayed, _ = accumulated(policy, Plan(1))
    batched, _ = accumulated(policy, Plan(len(BRANCHES), through_prompt=True))

    assert replayed.losses == pytest.approx(batched.losses, rel=1e-5)
    for one, other, branch in zip(replayed.logprobs, batched.logprobs, BRANCHES, strict=True):
        assert len(one) == len(branch)
        assert one == pytest.approx(other, abs=5e-6)


@MAKERS
def test_a_prompt_read_in_several_pieces_is_the_same_prompt(make, monkeypatch):
    policy = tiny_policy(make())
    _, whole = accumulated(policy, Plan(1))
    monkeypatch.setattr("local_training.replay._CAPTURE_TOKENS", 7)

    _, pieces = accumulated(policy, Plan(1))

    assert relative_error(pieces, whole) <= 1e-5


def test_a_prompt_of_one_token_is_replayed_too():
    policy = tiny_policy()
    _, expected = one_graph(policy, detach_prompt=True, prompt=PROMPT[:1])

    _, found = accumulated(policy, Plan(1), prompt=PROMPT[:1])

    assert relative_error(found, expected) <= 1e-5


def test_nothing_in_the_captured_prompt_requires_gradients(monkeypatch):
    policy = tiny_policy()
    caches, hidden = [], policy.hidden

    def watch(ids_BT, cache=None):
        caches.append(cache)
        return hidden(ids_BT, cache)

    monkeypatch.setattr(policy, "hidden", watch)
    accumulate(policy, PROMPT, BRANCHES, loss_of_branch, plan=Plan(1))

    assert len(caches) == 1 + len(BRANCHES)
    for cache in caches:
        for layer in cache.layers:
            assert layer.keys.shape == (1, 2, len(PROMPT) - 1, 8)
            assert not layer.keys.requires_grad and not layer.values.requires_grad
            assert layer.keys.grad_fn is None and layer.values.grad_fn is None


def test_the_prompt_is_captured_anew_after_every_optimizer_step():
    policy = tiny_policy()
    optimizer = torch.optim.SGD(policy.trainable, lr=0.05)
    for _ in range(3):
        _, expected = one_graph(policy, detach_prompt=True)
        _, found = accumulated(policy, Plan(1))
        assert relative_error(found, expected) <= 1e-5
        optimizer.step()


def test_gradients_of_several_prompts_add_up():
    policy = tiny_policy()
    _, first = accumulated(policy, Plan(1))
    _, second = accumulated(policy, Plan(1), prompt=PROMPT[::-1])

    policy.model.zero_grad()
    for prompt in (PROMPT, PROMPT[::-1]):
        accumulate(policy, prompt, BRANCHES, loss_of_branch, plan=Plan(1))

    torch.testing.assert_close(gradient_of(policy), first + second)


def test_the_same_call_twice_gives_the_same_bits():
    runs = [accumulated(tiny_policy(seed=5), Plan(1)) for _ in range(2)]

    assert runs[0][0] == runs[1][0]
    assert torch.equal(runs[0][1], runs[1][1])


def test_scores_are_the_log_probabilities_of_the_weights_that_are_active():
    policy = tiny_policy()
    result, _ = accumulated(policy, Plan(1))

    scored = score(policy, PROMPT, BRANCHES)
    with policy.using("base"):
        base = score(policy, PROMPT, BRANCHES, plan=Plan(1))
    untrained = score(tiny_policy(stir=False), PROMPT, BRANCHES)

    for found, expected in zip(scored, result.logprobs, strict=True):
        assert not found.requires_grad
        assert found.tolist() == pytest.approx(expected, abs=5e-6)
    for found, expected in zip(base, untrained, strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=5e-6)


def test_a_loss_that_ignores_its_branch_adds_no_gradient():
    policy = tiny_policy()
    policy.model.zero_grad()

    result = accumulate(policy, PROMPT, BRANCHES[:2], lambda *_: torch.tensor(0.5), plan=Plan(1))

    assert result.losses == (0.5, 0.5)
    assert result.loss == 1.0
    assert all(weight.grad is None for weight in policy.trainable)


def test_no_branches_are_nothing_to_do():
    assert accumulate(tiny_policy(), PROMPT, (), loss_of_branch).loss == 0


@pytest.mark.parametrize(
    ("prompt", "branches"), [((), ((1,),)), ((1, 2), ((1,), ()))], ids=["no_prompt", "a_branch_without_tokens"]
)
def test_what_cannot_be_credited_is_refused(prompt, branches):
    policy = tiny_policy()
    with pytest.raises(UsageProblem):
        accumulate(policy, prompt, branches, loss_of_branch)
    with pytest.raises(UsageProblem):
        score(policy, prompt, branches)


def test_a_base_with_a_sliding_window_is_refused():
    policy = tiny_policy(tiny_qwen3(use_sliding_window=True, sliding_window=8, max_window_layers=1))

    with pytest.raises(ModelProblem, match="sliding window"):
        accumulate(policy, PROMPT, BRANCHES, loss_of_branch)


def test_a_full_graphics_card_is_said_with_what_to_do():
    def fill(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(OutOfMemory, match="2 branches after 40 tokens") as problem:
        accumulate(tiny_policy(), PROMPT, BRANCHES, fill, plan=Plan(2))
    assert "fewer branches" in problem.value.hint


@pytest.mark.parametrize(
    ("prompt_tokens", "branch_tokens", "expected"),
    [
        pytest.param(100, [10] * 8, Plan(8), id="short_prompt"),
        pytest.param(1024, [256] * 16, Plan(8), id="as_many_as_a_graph_holds"),
        pytest.param(100, [5000, 10], Plan(1), id="a_branch_longer_than_a_graph"),
        pytest.param(1025, [10] * 8, Plan(1), id="long_prompt"),
        pytest.param(10, [], Plan(1), id="no_branches"),
    ],
)
def test_the_plan_follows_from_the_lengths(prompt_tokens, branch_tokens, expected):
    assert choose_plan(prompt_tokens, branch_tokens) == expected


def test_the_gradient_goes_through_short_prompts_only_and_their_tokens_count():
    assert choose_plan(148, [100] * 32, through_prompt=True) == Plan(19, through_prompt=True)
    assert choose_plan(1025, [100] * 16, through_prompt=True) == Plan(1)


PEAKS = """
import json, threading, time
import psutil, torch
torch.set_num_threads(1)
from local_training.replay import Plan, accumulate
from tests.support.tiny_policy import tiny_llama, tiny_policy

policy = tiny_policy(tiny_llama(hidden_size=128, intermediate_size=512, num_hidden_layers=4, vocab_size=4096))
prompt = tuple(n % 4096 for n in range(600))
branches = [tuple((n * (b + 2)) % 4096 for n in range(250)) for b in range(8)]
process = psutil.Process()

def peak(count, at_once):
    highest, done = [0], threading.Event()

    def watch():
        while not done.is_set():
            highest[0] = max(highest[0], process.memory_info().rss)
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    accumulate(policy, prompt, branches[:count], lambda _, logprobs_T: -logprobs_T.mean(), plan=Plan(at_once))
    done.set()
    watcher.join()
    return highest[0]

peak(1, 1)  # what torch itself needs at first
print(json.dumps({"two": peak(2, 1), "eight": peak(8, 1), "eight_in_one_graph": peak(8, 8)}))
"""


def test_peak_memory_does_not_grow_with_the_number_of_branches():
    # Freed memory goes back at once, so that the second measurement does not live off the first.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", PEAKS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, timeout=100)
    peak = json.loads(done.stdout)

    assert peak["eight"] <= 1.1 * peak["two"]
    # The same eight in one graph, to see that there is something to save.
    assert peak["eight"] - peak["two"] <= 0.2 * (peak["eight_in_one_graph"] - peak["two"])
