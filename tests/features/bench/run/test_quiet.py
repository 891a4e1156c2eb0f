"""Whether the machine is quiet: what counts as noise, and what does not."""

from __future__ import annotations

import pytest

from raidtui.features.bench.place import Place
from raidtui.features.bench.run.quiet import LoadCounters, between, noise
from raidtui.model.disk import DiskIo
from tests.features.bench.host import DISKS, Host

PLACE = Place(device="md127", disks=DISKS, members=DISKS, arrays=("md127",))


def io(sectors: int = 0, requests: int = 0) -> DiskIo:
    return DiskIo(
        reads=requests, read_sectors=sectors, read_ms=0, writes=0, written_sectors=0, write_ms=0, busy_ms=0
    )


@pytest.mark.parametrize(
    ("busy", "sectors", "requests", "found"),
    [
        (0, 0, 0, ()),
        (50, 3900, 38, ()),  # 25 % of 200 ticks; a log and a journal
        (51, 0, 0, ("the processors are 26 % busy",)),
        (0, 3908, 1, ("sda does 1.0 MB/s, 0 requests/s",)),
        (0, 100, 50, ("sda does 0.026 MB/s, 25 requests/s",)),
        (200, 200_000, 800, ("the processors are 100 % busy", "sda does 51.2 MB/s, 400 requests/s")),
    ],
)
def test_between_two_looks(busy: int, sectors: int, requests: int, found: tuple[str, ...]) -> None:
    """Over two seconds, on one processor."""
    before = LoadCounters(at_s=10.0, busy=1000, total=9000, io={"sda": io(7, 7)})
    after = LoadCounters(
        at_s=12.0,
        busy=1000 + busy,
        total=9200,
        io={"sda": io(7 + sectors, 7 + requests), "sdz": io(1 << 40, 0)},
    )
    assert between(before, after) == found


def test_what_the_kernel_does_not_say_is_no_noise() -> None:
    assert between(LoadCounters(at_s=0.0), LoadCounters(at_s=1.0)) == ()
    assert (
        between(LoadCounters(at_s=1.0, io={"sda": io()}), LoadCounters(at_s=1.0, io={"sda": io(9999, 99)}))
        == ()
    )


class Busy(Host):
    """A host whose processors and disk are busy for so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks, self.count = looks * 2, 0

    def text(self, path: str, *, keep: bool = False) -> str | None:
        if path == "/proc/stat":
            self.count += 1
            busy = min(self.count, self.looks) * 100
            return f"cpu  {busy} 0 0 {self.count * 100 - busy} 0 0 0 0 0 0\n"
        return super().text(path, keep=keep)


def test_a_burst_is_no_noise() -> None:
    """It looks again, four times at most; before each run once."""
    burst = Busy(looks=2)
    assert (noise(burst, PLACE), burst.count) == ((), 6)
    lasting = Busy(looks=99)
    assert (noise(lasting, PLACE), lasting.count) == (("the processors are 100 % busy",), 8)
    assert noise(Busy(looks=1), PLACE, looks=1) == ("the processors are 100 % busy",)


def test_a_quiet_host(host: Host) -> None:
    assert noise(host, PLACE) == ()
