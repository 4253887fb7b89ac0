"""What a forgetting has left to be done outside the store, now or at the next start. Runs no model."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from app.forgetting.files import remove, remove_weights
from app.paths import Paths
from engine.adapters.catalogue import Catalogue
from engine.errors import UnknownName
from engine.store import Store
from engine.store.forgetting import ForgettingStore, Step

REASON: Final = "What it was made from was forgotten."

Tell = Callable[[Step], None]


def tell_nobody(_step: Step) -> None:
    """For those who do not wait."""


def finish(paths: Paths, store: Store, tell: Tell = tell_nobody) -> None:
    """Do what is left of a forgetting, this one or one that was cut off. Raises: DiskFull, StoreProblem, AgentError;
    what is not done then is done at the next start."""
    forgetting, catalogue = ForgettingStore(store.database, store.mender), Catalogue(store.database)
    for step in forgetting.steps():
        tell(step)
        match step.kind:
            case "adapter":
                with suppress(UnknownName):
                    record = catalogue.details(step.name).record
                    if not record.is_forgotten or record.state != "retired":
                        catalogue.retire(step.name, REASON, forgotten=True)
                    remove_weights(paths, record)
            case "pages":
                if not forgetting.scrub():
                    continue
            case _:
                remove(paths, step)
        forgetting.finish(step)
