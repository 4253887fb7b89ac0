"""A download that is killed, that fills the disk, or that is not alone."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.models.download import Wanted, download
from app.models.pulling import Limits, Pulled
from app.paths import Paths
from engine.errors import AgentError, DiskFull
from tests.app.models.hub import Hub
from tests.app.models.pulls import CHUNK, FILE, HASTY, LIMITS, REPO, Puller, sha256
from tests.app.running import ROOT, environment, wait_until

KILLS = 10


def process(pull: Puller, *limit: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.app.models.pulling_process", str(pull.paths.home), pull.endpoint, *limit]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )


def test_C5_killed_at_ten_points_it_goes_on_and_never_shows_a_bad_file(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.block_pause_s = 0.004
    step = len(model_bytes) // (KILLS + 1)
    for kill in range(KILLS):
        with process(pull) as child:
            wanted = hub.sent_bytes + step
            wait_until(lambda wanted=wanted: hub.sent_bytes >= wanted or child.poll() is not None, "bytes are sent")
            child.kill()
            assert child.wait() != 0, f"kill {kill} came too late"
        assert pull.model_files == []
    hub.block_pause_s = 0.0
    pull()
    assert pull.final.read_bytes() == model_bytes
    # Each kill costs the chunk that was under way, and what the two kernels held between them.
    assert hub.sent_bytes < len(model_bytes) + KILLS * 3 * CHUNK
    assert pull.parts == []


def test_C5_a_full_disk_ends_it_and_keeps_what_is_good(hub: Hub, pull: Puller, model_bytes: bytes):
    with process(pull, str(6 * CHUNK + 1)) as child:
        out, err = child.communicate(timeout=30)
    assert child.returncode == 1, err
    assert out.decode().splitlines()[0] == "DiskFull"
    assert pull.model_files == []
    hub.asked.clear()
    pull()
    assert hub.sent_bytes == len(model_bytes) - 6 * CHUNK
    assert pull.final.read_bytes() == model_bytes


@contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[bool]:
    """A file system of its own in memory; False where this user may not make one."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder)]
    may = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield may
    finally:
        if may:
            subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def test_C5_a_disk_that_fills_up_meanwhile_is_said_and_the_rest_comes_later(
    hub: Hub, pull: Puller, model_bytes: bytes, tmp_path: Path
):
    with small_disk(tmp_path / "small", 2_500_000) as is_small:
        if not is_small:
            return test_C5_a_full_disk_ends_it_and_keeps_what_is_good(hub, pull, model_bytes)
        folder, final = tmp_path / "small" / "downloads", tmp_path / "small" / "models" / FILE
        wanted = Wanted(
            f"{hub.endpoint}/{REPO}/resolve/main/{FILE}", hub.endpoint, sha256(model_bytes), len(model_bytes), FILE
        )

        def fetch(filler: Path | None) -> None:
            def report(step: object) -> None:
                if filler is not None and not filler.exists():
                    filler.write_bytes(bytes(1_600_000))

            download(wanted, final, folder, token=None, report=report, pace=HASTY, chunk_bytes=CHUNK, margin_bytes=0)

        filler = tmp_path / "small" / "other"
        with pytest.raises(DiskFull) as caught:
            fetch(filler)
        assert "Free some space" in caught.value.hint
        assert not final.exists()
        kept = hub.sent_bytes
        filler.unlink()
        fetch(None)
        assert final.read_bytes() == model_bytes
        assert hub.sent_bytes < kept + len(model_bytes)


def test_C5_a_disk_without_room_is_found_before_anything_is_fetched(hub: Hub, pull: Puller):
    with pytest.raises(DiskFull, match="needed"):
        pull(limits=Limits(pace=HASTY, chunk_bytes=CHUNK, margin_bytes=1 << 60))
    assert hub.sent_bytes == 0


def test_C5_two_downloads_at_once_fetch_the_file_once(hub: Hub, pull: Puller, model_bytes: bytes):
    hub.block_pause_s = 0.005
    other = Puller(Paths(pull.paths.home), pull.endpoint, pull.machine)
    done: list[Pulled | AgentError] = []

    def run(one: Puller) -> None:
        try:
            done.append(one(limits=LIMITS))
        except AgentError as error:
            done.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in (pull, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(one) for one in done] == [Pulled, Pulled], done
    assert hub.sent_bytes == len(model_bytes)
    assert pull.final.read_bytes() == model_bytes
    assert sorted(stage for stage in (pull.said.stages[0], other.said.stages[0])) == ["fetching", "waiting"]
    assert {path.name for path in pull.paths.profiles.iterdir()} == {"tiny-f32"}


def test_stopped_by_its_user_it_keeps_what_it_has(hub: Hub, pull: Puller, model_bytes: bytes):
    said = pull.said

    class Stops(type(said)):  # type: ignore[misc]
        def step(self, file: str, step: object) -> None:
            if getattr(step, "done", 0) > 5 * CHUNK:
                raise KeyboardInterrupt

    from app.models.pulling import pull as pull_model
    from app.settings import Settings

    with pytest.raises(KeyboardInterrupt):
        pull_model(pull.paths, Settings(hub=hub.endpoint), {}, pull.machine, REPO, Stops(), limits=LIMITS)
    assert pull.parts == [".journal", ".part"]
    hub.asked.clear()
    pull()
    assert hub.asked[0].start >= 5 * CHUNK
    assert pull.final.read_bytes() == model_bytes
