"""``raidtui status``: the state of the arrays as sentences, JSON or metrics; with ``--watch``, events.

Sentences have no colours and no drawings, for mail and screen readers.
"""

from __future__ import annotations

import argparse
import select
import sys
import time
from collections.abc import Iterable, Iterator

from raidtui.command.streams import UsageError, print_json
from raidtui.features.arrays.cli_json import known_wear, report_dict
from raidtui.features.arrays.cli_nagios import brief_words, nagios_line
from raidtui.features.arrays.cli_prometheus import metric_lines
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.absent import AbsentArray
from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.check_words import check_words
from raidtui.model.finding import Event, Finding, FindingCode, Health, Severity
from raidtui.model.levels import layout_words
from raidtui.model.reshape_words import change_words
from raidtui.monitor.kernel_watch import KernelWatch
from raidtui.monitor.sync_end import Estimate
from raidtui.monitor.sync_turn import turn_words
from raidtui.monitor.sync_watch import ended_at
from raidtui.view.text import visible
from raidtui.view.units import binary_size, counted, duration, rate_mb_s, short_binary
from raidtui.watch.watch import HostWatch, Report

_OF_A_PART = frozenset(
    {
        FindingCode.CONF_LINE_STALE,
        FindingCode.BAD_BLOCKS,
        FindingCode.MEMBER_DETACHED,
        FindingCode.MEMBER_FAULTY,
        FindingCode.MEMBER_TROUBLE,
        FindingCode.MISMATCHES,
        FindingCode.READ_ERRORS,
        FindingCode.SLOW_MEMBER,
    }
)
"""The subject of their sentences is a member or a check, not the array."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``status``."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (docs/status-json.md)")
    form.add_argument("--prometheus", action="store_true", help="print Prometheus metrics (docs/metrics.md)")
    form.add_argument(
        "--nagios", action="store_true", help="print one line with performance data, as a plugin of Nagios"
    )
    form.add_argument(
        "--brief", action="store_true", help="print one line, for a login: what is wrong, or that all is well"
    )
    parser.add_argument(
        "--wear",
        action="store_true",
        help="with --json: add when the rated life of disks ends, from their history; no disk is read",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="print a line per event until interrupted (--json: an object)",
    )


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the report, or events until interrupted; return the exit status of ``print_status``.

    Raises:
        UsageError: options are given that do not go together.
    """
    other = next((each for each in ("prometheus", "nagios", "brief") if getattr(arguments, each)), "")
    if arguments.watch and other:
        raise UsageError(f"--watch prints events, which --{other} cannot express: use one of the two")
    if arguments.wear and (arguments.watch or not arguments.json):
        raise UsageError("--wear needs --json: raidtui status --json --wear; for people: raidtui wear")
    forms = ("json", "prometheus", "nagios", "brief")
    form = next((each for each in forms if getattr(arguments, each)), "sentences")
    if arguments.watch:
        return watch_status(reader, form)
    return print_status(reader, form, wear=arguments.wear)


def print_status(reader: HostReader, form: str, *, wear: bool = False) -> int:
    """Print the report in a form: ``sentences``, ``json``, ``prometheus``, ``nagios`` or ``brief``.

    Args:
        reader: the host.
        form: as above.
        wear: whether the JSON has what the history of the disks says of their end.

    Returns:
        The exit status: 0 all well, 1 degraded or needs attention, 2 failed, 3 unknown.
    """
    host_watch = HostWatch(reader, once=True)
    report = host_watch.refresh()
    if form == "json":
        print_json(report_dict(report, known_wear(reader) if wear else None), indent=2)
    elif form == "nagios":
        _print([nagios_line(report)])
    elif form == "brief":
        _print([visible(f"{report.snapshot.host.name or 'this host'}: {brief_words(report)}")])
    else:
        _print(metric_lines(report) if form == "prometheus" else report_lines(report))
    host_watch.close()
    return report.exit_status


