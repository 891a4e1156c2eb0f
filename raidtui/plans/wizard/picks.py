"""What can be chosen at the steps of the wizard, but for the level. Pure."""

from __future__ import annotations

from raidtui.model.survey import Device, Survey
from raidtui.plans.contents import loss_of
from raidtui.plans.devices import refuse_device
from raidtui.plans.locate import trouble_words
from raidtui.plans.wizard.draft import JOURNAL, SPARE, Draft
from raidtui.plans.wizard.evidence import BLOCKS_KIB, RANDOM_READ, RANDOM_WRITE, SOURCE
from raidtui.plans.wizard.pick import Pick
from raidtui.view.units import binary_size, short_binary

EMPTY = "empty slots"
"""The row below the devices."""
_CHUNKS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
_CHUNK_WORDS = {
    4: "One block: every larger request is spread. For odd cases.",
    8: "For very small random I/O.",
    16: "For small random I/O.",
    32: "The published choice for small I/O of one job.",
    64: "Between small I/O and streams.",
    128: "Between small I/O and streams.",
    256: "For large files and many jobs.",
    512: "mdadm's default, for large files and many jobs.",
    1024: "For few, very large streams.",
    2048: "For few, very large streams.",
}
_QUOTED = (8, 64, 512, 1024)
DISK_WORDS = {"10": "10 % free", "7": "7 % free", "0": "partition", "whole": "whole"}


def device_picks(draft: Draft, survey: Survey) -> tuple[Pick, ...]:
    """Return all devices, those that can be taken first."""
    arrays = {array.name for array in survey.snapshot.arrays}
    devices = {name: device for name, device in survey.devices.items() if name not in arrays}
    found = [_device(name, device, survey) for name, device in devices.items()]
    found.sort(key=lambda pick: bool(pick.refusal))
    count = draft.empty
    slots = Pick(
        key=EMPTY,
        words=f"slots that stay empty for now: {count}",
        note="The array starts degraded, and is completed later by adding a device. For moving to a new"
        " array disk by disk; otherwise none.",
    )
    return (*found, slots) if found else ()


def _device(name: str, device: Device, survey: Survey) -> Pick:
    disk = device.disk
    refusal = refuse_device(device, survey)
    has = loss_of(device, survey).partition(": ")[2]
    used = disk.users or (
        "member of a running array" if refusal and " is a member of " in refusal.why else ""
    )
    unread = survey.refuse_unread(name)
    words = used or has or ("not read yet" if unread is not None else "empty")
    short = words.removeprefix("the ").removeprefix("a ")
    size = short_binary(disk.size_bytes) if disk.size_bytes else "?"
    note = (
        [] if device.aligned else [f"It begins at byte {device.start_bytes}: not aligned, which costs speed."]
    )
    if device.aligned and disk.disk != name:
        note.append(f"It begins at {binary_size(device.start_bytes)}: aligned.")
    if device.wear_percent is not None:
        note.append(f"{device.wear_percent:g} % of its rated life are used.")
    if device.trouble:
        note.append(trouble_words(device))
    if has and refusal is None:
        note.append(f"What is on it will be gone: {has}.")
    return Pick(
        key=name,
        words=f"{name} {words}",
        cells=(
            name,
            size,
            "" if device.wear_percent is None else f"{device.wear_percent:g} %",
            disk.model or "",
            disk.identity,
            ("" if device.aligned else "not aligned; ") + short,
        ),
        note=" ".join(note),
        refusal=refusal.sentence if refusal else "",
    )


def disk_picks(draft: Draft, survey: Survey) -> tuple[Pick, ...]:
    """Return what whole disks become; nothing to decide where partitions alone were chosen."""
    if not has_whole_disks(draft, survey):
        return ()
    table = "A GPT with one Linux RAID partition, aligned: no firmware takes the disk for an empty one."
    return (
        Pick(
            key="10",
            words="partition, 10 % left free",
            note=f"{table} What is left free is room for the SSD's own work (published: 7 to 12 %).",
        ),
        Pick(key="7", words="partition, 7 % left free", note=f"{table} The least of the published advice."),
        Pick(key="0", words="partition, nothing left free", note=table),
        Pick(
            key="whole",
            words="whole disk, no table",
            note="Other systems may take it for an empty disk and write a table over md's superblock.",
        ),
    )


