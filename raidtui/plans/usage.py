"""What keeps an array from being stopped: mounts, swap, holders of it and of all that is stacked on it."""

from __future__ import annotations

from raidtui.model.array import Array
from raidtui.model.disk import Disk
from raidtui.model.plan import Refusal
from raidtui.model.survey import Survey


def refuse_use(survey: Survey, array: Array) -> Refusal | None:
    """Return who uses an array, from the bottom to the top, or None."""
    disk = _disk(survey, array.name)
    if disk is None or not (users := _users(survey, disk, set())):
        return None
    return Refusal(
        code="in-use",
        why=f"{array.title} is in use: {', '.join(users)}",
        remedy="unmount or release it first",
    )


def _users(survey: Survey, disk: Disk, seen: set[str]) -> list[str]:
    """Return who uses a device or one of its partitions; behind a holder, who uses that."""
    seen.add(disk.name)
    own = [disk.users] if disk.users else []
    found = [f"{disk.name}: {own[0]}" if own and len(seen) > 1 else text for text in own]
    for use in disk.uses:
        next_one = _disk(survey, use.what) if use.kind in {"partition", "holder"} else None
        if next_one is not None and next_one.name not in seen:
            found += _users(survey, next_one, seen)
    return found


def _disk(survey: Survey, name: str) -> Disk | None:
    return survey.above.get(name) or survey.snapshot.disks.get(name)
