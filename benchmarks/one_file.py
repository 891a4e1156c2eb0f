"""The one file beside an environment of the same wheel: how large it is, and how fast it starts.

``python -m benchmarks.one_file [--rounds N] [--python PATH] [--seed N]``, after ``make dist``. The
environment is made by ``venv`` and ``pip install``, with compiled byte code. Both are started in one random
order, on a host with one resync: ``status`` until it has ended, the console until its first frame and until
it answers a key. Only the ratios say something. Goals: 1.2 of the environment at most, 30 MiB at most.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from benchmarks import trees
from benchmarks.probe import measure
from benchmarks.programs import LISTED, environment
from benchmarks.records import Script
from release.__main__ import ONE_FILE
from release.places import VERSION

GOAL, GOAL_MIB = 1.2, 30.0
OURS, BESIDE = "one file", "environment"
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install")


def main() -> int:
    """Measure and print the table; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_file", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--python", default=sys.executable, help="what the environment is made with")
    parser.add_argument("--seed", type=int, default=None)
    asked = parser.parse_args()
    if not ONE_FILE.exists():
        parser.error(f"there is no {ONE_FILE}: make dist")
    seed = random.randrange(10**6) if asked.seed is None else asked.seed
    with tempfile.TemporaryDirectory(prefix="raidtui-bench-") as name:
        scratch = Path(name)
        trees.resync(scratch / "host")
        programs = {OURS: str(ONE_FILE), BESIDE: make_environment(asked.python, scratch / "venv")}
        env = {**environment(scratch), "RAIDTUI_CACHE": str(scratch / "cache")}
        del env["PYTHONPATH"]
        unpacking_ms = status_ms(programs[OURS], scratch / "host", env)
        status_ms(programs[BESIDE], scratch / "host", env)
        found = rounds(programs, scratch / "host", env, asked.rounds, random.Random(seed))
        unpacked_mib = (
            sum(path.stat().st_size for path in (scratch / "cache").rglob("*") if path.is_file()) / 2**20
        )
    met = report(found)
    size_mib = ONE_FILE.stat().st_size / 2**20
    print(f"size            {size_mib:.1f} MiB (goal <= {GOAL_MIB:g}); in the cache {unpacked_mib:.0f} MiB")
    print(f"first start     {unpacking_ms:.0f} ms, unpacking included")
    print(f"{asked.rounds} rounds, order seed {seed}, load {os.getloadavg()[0]:.1f}")
    return 0 if met and size_mib <= GOAL_MIB else 1


def make_environment(python: str, folder: Path) -> str:
    """Return the program of a new environment with the wheel of ``make dist``."""
    (wheel,) = ONE_FILE.parent.glob(f"raidtui-{VERSION}-*.whl")
    subprocess.run((python, "-m", "venv", str(folder)), check=True)
    subprocess.run((str(folder / "bin/python"), *PIP, str(wheel)), check=True)
    subprocess.run((str(folder / "bin/python"), "-m", "compileall", "-qq", str(folder / "lib")), check=False)
    return str(folder / "bin/raidtui")


def rounds(
    programs: Mapping[str, str], host: Path, env: Mapping[str, str], count: int, order: random.Random
) -> dict[tuple[str, str], list[float]]:
    """Return (what, program) -> milliseconds of each round."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    script = Script(expect=LISTED, answer_key="6")
    for _ in range(count):
        for name in order.sample(sorted(programs), len(programs)):
            found["status", name].append(status_ms(programs[name], host, env))
            run = measure((programs[name], "--root", str(host)), script, env=env, cwd=host)
            if run.expect_ms is None or run.answered_ms is None:
                raise RuntimeError(f"{name}: {run.why_not}")
            found["first frame", name].append(run.expect_ms)
            found["a key answered", name].append(run.answered_ms)
    return found


def status_ms(program: str, host: Path, env: Mapping[str, str]) -> float:
    """Return how long ``raidtui status`` takes."""
    before = time.perf_counter()
    subprocess.run(
        (program, "--root", str(host), "status"),
        env={**os.environ, **env},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return (time.perf_counter() - before) * 1000


def report(found: Mapping[tuple[str, str], list[float]]) -> bool:
    """Print a line for each quantity; return whether all goals are met."""
    met = True
    for what in dict.fromkeys(what for what, _ in found):
        ours, beside = found[what, OURS], found[what, BESIDE]
        ratio, least = statistics.median(ours) / statistics.median(beside), min(ours) / min(beside)
        met &= least <= GOAL
        verdict = "met" if ratio <= GOAL else "met by the minimum only" if least <= GOAL else "missed"
        print(
            f"{what:15} {statistics.median(ours):.0f} ({min(ours):.0f}) ms, environment"
            f" {statistics.median(beside):.0f} ({min(beside):.0f}) ms: {ratio:.2f} ({least:.2f}),"
            f" goal <= {GOAL:g}: {verdict}"
        )
    return met


if __name__ == "__main__":
    sys.exit(main())
