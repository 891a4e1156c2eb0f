"""``raidtui rescue search DEVICE...``: the geometry of an array without its superblocks, by reads alone.

Exit status: 0 unique and proven, 1 not unique or not proven, 2 nothing was found, or too much is missing.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import Any

import msgspec

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import ProgressLine, print_json
from raidtui.features.rescue.hints import read_hints
from raidtui.features.rescue.search.find_geometry import SearchRequest
from raidtui.features.rescue.search.geometries import Wanted
from raidtui.features.rescue.search.members import SearchStage, SearchWatch
from raidtui.features.rescue.search.results import (
    ArrayHint,
    CheckResult,
    RescueGeometry,
    SearchCandidate,
    SearchOutcome,
    SearchResult,
)
from raidtui.features.rescue.session import read_captured_hints
from raidtui.features.rescue.session_search import search_geometry
from raidtui.features.rescue.trial.trials import prove
from raidtui.host.block import DiskReader
from raidtui.host.md.mdadm import MdadmSilentError
from raidtui.host.md.superblock import read_superblock
from raidtui.host.readers.host_reader import HostReader, ReaderError
from raidtui.host.reading import read_survey
from raidtui.jobs.lock import JobError
from raidtui.model.survey import Superblock
from raidtui.monitor.sampler import Sampler
from raidtui.view.text import visible
from raidtui.view.units import amount

PROVEN, NOT_PROVEN, NOTHING, NOT_READ = 0, 1, 2, 3
_WIDTH = 80
_LEVELS = (0, 1, 4, 5, 6, 10)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue search`` takes."""
    parser.description = (
        "Find out how an array was laid out over these devices, from their contents. Superblocks are"
        " not needed. Nothing is written. The devices may include a blank disk or a spare."
    )
    parser.add_argument("devices", nargs="+", metavar="DEVICE", help="devices, or images of them")
    parser.add_argument("--raid-devices", type=int, metavar="N", help="the number of slots, if it is known")
    parser.add_argument(
        "--level", type=_level, action="append", default=[], metavar="LEVEL", help="0, 1, 4, 5, 6 or 10"
    )
    parser.add_argument("--layout", default="", metavar="WORD", help="left-symmetric, n2, ...")
    parser.add_argument("--chunk", type=int, metavar="KIB", help="the chunk size in KiB")
    parser.add_argument("--size", type=int, metavar="KIB", help="how much of each member was used, in KiB")
    parser.add_argument(
        "--capture",
        action="append",
        default=[],
        metavar="FILE",
        help="an earlier capture of this host: it is shown, and orders equal fits",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the places that are read")
    parser.add_argument(
        "--trial", action="store_true", help="also check the best with the kernel; the devices stay read-only"
    )
    parser.add_argument("--json", action="store_true", help="as JSON (docs/rescue.md)")


def _level(word: str) -> int:
    number = word.lower().removeprefix("raid")
    if not number.isdigit() or int(number) not in _LEVELS:
        raise argparse.ArgumentTypeError(f"{word}: 0, 1, 4, 5, 6 or 10")
    return int(number)


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Search; return the exit status, see the module."""
    if not reader.live:
        print("raidtui: not done: a capture has no content of disks", file=sys.stderr)
        return NOT_READ
    paths, names = _paths(reader, arguments.devices)
    terminal = ProgressLine()

    def progress(stage: SearchStage, done: int, total: int) -> None:
        terminal.show(f"{stage}: {100 * done // total if total else 100:>3} %")

    watch = SearchWatch(progress if sys.stderr.isatty() else None)
    try:
        result = search_geometry(paths, _request(reader, arguments, names), watch)
    except ReaderError as error:
        print(f"raidtui: {visible(str(error))}", file=sys.stderr)
        return NOT_READ
    except OSError as error:
        print(f"raidtui: {visible(str(error.filename))}: {error.strerror}", file=sys.stderr)
        return NOT_READ
    finally:
        terminal.clear()
    if arguments.trial:
        result = _tried(reader, result)
    if arguments.json:
        print_json(result_dict(result))
    else:
        for line in result_lines(result):
            print(visible(line))
    return status_of(result)


def _paths(reader: HostReader, words: list[str]) -> tuple[list[str], list[str]]:
    """Return what is opened, each once, and the kernel's names of devices under /dev."""
    paths: dict[str, None] = {}
    names = []
    for word in words:
        if Path(word).is_file():
            paths[word] = None
        else:
            name = kernel_name(reader, word)
            paths[f"/dev/{name}"] = None
            names.append(name)
    return list(paths), names


def _request(reader: HostReader, arguments: argparse.Namespace, names: list[str]) -> SearchRequest:
    wanted = Wanted(
        slots=arguments.raid_devices,
        levels=tuple(arguments.level),
        layout=arguments.layout,
        chunk_bytes=arguments.chunk << 10 if arguments.chunk else None,
        component_bytes=arguments.size << 10 if arguments.size else None,
    )
    return SearchRequest(
        wanted=wanted,
        superblocks=_superblocks(reader, names),
        seed=arguments.seed,
        hints=_hints(reader, names, arguments.capture),
    )


def _hints(reader: HostReader, names: list[str], captures: list[str]) -> tuple[ArrayHint, ...]:
    disks = DiskReader(reader).read(names).values() if names else ()
    written = read_hints(reader, disks) if names else ()
    if not captures:
        return written

    return (*(hint for path in captures for hint in read_captured_hints(path, disks)), *written)


def _superblocks(reader: HostReader, names: list[str]) -> dict[str, Superblock]:
    found = {}
    for name in names:
        try:
            superblock = read_superblock(reader, name)
        except MdadmSilentError:
            continue
        if superblock is not None:
            found[name] = superblock
    return found


def _tried(reader: HostReader, result: SearchResult) -> SearchResult:
    """Return the result with the kernel's word on the first candidate."""
    if not result.candidates:
        return result
    first = result.candidates[0]
    survey = read_survey(reader, Sampler(reader).sample(), first.geometry.present)
    try:
        proof = prove(reader, survey, first.geometry, evidence=result.evidence_of(first.geometry))
    except JobError as error:
        print(f"raidtui: no trial: {error}", file=sys.stderr)
        return result
    if proof.check in {CheckResult.NOT_TRIED, CheckResult.NOT_POSSIBLE}:
        print(f"raidtui: no trial: {proof.sure}", file=sys.stderr)
        return result
    sure = f"{proof.sure} {first.proof.sure}"
    first = msgspec.structs.replace(first, proof=msgspec.structs.replace(proof, sure=sure))
    return msgspec.structs.replace(result, candidates=(first, *result.candidates[1:]))


def status_of(result: SearchResult) -> int:
    """Return the exit status of a result."""
    if not result.candidates:
        return NOTHING
    first = result.candidates[0]
    proven = first.proof.check is CheckResult.CLEAN and not first.evidence.doubts
    return PROVEN if result.outcome is SearchOutcome.UNIQUE and proven else NOT_PROVEN


def result_dict(result: SearchResult) -> dict[str, Any]:
    """Return the form for programs (docs/rescue.md)."""
    return {
        "candidates": [_candidate_dict(candidate) for candidate in result.candidates],
        "unique": result.outcome is SearchOutcome.UNIQUE,
        "outcome": result.outcome,
        "alike": result.alike,
        "more_alike": result.more,
        "text": list(result.text),
        "hints": [
            {**msgspec.to_builtins(hint), "order": list(hint.order), "text": hint.words}
            for hint in result.hints
        ],
        "blank": list(result.blank),
        "bytes_read": result.bytes_read,
        "seconds": result.seconds,
        "geometries_tested": result.tested,
    }


def _candidate_dict(candidate: SearchCandidate) -> dict[str, Any]:
    return {
        **_geometry_dict(candidate.geometry),
        "proof": {
            **msgspec.to_builtins(candidate.proof),
            "contents": candidate.proof.contents or None,
        },
        "best": candidate.best,
        "blocks_right": candidate.passed,
        "blocks_wrong": candidate.failed,
        "reads_the_same": [_geometry_dict(geometry) for geometry in candidate.same],
        "notes": list(candidate.notes),
        "doubts": list(candidate.evidence.doubts),
    }


def _geometry_dict(geometry: RescueGeometry) -> dict[str, Any]:
    return {
        "level": geometry.level,
        "layout": geometry.layout or None,
        "chunk_bytes": geometry.chunk_bytes or None,
        "data_offset_sectors": geometry.data_offset_sectors,
        "size_sectors": geometry.size_sectors,
        "metadata": geometry.metadata,
        "order": list(geometry.order),
    }


def result_lines(result: SearchResult) -> list[str]:
    """Return what is printed, at most 80 columns wide."""
    lines: list[str] = []
    for sentence in result.text:
        lines += textwrap.wrap(sentence, _WIDTH)
    for number, candidate in enumerate(result.candidates, 1):
        lines += ["", *_candidate_lines(number, candidate)]
    more = result.alike - sum(candidate.best for candidate in result.candidates)
    if more > 0:
        lines += ["", f"... and {more} more that fit equally."]
    if result.hints:
        lines += ["", "Written down, which proves nothing:"]
        for hint in result.hints:
            lines += textwrap.wrap(hint.words, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    cost = f"Read {amount(result.bytes_read)} in {result.seconds:.1f} s"
    lines += ["", f"{cost}; geometries tested: {result.tested}."]
    return lines


def _candidate_lines(number: int, candidate: SearchCandidate) -> list[str]:
    geometry = candidate.geometry
    words = [f"RAID {geometry.level}"]
    if geometry.layout:
        words.append(geometry.layout)
    if geometry.chunk_bytes:
        words.append(f"chunk {geometry.chunk_bytes >> 10} KiB")
    words.append(f"data offset {geometry.data_offset_sectors} sectors")
    first = f"{number:>2}. {', '.join(words)}"
    lines = textwrap.wrap(first, _WIDTH, subsequent_indent="    ")
    order = f"order: {' '.join(geometry.order)}"
    lines += textwrap.wrap(order, _WIDTH, initial_indent="    ", subsequent_indent="      ")
    read = candidate.best or candidate.evidence.spared
    said = f"{candidate.proof.check}: {candidate.proof.sure}" if read else "has less evidence."
    doubts = candidate.evidence.doubts if candidate.best else ()
    for sentence in (said, *doubts, *candidate.notes):
        lines += textwrap.wrap(sentence, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return lines
