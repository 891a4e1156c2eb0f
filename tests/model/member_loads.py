"""Minutes of simulated arrays, by a seed: loads with noise, bursts, and reads that md spreads unevenly.

A mean of n requests is drawn from a gamma distribution, as if single requests had twice the spread of an
exponential one. Members of one array differ by up to a quarter for good.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct

from raidtui.model.member_speed import (
    Bar,
    Compared,
    Served,
    SlowMember,
    compare_both,
    slow_member,
)

_SPREAD = 4.0


class Work(Struct):
    """What a member is asked to do in a minute.

    Args:
        reads, writes: requests.
        sectors: of each.
        wait_ms: mean time of each.
        elsewhere: requests of its disk for other partitions.
        once_ms: what a single request takes longer, as one that wakes a disk.
        depth: how many requests are in flight while there are any.
    """

    reads: float
    writes: float
    sectors: int
    wait_ms: float
    elsewhere: int = 0
    once_ms: float = 0.0
    depth: float = 1.0

    def served(self, chance: random.Random) -> Served:
        """Return what the counters say."""
        reads, writes = int(self.reads), int(self.writes)
        read_ms, write_ms = (self._spent_ms(chance, number) for number in (reads, writes))
        return Served(
            reads=reads,
            read_sectors=reads * self.sectors,
            read_ms=int(read_ms + (self.once_ms if reads else 0)),
            writes=writes,
            written_sectors=writes * self.sectors,
            write_ms=int(write_ms),
            busy_ms=int(min(60_000, (read_ms + write_ms) / self.depth + self.once_ms)),
            elsewhere=self.elsewhere,
        )

    def _spent_ms(self, chance: random.Random, number: int) -> float:
        shape = number / _SPREAD
        return number * self.wait_ms * chance.gammavariate(shape, 1 / shape) if number else 0.0


Load = Callable[[random.Random, int], Iterator[list[Work]]]


def _swing(chance: random.Random, deviation: float) -> float:
    return math.exp(chance.gauss(0, deviation))


def database(chance: random.Random, members: int) -> Iterator[list[Work]]:
    """Small random requests on SSDs of a RAID 10; one of them collects garbage for minutes."""
    busy, collects, left = 500.0, 0, 0
    while True:
        busy = min(50_000, max(20, busy * _swing(chance, 0.4)))
        if not left and chance.random() < 0.01:
            collects, left = chance.randrange(members), chance.randint(1, 4)
        left = max(0, left - 1)
        yield [
            Work(busy * _swing(chance, 0.3), busy / 2, 16, 0.4 * (12 if left and each == collects else 1))
            for each in range(members)
        ]


def files(chance: random.Random, members: int) -> Iterator[list[Work]]:
    """A mirror of rotating disks; md lets the nearest one read, and queues grow together in bursts."""
    while True:
        requests, queue = 200 * _swing(chance, 1.2), _swing(chance, 0.8)
        parts = [chance.betavariate(0.5, 0.5) for _ in range(members)]
        yield [Work(requests * part, requests / 3, 64, 9 * queue * _swing(chance, 0.2)) for part in parts]


def backup(chance: random.Random, members: int) -> Iterator[list[Work]]:
    """One member of a mirror streams for hours while the others seek, with requests of one size."""
    streams, left = 0, 0
    while True:
        if not left:
            streams, left = chance.randrange(members), chance.randint(30, 180)
        left -= 1
        yield [
            Work(60_000, 40, 256, 1.5) if each == streams else Work(2500 * _swing(chance, 0.3), 40, 256, 12.0)
            for each in range(members)
        ]


def flushes(chance: random.Random, members: int) -> Iterator[list[Work]]:
    """Parity of rotating disks: the cache is flushed in bursts, and all queues are long then."""
    while True:
        burst = chance.random() < 0.2
        queue = 25 * _swing(chance, 0.5) if burst else 8.0
        number = 4000 if burst else 90
        yield [
            Work(
                number / 3 * _swing(chance, 0.2),
                number * _swing(chance, 0.2),
                128,
                queue * _swing(chance, 0.25),
                depth=16 if burst else 1,
            )
            for _ in range(members)
        ]


def sleepy(chance: random.Random, members: int) -> Iterator[list[Work]]:
    """A host that nearly sleeps: a few requests, and the first member wakes for each."""
    while True:
        wakes = chance.random() < 0.3
        yield [
            Work(chance.randint(5, 60), 2, 32, 10.0, once_ms=8000.0 if wakes and each == 0 else 0.0)
            for each in range(members)
        ]


def neighbour(chance: random.Random, members: int) -> Iterator[list[Work]]:
    """Another partition of the first disk is used for hours, which slows its member."""
    while True:
        for used in (0, 3000):
            for _ in range(chance.randint(60, 400)):
                yield [
                    Work(
                        300 * _swing(chance, 0.3), 100, 32, 40.0 if used and each == 0 else 10.0,
                        elsewhere=used if each == 0 else 0,
                    )
                    for each in range(members)
                ]  # fmt: skip


LOADS: dict[str, tuple[Load, str, bool, int]] = {
    "database": (database, "raid10", False, 4),
    "files": (files, "raid1", True, 2),
    "backup": (backup, "raid1", True, 2),
    "flushes": (flushes, "raid6", True, 6),
    "sleepy": (sleepy, "raid1", True, 2),
    "neighbour": (neighbour, "raid1", True, 2),
}
"""By name: the load, the array's level, whether its disks rotate, and their number."""


def minutes(name: str, seed: int, slower: float = 1.0) -> Iterator[dict[str, Served]]:
    """Yield what the members of an array did, minute by minute; the last one is slower by that factor."""
    load, _, _, members = LOADS[name]
    chance = random.Random(f"{name} {seed}")  # noqa: S311  (a simulation)
    own = [chance.uniform(1, 1.25) for _ in range(members)]
    own[-1] *= slower
    for works in load(chance, members):
        for work, factor in zip(works, own, strict=True):
            work.wait_ms *= factor
        yield {f"sd{'abcdefgh'[at]}": work.served(chance) for at, work in enumerate(works)}


def hours(name: str, seed: int, slower: float = 1.0) -> Iterator[dict[str, Served]]:
    """Yield the sums of each hour."""
    found = minutes(name, seed, slower)
    while True:
        total: dict[str, dict[str, int]] = {}
        for _ in range(60):
            for key, each in next(found).items():
                sums = total.setdefault(key, dict.fromkeys(each.__struct_fields__, 0))
                for field in sums:
                    sums[field] += getattr(each, field)
        yield {key: Served(**sums) for key, sums in total.items()}


def verdicts(
    name: str, stretches: Iterator[dict[str, Served]], number: int, bar: Bar
) -> Iterator[SlowMember | None]:
    """Yield what is said after each of so many stretches."""
    _, level, rotates, _ = LOADS[name]
    found: deque[Compared] = deque(maxlen=4 * bar.stretches)
    for at, done in zip(range(number), stretches, strict=False):
        found.extend(compare_both(done, bar, level=level, rotates=rotates))
        yield slow_member(tuple(found), bar, float(at))
