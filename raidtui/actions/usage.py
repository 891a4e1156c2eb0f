"""What keeps an array or a device from being taken: mounts, swap, holders."""

from __future__ import annotations

from raidtui.model.array import Array
from raidtui.model.plan import Refusal
from raidtui.model.snapshot import Snapshot


def refuse_use(snapshot: Snapshot, array: Array) -> Refusal | None:
    """Return who uses an array or one of its partitions, or None."""
    disk = snapshot.disks.get(array.name)
    if disk is None:
        return None
    parts = [use.what for use in disk.uses if use.kind == "partition"]
    for each in (disk, *(snapshot.disks[name] for name in parts if name in snapshot.disks)):
        if users := each.users:
            return Refusal(why=f"{array.title} is in use: {users}", remedy="unmount or release it first")
    return None
