"""``raidtui rescue mismatches ARRAY``: which sectors do not match, who disagrees, and what lies there.

Exit status: 0 all members match, 1 some sectors do not, 2 refused, 3 not all of it could be compared, and
what was compared matches.
"""

from __future__ import annotations

import argparse
import signal
import sys
import textwrap
import threading
from typing import Any

from msgspec import to_builtins

from raidtui.command.streams import ProgressLine, print_json, print_refusal
from raidtui.features.rescue.mismatch.compared_array import ComparedArray, Span, read_logged_spans
from raidtui.features.rescue.mismatch.comparison_job import compare, comparison_of, read_limits
from raidtui.features.rescue.mismatch.member_windows import ReadingLimits
from raidtui.features.rescue.mismatch.mismatch_records import (
    Mismatch,
    MismatchResult,
    mismatch_lines,
    repair_text,
    verdict_text,
)
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.refuse_silence import refuse_silence
from raidtui.monitor.sampler import Sampler
from raidtui.plans.target import find_array, needs_root
from raidtui.view.text import visible

MATCH, MISMATCH, PARTLY = 0, 1, 3
_WIDTH = 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue mismatches`` takes."""
    parser.description = (
        "Compare all members of a running array: which sectors differ, which member disagrees, and which"
        " file, volume or free space lies there. Nothing is written, and nothing is repaired. The"
        " array may be in use; mismatches are read three times. Ctrl-C ends it and shows"
        " what was found."
    )
    parser.add_argument("array", metavar="ARRAY")
    parser.add_argument(
        "--from", dest="first", type=_sector, default=0, metavar="SECTOR", help="the array's first sector"
    )
    parser.add_argument("--to", dest="last", type=_sector, metavar="SECTOR", help="the last one")
    parser.add_argument(
        "--logged",
        action="store_true",
        help="only where the kernel's log reports mismatches; it has a few, and only for raid4, raid5 and"
        " raid6",
    )
    parser.add_argument(
        "--limit",
        type=_sector,
        metavar="KIB",
        help="read at most this much of each member per second; default: the array's limit for a check",
    )
    parser.add_argument("--json", action="store_true", help="as JSON (docs/rescue.md)")


def _sector(word: str) -> int:
    if not (word.isascii() and word.isdigit()) or len(word) > 18:
        raise argparse.ArgumentTypeError(f"{word}: not a whole number")
    return int(word)


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Compare; return the exit status, see the module."""
    chosen = _chosen(reader, arguments)
    if isinstance(chosen, Refusal):
        return print_refusal(chosen, as_json=False)
    array, compared, spans = chosen
    limits = read_limits(array)
    if arguments.limit is not None:
        limits = ReadingLimits(max_kib_s=arguments.limit, min_kib_s=limits.min_kib_s)
    try:
        found = _compared(reader, compared, spans, limits)
    except OSError as error:
        print(f"raidtui: {visible(str(error.filename))}: {error.strerror}", file=sys.stderr)
        return PARTLY
    if arguments.json:
        print_json(mismatches_dict(array, found))
    else:
        for line in result_lines(found):
            print(visible(line))
    return status_of(found)


def _chosen(
    reader: HostReader, arguments: argparse.Namespace
) -> tuple[Array, ComparedArray, list[Span]] | Refusal:
    snapshot = Sampler(reader).sample()
    array = find_array(snapshot, arguments.array)
    if isinstance(array, Refusal):
        return array
    compared = comparison_of(reader, array)
    if isinstance(compared, Refusal):
        return compared
    if refusal := needs_root(snapshot):
        return refusal
    spans = _spans(reader, arguments, compared)
    return spans if isinstance(spans, Refusal) else (array, compared, spans)


def _spans(reader: HostReader, arguments: argparse.Namespace, array: ComparedArray) -> list[Span] | Refusal:
    end = None if arguments.last is None else arguments.last + 1
    first, last = array.walk_of(arguments.first, end)
    if first >= last:
        return Refusal(code=RefusalCode.INVALID, why="the array has no such sectors")
    if not arguments.logged:
        return [(first, last)]
    logged = read_logged_spans(reader, array)
    if silence := refuse_silence(logged, package="util-linux"):
        return silence
    spans = [(max(first, one), min(last, two)) for one, two in logged.value or ()]
    spans = [span for span in spans if span[0] < span[1]]
    return spans or Refusal(
        code=RefusalCode.NOT_FOUND,
        why=f"the kernel's log has no mismatch of {array.name}",
        remedy="compare all of it, without --logged",
    )


def _compared(
    reader: HostReader, array: ComparedArray, spans: list[Span], limits: ReadingLimits
) -> MismatchResult:
    """Compare; the first Ctrl-C ends that and keeps what was found."""
    ends = threading.Event()

    def end(number: int, frame: object) -> None:
        del number, frame
        ends.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, end)
    line = ProgressLine()

    def progress(done: int, total: int) -> None:
        line.show(f"compared: {1000 * done // total / 10 if total else 100:>5.1f} %")

    try:
        shown = progress if sys.stderr.isatty() else None
        return compare(reader, array, spans, limits, progress=shown, ended=ends.is_set, pause=ends.wait)
    finally:
        signal.signal(signal.SIGINT, before)
        line.clear()


def status_of(found: MismatchResult) -> int:
    """Return the exit status of a result."""
    if found.stretches:
        return MISMATCH
    whole = found.ended_sector is None and not found.uncompared and not found.uncompared_bytes
    return MATCH if whole else PARTLY


def result_lines(found: MismatchResult) -> list[str]:
    """Return what is printed, at most 80 columns wide where words allow it."""
    lines: list[str] = []
    for said in mismatch_lines(found):
        first, more = " " * said.indent, " " * (said.indent + 3)
        lines += textwrap.wrap(
            said.text, _WIDTH, initial_indent=first, subsequent_indent=more, break_long_words=False
        ) or [""]
    return lines


def mismatches_dict(array: Array, found: MismatchResult) -> dict[str, Any]:
    """Return the form for programs (docs/rescue.md)."""
    return {
        "array": array.name,
        "uuid": array.uuid,
        "level": array.level,
        "mismatch_count": array.mismatch_count,
        "stretches": [_stretch_dict(each) for each in found.stretches],
        "sectors": found.sectors,
        "settled": found.settled,
        "uncompared": to_builtins(found.uncompared),
        "uncompared_bytes": found.uncompared_bytes,
        "compared_bytes": found.compared_bytes,
        "total_bytes": found.total_bytes,
        "cancelled": found.cancelled,
        "changed": found.changed,
        "next_sector": found.ended_sector,
        "seconds": found.seconds,
    }


def _stretch_dict(found: Mismatch) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "text": verdict_text(found),
        "repair": repair_text(found),
        "sectors": found.sectors,
        "bytes_differ": found.bytes_differ,
        "members": [{**to_builtins(part), "version": part.version or None} for part in found.parts],
        "contents": [
            {
                **to_builtins(lies),
                "file_system": lies.file_system or None,
                "mounted": lies.mounted or None,
            }
            for lies in found.contents
        ],
    }
