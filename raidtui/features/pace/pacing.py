"""Paces the syncs of some arrays: reads them, asks the controller, lends the limits, until it is ended."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from msgspec.structs import replace

from raidtui.features.pace.array_reader import PaceReader, disks_below
from raidtui.features.pace.controller import PaceGoal, PaceLimits, PaceReading, PaceState, next_limits
from raidtui.host.facts import kernel_name
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lent_limits import LentLimits, LimitsTakenError
from raidtui.jobs.pace_news import forget_news, tell_news
from raidtui.jobs.sync_book import open_book
from raidtui.jobs.undo_record import UndoRecord
from raidtui.model.pace import MINUTES_A_DAY, PacedArray, PaceNews, PaceRequest
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.sync_watch import SyncWatch

SYNCS = frozenset({"resync", "recover", "check", "repair", "reshape"})
_OPEN_PACE_S, _PACE_S, _REST_S = 0.05, 0.25, 1.0
_NEWS_S = 1.0
_LOOK_S, _REST_LOOK_S = 1.0, 5.0
"""How often all arrays are looked at for the record of syncs: while one is paced, and while none is."""
_FAIR = 1.25
"""An array's limit is raised while it is at most so much above the lowest of those that are synced, too."""


class _Paced:
    """One array whose sync runs, with its limits lent."""

    def __init__(
        self, reader: HostReader, record: UndoRecord, array: PacedArray, request: PaceRequest
    ) -> None:
        name = kernel_name(reader, array.uuid) if array.uuid else array.name
        if name is None:
            raise LimitsTakenError("the array was stopped")
        self.array = array
        self.base = f"/sys/class/block/{name}/md"
        self.pace_reader = PaceReader(reader, name, request.latency_ms, request.devices)
        try:
            disks = disks_below(reader, name)
            self.lent = LentLimits(reader, record, name, array.title, disks)
        except LimitsTakenError:
            self.pace_reader.close()
            raise
        self.goal = PaceGoal(
            latency_ms=request.latency_ms,
            full_kib_s=max(1, self.lent.full_kib_s),
            queue=self.lent.queue,
            members=max(1, len(disks)),
        )
        self.state = PaceState()
        self.limits: PaceLimits | None = None
        self.read: PaceReading | None = None
        self.begun: tuple[float, int] | None = None

    def step(self, request: PaceRequest, *, may_raise: bool, now_s: float, full: bool) -> None:
        """Read, decide, write.

        Raises:
            LimitsTakenError: someone else has set a limit, or the array is gone.
        """
        read = self.pace_reader.read(probes=not self.state.open)
        left_s = request.by_s - now_s if request.by_s is not None else None
        self.read = replace(read, left_s=left_s, full=full, may_raise=may_raise)
        self.state, self.limits = next_limits(self.goal, self.state, self.read)
        self.lent.set(self.limits.min_kib_s, self.limits.max_kib_s, self.limits.queue)
        if self.begun is None and read.left_kib is not None:
            self.begun = (read.clock_s, read.left_kib)

    def left_s(self) -> float | None:
        """Return how long the rest takes at the mean speed so far; None: not known."""
        if self.begun is None or self.read is None or self.read.left_kib is None:
            return None
        took_s, done = self.read.clock_s - self.begun[0], self.begun[1] - self.read.left_kib
        return took_s * self.read.left_kib / done if done > 0 and took_s >= 10.0 else None


