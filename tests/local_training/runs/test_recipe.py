"""Recipes: what may be said in each section, and that every wrong key is named."""

from pathlib import Path
from typing import get_args

import pytest

from engine.errors import UsageProblem
from local_training.runs.recipe import SAMPLING_KINDS, Kind, Recipe, parse_recipe, read_recipe

NEEDED = 'kind = "rl"\ndata = "questions.jsonl"\nsteps = 20\n'
GIVEN = 'kind = "sft"\ndata = "answers.jsonl"\nsteps = 20\n'


def recipe(more: str = "", needed: str = NEEDED) -> Recipe:
    return parse_recipe((needed + more).encode(), "brief.toml")


def complaint(more: str = "", needed: str = NEEDED) -> str:
    with pytest.raises(UsageProblem) as caught:
        recipe(more, needed)
    assert caught.value.problem.startswith("brief.toml ")
    assert caught.value.hint
    return caught.value.problem


def test_a_recipe_needs_only_kind_data_and_steps():
    found = recipe()
    assert (found.kind, found.data, found.steps, found.expert) == ("rl", "questions.jsonl", 20, "L0")
    assert found == Recipe(kind="rl", data="questions.jsonl", steps=20)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_can_be_asked_for(kind: Kind):
    assert recipe(needed=NEEDED.replace('"rl"', f'"{kind}"')).kind == kind


@pytest.mark.parametrize("key", ["kind", "data", "steps"])
def test_what_is_missing_is_named(key: str):
    needed = "\n".join(line for line in NEEDED.splitlines() if not line.startswith(key))
    assert f"{key}: Field required" in complaint(needed=needed)


SECTIONS = {
    "adapter": "rank = 16\nalpha = 8",
    "optimizer": 'rate = 2e-5\nwarmup_steps = 0\nschedule = "linear"\nbeta1 = 0.8\nbeta2 = 0.95\nweight_decay = 0.01\n'
    "clip_norm = 0.5",
    "batch": 'examples = 4\npack = 2\norder = "file"\nprompts = 2\ngraph_tokens = 512\nshort_prompt_tokens = 0\n'
    "through_prompt = false\n"
    "checkpointing = true",
    "rollouts": "branches = 4\nmax_tokens = 64\ntemperature = 0.7\ntogether = 8\nwaves = 4\ncontext_tokens = 1024",
    "reward": 'length_strength = 0.5\nlongest_tokens = 100\noverlong_tokens = 20\nunfinished = "mask"\nshuffled = true',
    "loss": 'advantages = "grpo"\nclip_low = 0.1\nclip_high = 0.4\ncap = 3\nband_low = 0.4\nband_high = 4\nkl = 0.02\n'
    'familiar = 0.2\nkeep = 2\nat_least = 0.75\nbeta = 0.2\nreference = "batch"',
    "anchor": 'weight = 1.5\nrequests = 32\ntokens = 24\nbatch = 4\nwithin_nats = 0.04\nleave_out = ["zh"]',
    "evaluation": "held_out = 0.5\nevery = 5\nitems = 50\nmax_tokens = 128\nparity = 32",
    "limits": "minutes = 15\nmemory_gib = 6.5\nnice = 19\nthreads = 2",
    "stop": "kl_general_nats = 0.05\nkl_target_nats = 0.5\nmismatch_nats = 0.2\nmasked_share = 0.1\n"
    "entropy_drop = 0.3\nbarren_steps = 5",
}


def test_the_sections_here_are_all_there_are():
    assert SECTIONS.keys() | {"kind", "data", "expert", "steps", "seed"} == Recipe.model_fields.keys()


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_of_a_section_can_be_set(section: str):
    table = getattr(recipe(f"[{section}]\n{SECTIONS[section]}\n"), section)
    assert table.model_fields_set == type(table).model_fields.keys()
    assert table != type(table)()


@pytest.mark.parametrize("section", SECTIONS)
def test_an_unknown_key_is_named_with_its_section(section: str):
    assert f"{section}.speed: Extra inputs" in complaint(f"[{section}]\nspeed = 9\n")


@pytest.mark.parametrize(
    ("more", "key"),
    [
        pytest.param("speed = 9", "speed", id="unknown at the top"),
        pytest.param("[rewards]", "rewards", id="unknown section"),
        pytest.param("rollouts = 8", "rollouts", id="a number for a section"),
        pytest.param('[adapter]\nrank = "8"', "adapter.rank", id="a number in quotes"),
        pytest.param("[adapter]\nrank = 8.0", "adapter.rank", id="a fraction for a count"),
        pytest.param("[adapter]\nrank = true", "adapter.rank", id="true for a number"),
        pytest.param("[batch]\nthrough_prompt = 1", "batch.through_prompt", id="a number for true"),
        pytest.param("[optimizer]\nrate = nan", "optimizer.rate", id="a rate that is no number"),
        pytest.param("[optimizer]\nclip_norm = inf", "optimizer.clip_norm", id="an endless norm"),
        pytest.param("[limits]\nminutes = inf", "limits.minutes", id="endless minutes"),
        pytest.param("[stop]\nentropy_drop = -nan", "stop.entropy_drop", id="a limit that is no number"),
        pytest.param("[loss]\nat_least = nan", "loss.at_least", id="a least reward that is no number"),
        pytest.param('[reward]\nunfinished = "drop"', "reward.unfinished", id="a word that there is not"),
        pytest.param('expert = ""', "expert", id="an empty expert"),
    ],
)
def test_a_wrong_key_is_named(more: str, key: str):
    assert f"\n  {key}: " in complaint(more + "\n")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("adapter.rank", "0"),
        ("adapter.rank", "513"),
        ("adapter.alpha", "0"),
        ("optimizer.rate", "0"),
        ("optimizer.rate", "1.5"),
        ("optimizer.warmup_steps", "-1"),
        ("optimizer.beta1", "1"),
        ("optimizer.weight_decay", "-0.1"),
        ("batch.examples", "0"),
        ("batch.prompts", "0"),
        ("batch.graph_tokens", "0"),
        ("rollouts.branches", "1"),
        ("rollouts.temperature", "0"),
        ("rollouts.context_tokens", "63"),
        ("rollouts.waves", "17"),
        ("reward.length_strength", "1.1"),
        ("loss.clip_low", "1"),
        ("loss.cap", "0.5"),
        ("loss.band_low", "1"),
        ("loss.band_high", "1"),
        ("evaluation.held_out", "1"),
        ("evaluation.items", "-1"),
        ("limits.minutes", "0"),
        ("limits.nice", "20"),
        ("stop.masked_share", "0"),
        ("stop.barren_steps", "0"),
    ],
)
def test_a_value_out_of_range_is_named(key: str, value: str):
    section, name = key.split(".")
    assert f"\n  {key}: Input should be " in complaint(f"[{section}]\n{name} = {value}\n")


