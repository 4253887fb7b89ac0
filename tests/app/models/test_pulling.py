"""From a name at the hub to a profile: which file, under which licence, with whose token, and what else comes along."""

from dataclasses import replace
from pathlib import Path

import pytest
from gguf import GGUFWriter

from app.bases import find_base
from app.credentials import TOKEN_VARIABLE
from app.models import pulling
from app.models.adding import add_model
from app.models.catalogue import catalogue
from app.models.records import read_record
from app.models.removing import plan_removal
from app.models.transfer import DownloadFailed
from app.profiles import load_chosen_profile
from engine.assets import asset_path
from engine.errors import BadModelFile, ModelProblem, UnknownName, UsageProblem
from engine.routing.profile import load_profile
from engine.runtime.gguf import check_base, read_header
from tests.app.models import hub as hubs
from tests.app.models.hub import COMMIT, Hub
from tests.app.models.pulls import FILE, REPO, Puller, sha256

PUBLISHED = {
    "lora.md": "## L0\nadapter_name: one\n### Description\nTalk.\n## L2\nadapter_name: two\n### Description\nCode.\n",
    "route.md": "{{LORA_DESCRIPTIONS}}\nOne of {{ROUTE_LABELS}}.\nmodel_id=",
    "intro.md": "You are {{MODEL_NAME}} 你好.",
    "summary.md": "Sum it up.",
}


def test_the_profile_of_a_pulled_model_works_and_its_file_is_recorded(hub: Hub, pull: Puller, model_bytes: bytes):
    done = pull()
    profile = load_chosen_profile(pull.paths, done.name)
    assert find_base(profile, pull.paths) == pull.final
    assert profile.expert_ids == ("L0", "L1", "L2", "L3")
    record = read_record(pull.final)
    assert record is not None
    assert (record.repo, record.file, record.revision) == (REPO, FILE, COMMIT)
    assert (record.sha256, record.licence) == (sha256(model_bytes), "apache-2.0")


def test_a_second_pull_fetches_nothing_and_makes_no_second_profile(hub: Hub, pull: Puller):
    pull()
    hub.asked.clear()
    again = pull()
    assert again.was_here and again.made is None and again.name == "tiny-f32"
    assert hub.asked == []


def test_a_model_that_rotted_on_the_disk_is_fetched_anew(hub: Hub, pull: Puller, model_bytes: bytes):
    pull()
    content = bytearray(model_bytes)
    content[500_000] ^= 1
    pull.final.write_bytes(content)
    assert not pull().was_here
    assert pull.final.read_bytes() == model_bytes


def test_a_file_of_the_same_name_that_the_user_put_there_is_left_alone(hub: Hub, pull: Puller, model_bytes: bytes):
    pull.paths.models.mkdir(parents=True)
    pull.final.write_bytes(b"mine")
    done = pull()
    assert pull.final.read_bytes() == b"mine"
    assert done.file.read_bytes() == model_bytes
    assert done.file.name == f"tiny-f32-{sha256(model_bytes)[:8]}.gguf"


def test_the_right_file_that_the_user_put_there_is_not_fetched_and_not_ours(hub: Hub, pull: Puller, model_bytes: bytes):
    pull.paths.models.mkdir(parents=True)
    pull.final.write_bytes(model_bytes)
    assert pull().was_here and hub.asked == []
    assert plan_removal(pull.paths, "tiny-f32").fate == "foreign"


def test_another_model_of_the_same_name_gets_a_name_of_its_own(hub: Hub, pull: Puller, model_bytes: bytes):
    pull()
    other = model_bytes[:-4] + bytes(4)
    hub.repos["other/tiny"] = hubs.Repo({FILE: other})
    assert pull("other/tiny").name == f"tiny-f32-{sha256(other)[:8]}"
    assert len(pull.model_files) == 2


def test_a_profile_of_that_name_with_another_base_is_left_alone(hub: Hub, pull: Puller, starter_base: Path):
    add_model(pull.paths, {}, pull.machine, str(starter_base), name="tiny-f32")
    assert pull().name == "tiny-f32-2"
    assert load_chosen_profile(pull.paths, "tiny-f32").base.path == starter_base


