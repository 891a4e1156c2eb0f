"""The app's sides of the host in view: its disks' wear, its knobs, its benchmarks; loaded when wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from raidtui.session.shell import Shell

if TYPE_CHECKING:
    from raidtui.session.bench import BenchSession
    from raidtui.session.knob_session import Knobs
    from raidtui.session.wear import Wearing


class Sides:
    """Makes each of them for the host in view, and another one when another host is.

    Args:
        shell: the front end.
        ratings: the makers' ratings, bytes by the beginning of a model's name.
        say: says a trouble.
    """

    def __init__(self, shell: Shell, ratings: Mapping[str, int], say: Callable[[str], None]) -> None:
        self._shell = shell
        self._ratings = ratings
        self._say = say
        self._wearing: Wearing | None = None
        self._knobs: Knobs | None = None
        self._benching: BenchSession | None = None

    def wearing(self) -> Wearing | None:
        """Return what reads the disks' wear; None while no host is watched."""
        pulse = self._shell.pulse
        if pulse is not None and (self._wearing is None or self._wearing.pulse is not pulse):
            from raidtui.session.wear import Wearing  # noqa: PLC0415

            self._wearing = Wearing(self._shell, pulse, self._ratings, self._say)
        return self._wearing

    def knobs(self) -> Knobs | None:
        """Return what reads and writes the knobs."""
        pulse = self._shell.pulse
        if pulse is not None and (self._knobs is None or self._knobs.pulse is not pulse):
            from raidtui.session.knob_session import Knobs  # noqa: PLC0415

            self._knobs = Knobs(self._shell, pulse)
        return self._knobs

    @property
    def tuned(self) -> Knobs | None:
        """The knobs of the host in view, if they were looked at."""
        same = self._knobs is not None and self._knobs.pulse is self._shell.pulse
        return self._knobs if same else None

    def benching(self) -> BenchSession | None:
        """Return what begins and follows benchmarks."""
        pulse = self._shell.pulse
        if pulse is not None and (self._benching is None or self._benching.pulse is not pulse):
            from raidtui.session.bench import BenchSession  # noqa: PLC0415

            self._benching = BenchSession(self._shell, pulse)
        return self._benching
