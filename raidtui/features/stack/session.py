"""The layers of a host for a front end, followed while a page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from raidtui.model.array import Array
from raidtui.model.knob import KnobScope, Subject
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.stack.stack_reader import StackLook, StackReader
from raidtui.monitor.tuning_reader import TuningReader
from raidtui.watch.host_thread import HostThread
from raidtui.watch.session import Session


class StackSession:
    """Follows the layers of a host while a page shows them.

    Args:
        session: of the host.
    """

    def __init__(self, session: Session) -> None:
        self._loop = loop = session.loop
        self._stack = StackReader(loop.reader)
        self._thread = HostThread()  # never closed: a file that hangs must not keep raidtui from ending

    async def look(self, arrays: Mapping[str, Array]) -> StackLook:
        """Read all layers once more; tools are not waited for."""
        if self._loop.reader.live:
            return await self._thread.run(lambda: self._stack.look(arrays))
        return await self._loop.on_host_thread(lambda: self._stack.look(arrays))

    async def caches(self, snapshot: Snapshot) -> Sequence[Subject]:
        """Return the caches with their knobs.

        Args:
            snapshot: the present state.
        """

        def work() -> Sequence[Subject]:
            return TuningReader(self._loop.reader).read(snapshot).of(KnobScope.CACHE)

        return await (self._thread.run(work) if self._loop.reader.live else self._loop.on_host_thread(work))
