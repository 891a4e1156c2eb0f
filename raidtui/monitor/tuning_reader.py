"""All knobs of a host, with who has set them: those of disks, processors and md, and of caches."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.undo_record import UndoRecord, open_record
from raidtui.model.knob import Tuning
from raidtui.model.smart import ErrorRecovery
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.stack.cached_nodes import CacheReader


class TuningReader:
    """Reads them; one thread at a time may call it.

    Args:
        reader: the host.
        record: the values set until reboot; by default the host's.
    """

    def __init__(self, reader: HostReader, record: UndoRecord | None = None) -> None:
        self._caches = CacheReader(reader)
        self._knobs = KnobReader(reader)
        self.record = record or open_record(reader)

    def forget(self) -> None:
        """Read rules, profiles and configuration files afresh next time."""
        self._knobs.forget()
        self._caches.forget()

    def read(self, snapshot: Snapshot, erc: Mapping[str, ErrorRecovery | None] | None = None) -> Tuning:
        """Return all knobs, with who has set them.

        Args:
            snapshot: the present state.
            erc: by the disk's name, the timeouts (SCT ERC) of the disks that were asked; None: it has none.
        """
        caches = self._caches.read(snapshot.arrays)
        tuning = self._knobs.read(snapshot, self.record.changed(), erc, caches)
        return (
            replace(tuning, lacks=(*tuning.lacks, *self._caches.unknown)) if self._caches.unknown else tuning
        )
