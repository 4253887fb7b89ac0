"""The base as it is trained: the weights of the file that serves, or a refusal that says what is in the way."""

from dataclasses import replace

import pytest

from engine.errors import BadModelFile, ModelMissing, ModelProblem, OutOfMemory
from engine.runtime.gguf import read_header
from engine.runtime.gguf_header import TensorInfo
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan, Request, Sampling, Token
from tests.support import requirements

torch = requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.base_model import base_bytes, base_config, load_base  # noqa: E402
from local_training.policy import Example, load_policy  # noqa: E402
from local_training.replay import Plan, accumulate  # noqa: E402
from tests.support.tiny_llama import write_tiny  # noqa: E402
from tests.support.tiny_policy import stir_adapter  # noqa: E402

torch.set_num_threads(1)

CPU = torch.device("cpu")
QUESTIONS = (
    "What is the capital of France?",
    "Name three colours.",
    "Write one sentence about the sea.",
    "How do I boil an egg?",
    "用中文打个招呼。",
    "Write a Python function that adds two numbers.",
    "What is 12 plus 30?",
    "What is the opposite of hot?",
)


@pytest.fixture(scope="module", params=["llama", "qwen3"])
def tiny(request, tmp_path_factory):
    return write_tiny(request.param, tmp_path_factory.mktemp("tiny"))


def test_the_weights_are_those_of_the_file(tiny):
    model = load_base(tiny.base, CPU)
    expected = tiny.model.state_dict()

    found = model.state_dict()
    assert found.keys() == expected.keys()
    for name, weight in found.items():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, expected[name]), name


def test_the_loaded_base_computes_what_the_original_computes(tiny):
    ids_BT = torch.arange(40)[None]
    with torch.no_grad():
        found = load_base(tiny.base, CPU)(input_ids=ids_BT).logits
        expected = tiny.model(input_ids=ids_BT).logits

    torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


def test_the_base_is_frozen_and_says_nothing_on_the_screen(tiny, capfd):
    model = load_base(tiny.base, CPU)

    assert not model.training
    assert not any(weight.requires_grad for weight in model.parameters())
    assert capfd.readouterr() == ("", "")


def test_the_size_is_known_before_loading(tiny):
    header = read_header(tiny.base)
    model = load_base(tiny.base, CPU)

    assert base_bytes(header, torch.float32) == sum(weight.nbytes for weight in model.parameters())


def test_a_policy_over_a_file_learns_on_top_of_it(tiny):
    policy = load_policy(tiny.base, rank=4, seed=1, device=CPU)
    optimizer = torch.optim.AdamW(policy.trainable, lr=0.01)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        result = accumulate(policy, (1, 2, 3, 4), [(5, 6), (7, 8, 9)], lambda _, logprobs_T: -logprobs_T.mean())
        losses.append(result.loss)
        optimizer.step()

    assert losses[-1] < losses[0] - 0.5


def test_other_architectures_are_refused_with_the_ones_that_work(tiny_moe):
    with pytest.raises(ModelProblem, match="qwen35moe base, which cannot be trained") as refusal:
        load_base(tiny_moe, CPU)
    assert "llama, qwen3" in refusal.value.hint


@pytest.mark.parametrize(
    ("metadata", "tensors", "problem"),
    [
        pytest.param({"rope.scaling.type": "yarn"}, (), "scales its positions", id="scaled_positions"),
        pytest.param({}, ("rope_freqs.weight",), "rope_freqs.weight", id="position_factors"),
        pytest.param({}, ("blk.0.attn_q.bias",), "attn_q.bias", id="bias"),
        pytest.param({}, ("blk.0.ffn_gate_exps.weight",), "ffn_gate_exps", id="experts"),
        pytest.param({"attention.layer_norm_rms_epsilon": None}, (), "epsilon is missing", id="no_epsilon"),
    ],
)
def test_a_base_that_would_be_represented_wrongly_is_refused(tiny, metadata, tensors, problem):
    header = read_header(tiny.base)
    changed = {f"{tiny.architecture}.{key}": value for key, value in metadata.items()}
    added = {name: TensorInfo((8,), "F32", 0, 32) for name in tensors}
    header = replace(header, metadata={**header.metadata, **changed}, tensors={**header.tensors, **added})

    with pytest.raises(ModelProblem, match=problem):
        base_config(header)


