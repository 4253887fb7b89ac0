"""The filter of system calls that Python in the sandbox runs under: one process, no sockets, no kernel doors.

Limits on the number of processes do not bind root, and sockets to a virtual machine's host know no network namespace;
so both are refused by number, as are calls that have held many of the kernel's faults and that a calculation does not
need. A program in the filter's own language (classic BPF), for the two processors named below; None for others.
Knows no process and no Python.
"""

import errno
import platform
import struct
import sys
from typing import Final

_LOAD: Final = 0x20
_EQUAL: Final = 0x15
_AT_LEAST: Final = 0x35
_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06

_NUMBER_AT: Final = 0
_ARCHITECTURE_AT: Final = 4
_FIRST_ARGUMENT_AT: Final = 16
"""Its lower half: both processors put that first."""

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_REFUSE: Final = 0x00050000 | errno.EPERM
_UNKNOWN: Final = 0x00050000 | errno.ENOSYS

_NEW_THREAD: Final = 0x00010000
"""CLONE_THREAD."""
_OTHER_NUMBERS: Final = 0x40000000
"""From here on x86-64 has the same calls under other numbers."""

_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE3: Final = 435
"""Its flags lie in memory, where a filter cannot look; C libraries fall back to `clone` when it is unknown."""

_REFUSED: Final[dict[str, tuple[int, int | None]]] = {
    "fork": (57, None),
    "vfork": (58, None),
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "unshare": (272, 97),
    "setns": (308, 268),
    "personality": (135, 92),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "memfd_secret": (447, 447),
}
"""(number on x86-64, number on 64-bit ARM; None where there is no such call)."""


def system_call_filter(machine: str = "") -> bytes | None:
    """The filter for `machine`, this one if empty; None where none is known."""
    machine = machine or platform.machine()
    # A Python of 32 bits on a kernel of 64 makes the calls of another processor.
    if machine not in _ARCHITECTURES or sys.maxsize < 2**32:
        return None
    program = [_instruction(_LOAD, _ARCHITECTURE_AT), *_unless_equal(_ARCHITECTURES[machine], _KILL)]
    program += [_instruction(_LOAD, _NUMBER_AT)]
    if machine == "x86_64":
        program += [_instruction(_AT_LEAST, _OTHER_NUMBERS, 0, 1), _instruction(_RETURN, _UNKNOWN)]
    program += _if_equal(_CLONE3, _UNKNOWN)
    for numbers in _REFUSED.values():
        number = numbers[list(_ARCHITECTURES).index(machine)]
        program += [] if number is None else _if_equal(number, _REFUSE)
    program += [
        _instruction(_EQUAL, _CLONE[machine], 0, 3),
        _instruction(_LOAD, _FIRST_ARGUMENT_AT),
        _instruction(_ANY_BIT, _NEW_THREAD, 1, 0),
        _instruction(_RETURN, _REFUSE),
        _instruction(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def _if_equal(value: int, then: int) -> list[bytes]:
    return [_instruction(_EQUAL, value, 0, 1), _instruction(_RETURN, then)]


def _unless_equal(value: int, then: int) -> list[bytes]:
    return [_instruction(_EQUAL, value, 1, 0), _instruction(_RETURN, then)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One step; the last two say how many steps to pass over."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
