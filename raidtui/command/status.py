"""Runs ``raidtui status``."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable, Iterable

from raidtui.command.prometheus import metric_lines
from raidtui.command.status_json import report_dict
from raidtui.command.status_text import event_line, report_lines
from raidtui.command.streams import print_json
from raidtui.host.roots.root import Root
from raidtui.monitor.kernel_watch import KernelWatch
from raidtui.session.watch import HostWatch, Report

FORMS = ("sentences", "json", "prometheus")
_RENDERERS: dict[str, Callable[[Report], Iterable[str]]] = {
    "sentences": report_lines,
    "prometheus": metric_lines,
}


def print_status(root: Root, form: str) -> int:
    """Print the report once in one of ``FORMS``; return the exit status.

    0 all well, 1 degraded or attention, 2 failed, 3 cannot tell.
    """
    console = HostWatch(root, once=True)
    report = console.refresh()
    if form == "json":
        print_json(report_dict(report), indent=2)
    else:
        _print(_RENDERERS[form](report))
    console.close()
    return report.exit_status


def watch_status(root: Root, form: str, *, rounds: int | None = None) -> int:
    """Print a line per event until interrupted; with form json a JSON object per event.

    Args:
        root: the host.
        form: ``sentences`` or ``json``.
        rounds: how many waits; None: for ever.

    Returns:
        The exit status of the last report.
    """
    console = HostWatch(root)
    watch = KernelWatch(root)
    trouble = watch.start_udev()
    if trouble:
        sys.stderr.write(f"raidtui: {trouble}\n")
    report = console.refresh()
    _print_events(report, form)
    try:
        while rounds is None or rounds > 0:
            watch.follow(report.snapshot)
            ready, _, _ = select.select([watch.fileno()], [], [], report.next_s)
            if ready:
                console.take_uevents(watch.drain()[1])
            report = console.refresh()
            _print_events(report, form)
            rounds = None if rounds is None else rounds - 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    finally:
        watch.close()
        console.close()
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
