"""How often to look: changes are told by the kernel, a timer only follows progress."""

from __future__ import annotations

from raidtui.model.snapshot import Snapshot

SYNCING_S = 1.0
IDLE_S = 5.0


def interval_s(snapshot: Snapshot) -> float:
    """Return the seconds until the next sample that no event asked for."""
    return SYNCING_S if snapshot.syncing else IDLE_S
