"""Hosts whose disks answer smartctl."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from raidtui.host.smart.smart_reader import smart_argv
from raidtui.host.tools import ToolOutput, output_path
from raidtui.model.answer import AnswerKind
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec
from tests.monitor.wear.disks import smartctl_json

EVO = {
    "model": "Samsung SSD 850 EVO 500GB",
    "firmware": "EMT02B6Q",
    "sector_bytes": 512,
    "capacity_bytes": 500_107_862_016,
    "rotation_rpm": 0,
    "in_database": True,
    "passed": True,
    "hours": 4700,
    "temperature_c": 31,
}
TB, GB = 10**12, 10**9


def evo(name: str, written_bytes: int, left: int = 97, *more: str, **known: Any) -> str:
    """Return what smartctl says of a Samsung 850 EVO."""
    attributes = [
        "5 Reallocated_Sector_Ct 100 10 0",
        f"177 Wear_Leveling_Count {left} 0 {(100 - left) * 17}",
        "199 CRC_Error_Count 100 0 0",
        f"241 Total_LBAs_Written 99 0 {written_bytes // 512}",
        *more,
    ]
    facts = {**EVO, "serial": f"S21PN-{name}", "attributes": attributes, **known}
    return json.dumps(smartctl_json(facts, name))


def nvme(name: str, used: int, written_bytes: int, **known: Any) -> str:
    """Return what smartctl says of an NVMe disk."""
    log = {
        "critical_warning": 0,
        "available_spare": 100,
        "available_spare_threshold": 10,
        "percentage_used": used,
        "data_units_written": written_bytes // 512_000,
        "media_errors": 0,
    }
    facts = {
        "kind": "nvme",
        "model": "Micron_7400_MTFDKBA960TDZ",
        "serial": f"2142-{name}",
        "firmware": "E1MU23BC",
        "passed": True,
        "hours": 19_300,
        "capacity_bytes": 960_197_124_096,
        "nvme": log,
        **known,
    }
    return json.dumps(smartctl_json(facts, name))


def dom(name: str, count: int, attribute: str = "Lifetime_Writes_GiB") -> str:
    """Return what smartctl says of the published SATA DOM: it counts MiB, whatever the name says."""
    facts = {
        "model": "SATA SSD",
        "serial": f"DOM-{name}",
        "firmware": "S9FM02.6",
        "sector_bytes": 512,
        "rotation_rpm": 0,
        "in_database": True,
        "passed": True,
        "hours": 170,
        "attributes": [f"241 {attribute} 100 0 {count}"],
    }
    return json.dumps(smartctl_json(facts, name))


def refused(message: str, status: int) -> str:
    """Return smartctl's output where it read nothing."""
    return json.dumps({"smartctl": {"exit_status": status, "messages": [{"string": message}]}})


def asleep() -> str:
    """Return smartctl's output for a disk that sleeps."""
    return refused("Device is in STANDBY mode, exit(3)", 3)


def denied(name: str) -> str:
    """Return smartctl's output without root's rights."""
    return refused(f"Smartctl open device: /dev/{name} failed: Permission denied", 2)


class WearHost(Kernel):
    """A host whose disks answer.

    Args:
        *arrays: what is there.
        said: disk -> smartctl's output.
        installed: whether there is smartctl.
        **more: for ``Kernel``.
    """

    def __init__(
        self, *arrays: ArraySpec, said: Mapping[str, str] | None = None, installed: bool = True, **more: Any
    ) -> None:
        self.said: dict[str, str] = dict(said or {})
        self.installed = installed
        self.asked: list[tuple[str, ...]] = []
        super().__init__(*arrays, **more)

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """See ``HostReader.run``."""
        if argv[0] != "smartctl":
            return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)
        self.asked.append(argv)
        name = argv[-1].removeprefix("/dev/")
        if not self.installed:
            why = "smartctl is not installed"
            return ToolOutput(
                argv=argv, status=None, stdout="", stderr="", why_not=why, silence=AnswerKind.NO_TOOL
            )
        text = self.said.get(name, refused(f"Unable to detect device type of /dev/{name}", 1))
        status = int(json.loads(text)["smartctl"]["exit_status"])
        return ToolOutput(argv=argv, status=status, stdout=text, stderr="")

    def wrote(self, **written_bytes: int) -> None:
        """Let the kernel have written so much to devices since the boot."""
        lines = [
            f"   8 0 {name} 9 0 8 7 6 0 {size // 512} 4 0 3 2 0 0 0 0 0 0"
            for name, size in written_bytes.items()
        ]
        self.put("/proc/diskstats", "\n".join(lines) + "\n")
        self.put("/proc/sys/kernel/random/boot_id", "4f1d2c3b\n")


def outputs(said: Mapping[str, str]) -> dict[str, str]:
    """Return the same as files of a capture."""
    return {
        output_path(smart_argv(name)): f"exit {json.loads(text)['smartctl']['exit_status']}\n{text}\n"
        for name, text in said.items()
    }
