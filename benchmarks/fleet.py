"""A hundred hosts beside a bare ``ssh HOST true`` to each, in the same run: ``python -m benchmarks.fleet``.

One sshd on this machine answers as all of them; three of the hundred are dead: one refuses, two say nothing.
Both are given the same number at once and the same time to connect, and take turns. What the hosts do
themselves is left out: they answer with a kept status, since they would do their work on processors of their
own (``--real`` runs raidtui there, on this machine's).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from raidtui.features.fleet.answers import FleetRow, FleetState
from raidtui.features.fleet.asking import AskSettings, ask_all
from raidtui.features.fleet.hosts import host_of
from tests.features.fleet.sshd import Sshd, running

GOAL = 1.3
REFUSED, SILENT = ("dead0",), ("dead1", "dead2")


def bare(sshd: Sshd, names: list[str], settings: AskSettings) -> float:
    """Return how long ``ssh HOST true`` takes to all of them, seconds, by xargs."""
    options = ("-F", sshd.config, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={settings.connect_s}", "-T")
    # xargs ends at once where a command ends with 255, as ssh does for a dead host.
    one = ("sh", "-c", 'ssh "$@" && echo ok || :', "ssh", *options, "{}", "true")
    argv = ("xargs", "-P", str(settings.at_once), "-I", "{}", *one)
    since = time.perf_counter()
    done = subprocess.run(argv, input="\n".join(names), text=True, capture_output=True, check=True)
    assert done.stdout.count("ok") == len(names) - len(REFUSED + SILENT), done.stderr  # noqa: S101
    return time.perf_counter() - since


def fleet(names: list[str], settings: AskSettings) -> tuple[float, float]:
    """Return how long the fleet takes, and how long until all that live have answered, seconds."""
    rows: list[tuple[float, FleetRow]] = []
    since = time.perf_counter()
    asyncio.run(
        ask_all(
            [host_of(name) for name in names],
            settings,
            lambda row: rows.append((time.perf_counter() - since, row)),
        )
    )
    took = time.perf_counter() - since
    living = [at for at, row in rows if row.state is not FleetState.NO_ANSWER]
    assert len(living) == len(names) - len(REFUSED + SILENT), [row.none for _, row in rows if row.none]  # noqa: S101
    return took, max(living)


def main() -> int:
    """Measure, print, and return 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=AskSettings().at_once)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--real", action="store_true", help="run raidtui --demo on the hosts")
    arguments = parser.parse_args()
    names = [*REFUSED, *SILENT, *(f"h{number}" for number in range(arguments.hosts - len(REFUSED + SILENT)))]
    raidtui = (sys.executable, "-m", "raidtui", "--demo")
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as sshd:
        sshd.hosts(*names[len(REFUSED + SILENT) :], refused=REFUSED, silent=SILENT)
        settings = AskSettings(at_once=arguments.at_once, config=sshd.config, connect_s=10, timeout_s=60)
        status = subprocess.run(
            (*raidtui, "status", "--json", "--wear"), capture_output=True, text=True, check=True
        )
        own = f'#!/bin/sh\nexec {" ".join(raidtui)} "$@"\n'
        for name in names:
            sshd.answers(name, own if arguments.real else status.stdout, runs=arguments.real)
        bares, fleets, livings = [], [], []
        for number in range(arguments.rounds):
            bares.append(bare(sshd, names, settings))
            took, living = fleet(names, settings)
            fleets.append(took)
            livings.append(living)
            print(
                f"round {number + 1}: bare {bares[-1]:.2f} s, fleet {took:.2f} s, living {living:.2f} s",
                flush=True,
            )
    ratio = statistics.median(each / other for each, other in zip(fleets, bares, strict=True))
    words = "met" if ratio <= GOAL else "missed"
    load = os.getloadavg()[0]
    print(
        f"{len(names)} hosts, {len(REFUSED + SILENT)} dead, {arguments.at_once} at once, load {load:.1f}:"
        f" bare {statistics.median(bares):.2f} s, fleet {statistics.median(fleets):.2f} s (the living after"
        f" {statistics.median(livings):.2f} s), ratio {ratio:.2f}, goal {GOAL}: {words}"
    )
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