def test_the_licence_and_the_size_are_told_before_anything_is_fetched(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.repos[REPO] = replace(
        hub.repos[REPO], licence="other", card={"license_name": "tiny-licence", "license_link": "LICENSE"}
    )
    hub.always = hubs.status(404)
    with pytest.raises(DownloadFailed):
        pull()
    ((repo, files),) = pull.said.plans
    assert (repo.licence, repo.licence_link) == ("tiny-licence", "LICENSE")
    assert files[0].size_bytes == len(model_bytes)


# Which file


def test_a_file_can_be_named_by_its_path_its_name_or_its_quantisation(hub: Hub, pull: Puller, model_bytes: bytes):
    files = {"a/tiny-Q8_0.gguf": model_bytes, "b/tiny-Q6_K.gguf": model_bytes, "mmproj-f16.gguf": b"v"}
    hub.repos[REPO] = hubs.Repo(files)
    for target, name in [(":a/tiny-Q8_0.gguf", "tiny-Q8_0"), (":tiny-q6_k.gguf", "tiny-Q6_K"), (":Q8_0", "tiny-Q8_0")]:
        assert pull(REPO + target).file.stem == name


def test_without_a_name_the_usual_quantisation_is_taken(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.repos[REPO] = hubs.Repo({"t-Q2_K.gguf": b"", "t-Q4_K_M.gguf": model_bytes, "t-BF16.gguf": b""})
    assert pull().file.name == "t-Q4_K_M.gguf"


ADAPTER = {"adapter_config.json": b"{}", "adapter_model.safetensors": b"1"}
TWO = {"a-IQ1.gguf": b"1", "b-IQ2.gguf": b"2"}
TWO_OF_THREE = {"m-00001-of-00003.gguf": b"1", "m-00003-of-00003.gguf": b"3"}
WITH_CONFIG = {FILE: b"1", "config.json": b"{}"}


@pytest.mark.parametrize(
    ("files", "target", "error", "says"),
    [
        pytest.param(TWO, REPO, UsageProblem, "a-IQ1.gguf, b-IQ2.gguf", id="choice"),
        pytest.param(WITH_CONFIG, f"{REPO}:Q9", UsageProblem, FILE, id="no_such_file"),
        pytest.param(WITH_CONFIG, f"{REPO}:config.json", BadModelFile, FILE, id="not_gguf"),
        pytest.param({"model.safetensors": b"1"}, REPO, BadModelFile, "only safetensors", id="safetensors"),
        pytest.param({"README.md": b"1"}, REPO, BadModelFile, "no model file", id="nothing"),
        pytest.param(ADAPTER, REPO, BadModelFile, "adapter for Big", id="adapter"),
        pytest.param(TWO_OF_THREE, REPO, BadModelFile, "lacks 1 of the 3", id="part"),
    ],
)
def test_a_repository_without_the_one_file_says_why_and_what_there_is(
    hub: Hub, pull: Puller, files: dict[str, bytes], target: str, error: type[ModelProblem], says: str
):
    hub.repos[REPO] = hubs.Repo(files, card={"base_model": "Big"})
    with pytest.raises(error) as caught:
        pull(target)
    assert says in f"{caught.value.problem} {caught.value.hint}"
    assert hub.asked == []


@pytest.mark.parametrize("target", ["nonsense", "../../etc", "a/b/c", "owner/..", "https://x.example/a/b", "a b/c", ""])
def test_what_is_no_name_is_refused_before_the_hub_is_asked(hub: Hub, pull: Puller, target: str):
    with pytest.raises(UsageProblem):
        pull(target)
    assert hub.paths == []


def test_a_repository_and_a_revision_that_there_are_not_are_said_so(hub: Hub, pull: Puller):
    with pytest.raises(UnknownName, match="no public repository"):
        pull("owner/none")
    with pytest.raises(UnknownName, match="no revision"):
        pull(revision="gone")
    assert pull(revision="main").name == "tiny-f32"


def test_C1_what_is_no_model_inside_gets_no_name(hub: Hub, pull: Puller):
    hub.repos[REPO] = hubs.Repo({FILE: b"GGUF" + bytes(100_000)})
    with pytest.raises(BadModelFile, match=FILE):
        pull()
    assert pull.model_files == [] and pull.parts == []


def test_C6_a_file_that_is_not_the_pinned_one_is_refused_untouched(
    hub: Hub, pull: Puller, model_bytes: bytes, monkeypatch: pytest.MonkeyPatch
):
    known = catalogue()[1].model_copy(update={"repo": REPO, "file": FILE, "revision": None})
    monkeypatch.setattr(pulling, "catalogue_base", lambda name: known)
    with pytest.raises(BadModelFile, match="catalogue"):
        pull("known")
    assert hub.asked == [] and pull.model_files == []
    right = known.model_copy(update={"sha256": sha256(model_bytes)})
    monkeypatch.setattr(pulling, "catalogue_base", lambda name: right)
    assert pull("known").name == known.name


# Tokens


def test_a_gated_model_says_how_to_get_access_and_a_token_opens_it(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.repos[REPO] = replace(hub.repos[REPO], gated="manual")
    with pytest.raises(DownloadFailed, match="gated") as caught:
        pull()
    assert "macaron models token set" in caught.value.hint
    with pytest.raises(DownloadFailed, match="access"):
        pull(environment={TOKEN_VARIABLE: "hf_wrong"})
    pull(environment={TOKEN_VARIABLE: hub.token})
    assert pull.final.read_bytes() == model_bytes


def test_a_private_model_is_found_with_a_token_only(hub: Hub, pull: Puller):
    hub.repos[REPO] = replace(hub.repos[REPO], private=True)
    with pytest.raises(UnknownName):
        pull()
    assert pull(environment={TOKEN_VARIABLE: hub.token}).name == "tiny-f32"


def test_a_public_model_never_sees_the_token(hub: Hub, pull: Puller):
    pull(environment={TOKEN_VARIABLE: hub.token})
    assert {asked.token for asked in hub.asked} == {""}


# What comes along


def test_the_published_texts_beside_a_model_become_its_profile(hub: Hub, pull: Puller, model_bytes: bytes):
    texts = {f"harness/{name}": text.encode() for name, text in PUBLISHED.items()}
    hub.repos[REPO] = hubs.Repo({FILE: model_bytes, **texts})
    profile = load_chosen_profile(pull.paths, pull().name)
    assert profile.expert_ids == ("L0", "L2") and profile.route.default == "L2"
    assert "你好" in profile.texts.intro
    assert profile.route.wire == "tall"


def test_published_texts_that_were_changed_on_the_way_are_refused(
    hub: Hub, pull: Puller, model_bytes: bytes, monkeypatch: pytest.MonkeyPatch
):
    files = {FILE: model_bytes, **{name: text.encode() for name, text in PUBLISHED.items()}}
    hub.repos[REPO] = hubs.Repo(files)
    true_json = hub.repo_json(REPO)
    files["intro.md"] = files["intro.md"].replace(b"You", b"Now")
    monkeypatch.setattr(hub, "repo_json", lambda name: true_json)
    with pytest.raises(BadModelFile, match=r"intro\.md"):
        pull()
    assert not list(pull.paths.profiles.glob("*"))


def test_half_a_set_of_published_texts_is_none(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.repos[REPO] = hubs.Repo({FILE: model_bytes, "lora.md": PUBLISHED["lora.md"].encode()})
    assert load_chosen_profile(pull.paths, pull().name).expert_ids == ("L0", "L1", "L2", "L3")


def test_the_parts_of_a_split_model_are_fetched_together_and_joined(
    hub: Hub, pull: Puller, tmp_path: Path, tiny_moe: Path
):
    parts = split_model(tiny_moe, tmp_path)
    hub.repos[REPO] = hubs.Repo({f"big/{part.name}": part.read_bytes() for part in parts})
    done = pull()
    assert done.file.name == "big.gguf"
    whole, joined = read_header(tiny_moe), read_header(done.file)
    check_base(joined)
    assert {name: (info.shape, info.type_name) for name, info in joined.tensors.items()} == {
        name: (info.shape, info.type_name) for name, info in whole.tensors.items()
    }
    assert dict(joined.metadata) == {**whole.metadata, "general.quantization_version": 2} or set(
        joined.metadata
    ) == set(whole.metadata)
    assert all(_tensor_bytes(done.file, name) == _tensor_bytes(tiny_moe, name) for name in whole.tensors)
    assert pull.parts == []
    assert pull().was_here


def _tensor_bytes(path: Path, name: str) -> bytes:
    header = read_header(path)
    info = header.tensors[name]
    with path.open("rb") as file:
        file.seek(header.header_bytes + info.offset)
        return file.read(info.size_bytes)


def split_model(whole: Path, folder: Path) -> list[Path]:
    """The model in two files, as llama.cpp splits one."""
    from gguf import GGUFReader, GGUFValueType

    reader = GGUFReader(whole)
    half = len(reader.tensors) // 2
    paths = [folder / f"big-0000{number}-of-00002.gguf" for number in (1, 2)]
    for number, (path, tensors) in enumerate(zip(paths, (reader.tensors[:half], reader.tensors[half:]), strict=True)):
        writer = GGUFWriter(path, "qwen35moe")
        if number == 0:
            for field in reader.fields.values():
                if not field.name.startswith("GGUF.") and field.name != "general.architecture":
                    inner = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
                    writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", 2)
        writer.add_int32("split.tensors.count", len(reader.tensors))
        for tensor in tensors:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return paths


# Mirrors and the outside


def test_the_name_given_to_the_profile_is_made_safe_and_must_be_free(hub: Hub, pull: Puller):
    assert pull(name="../../my model").name == "my-model"
    hub.asked.clear()
    with pytest.raises(UsageProblem, match="already"):
        pull(name="my model")
    with pytest.raises(UsageProblem, match="already"):
        pull(name="Starter")
    assert hub.asked == []


def test_only_the_addresses_of_a_pull_are_asked_for(hub: Hub, pull: Puller):
    pull()
    assert hub.paths == [f"/api/models/{REPO}", f"/{REPO}/resolve/{COMMIT}/{FILE}"]


def test_an_offline_machine_is_told_so(hub: Hub, pull: Puller, monkeypatch: pytest.MonkeyPatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DownloadFailed, match="HF_HUB_OFFLINE"):
        pull()
    assert hub.paths == []


def test_a_hub_that_is_not_there_is_said_with_what_to_do(pull: Puller):
    pull.endpoint = "http://127.0.0.1:9"
    with pytest.raises(DownloadFailed, match="cannot be asked") as caught:
        pull()
    assert "HF_ENDPOINT" in caught.value.hint


def test_the_shipped_profiles_have_bases_the_program_can_get():
    for name in ("starter", "tall"):
        base = load_profile(asset_path("profiles", name)).base
        assert base.package or base.file in {one.file for one in catalogue()}
