"""Mutants of plans, journals, undo records and fleet answers: none is taken that its maker did not write.

What is taken means what its maker wrote: the same plan, entries of the same journal, the same record. A host
of a fleet speaks for itself, so that its answer is only held to its form. Nothing ends with an unexpected
exception. A round makes EACH mutants of every kind: a hundred rounds are a hundred thousand of each.
"""

import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct

from raidtui.features.fleet.answers import FleetState, row_of
from raidtui.features.fleet.fleet_lines import fleet_dict, text_lines
from raidtui.features.fleet.hosts import FleetHost
from raidtui.jobs.lock import JobError
from raidtui.jobs.plan_file import load_plan
from raidtui.jobs.store import Job
from raidtui.jobs.undo_record import BOOT_ID, UndoPlace, UndoRecord, WrittenValue
from raidtui.model.plan import Harm, Plan, RunTool, Write
from tests.features.fleet.sayings import NOW_S, array, finding, resync, saying
from tests.hosts.tune_host import TuneHost
from tests.torture.mutated import in_time, mutated, plans_of_demo

EACH = 1000
_HOST = TuneHost(files={BOOT_ID: "0a0b"})
_SCHEDULER = "/sys/class/block/sda/queue/scheduler"


class Kind(Struct, frozen=True, kw_only=True):
    """What is mutated.

    Args:
        made: as its maker wrote it.
        wrong: what is wrong about what is taken of a mutant; "" where it is refused, or means the same.
    """

    made: Callable[[], Sequence[bytes]]
    wrong: Callable[[bytes, bytes], str]


def round_of(seed: int) -> None:
    """Make mutants of every kind. Raises as ``mutate``."""
    dice = random.Random(seed)
    for name in KINDS:
        mutate(name, dice, EACH)


def mutate(name: str, dice: random.Random, times: int) -> None:
    """Make mutants of a kind.

    Raises:
        AssertionError: one was taken; the error has it.
        Exception: one ended otherwise than refused; a note has it.
    """
    kind = KINDS[name]
    for _ in range(times):
        original = dice.choice(kind.made())
        mutant = mutated(dice, original, kind.made())
        try:
            with in_time():
                wrong = kind.wrong(original, mutant)
        except Exception as error:
            error.add_note(f"{name}: {mutant[:4000]!r}")
            raise
        assert not wrong, f"{name}: {wrong}: {mutant[:4000]!r}"


# -- plans


def _plan_wrong(original: bytes, mutant: bytes) -> str:
    del original
    try:
        found = load_plan(mutant)
    except JobError:
        return ""
    return "" if found in _loaded() else "taken as another plan"


@cache
def _loaded() -> list[object]:
    return [load_plan(each) for each in plans_of_demo()]


# -- journals


@cache
def _journals() -> tuple[bytes, ...]:
    step = RunTool(argv=("mdadm", "--stop", "/dev/md127"), why="x")
    plan = Plan(title="stop: data", subject="data", steps=(step, step), harm=Harm.REDUCES)
    with TemporaryDirectory() as folder:
        job = Job.create(plan, host="nas", folder=Path(folder))
        job.note_work()
        for number in range(len(plan.steps)):
            job.note(event="begin", step=number, command=step.command)
            job.note(event="output", text='mdadm: "stopped", \\"sum\\": \'x\'\n')
            job.note(event="step done", step=number)
        job.note(event="undo", of=1, command="x")
        job.note(event="undone", step=1)
        job.note(event="failed", reason="why")
        return ((job.folder / "journal.jsonl").read_bytes(),)


@cache
def _job() -> tuple[TemporaryDirectory[str], Job]:
    folder = TemporaryDirectory()
    return folder, Job(Path(folder.name))


def _entries(data: bytes) -> list[str]:
    _, job = _job()
    (job.folder / "journal.jsonl").write_bytes(data)
    return [repr(entry) for entry in job.entries()]


def _journal_wrong(original: bytes, mutant: bytes) -> str:
    more = set(_entries(mutant)) - set(_entries(original))
    return f"taken as entries: {more}" if more else ""


# -- the record of undo


@cache
def _records() -> tuple[bytes, ...]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run" / "tune.json"
        record = UndoRecord(_HOST, path)
        for before, value in (("mq-deadline", "none"), ("none", "bfq")):
            undo = Plan(title="back", subject="sda", steps=(Write(path=_SCHEDULER, text=before, why="back"),))
            written = WrittenValue(path=_SCHEDULER, before=before, value=value)
            record.note(undo, (written,), UndoPlace.TUNE)
        return (path.read_bytes(),)


def _undone_by(data: bytes) -> list[object]:
    path = _job()[1].folder / "tune.json"
    path.write_bytes(data)
    return [msgspec.to_builtins(entry) for entry in UndoRecord(_HOST, path).load()]


def _record_wrong(original: bytes, mutant: bytes) -> str:
    return "taken as another record" if _undone_by(mutant) not in ([], _undone_by(original)) else ""


# -- answers of hosts


@cache
def _answers() -> tuple[bytes, ...]:
    syncing = saying(array(), array("two", sync=resync(0.5, 60.0)))
    failed = saying(array(health="failed"), status=2, findings=[finding("failed", "data has failed")])
    return tuple(each.encode() for each in (syncing, failed))


def _answer_wrong(original: bytes, mutant: bytes) -> str:
    del original
    row = row_of(FleetHost(name="a"), mutant, at_s=NOW_S, took_s=1.0)
    lines = text_lines([row])
    msgspec.json.encode(fleet_dict([row], at_s=NOW_S, status=0))
    if row.state is FleetState.NO_ANSWER and row.answer is not None:
        return "an answer and none"
    shown = "".join(lines)
    return "" if all(char.isprintable() or char == " " for char in shown) else "control characters are shown"


KINDS = {
    "plan": Kind(made=plans_of_demo, wrong=_plan_wrong),
    "journal": Kind(made=_journals, wrong=_journal_wrong),
    "record of undo": Kind(made=_records, wrong=_record_wrong),
    "fleet answer": Kind(made=_answers, wrong=_answer_wrong),
}
