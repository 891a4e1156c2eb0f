"""Self-tests: what is run, what is said before, and why one is refused."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.features.wear.plan_self_test import plan_abort_self_test, plan_self_test
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool
from raidtui.model.self_test import RunningSelfTest, SelfTestKind, SelfTests
from raidtui.model.smart import NoReading, SmartReading, Unread
from raidtui.model.snapshot import Snapshot
from tests.hosts.kernel import Kernel
from tests.hosts.specs import Syncing, raid1

NVME = "smartctl 7.4 and later run self-tests of NVMe disks that have them"
WAKE = "raidtui never wakes a disk: read something from it, then start the self-test"
SHORT, LONG, CONVEYANCE = SelfTestKind.SHORT, SelfTestKind.LONG, SelfTestKind.CONVEYANCE
IDLE = SelfTests(kinds=(SHORT, LONG), minutes=((SHORT, 2), (LONG, 54)))
BUSY = SelfTests(kinds=(SHORT, LONG), running=RunningSelfTest(left_percent=60))
SAME = (Fact(kind=FactKind.SERIAL, subject="sda", value="S-sda"),)
ABORT = RunTool(argv=("smartctl", "-d", "sat", "-X", "/dev/sda"), why="the self-test is aborted", needs=SAME)


def snapshot(**more: Any) -> Snapshot:
    array = raid1("md1", "boot", members=("sda1", "sdb1"), sync=more.pop("sync", None))
    return Kernel(array, **more).sampler().sample()


def disk(tests: SelfTests | None = IDLE, **known: Any) -> SmartReading:
    return SmartReading(**{"name": "sda", "protocol": "ATA", "kind": "sat", "self_tests": tests, **known})


def refused(found: Plan | Refusal) -> tuple[RefusalCode, str]:
    assert isinstance(found, Refusal)
    return found.code, found.sentence


def test_the_plan_of_a_short_one() -> None:
    assert plan_self_test(snapshot(), disk(), SHORT, "S-sda") == Plan(
        title="short self-test of sda started",
        subject="sda",
        steps=(
            RunTool(
                argv=("smartctl", "-d", "sat", "-t", "short", "/dev/sda"),
                why="the disk checks the electronics and reads a part of the disk",
                needs=SAME,
                undo=(ABORT,),
            ),
        ),
        undo=(ABORT,),
        harm=Harm.HARMLESS,
        warning="Requests are served meanwhile, and more slowly: a self-test costs performance.",
        notes=(
            "The disk reports that it takes 2 min, and longer under load.",
            "sda is a member of boot.",
        ),
    )


def test_what_else_is_said_of_a_long_one() -> None:
    syncing = snapshot(sync=Syncing(action="resync", done_kib=100))
    plan = plan_self_test(syncing, disk(SelfTests(), protocol="SCSI", kind=""), LONG)
    assert isinstance(plan, Plan)
    assert plan.steps[0].argv == ("smartctl", "-t", "long", "/dev/sda")
    assert plan.steps[0].needs == ()
    assert plan.notes == (
        "It does not report how long that takes.",
        "sda is a member of boot.",
        "A sync of boot is under way: both will take longer.",
    )
    alone = plan_self_test(snapshot(), disk(name="sdz"), LONG)
    assert isinstance(alone, Plan)
    assert alone.notes[1:] == ("sdz is a member of no array.",)


def test_the_plan_of_an_abort() -> None:
    assert plan_abort_self_test(snapshot(), disk(BUSY), "S-sda") == Plan(
        title="self-test of sda aborted",
        subject="sda",
        steps=(ABORT,),
        notes=("Its log will record the abort. A new self-test starts from the beginning.",),
    )


@pytest.mark.parametrize(
    ("found", "kind", "code", "sentence"),
    [
        (disk(BUSY), LONG, "busy", "sda runs a self-test, 40 % of it done; wait until it ends, or abort it"),
        (
            disk(SelfTests(running=RunningSelfTest())), SHORT, "busy",
            "sda runs a self-test; wait until it ends, or abort it",
        ),
        (disk(), CONVEYANCE, "unsupported", "sda has no conveyance self-test"),
        (disk(SelfTests(kinds=())), SHORT, "unsupported", "sda has no short self-test"),
        (disk(None), SHORT, "unsupported", "sda reports no self-tests"),
        (
            disk(None, protocol="NVMe"), SHORT, "no-tool",
            f"smartctl reports no self-tests of sda; {NVME}",
        ),
        (
            disk(SelfTests(), protocol="NVMe"), SHORT, "no-tool",
            f"smartctl reports no self-tests of sda; {NVME}",
        ),
        (
            NoReading(name="sda", why=Unread.STANDBY, reason="is asleep (standby) and was not woken"), SHORT,
            "wrong-state", f"sda is asleep (standby) and was not woken; {WAKE}",
        ),
        (
            NoReading(name="sda", why=Unread.NO_TOOL, reason="smartctl is not installed", remedy="apt it"),
            SHORT, "no-tool", "sda: smartctl is not installed; apt it",
        ),
        (
            NoReading(name="sda", why=Unread.TIMEOUT, reason="did not answer"), SHORT, "unknown",
            "sda: did not answer",
        ),
    ],
)  # fmt: skip
def test_refusals(found: SmartReading | NoReading, kind: SelfTestKind, code: str, sentence: str) -> None:
    assert refused(plan_self_test(snapshot(), found, kind)) == (code, sentence)


def test_nothing_to_abort() -> None:
    assert refused(plan_abort_self_test(snapshot(), disk())) == ("nothing-to-do", "sda runs no self-test")


def test_it_needs_root_on_the_host_itself() -> None:
    here = snapshot(writable=False)
    assert refused(plan_self_test(here, disk(), SHORT))[0] in {"not-root", "not-here"}
    assert refused(plan_abort_self_test(here, disk(BUSY)))[0] in {"not-root", "not-here"}