def test_missing_and_damaged_files_are_refused(tiny, tmp_path):
    with pytest.raises(ModelMissing):
        load_base(tmp_path / "none.gguf", CPU)
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny.base.read_bytes()[:-100])
    with pytest.raises(BadModelFile):
        load_base(cut, CPU)


def test_too_little_memory_is_said_before_anything_is_read(tiny, monkeypatch):
    class Memory:
        available = 1000

    monkeypatch.setattr("local_training.base_model.psutil.virtual_memory", Memory)
    with pytest.raises(OutOfMemory, match="are free"):
        load_base(tiny.base, CPU)


@pytest.fixture(scope="module")
def sampled(starter_base):
    """What the engine writes to the questions at temperature 1, and how likely it finds its own tokens."""
    runtime = LlamaRuntime()
    try:
        info = runtime.load(LoadPlan(str(starter_base), context_tokens=512, pool_tokens=2048, threads=1))
        start, end = info.markup["<|im_start|>"], info.markup["<|im_end|>"]
        requests = []
        for seed, question in enumerate(QUESTIONS):
            asked = (start, *runtime.encode(f"user\n{question}"), end, *runtime.encode("\n"))
            prompt = (*asked, start, *runtime.encode("assistant\n"))
            requests.append(Request(prompt, 12, sampling=Sampling(temperature=1.0, seed=seed), logprobs=0))
        pieces = [piece for piece in runtime.generate(requests) if isinstance(piece, Token)]
    finally:
        runtime.close()
    rollouts = []
    for index, request in enumerate(requests):
        answer = [piece for piece in pieces if piece.index == index]
        logprobs_T = torch.tensor([piece.logprob for piece in answer])
        rollouts.append((Example(request.tokens, tuple(piece.token for piece in answer)), logprobs_T))
    return rollouts


@pytest.mark.model
def test_the_starter_agrees_with_the_engine_and_replays_its_rollouts(starter_base, sampled):
    policy = load_policy(starter_base, seed=1, device=CPU)

    with torch.no_grad():
        trainer = policy.logprobs([example for example, _ in sampled])
    gaps = torch.cat([found - given for found, (_, given) in zip(trainer, sampled, strict=True)]).abs()
    print(f"torch against llama.cpp: mean |gap| {gaps.mean():.4f} nats, largest {gaps.max():.4f}, {len(gaps)} tokens")
    likely = torch.cat([logprobs_T for _, logprobs_T in sampled]) > -0.7
    print(f"of the tokens with a probability above one half: {gaps[likely].mean():.4f}, {int(likely.sum())} tokens")
    # Q4_1 weights times 8-bit activations in the engine, float32 here; rollouts with larger gaps stop a run.
    assert gaps.mean() <= 0.1

    stir_adapter(policy, size=0.01)
    prompt, branches = sampled[0][0].prompt, [example.answer for example, _ in sampled[:3]]
    gradients = {}
    for plan in (Plan(1), Plan(3), Plan(3, through_prompt=True)):
        policy.model.zero_grad()
        accumulate(policy, prompt, branches, lambda _, logprobs_T: -logprobs_T.sum(), plan=plan)
        gradients[plan] = torch.cat([weight.grad.flatten() for weight in policy.trainable]).double()
    replayed, batched, full = gradients.values()
    cosine = torch.cosine_similarity
    print(f"replay against one graph: cosine {cosine(replayed, batched, dim=0):.6f} with the prompt detached")
    print(f"and {cosine(replayed, full, dim=0):.6f} with the gradient through the prompt")
    assert cosine(replayed, batched, dim=0) >= 0.9999
    assert (replayed - batched).norm() <= 1e-3 * batched.norm()
