"""The jobs of a host, put together: begun with it, ended before it, told on its feed and on the desktop."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from app.host.service import Service
from app.jobs.desktop import Desktop, teller
from app.jobs.kinds import JobKinds, Reminder
from app.jobs.prompts import Prompt
from app.jobs.runner import Runner, system_clock
from app.jobs.shelf import HostedJobs
from app.jobs.timetable import Timer
from app.settings import screen_language
from engine.jobs.keeping import KeptJobs
from engine.jobs.values import JobNotice


@contextmanager
def hosted_jobs(
    service: Service,
    *,
    shown_by_faces: Callable[[], bool] = lambda: False,
    clock: Callable[[], datetime] = system_clock,
) -> Iterator[HostedJobs]:
    """Jobs run until this ends. `shown_by_faces`: whether a face is open that shows the feed's `job_notice`.

    Raises: StoreProblem.
    """
    language = screen_language(service.settings, os.environ)
    kept = KeptJobs(service.store.database)
    kinds = JobKinds({"reminder": Reminder(language), "prompt": Prompt(service)})
    tell = teller(_faces(service, shown_by_faces), Desktop().tell)
    runner = Runner(kept, kinds, tell, language=language, clock=clock)
    timer = Timer(runner.look)
    timer.start()
    try:
        runner.start(timer)
        yield HostedJobs(kept, kinds, runner, clock)
    finally:
        timer.stop()
        runner.stop()


def _faces(service: Service, shown_by_faces: Callable[[], bool]) -> Callable[[JobNotice], bool]:
    def tell(notice: JobNotice) -> bool:
        service.feed.publish("job_notice", job_id=notice.job_id, title=notice.title, text=notice.text)
        return service.feed.followers > 0 and shown_by_faces()

    return tell