@pytest.mark.parametrize("steps", ["0", "100001", '"20"', "20.0"])
def test_a_number_of_steps_that_is_none_is_named(steps: str):
    assert "\n  steps: " in complaint(needed=NEEDED.replace("20", steps))


@pytest.mark.parametrize("seed", ["-1", str(2**31)])
def test_a_seed_out_of_range_is_named(seed: str):
    assert "\n  seed: " in complaint(f"seed = {seed}\n")


def test_all_wrong_keys_are_named_at_once():
    said = complaint('speed = 1\n[adapter]\nrank = 0\n[loss]\nkl = "x"\n')
    assert said.startswith("brief.toml has 3 wrong or missing:\n")
    assert all(f"\n  {key}: " in said for key in ("speed", "adapter.rank", "loss.kl"))


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        pytest.param(
            "[rollouts]\nmax_tokens = 512\ncontext_tokens = 512\n",
            "rollouts.max_tokens must be below rollouts.context_tokens",
            id="no room for the prompt",
        ),
        pytest.param(
            "[rollouts]\nmax_tokens = 64\n[reward]\noverlong_tokens = 65\n",
            "reward.overlong_tokens must not be above rollouts.max_tokens",
            id="overlong from before the start",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_told(more: str, reason: str):
    assert reason in complaint(more)


@pytest.mark.parametrize("section", ["rollouts", "reward"])
@pytest.mark.parametrize("kind", sorted(set(get_args(Kind)) - SAMPLING_KINDS))
def test_kinds_that_learn_from_given_answers_take_nothing_about_own_ones(kind: str, section: str):
    said = complaint(f"[{section}]\n{SECTIONS[section]}\n", GIVEN.replace("sft", kind))
    assert f"[{section}] belongs to rl and rft; {kind} learns from given answers" in said


@pytest.mark.parametrize("kind", sorted(SAMPLING_KINDS))
def test_kinds_that_sample_take_settings_of_rollouts_and_rewards(kind: str):
    found = recipe("[rollouts]\nbranches = 4\n[reward]\nshuffled = true\n", NEEDED.replace("rl", kind))
    assert (found.rollouts.branches, found.reward.shuffled) == (4, True)


@pytest.mark.parametrize("name", ["数据/问答 一.jsonl", "数据\u3000二.jsonl", "../tea 🍵.jsonl"])
def test_data_may_have_any_name_in_any_language(name: str):
    assert recipe(needed=NEEDED.replace("questions.jsonl", name)).data == name


@pytest.mark.parametrize("name", ["", "  ", r"a\u0000b", r"a\nb", r"\u001b[2J"])
def test_a_name_that_no_file_should_have_is_refused(name: str):
    assert "\n  data: " in complaint(needed=NEEDED.replace("questions.jsonl", name))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"kind = rl\n", id="no quotes"),
        pytest.param(NEEDED.encode() + b'kind = "rl"\n', id="a key twice"),
        pytest.param(NEEDED.encode("utf-16"), id="UTF-16"),
        pytest.param('data = "问答"'.encode("gb18030"), id="GB 18030"),
        pytest.param(b"\x00\x01", id="bytes"),
    ],
)
def test_what_is_no_toml_is_said(content: bytes):
    with pytest.raises(UsageProblem, match=r"^brief\.toml is not valid TOML: "):
        parse_recipe(content, "brief.toml")


def test_an_empty_file_lacks_what_every_recipe_needs():
    with pytest.raises(UsageProblem, match="has 3 wrong or missing"):
        parse_recipe(b"", "brief.toml")


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm():
    assert parse_recipe(b"\xef\xbb\xbf" + NEEDED.replace("\n", "\r\n").encode(), "brief.toml") == recipe()


def test_a_recipe_is_read_from_a_file_with_a_chinese_name(tmp_path: Path):
    path = tmp_path / "简短.toml"
    path.write_text(NEEDED, encoding="utf-8")
    assert read_recipe(path) == recipe()


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_recipe_that_cannot_be_read_is_said(tmp_path: Path, name: str):
    with pytest.raises(UsageProblem, match=r"^The recipe .* cannot be read: ") as caught:
        read_recipe(tmp_path / name)
    assert caught.value.exit_code == 2


def test_a_model_that_was_named_instead_of_a_recipe_is_not_read_whole(tmp_path: Path):
    path = tmp_path / "base.gguf"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageProblem, match=r"base\.gguf is too large for a recipe"):
        read_recipe(path)
