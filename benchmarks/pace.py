"""What users wait under a sync: alone, under md's own limits, under fixed ones, and with ``raidtui pace``.

A RAID 10 of four disks in a guest of the laboratory, each of which takes 3 ms for a request of up to 64 KiB,
is checked while fio reads at random from 16 threads, about a hundred times a second. All cases are measured
in one run of one guest, one after the other: the machine is noisy, so only their ratios say something.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tests.lab.guests.uml import UmlGuest, keep_awake

INSIDE = Path(__file__).with_name("pace_inside.py")
SHARE_NAME = "pace_inside.py"
FIXED_KIB_S = (1000, 2000, 4000)
_HELD = 1.25
"""A p99 of up to so many times the target counts as held."""


def main() -> int:
    """Measure, and print the table; 1: the goal is not reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pace", description=__doc__)
    parser.add_argument(
        "--target", type=float, metavar="MS", help="what pace is to hold; else 1.5 of the p99 without a sync"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement (60)")
    parser.add_argument("--settle", type=float, default=100.0, help="before pace is measured (100)")
    parser.add_argument("--scheduler", default="none", help="of the members: none, mq-deadline (none)")
    parser.add_argument("--size", type=int, default=1500, metavar="MIB", help="of each member (1500)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every figure, for later")
    arguments = parser.parse_args()
    rows = _measured(arguments)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return _judged(rows)


def _measured(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    guest = UmlGuest.boot(disks=1, size_mib=8, mem_mib=4 * arguments.size + 700)
    try:
        _wake_often(guest)
        guest.put(SHARE_NAME, INSIDE.read_bytes())
        words = {
            "python": sys.executable,
            "target": arguments.target,
            "seconds": arguments.seconds,
            "settle": arguments.settle,
            "scheduler": arguments.scheduler,
            "size": arguments.size,
            "fixed": FIXED_KIB_S,
        }
        guest.put("pace.json", json.dumps(words).encode())
        limit_s = 300 + arguments.settle + (len(FIXED_KIB_S) + 3) * (arguments.seconds + 30)
        done = guest.run(f"{sys.executable} /run/lab/{SHARE_NAME}", timeout=limit_s)
        if done.status:
            raise SystemExit(done.output)
        return [json.loads(line) for line in done.stdout.splitlines()]
    finally:
        guest.shutdown()


def _wake_often(guest: UmlGuest) -> None:
    """Send the guest the interrupts of its timers that it loses, often enough for disks of 3 ms."""
    import os  # noqa: PLC0415
    import threading  # noqa: PLC0415

    pid = guest._process.pid if guest._process is not None else 0  # noqa: SLF001
    threading.Thread(target=keep_awake, args=(os.pidfd_open(pid), pid, 0.02), daemon=True).start()


def _judged(rows: list[dict[str, Any]]) -> int:
    print(f"{'case':<16} {'p50':>7} {'p95':>7} {'p99':>7} {'p99.9':>7} {'MB/s':>7} {'whole':>8}   requests")
    for row in rows:
        speed = row["kib_s"]
        rate = "" if speed is None else f"{speed * 1024 / 1e6:.1f}"
        whole = "" if not speed else f"{row['total_kib'] / speed / 60:.1f} min"
        figures = " ".join(f"{row[name]:>7.1f}" for name in ("p50", "p95", "p99", "p999"))
        print(f"{row['case']:<16} {figures} {rate:>7} {whole:>8}   {row['n']}")
    pace = next(row for row in rows if row["case"] == "pace")
    target_ms = pace["target_ms"]
    bound_ms = _HELD * target_ms
    held = [row["kib_s"] for row in rows if row["case"].startswith("fixed") and row["p99"] <= bound_ms]
    best = max(held, default=None)
    print(f"\ntarget {target_ms:g} ms; p99 with pace {pace['p99'] / target_ms:.2f} of it, held to {_HELD}")
    if pace["kib_s"] is None:
        print("its sync ended before the measurement did: give it more by --size, or less time by --settle")
        return 1
    if best is None:
        print("no fixed limit of these holds it")
    else:
        times = pace["kib_s"] / max(best, 1)
        print(f"the fastest fixed limit that holds it syncs {best} KiB/s, pace {times:.1f} times that")
    good = pace["p99"] <= bound_ms and (best is None or pace["kib_s"] >= 2 * best)
    print("goal reached" if good else "goal missed")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
