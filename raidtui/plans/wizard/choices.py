"""The choices of each step of the wizard: devices, level, chunk, bitmap, file system. Pure."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from raidtui.model.geometry import capacity_kib, losses_left, separate_groups
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS
from raidtui.model.plan import Refusal
from raidtui.model.survey import Device, Survey
from raidtui.plans.candidates import has_member, refuse_device
from raidtui.plans.contents import contents_of, short_contents
from raidtui.plans.create.create_request import CreateRequest
from raidtui.plans.create.file_system import trim_words
from raidtui.plans.create.shape import Shape, shape_of
from raidtui.plans.locate import trouble_words
from raidtui.plans.wizard.defaults import completed, proposed_purposes, unfit_words
from raidtui.plans.wizard.evidence import BLOCKS_KIB, RANDOM_READ, RANDOM_WRITE, SOURCE
from raidtui.plans.wizard.wizard_draft import (
    LEVELS,
    SLACK,
    WizardChoice,
    WizardDraft,
    parts,
    plan_draft,
    usable,
    with_level,
)
from raidtui.view.units import KIB, binary_size, short_size

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


def device_picks(draft: WizardDraft, survey: Survey) -> tuple[WizardChoice, ...]:
    """Return all devices, those that can be taken first."""
    arrays = {array.name for array in survey.snapshot.arrays}
    devices = {name: device for name, device in survey.devices.items() if name not in arrays}
    found = [_device(name, device, survey) for name, device in devices.items()]
    found.sort(key=lambda pick: bool(pick.refusal))
    count = draft.empty
    slots = WizardChoice(
        key=EMPTY,
        words=f"slots left empty for now: {count}",
        note="The array starts degraded; add the missing devices later. For moving to a new"
        " array disk by disk; otherwise 0.",
    )
    return (*found, slots) if found else ()


def _device(name: str, device: Device, survey: Survey) -> WizardChoice:
    disk = device.disk
    refusal = refuse_device(device, survey)
    has = contents_of(device, survey)
    used = disk.users or ("member of a running array" if has_member(device, survey) else "")
    missing = "not read yet" if survey.refuse_unread(name) is not None else "empty"
    words = used or has or missing
    short = used or short_contents(device, survey) or missing
    size = short_size(disk.size_bytes) if disk.size_bytes else "?"
    note = (
        [] if device.aligned else [f"It starts at byte {device.start_bytes}: not aligned, which costs speed."]
    )
    if device.aligned and disk.disk != name:
        note.append(f"It starts at {binary_size(device.start_bytes)}: aligned.")
    if device.wear_percent is not None:
        note.append(f"{device.wear_percent:g} % of its rated life is used.")
    if device.trouble:
        note.append(trouble_words(device))
    if has and refusal is None:
        note.append(f"Its contents will be lost: {has}.")
    if refusal is None and device.aligned and not device.trouble and (unfit := unfit_words(device)):
        note.append(f"Not proposed: {unfit}.")
    return WizardChoice(
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
        pending=survey.is_pending(name, refusal),
    )


def disk_picks(draft: WizardDraft, survey: Survey) -> tuple[WizardChoice, ...]:
    """Return what whole disks become; nothing to decide where partitions alone were chosen."""
    if not has_whole_disks(draft, survey):
        return ()
    table = "A GPT with one Linux RAID partition, aligned, so firmware does not mistake the disk for empty."
    spare_area = "Spare area for the SSD: published advice is 7 to 12 %. For hard disks it is lost room."
    return (
        WizardChoice(
            key=SLACK,
            words="partition, 100 MiB free",
            note=f"{table} 100 MiB at the end stay free (of small disks a hundredth): a spare of another"
            " maker may be a little smaller.",
        ),
        WizardChoice(key="7", words="partition, 7 % free", note=f"{table} {spare_area}"),
        WizardChoice(key="10", words="partition, 10 % free", note=f"{table} {spare_area}"),
        WizardChoice(key="0", words="partition, nothing free", note=table),
        WizardChoice(
            key="whole",
            words="whole disk, no table",
            note="Other systems may take it for empty and write a table over the superblock.",
        ),
    )


def has_whole_disks(draft: WizardDraft, survey: Survey) -> bool:
    """Whether any of the devices is a disk rather than a partition."""
    disks = [survey.devices[name].disk for name in draft.named if name in survey.devices]
    return any(disk.disk == disk.name for disk in disks)


def chunk_picks() -> tuple[WizardChoice, ...]:
    """Return the chunk sizes."""
    return tuple(_chunk(kib) for kib in _CHUNKS)


def _chunk(kib: int) -> WizardChoice:
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
    return WizardChoice(key=str(kib), words=f"{kib:>4} KiB", note=note)


def bitmap_picks(draft: WizardDraft) -> tuple[WizardChoice, ...]:
    """Return what keeps copies and parity consistent after a crash."""
    none = WizardChoice(
        key="none",
        words="none: resync after a crash",
        note="Costs nothing. After a crash the whole array is resynced, and a member that returns is copied"
        " whole.",
    )
    internal = WizardChoice(
        key="internal",
        words="internal bitmap",
        note="After a crash, or when a member comes back, only what changed is synced. Published cost: up to"
        " 30 % of sequential writes (2016, small bitmap chunks); less with today's 64 MiB. Measure it."
        + (" It does not close the write hole." if draft.level in {"raid4", "raid5", "raid6"} else ""),
    )
    if draft.level not in {"raid4", "raid5", "raid6"}:
        return (none, internal)
    ppl = WizardChoice(
        key="ppl",
        words="ppl (partial parity log)",
        note="Closes the write hole: a crash while degraded loses nothing. May cost 30 to 40 % of writes.",
        refusal="" if draft.level == "raid5" else f"only raid5 has a partial parity log, not {draft.level}",
    )
    journal = WizardChoice(
        key="journal",
        words=f"journal on {draft.journal}" if draft.journal else "journal on a device",
        note=f"All writes go to {draft.journal} first, which closes the write hole. Without that device the"
        " array is read-only; use an SSD with power-loss protection.",
        refusal=""
        if draft.journal
        else "no device was chosen for it: go back to the devices and press Space until one says [jnl]",
    )
    if not draft.journal:
        return (internal, ppl, journal)
    other = f"{draft.journal} was chosen as the journal, which replaces this"
    return (
        journal,
        WizardChoice(key="internal", words=internal.words, refusal=other),
        WizardChoice(key="ppl", words=ppl.words, refusal=other),
    )


TOP_PICKS = (
    WizardChoice(key="nothing", words="nothing", note="The array only: partition it or use it as you like."),
    WizardChoice(key="ext4", words="ext4", note="With the array's stride and stripe width."),
    WizardChoice(key="xfs", words="XFS", note="With the array's su and sw."),
    WizardChoice(
        key="lvm+ext4",
        words="LVM and ext4",
        note="A volume group of its own with one volume, which can be resized and moved later.",
    ),
    WizardChoice(key="lvm+xfs", words="LVM and XFS", note="A volume group of its own with one volume."),
    WizardChoice(
        key="lvm",
        words="LVM alone",
        note="A volume group of its own with one volume, without a file system.",
    ),
)


_GOOD_AT = {
    "raid1": "Every member holds all data. One reader gets the speed of one member, many readers that of"
    " all; a write goes to all.",
    "n": "The two copies lie on neighbouring members. Reads spread over all, a write goes to two: good for"
    " small random I/O, databases, virtual machines.",
    "f": "The second copy lies in the second half of another member. A single reader streams as from a raid0;"
    " writes are as with near.",
    "o": "Each stripe is repeated one member further on. Reads are nearly as with far, writes as with near,"
    " and the number of members can be changed later.",
    "raid4": "All parity is on one member, which takes part in every write. Prefer raid5, which spreads it.",
    "raid5": "Large capacity, fast streams. A small write reads two blocks and writes two. A crash while"
    " degraded can lose data (write hole) unless a ppl or a journal prevents it.",
    "raid6": "Any two members may fail, also during a rebuild. A small write reads three blocks and writes"
    " three: the slowest level for small writes.",
    "raid0": "Full speed and capacity, no redundancy: when one member fails, all data is lost.",
}


def level_picks(draft: WizardDraft, survey: Survey) -> tuple[WizardChoice, ...]:
    """Return all levels, also impossible ones, each with its capacity and the failures that it survives."""
    return tuple(_pick(draft, survey, *each) for each in LEVELS)


def purpose_picks(draft: WizardDraft, survey: Survey) -> tuple[WizardChoice, ...]:
    """Return the levels that are proposed, by what they are for; all, where none of them can be."""
    by_key = {_key(level, letter): (level, letter, words) for level, letter, words in LEVELS}
    found = []
    for key, words in proposed_purposes(draft, survey):
        pick = _pick(draft, survey, *by_key[key])
        found.append(replace(pick, words=f"{words:<17} {pick.words}"))
    return tuple(found) if any(not pick.refusal for pick in found) else level_picks(draft, survey)


def _key(level: str, letter: str) -> str:
    return level_key(level, f"{letter}2" if letter else "")


def level_key(level: str, layout: str) -> str:
    """Return what a level is known by at its step: raid6, "raid10 n2"."""
    return f"{level} {layout}".strip()


def _pick(draft: WizardDraft, survey: Survey, level: str, letter: str, words: str) -> WizardChoice:
    key = _key(level, letter)
    words = f"{words} 2" if letter else words
    tried = completed(with_level(draft, level, f"{letter}2" if letter else ""), survey)
    made = plan_draft(tried, survey)
    request = tried.request(survey)
    shape = shape_of(request)
    if isinstance(made, Refusal) or isinstance(shape, Refusal):
        return WizardChoice(key=key, words=words, refusal=made.sentence if isinstance(made, Refusal) else "")
    sizes = usable(tried, request, survey)
    component = request.size_kib or min(sizes)
    size = sum(sizes) if level == "raid0" else _capacity_kib(shape, component, len(request.devices))
    fails = may_fail(level, shape.layout_number, len(request.devices), request.holes)
    texts = (
        _GOOD_AT[letter or level],
        trim_words(level, survey, parts(tried, survey)),
        first_sync_words(request, shape, component, size),
        rebuild_words(level, component, [each.life_bytes for each in parts(tried, survey)]),
    )
    return WizardChoice(
        key=key,
        words=f"{words:<15} {binary_size(size * KIB):>8}  {fails}",
        cells=(words, f"{fails} may fail"),
        note=" ".join(text for text in texts if text),
    )


def _capacity_kib(shape: Shape, component: int, slots: int) -> int:
    return capacity_kib(shape.level, shape.layout_number, component, slots)


def may_fail(level: str, layout: int | None, slots: int, holes: Collection[int]) -> str:
    """Return how many members may fail, in two or three words."""
    left = losses_left(level, layout, slots, holes)
    if level in NO_REDUNDANCY:
        return "none!"
    if not left or left < 0:
        return "none: slots are empty"
    if level != "raid10" or holes:
        return f"any {left}"
    sets = separate_groups(level, layout, slots)
    if len(sets) > 1:
        return f"{left}, or {left} per {'pair' if left == 1 else 'set'}"
    if not sets and slots > 3:
        return f"{left}, or {slots // 2} not adjacent"
    return f"any {left}"


def first_sync_words(request: CreateRequest, shape: Shape, component: int, size: int) -> str:
    """Return what the first sync writes (raid1.c, raid10.c, raid5.c; mdadm's Create.c).

    Args:
        request: the array.
        shape: the options for mdadm.
        component: used size of each member, KiB.
        size: what the array holds, KiB.
    """
    each = binary_size(component * KIB)
    if shape.level == "raid0":
        return "There is no first sync."
    if request.assume_clean:
        return "The first sync is skipped."
    if request.holes:
        return f"It starts degraded: each device added later is written whole, {each}."
    if shape.level == "raid1":
        return f"The first sync writes all of every member but one: {each} each."
    if shape.level in {"raid4", "raid5"}:
        return f"The first sync writes all of the last member: {each}."
    most, where = component * PARITY_LEVELS.get(shape.level, 0), "parity does not match"
    if shape.level == "raid10":
        most, where = component * len(request.devices) - size, "copies differ"
    return (
        f"The first sync writes only where {where}: nothing on trimmed members that read zeros,"
        f" otherwise up to {binary_size(most * KIB)} in total."
    )


def rebuild_words(level: str, component: int, lives: Collection[int | None] = ()) -> str:
    """Return what the rebuild of a member writes.

    Args:
        level: the kernel's word.
        component: used size of each member, KiB.
        lives: rated writes of each member, bytes, where known.
    """
    if level in NO_REDUNDANCY:
        return ""
    known = [life for life in lives if life]
    share = f", {_share(component * KIB / min(known))} % of its life" if known else ""
    return f"A rebuild writes one member: {binary_size(component * KIB)}{share}."


def _share(part: float) -> str:
    percent = part * 100
    if percent < 0.05:
        return "less than 0.1"
    return f"about {percent:.0f}" if percent >= 9.5 else f"about {percent:.1f}"
