"""What is in force at each turn: read once, read again when a file changed, and never half."""

import os
from pathlib import Path

import pytest

from app.harness import loading, reading
from app.harness.loading import HarnessFiles
from engine.errors import UsageProblem
from tests.app.harness.folders import skill, write


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    """Names of the files that were opened for reading."""
    names: list[str] = []
    real = reading._read

    def counting(file, shown, most_bytes):
        names.append(file.path)
        return real(file, shown, most_bytes)

    monkeypatch.setattr(reading, "_read", counting)
    return names


def trust(files: HarnessFiles, place: Path) -> None:
    (waiting,) = files.current([place]).waiting
    files.trust(waiting)


def test_a_new_home_runs_under_the_defaults(files):
    found = files.current()
    assert found.config.instructions == ()
    assert found.complaints == found.waiting == ()


def test_files_are_in_force_at_the_next_turn_under_a_new_version(files, home):
    first = files.current()
    write(home, agents="Be short.", **skill("pdf"))
    second = files.current()
    write(home, **skill("pdf", "Otherwise."))
    third = files.current()
    assert len({first.version, second.version, third.version}) == 3
    assert third.config.skills[0].body == "Otherwise."
    write(home, **skill("pdf"))
    assert files.current().version == second.version


def test_without_a_change_nothing_is_read_again_and_the_value_is_the_same_object(files, home, proj, opened):
    write(home, agents="Be short.")
    write(proj, agents="Use tabs.", **skill("pdf"))
    trust(files, proj)
    first = files.current([proj])
    opened.clear()
    assert files.current([proj]) is first
    assert opened == []


def test_a_change_in_one_folder_does_not_read_another_again(files, home, proj, opened):
    write(home, agents="Be short.", **skill("pdf"))
    write(proj, agents="Use tabs.")
    files.current([proj])
    opened.clear()
    write(proj, agents="Use dots.")
    files.current([proj])
    assert opened == ["AGENTS.md"]


def test_a_file_just_written_is_read_again_even_if_it_looks_the_same(home, clock, files):
    clock.ahead_ns = 0
    file = home / "AGENTS.md"
    write(home, agents="aaaa")
    status = file.stat()
    first = files.current()
    file.write_bytes(b"bbbb")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size and file.stat().st_mtime_ns == status.st_mtime_ns
    second = files.current()
    assert second.config.instructions[0].text == "bbbb"
    assert second.version != first.version


def test_an_edit_while_files_are_read_is_seen_at_the_next_turn(files, home, monkeypatch):
    write(home, agents="before")
    real = loading.read_source

    def late(place, **options):
        source = real(place, **options)
        write(home, agents="after!")
        monkeypatch.setattr(loading, "read_source", real)
        return source

    monkeypatch.setattr(loading, "read_source", late)
    assert files.current().config.instructions[0].text == "before"
    assert files.current().config.instructions[0].text == "after!"


def test_a_home_that_is_broken_from_the_beginning_is_an_error(files, home):
    write(home, table="[budgets]\nturn_second = 1\n")
    with pytest.raises(UsageProblem, match=r"harness.toml, line 2, `budgets.turn_second`"):
        files.current()


def test_a_home_that_breaks_later_leaves_the_one_before_in_force_and_says_so(files, home):
    write(home, table="[budgets]\nturn_seconds = 7\n", agents="One.")
    before = files.current()
    write(home, table="[budgets]\nturn_seconds = \n", agents="Two.")
    during = files.current()
    assert during.config == before.config and during.version == before.version
    assert [complaint.line for complaint in during.complaints] == [2]
    assert files.current() is during
    write(home, table="[budgets]\nturn_seconds = 8\n")
    after = files.current()
    assert after.config.budgets.turn_seconds == 8
    assert after.config.instructions[0].text == "Two."
    assert after.complaints == ()


def test_one_bad_skill_does_not_take_down_the_rest(files, home):
    write(home, agents="Be short.", **skill("good"), **{"skills/bad/SKILL.md": "---\nname: x\n"})
    found = files.current()
    assert [one.name for one in found.config.skills] == ["good"]
    assert [complaint.file for complaint in found.complaints] == ["skills/bad/SKILL.md"]


def test_a_link_out_of_the_home_is_refused_and_the_rest_is_in_force(files, home, tmp_path):
    write(tmp_path / "elsewhere", **{"SKILL.md": "---\nname: x\ndescription: y\n---\nz"})
    write(home, agents="Be short.", **skill("good"))
    (home / "skills/linked").symlink_to(tmp_path / "elsewhere")
    found = files.current()
    assert [one.name for one in found.config.skills] == ["good"]
    assert "leads out of the folder" in found.complaints[0].problem


def test_the_order_in_which_folders_are_named_does_not_matter(files, tmp_path):
    one, two = write(tmp_path / "one", agents="1"), write(tmp_path / "two", agents="2")
    for place in (one, two):
        trust(files, place)
    assert files.current([two, one, two]) is files.current([one, two])
    assert [text.text for text in files.current([two, one]).config.instructions] == ["1", "2"]


def test_two_conversations_in_two_folders_do_not_make_each_other_anew(files, tmp_path):
    one, two = write(tmp_path / "one", agents="1"), write(tmp_path / "two", agents="2")
    first, second = files.current([one]), files.current([two])
    assert files.current([one]) is first
    assert files.current([two]) is second


def test_more_folders_than_are_kept_in_memory_are_still_read_rightly(files, tmp_path):
    places = [write(tmp_path / f"p{number:02d}", agents=str(number)) for number in range(loading._MOST_KEPT + 5)]
    for place in places:
        trust(files, place)
    found = files.current(places)
    assert [text.text for text in found.config.instructions] == [str(number) for number in range(len(places))]
    assert files.current(places) == found


def test_the_home_as_a_working_folder_is_still_the_home(files, home):
    write(home, agents="Be short.")
    found = files.current([home])
    assert len(found.config.instructions) == 1 and found.waiting == ()


def test_programs_of_the_home_are_run_where_they_lie(files, home):
    write(home, table='[[hooks]]\nwhen = "after_turn"\ncommand = ["hooks/x.sh"]\n', **{"hooks/x.sh": "#!/bin/sh\n"})
    (hook,) = files.current().config.hooks
    assert hook.command == (f"{home}/hooks/x.sh",)
