"""Wait for a call without holding the screen up, nor the end of the program.

A client may take as long as its host: minutes while a base is loaded, for ever where it hangs. The threads are daemons,
so that quitting never waits for them; those of an executor would be joined.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def apart(function: Callable[[], T]) -> T:
    """What `function` returns or raises, called in a thread of its own."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(result: Callable[[], None]) -> None:
        # The loop is closed when the program has ended meanwhile: nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if outcome.done() else result())

    def work() -> None:
        try:
            value = function()
        except BaseException as error:  # handed as it is to the one who waits
            settle(partial(outcome.set_exception, error))
        else:
            settle(partial(outcome.set_result, value))

    threading.Thread(target=work, name="apart", daemon=True).start()
    return await outcome