def watch_status(reader: HostReader, form: str, *, rounds: int | None = None) -> int:
    """Print an event per line until interrupted.

    Args:
        reader: the host.
        form: ``sentences`` or ``json``.
        rounds: how many times to wait; None: until interrupted.

    Returns:
        The exit status of the last report.
    """
    host_watch = HostWatch(reader)
    kernel_watch = KernelWatch(reader)
    trouble = kernel_watch.start_udev()
    if trouble:
        sys.stderr.write(f"raidtui: {trouble}\n")
    report = host_watch.refresh()
    _print_events(report, form)
    try:
        while rounds is None or rounds > 0:
            kernel_watch.follow(report.snapshot)
            ready, _, _ = select.select([kernel_watch.fileno()], [], [], report.next_s)
            if ready:
                host_watch.take_uevents(kernel_watch.drain()[1])
            report = host_watch.refresh()
            _print_events(report, form)
            rounds = None if rounds is None else rounds - 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    finally:
        kernel_watch.close()
        host_watch.close()
    return report.exit_status


def _print_events(report: Report, form: str) -> None:
    for event in report.new_events:
        if form == "json":
            entry = {
                "at_s": round(event.at_s, 3),
                "kind": event.kind.value,
                "subject": event.subject,
                "text": event.text,
                "tone": event.tone.value,
            }
            print_json(entry, indent=None)
        else:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event.at_s))
            _print([event_line(event, stamp)])


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


def report_lines(report: Report) -> Iterator[str]:
    """Yield the report line by line, every text from outside made visible."""
    snapshot = report.snapshot
    host = snapshot.host
    name = visible(host.name or "this host")
    source = f" ({visible(host.source)})" if host.source else ""
    if not snapshot.readable and not snapshot.arrays:
        yield f"{name}{source}: the state of the arrays is not known."
    elif snapshot.absent:
        runs, rest = len(snapshot.arrays), len(snapshot.absent)
        verbs = "runs" if runs == 1 else "run", "does" if rest == 1 else "do"
        yield f"{name}{source}: {counted(runs, 'array')} {verbs[0]}, {rest} {verbs[1]} not."
    elif not snapshot.arrays and any(lack.part == "/proc/mdstat" for lack in snapshot.lacks):
        why = "the state of the arrays is not known" if snapshot.md_loaded else "no md array"
        yield f"{name}{source}: {why}."
    elif not snapshot.arrays:
        yield f"{name}{source}: no md array."
    else:
        yield f"{name}{source}: {counted(len(snapshot.arrays), 'array')}."
    for array in snapshot.arrays:
        yield from _array_lines(report, array)
    for absent in snapshot.absent:
        yield from _absent_lines(report, absent)
    if report.advice is not None and report.advice.total:
        total, stamp = report.advice.total, time.localtime(report.advice.at_s)
        pieces = f"{total} piece{'' if total == 1 else 's'} of advice"
        yield f"Advice: {pieces} on {time.strftime('%Y-%m-%d at %H:%M', stamp)}. To read: raidtui advice."
    for lack in snapshot.lacks:
        yield visible(f"Not known: {lack.sentence}.")


def _array_lines(report: Report, array: Array) -> Iterator[str]:
    snapshot = report.snapshot
    title = visible(array.title)
    where = "" if title == array.name else f" ({array.path})"
    if array.is_container:
        yield visible(f"{title}{where} is a container: {snapshot.container_words(array)}.")
    else:
        yield f"{title}{where} {_verdict(array, report.healths[array.key])}: {visible(_facts(array))}."
    yield from _sync_lines(report, array)
    if array.sync is None and (check := report.snapshot.checks.get(array.key)) is not None:
        words = check_words(check, ended_at(check))
        yield visible(f"  {words[0].upper()}{words[1:]}.")
    yield from _finding_lines(report, array)


