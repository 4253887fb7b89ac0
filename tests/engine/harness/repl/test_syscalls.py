"""The filter of system calls, run by an interpreter of its small language: what it allows and what it refuses."""

import struct

import pytest

from engine.harness.repl.syscalls import system_call_filter

ALLOW, REFUSE, UNKNOWN, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
X86, ARM = 0xC000003E, 0xC00000B7
THREAD, SOMETHING = 0x003D0F00, 0x01200011
"""Flags of `clone` as the C library gives them, for a thread and for a process."""


def verdict(machine: str, architecture: int, number: int, argument: int = 0) -> int:
    """What the filter returns for one call."""
    program = system_call_filter(machine)
    assert program is not None
    steps = list(struct.iter_unpack("=HBBI", program))
    data = {0: number, 4: architecture, 16: argument}
    accumulator = place = 0
    while True:
        code, if_true, if_false, value = steps[place]
        place += 1
        match code:
            case 0x20:
                accumulator = data[value]
            case 0x06:
                return value
            case 0x15 | 0x35 | 0x45:
                is_true = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}
                place += if_true if is_true[code] else if_false
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


@pytest.mark.parametrize(
    ("machine", "architecture", "number"),
    [
        *[pytest.param("x86_64", X86, number, id=f"x86 {number}") for number in (57, 58, 41, 101, 165, 272, 319, 425)],
        *[pytest.param("aarch64", ARM, number, id=f"arm {number}") for number in (198, 117, 40, 97, 279, 425)],
    ],
)
def test_processes_sockets_and_doors_of_the_kernel_are_refused(machine, architecture, number):
    assert verdict(machine, architecture, number) == REFUSE


@pytest.mark.parametrize(
    ("machine", "architecture", "number"),
    [
        *[pytest.param("x86_64", X86, number, id=f"x86 {number}") for number in (0, 1, 9, 53, 59, 231, 257)],
        *[pytest.param("aarch64", ARM, number, id=f"arm {number}") for number in (63, 64, 199, 221, 222)],
    ],
)
def test_reading_writing_memory_and_ending_are_allowed(machine, architecture, number):
    assert verdict(machine, architecture, number) == ALLOW


@pytest.mark.parametrize(("machine", "architecture", "clone"), [("x86_64", X86, 56), ("aarch64", ARM, 220)])
def test_clone_makes_threads_and_no_processes(machine, architecture, clone):
    assert verdict(machine, architecture, clone, THREAD) == ALLOW
    assert verdict(machine, architecture, clone, SOMETHING) == REFUSE
    assert verdict(machine, architecture, 435) == UNKNOWN, "clone3, so that the C library falls back to clone"


def test_calls_under_the_numbers_of_another_processor_are_not_let_through():
    assert verdict("x86_64", 0x40000003, 2) == KILL, "the 32-bit numbers"
    assert verdict("x86_64", X86, 0x40000000 | 57) == UNKNOWN, "the x32 numbers"
    assert verdict("aarch64", X86, 57) == KILL


def test_for_a_processor_it_does_not_know_there_is_none():
    assert system_call_filter("riscv64") is None
