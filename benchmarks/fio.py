"""What it costs fio to be watched: IOPS with a worker and a follower attached, beside bare fio, in one run.

`python -m benchmarks.fio` prints one JSON object.  Both read a small file in memory (tmpfs): that makes the
most requests a second that there can be, so that whatever is taken away from fio shows.  Bare and watched
take turns, and each pair gives a ratio.  Watched is the real thing, a benchmark's worker and what `raidtui
bench attach` runs, each a process of its own; all that they keep is in a folder that goes away.

Other load on the machine takes more from fio than we do.  So there is also the ratio of requests per second
of fio's own CPU time, which other load hardly moves, less the CPU time of worker and follower.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest.mock import patch

from benchmarks.trees import CHECKOUT
from raidtui.bench.course import Course
from raidtui.bench.place import Place
from raidtui.bench.results import Results
from raidtui.bench.start import find_bench, make_job
from raidtui.bench.worker import BenchWorker
from raidtui.bench.workload import Workload, workload_options
from raidtui.host.opening import open_root
from raidtui.orders.bench_run import follow

ROUNDS, QUICK_ROUNDS = 11, 5
LIMIT_S = 120.0
MEMORY = Path("/dev/shm")  # noqa: S108 - nothing is left there
WORK = Workload(rw="randread", block_bytes=4096, size_bytes=16 << 20, runtime_s=3, direct=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FioWatched:
    """Of each round: IOPS and fio's CPU time in percent, bare and watched; the CPU seconds of watching."""

    ran: bool
    why_not: str = ""
    bare: tuple[tuple[float, float], ...] = ()
    watched: tuple[tuple[float, float], ...] = ()
    cpu_s: tuple[float, ...] = ()

    @property
    def ratios(self) -> list[float]:
        """Watched of bare, by round, the least first."""
        return sorted(ours / theirs for (ours, _), (theirs, _) in zip(self.watched, self.bare, strict=True))

    @property
    def ratio_by_cpu(self) -> float:
        """Likewise, by requests per CPU second, less what worker and follower took of a CPU."""
        bare, watched = (
            statistics.median(iops / cpu for iops, cpu in rounds) for rounds in (self.bare, self.watched)
        )
        return watched / bare * (1 - self.cpu_pct / 100)

    @property
    def ratio(self) -> float:
        """The middle one; only when it ran."""
        return statistics.median(self.ratios)

    @property
    def bare_iops(self) -> float:
        """Of bare fio, the middle round."""
        return statistics.median(iops for iops, _ in self.bare)

    @property
    def cpu_pct(self) -> float:
        """Of one CPU, worker and follower together; only when it ran."""
        return 100 * statistics.median(self.cpu_s) / WORK.runtime_s


def measure_fio(rounds: int = ROUNDS) -> FioWatched:
    """Measure, or say why that cannot be done."""
    fio = shutil.which("fio", path="/usr/bin:/usr/local/bin")
    if fio is None:
        return FioWatched(ran=False, why_not="fio is not installed (apt install fio)")
    bare: list[tuple[float, float]] = []
    watched: list[tuple[float, float]] = []
    cpu_s: list[float] = []
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    try:
        with tempfile.TemporaryDirectory(prefix="raidtui-bench-", dir=place) as scratch:
            for number in range(rounds):
                bare.append(_bare(fio, scratch))
                iops, busy, spent_s = _watched(Path(scratch) / str(number))
                watched.append((iops, busy))
                cpu_s.append(spent_s)
    except (OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
        return FioWatched(ran=False, why_not=str(error).partition("\n")[0] or type(error).__name__)
    return FioWatched(ran=True, bare=tuple(bare), watched=tuple(watched), cpu_s=tuple(cpu_s))


def _figures(data: bytes) -> tuple[float, float]:
    """IOPS, and the percentage of a CPU that fio took for them."""
    job = json.loads(data)["jobs"][0]
    return float(job["read"]["iops"]), float(job["usr_cpu"] + job["sys_cpu"])


def _bare(fio: str, folder: str) -> tuple[float, float]:
    """Fio by itself, with the same options."""
    argv = (fio, "--output-format=json", "--eta=never", "--thread=1", *workload_options(WORK))
    done = subprocess.run(
        argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=LIMIT_S
    )
    return _figures(done.stdout)


def _watched(folder: Path) -> tuple[float, float, float]:
    """A benchmark's worker, and a follower whose output is read; also the CPU seconds of both."""
    folder.mkdir()
    with patch("raidtui.jobs.store.journal_path", lambda: folder / "journal.jsonl"):
        make_job(open_root("/"), Course(title="watched", place=Place(directory=str(folder)), work=WORK))
    worker, follower = _process("work", folder), _process("follow", folder)
    said, _ = follower.communicate(timeout=LIMIT_S)
    done, _ = worker.communicate(timeout=LIMIT_S)
    if b" IOPS  " not in said:
        raise ValueError(f"the follower saw nothing: {said.decode()[-200:]!r}")
    iops, busy, cpu_s = json.loads(done)
    return float(iops), float(busy), float(cpu_s) + float(said.split()[-1])


def _process(order: str, folder: Path) -> subprocess.Popen[bytes]:
    argv = (sys.executable, "-m", "benchmarks.fio", order, str(folder))
    return subprocess.Popen(argv, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; or be the worker or the follower of one round."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fio", description=__doc__)
    parser.add_argument("order", nargs="?", choices=("work", "follow"), help="used by itself")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args(argv)
    if arguments.order is None:
        print(json.dumps(asdict(measure_fio(arguments.rounds)), indent=1))
        return 0
    path = arguments.folder / "journal.jsonl"
    with (
        patch("raidtui.jobs.store.journal_path", lambda: path),
        patch("raidtui.bench.results.journal_path", lambda: path),
    ):
        job, begun_s = find_bench(), time.process_time()
        if arguments.order == "follow":
            follow(job)
            print(time.process_time() - begun_s)
            return 0
        BenchWorker(open_root("/"), job).work()
        cpu_s = time.process_time() - begun_s
        with Results() as results:
            print(json.dumps([*_figures(results.raw(results.runs()[-1].id)), cpu_s]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
