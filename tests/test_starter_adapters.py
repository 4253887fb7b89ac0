"""The adapters that come with the starter: each is what its manifest says, made by the recipe and the data here."""

import hashlib
from pathlib import Path

import pytest

from engine.adapters.importing import import_adapter
from engine.adapters.manifest import Manifest, from_json
from engine.assets import asset_path
from engine.routing.profile import Profile, load_profile
from engine.runtime.identity import adapter_ref, fingerprint
from tests.bench.router_requests import Asked
from tests.bench.router_sides import mixture_of, open_engine, route_all
from tests.support.models import starter_base

RECIPES = {"starter-chat": ("recipes/router.toml", "tasks/router.jsonl")}
"""What each was made by."""
CLEAR = {
    "Tell me about the history of tea.": "L0",
    "请用一句话解释什么是光合作用。": "L0",
    "Find the e-mail from Anna about the invoice and put its date into my calendar.": "L1",
    "帮我搜索明天去上海的火车票并设一个提醒。": "L1",
    "Write a Python function that reverses a linked list.": "L2",
    "这段 SQL 查询报错了，请帮我修复。": "L2",
    "Make me a small web page with a countdown timer and a start button.": "L3",
    "用图表做一个显示每月支出的页面。": "L3",
}
"""Requests that leave no doubt, and the expert each is for."""


@pytest.fixture(scope="module")
def profile() -> Profile:
    return load_profile(asset_path("profiles", "starter"))


def shipped() -> dict[str, Path]:
    return {path.stem: path for path in sorted(asset_path("profiles", "starter").glob("adapters/*.gguf"))}


def manifest_of(path: Path) -> Manifest:
    manifest = from_json(path.with_suffix(".json").read_bytes())
    assert manifest is not None
    return manifest


def sha256_of(*parts: str) -> str:
    return hashlib.sha256(asset_path(*parts).read_bytes()).hexdigest()


def test_those_that_are_shipped_are_used_by_an_expert(profile: Profile) -> None:
    used = {expert.adapter_name: expert.adapter for expert in profile.experts if expert.adapter is not None}
    assert used == shipped()
    assert "starter-chat" in used


@pytest.mark.parametrize("name", shipped())
def test_each_is_what_its_manifest_says(name: str, profile: Profile) -> None:
    path = shipped()[name]
    manifest = manifest_of(path)
    assert manifest.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert manifest.content_hash == adapter_ref(path).content_hash
    assert manifest.base_hash == fingerprint(starter_base())
    (expert,) = (one.expert for one in profile.experts if one.adapter == path)
    assert (manifest.profile, manifest.expert) == ("starter", expert)


@pytest.mark.parametrize("name", shipped())
def test_each_was_made_by_the_recipe_and_the_data_that_are_here(name: str) -> None:
    """Where one of them is changed, the adapter is to be trained anew."""
    recipe, data = RECIPES[name]
    manifest = manifest_of(shipped()[name])
    assert (manifest.recipe_hash, manifest.data_hash) == (sha256_of(recipe), sha256_of(data))


@pytest.mark.parametrize("name", shipped())
def test_each_fits_the_base_and_holds_numbers_only(name: str, tmp_path: Path) -> None:
    imported = import_adapter(shipped()[name], starter_base(), tmp_path, data_type="f16")
    assert imported.ranks[1] == manifest_of(shipped()[name]).rank


@pytest.fixture(scope="module")
def routed(profile: Profile) -> dict[str, str]:
    """Where each clear request goes, asked as serving asks it."""
    asked = [Asked(text, "", expert, text) for text, expert in CLEAR.items()]
    with open_engine(threads=2) as (runtime, info):
        answers = route_all(asked, runtime, mixture_of(profile, info, profile.expert("L0").adapter))
    return {answer.asked.text: answer.routed for answer in answers}


@pytest.mark.parametrize("text", CLEAR)
def test_a_request_that_leaves_no_doubt_reaches_its_expert(routed: dict[str, str], text: str) -> None:
    assert routed[text] == CLEAR[text]
