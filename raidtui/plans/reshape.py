"""What changes the shape of an array that runs: its chunk, its bitmap (mdadm(8), GROW MODE).

A new chunk moves every block. Where there is room before the data, md writes a block to its new place before
it gives up the old one; without that room mdadm wants a backup file, and a crash at the wrong moment without
that file loses stripes: so that is not offered.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.geometry import data_disks
from raidtui.model.levels import PARITY_LEVELS, Raid10Layout
from raidtui.model.plan import Fact, FactKind, Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Survey
from raidtui.plans.manage import refuse_array
from raidtui.view.units import KIB, binary_size, counted

_MOST_CHUNK_KIB = 1 << 20


def plan_grow_chunk(survey: Survey, array: Array, chunk_kib: int) -> Plan | Refusal:
    """Return the plan that gives an array chunks of another size.

    Args:
        survey: the host, with the array's members.
        array: the array.
        chunk_kib: the new size.
    """
    refusal = refuse_array(survey, array) or _refuse_level(array) or _refuse_chunk(array, chunk_kib)
    refusal = refusal or refuse_now(array) or _refuse_stripe(survey, array, chunk_kib)
    if refusal:
        return refusal
    same = Fact(kind=FactKind.ARRAY, subject=array.name, value=array.uuid or "")
    step = Step(
        argv=("mdadm", "--grow", array.path, f"--chunk={chunk_kib}"),
        why="begins the reshape",
        needs=(same, *members_in_sync(array)),
        proves=(Fact(kind=FactKind.CHUNK, subject=array.name, value=str(chunk_kib)),),
        final=True,
    )
    old = (array.chunk_bytes or 0) // KIB
    written = f" ({binary_size(array.component_kib * KIB)} on each member)" if array.component_kib else ""
    disks = data_disks(array.level or "", array.layout, array.raid_disks or 0)
    stride = chunk_kib // 4
    return Plan(
        title=f"chunk {old} → {chunk_kib} KiB",
        subject=array.title,
        steps=(
            step,
            Step(
                why="md moves every block to its new place",
                ends=(same, *step.proves, Fact(kind=FactKind.RESHAPED, subject=array.name)),
                lasts=(same, *step.proves),
            ),
        ),
        harm=Harm.REDUCES,
        warning="A reshape cannot be cancelled: it continues after a reboot, and only another reshape"
        " reverses it.",
        notes=(
            f"All data is read and written again{written}.",
            "No backup file is needed: there is room before the data.",
            (
                f"The file system keeps the old geometry; for ext4 the new one is stride {stride},"
                f" stripe width {stride * disks} (tune2fs -E)."
            ),
        ),
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def plan_bitmap(survey: Survey, array: Array, wanted: str) -> Plan | Refusal:
    """Return the plan that gives an array a write-intent bitmap, or takes it away.

    Args:
        survey: the host.
        array: the array.
        wanted: none or internal.
    """
    if refusal := refuse_array(survey, array):
        return refusal
    has = "none" if array.bitmap is None else "internal"
    if wanted not in {"none", "internal"}:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{wanted!r} is not a kind of bitmap",
            remedy="choose none or internal",
        )
    if not array.redundant:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.why_not_redundant}: nothing is synced, so it has no bitmap",
        )
    if wanted == has:
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO,
            why=f"{array.title} already has {'no bitmap' if has == 'none' else 'a bitmap'}",
        )
    if array.consistency_policy in {"ppl", "journal"}:
        policy = array.consistency_policy
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{array.title} has consistency policy {policy}, which excludes a bitmap",
        )
    if wanted == "none" and array.level in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.NOT_REDUNDANT,
            why=f"{array.level} without a bitmap resyncs all parity after a crash, and losing a member before"
            " that ends can lose data (the write hole)",
            remedy="keep the bitmap",
        )
    if array.sync is not None:
        return Refusal(
            code=RefusalCode.BUSY, why=f"a {array.sync.action} is in progress", remedy="wait until it is done"
        )
    note = (
        "After a crash, or when a member comes back, only what changed is synced. Writes are a little slower."
        if wanted == "internal"
        else "After a crash the whole array is resynced, and a member that returns is copied whole."
    )
    why = {
        "internal": "records what may be out of sync before it is written",
        "none": "writes are no longer recorded",
    }[wanted]
    back = _bitmap_step(array, has, "as it was")
    return Plan(
        title=f"bitmap {has} → {wanted}",
        subject=array.title,
        steps=(replace(_bitmap_step(array, wanted, why), undo=(back,)),),
        undo=(back,),
        harm=Harm.HARMLESS if wanted == "internal" else Harm.REDUCES,
        notes=(note,),
        arrays=(array.name,),
    )


def _bitmap_step(array: Array, wanted: str, why: str) -> Step:
    return Step(
        argv=("mdadm", "--grow", array.path, f"--bitmap={wanted}"),
        why=why,
        needs=(Fact(kind=FactKind.ARRAY, subject=array.name, value=array.uuid or ""),),
        proves=(Fact(kind=FactKind.BITMAP, subject=array.name, value=wanted),),
    )


def _refuse_level(array: Array) -> Refusal | None:
    if array.level == "raid10":
        decoded = Raid10Layout.decode(array.layout) if array.layout is not None else None
        if decoded is None or (decoded.far > 1 and not decoded.offset):
            return Refusal(code=RefusalCode.UNSUPPORTED, why="a raid10 with far copies cannot be reshaped")
    elif array.level not in PARITY_LEVELS:
        return Refusal(
            code=RefusalCode.UNSUPPORTED, why=f"raidtui cannot change the chunk size of {array.level}"
        )
    if not array.uuid:
        return Refusal(code=RefusalCode.UNKNOWN, why=f"{array.title} has no UUID to identify it")
    return None


def _refuse_chunk(array: Array, chunk_kib: int) -> Refusal | None:
    if chunk_kib < 4 or chunk_kib > _MOST_CHUNK_KIB or chunk_kib & (chunk_kib - 1):
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{chunk_kib} KiB is not a valid chunk size",
            remedy="choose a power of two of at least 4 KiB",
        )
    if chunk_kib * KIB == array.chunk_bytes:
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO, why=f"{array.title} already has chunks of {chunk_kib} KiB"
        )
    if (array.component_kib or 0) % chunk_kib:
        return Refusal(
            code=RefusalCode.TOO_SMALL,
            why=f"{array.component_kib} KiB of each member is not a multiple of {chunk_kib} KiB",
            remedy="choose a smaller chunk",
        )
    return None


def refuse_now(array: Array) -> Refusal | None:
    """Return why an array cannot be reshaped at the moment: something syncs, or a member is missing."""
    if array.sync is not None or array.work_waits:
        action = array.sync.action if array.sync is not None else "sync"
        return Refusal(
            code=RefusalCode.BUSY, why=f"a {action} is in progress", remedy="wait until it is done"
        )
    if array.degraded:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"{array.title} is degraded",
            remedy="replace the missing member first",
        )
    return None


def _refuse_stripe(survey: Survey, array: Array, chunk_kib: int) -> Refusal | None:
    """The data must move by a stripe of the larger chunk at least (mdadm's Grow.c, set_new_data_offset)."""
    disks = data_disks(array.level or "", array.layout, array.raid_disks or 0)
    stripe = 2 * disks * max(chunk_kib, (array.chunk_bytes or 0) // KIB) * 2  # sectors
    return refuse_room(survey, array, stripe, remedy="choose a smaller chunk, or make a new array and copy")


def refuse_room(survey: Survey, array: Array, sectors: int, *, remedy: str) -> Refusal | None:
    """Return a refusal where a member has less room before its data than a reshape needs.

    Args:
        survey: the host, with the array's members.
        array: the array.
        sectors: how far the data move.
        remedy: what to do instead.
    """
    for member in array.members:
        if member.slot is None:
            continue
        device = survey.devices.get(member.name)
        block = device.superblock if device is not None else None
        room = block.spare_sectors if block is not None else None
        if room is None or room < sectors:
            has = "not known" if room is None else counted(room, "sector")
            return Refusal(
                code=RefusalCode.TOO_SMALL,
                why=f"there is not enough room before the data of {member.name} ({has},"
                f" {sectors} needed): mdadm would require a backup file, and a crash without it loses data",
                remedy=remedy,
            )
    return None


def members_in_sync(array: Array) -> tuple[Fact, ...]:
    """Return that every slot still has its member."""
    return tuple(
        Fact(kind=FactKind.MEMBER, subject=f"{array.name}/{member.name}", value="in_sync")
        for member in array.members
        if member.slot is not None
    )
