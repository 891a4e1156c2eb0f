"""The request for a benchmark: made by the forms and by the command line alike. Pure.

It also reads the texts of options, and has the limits of numbers that no other module knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.schedule import MOST_RUNS, ONE, Conditions, Scratch
from raidtui.features.bench.workload import Preset, Workload, parse_size, with_usual_ramp
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import KIB

_NUMBER = re.compile(r"-?[0-9]{1,9}")
_MOST_DIGITS = 9
_LIMITS = {
    "repeats": ("the number of repeats", 1, MOST_RUNS),
    "cool": ("the pause before each run in seconds", 0, 86400),
    "precondition": ("the number of times the size is written", 0, 100),
    "member_size": ("the size of each member in KiB", 0, 1 << 40),
}
V = TypeVar("V")


class Request(Struct, frozen=True, kw_only=True):
    """A benchmark as requested. What is left out, or None, has its default.

    Of ``blocks``, ``depths``, ``jobs``, ``levels``, ``layouts`` and ``chunks`` one value is the workload's or
    the array's; several are a sweep.

    Args:
        preset, job_file, rw: what to measure, one of the three: a preset's name, the path of a job file, or
            fio's word for a kind of I/O.
        blocks: sizes of a request, bytes.
        size_bytes: the size of each job's file, or of the part of a device that is used.
        direct: whether the page cache is bypassed.
        directory, device, scratch: where, one of the three: a path, a kernel name, or kernel names of devices
            that arrays are made of.
        write: whether the device may be overwritten.
        confirmed: the serial numbers (or WWNs, or names) that were typed; None: it is only shown.
        levels, layouts, chunks: of scratch arrays; a chunk is KiB, or "one".
        member_kib: how much of each device a scratch array uses; 0 is all.
        knobs: (name, values).
        grouped: whether a point's repeats follow each other.
    """

    preset: str = ""
    job_file: str = ""
    rw: str = ""
    blocks: tuple[int, ...] = ()
    size_bytes: int | None = None
    depths: tuple[int, ...] = ()
    jobs: tuple[int, ...] = ()
    runtime_s: int | None = None
    ramp_s: int | None = None
    engine: str = ""
    read_percent: int | None = None
    distribution: str = ""
    direct: bool = True
    directory: str = ""
    device: str = ""
    scratch: tuple[str, ...] = ()
    write: bool = False
    confirmed: tuple[str, ...] | None = ()
    levels: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    member_kib: int = 0
    knobs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    conditions: Conditions = Conditions()
    repeats: int = 1
    grouped: bool = False
    note: str = ""

    def workload(self, preset: Preset | None) -> Workload:
        """Return the workload of a preset, or of ``rw``, with the requested changes."""
        work = preset.work if preset is not None else Workload(rw=self.rw, block_bytes=4 * KIB, size_bytes=0)
        blocks = self.blocks if len(self.blocks) == 1 or preset is None else ()
        changes = {
            "block_bytes": blocks[0] if blocks else None,
            "size_bytes": self.size_bytes,
            "depth": _single(self.depths),
            "jobs": _single(self.jobs),
            "runtime_s": self.runtime_s,
            "ramp_s": self.ramp_s,
            "engine": self.engine or None,
            "read_percent": self.read_percent,
            "distribution": self.distribution or None,
            "direct": None if self.direct else False,
        }
        work = replace(work, **{name: value for name, value in changes.items() if value is not None})
        return work if self.ramp_s is not None else with_usual_ramp(work)

    @property
    def changes_workload(self) -> bool:
        """Whether it changes anything in the workload."""
        numbers = (self.size_bytes, self.runtime_s, self.ramp_s, self.read_percent)
        several = self.blocks or self.depths or self.jobs
        words = self.engine or self.distribution or not self.direct
        return bool(several or words) or any(number is not None for number in numbers)

    @property
    def scratch_array(self) -> Scratch | None:
        """What all scratch arrays have in common; None where none are created."""
        if not self.scratch:
            return None
        chunk = _single(self.chunks)
        return Scratch(
            devices=self.scratch,
            level=_single(self.levels) or "raid10",
            layout=_single(self.layouts) or "",
            chunk_kib=int(chunk) if chunk and chunk != ONE else 0,
            size_kib=self.member_kib,
        )


def _single(values: Sequence[V]) -> V | None:
    return values[0] if len(values) == 1 else None


class FieldRefusal(Refusal, frozen=True, kw_only=True):
    """A refusal about one part of a request.

    Args:
        part: a field of ``Request``, or of a workload; a knob's name.
        form_remedy: the remedy in a form, where it differs from that on the command line.
    """

    part: str
    form_remedy: str = ""


def refuse_number(name: str, number: int) -> FieldRefusal | None:
    """Return why a number is out of its range, or None.

    Args:
        name: repeats, cool, precondition or member_size.
        number: repeats, seconds, times or KiB.
    """
    words, least, most = _LIMITS[name]
    if least <= number <= most:
        return None
    why = f"{words} must be between {least} and {most}, not {number}"
    return FieldRefusal(code=RefusalCode.INVALID, part=name, why=why)


class RequestError(Exception):
    """The text of an option cannot be read.

    Attributes:
        option: which one, as the command line names it, with underscores.
        why: what is wrong, with the word concerned.
        remedy: what to give instead; "" where that is obvious.
    """

    def __init__(self, option: str, why: str, remedy: str = "") -> None:
        super().__init__(f"{why}; {remedy}" if remedy else why)
        self.option, self.why, self.remedy = option, why, remedy


def read_size(option: str, text: str) -> int:
    """Return the bytes of "4k", "500m" or "2g".

    Raises:
        RequestError: it is not a size.
    """
    size = parse_size(text)
    if size is None:
        raise RequestError(option, f"{text} is not a size", "give it as 4k, 500m or 2g")
    return size


def read_number(option: str, text: str) -> int:
    """Return a whole number.

    Raises:
        RequestError: it is not one.
    """
    if not _NUMBER.fullmatch(text.strip()):
        raise RequestError(option, f"{text} is not a number")
    return int(text)


def read_values(option: str, text: str, read: Callable[[str, str], V]) -> tuple[V, ...]:
    """Return the values of "1,8,32", each read by ``read``.

    Raises:
        RequestError: one cannot be read.
    """
    return tuple(read(option, word) for word in sweep_values(text))


def read_chunk(option: str, word: str) -> str:
    """Return a chunk as it was typed.

    Raises:
        RequestError: it is neither a number of KiB nor "one".
    """
    number = word.isdecimal() and len(word) <= _MOST_DIGITS and int(word) > 0
    if word != ONE and not number:
        raise RequestError(option, f"{word} is not a size in KiB", "give numbers, or one")
    return word


def sweep_values(text: str) -> tuple[str, ...]:
    """Return the values of "1,8,32"; "1..31" is a range."""
    return tuple(value for word in text.split(",") if word.strip() for value in _span(word.strip()))


def _span(word: str) -> Sequence[str]:
    first, dots, last = word.partition("..")
    numbers = all(each.isdecimal() and len(each) < 8 for each in (first, last))
    if not dots or not numbers or not 0 < int(last) - int(first) < MOST_RUNS:
        return (word,)
    return [str(number) for number in range(int(first), int(last) + 1)]
