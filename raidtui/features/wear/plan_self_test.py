"""Self-tests: the plan that starts one on a disk, or aborts the one that runs (smartctl(8), -t and -X).

A disk tests itself in its background: it serves all requests meanwhile, and puts the test off for them.
"""

from __future__ import annotations

from raidtui.model.array import Array
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.self_test import SelfTestKind, SelfTests
from raidtui.model.smart import NoReading, SmartReading, Unread, smart_node
from raidtui.model.snapshot import Snapshot
from raidtui.plans.target import needs_root
from raidtui.view.units import duration, joined

STARTABLE = (SelfTestKind.SHORT, SelfTestKind.LONG, SelfTestKind.CONVEYANCE)
_NVME_SINCE = "smartctl 7.4 and later run self-tests of NVMe disks that have them"
_COVERS = {
    SelfTestKind.SHORT: "checks the electronics and reads a part of the disk",
    SelfTestKind.LONG: "reads the whole disk",
    SelfTestKind.CONVEYANCE: "looks for damage done in transport",
}


def plan_self_test(
    snapshot: Snapshot, disk: SmartReading | NoReading, kind: SelfTestKind, identity: str = ""
) -> Plan | Refusal:
    """Return the plan that starts a self-test.

    Args:
        snapshot: the arrays.
        disk: what the disk reports now.
        identity: ``Disk.identity``, by which the disk is recognized again right before.
        kind: short, long or conveyance.
    """
    found = _reported(snapshot, disk)
    if isinstance(found, Refusal):
        return found
    reading, tests = found
    if tests.running is not None:
        left = tests.running.left_percent
        words = "" if left is None else f", {100 - left} % of it done"
        why = f"{reading.name} runs a self-test{words}"
        return Refusal(code=RefusalCode.BUSY, why=why, remedy="wait until it ends, or abort it")
    if tests.kinds is None and reading.protocol == "NVMe":
        why = f"smartctl reports no self-tests of {reading.name}"
        return Refusal(code=RefusalCode.NO_TOOL, why=why, remedy=_NVME_SINCE)
    kinds = (SelfTestKind.SHORT, SelfTestKind.LONG) if tests.kinds is None else tests.kinds
    if kind not in kinds:
        return Refusal(code=RefusalCode.UNSUPPORTED, why=f"{reading.name} has no {kind.value} self-test")
    minutes = tests.minutes_of(kind)
    takes = "It does not report how long that takes."
    if minutes is not None:
        takes = f"The disk reports that it takes {duration(minutes * 60)}, and longer under load."
    arrays = [each for each in snapshot.arrays if _lies_on(each, snapshot, reading.name)]
    start = RunTool(
        argv=_argv(reading, "-t", kind.value),
        why=f"the disk {_COVERS[kind]}",
        needs=_same(reading, identity),
        undo=(_abort(reading, identity),),
    )
    return Plan(
        title=f"{kind.value} self-test of {reading.name} started",
        subject=reading.name,
        steps=(start,),
        undo=start.undo,
        warning="Requests are served meanwhile, and more slowly: a self-test costs performance.",
        notes=(takes, *_array_notes(arrays, reading.name)),
    )


def plan_abort_self_test(
    snapshot: Snapshot, disk: SmartReading | NoReading, identity: str = ""
) -> Plan | Refusal:
    """Return the plan that aborts the self-test that a disk runs; see ``plan_self_test``."""
    found = _reported(snapshot, disk)
    if isinstance(found, Refusal):
        return found
    reading, tests = found
    if tests.running is None:
        return NothingToDo(why=f"{reading.name} runs no self-test")
    return Plan(
        title=f"self-test of {reading.name} aborted",
        subject=reading.name,
        steps=(_abort(reading, identity),),
        notes=("Its log will record the abort. A new self-test starts from the beginning.",),
    )


def _reported(snapshot: Snapshot, disk: SmartReading | NoReading) -> tuple[SmartReading, SelfTests] | Refusal:
    if refusal := needs_root(snapshot):
        return refusal
    if isinstance(disk, NoReading):
        if disk.why in {Unread.STANDBY, Unread.POWER_UNKNOWN}:
            remedy = "raidtui never wakes a disk: read something from it, then start the self-test"
            return Refusal(code=RefusalCode.WRONG_STATE, why=f"{disk.name} {disk.reason}", remedy=remedy)
        code = RefusalCode.NO_TOOL if disk.why is Unread.NO_TOOL else RefusalCode.UNKNOWN
        return Refusal(code=code, why=f"{disk.name}: {disk.reason}", remedy=disk.remedy)
    if disk.self_tests is None:
        if disk.protocol == "NVMe":
            why = f"smartctl reports no self-tests of {disk.name}"
            return Refusal(code=RefusalCode.NO_TOOL, why=why, remedy=_NVME_SINCE)
        return Refusal(code=RefusalCode.UNSUPPORTED, why=f"{disk.name} reports no self-tests")
    return disk, disk.self_tests


def _lies_on(array: Array, snapshot: Snapshot, name: str) -> bool:
    disks = (snapshot.disks.get(member.name) for member in array.members)
    return any(disk is not None and disk.disk == smart_node(name) for disk in disks)


def _array_notes(arrays: list[Array], name: str) -> tuple[str, ...]:
    if not arrays:
        return (f"{name} is not a member of an array.",)
    notes = [f"{name} is a member of {joined([each.title for each in arrays])}."]
    if syncing := [each.title for each in arrays if each.sync is not None]:
        notes.append(f"A sync of {joined(syncing)} is under way: both will take longer.")
    return tuple(notes)


def _abort(reading: SmartReading, identity: str) -> Step:
    return RunTool(argv=_argv(reading, "-X"), why="the self-test is aborted", needs=_same(reading, identity))


def _argv(reading: SmartReading, *words: str) -> tuple[str, ...]:
    kind = ("-d", reading.kind) if reading.kind else ()
    return ("smartctl", *kind, *words, f"/dev/{smart_node(reading.name)}")


def _same(reading: SmartReading, identity: str) -> tuple[Fact, ...]:
    return (Fact(kind=FactKind.SERIAL, subject=smart_node(reading.name), value=identity),) if identity else ()
