"""The policy: frozen parts stay frozen, what is saved comes back, and log-probabilities are those of the model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.adapters.peft_folder import read_peft
from engine.errors import AdapterMismatch, UsageProblem
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from safetensors.torch import load, save_file  # noqa: E402

from local_training.policy import Example, Policy  # noqa: E402
from local_training.replay import Plan, accumulate  # noqa: E402
from tests.support.tiny_policy import random_adapter, stir_adapter, tiny_llama, tiny_policy, tiny_qwen3  # noqa: E402

torch.set_num_threads(1)

PROMPT = tuple(range(5, 25))
EXAMPLES = [
    Example(PROMPT, (1, 2, 3)),
    Example((7,), (9, 8, 7, 6, 5)),
    Example((3, 1, 4), (1,)),
]
MAKERS = pytest.mark.parametrize("make", [tiny_llama, tiny_qwen3], ids=["llama", "qwen3"])


def one_by_one(model, examples):
    """Log-probabilities as the plain definition says, without padding, batch or LoRA bookkeeping."""
    result = []
    for example in examples:
        ids_BT = torch.tensor([example.prompt + example.answer])
        logprobs_TV = model(input_ids=ids_BT, use_cache=False).logits[0].log_softmax(dim=-1)
        start = len(example.prompt) - 1
        result.append(torch.stack([logprobs_TV[start + n, token] for n, token in enumerate(example.answer)]))
    return result


def snapshot(policy, active="policy"):
    with torch.no_grad(), policy.using(active):
        return torch.cat(policy.logprobs(EXAMPLES))


@MAKERS
def test_a_padded_batch_gives_the_log_probabilities_of_each_example_alone(make):
    policy = tiny_policy(make())

    batch = policy.logprobs(EXAMPLES)

    for found, expected in zip(batch, one_by_one(policy.model, EXAMPLES), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=2e-6)


def test_many_answer_tokens_are_scored_piece_by_piece_with_the_same_result():
    policy = tiny_policy()
    answer = tuple(n % 61 for n in range(600))
    examples = [Example(PROMPT, answer)]

    (found,) = policy.logprobs(examples)
    found.sum().backward()
    gradients = [weight.grad.clone() for weight in policy.trainable]
    policy.model.zero_grad()
    (expected,) = one_by_one(policy.model, examples)
    expected.sum().backward()

    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    for found_gradient, weight in zip(gradients, policy.trainable, strict=True):
        torch.testing.assert_close(found_gradient, weight.grad, rtol=1e-4, atol=1e-3)


def test_a_new_adapter_changes_nothing():
    torch.testing.assert_close(
        snapshot(tiny_policy(stir=False)),
        torch.cat(one_by_one(tiny_llama(), EXAMPLES)).detach(),
        rtol=0,
        atol=2e-6,
    )


@pytest.mark.parametrize("has_expert", [False, True], ids=["alone", "stacked"])
def test_without_adapters_the_log_probabilities_are_those_of_the_base(tmp_path, has_expert):
    expert = random_adapter(tmp_path / "expert", tiny_policy()) if has_expert else None
    policy = tiny_policy(expert=expert)
    bare = torch.cat(one_by_one(tiny_llama(), EXAMPLES)).detach()

    torch.testing.assert_close(snapshot(policy, "base"), bare, rtol=0, atol=2e-6)
    assert not torch.allclose(snapshot(policy), bare, atol=1e-2)


def test_the_anchor_is_the_expert_without_the_trained_adapter(tmp_path):
    expert_policy = tiny_policy()
    expert = random_adapter(tmp_path / "expert", expert_policy)
    policy = tiny_policy(expert=expert)

    torch.testing.assert_close(snapshot(policy, "anchor"), snapshot(expert_policy), rtol=0, atol=2e-6)
    assert not torch.allclose(snapshot(policy, "anchor"), snapshot(policy), atol=1e-2)


def test_stacked_adapters_add_up(tmp_path):
    expert = random_adapter(tmp_path / "expert", tiny_policy())
    policy = tiny_policy(expert=expert)
    trained_folder = tmp_path / "trained"
    policy.save(trained_folder)
    trained = read_peft(trained_folder).pairs

    merged = tiny_llama()
    with torch.no_grad():
        for adapter in (expert, trained):
            for path, pair in adapter.items():
                merged.get_submodule(path).weight += torch.tensor(pair.alpha / pair.rank * (pair.b_Or @ pair.a_rI))

    torch.testing.assert_close(snapshot(policy), torch.cat(one_by_one(merged, EXAMPLES)).detach(), rtol=0, atol=5e-5)


def test_only_the_trained_adapter_receives_gradients_and_steps(tmp_path):
    policy = tiny_policy(expert=random_adapter(tmp_path / "expert", tiny_policy()))
    before = {name: weight.detach().clone() for name, weight in policy.model.named_parameters()}
    optimizer = torch.optim.AdamW(policy.trainable, lr=0.01)

    with policy.using("anchor"):
        assert all(weight.requires_grad for weight in policy.trainable)
    (-torch.cat(policy.logprobs(EXAMPLES)).sum()).backward()
    optimizer.step()

    changed = {name for name, weight in policy.model.named_parameters() if not torch.equal(weight, before[name])}
    assert changed == {name for name in before if ".personal." in name}
    assert all(weight.grad is None for name, weight in policy.model.named_parameters() if name not in changed)


def test_the_whole_policy_is_active_again_after_an_error_inside_using():
    policy = tiny_policy()
    before = snapshot(policy)

    with pytest.raises(ZeroDivisionError), policy.using("base"):
        raise ZeroDivisionError

    assert torch.equal(snapshot(policy), before)


def test_the_same_seed_gives_the_same_new_adapter_whatever_was_drawn_before():
    first = tiny_policy(stir=False, seed=3)
    torch.rand(17)
    second, other = tiny_policy(stir=False, seed=3), tiny_policy(stir=False, seed=4)

    pairs = list(zip(first.trainable, second.trainable, other.trainable, strict=True))
    assert all(torch.equal(mine, same) for mine, same, _ in pairs)
    assert any(not torch.equal(mine, different) for mine, _, different in pairs)


def test_making_a_policy_leaves_the_random_numbers_of_the_caller_alone():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    tiny_policy(stir=False)

    assert torch.equal(torch.rand(3), expected)


def test_what_is_saved_is_restored_bit_by_bit(tmp_path):
    policy = tiny_policy(rank=4, alpha=16.0)
    policy.save(tmp_path / "adapter")
    fresh = tiny_policy(rank=4, alpha=16.0, stir=False)

    fresh.restore(tmp_path / "adapter")

    assert all(torch.equal(mine, saved) for mine, saved in zip(fresh.trainable, policy.trainable, strict=True))
    assert torch.equal(snapshot(fresh), snapshot(policy))


def test_saving_twice_writes_the_same_bytes_and_only_safetensors(tmp_path):
    policy = tiny_policy()
    for name in ("one", "two"):
        policy.save(tmp_path / name)

    names = ["adapter_config.json", "adapter_model.safetensors"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in names)
    assert json.loads((tmp_path / "one" / names[0]).read_text())["base_model_name_or_path"] == "tiny"


def test_the_saved_folder_is_one_that_peft_reads(tmp_path):
    policy = tiny_policy()
    policy.save(tmp_path / "adapter")
    # In a child: PEFT's own wrapper warns of a transformers property that it uses itself.
    script = (
        "import sys, torch; torch.set_num_threads(1)\n"
        "from peft import PeftModel\n"
        "from safetensors.torch import save_file\n"
        "from tests.support.tiny_policy import tiny_llama\n"
        "model = PeftModel.from_pretrained(tiny_llama(), sys.argv[1])\n"
        "ids_BT = torch.tensor([[5, 6, 7, 8]])\n"
        "save_file({'logits': model(input_ids=ids_BT).logits.detach()}, sys.argv[2])\n"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path / "adapter"), str(tmp_path / "logits")]
    subprocess.run(command, cwd=root, env=child_environment(root), check=True, timeout=100)

    theirs = load((tmp_path / "logits").read_bytes())["logits"]
    torch.testing.assert_close(policy.model(input_ids=torch.tensor([[5, 6, 7, 8]])).logits.detach(), theirs)


def child_environment(root):
    return os.environ | {"PYTHONPATH": str(root), "HF_HUB_OFFLINE": "1"}


@pytest.mark.parametrize(
    ("other", "hint"),
    [
        pytest.param({"rank": 2}, "rank (2) and alpha (16)", id="rank"),
        pytest.param({"alpha": 2.5}, "rank (4) and alpha (2.5)", id="alpha"),
    ],
)
def test_an_adapter_of_another_rank_or_alpha_is_refused_and_nothing_changes(tmp_path, other, hint):
    options = {"rank": 4, "alpha": 16.0}
    tiny_policy(**options | other).save(tmp_path / "adapter")
    policy = tiny_policy(**options)
    before = snapshot(policy)

    with pytest.raises(AdapterMismatch) as refusal:
        policy.restore(tmp_path / "adapter")

    assert hint in refusal.value.hint
    assert torch.equal(snapshot(policy), before)


def test_an_expert_for_a_wider_base_is_refused(tmp_path):
    expert = random_adapter(tmp_path / "expert", tiny_policy(tiny_llama(hidden_size=64)))

    with pytest.raises(AdapterMismatch, match=r"q_proj is \[8, 64\] in the adapter and \[8, 32\] on tiny"):
        tiny_policy(expert=expert)


def test_an_expert_for_a_deeper_base_is_refused(tmp_path):
    expert = random_adapter(tmp_path / "expert", tiny_policy(tiny_llama(num_hidden_layers=3)))

    with pytest.raises(AdapterMismatch, match=r"layers\.2"):
        tiny_policy(expert=expert)


def test_an_expert_may_adapt_fewer_layers_with_other_ranks(tmp_path):
    folder = tmp_path / "expert"
    random_adapter(folder, tiny_policy())
    halves = load((folder / "adapter_model.safetensors").read_bytes())
    kept = {key: half for key, half in halves.items() if "layers.1" in key and ("q_proj" in key or "up_proj" in key)}
    for key, half in kept.items():
        if "up_proj" in key:
            kept[key] = half[:3].contiguous() if "lora_A" in key else half[:, :3].contiguous()
    save_file(kept, folder / "adapter_model.safetensors")
    config_path = folder / "adapter_config.json"
    patterns = {"rank_pattern": {"up_proj": 3}, "alpha_pattern": {"up_proj": 12.0}, "use_rslora": True}
    config_path.write_text(json.dumps(json.loads(config_path.read_text()) | patterns))
    expert = read_peft(folder).pairs

    merged = tiny_llama()
    with torch.no_grad():
        for path, pair in expert.items():
            rank, alpha = (3, 12.0) if "up_proj" in path else (8, 32.0)
            merged.get_submodule(path).weight += torch.tensor(alpha / rank**0.5 * (pair.b_Or @ pair.a_rI))

    assert len(expert) == 2
    torch.testing.assert_close(
        snapshot(tiny_policy(expert=expert, stir=False)),
        torch.cat(one_by_one(merged, EXAMPLES)).detach(),
        rtol=0,
        atol=1e-5,
    )


def test_an_example_without_prompt_or_answer_is_refused():
    policy = tiny_policy()
    for example in (Example((), (1,)), Example((1,), ())):
        with pytest.raises(UsageProblem):
            policy.logprobs([example])
    assert policy.logprobs([]) == ()


def test_checkpointing_gives_the_same_gradients():
    gradients = []
    for checkpointing in (False, True):
        policy = tiny_policy(checkpointing=checkpointing)
        torch.cat(policy.logprobs(EXAMPLES)).sum().backward()
        gradients.append([weight.grad for weight in policy.trainable])

    for plain, checkpointed in zip(*gradients, strict=True):
        torch.testing.assert_close(plain, checkpointed)


def test_the_memory_is_counted_from_what_is_loaded(tmp_path):
    alone = tiny_policy()
    stacked = tiny_policy(expert=random_adapter(tmp_path / "expert", tiny_policy()))
    one_adapter = sum(weight.nbytes for weight in alone.trainable)

    assert alone.memory.weights == sum(weight.nbytes for weight in tiny_llama().parameters())
    assert alone.memory.adapters == 4 * one_adapter
    assert stacked.memory.adapters == 5 * one_adapter
    # Keys and values of 2 heads of 8 in 2 blocks, as float32.
    assert alone.memory.prompt_token == 2 * 2 * 2 * 8 * 4


def test_a_bfloat16_base_keeps_its_adapters_in_float32():
    policy = Policy(tiny_llama().to(torch.bfloat16), name="tiny")
    stir_adapter(policy)
    (logprobs,) = policy.logprobs(EXAMPLES[:1])
    logprobs.sum().backward()

    assert {weight.dtype for weight in policy.trainable} == {torch.float32}
    assert logprobs.dtype == torch.float32
    torch.testing.assert_close(logprobs, tiny_policy().logprobs(EXAMPLES[:1])[0], rtol=0, atol=0.2)


@MAKERS
@pytest.mark.parametrize(("prompt_tokens", "branch_tokens"), [(1, 100), (300, 20), (300, 100)])
def test_the_stated_memory_covers_what_a_graph_keeps(make, prompt_tokens, branch_tokens):
    shape = {"hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 4, "head_dim": 32}
    policy = tiny_policy(make(**shape))
    own = {weight.untyped_storage().data_ptr() for weight in policy.model.parameters()}
    kept, alive, after_forward = {}, [], []

    def count(tensor):
        alive.append(tensor)  # an address must not be given out twice
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    def measure(_, logprobs_T):
        after_forward.append(sum(kept.values()))
        return -logprobs_T.sum()

    prompt = tuple(n % 61 for n in range(prompt_tokens))
    branch = tuple(n % 61 for n in range(branch_tokens))
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        accumulate(policy, prompt, [branch], measure, plan=Plan(1))
    memory = policy.memory
    stated = memory.peak(prompt_tokens, branch_tokens) - memory.weights - memory.adapters

    assert stated / 2 <= after_forward[0] <= stated


def test_less_memory_is_stated_with_checkpointing():
    plain, checkpointed = (
        tiny_policy(tiny_llama(num_hidden_layers=8), checkpointing=flag).memory for flag in (False, True)
    )
    assert checkpointed.peak(300, 100) < plain.peak(300, 100) / 2
