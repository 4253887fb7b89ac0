"""The lines that the router learns from: what serving reads, in equal shares; and the file that ships them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pytest

from engine.assets import asset_path
from engine.harness.formats import choose_format
from engine.harness.prompt import Harness
from engine.mixture import harness_of
from engine.router_model import route_prompt, shown_request
from engine.routing.profile import Profile, load_profile
from engine.routing.router import label_texts
from engine.runtime.llama import LlamaRuntime
from engine.runtime.protocol import LoadPlan, Runtime, Tokens
from local_training.example_files import example_set, read_examples
from local_training.examples import AnswerExample, split_examples
from local_training.rollouts import prompt_of
from local_training.routing.__main__ import training_file
from local_training.routing.examples import (
    EASY,
    ENGLISH,
    EXAMPLES,
    TOGETHER,
    RouteExample,
    example_line,
    route_examples,
)
from local_training.routing.phrases import read_sections
from local_training.runs.creating import create_run
from local_training.runs.recipe import read_recipe
from local_training.tasks import Task

FILE = asset_path("tasks", "router.jsonl")
RECIPE = asset_path("recipes", "router.toml")
SOME = 300


@dataclass(frozen=True, slots=True)
class Serving:
    runtime: Runtime
    profile: Profile
    harness: Harness


@pytest.fixture(scope="module")
def profile() -> Profile:
    return load_profile(asset_path("profiles", "starter"))


@pytest.fixture(scope="module")
def serving(profile: Profile, starter_base: Path) -> Iterator[Serving]:
    runtime = LlamaRuntime()
    try:
        info = runtime.load(LoadPlan(str(starter_base), context_tokens=256, pool_tokens=256, max_views=1, threads=1))
        chat_format, _ = choose_format(info.architecture, info.markup, bos=info.bos, family=profile.family)
        yield Serving(runtime, profile, harness_of(profile, chat_format, info.markup))
    finally:
        runtime.close()


@pytest.fixture(scope="module")
def lines() -> tuple[AnswerExample, ...]:
    return read_examples(FILE, "sft").examples


def whole(text: str) -> str:
    return text


def test_equal_seeds_make_equal_lines_and_other_seeds_make_others(profile: Profile):
    one, same, other = (list(route_examples(profile, whole, SOME, seed)) for seed in (0, 0, 1))
    assert one == same
    assert sum(left.request == right.request for left, right in zip(one, other, strict=True)) < SOME / 10


def test_a_line_does_not_depend_on_how_many_there_are(profile: Profile):
    few, many = (list(route_examples(profile, whole, count, 0)) for count in (10, 40))
    assert many[:10] == few


def test_it_begins_with_the_starters_own_experts_and_goes_on_with_all_kinds(profile: Profile):
    kinds = [example.showing.kind for example in route_examples(profile, whole, EASY + SOME, 0)]
    assert set(kinds[:EASY]) == {"own"}
    assert set(kinds[EASY:]) == {"own", "added", "shuffled"}


def test_it_begins_in_english_and_goes_on_in_both_languages(profile: Profile):
    languages = Counter(example.language for example in route_examples(profile, whole, ENGLISH, 0))
    assert set(languages) == {"english"}
    following = list(route_examples(profile, whole, ENGLISH + SOME, 0))[ENGLISH:]
    assert Counter(example.language for example in following) == {"english": SOME / 2, "chinese": SOME / 2}


def test_lines_that_follow_each_other_show_the_same_experts(profile: Profile):
    examples = list(route_examples(profile, whole, ENGLISH + SOME, 0))[ENGLISH:]
    packs = [examples[start : start + TOGETHER] for start in range(0, SOME - TOGETHER, TOGETHER)]
    assert all(len({example.showing.route for example in pack}) == 1 for pack in packs)
    assert sum(len({example.showing.asked for example in pack}) > 1 for pack in packs) > 0.9 * len(packs)
    assert {example.language for example in packs[0]} == {"english", "chinese"}


def test_nothing_is_asked_of_chat_that_an_invented_expert_beside_it_claims(profile: Profile):
    invented = read_sections().invented
    for example in route_examples(profile, whole, EASY + SOME * 3, 0):
        shown = [invented[purpose] for _, purpose in example.showing.experts if purpose in invented]
        if example.showing.asked == "chat":
            assert not any(expert.claims.search(example.request) for expert in shown), example.request


@pytest.mark.model
def test_the_run_reads_the_very_tokens_that_serving_scores(serving: Serving):
    def shown(text: str) -> str:
        return shown_request(text, serving.runtime, serving.profile.route.request_tokens)

    by_kind: Counter[str] = Counter()
    asked = zip(
        route_examples(serving.profile, whole, EASY + SOME, 3),
        route_examples(serving.profile, shown, EASY + SOME, 3),
        strict=True,
    )
    for typed, example in islice(asked, EASY - SOME // 3, None):
        line = parsed(example)
        task = Task(line.example_id, line.messages, line.expert, ())
        assert prompt_of(task, serving.harness, serving.runtime) == served(typed, serving), line.example_id
        by_kind[example.showing.kind] += 1
        by_kind["long"] += typed.request != example.request
    assert min(by_kind[kind] for kind in ("own", "added", "shuffled", "long")) >= 10


@pytest.mark.model
def test_the_answer_begins_with_the_label_as_serving_scores_it(serving: Serving, lines: tuple[AnswerExample, ...]):
    answers = {line.answer for line in lines}
    assert set(label_texts(serving.profile.expert_ids)) <= answers
    firsts = {serving.runtime.encode(answer) for answer in answers}
    assert len({tokens[:-1] for tokens in firsts}) == 1  # what tells labels apart is their last token
    assert len({tokens[-1] for tokens in firsts}) == len(answers)


@pytest.mark.model
def test_the_file_is_what_the_generator_makes(serving: Serving):
    assert FILE.read_bytes() == training_file(serving.profile.folder, serving.runtime)


def test_the_file_has_equal_shares_of_languages_and_nearly_of_experts(lines: tuple[AnswerExample, ...]):
    assert len(lines) == EXAMPLES
    languages = Counter(line.tags[0] for line in lines[ENGLISH:])
    assert languages["english"] == languages["chinese"]
    for language in languages:
        of_starter = Counter(line.tags[1] for line in lines if line.tags[0] == language and line.tags[2] == "own")
        assert len(of_starter) == 4
        assert max(of_starter.values()) < 1.4 * min(of_starter.values())


def test_the_recipe_takes_every_example_and_holds_out_whole_phrases(lines: tuple[AnswerExample, ...]):
    recipe = read_recipe(RECIPE)
    split = split_examples(lines, recipe.evaluation.held_out)
    taken = recipe.steps * recipe.batch.examples
    assert len(split.training) <= taken < 2 * len(split.training)
    assert recipe.batch.pack == TOGETHER
    assert recipe.evaluation.items <= len(split.held_out)
    assert {line.group for line in split.training}.isdisjoint(line.group for line in split.held_out)


def test_a_run_can_begin_from_the_recipe(tmp_path: Path, profile: Profile):
    run = create_run(tmp_path / "run", RECIPE, profile=profile.folder, base=RECIPE, expert_adapter=None)
    assert run.data.read_bytes() == FILE.read_bytes()


def parsed(example: RouteExample) -> AnswerExample:
    (line,) = example_set(example_line(example).encode(), "one line", "sft").examples
    return line


def served(typed: RouteExample, serving: Serving) -> Tokens:
    """The router's prompt for what was typed, under a profile that shows the same experts."""
    texts = replace(serving.profile.texts, route=typed.showing.route)
    return route_prompt(typed.request, serving.runtime, replace(serving.profile, texts=texts), serving.harness)
