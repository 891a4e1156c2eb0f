"""What a front end holds of one host: its watch, and lazily its wear, knobs and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, cast

from raidtui.host.readers.host_reader import HostReader
from raidtui.session.shell import Shell
from raidtui.session.watch import Report
from raidtui.session.watch_loop import WatchLoop

if TYPE_CHECKING:
    from raidtui.session.advice import AdviceSession
    from raidtui.session.bench import BenchSession
    from raidtui.session.played_jobs import PlayedJobs
    from raidtui.session.pull import PullSession
    from raidtui.session.stack import StackSession
    from raidtui.session.timeline import TimelineSession
    from raidtui.session.tuning import TuneSession
    from raidtui.session.wear import WearSession


class Session:
    """One host in a front end; another host is another session.

    Args:
        root: the host.
        shell: the front end.
        on_report: called in the event loop with each report that shows something new.
        on_trouble: called with a sentence when something that runs in the background fails.
        ratings: the makers' ratings in bytes, by the beginning of a model's name.
    """

    def __init__(
        self,
        root: HostReader,
        shell: Shell,
        *,
        on_report: Callable[[Report], None],
        on_trouble: Callable[[str], None],
        ratings: Mapping[str, int],
    ) -> None:
        self.root = root
        self.loop = WatchLoop(root, on_report, on_trouble)
        self._shell = shell
        self._on_trouble = on_trouble
        self._ratings = ratings

    @cached_property
    def wear(self) -> WearSession:
        """What reads the disks' wear."""
        from raidtui.session.wear import WearSession  # noqa: PLC0415

        return WearSession(self._shell, self.loop, self._ratings, self._on_trouble)

    @cached_property
    def tuning(self) -> TuneSession:
        """What reads and writes the knobs."""
        from raidtui.session.tuning import TuneSession  # noqa: PLC0415

        return TuneSession(self._shell, self.loop)

    @property
    def plays(self) -> bool:
        """Whether the host is simulated, so that its jobs are played."""
        return self.root.source == "demo"

    @property
    def tuned(self) -> TuneSession | None:
        """The same, where the knobs have been looked at."""
        return self.__dict__.get("tuning")

    @cached_property
    def bench(self) -> BenchSession:
        """What starts and follows benchmarks."""
        from raidtui.session.bench import BenchSession  # noqa: PLC0415

        return BenchSession(self._shell, self.loop)

    @cached_property
    def played(self) -> PlayedJobs:
        """The jobs of a simulated host."""
        from raidtui.demo.demo_host import DemoReader  # noqa: PLC0415
        from raidtui.session.played_jobs import PlayedJobs  # noqa: PLC0415

        return PlayedJobs(cast("DemoReader", self.root))

    @cached_property
    def stack(self) -> StackSession:
        """What reads what stands on what."""
        from raidtui.session.stack import StackSession  # noqa: PLC0415

        return StackSession(self.loop)

    @cached_property
    def advice(self) -> AdviceSession:
        """What reads what could be better."""
        from raidtui.session.advice import AdviceSession  # noqa: PLC0415

        return AdviceSession(self.loop)

    @cached_property
    def timeline(self) -> TimelineSession:
        """What reads what happened."""
        from raidtui.session.timeline import TimelineSession  # noqa: PLC0415

        return TimelineSession(self.loop)

    @cached_property
    def pull(self) -> PullSession:
        """What watches a disk that is exchanged."""
        from raidtui.session.pull import PullSession  # noqa: PLC0415

        return PullSession(self.loop, self.played if self.plays else None)
