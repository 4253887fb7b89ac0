"""Whatever a source does, only the right bytes get the model's name, and only bad ones are fetched again."""

import os

import pytest

from app.models.redirects import RedirectRefused
from app.models.transfer import DownloadFailed
from engine.errors import AgentError, BadModelFile
from tests.app.models import hub as hubs
from tests.app.models.hub import Fault, Hub
from tests.app.models.pulls import CHUNK, FILE, REPO, Puller


def ranges(hub: Hub) -> list[tuple[int, int]]:
    return [(asked.start, asked.end) for asked in hub.asked]


def test_a_model_that_arrives_whole_gets_its_name_and_a_profile(hub: Hub, pull: Puller, model_bytes: bytes):
    done = pull()
    assert pull.final.read_bytes() == model_bytes
    assert done.file == pull.final and done.name == "tiny-f32"
    assert hub.sent_bytes == len(model_bytes)
    assert pull.parts == []
    assert os.stat(pull.final).st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(hubs.short(200_000), id="short"),
        pytest.param(hubs.both(hubs.whole, hubs.short(400_000)), id="short_and_whole"),
        pytest.param(hubs.announce(-1000), id="announced_shorter"),
        pytest.param(hubs.announce(1000), id="announced_longer"),
        pytest.param(hubs.chunked_and_longer, id="longer_unannounced"),
        pytest.param(hubs.other_total, id="206_with_another_length"),
        pytest.param(hubs.stall(30.0), id="stall"),
        pytest.param(hubs.status(503), id="503"),
        pytest.param(hubs.status(429, "0"), id="429"),
        pytest.param(hubs.status(500), id="500"),
        pytest.param(hubs.whole, id="200_for_a_range"),
        pytest.param(hubs.both(hubs.etag("two"), hubs.short(300_000)), id="changed_etag"),
        pytest.param(hubs.flip(5 * CHUNK + 17), id="flipped_bit"),
    ],
)
def test_C5_a_fault_that_happens_once_is_overcome(hub: Hub, pull: Puller, model_bytes: bytes, fault: Fault):
    hub.faults = [fault]
    pull()
    assert pull.final.read_bytes() == model_bytes
    assert pull.model_files == [FILE]
    assert pull.parts == []


