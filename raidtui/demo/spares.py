"""Spares: how md picks them (remove_and_add_spares) and what becomes of them (spare_active)."""

from __future__ import annotations

from raidtui.demo.array import SimArray, SimMember


def place_spares(array: SimArray) -> None:
    """Give spares the slots that nobody holds, then let them replace members that are to go."""
    held = {m.slot for m in array.members if m.slot is not None and not m.replacement}
    spares = [member for member in array.members if member.is_spare]
    for slot in range(array.raid_disks):
        if slot not in held and spares:
            spare = spares.pop(0)
            spare.slot, spare.recovered_sectors = slot, 0
    replaced = {member.slot for member in array.members if member.replacement}
    for member in array.members:
        if member.wanted_gone and member.in_sync and member.slot not in replaced and spares:
            spare = spares.pop(0)
            spare.slot, spare.replacement, spare.recovered_sectors = member.slot, True, 0


def activate_spares(array: SimArray) -> None:
    """A recover is done: its targets are in sync, and what they replaced has failed."""
    for member in [member for member in array.members if member.is_target]:
        if member.replacement:
            for old in _holders(array, member):
                old.faulty, old.in_sync, old.wanted_gone = True, False, False
                old.saved_slot, old.slot = old.slot, None
        member.in_sync, member.replacement, member.recovered_sectors = True, False, 0


def _holders(array: SimArray, member: SimMember) -> list[SimMember]:
    return [each for each in array.members if each is not member and each.slot == member.slot]
