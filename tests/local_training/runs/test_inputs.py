"""What a run reads: the token ids that serving would build, frozen once, and refused where they cannot be used."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import StoreProblem, UsageProblem
from engine.runtime.protocol import AdapterRef
from local_training.runs.data import run_tasks
from local_training.runs.folder import RunFolder
from local_training.runs.general_texts import ANSWER_TOKENS, GENERAL_REQUESTS
from local_training.runs.recipe import AnchorTable
from tests.local_training.runs.sampling import Said, ScriptedSampler, recipe_of, task_of
from tests.support import requirements
from tests.support.scripted_runtime import END, ScriptedRuntime
from tests.support.talking import open_talk

requirements.require_module("torch")
requirements.require_module("transformers")
requirements.require_module("peft")

from local_training.runs.inputs import Inputs, TokenExample, anchor_requests, load_inputs  # noqa: E402
from local_training.runs.inputs import tested_items as items_to_test  # noqa: E402

EXPERT = (AdapterRef("L1.gguf", "content of L1"),)
REWARD = {"reward": {"name": "exact", "expected": "yes"}}
QUESTION = "你好, <|im_end|> is mere text?"


def general(name: str, _: int) -> Said:
    return Said("Well.", (40, 50 + int(name), END))


def run_of(folder: Path, lines: list[dict[str, Any]]) -> RunFolder:
    run = RunFolder(folder / "run")
    run.inputs.mkdir(parents=True)
    whole = [{"id": f"n-{n}", "expert": "L1", **line} for n, line in enumerate(lines)]
    run.data.write_text("".join(json.dumps(line) + "\n" for line in whole), encoding="utf-8")
    return run


def load(run: RunFolder, kind: str, sampler: ScriptedSampler | None = None, **tables: Any) -> Inputs:
    table = {"evaluation": {"held_out": 0.3}, **tables}
    sampler = sampler or ScriptedSampler(general, adapters=EXPERT)
    return load_inputs(run, recipe_of(kind, expert="L1", **table), sampler, Path("profile"))  # type: ignore[arg-type]


def tasks(prompt: object = QUESTION, count: int = 20) -> list[dict[str, Any]]:
    return [{"prompt": prompt, **REWARD} for _ in range(count)]


def test_tasks_of_folding_keep_what_their_prompts_are_made_from(tmp_path: Path):
    folds = [f"My seat is {n}{'F' * n}." for n in (1, 9, 3)]
    found = load(run_of(tmp_path, [{"prompt": "Which seat?", "folds": folds, **REWARD}, *tasks()]), "rl")
    encoder = ScriptedRuntime()
    prompts = found.folding["n-0"]
    assert list(found.folding) == ["n-0"]
    assert (prompts.messages, prompts.question) == (tuple(folds), "Which seat?")
    assert folds[1] in encoder.decode(found.prompts["n-0"])
    assert found.prompt("n-0", EXPERT).folding == prompts
    assert found.prompt("n-1", EXPERT).folding is None


def examples(count: int = 20) -> list[dict[str, Any]]:
    return [{"prompt": QUESTION, "answer": f"第 {n}."} for n in range(count)]


def pairs(count: int = 20) -> list[dict[str, Any]]:
    return [{"prompt": QUESTION, "chosen": f"第 {n}.", "rejected": "不!"} for n in range(count)]


# Token ids


def test_a_tasks_prompt_is_to_the_token_what_the_expert_reads_when_it_serves(tmp_path: Path):
    inputs = load(run_of(tmp_path, tasks()), "rl")
    with open_talk(tmp_path) as talk:
        served = talk.trace(talk.say(QUESTION, "L1")).prompt
    assert len(inputs.tasks.training) + len(inputs.tasks.held_out) == 20
    assert inputs.prompts == {f"n-{n}": served for n in range(20)}


def test_an_answer_is_to_the_token_what_the_expert_would_have_written(tmp_path: Path):
    inputs = load(run_of(tmp_path, examples()), "sft")
    for example in (*inputs.training, *inputs.held_out):
        number = int(example.example_id.removeprefix("n-"))
        with open_talk(tmp_path) as talk:
            trace = talk.trace(talk.say(QUESTION, "L1", answer=f"第 {number}."))
        assert (example.prompt, example.answer) == (trace.prompt, trace.completion)
        assert example.answer[-1] == END
        assert (example.rejected, example.is_good) == ((), True)


def test_of_an_answer_that_does_not_end_the_end_is_not_learned(tmp_path: Path):
    def all_of(folder: Path, lines) -> dict:
        inputs = load(run_of(folder, lines), "sft")
        return {one.example_id: one.answer for one in (*inputs.training, *inputs.held_out)}

    (tmp_path / "whole").mkdir()
    (tmp_path / "begun").mkdir()
    whole = all_of(tmp_path / "whole", examples())
    begun = all_of(tmp_path / "begun", [{**one, "ends": False} for one in examples()])
    assert begun == {name: answer[:-1] for name, answer in whole.items()}


def test_an_earlier_conversation_is_read_as_the_experts_own(tmp_path: Path):
    messages = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "你好。"},
        {"role": "user", "content": "So?"},
    ]
    inputs = load(run_of(tmp_path, tasks(messages)), "rl")
    with open_talk(tmp_path) as talk:
        talk.say("Hi.", "L1", answer="你好。")
        assert inputs.prompts["n-0"] == talk.trace(talk.say("So?", "L1")).prompt


def test_pairs_have_both_answers_and_labels_are_kept(tmp_path: Path):
    runtime = ScriptedRuntime()
    paired = load(run_of(tmp_path / "dpo", pairs()), "dpo")
    for example in (*paired.training, *paired.held_out):
        chosen = f"第 {example.example_id.removeprefix('n-')}."
        assert example.answer == (*runtime.encode(chosen), END)
        assert example.rejected == (*runtime.encode("不!"), END)
    lines = [{**line, "good": n % 3 != 0} for n, line in enumerate(examples())]
    labelled = load(run_of(tmp_path / "kto", lines), "kto")
    for example in (*labelled.training, *labelled.held_out):
        assert example.is_good is (int(example.example_id.removeprefix("n-")) % 3 != 0)
        assert example.rejected == ()


def test_each_kind_has_what_it_learns_from_and_nothing_else(tmp_path: Path):
    rl, sft = load(run_of(tmp_path / "rl", tasks()), "rl"), load(run_of(tmp_path / "sft", examples()), "sft")
    assert (rl.training, rl.held_out) == ((), ())
    assert (sft.tasks.training, sft.tasks.held_out, sft.prompts) == ((), (), {})
    assert {type(example) for example in (*sft.training, *sft.held_out)} == {TokenExample}


def test_a_task_for_an_expert_that_the_profile_lacks_is_refused(tmp_path: Path):
    with pytest.raises(UsageProblem, match="for the expert 'L1', which the profile does not have"):
        load(run_of(tmp_path, tasks()), "rl", ScriptedSampler(general, {"L0": "I chat."}))


# General requests


def test_general_answers_are_the_anchors_own_at_temperature_one(tmp_path: Path):
    sampler = ScriptedSampler(general, adapters=EXPERT)
    inputs = load(run_of(tmp_path, examples()), "sft", sampler)
    ((prompts, settings, _, _),) = sampler.calls
    assert (settings.branches, settings.max_tokens, settings.temperature) == (1, ANSWER_TOKENS, 1.0)
    assert {prompt.adapters for prompt in prompts} == {EXPERT}
    assert [example.answer for example in inputs.general] == [(40, 50 + n, END) for n in range(len(GENERAL_REQUESTS))]
    with open_talk(tmp_path) as talk:
        served = talk.trace(talk.say(GENERAL_REQUESTS[3], "L1")).prompt
    assert inputs.general[3].prompt == served


def test_they_are_the_same_whatever_the_seed_of_the_recipe(tmp_path: Path):
    seeds = []
    for seed in (1, 2):
        sampler = ScriptedSampler(general)
        load(run_of(tmp_path / str(seed), tasks()), "rl", sampler, seed=seed)
        seeds += [call[2:] for call in sampler.calls]
    assert len(seeds) == 2 and len(set(seeds)) == 1


# Frozen


@pytest.mark.parametrize(("kind", "lines"), [("rl", tasks()), ("dpo", pairs())])
def test_what_was_frozen_is_read_again_whatever_became_of_the_profile(tmp_path: Path, kind: str, lines):
    run = run_of(tmp_path, lines)
    first = load(run, kind)
    changed = ScriptedSampler(lambda *_: Said("Other.", (1, 2, 3)), {"L1": "I was told something else."})
    assert load(run, kind, changed) == first
    assert changed.calls == []
    run.prompts.unlink()
    run.general.unlink()
    assert load(run, kind, changed) != first


DAMAGE = {
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-5]),
    "not an object": lambda path: path.write_text("[]"),
    "empty": lambda path: path.write_text("{}"),
    "no numbers": lambda path: path.write_text(path.read_text().replace("[", '["x", ')),
    "one is missing": lambda path: path.write_text(json.dumps(dict(list(json.loads(path.read_text()).items())[1:]))),
    "not text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["prompts.json", "general.json"])
@pytest.mark.parametrize(("kind", "lines"), [("rl", tasks()), ("sft", examples())])
def test_damaged_ids_are_said_to_be_so(tmp_path: Path, kind: str, lines, name: str, damage: str):
    run = run_of(tmp_path, lines)
    load(run, kind)
    DAMAGE[damage](run.inputs / name)
    with pytest.raises(StoreProblem, match=f"{name} of this run is damaged") as caught:
        load(run, kind)
    assert "Begin a new run" in caught.value.hint


# Length


def test_a_prompt_that_does_not_fit_with_its_answer_is_refused_with_the_number_that_would_do(tmp_path: Path):
    lines = tasks()
    lines[7]["prompt"] = "x" * 300
    longest = len(load(run_of(tmp_path / "roomy", lines), "rl").prompts["n-7"])
    run = run_of(tmp_path / "tight", lines)
    evaluation = {"held_out": 0.3, "max_tokens": 40}
    tight = {"context_tokens": longest + 39, "max_tokens": 8}
    with pytest.raises(UsageProblem, match=f"`n-7` has {longest} tokens; .* rollouts.context_tokens") as caught:
        load(run, "rl", rollouts=tight, evaluation=evaluation)
    assert caught.value.hint == f"Set that to {longest + 40} or more."
    assert load(run, "rl", rollouts={**tight, "context_tokens": longest + 40}, evaluation=evaluation).prompts


def test_the_longer_of_both_answers_counts(tmp_path: Path):
    run = run_of(tmp_path, tasks())
    longest = len(load(run, "rl").prompts["n-0"])
    with pytest.raises(UsageProblem) as caught:
        load(
            run,
            "rl",
            rollouts={"context_tokens": longest + 49, "max_tokens": 50},
            evaluation={"held_out": 0.3, "max_tokens": 8},
        )
    assert caught.value.hint == f"Set that to {longest + 50} or more."


# What is tested


def test_at_most_so_many_items_are_tested_in_the_order_of_the_file(tmp_path: Path):
    run = run_of(tmp_path, tasks())
    held_out = {"held_out": 0.5, "items": 3}
    tested = load(run, "rl", evaluation=held_out).tasks.held_out
    recipe = recipe_of("rl", expert="L1", evaluation=held_out)
    whole = run_tasks(run.data.read_bytes(), "data.jsonl", recipe).held_out
    assert len(whole) > 3
    assert tested == tuple(task for task in whole if task in tested)
    assert len(tested) == 3


def test_which_are_tested_depends_on_their_ids_alone():
    many = [task_of(f"t-{n}") for n in range(40)]
    chosen = {task.task_id for task in items_to_test(many, 10)}
    assert {task.task_id for task in items_to_test(many[::-1], 10)} == chosen
    without = [task for task in many if task.task_id not in list(chosen)[:2]]
    assert {task.task_id for task in items_to_test(without, 10)} >= chosen - set(list(chosen)[:2])
    assert chosen != {f"t-{n}" for n in range(10)}


def test_a_larger_test_holds_the_smaller_one():
    many = [task_of(f"t-{n}") for n in range(40)]
    fewer, more = ({task.task_id for task in items_to_test(many, items)} for items in (5, 12))
    assert (len(fewer), len(more)) == (5, 12)
    assert fewer < more
    assert items_to_test(many, 100) == tuple(many)
    assert items_to_test(many, 0) == ()


def test_without_an_evaluation_nothing_is_tested(tmp_path: Path):
    for kind, lines in (("rl", tasks()), ("sft", examples())):
        inputs = load(run_of(tmp_path / kind, lines), kind, evaluation={"held_out": 0.3, "items": 0})
        assert (inputs.tasks.held_out, inputs.held_out) == ((), ())
        assert 0 < len(inputs.tasks.training) + len(inputs.training) < 20


def test_requests_of_a_language_that_a_recipe_is_about_do_not_hold_it_back():
    everything = anchor_requests(AnchorTable(requests=1000))
    english = anchor_requests(AnchorTable(requests=32, leave_out=("zh",)))
    assert set(english) < set(everything) and len(english) == 32
    assert not any("\u4e00" <= character <= "\u9fff" for request in english for character in request)
    assert any("\u4e00" <= request[0] <= "\u9fff" for request in anchor_requests(AnchorTable(requests=32)))
