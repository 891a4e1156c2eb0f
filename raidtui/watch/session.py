"""What a front end holds of one host: its watch, and lazily what each feature holds of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from raidtui.host.readers.host_reader import HostReader
from raidtui.watch.shell import Shell
from raidtui.watch.watch import Report
from raidtui.watch.watch_loop import WatchLoop

if TYPE_CHECKING:
    from raidtui.watch.played_jobs import PlayedJobs

T = TypeVar("T")


class Session:
    """One host in a front end; another host is another session.

    Args:
        reader: the host.
        shell: the front end.
        on_report: called in the event loop with each report that shows something new.
        on_trouble: called with a sentence when something that runs in the background fails.
        ratings: the makers' ratings in bytes, by the beginning of a model's name.
    """

    def __init__(
        self,
        reader: HostReader,
        shell: Shell,
        *,
        on_report: Callable[[Report], None],
        on_trouble: Callable[[str], None],
        ratings: Mapping[str, int],
    ) -> None:
        self.reader = reader
        self.shell = shell
        self.loop = WatchLoop(reader, on_report, on_trouble)
        self.on_trouble = on_trouble
        self.ratings = ratings
        self._parts: dict[Callable[[Session], Any], Any] = {}

    def of(self, kind: Callable[[Session], T]) -> T:
        """Return what a feature holds of the host; it is made when it is first asked for.

        Args:
            kind: the feature's class, which is made of a session.
        """
        if kind not in self._parts:
            self._parts[kind] = kind(self)
        part: T = self._parts[kind]
        return part

    def held(self, kind: Callable[[Session], T]) -> T | None:
        """Return the same, if it was asked for before."""
        part: T | None = self._parts.get(kind)
        return part

    @property
    def plays(self) -> bool:
        """Whether the host is simulated, so that its jobs are played."""
        return self.reader.source == "demo"

    @cached_property
    def played(self) -> PlayedJobs:
        """The jobs of a simulated host."""
        from raidtui.demo.demo_host import DemoReader  # noqa: PLC0415
        from raidtui.watch.played_jobs import PlayedJobs  # noqa: PLC0415

        return PlayedJobs(cast("DemoReader", self.reader))
