"""Identifiers that sort by the time they were made, such as `t-0ry3k1v9b4d2m8q0z6w1x5h7c`.

Eleven base-32 digits of microseconds since 1970, then thirteen random ones. Knows no tables.
"""

import secrets
import threading
import time

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: without i, l, o and u, which are misread
TIME_DIGITS = 11
RANDOM_DIGITS = 13


def new_id(prefix: str, time_us: int, random_bits: int) -> str:
    """`prefix`, a dash, the time and the lowest 65 of the random bits."""
    return f"{prefix}-{_base32(time_us, TIME_DIGITS)}{_base32(random_bits, RANDOM_DIGITS)}"


def time_us_of(identifier: str) -> int:
    """The microseconds since 1970 that `new_id` was given."""
    time_us = 0
    for digit in identifier.partition("-")[2][:TIME_DIGITS]:
        time_us = time_us * 32 + DIGITS.index(digit)
    return time_us


def _base32(number: int, digits: int) -> str:
    return "".join(DIGITS[number >> (5 * place) & 31] for place in reversed(range(digits)))


class IdMaker:
    """Each id sorts after all earlier ones, even within a microsecond or when the clock is set back.

    `newest` is the newest id made before this process, or "".
    """

    def __init__(self, newest: str = "") -> None:
        self._lock = threading.Lock()
        self._time_us = time_us_of(newest)

    def make(self, prefix: str) -> str:
        with self._lock:
            self._time_us = max(self._time_us + 1, time.time_ns() // 1000)
            return new_id(prefix, self._time_us, secrets.randbits(5 * RANDOM_DIGITS))
