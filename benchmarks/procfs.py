"""The cost of a process tree by the kernel's counters: CPU, wakeups, memory.

Everything is read from /proc; the measured program is not touched.  Processes may end between two reads;
ended ones are not counted.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
MIB = 2**20
PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTime:
    """CPU ticks of the whole machine since boot: all of them, and the idle ones."""

    all_ticks: int
    idle_ticks: int

    def busy_pct_since(self, earlier: "HostTime") -> float | None:
        """Return how busy all CPUs were between two readings; None if no tick has passed."""
        passed = self.all_ticks - earlier.all_ticks
        return 100 * (1 - (self.idle_ticks - earlier.idle_ticks) / passed) if passed else None


def host_time() -> HostTime:
    """Read /proc/stat's first line (user, nice, system, idle, iowait, irq, softirq, steal)."""
    first = (PROC / "stat").read_text(encoding="ascii").partition("\n")[0]
    ticks = [int(word) for word in first.split()[1:9]]
    return HostTime(all_ticks=sum(ticks), idle_ticks=ticks[3] + ticks[4])


def process_tree(root: int) -> list[int]:
    """`root` and all its descendants alive, in order of their ids."""
    parents: dict[int, int] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            fields = _stat_fields(int(entry.name))
            if fields:
                parents[int(entry.name)] = int(fields[1])
    found = {root} & parents.keys()
    size = -1
    while size != len(found):
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return sorted(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTime:
    """CPU time of a tree since it started, by two counters.

    `stat` counts whole ticks of all that ever ran, ended threads and awaited children included; `schedstat`
    counts nanoseconds, of the threads that live.
    """

    ticks_s: float
    waited_s: float
    living_s: float
    threads: frozenset[str]

    @property
    def total_s(self) -> float:
        """The larger of the two counters, since neither exceeds the truth."""
        return max(self.ticks_s, self.living_s) + self.waited_s

    def since_s(self, earlier: "CpuTime") -> float:
        """Return the CPU time between two readings, exact as long as no thread started or ended."""
        if self.threads == earlier.threads:
            return self.living_s - earlier.living_s + self.waited_s - earlier.waited_s
        return self.total_s - earlier.total_s


def cpu_time(root: int) -> CpuTime:
    """Read the counters of `root` and its descendants."""
    ticks = waited = 0
    living_s = 0.0
    threads: set[str] = set()
    for pid in process_tree(root):
        fields = _stat_fields(pid)
        if not fields:
            continue
        ticks += int(fields[11]) + int(fields[12])
        waited += int(fields[13]) + int(fields[14])
        for tid, text in _task_files(pid, "schedstat"):
            threads.add(tid)
            living_s += int(text.split()[0]) / 1e9
    return CpuTime(
        ticks_s=ticks / TICKS_PER_S,
        waited_s=waited / TICKS_PER_S,
        living_s=living_s,
        threads=frozenset(threads),
    )


def wakeups(root: int) -> int:
    """Voluntary context switches of all living threads of the tree: each is one sleep, so one wake."""
    total = 0
    for pid in process_tree(root):
        for _, text in _task_files(pid, "status"):
            _, _, rest = text.partition("\nvoluntary_ctxt_switches:")
            total += int(rest.split(maxsplit=1)[0]) if rest else 0
    return total


def memory_mib(root: int) -> tuple[float, float]:
    """(RSS, PSS) of the tree in MiB; PSS shares pages with others fairly."""
    rss = pss = 0.0
    for pid in process_tree(root):
        try:
            pages = int((PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1])
            rollup = (PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii")
        except OSError:
            continue
        rss += pages * PAGE_BYTES / MIB
        pss += sum(int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    return rss, pss


def _stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the command's name; empty if the process has ended."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _task_files(pid: int, name: str) -> Iterator[tuple[str, str]]:
    """Yield each living thread and the text of one of its files."""
    try:
        tasks = os.listdir(PROC / str(pid) / "task")
    except OSError:
        return
    for tid in tasks:
        try:
            text = (PROC / str(pid) / "task" / tid / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        yield tid, text
