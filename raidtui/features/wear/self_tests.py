"""What is asked of a disk before a self-test is started or aborted."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.wear.plan_self_test import plan_abort_self_test, plan_self_test
from raidtui.host.block import BLOCK, read_identity
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.smart.smart_names import has_smart
from raidtui.host.smart.smart_reader import TIMEOUT_S, read_smart
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.self_test import RunningSelfTest, SelfTestKind, SelfTests
from raidtui.model.smart import NoReading, SmartReading, smart_node
from raidtui.model.snapshot import Snapshot

ABORT = "abort"
_VERDICTS = {
    "PASS": "the disk's own verdict is PASSED",
    "WARN": "the disk's own verdict is PASSED; an attribute was at its threshold once",
    "FAIL": "the disk's own verdict is FAILED",
}


class SelfTestDisk(Struct, frozen=True, kw_only=True):
    """A disk as it is right before a self-test is started or aborted.

    Args:
        reading: what smartctl reports, completed by what pySMART knows.
        identity: ``Disk.identity``.
        verdict: the disk's own verdict in words; "" where it gives none.
        trouble: why pySMART could not be asked, if so.
    """

    reading: SmartReading | NoReading
    identity: str = ""
    verdict: str = ""
    trouble: str = ""

    def plan(self, snapshot: Snapshot, what: str) -> Plan | Refusal:
        """Return the plan that starts a self-test (short, long, conveyance) or aborts the one that runs."""
        if what == ABORT:
            return plan_abort_self_test(snapshot, self.reading, self.identity)
        return plan_self_test(snapshot, self.reading, SelfTestKind(what), self.identity)


def read_self_test_disk(reader: HostReader, name: str, timeout_s: float = TIMEOUT_S) -> SelfTestDisk:
    """Ask a disk about its self-tests. One that is asleep is not woken.

    Args:
        reader: the host; pySMART is asked on a live one alone.
        name: the kernel's name of a whole disk.
        timeout_s: how long each smartctl may take.
    """
    reading, identity = read_smart(reader, name, timeout_s), read_identity(reader, smart_node(name)).identity
    if not reader.live or isinstance(reading, NoReading):
        return SelfTestDisk(reading=reading, identity=identity)
    from raidtui.host.smart.pysmart import PysmartError, ask_disk, scan_devices  # noqa: PLC0415  (50 to 100 ms)

    try:
        if not reading.kind:
            kinds = {each.path: each.kind for each in scan_devices(reader, timeout_s)}
            reading = replace(reading, kind=kinds.get(f"/dev/{name}", ""))
        answer = ask_disk(reader, smart_node(name), reading.kind, timeout_s)
    except PysmartError as error:
        return SelfTestDisk(reading=reading, identity=identity, trouble=str(error))
    if answer.running:
        reading = _running(reading, answer.left_percent)
    verdict = _VERDICTS.get(answer.verdict, "")
    return SelfTestDisk(reading=reading, identity=identity, verdict=verdict)


def read_self_test_plan(reader: HostReader, snapshot: Snapshot, name: str, what: str) -> Plan | Refusal:
    """Ask a disk, and return the plan that starts a self-test on it or aborts the one that runs.

    Args:
        reader: the host.
        snapshot: its arrays.
        name: the kernel's name of a device.
        what: short, long, conveyance or abort.
    """
    node = f"{BLOCK}/{name.replace('/', '!')}"
    if reader.text(f"{node}/size") is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why=f"there is no disk {name}")
    if reader.text(f"{node}/partition") is not None or not has_smart(name):
        why = f"{name} is not a whole disk with SMART data"
        return Refusal(code=RefusalCode.INVALID, why=why)
    return read_self_test_disk(reader, name).plan(snapshot, what)


def _running(reading: SmartReading, left_percent: int | None) -> SmartReading:
    """Complete a reading by a self-test that runs: smartctl's JSON does not say how far a SCSI disk's is."""
    tests = reading.self_tests or SelfTests()
    now = tests.running or RunningSelfTest(left_percent=left_percent)
    if now.left_percent is None:
        now = replace(now, left_percent=left_percent)
    return replace(reading, self_tests=replace(tests, running=now))
