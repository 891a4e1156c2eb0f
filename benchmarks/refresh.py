"""What one refresh of 512 arrays on 1,000 disks costs inside the process, without any screen.

`python -m benchmarks.refresh [TREE] [--rounds N]` prints one JSON object.  The first sample opens everything
and is not counted.  Between two samples either nothing happens, or /proc/mdstat and one array's attributes
change (in place, as the kernel's files do: a kept descriptor sees it).  The tree is read as the live
host is, with kept descriptors; and once more opening every file each time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks import trees
from benchmarks.hostfiles import Sync, mdstat, rewrite_in_place, sync_attributes

ROUNDS = 15
TIMEOUT_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """The cost of one refresh in ms.  `seen`: the change, and nothing before it, showed in the snapshot."""

    ran: bool
    why_not: str = ""
    first_ms: float | None = None
    same_ms: float | None = None
    same_least_ms: float | None = None
    changed_ms: float | None = None
    changed_least_ms: float | None = None
    opening_each_ms: float | None = None
    descriptors: int | None = None
    seen: bool | None = None


class _Clock:
    """Times calls in ms."""

    def __init__(self) -> None:
        self.costs_ms: list[float] = []

    def time(self, call: Callable[[], object]) -> object:
        """Call, and record the cost."""
        begin_s = time.perf_counter()
        result = call()
        self.costs_ms.append((time.perf_counter() - begin_s) * 1000)
        return result


def measure_here(tree: Path, rounds: int = ROUNDS) -> Refresh:
    """Sample the tree in this process."""
    try:
        from raidtui.host.readers.folder_reader import FolderReader  # noqa: PLC0415 - what is measured may not be there
        from raidtui.monitor.sampler import Sampler  # noqa: PLC0415
    except ImportError as error:
        return Refresh(ran=False, why_not=f"no sampler to measure: {error}")

    class KeepingReader(FolderReader):
        """A tree read as the live host is: what was opened is never replaced."""

        def __init__(self, path: str) -> None:
            super().__init__(path)
            self._lasting = True

    open_files = len(os.listdir("/proc/self/fd"))
    sampler = Sampler(KeepingReader(str(tree)))
    first, same, changed, opening = _Clock(), _Clock(), _Clock(), _Clock()
    before = first.time(sampler.sample)
    for _ in range(rounds):
        unchanged = same.time(sampler.sample)
    descriptors = len(os.listdir("/proc/self/fd")) - open_files
    for turn in range(rounds):
        _change(tree, turn)
        after = changed.time(sampler.sample)
    opens_each = FolderReader(str(tree))
    opens_each.keep_nothing()
    plain = Sampler(opens_each)
    plain.sample()
    for _ in range(rounds):
        opening.time(plain.sample)
    states = [getattr(snapshot, "arrays", None) for snapshot in (before, unchanged, after)]
    return Refresh(
        ran=True,
        first_ms=first.costs_ms[0],
        same_ms=statistics.median(same.costs_ms),
        same_least_ms=min(same.costs_ms),
        changed_ms=statistics.median(changed.costs_ms),
        changed_least_ms=min(changed.costs_ms),
        opening_each_ms=statistics.median(opening.costs_ms),
        descriptors=descriptors,
        seen=states[0] == states[1] != states[2],
    )


def _change(tree: Path, turn: int) -> None:
    """Move the resync of one array a little further on each turn."""
    first, *rest = trees.big_arrays()
    total = first.size_kib
    sync = Sync(done_kib=total * (500 + turn) // 1000, total_kib=total, speed_kib_s=512_000 + turn)
    moved = replace(first, sync=sync)
    rewrite_in_place(tree / "proc/mdstat", mdstat((moved, *rest)))
    for name, text in sync_attributes(moved).items():
        rewrite_in_place(tree / "sys/class/block" / moved.name / "md" / name, text + "\n")


def measure_apart() -> Refresh:
    """Measure in a fresh interpreter, so that the memory and garbage of this process do not count."""
    command = (sys.executable, "-m", "benchmarks.refresh")
    done = subprocess.run(
        command,
        cwd=trees.CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word of why"])[-1]
        return Refresh(ran=False, why_not=f"the sampler failed: {last}")
    return Refresh(**json.loads(done.stdout))


def main() -> int:
    """Measure one tree, by default a new one."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.refresh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tree", type=Path, nargs="?", help="a `big` tree (it will be changed)")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="raidtui-bench-") as scratch:
        tree = arguments.tree or Path(scratch)
        if arguments.tree is None:
            trees.big(tree)
        print(json.dumps(asdict(measure_here(tree, arguments.rounds)), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
