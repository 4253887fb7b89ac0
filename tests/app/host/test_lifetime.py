"""When the host sleeps and when it ends."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.host.lifetime import Lifetime, Verdict, judge
from app.host.service import Service
from app.opening import open_store
from app.paths import Paths
from app.settings import Settings

NOBODY = {"faces": 0, "pending_jobs": 0, "is_wanted": False}


def test_a_host_that_was_used_just_now_stays() -> None:
    assert judge(idle_s=59, limit_s=60, **NOBODY) is Verdict.STAY


def test_a_host_that_nobody_needs_ends() -> None:
    assert judge(idle_s=60, limit_s=60, **NOBODY) is Verdict.END


@pytest.mark.parametrize("reason", [{"faces": 1}, {"pending_jobs": 1}, {"is_wanted": True}])
def test_a_host_with_an_open_face_a_job_or_a_wish_to_stay_frees_its_memory_and_stays(reason: dict[str, int]) -> None:
    assert judge(idle_s=60, limit_s=60, **{**NOBODY, **reason}) is Verdict.SLEEP


def test_without_a_limit_nothing_ever_sleeps() -> None:
    assert judge(idle_s=1e9, limit_s=0, **NOBODY) is Verdict.STAY


@pytest.fixture
def service(home: Path) -> Iterator[Service]:
    with open_store(Paths(home)) as store:
        service = Service(Paths(home), store, Settings())
        yield service
        service.close()


def test_the_host_is_told_to_end_when_nobody_has_needed_it_for_so_long(service: Service) -> None:
    ended = threading.Event()
    lifetime = Lifetime(service, ended.set, limit_s=0.1, is_wanted=False, look_every_s=0.01)
    lifetime.start()
    assert ended.wait(5)
    lifetime.stop()


async def test_an_open_face_keeps_the_host_but_not_its_engine(service: Service, starter_base: Path) -> None:
    await asyncio.to_thread(service.preload().result)
    assert service.runtime.process_id is not None
    ended = threading.Event()
    events = service.feed.follow(service.feed.newest)
    face = asyncio.create_task(anext(events))
    await asyncio.sleep(0.05)
    lifetime = Lifetime(service, ended.set, limit_s=0.1, is_wanted=False, look_every_s=0.01)
    lifetime.start()
    released = await asyncio.wait_for(face, 10)
    assert (released.name, released.values) == ("engine", {"state": "released"})
    assert service.runtime.process_id is None
    assert await asyncio.to_thread(service.about) is not None, "the engine sleeps, it is not lost"
    assert not ended.is_set()
    await events.aclose()
    assert await asyncio.to_thread(ended.wait, 5), "the face has left, so nobody needs the host"
    await asyncio.to_thread(lifetime.stop)
