"""Self-tests: what is run, what is said before, and why one is refused."""

from __future__ import annotations

from typing import Any

from raidtui.features.wear.plan_self_test import plan_abort_self_test, plan_self_test
from raidtui.model.plan import Plan, Refusal
from raidtui.model.self_test import RunningSelfTest, SelfTestKind, SelfTests
from raidtui.model.smart import NoReading, SmartReading, Unread
from raidtui.model.snapshot import Snapshot
from tests.hosts.kernel import Kernel
from tests.hosts.specs import Syncing, raid1
from tests.plans.goldens import accepted

SHORT, LONG, CONVEYANCE = SelfTestKind.SHORT, SelfTestKind.LONG, SelfTestKind.CONVEYANCE
IDLE = SelfTests(kinds=(SHORT, LONG), minutes=((SHORT, 2), (LONG, 54)))
BUSY = SelfTests(kinds=(SHORT, LONG), running=RunningSelfTest(left_percent=60))


def snapshot(**more: Any) -> Snapshot:
    array = raid1("md1", "boot", members=("sda1", "sdb1"), sync=more.pop("sync", None))
    return Kernel(array, **more).sampler().sample()


def disk(tests: SelfTests | None = IDLE, **known: Any) -> SmartReading:
    return SmartReading(**{"name": "sda", "protocol": "ATA", "kind": "sat", "self_tests": tests, **known})


def start(
    found: SmartReading | NoReading, kind: SelfTestKind = SHORT, serial: str = "", **more: Any
) -> Plan | Refusal:
    return plan_self_test(snapshot(**more), found, kind, *((serial,) if serial else ()))


def unread(why: Unread, reason: str, remedy: str = "") -> NoReading:
    return NoReading(name="sda", why=why, reason=reason, remedy=remedy)


SCSI = disk(SelfTests(), protocol="SCSI", kind="")
test_plans = accepted(
    {
        "short": lambda: start(disk(), SHORT, "S-sda"),
        "long, in a resync": lambda: start(SCSI, LONG, sync=Syncing(action="resync", done_kib=100)),
        "long, of no member": lambda: start(disk(name="sdz"), LONG),
        "abort": lambda: plan_abort_self_test(snapshot(), disk(BUSY), "S-sda"),
        "abort: refused, none runs": lambda: plan_abort_self_test(snapshot(), disk()),
        "abort: refused, not root": lambda: plan_abort_self_test(snapshot(writable=False), disk(BUSY)),
        "refused: one runs": lambda: start(disk(BUSY), LONG),
        "refused: one runs, who knows how long": lambda: start(disk(SelfTests(running=RunningSelfTest()))),
        "refused: no conveyance": lambda: start(disk(), CONVEYANCE),
        "refused: no short one": lambda: start(disk(SelfTests(kinds=()))),
        "refused: none": lambda: start(disk(None)),
        "refused: none of NVMe": lambda: start(disk(None, protocol="NVMe")),
        "refused: no kind of NVMe": lambda: start(disk(SelfTests(), protocol="NVMe")),
        "refused: asleep": lambda: start(unread(Unread.STANDBY, "is asleep (standby) and was not woken")),
        "refused: no smartctl": lambda: start(unread(Unread.NO_TOOL, "smartctl is not installed", "apt it")),
        "refused: no answer": lambda: start(unread(Unread.TIMEOUT, "did not answer")),
        "refused: not root": lambda: start(disk(), writable=False),
    }
)
