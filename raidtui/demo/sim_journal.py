"""The journal of the simulated host before the story begins, as ``journalctl --output=json`` prints it.

Three boots. In the first one a cable failed, and md failed sdd2 of ``data``; the cable was exchanged while
the host was off; five days later sdd2 was added again. Five minutes before the story the power failed: that
is why ``data`` is being resynced. In the first boot, sda and sdb had each other's letters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from raidtui.demo.sim_smart import BOOT_ID, CABLE_AGO_S, RECOVERED_AGO_S, RECOVERED_S
from raidtui.demo.story import disks

KERNELS = ("6.12.1", "6.12.1", "6.12.3")
_BOOTS = ("0c5b7a9e41d24f6b8e3a2d1c9b8a7f60", "7d1e4c2b9a384f05b6c7d8e9fa0b1c2d", BOOT_ID.replace("-", ""))
_DAY_S = 86_400.0
_FIRST_AGO_S, _FAILED_AGO_S = 26 * _DAY_S, CABLE_AGO_S + 16 * 3600
_NOW_AGO_S = 330.0
_FLAGS = "flags 0x800 phys_seg 1 prio class 2"
_FAILED = (
    "md/raid10:md127: Disk failure on sdd2, disabling device.\n"
    "md/raid10:md127: Operation continuing on 3 devices."
)
_SPARE = "SpareActive event detected on md device /dev/md127, component device /dev/sdd2"
_WARMER = "Device: /dev/sdc [SAT], SMART Usage Attribute: 190 Airflow_Temperature_Cel changed from 68 to 63"
_STOPPED = "d93fb3c9c24d451a97cea615ce59c00b"
_LETTERS: tuple[dict[str, str], ...] = ({"a": "b", "b": "a"}, {}, {})
"""Letters that the SATA disks had in each boot, where they are not today's."""
_Row = tuple[float, str, str]  # seconds after the boot, writer, text


def journal_text(began_s: float, since_s: float | None, until_s: float | None) -> str:
    """Return the lines, newest first.

    Args:
        began_s: epoch seconds at which the story begins.
        since_s: no line before this time; None for all.
        until_s: none after it.
    """
    starts = (began_s - _FIRST_AGO_S, began_s - CABLE_AGO_S, began_s - _NOW_AGO_S)
    lines: list[str] = []
    for number, rows in enumerate((_first(), _second(), _third())):
        for at_s, writer, text in sorted((*_boot(number), *rows), key=lambda row: row[0]):
            time_s = starts[number] + at_s
            if (since_s is None or time_s >= since_s) and (until_s is None or time_s <= until_s):
                lines.append(_line(time_s, at_s, _BOOTS[number], writer, text))
    return "".join(f"{line}\n" for line in reversed(lines))


def _line(time_s: float, at_s: float, boot: str, writer: str, text: str) -> str:
    fields = {"MESSAGE": text, "__REALTIME_TIMESTAMP": f"{time_s * 1e6:.0f}", "_BOOT_ID": boot,
              "__MONOTONIC_TIMESTAMP": f"{at_s * 1e6:.0f}", "SYSLOG_IDENTIFIER": writer}  # fmt: skip
    if writer == "kernel":
        fields["_TRANSPORT"] = "kernel"
    if writer == "systemd-journald":
        fields |= {"_TRANSPORT": "driver", "MESSAGE_ID": _STOPPED}
    return json.dumps(fields, separators=(",", ":"))


