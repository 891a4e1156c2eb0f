"""A host for subcommands: arrays in several states, free devices, and what mdadm says of them."""

from __future__ import annotations

from typing import Any

from raidtui.host.tools import output_path
from tests.hosts.kernel import Kernel
from tests.hosts.trees import device_number, raid1, raid10

OLD = "0a0b0c0d:11111111:22222222:33333333"
"""The UUID of an array that is stopped; its members are sdk and sdl. sdn is a former member of
logs, sdo is empty."""


class Host(Kernel):
    """A host that takes nothing but plans.

    Args:
        writable: whether we are root.
        live: whether it is this machine.
    """

    def __init__(self, *, writable: bool = True, live: bool = False) -> None:
        data = raid10(members=("sda", "sdb", "sdc", "sdd"))
        root = raid1(failed=("sdf",))
        logs = raid1("md125", "logs", members=("sdm", None), bitmap=(0, 1))
        disks: dict[str, dict[str, str]] = {name: {} for name in ("sdi1", "sdj1", "sdk", "sdl", "sdn", "sdo")}
        super().__init__(data, root, logs, writable=writable, disks=disks, mdadm=True)
        self.live = live
        self.links: dict[str, str] = {}
        self.put(output_path(("mdadm", "--version")), "exit 0\nmdadm - v4.2 - 2021-12-30\n")
        self.put(f"/run/udev/data/b{device_number('sdo')}", "E:ID_SERIAL_SHORT=EMPTY\n")
        for name in ("sdk", "sdl"):
            self.examined(name, MD_LEVEL="raid1", MD_DEVICES="2", MD_NAME="nas:old", MD_UUID=OLD)
        self.examined("sdn", MD_LEVEL="raid1", MD_DEVICES="2", MD_NAME="nas:logs", MD_UUID=logs.array_uuid)

    def examined(self, name: str, **values: str) -> None:
        """Let a device have a superblock."""
        lines = "".join(f"{key}={value}\n" for key, value in values.items())
        self.put(output_path(("mdadm", "--examine", "--export", f"/dev/{name}")), f"exit 0\n{lines}")

    def link(self, path: str) -> str | None:
        """See ``HostReader.link``."""
        return self.links.get(path) or super().link(path)


def opens(monkeypatch: Any, host: Host) -> Host:
    """Let the command line look at this host."""
    monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: host)
    return host