def has_whole_disks(draft: Draft, survey: Survey) -> bool:
    """Whether any of the devices is a disk rather than a partition."""
    disks = [survey.devices[name].disk for name in draft.named if name in survey.devices]
    return any(disk.disk == disk.name for disk in disks)


def chunk_picks() -> tuple[Pick, ...]:
    """Return the chunk sizes."""
    return tuple(_chunk(kib) for kib in _CHUNKS)


def _chunk(kib: int) -> Pick:
    note = _CHUNK_WORDS[kib]
    if kib in RANDOM_READ.chunks:
        reads, writes = (
            "/".join(str(part.chunks[kib][BLOCKS_KIB.index(block)]) for block in _QUOTED)
            for part in (RANDOM_READ, RANDOM_WRITE)
        )
        blocks = "/".join(map(str, _QUOTED))
        note += (
            f" Published, blocks of {blocks} KiB: random read {reads}, random write {writes} MB/s"
            f" ({SOURCE}). ? shows all of it. Measure your own."
        )
    return Pick(key=str(kib), words=f"{kib:>4} KiB", note=note)


def bitmap_picks(draft: Draft) -> tuple[Pick, ...]:
    """Return what keeps copies and parity consistent after a crash."""
    none = Pick(
        key="none",
        words="none: resync after a crash",
        note="Costs nothing. After a crash all is synced again; a member that was away is copied as a whole.",
    )
    internal = Pick(
        key="internal",
        words="internal bitmap",
        note="After a crash, or when a member comes back, only what changed is synced. Published cost: up to"
        " 30 % of sequential writes (2016, small bitmap chunks); less with today's 64 MiB. Measure it."
        + (" It does not close the write hole." if draft.level in {"raid4", "raid5", "raid6"} else ""),
    )
    if draft.level not in {"raid4", "raid5", "raid6"}:
        return (none, internal)
    ppl = Pick(
        key="ppl",
        words="ppl (partial parity log)",
        note="Closes the write hole: a crash while degraded loses nothing. May cost 30 to 40 % of writes.",
        refusal="" if draft.level == "raid5" else f"only raid5 has a partial parity log, not {draft.level}",
    )
    journal = Pick(
        key="journal",
        words=f"journal on {draft.journal}" if draft.journal else "journal on a device",
        note=f"All writes go to {draft.journal} first, which closes the write hole. Without that device the"
        " array is read-only; it should be an SSD that keeps what it has when power fails.",
        refusal=""
        if draft.journal
        else f"no device was chosen for it; at the first step, Space goes on from {SPARE} to {JOURNAL}",
    )
    if not draft.journal:
        return (internal, ppl, journal)
    other = f"{draft.journal} was chosen as the journal: it takes the place of this"
    return (
        journal,
        Pick(key="internal", words=internal.words, refusal=other),
        Pick(key="ppl", words=ppl.words, refusal=other),
    )


TOP_PICKS = (
    Pick(
        key="nothing", words="nothing", note="The array as it is: partition it, or put on it what you like."
    ),
    Pick(key="ext4", words="ext4", note="With stride and stripe width of the array."),
    Pick(key="xfs", words="XFS", note="With su and sw of the array."),
    Pick(
        key="lvm+ext4",
        words="LVM and ext4",
        note="A volume group of its own, one volume of all of it: it can be cut and moved later.",
    ),
    Pick(key="lvm+xfs", words="LVM and XFS", note="A volume group of its own, one volume of all of it."),
    Pick(
        key="lvm",
        words="LVM alone",
        note="A volume group of its own and one volume of all of it, without a file system.",
    ),
)
