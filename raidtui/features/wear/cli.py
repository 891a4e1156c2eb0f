"""``raidtui wear``: life, writes and troubles of disks, as sentences, JSON and metrics; keeping the history.

Exit status: 0 all well, 1 attention or worn, 2 a disk is dying, 3 no disk has said anything of its
health. Of --record and --mark: 0 done, 1 the history cannot be written, 2 refused, 3 no disk could be read.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import raidtui
from raidtui.command.streams import print_json
from raidtui.config import Config, read_config
from raidtui.features.wear.cli_types import keep_types, show_scan
from raidtui.features.wear.wear_report import (
    FORMAT_VERSION,
    metric_lines,
    temperature_dicts,
    wear_dict,
    wear_lines,
    wear_of_text,
)
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.smart.device_types import read_types
from raidtui.host.smart.smart_names import smart_names
from raidtui.jobs.speed_book import open_speed_book
from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import Unread
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.speed_watch import SpeedWatch
from raidtui.monitor.wear.array_wear import ArrayWear
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.monitor.wear.ledger import LedgerError
from raidtui.monitor.wear.ledger_entries import BY_HAND, DAY_S, LedgerEntry, writes_per_day
from raidtui.monitor.wear.readings import DiskHistory, WearLook, WearReader
from raidtui.monitor.wear.temperatures import day_temperatures, temperature_words
from raidtui.view.text import visible
from raidtui.view.units import amount, counted, decimal_size

WELL, ATTENTION, DYING, UNKNOWN = range(4)
NOT_WRITTEN, REFUSED = 1, 2
_ASLEEP = frozenset({Unread.STANDBY, Unread.POWER_UNKNOWN})
_LARGEST_FILE = 8 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``wear`` takes."""
    parser.description = (
        "Print how worn the disks are, what was written to them, and what is wrong with them."
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (docs/wear.md)")
    form.add_argument("--prometheus", action="store_true", help="print Prometheus metrics (docs/wear.md)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--from",
        dest="files",
        nargs="+",
        metavar="FILE",
        help="explain output of smartctl --json -x from elsewhere; - is standard input",
    )
    what.add_argument(
        "--record", action="store_true", help="add a reading to the history and print nothing, for a timer"
    )
    what.add_argument(
        "--mark", metavar="WORDS", help="mark this moment; wear then shows what was written since"
    )
    what.add_argument(
        "--history",
        nargs="?",
        const="",
        metavar="DISK",
        help="writes per day, and the cost of syncs and jobs; without DISK, the known disks",
    )
    what.add_argument(
        "--type",
        dest="types",
        action="append",
        metavar="NAME=TYPE",
        help="keep the type by which smartctl asks a disk: sdb=megaraid,0, sda=sat; auto forgets it; may be"
        " repeated for the disks of one controller",
    )
    what.add_argument(
        "--scan", action="store_true", help="list what smartctl --scan-open finds, and the kept types"
    )


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Carry ``raidtui wear ...`` out; return the exit status, see the module."""
    if arguments.files:
        return _explain(arguments)
    if arguments.types:
        return keep_types(reader, arguments.types)
    if arguments.scan:
        return show_scan(reader, as_json=arguments.json)
    config = read_config()
    wear_reader = WearReader(reader, config.rated_bytes)
    if arguments.record or arguments.mark is not None:
        return _keep(reader, wear_reader, arguments.mark)
    if arguments.history is not None:
        return _history(wear_reader, arguments)
    return _show(reader, wear_reader, config, arguments)


def verdict(disks: Sequence[DiskWear], arrays: Sequence[ArrayWear] = ()) -> int:
    """Return the exit status that says how disks and arrays are."""
    known = [disk for disk in disks if _is_asleep(disk) or (disk.reading and disk.reading.health_known)]
    if not known:
        return UNKNOWN
    findings: list[Finding] = [one for disk in disks for one in disk.findings]
    findings += [one for array in arrays for one in array.findings]
    worst = max((each.severity for each in findings), default=Severity.INFO)
    if worst is Severity.FAILED:
        return DYING
    return ATTENTION if worst > Severity.INFO else WELL


def _is_asleep(disk: DiskWear) -> bool:
    return disk.unread is not None and disk.unread.why in _ASLEEP


def _show(reader: HostReader, wear_reader: WearReader, config: Config, arguments: argparse.Namespace) -> int:
    look = wear_reader.look(Sampler(reader).sample())
    status = verdict(look.disks, look.arrays)
    for trouble in (*config.troubles, read_types(reader).why, look.trouble):
        if trouble:
            _say(trouble)
    if arguments.json:
        print_json(_look_dict(reader, look, status))
    elif arguments.prometheus:
        _print(metric_lines(look.disks))
    else:
        _print(wear_lines(look.disks, look.arrays) if look.disks else ["No disk can have SMART data."])
        _print(map(visible, _past_lines(look)))
    return status


def _look_dict(reader: HostReader, look: WearLook, status: int) -> dict[str, Any]:
    whole = wear_dict(look.disks, look.arrays)
    mark = look.mark
    return {
        "format_version": whole["format_version"],
        "raidtui_version": raidtui.__version__,
        "taken_s": round(look.at_s, 3),
        "exit_status": status,
        "host": reader.hostname,
        "source": reader.source or None,
        "disks": whole["disks"],
        "arrays": whole["arrays"],
        "mark": None
        if mark is None
        else {"at_s": round(mark.at_s), "what": mark.what, "bytes": dict(look.since)},
        "costs": [
            {
                "what": cost.what,
                "began_s": round(cost.began_s),
                "ended_s": round(cost.ended_s),
                "bytes": dict(cost.costs),
            }
            for cost in look.costs
        ],
        "history_trouble": look.trouble or None,
    }


def _past_lines(look: WearLook) -> Iterator[str]:
    names = {disk.entry.disk: disk.name for disk in look.disks if disk.entry is not None}
    for cost in reversed(look.costs[:5]):
        costs = [f"{amount(size)} to {names[disk]}" for disk, size in cost.costs.items() if disk in names]
        if costs:
            yield f"{_stamp(cost.began_s)} {cost.what}: {', '.join(costs)}"
    if look.mark is not None and look.since:
        costs = [f"{amount(size)} to {name}" for name, size in look.since.items()]
        named = f' "{look.mark.what}"' if look.mark.what else ""
        yield f"Since the mark{named} of {_stamp(look.mark.at_s)}: {', '.join(costs)}"


def _stamp(at_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))


def _explain(arguments: argparse.Namespace) -> int:
    disks, missed = [], False
    for file in arguments.files:
        try:
            text = _text(file)
        except OSError as error:
            _say(f"{file}: {error.strerror}")
            missed = True
            continue
        disks.append(wear_of_text(text, "standard input" if file == "-" else Path(file).name))
    if arguments.prometheus:
        _print(metric_lines(disks))
    elif arguments.json:
        print_json(wear_dict(disks))
    else:
        _print(wear_lines(disks))
    return UNKNOWN if missed else verdict(disks)


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.buffer.read(_LARGEST_FILE).decode("utf-8", "replace")
    with Path(file).open("rb") as stream:
        return stream.read(_LARGEST_FILE).decode("utf-8", "replace")


def _keep(reader: HostReader, wear_reader: WearReader, words: str | None) -> int:
    if not reader.live:
        _say("not done: this is not the live host, and its history is not kept here")
        return REFUSED
    snapshot = Sampler(reader).sample()
    SpeedWatch(reader, open_speed_book(live=reader.live, writable=reader.writable), keeps=True).see(snapshot)
    disks = wear_reader.read(smart_names(reader, snapshot)).values()
    read = [disk for disk in disks if disk.entry is not None]
    if not read:
        reasons = {disk.unread.sentence: None for disk in disks if disk.unread is not None}
        _say(next(iter(reasons), "no disk can have SMART data"))
        return WELL if disks and words is None and all(map(_is_asleep, disks)) else UNKNOWN
    try:
        wear_reader.record(read, "" if words is None else BY_HAND, words or "")
    except LedgerError as error:
        _say(str(error))
        return NOT_WRITTEN
    if words is not None:
        names = ", ".join(disk.name for disk in read)
        _print([visible(f'Marked "{words}": {names}. raidtui wear shows what is written from now on.')])
    return WELL


def _history(wear_reader: WearReader, arguments: argparse.Namespace) -> int:
    if arguments.prometheus:
        _say("--history has no metrics; leave one of the two out")
        return 64
    try:
        known = wear_reader.known()
        if not arguments.history:
            _print_either(arguments, known_dict(known), known_lines(known))
            return WELL
        entry = _named(known, arguments.history)
        if entry is None:
            _say(f"{arguments.history} is not in the history; raidtui wear --history lists what is")
            return UNKNOWN
        found = wear_reader.history(entry.disk)
    except LedgerError as error:
        _say(str(error))
        return UNKNOWN
    _print_either(arguments, history_dict(found), history_lines(found))
    return WELL


def _named(known: Sequence[LedgerEntry], name: str) -> LedgerEntry | None:
    """Return the disk with this serial number or end of one, or the one that had this kernel name last."""
    name = name.removeprefix("/dev/")
    exact = [each for each in known if each.disk == name]
    called = sorted((each for each in known if each.name == name), key=lambda each: -each.at_s)
    ending = [each for each in known if each.disk.endswith(name)]
    return next(iter(exact or called or (ending if len(ending) == 1 else [])), None)


def _print_either(arguments: argparse.Namespace, form: dict[str, Any], lines: Iterable[str]) -> None:
    if arguments.json:
        print_json(form)
    else:
        _print(map(visible, lines))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _say(text: str) -> None:
    print(f"raidtui: {visible(text)}", file=sys.stderr)


_DAYS = 30


def known_lines(known: Sequence[LedgerEntry]) -> Iterator[str]:
    """Yield a line for each disk that the ledger knows."""
    if not known:
        yield "No history yet: raidtui wear --record writes a reading (docs/wear.md has a timer for it)."
    for entry in known:
        size = "unknown" if entry.size_bytes is None else decimal_size(entry.size_bytes)
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at_s))
        yield f"{entry.name:<9} {entry.disk}  {entry.model}  {size} written  last read {at}"


def known_dict(known: Sequence[LedgerEntry]) -> dict[str, Any]:
    """Return the same for other programs."""
    return {
        "format_version": FORMAT_VERSION,
        "disks": [
            {
                "disk": entry.disk,
                "name": entry.name,
                "model": entry.model,
                "last_s": round(entry.at_s),
                "bytes_written": entry.size_bytes,
                "percent_used": entry.percent,
            }
            for entry in known
        ],
    }


def history_lines(history: DiskHistory) -> Iterator[str]:
    """Yield what was written to a disk on each of the last days, and what syncs and jobs have cost it."""
    first, last = history.entries[0], history.entries[-1]
    yield f"{last.name}: {last.model}, serial {last.disk}"
    began = time.strftime("%Y-%m-%d", time.localtime(first.at_s))
    yield f"  {counted(len(history.entries), 'reading')} since {began}"
    days = writes_per_day(history.entries, history.unit_bytes)
    warm = day_temperatures(history.entries)
    if words := temperature_words(warm, None):
        yield f"  {words}"
    by_day = {each.day: each for each in warm}
    for at_s, size in days[-_DAYS:]:
        each = by_day.get(int(at_s // DAY_S))
        degrees = "" if each is None else f"  {each.words}"
        yield f"  {_day(at_s)}  {decimal_size(size):>8}{degrees}"
    if not days:
        yield "  no daily figures yet: they need one more reading"
    for cost in reversed(history.costs):
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(cost.began_s))
        yield f"  {at}  {cost.what}: {amount(cost.costs[history.disk])}"


def history_dict(history: DiskHistory) -> dict[str, Any]:
    """Return the same for other programs."""
    last = history.entries[-1]
    return {
        "format_version": FORMAT_VERSION,
        "disk": history.disk,
        "name": last.name,
        "model": last.model,
        "readings": len(history.entries),
        "first_s": round(history.entries[0].at_s),
        "last_s": round(last.at_s),
        "unit_bytes": history.unit_bytes or last.unit_bytes,
        "days": [
            {"day": _day(at_s), "bytes": size}
            for at_s, size in writes_per_day(history.entries, history.unit_bytes)
        ],
        "temperatures": temperature_dicts(day_temperatures(history.entries)),
        "costs": [
            {
                "what": cost.what,
                "began_s": round(cost.began_s),
                "ended_s": round(cost.ended_s),
                "bytes": cost.costs[history.disk],
            }
            for cost in reversed(history.costs)
        ],
    }


def _day(at_s: float) -> str:
    """Days are UTC's, as the ledger counts them."""
    return time.strftime("%Y-%m-%d", time.gmtime(at_s))
