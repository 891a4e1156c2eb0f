"""The diagnosis while it is made: superblocks as they are read, then what the devices and SMART say."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.records import RescueArray, RescueFacts
from raidtui.features.rescue.session import look_closer
from raidtui.frame.surveying import Surveying
from raidtui.host.reading import ReadingProgress
from raidtui.model.survey import Survey
from raidtui.watch.session import Session

LOOSE = "-"
"""Stands for the devices without a superblock."""
_CLOSER = "looking at the devices and their SMART …"


class Diagnosing:
    """One diagnosis of the host, for one flow.

    Args:
        session: of the host.
        found: the reading of its devices.
    """

    def __init__(self, session: Session, found: Surveying) -> None:
        self._session = session
        self._found = found
        self._facts: RescueFacts | None = None
        self._closer: asyncio.Future[None] | None = None

    def close(self) -> None:
        """End it; what is being read is no longer waited for."""
        if self._closer is not None:
            self._closer.cancel()

    def words(self, progress: ReadingProgress) -> str:
        """Return what is still being read, and look closer once all superblocks have been read."""
        if not progress.enough:
            return progress.words or "reading …"
        if self._closer is None:
            self._closer = asyncio.ensure_future(self._look_closer())
        return "" if self._facts is not None else _CLOSER

    async def _look_closer(self) -> None:
        survey, root = self._found.survey(), self._session.root
        apart = root.thread_safe_copy()
        run = self._session.loop.on_host_thread if apart is None else self._session.loop.on_disk_thread
        self._facts = await run(lambda: look_closer(apart or root, survey, self._found.snapshot))
        self._found.draw_again()

    def facts(self, survey: Survey) -> RescueFacts:
        """Return what is known; of the devices themselves, what was seen when they were looked at."""
        if self._facts is None:
            return RescueFacts(survey=survey)
        return replace(
            self._facts, survey=replace(survey, silent={**self._facts.survey.silent, **survey.silent})
        )

    def arrays(self, survey: Survey) -> tuple[RescueArray, ...]:
        """Return the arrays, and the devices without a superblock."""
        return diagnose(self.facts(survey))

    def array(self, survey: Survey, uuid: str) -> RescueArray | None:
        """Return an array by its UUID; ``LOOSE`` for the devices without a superblock."""
        return next((each for each in self.arrays(survey) if (each.uuid or LOOSE) == uuid), None)