def test_C5_a_206_with_the_wrong_range_is_not_believed(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.faults = [hubs.short(len(model_bytes) - 3 * CHUNK), hubs.other_range]
    pull()
    assert pull.final.read_bytes() == model_bytes
    assert "retrying" in pull.said.stages


def test_C5_only_what_is_missing_is_asked_for_after_a_short_file(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.faults = [hubs.short(len(model_bytes) - 3 * CHUNK - 100)]
    pull()
    assert ranges(hub) == [(0, len(model_bytes) - 1), (3 * CHUNK, len(model_bytes) - 1)]
    assert hub.sent_bytes == len(model_bytes) + 100


def test_C5_after_a_flipped_bit_chunks_are_fetched_again_up_to_the_bad_one(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.faults = [hubs.flip(2 * CHUNK + 1)]
    pull()
    assert ranges(hub)[1:] == [(number * CHUNK, (number + 1) * CHUNK - 1) for number in range(3)]
    assert pull.final.read_bytes() == model_bytes


def test_C5_a_chunk_that_came_under_another_etag_is_suspected_first(hub: Hub, pull: Puller, model_bytes: bytes):
    last = 10 * CHUNK
    hub.faults = [
        hubs.short(len(model_bytes) - last),
        hubs.both(hubs.etag("two"), hubs.flip(last + 5), hubs.short(len(model_bytes) - last - CHUNK)),
    ]
    pull()
    assert ranges(hub)[3:] == [(last, last + CHUNK - 1)]
    assert pull.final.read_bytes() == model_bytes


def test_C5_bad_bytes_on_the_disk_are_found_and_only_they_are_fetched_again(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.faults, hub.always = [hubs.short(100)], hubs.status(404)
    with pytest.raises(DownloadFailed):
        pull()
    (part,) = pull.paths.downloads.glob("*.part")
    with part.open("r+b") as file:
        file.seek(4 * CHUNK + 99)
        file.write(b"rotten")
    hub.always = None
    hub.asked.clear()
    pull()
    last = len(model_bytes) // CHUNK
    assert ranges(hub) == [(4 * CHUNK, 5 * CHUNK - 1), (last * CHUNK, len(model_bytes) - 1)]
    assert pull.final.read_bytes() == model_bytes
    assert pull.said.stages[0] == "checking"


@pytest.mark.parametrize("damage", ["cut_short", "lost_journal", "torn_journal", "journal_of_nonsense"])
def test_C5_what_a_crash_left_is_used_as_far_as_it_is_good(hub: Hub, pull: Puller, model_bytes: bytes, damage: str):
    hub.faults, hub.always = [hubs.short(100)], hubs.status(404)
    with pytest.raises(DownloadFailed):
        pull()
    (part,), (journal,) = pull.paths.downloads.glob("*.part"), pull.paths.downloads.glob("*.journal")
    if damage == "cut_short":
        os.truncate(part, 6 * CHUNK + 5)
    elif damage == "lost_journal":
        journal.unlink()
    elif damage == "torn_journal":
        journal.write_bytes(journal.read_bytes()[:-9])
    else:
        journal.write_bytes(b'[1]\n{"chunk": true}\n\xff\xfe')
    hub.always = None
    hub.asked.clear()
    pull()
    assert pull.final.read_bytes() == model_bytes
    last = len(model_bytes) // CHUNK
    kept = {"cut_short": 6, "torn_journal": last - 1}.get(damage, 0)
    assert hub.sent_bytes == len(model_bytes) - kept * CHUNK


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        pytest.param(hubs.flip(900_000), BadModelFile, "SHA-256", id="flipped_for_ever"),
        pytest.param(hubs.short(1), DownloadFailed, "connection broke", id="short_for_ever"),
        pytest.param(hubs.other_total, DownloadFailed, "other bytes", id="another_length_for_ever"),
        pytest.param(hubs.stall(30.0), DownloadFailed, "nothing arrives", id="stalled_for_ever"),
        pytest.param(hubs.status(503), DownloadFailed, "503", id="503_for_ever"),
        pytest.param(hubs.status(429, "86400"), DownloadFailed, "429", id="429_until_tomorrow"),
        pytest.param(hubs.status(404), DownloadFailed, "404", id="404"),
        pytest.param(hubs.status(416), DownloadFailed, "416", id="416"),
        pytest.param(hubs.status(403), DownloadFailed, "access", id="403"),
    ],
)
def test_C5_a_fault_that_stays_ends_with_a_reason_and_no_model(
    hub: Hub, pull: Puller, fault: Fault, error: type[AgentError], says: str
):
    hub.always = fault
    with pytest.raises(error, match=says) as caught:
        pull()
    assert caught.value.hint
    assert pull.model_files == []
    assert not list(pull.paths.profiles.glob("*"))


def test_C5_a_wrong_range_that_stays_ends_with_a_reason_and_no_model(hub: Hub, pull: Puller):
    # Of the whole file there is only one range, so a part of it comes first.
    hub.faults, hub.always = [hubs.short(1_000_000)], hubs.other_range
    with pytest.raises(DownloadFailed, match="other bytes"):
        pull()
    assert pull.model_files == []
    assert pull.parts == [".journal", ".part"]


def test_C5_a_mirror_that_serves_another_file_is_found_out_and_nothing_is_kept(
    hub: Hub, pull: Puller, model_bytes: bytes
):
    hub.always = hubs.instead(model_bytes[:-4000] + bytes(4000))
    with pytest.raises(BadModelFile, match="other bytes"):
        pull()
    assert pull.model_files == []
    assert pull.parts == []


def test_C5_a_hash_that_the_hub_made_up_is_not_reached(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.repos[REPO] = hubs.Repo({FILE: model_bytes}, claims={FILE: "0" * 64})
    with pytest.raises(BadModelFile, match="SHA-256"):
        pull()
    assert pull.model_files == []


@pytest.mark.parametrize(
    "location",
    [
        "http://downloads.example/file.gguf",
        "https://127.0.0.1/file.gguf",
        "https://127.0.0.1:1/file.gguf",
        "http://127.0.0.1:1/file.gguf",
        "https://2130706433/file.gguf",
        "https://0x7f.1/file.gguf",
        "https://[::1]/file.gguf",
        "https://[::ffff:127.0.0.1]/file.gguf",
        "https://10.1.2.3/file.gguf",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/file.gguf",
        "https://printer.local/file.gguf",
        "https://user@files.example/file.gguf",
        "file:///etc/passwd",
        "ftp://files.example/file.gguf",
    ],
)
def test_C5_a_redirect_to_where_no_download_may_go_is_refused(hub: Hub, pull: Puller, location: str):
    hub.always = hubs.redirect(location)
    with pytest.raises(RedirectRefused):
        pull()
    assert pull.model_files == []
    assert hub.sent_bytes == 0


def test_C5_a_redirect_within_the_hub_is_followed(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.faults = [hubs.redirect(f"/{REPO}/resolve/other/{FILE}")]
    pull()
    assert pull.final.read_bytes() == model_bytes


def test_C5_redirects_in_a_circle_end(hub: Hub, pull: Puller):
    hub.always = hubs.redirect(f"/{REPO}/resolve/again/{FILE}")
    with pytest.raises(DownloadFailed, match="circle"):
        pull()


def test_a_hub_that_asks_for_patience_gets_it(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.faults = [hubs.status(429, "1"), hubs.status(503, "0")]
    pull()
    assert pull.final.read_bytes() == model_bytes
    assert [step.note for step in pull.said.steps if step.stage == "retrying"] == [
        "the hub answered 429",
        "the hub answered 503",
    ]


def test_a_hub_that_ignores_ranges_still_gives_the_file_in_the_end(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.faults = [hubs.both(hubs.whole, hubs.short(900_000))]
    hub.always = hubs.whole
    pull()
    assert pull.final.read_bytes() == model_bytes
    assert len(hub.asked) == 2
