"""Tools are asked apart, and one that hangs takes nothing with it."""

from __future__ import annotations

from threading import Event, Timer

import pytest

from raidtui.host.readers.host_reader import HostReader
from raidtui.host.stack.device_mapper import STATUS, TABLE
from raidtui.host.stack.lvm_report import LVS
from raidtui.host.tools import ToolOutput
from raidtui.monitor.stack.stack_reader import StackReader
from tests.hosts.stack_host import StackHost


class HangingHost(StackHost):
    """A host whose lvs does not come back before the test's end; any thread may read it."""

    def __init__(self) -> None:
        super().__init__()
        self.end = Event()
        self.asked: list[tuple[str, ...]] = []

    def thread_safe_copy(self) -> HostReader | None:
        return self

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        self.asked.append(argv)
        if argv == LVS:
            self.end.wait()
        return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)


def test_a_tool_that_hangs() -> None:
    """What it would say is not known; everything else is, again and again, and it is not asked again."""
    host = HangingHost()
    reader = StackReader(host, limit_s=0.2)
    try:
        for _ in range(3):
            look = reader.look({}, wait=True)
            stack = look.meter.now
            assert stack.unknown == ("lvs has not answered within 0.2 s: its answer is not known",)
            assert [node.title for node in stack.nodes.values() if node.cache is not None] == [
                "bcache0",
                "vc/slow",
                "vc/wslow",
            ]
            host.work(100.0, {})
        assert host.asked.count(LVS) == 1
        assert host.asked.count(STATUS) == 3
    finally:
        host.end.set()


class SlowHost(HangingHost):
    """A host whose first answer about the state of maps is on its way until ``end``."""

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        if argv == STATUS and argv not in self.asked:
            self.asked.append(argv)
            self.end.wait()
            return StackHost._asked(self, *argv, timeout_s=timeout_s, stdin=stdin)
        return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)


def test_an_answer_that_was_on_its_way_is_not_the_one_that_is_waited_for() -> None:
    """It may be from before a knob was set."""
    host = SlowHost()
    reader = StackReader(host, only_maps=True)
    reader.look({})
    later = Timer(0.2, host.end.set)
    later.start()
    reader.look({}, wait=True)
    later.join()
    assert host.asked.count(STATUS) == 2


class LateHost(HangingHost):
    """A host whose second answer about the state of maps is on its way until ``end``."""

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        output = super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)
        if argv == STATUS and self.asked.count(STATUS) == 2:
            self.end.wait()
        return output


def test_what_was_said_before_is_no_answer_to_what_is_asked_now() -> None:
    """A knob that was set is not called what it was before because the tool has not answered yet."""
    host = LateHost()
    reader = StackReader(host, limit_s=0.2, only_maps=True)

    def thresholds() -> list[int | None]:
        nodes = reader.look({}, wait=True).meter.now.nodes.values()
        return [node.cache.migration_threshold for node in nodes if node.title == "vc/slow" and node.cache]

    try:
        assert thresholds() == [2048]
        assert thresholds() == [None]
    finally:
        host.end.set()


class AskedHost(StackHost):
    """A host that notes which tools were asked."""

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        self.asked.append(argv)
        return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)


@pytest.mark.parametrize(("wait", "times"), [(False, 3), (True, 9)])
def test_tools_are_not_asked_at_every_reading(wait: bool, times: int) -> None:  # noqa: FBT001
    """A page asks for the state of maps every four seconds; who waits for it gets that of the moment."""
    host = AskedHost()
    reader = StackReader(host)
    for _ in range(9):
        reader.look({}, wait=wait)
        host.work(1.0, {})
    assert [host.asked.count(argv) for argv in (TABLE, STATUS, LVS)] == [1, times, 1]


def test_a_new_map_is_asked_for_at_once() -> None:
    host = HangingHost()
    host.end.set()
    reader = StackReader(host)
    reader.look({}, wait=True)
    host.put("/sys/class/block/dm-90/size", "8\n")
    reader.look({}, wait=True)
    assert host.asked.count(TABLE) == 2


def test_a_tool_that_fails() -> None:
    host = StackHost()
    host.put("/.raidtui/run/dmsetup_table.txt", "exit 1\n")
    assert StackReader(host).look({}).meter.now.unknown == (
        "dmsetup table failed with status 1 (no message): its answer is not known",
    )


def test_a_host_without_maps_asks_no_tool() -> None:
    host = HangingHost()
    for name in host.names("/sys/class/block"):
        if name.startswith("dm-"):
            host.drop(f"/sys/class/block/{name}")
    stack = StackReader(host).look({}, wait=True).meter.now
    assert host.asked == []
    assert stack.unknown == ()
    assert "md20" in stack.nodes
