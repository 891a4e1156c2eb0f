"""What the sandbox and watching cost fio: IOPS beside bare fio, in one run.

`python -m benchmarks.fio` prints one JSON object.  All read a small file in memory (tmpfs): that gives the
most requests per second, so that any cost to fio shows.  Bare, sandboxed and watched take turns, and each
round gives ratios.  In the sandbox alone, fio has the same options as bare fio, and nobody watches;
``filtered`` with the filter of system calls that a job file's run gets.  The watched round runs a benchmark's
worker and the console on a terminal of its own with pane 5 in view; all that they store is in a folder that
is removed.

Other load on the machine takes more from fio than raidtui does.  So a second ratio compares requests per
second of fio's own CPU time, which other load hardly changes, less the CPU time of worker and console.
"""

import argparse
import json
import os
import random
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

import psutil

from benchmarks.probe import Probe
from benchmarks.records import Script
from benchmarks.trees import CHECKOUT
from raidtui.app.launch import launch
from raidtui.features.bench.place import Place
from raidtui.features.bench.results.run_store import Results
from raidtui.features.bench.run.bench_jobs import find_bench, make_job
from raidtui.features.bench.run.bench_worker import BenchWorker
from raidtui.features.bench.schedule import Schedule
from raidtui.features.bench.workload import Workload, workload_options
from raidtui.host.readers.opening import open_root
from raidtui.jobs.sandbox import Sandbox, free_uid, started
from raidtui.jobs.scratch_folder import give_scratch, make_scratch, remove_scratch