class Pacing:
    """Paces the arrays of a request.

    Args:
        reader: the live host.
        record: of the host.
        request: what is to be held.
        say: receives what happens, a sentence each.
        news: completes what is kept for whoever shows it: the process and the job.
    """

    def __init__(
        self,
        reader: HostReader,
        record: UndoRecord,
        request: PaceRequest,
        say: Callable[[str], None],
        news: Callable[[PacedArray], PaceNews],
    ) -> None:
        self._reader, self._record, self._request = reader, record, request
        self._say, self._news = say, news
        self._paced: dict[PacedArray, _Paced] = {}
        self._left: dict[PacedArray, str] = {}
        """Arrays that are left alone, and why."""
        self._told_s = 0.0
        self._looked_s = float("-inf")
        self._unkept = ""
        self._sampler = Sampler(reader)
        self._watch = SyncWatch(reader, open_book(live=reader.live, writable=reader.writable), keeps=True)

    def run(self, ended: Callable[[], bool]) -> str:
        """Pace until all syncs have ended, or until that is asked; return why it gave up, or ""."""
        try:
            while not ended():
                self._look()
                for array in self._request.arrays:
                    self._turn(array)
                if not self._paced and not self._request.stays:
                    break
                self._tell()
                time.sleep(self._pace_s())
        finally:
            for array in tuple(self._paced):
                self._give_back(array)
            for array in self._request.arrays:
                forget_news(array)
            self._look(now=True)
            self._watch.close()
        return "; ".join(f"{array.title}: {why}" for array, why in self._left.items())

    def _look(self, *, now: bool = False) -> None:
        """Keep the record of syncs, as the console does: how a check ended is known to who watched it."""
        clock_s = time.monotonic()
        if now or clock_s - self._looked_s >= (_LOOK_S if self._paced else _REST_LOOK_S):
            self._looked_s = clock_s
            self._watch.see(self._sampler.sample())
            if (trouble := self._watch.trouble) != self._unkept:
                self._unkept = trouble
                self._say(trouble)

    def _pace_s(self) -> float:
        if not self._paced:
            return _REST_S
        return _OPEN_PACE_S if any(each.state.open for each in self._paced.values()) else _PACE_S

    def _turn(self, array: PacedArray) -> None:
        """Take an array's limits when its sync begins, move them while it runs, give them back after it."""
        paced = self._paced.get(array)
        try:
            if paced is None:
                syncs = self._syncs(array)
                if syncs and array not in self._left:
                    self._paced[array] = _Paced(self._reader, self._record, array, self._request)
                elif not syncs and self._request.stays:
                    self._left.pop(array, None)  # it is left alone for this sync, not for the next one
                return
            if self._reader.text(f"{paced.base}/sync_action") not in SYNCS:
                self._give_back(array)
                return
            now_s = self._reader.now_s()
            at = time.localtime(now_s)
            minute = (60 * at.tm_hour + at.tm_min) % MINUTES_A_DAY
            full = any(window.has(minute) for window in self._request.windows)
            paced.step(self._request, may_raise=self._may_raise(paced), now_s=now_s, full=full)
        except (LimitsTakenError, OSError) as error:
            why = str(error) if isinstance(error, LimitsTakenError) else f"{error.filename}: {error.strerror}"
            self._left[array] = why
            self._give_back(array, f"{array.title} is left alone: {why}")

    def _syncs(self, array: PacedArray) -> bool:
        name = kernel_name(self._reader, array.uuid) if array.uuid else array.name
        return self._reader.text(f"/sys/class/block/{name}/md/sync_action") in SYNCS

    def _may_raise(self, paced: _Paced) -> bool:
        """Whether it is an array's turn: none of those that are synced, too, has less by far."""
        held = [each.state.limit_kib_s for each in self._paced.values() if not each.state.open]
        return paced.state.limit_kib_s <= _FAIR * min(held, default=0) or len(held) < 2

    def _give_back(self, array: PacedArray, why: str = "") -> None:
        """Give an array's limits back, and say so: a full disk, where that fails, keeps nothing from it."""
        paced = self._paced.pop(array, None)
        said = [why] if why else []
        if paced is not None:
            paced.pace_reader.close()
            said.append(paced.lent.give_back())
        with contextlib.suppress(OSError):
            for sentence in said:
                self._say(sentence)

    def _tell(self) -> None:
        now_s = time.monotonic()
        if now_s - self._told_s < _NEWS_S:
            return
        self._told_s = now_s
        for array in self._request.arrays:
            paced = self._paced.get(array)
            news = replace(self._news(array), at_s=self._reader.now_s(), trouble=self._left.get(array, ""))
            if paced is not None and paced.limits is not None and paced.read is not None:
                news = replace(
                    news,
                    latency_ms=paced.state.latency_ms,
                    limit_kib_s=paced.limits.max_kib_s,
                    floor_kib_s=paced.limits.min_kib_s,
                    full_kib_s=paced.goal.full_kib_s,
                    queue=paced.limits.queue,
                    why=paced.limits.why,
                    speed_kib_s=paced.pace_reader.speed_kib_s,
                    left_s=paced.left_s(),
                    trouble=paced.pace_reader.trouble,
                )
            tell_news(news)
