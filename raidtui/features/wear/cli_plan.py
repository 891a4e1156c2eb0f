"""``raidtui plan self-test``: its arguments, and its plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from raidtui.command.device_names import kernel_name
from raidtui.features.wear.self_tests import read_self_test_plan
from raidtui.frame.feature import Verbs
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot


def _add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    test = verb("self-test", "start a SMART self-test on a disk, or abort the one that runs")
    test.add_argument("device", metavar="DISK")
    test.add_argument("test", choices=("short", "long", "conveyance", "abort"))


def _plan(reader: HostReader, arguments: argparse.Namespace, snapshot: Snapshot) -> Plan | Refusal:
    return read_self_test_plan(reader, snapshot, kernel_name(reader, arguments.device), arguments.test)


VERBS = Verbs(names=frozenset({"self-test"}), add=_add, of_host=_plan)
