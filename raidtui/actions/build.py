"""The steps of building an array: what can be chosen at each, and what is known about it. Pure.

The published measurements are those of a RAID-10 of four SATA SSDs: fio, one job, direct I/O, 500 MB, mean of
three runs, in MB/s (kernel 4.1, 2016). They are somebody's, not this host's.
"""

from __future__ import annotations

from msgspec import Struct

from raidtui.actions.create import plan_create
from raidtui.actions.create_devices import refuse_device
from raidtui.actions.create_request import CreateRequest
from raidtui.actions.names import refuse_name, refuse_taken
from raidtui.actions.on_top import OnTop, refuse_on_top
from raidtui.actions.partition import plan_on_disks
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.model.text import fit, tail
from raidtui.model.units import short_binary

STEPS = ("devices", "disks", "level", "chunk", "bitmap", "on top", "mount", "name")
WORDS = frozenset({"mount", "name"})
"""Steps at which a word is typed."""
_LEVELS = (
    ("raid1", "", "raid1"),
    ("raid10", "n2", "raid10 near 2"),
    ("raid10", "f2", "raid10 far 2"),
    ("raid10", "o2", "raid10 offset 2"),
    ("raid5", "", "raid5"),
    ("raid6", "", "raid6"),
    ("raid0", "", "raid0"),
)
_CHUNKS = (16, 32, 64, 128, 256, 512)
_UNNAMED, _NO_UUID = "new-array", "00000000:00000000:00000000:00000001"
# chunk KiB -> random read and random write at blocks of 8, 64, 512 and 1024 KiB.
_PUBLISHED = {
    16: ((66, 448, 753, 832), (158, 615, 730, 775)),
    32: ((66, 390, 791, 868), (166, 609, 754, 816)),
    512: ((64, 277, 436, 851), (130, 430, 463, 837)),
}


class Draft(Struct, frozen=True, kw_only=True):
    """What has been decided. Empty is undecided."""

    devices: tuple[str, ...] = ()
    disks: str = ""
    level: str = ""
    layout: str = ""
    chunk_kib: int = 0
    bitmap: str = ""
    policy: str = ""
    on_top: str = ""
    mount: str = ""
    name: str = ""

    def request(self, uuid: str = _NO_UUID, file_system_uuid: str = "") -> CreateRequest:
        """Return it as a request; what is undecided is as create's own default."""
        group = f"vg{self.name}" if self.on_top.startswith("lvm") else ""
        return CreateRequest(
            name=self.name or _UNNAMED,
            uuid=uuid,
            level=self.level or "raid1",
            devices=self.devices,
            layout=self.layout,
            chunk_kib=self.chunk_kib,
            bitmap=self.bitmap,
            consistency_policy=self.policy,
            on_top=OnTop(
                file_system=self.on_top.removeprefix("lvm+") if self.on_top not in {"", "nothing"} else "",
                mount=self.mount,
                group=group,
                uuid=file_system_uuid,
            ),
        )


class Pick(Struct, frozen=True, kw_only=True):
    """One thing that can be chosen.

    Args:
        key: what it is known by within its step.
        words: its row.
        note: what is known about it, one or more sentences.
        refusal: why it cannot be chosen, if so.
    """

    key: str
    words: str
    note: str = ""
    refusal: str = ""


def picks(step: str, draft: Draft, survey: Survey) -> tuple[Pick, ...]:
    """Return what can be chosen at a step; nothing where there is nothing to decide (or a word is typed)."""
    if step == "devices":
        return _devices(survey)
    if step == "disks":
        return _disks(draft, survey)
    if step == "level":
        return tuple(_level(draft, survey, *each) for each in _LEVELS)
    if step == "chunk" and draft.level != "raid1":
        return tuple(_chunk(kib) for kib in _CHUNKS)
    if step == "bitmap" and draft.level != "raid0":
        return _bitmaps(draft.level)
    return _ON_TOP if step == "on top" else ()


def is_asked(step: str, draft: Draft) -> bool:
    """Whether a word is asked for at this step; a place to mount at only where there is a file system."""
    return step == "name" or (step == "mount" and draft.on_top not in {"", "nothing"})


def choose(step: str, key: str, draft: Draft) -> Draft:
    """Return the draft with a choice; what was decided on top of another one is undecided again."""
    if step == "level":
        level, layout, _ = next(each for each in _LEVELS if each[2] == key)
        return Draft(devices=draft.devices, disks=draft.disks, level=level, layout=layout, name=draft.name)
    values = {field: getattr(draft, field) for field in Draft.__struct_fields__}
    if step == "chunk":
        values["chunk_kib"] = int(key)
    elif step == "bitmap":
        values |= {"bitmap": "none", "policy": "ppl"} if key == "ppl" else {"bitmap": key, "policy": ""}
    elif step == "on top":
        values |= {"on_top": key, "mount": values["mount"] if key != "nothing" else ""}
    else:
        values[step] = key
    return Draft(**values)


def toggle(draft: Draft, device: str) -> Draft:
    """Return the draft with a device more, or less; what was decided for the others is undecided again."""
    kept = tuple(name for name in draft.devices if name != device)
    return Draft(devices=kept if device in draft.devices else (*draft.devices, device), name=draft.name)


