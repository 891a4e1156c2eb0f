"""The situations, measured in one random order, so that load affects all programs alike."""

import compileall
import contextlib
import random
import statistics
import sys
import tempfile
import termios
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks import trees
from benchmarks.probe import measure
from benchmarks.programs import HELLO_APP, LISTED, PEERS, RAIDTUI, WATCH, Program, environment, waker
from benchmarks.records import Measurement, Script

SMALL = Script(columns=80, lines=24)
WARM_UP = Script()
IDLE_PACE_S, SYNC_PACE_S = 5, 1  # how often raidtui reads a tree that cannot call it
PERCENT = r"\d+\.\d ?%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One situation: the host, the programs, and what is done to them.  `seldom` cases have long windows."""

    id: str
    tree: str
    programs: tuple[Program, ...]
    script: Script
    seldom: bool = False
    press: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How many rounds are run, and how long each window is."""

    rounds: int
    seldom_rounds: int
    watch_s: float

    def with_rounds(self, rounds: int | None) -> "Effort":
        """Return it with another number of rounds for the short cases, if one is given."""
        return self if rounds is None else replace(self, rounds=rounds)


FULL = Effort(rounds=9, seldom_rounds=3, watch_s=20.0)
QUICK = Effort(rounds=3, seldom_rounds=1, watch_s=8.0)


def cases(watch_s: float) -> tuple[Case, ...]:
    """Return every situation; peers are omitted where their result would mean nothing."""
    truth = replace(RAIDTUI, expect=rf"{RAIDTUI.expect}(?s:.*54\.2 ?%)")
    full = replace(RAIDTUI, expect=rf"{RAIDTUI.expect}(?s:.*\^p More)")
    paged = replace(full, keys=("3", "4", "5", "6", "7", "1", "?", "?"))  # the second closes the help
    serial = replace(SMALL, speed=termios.B9600, quiet_s=2.5)  # pages are held back until the line is free
    listed = replace(RAIDTUI, expect=LISTED)
    moving = replace(RAIDTUI, expect=rf"{RAIDTUI.expect}(?s:.*{PERCENT})")
    many = replace(RAIDTUI, expect=r"md39\b.*degraded(?s:.*\^p More)")  # the worst come first
    return (
        Case(id="start", tree="resync", programs=(truth, HELLO_APP, *PEERS), script=Script()),
        Case(id="full", tree="resync", programs=(full, HELLO_APP), script=Script()),
        Case(id="answer", tree="resync", programs=(listed, HELLO_APP), script=Script(answer_key="6")),
        Case(id="keys", tree="idle", programs=(full, HELLO_APP, *PEERS), script=SMALL, press=True),
        Case(id="pages", tree="idle", programs=(paged,), seldom=True, press=True, script=SMALL),
        Case(id="serial", tree="idle", programs=(paged,), seldom=True, press=True, script=serial),
        Case(
            id="idle",
            tree="idle",
            programs=(full, HELLO_APP, waker(IDLE_PACE_S), *PEERS),
            seldom=True,
            script=replace(SMALL, watch_s=watch_s, within_minute=True),
        ),
        Case(
            id="moving",
            tree="moving",
            programs=(moving, waker(SYNC_PACE_S), WATCH),
            seldom=True,
            script=replace(SMALL, watch_s=watch_s, within_minute=True),
        ),
        Case(id="big", tree="big", programs=(many,), seldom=True, press=True, script=SMALL),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Return the values of one quantity, by round."""

    median: float
    least: float
    count: int


@dataclass(slots=True, kw_only=True)
class Results:
    """All measurements, by case and program, and the programs that are missing."""

    runs: dict[tuple[str, str], list[Measurement]] = field(default_factory=lambda: defaultdict(list))
    missing: list[str] = field(default_factory=list)

    def of(self, case: str, program: str) -> list[Measurement]:
        """Return the rounds that could be measured."""
        return [run for run in self.runs.get((case, program), []) if run.ran]

    def programs(self, case: str) -> list[str]:
        """Return the programs that were measured in a case."""
        return [program for id_, program in self.runs if id_ == case and self.of(case, program)]

    def spread(self, case: str, program: str, quantity: str) -> Spread | None:
        """Return the median and the minimum of one field of Measurement; None if no round has it."""
        values = [value for run in self.of(case, program) if (value := getattr(run, quantity)) is not None]
        if not values:
            return None
        return Spread(median=statistics.median(values), least=min(values), count=len(values))

    def why_not(self, case: str, program: str) -> str:
        """Return why a case has no result for a program."""
        reasons = [run.why_not for run in self.runs.get((case, program), []) if not run.ran]
        return reasons[0] if reasons else "not run"


def run_cases(wanted: Iterable[Case], effort: Effort, *, seed: int, say: Callable[[str], None]) -> Results:
    """Measure the cases; each program is started once before, unmeasured, so that its files are cached."""
    results = Results()
    jobs: list[tuple[float, Case, Program]] = []
    order = random.Random(seed)
    warm: dict[str, Program] = {}
    for case in wanted:
        for program in case.programs:
            if program.missing:
                results.missing = sorted({*results.missing, program.name})
                continue
            warm[program.name] = program
            rounds = effort.seldom_rounds if case.seldom else effort.rounds
            jobs += [((turn + order.random()) / rounds, case, program) for turn in range(rounds)]
    jobs.sort(key=lambda job: job[0])
    for folder in ("raidtui", "benchmarks"):  # as an installation does; compiling would be most of a start
        compileall.compile_dir(trees.CHECKOUT / folder, quiet=2)
    with tempfile.TemporaryDirectory(prefix="raidtui-bench-") as name:
        scratch = Path(name)
        trees.idle(scratch / "idle")
        trees.resync(scratch / "resync")
        if any(case.tree == "big" for _, case, _ in jobs):
            trees.big(scratch / "big")
        for program in warm.values():
            measure(
                program.command(scratch / "idle"),
                replace(WARM_UP, quit_key=program.quit_key),
                env=environment(scratch),
                cwd=trees.CHECKOUT,
            )
        for number, (_, case, program) in enumerate(jobs, start=1):
            say(f"{number}/{len(jobs)} {case.id}: {program.name}")
            with _host(scratch, case.tree) as tree:
                run = measure(
                    program.command(tree),
                    script_for(case, program),
                    env=environment(scratch),
                    cwd=trees.CHECKOUT,
                )
            results.runs[case.id, program.name].append(run)
    return results


def script_for(case: Case, program: Program) -> Script:
    """Return the case's script, with the program's own words and keys."""
    keys = program.keys if case.press else ()
    return replace(case.script, expect=program.expect, keys=keys, quit_key=program.quit_key)


@contextlib.contextmanager
def _host(scratch: Path, tree: str) -> Iterator[Path]:
    """Yield the directory of a case's host, and move the host if the case needs it."""
    if tree != "moving":
        yield scratch / tree
        return
    with trees.moving(scratch / tree):
        yield scratch / tree


def progress(text: str) -> None:
    """Show what is being measured, on one line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
