"""Whether a verb's wish is fulfilled on an array or a device as it is: for those who plan the same twice.

Each function returns :class:`NothingToDo`, or None: then the verb is planned, or refused, as ever. What only
has the same name is never taken for what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.model.array import Array, Member
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import NothingToDo
from raidtui.model.survey import Superblock, Survey
from raidtui.plans.assemble import StoppedArray, stopped_arrays
from raidtui.plans.member_partition import partition_name
from raidtui.plans.persist import names_another
from raidtui.view.units import counted, joined

_OTHER_ROLES = frozenset({"journal", "replacement"})


def stopped_already(survey: Survey, word: str) -> NothingToDo | None:
    """Return that an array is there and does not run.

    Args:
        survey: the host, with all devices.
        word: the array as it was named; no array that is there has this name.
    """
    if survey.refuse_pending() is not None:
        return None
    found = [each for each in stopped_arrays(survey) if _means(word, each.block)]
    if len(found) != 1:
        return None
    return NothingToDo(why=f"{found[0].block.label} does not run: {_members(found[0])}")


def renamed_already(survey: Survey, word: str, to: str) -> NothingToDo | None:
    """Return that an array has the new name, and that nothing has the old one, at rest or in mdadm.conf.

    Args:
        survey: the host, with all devices.
        word: the array as it was named; no array that is there has this name.
        to: the new name.
    """
    if survey.refuse_pending() is not None:
        return None
    found = [array for array in survey.snapshot.arrays if array.label == to and array.active]
    if len(found) != 1 or any(_means(word, each.block) for each in stopped_arrays(survey)):
        return None
    if names_another(survey.texts.get(survey.conf_path, ""), word, found[0].uuid or ""):
        return None
    return NothingToDo(why=f"{found[0].name} is named {to}, and nothing is named {word}")


def _means(word: str, block: Superblock) -> bool:
    """Whether a word may mean an array at rest: its name, a path that ends with it, its number, its UUID."""
    names = {block.label, f"/dev/md/{block.label}", f"md{block.label}", f"/dev/md{block.label}"}
    return word in names or (len(word) >= 8 and (block.uuid or "").startswith(word.lower()))


def _members(array: StoppedArray) -> str:
    be = "is its member" if len(array.names) == 1 else "are its members"
    return f"{joined(array.names)} {be}"


def assembled_already(survey: Survey, names: Sequence[str], *, read_only: bool) -> NothingToDo | None:
    """Return that all these devices are members, in use, of one array that runs as it was asked for.

    Args:
        survey: the host.
        names: kernel names.
        read_only: whether nothing is to be written to it.
    """
    for array in survey.snapshot.arrays:
        held = {member.name for member in array.members if _serves(member)}
        if names and set(names) <= held and array.active:
            if read_only and not array.read_only:
                return None
            return NothingToDo(why=f"{array.title} runs, with {joined(names)}")
    return None


def zeroed_already(survey: Survey, name: str) -> NothingToDo | None:
    """Return that a device was read and has no md superblock."""
    device = survey.devices.get(name)
    if (
        device is None
        or survey.refuse_unread(name) is not None
        or device.digest is None
        or not survey.mdadm.is_known
    ):
        return None
    if device.superblock is not None or _member(survey.snapshot.arrays, name) is not None:
        return None
    return NothingToDo(why=f"{name} has no md superblock")


def added_already(array: Array, name: str) -> NothingToDo | None:
    """Return that a device is a member or a spare of an array."""
    member = _taken(array, name)
    if member is None or not _serves(member) or member.role in _OTHER_ROLES or not array.active:
        return None
    return NothingToDo(why=f"{name} is {member.role} in {array.title}")


def removed_already(survey: Survey, array: Array, name: str) -> NothingToDo | None:
    """Return that a device is there and no member of an array."""
    if _member((array,), name) is not None or name not in survey.devices:
        return None
    return NothingToDo(why=f"{name} is not a member of {array.title}")


def replaced_already(array: Array, old: str, new: str) -> NothingToDo | None:
    """Return that a device is in a member's place, or is being filled for it."""
    gone, came = _member((array,), old), _taken(array, new)
    if came is None or came.slot is None or not _serves(came):
        return None
    if gone is not None and gone.has("want_replacement") and came.has("replacement"):
        return NothingToDo(why=f"md is copying {old} to {new}") if gone.slot == came.slot else None
    if came.has("in_sync") and (gone is None or gone.has("faulty")):
        return NothingToDo(why=f"{new} is in service in {array.title}, and {old} is not")
    return None


def grown_already(array: Array, names: Sequence[str], slots: int) -> NothingToDo | None:
    """Return that an array has so many slots, and that the named devices are in them.

    Args:
        array: the array.
        names: kernel names of the devices that were to be added.
        slots: how many slots were asked for; 0: one more for each device.
    """
    members = [_taken(array, name) for name in names]
    if any(each is None or each.slot is None or not _serves(each) for each in members):
        return None
    if not array.active or not (names or slots) or (slots and slots != array.raid_disks):
        return None
    return NothingToDo(why=f"{array.title} has {counted(array.raid_disks or 0, 'slot')}{_with(names)}")


def _with(names: Sequence[str]) -> str:
    return f", and {joined(names)} {'is' if len(names) == 1 else 'are'} in them" if names else ""


def shrunk_already(array: Array, slots: int, size_kib: int) -> NothingToDo | None:
    """Return that an array has so many slots, or uses so much of each member (KiB); 0: not asked for."""
    if not array.active:
        return None
    if slots and slots == array.raid_disks:
        return NothingToDo(why=f"{array.title} has {counted(slots, 'slot')}")
    if size_kib and size_kib == array.component_kib:
        return NothingToDo(why=f"{array.title} uses {size_kib} KiB of each member")
    return None


def journal_already(array: Array, name: str) -> NothingToDo | None:
    """Return that an array has this device as its journal; "": that it has none."""
    if not array.active or array.level not in PARITY_LEVELS:
        return None
    own = next((member.name for member in array.members if member.has("journal")), "")
    if name and own == name and not array.read_only:
        return NothingToDo(why=f"{name} is the journal of {array.title}")
    if not name and not own and array.consistency_policy not in {None, "journal"}:
        return NothingToDo(why=f"{array.title} has no journal")
    return None


def _serves(member: Member) -> bool:
    """Whether a member has neither failed nor left the machine."""
    return not member.has("faulty") and member.present is not False


def _taken(array: Array, name: str) -> Member | None:
    """Return the member that a device has become: itself, or the partition that a whole disk was given."""
    return _member((array,), name) or _member((array,), partition_name(name))


def _member(arrays: Sequence[Array], name: str) -> Member | None:
    return next((each for array in arrays for each in array.members if each.name == name), None)