def _absent_lines(report: Report, absent: AbsentArray) -> Iterator[str]:
    health = report.healths[absent.key]
    facts = ", ".join((absent.level or "level unknown", absent.count_words))
    title = visible(absent.title)
    where = "" if title == absent.path else f" ({absent.path})"
    yield visible(f"{title}{where} does not run and {_health_words(health)}: {facts}.")
    yield from _finding_lines(report, absent)


def _finding_lines(report: Report, array: Array | AbsentArray) -> Iterator[str]:
    for finding in report.of(array):
        if finding.code in {FindingCode.PENDING, FindingCode.DELAYED}:
            continue  # the line of the sync has it
        mark = "Note" if finding.severity is Severity.INFO else finding.severity.word.capitalize()
        remedy = f" To do: {finding.remedy}." if finding.remedy else ""
        yield visible(f"  {mark}: {_about(finding)}.{remedy}")


def _facts(array: Array) -> str:
    facts = [array.level or "level unknown", layout_words(array.level, array.layout)]
    if array.chunk_bytes:
        facts.append(f"chunk {short_binary(array.chunk_bytes)}")
    if array.size_bytes:
        facts.append(binary_size(array.size_bytes))
    if array.raid_disks and array.up is not None:
        serving = len(array.up) - len(array.not_up)
        facts.append(f"{serving} of {counted(len(array.up), 'member')} in sync")
    return ", ".join(fact for fact in facts if fact)


def _verdict(array: Array, health: Health) -> str:
    return _health_words(health) if array.active else "is not started"


def _health_words(health: Health) -> str:
    return "needs attention" if health is Health.ATTENTION else f"is {health.word}"


def _about(finding: Finding) -> str:
    dash = "- " if finding.code in _OF_A_PART else ""
    return f"{finding.name} {dash}{finding.sentence}"


def _sync_lines(report: Report, array: Array) -> Iterator[str]:
    sync = array.sync
    if sync is None:
        return
    held = report.brakes.get(array.key)
    if change := change_words(array):
        yield visible(f"  Reshape: {change}.")
    if sync.phase is Phase.REMOTE:
        yield visible(f"  {sync.action.capitalize()} runs on another node of the cluster.")
        return
    if sync.phase is not Phase.RUNNING:
        why = f": {held.words}" if held else ""
        what = "Resync, check or repair" if sync.action == "sync" else sync.action.capitalize()
        yield visible(f"  {what} {sync.phase.value}{why}.")
        if turn := report.turns.get(array.key):
            words = turn_words(turn, f"in about {duration(turn.begins_in_s or 0)}")
            yield visible(f"  {words[0].upper()}{words[1:]}.")
        return
    parts = [f"  {sync.action.capitalize()} at {sync.percent or 'an unknown place'}"]
    estimate = report.estimates.get(array.key)
    if estimate is not None:
        parts.append(f"{rate_mb_s(estimate.speed_kib_s)}{_unit_note(array)}")
        if words := _left_words(estimate):
            parts.append(words)
    elif sync.kernel_speed_kib_s == 0:
        parts.append("0 KB/s: the kernel's mean over 30 s shows no progress")
    if held is not None:
        parts.append(held.sentence)
    yield visible(", ".join(parts) + ".")


def _unit_note(array: Array) -> str:
    share = array.member_share
    if share is None or share == 1.0:
        return ""
    return " of the array"


def _left_words(estimate: Estimate) -> str:
    """Return how long it takes, on which condition; "" where that cannot be told."""
    low_s, left_s, high_s = estimate.left_low_s, estimate.left_s, estimate.left_high_s
    if left_s is None:
        skips = "" if high_s is None else duration(high_s)
        return f"at most {skips} left: it skips what is unchanged" if skips else ""
    low, high = (duration(each) if each is not None else "" for each in (low_s, high_s))
    band = f" ({low} to {high})" if low != high else ""
    condition = " at this speed" if estimate.if_as_fast else ""
    return f"about {duration(left_s)} left{band}{condition}"


def event_line(event: Event, stamp: str) -> str:
    """Return one line of ``--watch``: time, subject, text."""
    return visible(f"{stamp} {event.subject}: {event.text}")
