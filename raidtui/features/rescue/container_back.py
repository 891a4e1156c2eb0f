"""The ways back for a container of external metadata (DDF, Intel). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from raidtui.features.rescue.groups import MemberGroup
from raidtui.features.rescue.mdadm_words import EXTERNAL, Assembly
from raidtui.features.rescue.records import WayBack, WayCode
from raidtui.model.geometry import losses_left
from raidtui.model.survey import Superblock
from raidtui.view.units import counted, joined


def container_of(devices: Sequence[str], blocks: Iterable[Superblock], *, run: bool) -> Assembly | None:
    """Return how a container and its volumes are started; None where these are no disks of one.

    Args:
        devices: kernel names of its disks.
        blocks: their superblocks.
        run: whether volumes are started without all of their disks, too.
    """
    found = [block for block in blocks if block.metadata in EXTERNAL]
    if not found:
        return None
    most = max(found, key=lambda block: len(block.volumes))
    return Assembly(
        devices=tuple(devices),
        uuid=most.uuid or "",
        run=run,
        external=most.metadata or "",
        volumes=tuple(each.name for each in most.volumes),
    )


def container_ways(group: MemberGroup) -> Iterator[WayBack]:
    """Yield the ways back for a container and its volumes; they are carried out by hand."""
    names = tuple(group.blocks)
    lack = group.lacking_disks
    yield WayBack(
        code=WayCode.START,
        text=f"Assemble the container of {joined(names)}, and start its volumes with mdadm --incremental, by"
        " hand. A trial starts them read-only, and shows what stands on them.",
        writes="the metadata of the container",
        possible=not lack,
        why_not=f"{counted(lack, 'disk')} of it {'was' if lack == 1 else 'were'} not found" if lack else "",
        devices=names,
    )
    if lack:
        kept = [each.level for each in group.newest.volumes if not _is_lost(each.level, group.disks, lack)]
        yield WayBack(
            code=WayCode.DEGRADED,
            text=f"Assemble the container of {joined(names)}, and start degraded what has redundancy with"
            " mdadm --incremental --run, by hand. A trial starts it read-only, and shows what stands on it.",
            writes="the metadata of the container: the disks that were not found are marked as failed",
            possible=bool(kept),
            why_not="" if kept else "too many of its disks were not found for any of its volumes",
            devices=names,
        )


def _is_lost(level: str | None, disks: int, lack: int) -> bool:
    left = losses_left(level, None, disks, range(lack))
    return left is not None and left < 0
