"""/proc/mdstat of the simulated host, as md.c 6.12 prints it, byte for byte (md_seq_show, status_resync)."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.demo.sim_array import SimArray, SimMember, SimSync
from raidtui.model.levels import Raid10Layout

_WORDS = {"recover": "recovery", "repair": "resync"}
_BITMAP = "bitmap: {used}/{pages} pages [{kib}KB], 65536KB chunk"
_SCALE = 10
_PERSONALITIES = "Personalities : [raid0] [raid1] [raid10] [raid6] [raid5] [raid4] \n"


def mdstat_text(arrays: Sequence[SimArray], now_s: float) -> str:
    """Return /proc/mdstat; ``now_s`` is the simulated kernel's time."""
    body = "".join(_mdstat_array(array, now_s) for array in arrays)
    return f"{_PERSONALITIES}{body}unused devices: <none>\n"


def _mdstat_array(array: SimArray, now_s: float) -> str:
    state = "broken" if array.broken else "active"
    members = "".join(f" {_mdstat_member(member)}" for member in reversed(array.members))
    text = f"{array.name} : {state} {array.level}{members}\n"
    text += f"      {array.array_kib} blocks super {array.metadata}{_mdstat_geometry(array)}\n      "
    if array.redundant and (sync := _mdstat_sync(array, now_s)):
        text += f"{sync}\n      "
    if array.bitmap:
        used, pages = array.bitmap_pages(now_s)
        text += _BITMAP.format(used=used, pages=pages, kib=used * 4) + "\n"
    return text + "\n"


def _mdstat_member(member: SimMember) -> str:
    text = f"{member.device}[{member.number}]"
    if member.write_mostly:
        text += "(W)"
    if member.faulty:
        return text + "(F)"
    if member.slot is None:
        text += "(S)"
    return text + ("(R)" if member.replacement else "")


def _mdstat_geometry(array: SimArray) -> str:
    marks = f" [{array.raid_disks}/{array.raid_disks - array.degraded}] [{array.up}]"
    if array.level == "raid0":
        return f" {array.chunk_kib}k chunks"
    if array.level == "raid1":
        return marks
    before = array.reshape or array  # md prints chunk and layout of what has not been moved yet
    if array.level == "raid10":
        layout = Raid10Layout.decode(array.layout)
        near = layout.near if layout else 1
        return f" {before.chunk_kib}K chunks" + (f" {near} near-copies" if near > 1 else "") + marks
    level = array.level.removeprefix("raid")
    return f" level {level}, {before.chunk_kib}k chunk, algorithm {before.layout}{marks}"


def _mdstat_sync(array: SimArray, now_s: float) -> str:
    sync = array.sync
    if sync is None:
        return "" if array.recovery_cp is None else "\tresync=PENDING"
    if sync.delayed:
        return "\tresync=DELAYED"
    return _mdstat_progress(sync, now_s)


def _mdstat_progress(sync: SimSync, now_s: float) -> str:
    done = min(max(3, int(sync.done_sectors)), sync.total_sectors - 1)
    permille = (done >> _SCALE) * 1000 // ((sync.total_sectors >> _SCALE) + 1)
    filled = permille // 50
    bar = "=" * filled + ">" + "." * (20 - filled)
    moved, elapsed_s = sync.window(now_s)
    left_s = (sync.total_sectors - done) // (moved // 32 + 1) * elapsed_s >> 5
    word = _WORDS.get(sync.action, sync.action)
    return (
        f"[{bar}]  {word} ={permille // 10:3d}.{permille % 10}% ({done // 2}/{sync.total_sectors // 2})"
        f" finish={left_s // 60}.{left_s % 60 // 6}min speed={moved // 2 // elapsed_s}K/sec"
    )
