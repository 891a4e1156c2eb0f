"""A benchmark's options as texts, typed on the command line or in a form, and the request they make. Pure."""

from __future__ import annotations

import re
from typing import TypeVar

from msgspec import Struct

from raidtui.bench.offer import Request, is_chunk, sweep_values
from raidtui.bench.schedule import ONE, Conditions, Scratch
from raidtui.bench.workload import Workload, parse_size
from raidtui.view.units import KIB

_NUMBER = re.compile(r"-?[0-9]{1,9}")
_MOST_DIGITS = 9
V = TypeVar("V")


class Typed(Struct, frozen=True, kw_only=True):
    """What was typed; "" was left out. The names are those of the options, see docs/bench.md.

    Args:
        bs, depth, jobs: one value, or several with commas.
        job: a job file's path.
        direct: whether the page cache is passed by.
        device, scratch: kernel names.
        level, layout, chunk: of scratch arrays; one value, or several.
        member_size: KiB.
        quiet_check: whether the machine must be otherwise quiet.
        knob: (name, values with commas).
    """

    preset: str = ""
    job: str = ""
    rw: str = ""
    bs: str = ""
    size: str = ""
    depth: str = ""
    jobs: str = ""
    runtime: str = ""
    ramp: str = ""
    engine: str = ""
    read_percent: str = ""
    distribution: str = ""
    direct: bool = True
    directory: str = ""
    device: str = ""
    write: bool = False
    confirm: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    level: str = ""
    layout: str = ""
    chunk: str = ""
    member_size: str = ""
    knob: tuple[tuple[str, str], ...] = ()
    trim: bool = False
    cool: str = ""
    precondition: str = ""
    steady: bool = False
    quiet_check: bool = True
    repeats: str = ""
    grouped: bool = False
    note: str = ""


class RequestError(Exception):
    """A text says nothing that can be used.

    Attributes:
        option: its field in ``Typed``.
        text: the word that is wrong.
        why: goes on from it: "is no number".
    """

    def __init__(self, option: str, text: str, why: str) -> None:
        super().__init__(f"{text} {why}")
        self.option, self.text, self.why = option, text, why


def request_of_typed(typed: Typed) -> Request:
    """Return what was asked for.

    Raises:
        TypedError: a text cannot be read.
    """
    blocks = tuple(read_size("bs", word) for word in sweep_values(typed.bs))
    depths, jobs = _numbers("depth", typed.depth), _numbers("jobs", typed.jobs)
    levels, layouts = sweep_values(typed.level), sweep_values(typed.layout)
    chunks = read_chunks(typed.chunk)
    work = None
    if typed.rw:
        work = Workload(rw=typed.rw, block_bytes=blocks[0] if blocks else 4 * KIB, size_bytes=0)
    return Request(
        work=work,
        preset=typed.preset,
        job_file=typed.job,
        changes=_changes(typed, blocks, depths, jobs),
        directory=typed.directory,
        device=typed.device,
        scratch=_scratch(typed, levels, layouts, chunks) if typed.scratch else None,
        write=typed.write,
        confirmed=typed.confirm,
        blocks=_several(blocks),
        depths=_several(depths),
        jobs=_several(jobs),
        levels=_several(levels),
        layouts=_several(layouts),
        chunks=chunks if chunks == (ONE,) else _several(chunks),
        knobs=tuple((name, sweep_values(values)) for name, values in typed.knob),
        conditions=Conditions(
            trim=typed.trim,
            cool_s=_at_least_0("cool", typed.cool),
            precondition=_at_least_0("precondition", typed.precondition),
            steady=typed.steady,
            quiet_check=typed.quiet_check,
        ),
        repeats=read_number("repeats", typed.repeats) if typed.repeats else 1,
        grouped=typed.grouped,
        note=typed.note,
    )


def _several(values: tuple[V, ...]) -> tuple[V, ...]:
    """Values are gone through where there are several; a single one is the workload's, or the array's."""
    return values if len(values) > 1 else ()


def _changes(
    typed: Typed, blocks: tuple[int, ...], depths: tuple[int, ...], jobs: tuple[int, ...]
) -> dict[str, object]:
    """Return the fields of the workload that were given, where there is one value of each."""
    found: dict[str, object] = {
        "size_bytes": read_size("size", typed.size) if typed.size else None,
        "runtime_s": read_number("runtime", typed.runtime) if typed.runtime else None,
        "ramp_s": read_number("ramp", typed.ramp) if typed.ramp else None,
        "engine": typed.engine or None,
        "read_percent": read_number("read_percent", typed.read_percent) if typed.read_percent else None,
        "distribution": typed.distribution or None,
        "direct": None if typed.direct else False,
        "block_bytes": blocks[0] if len(blocks) == 1 else None,
        "depth": depths[0] if len(depths) == 1 else None,
        "jobs": jobs[0] if len(jobs) == 1 else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _scratch(
    typed: Typed, levels: tuple[str, ...], layouts: tuple[str, ...], chunks: tuple[str, ...]
) -> Scratch:
    return Scratch(
        devices=typed.scratch,
        level=levels[0] if levels else "raid10",
        layout=layouts[0] if layouts else "",
        chunk_kib=int(chunks[0]) if len(chunks) == 1 and chunks[0] != ONE else 0,
        size_kib=_at_least_0("member_size", typed.member_size),
    )


def read_size(option: str, text: str) -> int:
    """Return the bytes of "4k", "500m" or "2g".

    Raises:
        TypedError: it is no size.
    """
    size = parse_size(text)
    if size is None:
        raise RequestError(option, text, "is no size; give it as 4k, 500m or 2g")
    return size


def read_number(option: str, text: str) -> int:
    """Return a whole number.

    Raises:
        TypedError: it is none.
    """
    if not _NUMBER.fullmatch(text.strip()):
        raise RequestError(option, text, "is no number")
    return int(text)


def read_chunks(text: str) -> tuple[str, ...]:
    """Return the chunks of "one,16,512", each as it was typed.

    Raises:
        TypedError: one is neither a number of KiB nor "one".
    """
    words = sweep_values(text)
    for word in words:
        if len(word) > _MOST_DIGITS or not is_chunk(word):
            raise RequestError("chunk", word, "is no size in KiB; give numbers, or one")
    return words


def _numbers(option: str, text: str) -> tuple[int, ...]:
    return tuple(read_number(option, word) for word in sweep_values(text))


def _at_least_0(option: str, text: str) -> int:
    number = read_number(option, text) if text else 0
    if number < 0:
        raise RequestError(option, text, "is less than 0")
    return number
