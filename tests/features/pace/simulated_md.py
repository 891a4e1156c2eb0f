"""md's throttle and an array that waits for it, simulated: md_do_sync with its marks, as of Linux 6.1."""

from collections import deque

from msgspec.structs import replace

from raidtui.features.pace.controller import PaceGoal, PaceLimits, PaceReading, PaceState, next_limits

STEP_S = 0.05
MARK_STEP_S, MARKS = 3.0, 10  # SYNC_MARK_STEP, SYNC_MARKS
SLEEP_S = 0.5
BASE_MS = 3.0
KIB_A_PLACE = 128  # of four members' queues, two copies
LONG_QUEUE = 256


class SimulatedMd:
    """A sync of an array: what md does within its limits, and what a request waits for it.

    Args:
        disks_kib_s: the speed of the disks.
        total_kib: what is to be synced.
        flight_kib: what md sends before it waits, if the members' queues take it: 32 MiB for RAID 10.
    """

    def __init__(
        self, disks_kib_s: int = 32_000, total_kib: int = 1 << 40, flight_kib: int = 32 << 10
    ) -> None:
        self.disks_kib_s, self.total_kib, self.flight_kib = disks_kib_s, total_kib, flight_kib
        self.clock_s, self.done = 0.0, 0.0
        self._marks = deque([(0.0, 0.0)], maxlen=MARKS)
        self._sleeps_until_s = 0.0
        self._flight = 0.0

    def go_on(self, max_kib_s: int, queue: int = LONG_QUEUE) -> None:
        """Go on for a step. What is under way does not count for the mean (recovery_active)."""
        self.clock_s += STEP_S
        room = min(self.flight_kib, queue * KIB_A_PLACE)
        most = self.disks_kib_s * STEP_S
        asleep = self.clock_s < self._sleeps_until_s
        if self.clock_s - self._marks[-1][0] >= MARK_STEP_S and not asleep:
            self._marks.append((self.clock_s, self.done))
        while most > 0 and (self._flight or not asleep):
            if not asleep:
                mark_s, mark = self._marks[0]
                if (self.done - mark) / (int(self.clock_s - mark_s) + 1) > max_kib_s:
                    self._sleeps_until_s, asleep = self.clock_s + SLEEP_S, True
                else:
                    self._flight = max(self._flight, min(room, self.total_kib - self.done))
            does = min(most, self._flight)
            if not does:
                break
            self._flight, self.done, most = self._flight - does, self.done + does, most - does

    def waits_ms(self) -> float:
        """Return what a request takes now: md's requests before it have to be done."""
        return BASE_MS + 1000 * self._flight / self.disks_kib_s


class Run:
    """The controller on a simulated array.

    Args:
        md: the array.
        goal: what is to be held.
    """

    def __init__(self, md: SimulatedMd, goal: PaceGoal) -> None:
        self.md, self.goal, self.state = md, goal, PaceState()
        self.limits = PaceLimits(min_kib_s=1, max_kib_s=256, why=next_limits(goal, self.state, at(0))[1].why)
        self.waited_ms: list[float] = []
        self._speeds: deque[tuple[float, float]] = deque()
        self._debt = 0.0

    def go_on(self, seconds: float, *, a_second: float, **more: object) -> None:
        """Let an application send so many requests a second for some seconds."""
        for number in range(round(seconds / STEP_S)):
            self.md.go_on(self.limits.max_kib_s, self.limits.queue or LONG_QUEUE)
            self._debt += a_second * STEP_S
            sent, self._debt = int(self._debt), self._debt - int(self._debt)
            self.waited_ms += [self.md.waits_ms() for _ in range(sent)]
            self._speeds.append((self.md.clock_s, self.md.done))
            while self._speeds[0][0] < self.md.clock_s - 30.0:
                self._speeds.popleft()
            probes = (self.md.waits_ms(),) if number % 4 == 0 and not self.state.open else ()
            read = PaceReading(
                clock_s=self.md.clock_s,
                requests=sent,
                waits_ms=probes,
                left_kib=int(self.md.total_kib - self.md.done),
            )
            self.state, self.limits = next_limits(self.goal, self.state, replace(read, **more))

    @property
    def speed_kib_s(self) -> float:
        """Return the speed of the last half minute."""
        (first_s, first), (last_s, last) = self._speeds[0], self._speeds[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else 0.0

    def share_above(self, target_ms: float) -> float:
        """Return the share of the application's requests that took longer, and forget them."""
        waited, self.waited_ms = self.waited_ms, []
        return sum(ms > target_ms for ms in waited) / len(waited)


def at(clock_s: float, **more: object) -> PaceReading:
    """Return a reading."""
    return replace(PaceReading(clock_s=clock_s), **more)
