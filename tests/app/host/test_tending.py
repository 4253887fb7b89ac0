"""What the host does for memories by itself."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.host.service import Service
from app.opening import open_store
from app.paths import Paths
from app.settings import Settings
from engine.memory.values import Draft

NOW = datetime.now(UTC)


@pytest.fixture
def service(home: Path) -> Iterator[Service]:
    with open_store(Paths(home)) as store:
        service = Service(Paths(home), store, Settings())
        yield service
        service.close()


def test_plans_whose_day_is_over_are_believed_no_more_and_looked_at_once_a_day(service: Service) -> None:
    plans = [
        service.kept_memories.write(
            Draft(text, "plan", text, None, source="user", due_on=(NOW + timedelta(days=days)).date().isoformat()), NOW
        )
        for text, days in (("I see the dentist", -30), ("I go to Oslo", 30))
    ]
    service._check_memories()
    past, coming = (service.kept_memories.store.get(plan.memory_id) for plan in plans)
    assert past.validation < plans[0].validation and coming.validation == plans[1].validation
    late = service.kept_memories.write(
        Draft("I see the doctor", "plan", "I see the doctor", None, source="user", due_on=plans[0].due_on), NOW
    )
    service._check_memories()
    assert service.kept_memories.store.get(late.memory_id).validation == late.validation
