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
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.model.text import fit, tail
from raidtui.model.units import short_binary

STEPS = ("devices", "level", "chunk", "bitmap", "name")
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
    level: str = ""
    layout: str = ""
    chunk_kib: int = 0
    bitmap: str = ""
    policy: str = ""
    name: str = ""

    def request(self, uuid: str = _NO_UUID) -> CreateRequest:
        """Return it as a request; what is undecided is as create's own default."""
        return CreateRequest(
            name=self.name or _UNNAMED,
            uuid=uuid,
            level=self.level or "raid1",
            devices=self.devices,
            layout=self.layout,
            chunk_kib=self.chunk_kib,
            bitmap=self.bitmap,
            consistency_policy=self.policy,
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
    if step == "level":
        return tuple(_level(draft, survey, *each) for each in _LEVELS)
    if step == "chunk" and draft.level != "raid1":
        return tuple(_chunk(kib) for kib in _CHUNKS)
    if step == "bitmap" and draft.level != "raid0":
        return _bitmaps(draft.level)
    return ()


def choose(step: str, key: str, draft: Draft) -> Draft:
    """Return the draft with a choice; what was decided on top of another one is undecided again."""
    if step == "level":
        level, layout, _ = next(each for each in _LEVELS if each[2] == key)
        return Draft(devices=draft.devices, level=level, layout=layout, name=draft.name)
    values = {field: getattr(draft, field) for field in Draft.__struct_fields__}
    if step == "chunk":
        values["chunk_kib"] = int(key)
    elif step == "bitmap":
        values |= {"bitmap": "none", "policy": "ppl"} if key == "ppl" else {"bitmap": key, "policy": ""}
    elif step == "name":
        values["name"] = key
    return Draft(**values)


def toggle(draft: Draft, device: str) -> Draft:
    """Return the draft with a device more, or less; what was decided for the others is undecided again."""
    kept = tuple(name for name in draft.devices if name != device)
    return Draft(devices=kept if device in draft.devices else (*draft.devices, device), name=draft.name)


def refuse_word(draft: Draft, survey: Survey, name: str) -> Refusal | None:
    """Return why an array cannot be called so, or None."""
    del draft
    return refuse_name(name) or refuse_taken(survey.snapshot, name)


def decided(draft: Draft) -> tuple[tuple[str, str], ...]:
    """Return (step, what was decided) for the column at the left; "–" for what is open."""
    chunk = f"{draft.chunk_kib} KiB" if draft.chunk_kib else "none" if draft.level == "raid1" else "–"
    bitmap = draft.policy or draft.bitmap or ("none" if draft.level == "raid0" else "–")
    return (
        ("devices", " ".join(draft.devices) or "–"),
        ("level", f"{draft.level} {draft.layout}".strip() or "–"),
        ("chunk", chunk),
        ("bitmap", bitmap),
        ("name", draft.name or "–"),
    )


def plan_build(draft: Draft, survey: Survey, uuid: str) -> Plan | Refusal:
    """Return the plan of a finished draft."""
    return plan_create(draft.request(uuid), survey)


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
    made = plan_create(Draft(devices=draft.devices, level=level, layout=layout).request(), survey)
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
