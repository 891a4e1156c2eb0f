"""``raidtui wear``: life, writes and troubles of disks, as sentences, JSON and metrics; keeping the history.

Exit status: 0 all well, 1 attention or worn, 2 a disk is dying, 3 no disk could be read. Of --record and
--mark: 0 done, 1 the history cannot be written, 2 refused, 3 no disk could be read.
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
from raidtui.command.wear_history import history_dict, history_lines, known_dict, known_lines
from raidtui.config import Config, read_config
from raidtui.host.roots.root import Root
from raidtui.host.smart.smart_names import smart_names
from raidtui.model.finding import Finding, Severity
from raidtui.model.smart import Unread
from raidtui.monitor.sampler import Sampler
from raidtui.view.text import visible
from raidtui.wear.array import ArrayWear
from raidtui.wear.desk import WearDesk, WearLook
from raidtui.wear.entries import Entry
from raidtui.wear.ledger import LedgerError
from raidtui.wear.record import DiskWear
from raidtui.wear.report import metric_lines, wear_dict, wear_of_text
from raidtui.wear.sentences import wear_lines
from raidtui.wear.sizes import amount
from raidtui.wear.spells import BY_HAND

WELL, ATTENTION, DYING, CANNOT_TELL = range(4)
NOT_WRITTEN, REFUSED = 1, 2
_ASLEEP = frozenset({Unread.STANDBY, Unread.UNTOLD})
_LARGEST_FILE = 8 << 20


def run_wear_order(root: Root, arguments: argparse.Namespace) -> int:
    """Carry ``raidtui wear ...`` out; return the exit status, see the module."""
    if arguments.files:
        return _explain(arguments)
    config = read_config()
    desk = WearDesk(root, config.rated_bytes)
    if arguments.record or arguments.mark is not None:
        return _keep(root, desk, arguments.mark)
    if arguments.history is not None:
        return _history(desk, arguments)
    return _show(root, desk, config, arguments)


def verdict(disks: Sequence[DiskWear], arrays: Sequence[ArrayWear] = ()) -> int:
    """Return the exit status that says how disks and arrays are."""
    told = [disk for disk in disks if disk.reading is not None or _is_asleep(disk)]
    if not told:
        return CANNOT_TELL
    findings: list[Finding] = [one for disk in disks for one in disk.findings]
    findings += [one for array in arrays for one in array.findings]
    worst = max((each.severity for each in findings), default=Severity.INFO)
    if worst is Severity.FAILED:
        return DYING
    return ATTENTION if worst > Severity.INFO else WELL


def _is_asleep(disk: DiskWear) -> bool:
    return disk.unread is not None and disk.unread.why in _ASLEEP


def _show(root: Root, desk: WearDesk, config: Config, arguments: argparse.Namespace) -> int:
    look = desk.look(Sampler(root).sample())
    status = verdict(look.disks, look.arrays)
    for trouble in (*config.troubles, look.trouble):
        if trouble:
            _say(trouble)
    if arguments.json:
        print_json(_look_dict(root, look, status))
    elif arguments.prometheus:
        _print(metric_lines(look.disks))
    else:
        _print(wear_lines(look.disks, look.arrays) if look.disks else ["No disk that could have SMART data."])
        _print(map(visible, _past_lines(look)))
    return status


def _look_dict(root: Root, look: WearLook, status: int) -> dict[str, Any]:
    whole = wear_dict(look.disks, look.arrays)
    mark = look.mark
    return {
        "format_version": whole["format_version"],
        "raidtui_version": raidtui.__version__,
        "taken_s": round(look.at_s, 3),
        "exit_status": status,
        "host": root.hostname,
        "source": root.source or None,
        "disks": whole["disks"],
        "arrays": whole["arrays"],
        "mark": None
        if mark is None
        else {"at_s": round(mark.at_s), "what": mark.what, "bytes": dict(look.since)},
        "costs": [
            {
                "what": spell.what,
                "began_s": round(spell.began_s),
                "ended_s": round(spell.ended_s),
                "bytes": dict(spell.costs),
            }
            for spell in look.spells
        ],
        "history_trouble": look.trouble or None,
    }


def _past_lines(look: WearLook) -> Iterator[str]:
    names = {disk.entry.disk: disk.name for disk in look.disks if disk.entry is not None}
    for spell in reversed(look.spells[:5]):
        costs = [f"{amount(size)} to {names[disk]}" for disk, size in spell.costs.items() if disk in names]
        if costs:
            yield f"{_stamp(spell.began_s)} {spell.what}: {', '.join(costs)}"
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
    return CANNOT_TELL if missed else verdict(disks)


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.buffer.read(_LARGEST_FILE).decode("utf-8", "replace")
    with Path(file).open("rb") as stream:
        return stream.read(_LARGEST_FILE).decode("utf-8", "replace")


def _keep(root: Root, desk: WearDesk, words: str | None) -> int:
    if not root.live:
        _say("not done: what is looked at is not this host, and its history is not kept here")
        return REFUSED
    disks = desk.read(smart_names(root, Sampler(root).sample())).values()
    read = [disk for disk in disks if disk.entry is not None]
    if not read:
        reasons = {disk.unread.sentence: None for disk in disks if disk.unread is not None}
        _say(next(iter(reasons), "no disk that could have SMART data"))
        return WELL if disks and words is None and all(map(_is_asleep, disks)) else CANNOT_TELL
    try:
        desk.record(read, "" if words is None else BY_HAND, words or "")
    except LedgerError as error:
        _say(str(error))
        return NOT_WRITTEN
    if words is not None:
        names = ", ".join(disk.name for disk in read)
        _print([visible(f'Marked "{words}": {names}. raidtui wear tells what is written from now on.')])
    return WELL


def _history(desk: WearDesk, arguments: argparse.Namespace) -> int:
    if arguments.prometheus:
        _say("--history has no metrics; leave one of the two out")
        return 64
    try:
        known = desk.known()
        if not arguments.history:
            _print_either(arguments, known_dict(known), known_lines(known))
            return WELL
        entry = _named(known, arguments.history)
        if entry is None:
            _say(f"{arguments.history} is not in the history; raidtui wear --history lists what is")
            return CANNOT_TELL
        found = desk.history(entry.disk)
    except LedgerError as error:
        _say(str(error))
        return CANNOT_TELL
    _print_either(arguments, history_dict(found), history_lines(found))
    return WELL


def _named(known: Sequence[Entry], name: str) -> Entry | None:
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