def _boot(number: int) -> Iterator[_Row]:
    """Yield what the kernel and smartd say at each boot."""
    yield 0.0, "kernel", f"Linux version {KERNELS[number]}-amd64 (debian-kernel@lists.debian.org)"
    sata = [disk for disk in disks() if disk.name in {"sda", "sdb", "sdc", "sdd"}]
    for place in range(4):
        yield 1.1, "kernel", f"scsi host{place}: ahci"
    for place in range(4):
        yield 1.2, "kernel", f"ata{place + 1}: SATA max UDMA/133 abar m2048@0xdf34b000 irq 127"
    letters = _LETTERS[number]
    for disk in sata:
        letter = letters.get(disk.name[2:], disk.name[2:])
        place = ord(letter) - ord("a")
        yield 1.6, "kernel", f"ata{place + 1}: SATA link up 6.0 Gbps (SStatus 133 SControl 300)"
        yield 1.7, "kernel", f"ata{place + 1}.00: ATA-9: {disk.model}, EMT02B6Q, max UDMA/133"
        yield 2.0, "kernel", f"sd {place}:0:0:0: [sd{letter}] Attached SCSI disk"
        said = f"{disk.model}, S/N:{disk.serial}, WWN:5-002538-d4, FW:EMT02B6Q, 500 GB"
        yield 9.0, "smartd", f"Device: /dev/sd{letter} [SAT], {said}"
    yield 2.5, "kernel", "md/raid1:md126: active with 2 out of 2 mirrors"
    yield 2.6, "kernel", "md/raid:md125: raid level 5 active with 3 out of 3 devices, algorithm 2"


def _first() -> Sequence[_Row]:
    failed_s = _FIRST_AGO_S - _FAILED_AGO_S
    rows: list[_Row] = [
        (2.7, "kernel", "md/raid10:md127: active with 4 out of 4 devices"),
        (5 * _DAY_S, "kernel", "md: data-check of RAID array md125"),
        (5 * _DAY_S + 1410, "kernel", "md: md125: data-check done."),
    ]
    for place in range(3):
        at_s = failed_s + 21.0 * place
        rows += [
            (at_s, "kernel", "ata4.00: exception Emask 0x10 SAct 0x7c00 SErr 0x400100 action 0x6 frozen"),
            (at_s, "kernel", "ata4: SError: { UnrecovData Handshk }"),
            (at_s, "kernel", "ata4.00: failed command: WRITE FPDMA QUEUED"),
            (at_s, "kernel", "ata4.00: status: { DRDY }"),
            (at_s, "kernel", "ata4: hard resetting link"),
            (at_s + 0.5, "kernel", "ata4: SATA link up 6.0 Gbps (SStatus 133 SControl 300)"),
        ]
    at_s = failed_s + 52.0
    rows += [
        (at_s, "kernel", "ata4: limiting SATA link speed to 3.0 Gbps"),
        (at_s, "kernel", f"I/O error, dev sdd, sector 195309576 op 0x1:(WRITE) {_FLAGS}"),
        (at_s, "kernel", "md: super_written gets error=-5"),
        (at_s, "kernel", _FAILED),
        (at_s + 0.4, "mdadm", "Fail event detected on md device /dev/md127, component device /dev/sdd2"),
        (_FIRST_AGO_S - CABLE_AGO_S - 900, "systemd-journald", "Journal stopped"),
    ]  # fmt: skip
    return rows


def _second() -> Sequence[_Row]:
    recovered_s = CABLE_AGO_S - RECOVERED_AGO_S
    return (
        (2.7, "kernel", "md: kicking non-fresh sdd2 from array!"),
        (2.8, "kernel", "md/raid10:md127: active with 3 out of 4 devices"),
        (8.0, "mdadm", "DegradedArray event detected on md device /dev/md127"),
        (recovered_s, "kernel", "md: recovery of RAID array md127"),
        (recovered_s + RECOVERED_S, "kernel", "md: md127: recovery done."),
        (recovered_s + 2.0, "mdadm", "RebuildStarted event detected on md device /dev/md127"),
        (recovered_s + RECOVERED_S + 1, "mdadm", _SPARE),
        (8 * _DAY_S, "smartd", _WARMER),
        (9 * _DAY_S, "kernel", "md: data-check of RAID array md126"),
        (9 * _DAY_S + 190, "kernel", "md: md126: data-check done."),
    )  # fmt: skip


def _third() -> Sequence[_Row]:
    return (
        (2.7, "kernel", "md/raid10:md127: not clean -- starting background reconstruction"),
        (2.8, "kernel", "md/raid10:md127: active with 4 out of 4 devices"),
        (60.0, "kernel", "md: resync of RAID array md127"),
    )
