"""What fits a machine, with the numbers that say so."""

from dataclasses import replace

import pytest

from app.models.catalogue import CatalogueBase, catalogue, catalogue_base, parse_catalogue
from app.models.fit import Machine, fit, fitting_context, need_of, recommend
from app.models.headers import read_base
from app.models.machine import parse_nvidia
from app.models.wording import fit_line, fit_parts_line, machine_line
from engine.errors import ModelProblem
from tests.support.models import starter_base, tiny_moe

GB = 10**9
LAPTOP = Machine(16 * GB, 12 * GB)
SHAPES = {base.name: base.shape for base in catalogue()}


def test_keys_and_values_and_states_are_counted_as_the_engine_lays_them_out():
    # 20 KiB per token of the hybrid base in 16 bits, 62.8 MiB per recurrent state: facts of the published model.
    need = need_of(SHAPES["qwen3.6-35b-a3b"], 32768)
    assert need.kv == 20 * 1024 * 2 * 32768
    assert need.state == 8 * 65_863_680
    assert need.weights == 20_419_565_568
    assert need.total == need.weights + need.kv + need.state + need.compute + need.margin


def test_a_header_gives_the_same_shape_as_the_catalogue_would():
    starter = read_base(starter_base()).shape
    assert (starter.layers, starter.kv_heads, starter.head_size, starter.context_tokens) == (30, 3, 64, 8192)
    assert starter.state_bytes == 0 and starter.active_bytes == starter.weights_bytes
    hybrid = read_base(tiny_moe()).shape
    assert hybrid.layers == 1 and hybrid.state_bytes > 0
    assert hybrid.active_bytes < hybrid.weights_bytes


@pytest.mark.parametrize(
    ("name", "machine", "verdict", "reason"),
    [
        ("qwen3-4b", LAPTOP, "fits", "memory"),
        ("qwen3-14b", Machine(32 * GB, 30 * GB), "slow", "slow"),
        ("qwen3.6-35b-a3b", Machine(32 * GB, 30 * GB), "fits", "memory"),
        ("qwen3-8b", Machine(16 * GB, 6 * GB), "slow", "close"),
        ("qwen3-14b", LAPTOP, "slow", "close"),
        ("qwen3-14b", Machine(8 * GB, 6 * GB), "no", "none"),
        ("qwen3-14b", replace(LAPTOP, gpu="RTX", free_gpu_bytes=16 * GB), "fits", "gpu"),
        ("mistral-small-24b", replace(LAPTOP, gpu="RTX", free_gpu_bytes=8 * GB), "slow", "split"),
        ("qwen3-14b", Machine(36 * GB, 30 * GB, "Apple", 30 * GB, is_unified=True), "fits", "memory"),
    ],
)
def test_the_verdict_follows_from_free_memory_and_speed(name: str, machine: Machine, verdict: str, reason: str):
    found = fit(SHAPES[name], machine)
    assert (found.verdict, found.reason) == (verdict, reason)


def test_the_recommended_base_is_the_largest_that_leaves_room_for_others():
    assert recommend(SHAPES, LAPTOP) == "qwen3.5-4b"
    assert recommend(SHAPES, Machine(32 * GB, 30 * GB)) == "qwen3.6-35b-a3b"
    assert recommend(SHAPES, Machine(4 * GB, GB)) is None


def test_more_memory_never_makes_a_verdict_worse():
    order = ["no", "slow", "fits"]
    for shape in SHAPES.values():
        verdicts = [order.index(fit(shape, Machine(2 * free * GB, free * GB)).verdict) for free in range(1, 64)]
        assert verdicts == sorted(verdicts)


def test_the_context_is_as_long_as_memory_allows_and_the_base_was_made_for():
    assert fitting_context(SHAPES["qwen3-4b"], Machine(64 * GB, 60 * GB)) == 32768
    assert fitting_context(SHAPES["qwen3-4b"], Machine(8 * GB, 5 * GB)) < 32768
    assert fitting_context(SHAPES["smollm2-360m"], Machine(64 * GB, 60 * GB)) == 8192
    assert fitting_context(replace(SHAPES["qwen3-4b"], context_tokens=512), LAPTOP) == 512


@pytest.mark.parametrize("base", catalogue(), ids=lambda base: base.name)
def test_every_base_of_the_catalogue_is_plausible(base: CatalogueBase):
    estimate = base.parameters * base.bits / 8
    assert base.size_bytes is None or 0.9 < base.size_bytes / estimate < 1.15
    assert base.file.endswith(".gguf") and base.repo.count("/") == 1 and base.licence
    assert base.active_parameters <= base.parameters
    assert catalogue_base(base.name.upper()) is base


def test_the_catalogue_goes_from_small_to_large():
    sizes = [base.parameters for base in catalogue()]
    assert sizes == sorted(sizes) and sizes[0] < 10**9 and sizes[-1] > 30 * 10**9


@pytest.mark.parametrize("text", ["[[base]]\nname = 1", "base = 3", "not toml", "[[base]]\nunknown = 1"])
def test_C6_a_catalogue_that_was_tampered_with_is_refused(text: str):
    with pytest.raises(ModelProblem, match="list"):
        parse_catalogue(text, "list.toml")


def test_the_gpu_is_told_from_what_its_driver_says():
    assert parse_nvidia("NVIDIA RTX 4090, 20000\n") == ("NVIDIA RTX 4090", 20000 << 20)
    assert parse_nvidia("A, 1\nB, 2\nC, [N/A]\n") == ("A, B", 3 << 20)
    assert parse_nvidia("No devices were found\n") == ("", 0)


def test_verdict_and_machine_are_said_with_numbers_in_both_languages():
    found = fit(SHAPES["qwen3-4b"], LAPTOP)
    assert fit_line(found, "en") == "fits: needs 5.7 GB; 12.0 GB are free"
    assert fit_line(found, "zh") == "能运行：需要 5.7 GB，内存空闲 12.0 GB"
    assert "2.5 GB" in fit_parts_line(found, "en") and "8,192" in fit_parts_line(found, "en")
    assert machine_line(LAPTOP, "zh").startswith("本机：内存 16.0 GB")
    assert "RTX" in machine_line(replace(LAPTOP, gpu="RTX", free_gpu_bytes=GB), "en")
