"""``raidtui plan boot``: its arguments, and its plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from raidtui.command.device_names import kernel_name
from raidtui.frame.feature import Verbs
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Plan, Refusal
from raidtui.model.snapshot import Snapshot


def _add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    boot = verb(
        "boot",
        "install a boot loader, rebuild an initramfs or GRUB's menu, add nofail to a line of fstab",
    )
    boot.add_argument("part", choices=("loader", "initramfs", "menu", "fstab"))
    boot.add_argument("about", metavar="DISK|KERNEL|LINE", nargs="?", default="")


def _plan(reader: HostReader, arguments: argparse.Namespace, snapshot: Snapshot) -> Plan | Refusal:
    from raidtui.features.boot.session import boot_plan  # noqa: PLC0415  (other verbs do without)

    del snapshot
    is_disk = arguments.part == "loader" and arguments.about
    about = kernel_name(reader, arguments.about) if is_disk else arguments.about
    return boot_plan(reader, arguments.part, about)


VERBS = Verbs(names=frozenset({"boot"}), add=_add, of_host=_plan)
