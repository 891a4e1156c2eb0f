"""A demo host with a clock that the test moves."""

from __future__ import annotations

from dataclasses import dataclass, field

from raidtui.demo.demo_host import DemoReader, demo_root
from raidtui.host.md.mdstat import Mdstat, MdstatArray, parse_mdstat
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.events import diff
from raidtui.monitor.health import judge
from raidtui.monitor.sampler import Sampler

EPOCH_S = 1_750_000_000.0
DATA, ROOT, VM, SCRATCH = (f"/sys/class/block/md{number}/md" for number in (127, 126, 125, 124))
SYSTEM = "/proc/sys/dev/raid"


@dataclass
class Clock:
    """Seconds that pass when the test says so. It does not begin at 0."""

    at_s: float = 5000.0

    def __call__(self) -> float:
        return self.at_s


@dataclass
class Scene:
    """The root, its clock, and readings of it."""

    clock: Clock = field(default_factory=Clock)
    seed: int = 1

    def __post_init__(self) -> None:
        self.reader: DemoReader = demo_root(
            clock=self.clock, now=lambda: EPOCH_S + self.clock.at_s - 5000.0, seed=self.seed
        )
        self.sampler = Sampler(self.reader, clock=self.clock)

    def go(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.at_s += seconds
        self.reader.tick()

    def mdstat(self) -> Mdstat:
        """The parsed /proc/mdstat."""
        return parse_mdstat(self.reader.read("/proc/mdstat").decode())

    def array(self, name: str) -> MdstatArray:
        """One array's lines."""
        return next(each for each in self.mdstat().arrays if each.name == name)

    def done_kib(self, name: str) -> int:
        """How far a sync is."""
        sync = self.array(name).sync
        assert sync is not None
        assert sync.done_kib is not None
        return sync.done_kib

    def events(self, seconds: int) -> list[tuple[int, str, str]]:
        """What the snapshots of the next ``seconds`` report: (second, subject, text)."""
        reported: list[tuple[int, str, str]] = []
        old: Snapshot = self.sampler.sample()
        for second in range(1, seconds + 1):
            self.clock.at_s += 1
            new = self.sampler.sample()
            reported += [
                (second, event.subject, event.text) for event in diff(old, new, judge(old), judge(new))
            ]
            old = new
        return reported