def refuse_word(step: str, draft: Draft, survey: Survey, word: str) -> Refusal | None:
    """Return why an array cannot be called so, or mounted there, or None."""
    if step == "mount":
        return refuse_on_top(OnTop(file_system="ext4", mount=word), survey) if word else None
    made = refuse_name(word) or refuse_taken(survey.snapshot, word)
    if made is None and draft.on_top.startswith("lvm"):
        made = refuse_on_top(OnTop(group=f"vg{word}"), survey)
    return made


def decided(draft: Draft) -> tuple[tuple[str, str], ...]:
    """Return (step, what was decided) for the column at the left; "–" for what is open."""
    chunk = f"{draft.chunk_kib} KiB" if draft.chunk_kib else "none" if draft.level == "raid1" else "–"
    bitmap = draft.policy or draft.bitmap or ("none" if draft.level == "raid0" else "–")
    return (
        ("devices", " ".join(draft.devices) or "–"),
        ("disks", _DISKS.get(draft.disks, "–")),
        ("level", f"{draft.level} {draft.layout}".strip() or "–"),
        ("chunk", chunk),
        ("bitmap", bitmap),
        ("on top", draft.on_top or "–"),
        ("mount", draft.mount or "–"),
        ("name", draft.name or "–"),
    )


def plan_build(draft: Draft, survey: Survey, uuid: str, file_system_uuid: str) -> Plan | Refusal:
    """Return the plan of a finished draft."""
    return _planned(draft.request(uuid, file_system_uuid), draft, survey)


def _planned(request: CreateRequest, draft: Draft, survey: Survey) -> Plan | Refusal:
    if draft.disks.isdigit():
        return plan_on_disks(request, survey, reserve_percent=int(draft.disks))
    return plan_create(request, survey)


def _disks(draft: Draft, survey: Survey) -> tuple[Pick, ...]:
    """What whole disks become; nothing to decide where partitions alone were chosen."""
    devices = [survey.devices[name].disk for name in draft.devices if name in survey.devices]
    if not any(disk.disk == disk.name for disk in devices):
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


def _devices(survey: Survey) -> tuple[Pick, ...]:
    found = []
    for name, device in survey.devices.items():
        disk = device.disk
        has = [use.words for use in disk.uses]
        if device.superblock is not None:
            has.append(f'member of "{device.superblock.label}"')
        size = short_binary(disk.size_bytes) if disk.size_bytes else "?"
        refusal = refuse_device(device, survey)
        words = f"{fit(name, 9)} {size:>6}  {fit(tail(disk.identity, 14), 14)}  {', '.join(has) or 'empty'}"
        note = "" if device.aligned else f"It begins at {device.start_bytes} bytes, which is not aligned."
        if has and refusal is None:
            note = f"{note} What is on it will be gone: {', '.join(has)}.".strip()
        found.append(Pick(key=name, words=words, note=note, refusal=refusal.sentence if refusal else ""))
    return tuple(sorted(found, key=lambda pick: bool(pick.refusal)))


def _level(draft: Draft, survey: Survey, level: str, layout: str, words: str) -> Pick:
    tried = Draft(devices=draft.devices, disks=draft.disks, level=level, layout=layout)
    made = _planned(tried.request(), tried, survey)
    if isinstance(made, Refusal):
        return Pick(key=words, words=words, refusal=made.sentence)
    size = made.notes[0].partition(" on ")[0]
    note = " ".join(made.notes[1:4])
    return Pick(key=words, words=f"{words:<16} {size:>9}", note=note)


def _chunk(kib: int) -> Pick:
    words = {
        16: "For small random I/O.",
        32: "The published choice for small I/O of one job.",
        64: "Between small I/O and streams.",
        128: "Between small I/O and streams.",
        256: "For large files and many jobs.",
        512: "mdadm's default, for large files and many jobs.",
    }[kib]
    note = words
    if kib in _PUBLISHED:
        reads, writes = ("/".join(map(str, values)) for values in _PUBLISHED[kib])
        note += (
            f" Published, blocks of 8/64/512/1024 KiB: random read {reads}, random write {writes} MB/s"
            " (RAID 10 of four SATA SSDs, one job). Measure your own."
        )
    return Pick(key=str(kib), words=f"{kib:>4} KiB", note=note)


_DISKS = {"10": "10 % free", "7": "7 % free", "0": "partition", "whole": "whole"}
_ON_TOP = (
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
)


def _bitmaps(level: str) -> tuple[Pick, ...]:
    none = Pick(
        key="none",
        words="none",
        note="Costs nothing. After a crash all is synced again; a member that was away is copied as a whole.",
    )
    internal = Pick(
        key="internal",
        words="internal",
        note="After a crash, or when a member comes back, only what changed is synced. Published cost: up to"
        " 30 % of sequential writes (2016, small bitmap chunks); less with today's 64 MiB. Measure it.",
    )
    ppl = Pick(
        key="ppl",
        words="ppl (partial parity log)",
        note="Closes the write hole: a crash while degraded loses nothing. May cost 30 to 40 % of writes.",
    )
    if level in {"raid4", "raid6"}:
        return (internal,)
    return (internal, ppl) if level == "raid5" else (none, internal)
