"""``raidtui rescue clean``: takes down all that trials have left, and nothing else."""

from __future__ import annotations

import argparse
import os
import sys

from raidtui.command.following import refused
from raidtui.features.rescue.trial.trials import clean
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.view.text import visible

_REFUSED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``rescue clean`` takes: nothing."""
    parser.description = (
        "Take down all that trials have left: mounts, arrays, overlays, stores, rules of udev. The members"
        " are writable again. A trial that runs is cancelled first."
    )


def run(root: HostReader, arguments: argparse.Namespace) -> int:
    """Clean; return 0 nothing is left, 1 something is, 2 refused, 75 another job is running."""
    del arguments
    if not root.live or os.geteuid() != 0:
        print("raidtui: not done: needs root, on the live host: run it with sudo", file=sys.stderr)
        return _REFUSED
    try:
        left = clean(root, lambda text: print(visible(text), flush=True))
    except JobError as error:
        return refused(error)
    for each in left:
        print(visible(f"left: {each}"))
    if not left:
        print("Nothing is left of any trial.")
    return 1 if left else 0
