"""What pane 6 and ``raidtui history`` cost beyond journalctl, for a journal of so many lines.

``python -m benchmarks.history [--lines N] [--rounds N] [--seed N]``: the lines are in a file that ``cat``
prints, as journalctl would with raidtui's options; three boots, in which disks fail. "bare" reads the same
and throws it away, so that the difference is ours. Goal: less than a second for 100,000 lines.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from raidtui.features.history.session import read_history
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tool_pieces import tool_pieces

GOAL_S = 1.0
BOOTS = ("a" * 32, "b" * 32, "c" * 32)
PLAIN = (
    "usb 1-4: new high-speed USB device number {n} using xhci_hcd",
    "e1000e 0000:00:1f.6 eno1: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: Rx/Tx",
    'audit: type=1400 audit(1764040000.{n}:12): apparmor="DENIED" operation="open"',
    "[UFW BLOCK] IN=eno1 OUT= MAC=00:11 SRC=192.0.2.7 DST=192.0.2.1 LEN=40 TTL=244 ID={n} PROTO=TCP",
)
FAILING = (
    "ata3.00: exception Emask 0x10 SAct 0x400 SErr 0x400100 action 0x6 frozen",
    "ata3: SError: {{ UnrecovData Handshk }}",
    "ata3.00: failed command: WRITE FPDMA QUEUED",
    "ata3.00: status: {{ DRDY }}",
    "ata3: hard resetting link",
    "ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)",
    "sd 2:0:0:0: [sdc] tag#{n} Sense Key : Aborted Command [current] ",
    "I/O error, dev sdc, sector {n} op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2",
    "md/raid1:md0: sdc1: rescheduling sector {n}",
    "md/raid1:md0: read error corrected (8 sectors at {n} on sdc1)",
    "md: data-check of RAID array md0",
    "md: md0: data-check done.",
)


class JournalFile(MemoryReader):
    """A host whose journal is a file; its name in /proc is this machine's."""

    def __init__(self, path: Path) -> None:
        super().__init__({"/proc/mdstat": "Personalities :\nunused devices: <none>\n"})
        self._path = path

    def pieces(self, *argv: str, stall_s: float, ended: Callable[[], bool]) -> Iterator[bytes]:
        """See ``HostReader.pieces``."""
        del argv
        return tool_pieces(("cat", str(self._path)), stall_s=stall_s, ended=ended)


def write_journal(path: Path, lines: int, share: float, seed: int) -> None:
    """Write a journal, newest line first; ``share`` of the lines matter."""
    chance = random.Random(seed)
    with path.open("w", encoding="ascii") as file:
        for number in range(lines, 0, -1):
            text = chance.choice(FAILING if chance.random() < share else PLAIN).format(n=number)
            boot = BOOTS[min(2, number * 3 // (lines + 1))]
            at_us = 1_764_000_000_000_000 + number * 2_000_000
            entry = {
                "__CURSOR": f"s={'0' * 32};i={number:x};b={boot};m={number:x};t={at_us:x};x={'0' * 16}",
                "__REALTIME_TIMESTAMP": str(at_us),
                "__MONOTONIC_TIMESTAMP": str(number * 2_000_000),
                "_BOOT_ID": boot,
                "_SOURCE_MONOTONIC_TIMESTAMP": str(number * 2_000_000),
                "_TRANSPORT": "kernel",
                "SYSLOG_IDENTIFIER": "kernel",
                "MESSAGE": text,
            }
            file.write(json.dumps(entry, separators=(",", ":")) + "\n")


def bare(root: JournalFile) -> None:
    """Read all, and keep nothing."""
    for _ in root.pieces("journalctl", stall_s=60.0, ended=lambda: False):
        pass


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


def main() -> None:
    """Print a line for each share of lines that matter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'lines':>8} {'matter':>7} {'size':>8} {'bare':>8} {'ours':>8} {'beyond':>8}  goal")
    with tempfile.TemporaryDirectory(prefix="raidtui-bench-") as folder:
        for share in (0.02, 0.3, 1.0):
            path = Path(folder) / "journal"
            write_journal(path, options.lines, share, options.seed)
            root = JournalFile(path)
            rounds = [
                (seconds(partial(bare, root)), seconds(partial(read_history, root)))
                for _ in range(options.rounds)
            ]
            base, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
            beyond = statistics.median(mine - plain for plain, mine in rounds)
            print(
                f"{options.lines:>8} {share:>7.0%} {path.stat().st_size / 1e6:>5.0f} MB {base:>6.3f} s"
                f" {ours:>6.3f} s {beyond:>6.3f} s  {'met' if beyond < GOAL_S else 'missed'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
