"""A live host whose knobs are files: what is written to them is there, and remembered."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from raidtui.host.tools import ToolOutput, output_path
from tests.hosts.blkid import blkid_output
from tests.hosts.trees import Stage, host_tree, raid10

BLOCK = "/sys/class/block"
DISKS = ("sda", "sdb", "sdc", "sdd")
_QUEUE = {
    "queue/scheduler": "none [mq-deadline]",
    "queue/nr_requests": "64",
    "queue/read_ahead_kb": "128",
    "device/queue_depth": "32",
}


class Host(Stage):
    """A RAID-10 of four disks, and sde, which is free.

    Attributes:
        writes: "sda/queue/scheduler none" of each write.
        ran: tools.
        fails: ends of paths -> errno of a write to them.
    """

    def __init__(self) -> None:
        super().__init__(host_tree(raid10(), disks={"sde": {}}, mdadm=True))
        self.live = True
        self.writes: list[str] = []
        self.ran: list[tuple[str, ...]] = []
        self.fails: dict[str, int] = {}
        self.answers: dict[str, str] = {"fio": "fio-3.33\n"}
        self.put(output_path(("mdadm", "--version")), "exit 0\nmdadm - v4.2 - 2021-12-30\n")
        for name in (*DISKS, "sde"):
            for file, text in _QUEUE.items():
                self.put(f"{BLOCK}/{name}/{file}", f"{text}\n")
            self.put(f"{BLOCK}/md127/slaves/{name}/dev" if name != "sde" else "/x", "8:0\n")

    @property
    def writable(self) -> bool:
        return True

    def take_value(self, path: str, text: str) -> None:
        self.read(path)
        short = path.removeprefix(f"{BLOCK}/")
        self.writes.append(f"{short} {text}")
        for end, code in self.fails.items():
            if path.endswith(end):
                raise OSError(code, os.strerror(code), path)
        known = (self.text(path) or "").translate(str.maketrans("[]", "  ")).split()
        if path.endswith("/scheduler"):
            if text not in known:
                raise OSError(errno.EINVAL, "Invalid argument", path)
            text = " ".join(f"[{word}]" if word == text else word for word in known)
            self.put(path.replace("scheduler", "nr_requests"), "256\n")  # as the kernel does
        self.put(path, f"{text}\n")

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        self.ran.append(argv)
        if (output := blkid_output(self, argv)) is not None:
            return output
        if argv[0] in self.answers:
            return ToolOutput(argv=argv, status=0, stdout=self.answers[argv[0]], stderr="")
        return super()._asked(*argv)

    def knobs(self, name: str = "sda") -> Mapping[str, str]:
        """A disk's settings."""
        return {file: (self.text(f"{BLOCK}/{name}/{file}") or "") for file in _QUEUE}


def put_free_disks(host: Host, *names: str, size_bytes: int = 256 << 20) -> None:
    """Give a host disks that nothing uses, with serial numbers: FREE-SDE and so on."""
    for name in names:
        number = ord(name[2]) - ord("a")
        host.put(f"{BLOCK}/{name}/size", f"{size_bytes // 512}\n")
        host.put(f"{BLOCK}/{name}/dev", f"8:{number}\n")
        host.put(f"/run/udev/data/b8:{number}", f"E:ID_SERIAL_SHORT=FREE-{name.upper()}\n")
        host.put(f"{BLOCK}/{name}/queue/scheduler", "[none]\n")
        for part in ("--export", ""):
            argv = tuple(word for word in ("mdadm", "--examine", part, f"/dev/{name}") if word)
            host.put(output_path(argv), "exit 1\n")


AS_BEFORE = _QUEUE