ROUNDS, QUICK_ROUNDS = 11, 5
LIMIT_S = 120.0
MEMORY = Path("/dev/shm")  # noqa: S108 - nothing is left there
SCRIPT = Script(columns=120, lines=40)
WORK = Workload(rw="randread", block_bytes=4096, size_bytes=16 << 20, runtime_s=3, direct=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FioWatched:
    """Of each round: IOPS and fio's CPU time in percent of each kind; the CPU seconds of watching."""

    ran: bool
    why_not: str = ""
    bare: tuple[tuple[float, float], ...] = ()
    sandboxed: tuple[tuple[float, float], ...] = ()
    filtered: tuple[tuple[float, float], ...] = ()
    watched: tuple[tuple[float, float], ...] = ()
    cpu_s: tuple[float, ...] = ()

    def in_sandbox(self, kind: str) -> tuple[float, float]:
        """Return the median ratio to bare fio by IOPS, and by requests per CPU second.

        Args:
            kind: ``sandboxed`` or ``filtered``.
        """
        rounds = list(zip(getattr(self, kind), self.bare, strict=True))
        by_iops = statistics.median(ours[0] / bare[0] for ours, bare in rounds)
        by_cpu = statistics.median(ours[0] / ours[1] * bare[1] / bare[0] for ours, bare in rounds)
        return by_iops, by_cpu

    @property
    def ratios(self) -> list[float]:
        """Ratio of watched to bare IOPS by round, the lowest first."""
        return sorted(ours / theirs for (ours, _), (theirs, _) in zip(self.watched, self.bare, strict=True))

    @property
    def ratio_by_cpu(self) -> float:
        """The same by requests per CPU second, less the CPU time of worker and console."""
        bare, watched = (
            statistics.median(iops / cpu for iops, cpu in rounds) for rounds in (self.bare, self.watched)
        )
        return watched / bare * (1 - self.cpu_pct / 100)

    @property
    def ratio(self) -> float:
        """The median; only if it was measured."""
        return statistics.median(self.ratios)

    @property
    def bare_iops(self) -> float:
        """IOPS of bare fio, the median."""
        return statistics.median(iops for iops, _ in self.bare)

    @property
    def cpu_pct(self) -> float:
        """Share of one CPU that worker and console take; only if it was measured."""
        return 100 * statistics.median(self.cpu_s) / WORK.runtime_s


def measure_fio(rounds: int = ROUNDS) -> FioWatched:
    """Measure, or return why that is not possible."""
    fio = shutil.which("fio", path="/usr/bin:/usr/local/bin")
    if fio is None:
        return FioWatched(ran=False, why_not="fio is not installed (apt install fio)")
    bare: list[tuple[float, float]] = []
    sandboxed: list[tuple[float, float]] = []
    filtered: list[tuple[float, float]] = []
    watched: list[tuple[float, float]] = []
    cpu_s: list[float] = []
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    try:
        with tempfile.TemporaryDirectory(prefix="raidtui-bench-", dir=place) as scratch:
            for number in range(rounds):
                kinds = [("bare", bare), ("sandboxed", sandboxed), ("filtered", filtered)]
                random.shuffle(kinds)  # who comes first is at times slower
                for kind, found in kinds:
                    found.append(_alone(fio, Path(scratch) / kind, kind))
                iops, busy, spent_s = _watched(Path(scratch) / str(number))
                watched.append((iops, busy))
                cpu_s.append(spent_s)
    except (OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
        return FioWatched(ran=False, why_not=str(error).partition("\n")[0] or type(error).__name__)
    return FioWatched(
        ran=True,
        bare=tuple(bare),
        sandboxed=tuple(sandboxed),
        filtered=tuple(filtered),
        watched=tuple(watched),
        cpu_s=tuple(cpu_s),
    )


def _figures(data: bytes) -> tuple[float, float]:
    """Return IOPS, and the percentage of a CPU that fio took for them."""
    job = json.loads(data)["jobs"][0]
    return float(job["read"]["iops"]), float(job["usr_cpu"] + job["sys_cpu"])


def _fio_argv(fio: str) -> tuple[str, ...]:
    return (fio, "--output-format=json", "--eta=never", "--thread=1", *workload_options(WORK))


def _alone(fio: str, folder: Path, kind: str) -> tuple[float, float]:
    """Run fio with nobody watching: bare, or in what of the sandbox this user can have.

    Raises:
        ValueError: it failed in the sandbox.
    """
    make_scratch(folder, again=False)
    if kind == "bare":
        figures = _bare(fio, str(folder))
        remove_scratch(folder)
        return figures
    calls = kind == "filtered"
    uid = free_uid(folder.name) if not os.geteuid() else os.geteuid()
    give_scratch(folder, uid)
    limits = Sandbox(folder=str(folder), uid=uid, file_bytes=2 * WORK.size_bytes, calls=calls)
    with started(limits, _fio_argv(fio)) as (process, _):
        data, errors = process.communicate(timeout=LIMIT_S)
    remove_scratch(folder)
    if process.returncode:
        raise ValueError(f"fio failed in the sandbox: {errors.decode(errors='replace').strip()[-200:]}")
    return _figures(data)


def _bare(fio: str, folder: str) -> tuple[float, float]:
    """Run bare fio with the same options."""
    done = subprocess.run(
        _fio_argv(fio), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=LIMIT_S
    )
    return _figures(done.stdout)


def _watched(folder: Path) -> tuple[float, float, float]:
    """Run a benchmark's worker, and the console with pane 5 in view; return the CPU seconds of both, too."""
    folder.mkdir()
    with patch("raidtui.jobs.store.journal_path", lambda: folder / "journal.jsonl"):
        make_job(open_root("/"), Schedule(title="watched", place=Place(directory=str(folder)), work=WORK))
    console = Probe(_argv("watch", folder), SCRIPT, env={}, cwd=CHECKOUT)
    try:
        console.start()
        _shows(console, "5 Bench", LIMIT_S)
        console.keys("5")
        _shows(console, "begins", LIMIT_S)
        before_s = _cpu_s(console.pid)
        worker = subprocess.Popen(
            _argv("work", folder), cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        _shows(console, "IOPS  ", LIMIT_S)
        console.wait(lambda: worker.poll() is not None, limit_s=console.now_s() + LIMIT_S)
        watched_s = _cpu_s(console.pid) - before_s
        done, _ = worker.communicate(timeout=LIMIT_S)
        _shows(console, "watched: done", LIMIT_S)
        console.quit("q")
    finally:
        console.close()
    iops, busy, cpu_s = json.loads(done)
    return float(iops), float(busy), float(cpu_s) + watched_s


def _shows(console: Probe, words: str, limit_s: float) -> None:
    """Wait until the console's screen has these words.

    Raises:
        ValueError: they do not appear.
    """

    def there() -> bool:
        console.replay.rest(console.chunks)
        return words in console.replay.screen.text()

    if not console.wait(there, limit_s=console.now_s() + limit_s):
        raise ValueError(f"the console never showed {words!r}: {console.replay.screen.text()[-200:]!r}")


def _cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _argv(command: str, folder: Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "benchmarks.fio", command, str(folder))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; or be the worker or the console of one round."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fio", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("work", "watch"), help="used internally")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        print(json.dumps(asdict(measure_fio(arguments.rounds)), indent=1))
        return 0
    path = arguments.folder / "journal.jsonl"
    with (
        patch("raidtui.jobs.store.journal_path", lambda: path),
        patch("raidtui.features.bench.results.run_store.journal_path", lambda: path),
    ):
        if arguments.command == "watch":
            launch(open_root("/"), theme=None, mouse=False)
        job, begun_s = find_bench(), time.process_time()
        BenchWorker(open_root("/"), job).work()
        cpu_s = time.process_time() - begun_s
        with Results() as results:
            print(json.dumps([*_figures(results.raw(results.runs()[-1].id)), cpu_s]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
