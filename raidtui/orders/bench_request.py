"""``raidtui bench run`` and ``sweep``: the options as a request."""

from __future__ import annotations

import argparse
from pathlib import Path

from raidtui.bench.ask import Request, is_chunk, sweep_values
from raidtui.bench.course import ONE, Conditions, Scratch
from raidtui.bench.workload import Workload, parse_size
from raidtui.host.root import Root
from raidtui.model.units import KIB
from raidtui.orders.bench_option import OptionError
from raidtui.orders.device_names import kernel_name


def request_of(root: Root, arguments: argparse.Namespace) -> Request:
    """Return what was asked for.

    Raises:
        OptionError: an option cannot be read.
    """
    blocks, depths, jobs = (
        _sizes(arguments.bs),
        _numbers("--depth", arguments.depth),
        _numbers("--jobs", arguments.jobs),
    )
    changes = _changes(arguments, blocks, depths, jobs)
    work = None
    if arguments.rw and not arguments.preset:
        if "size_bytes" not in changes:
            raise OptionError("--rw wants a size: --size=500m")
        work = Workload(rw=arguments.rw, block_bytes=blocks[0] if blocks else 4 * KIB, size_bytes=0)
    elif arguments.rw:
        raise OptionError("a preset says what it does: leave --rw out")
    sweep = arguments.order == "sweep"
    levels = sweep_values(arguments.level) if sweep else ()
    layouts = sweep_values(arguments.layout) if sweep else ()
    chunks = sweep_values(arguments.chunk) if sweep else ()
    return Request(
        work=work,
        preset=arguments.preset,
        job_file=_job_file(arguments.job) if arguments.job else None,
        changes=changes,
        directory=arguments.directory,
        device=kernel_name(root, arguments.device) if arguments.device else "",
        scratch=_scratch(root, arguments, levels, layouts, chunks) if sweep else None,
        write=arguments.write,
        confirmed=tuple(arguments.confirm),
        blocks=blocks if len(blocks) > 1 else (),
        depths=depths if len(depths) > 1 else (),
        jobs=jobs if len(jobs) > 1 else (),
        levels=levels if len(levels) > 1 else (),
        layouts=layouts if len(layouts) > 1 else (),
        chunks=chunks if len(chunks) > 1 or chunks == (ONE,) else (),
        knobs=tuple(_knob(text) for text in arguments.knob) if sweep else (),
        conditions=Conditions(
            trim=arguments.trim,
            cool_s=arguments.cool,
            precondition=arguments.precondition,
            steady=arguments.steady,
        ),
        repeats=arguments.repeats,
        grouped=sweep and arguments.grouped,
        note=arguments.note,
    )


def _changes(
    arguments: argparse.Namespace, blocks: tuple[int, ...], depths: tuple[int, ...], jobs: tuple[int, ...]
) -> dict[str, object]:
    """Return the fields of the workload that were given, where there is one value of each."""
    found: dict[str, object] = {
        "size_bytes": _size("--size", arguments.size) if arguments.size else None,
        "runtime_s": arguments.runtime,
        "ramp_s": arguments.ramp,
        "engine": arguments.engine or None,
        "read_percent": arguments.read_percent,
        "distribution": arguments.distribution or None,
        "direct": False if arguments.no_direct else None,
        "block_bytes": blocks[0] if len(blocks) == 1 else None,
        "depth": depths[0] if len(depths) == 1 else None,
        "jobs": jobs[0] if len(jobs) == 1 else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _scratch(
    root: Root,
    arguments: argparse.Namespace,
    levels: tuple[str, ...],
    layouts: tuple[str, ...],
    chunks: tuple[str, ...],
) -> Scratch | None:
    for chunk in chunks:
        if not is_chunk(chunk):
            raise OptionError(f"--chunk={chunk} is no size in KiB; give numbers, or one")
    if not arguments.scratch:
        if chunks or layouts:
            raise OptionError("--chunk and --layout want arrays to be made: give devices with --scratch")
        return None
    return Scratch(
        devices=tuple(kernel_name(root, word) for word in arguments.scratch),
        level=levels[0] if levels else "raid10",
        layout=layouts[0] if layouts else "",
        chunk_kib=int(chunks[0]) if len(chunks) == 1 and chunks[0].isdecimal() else 0,
        size_kib=arguments.member_size,
    )


def _knob(text: str) -> tuple[str, tuple[str, ...]]:
    name, separator, values = text.partition("=")
    if not separator or not sweep_values(values):
        raise OptionError(f"--knob={text} has no values: give it as NAME=VALUE,VALUE")
    return name, sweep_values(values)


def _job_file(path: Path) -> tuple[str, str]:
    try:
        return path.name, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: {getattr(error, 'strerror', None) or 'is no text'}") from error


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_size("--bs", word) for word in sweep_values(text))


def _size(option: str, text: str) -> int:
    size = parse_size(text)
    if size is None:
        raise OptionError(f"{option}={text} is no size; give it as 4k, 500m or 2g")
    return size


def _numbers(option: str, text: str) -> tuple[int, ...]:
    words = sweep_values(text)
    for word in words:
        if not word.isdecimal():
            raise OptionError(f"{option}={word} is no number")
    return tuple(map(int, words))
