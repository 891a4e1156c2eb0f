"""Diagnoses an array from its superblocks and SMART data. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from raidtui.features.rescue.groups import MemberGroup, say_behind
from raidtui.features.rescue.loose_devices import partitions_of, signature_of
from raidtui.features.rescue.records import Cause, CauseCode
from raidtui.features.rescue.state_causes import find_state_causes
from raidtui.model.geometry import slots_words
from raidtui.model.smart import PATIENT_S
from raidtui.plans.whole import MARGIN_EVENTS, StaleMember
from raidtui.view.moments import moment
from raidtui.view.text import visible
from raidtui.view.units import binary_size, counted, duration, joined

_TOGETHER_S = 60.0


def find_causes(group: MemberGroup, others: Sequence[MemberGroup]) -> tuple[Cause, ...]:
    """Return what is the case with an array, the most important first.

    Args:
        group: the array.
        others: the other arrays of the host.
    """
    recreated = (*_recreated(group, others), *_older_contents(group))
    found = [
        *(() if recreated else _not_enough(group)),
        *_read_errors(group),
        *_split(group),
        *_stale(group),
        *recreated,
        *_lost(group),
        *_partition_lost(group),
        *_one_behind(group),
        *_missing(group),
        *find_state_causes(group),
    ]
    if group.array is not None and group.array.active:
        text = f"It is running as {group.array.name}."
        return (Cause(code=CauseCode.RUNNING, text=text), *found)
    harmless = {CauseCode.ONE_BEHIND, CauseCode.FOREIGN, CauseCode.TWIN, CauseCode.BAD_BLOCKS, CauseCode.DISK}
    if not group.external and all(each.code in harmless for each in found):
        found.append(Cause(code=CauseCode.COMPLETE, text=_complete_words(group)))
    return tuple(found)


def _complete_words(group: MemberGroup) -> str:
    words = f"All {counted(len(group.standing.whole), 'member')} are here and agree"
    words += ": none of them keeps it from starting."
    if group.newest.dirty:
        words += " It was being written to when it stopped: md resyncs it after the start."
    if group.young:
        words += (
            f" It was created recently, {moment(group.newest.created_s)}: if the data are older, mdadm"
            " --create was run over their array, and order, chunk and offset may be wrong."
        )
    return words


def _not_enough(group: MemberGroup) -> Iterator[Cause]:
    if group.standing.enough is not False or group.forced is not None or group.enough_with_lost:
        return  # also where members are unusable: their data are there
    whole = sorted(group.standing.whole.values())
    some = (
        f"only {joined(whole)} hold{'s' if len(whole) == 1 else ''} its data"
        if whole
        else "none has its data"
    )
    hope = ""
    if group.wanted:
        full = any(not group.medium(name).blank for name in group.lost)
        unless = " unless it is one of the devices without superblock" if full else ""
        hope = f" Without {group.wanted}, it cannot be saved{unless}."
    yield Cause(
        code=CauseCode.NOT_ENOUGH,
        text=f"Too few members for {group.newest.level} with {counted(group.disks, 'slot')}: {some}, even"
        f" if outdated data count.{hope}",
        devices=tuple(whole),
    )


def _read_errors(group: MemberGroup) -> Iterator[Cause]:
    for name in (*group.blocks, *group.lost):
        medium = group.medium(name)
        if medium.error:
            at = f" at {binary_size(medium.error_bytes)}" if medium.error_bytes is not None else ""
            yield Cause(
                code=CauseCode.READ_ERRORS,
                text=f"{name} gives read errors{at} ({medium.error}): its disk fails, whatever its"
                " superblock says.",
                devices=(name,),
            )


def _split(group: MemberGroup) -> Iterator[Cause]:
    for one, other in group.halves:
        both = [
            f"{name} was last written {moment(group.blocks[name].updated_s)} (event"
            f" {group.blocks[name].events}, {group.blocks[name].roles})"
            for name in (one, other)
        ]
        yield Cause(
            code=CauseCode.SPLIT_BRAIN,
            text=f"Split brain: {one} and {other} each mark the other as failed. Both have run alone, and"
            f" each may hold what the other lacks: {joined(both)}. mdadm would silently take the"
            " one with more events.",
            devices=(one, other),
        )


def _stale(group: MemberGroup) -> Iterator[Cause]:
    halves = {name for pair in group.halves for name in pair}
    left = [each for each in group.standing.not_whole if not each.rebuilding and each.name not in halves]
    left.sort(key=lambda each: (*(-part for part in group.age(each.name)), each.name))
    if not left:
        return
    kicked = _left_at_once(group, left)
    if len(kicked) > 1 and group.standing.enough is False:
        span = _span_s(group, kicked)
        near = span is not None and span >= 1
        within = f"within {duration(span or 0)} of each other" if near else "at almost the same time"
        names = joined([each.name for each in kicked])
        yield Cause(
            code=CauseCode.FAILED_TOGETHER,
            text=f"{names} dropped out {within}, which is more than {group.newest.level}"
            " survives: a cable, a controller or the power is likelier than that many disks at once."
            f" {_disks_say(group, [each.name for each in kicked])}",
            devices=tuple(each.name for each in kicked),
        )
    late = [each.name for each in left if group.medium(each.name).impatience]
    if len(left) > 1 and late:
        disks = " ".join(f"/dev/{group.facts.survey.devices[name].disk.disk}" for name in late)
        yield Cause(
            code=CauseCode.TIMEOUT,
            text=f"{late[0]} {group.medium(late[0]).impatience}"
            + (f", and so with {joined(late[1:])}" if late[1:] else "")
            + ": at a bad sector, md then drops a disk that is otherwise fine. Before anything is rebuilt,"
            f" make them give up first: smartctl -l scterc,70,70 {disks}, or a command timeout of"
            f" {PATIENT_S} s.",
            devices=tuple(late),
        )
    ages = {group.age(each.name) for each in left}
    for number, each in enumerate(left):
        order = f" {'first' if number == 0 else 'next'}" if len(ages) > 1 else ""
        yield Cause(
            code=CauseCode.STALE,
            text=f"{each.name} (slot {each.slot}) dropped out{order}, last written"
            f" {moment(group.blocks[each.name].updated_s)}:"
            f" {say_behind(group, each.name)}.{_marked_words(group, each)}"
            f" {_disks_say(group, [each.name])}",
            devices=(each.name,),
        )


def _one_behind(group: MemberGroup) -> Iterator[Cause]:
    names = [name for name in sorted(group.standing.whole.values()) if group.events_behind(name) == 1]
    if names and not group.halves:
        yield Cause(
            code=CauseCode.ONE_BEHIND,
            text=f"{joined(names)} {'is' if len(names) == 1 else 'are'} one event behind, as after a"
            " crash: mdadm counts that as up to date. Check the array after the start.",
            devices=tuple(names),
        )


def _marked_words(group: MemberGroup, stale: StaleMember) -> str:
    if group.events_behind(stale.name) > MARGIN_EVENTS:
        return ""
    return f" So few events would be ignored, but it {stale.why}."


def _left_at_once(group: MemberGroup, left: Sequence[StaleMember]) -> list[StaleMember]:
    """Return the stale members that left within a minute of the last of them."""
    last = group.blocks[left[-1].name].updated_s
    if last is None:
        return []
    times = {each.name: group.blocks[each.name].updated_s for each in left}
    return [each for each in left if (at := times[each.name]) is not None and last - at <= _TOGETHER_S]


def _span_s(group: MemberGroup, members: Sequence[StaleMember]) -> float | None:
    times = [at for each in members if (at := group.blocks[each.name].updated_s) is not None]
    return max(times) - min(times) if times else None


def _disks_say(group: MemberGroup, names: Sequence[str]) -> str:
    """Return what the disks themselves say, which separates a failing disk from a bad cable."""
    said = []
    for name in names:
        medium = group.medium(name)
        if medium.error:
            said.append(f"{name} gives read errors: the disk itself")
        elif medium.dying:
            said.append(f"SMART of {name}: {medium.dying}: the disk itself")
        elif medium.link:
            said.append(f"SMART of {name}: {medium.link}: cable or controller")
        elif medium.smart:
            said.append(
                f"SMART finds nothing wrong with {name}: a cable or a controller is likelier than the disk"
            )
    unknown = [
        name
        for name in names
        if not ((seen := group.medium(name)).error or seen.dying or seen.link or seen.smart)
    ]
    if unknown:
        said.append(f"SMART of {joined(unknown)} is not known")
    return f"{'; '.join(said)}."


def _recreated(group: MemberGroup, others: Sequence[MemberGroup]) -> Iterator[Cause]:
    for other in others:
        older = _older_shape(group, other)
        if older:
            yield Cause(
                code=CauseCode.RECREATED,
                text=f"It was created {moment(group.newest.created_s)}, after {joined(older)} of"
                f" {other.newest.label}, an array of the same size, had last been written"
                f" ({moment(other.newest.updated_s)}): mdadm --create may have been run over it, and then"
                " order, chunk and offset may be wrong here.",
                devices=(*group.blocks, *older),
            )
        elif newer := _older_shape(other, group):
            yield Cause(
                code=CauseCode.RECREATED,
                text=f"The other members may carry the newer superblocks of {other.newest.label}"
                f" ({joined(sorted(other.blocks))}), created {moment(other.newest.created_s)}.",
                devices=(*newer, *other.blocks),
            )


def _older_contents(group: MemberGroup) -> Iterator[Cause]:
    """A file system on a member that is older than the array: the array was created over another."""
    created_s = group.newest.created_s
    made = {
        name: at
        for name in group.blocks
        if (at := group.medium(name).filesystem_s) is not None and created_s is not None and at < created_s
    }
    if made and group.young:
        yield Cause(
            code=CauseCode.RECREATED,
            text=f"It was created {moment(created_s)} and hardly used since, but on {joined(sorted(made))}"
            f" there is an older file system, {moment(min(made.values()))}. Unless that is left over from a"
            " former use, mdadm --create was run over another array, and order, chunk and offset may be wrong"
            " here.",
            devices=tuple(group.blocks),
        )


def _older_shape(group: MemberGroup, other: MemberGroup) -> list[str]:
    """Return the members of an older array of which this one may have been made.

    What is left of it is not enough to start it: the others now have the newer superblocks.
    """
    new, old = group.newest, other.newest
    if new.created_s is None or old.updated_s is None or new.created_s < old.updated_s or not group.young:
        return []
    if (
        other.standing.enough
        or not other.absent
        or group.external
        or other.external
        or group.disks != other.disks
    ):
        return []
    sizes = [
        {each.facts.survey.devices[name].disk.size_bytes for name in each.blocks} for each in (group, other)
    ]
    return sorted(other.blocks) if sizes[0] & sizes[1] else []


def _lost(group: MemberGroup) -> Iterator[Cause]:
    blank = [name for name in group.lost if group.medium(name).blank]
    signed = {
        name: signature
        for name in group.lost
        # Where the data begin at the start of the device, the signature may be that of what the array holds.
        if name not in blank and group.newest.offset_sectors
        if (signature := signature_of(group.facts.survey.devices[name]))
    }
    full = [name for name in group.lost if name not in blank and name not in signed]
    where = f"in slot{'s' if len(group.absent) > 1 else ''} {slots_words(group.absent)}"
    if full:
        be, may = ("has", "It") if len(full) == 1 else ("have", "They")
        yield Cause(
            code=CauseCode.SUPERBLOCK_LOST,
            text=f"{joined(full)} {be} no superblock, but the size, and data. {may} may be what is missing"
            f" {where}: its superblock zeroed or overwritten.",
            devices=tuple(full),
        )
    for name, signature in signed.items():
        yield Cause(
            code=CauseCode.OVERWRITTEN,
            text=f"{name} has the size of a member and is not in use, but has no superblock and a signature"
            f" of {visible(signature)}. It may be what is missing {where}, overwritten by another system; the"
            " rest of its data may still be there.",
            devices=(name,),
        )
    if blank:
        be = "is" if len(blank) == 1 else "are"
        yield Cause(
            code=CauseCode.BLANK,
            text=f"{joined(blank)} {be} of the right size, but blank wherever they were read: they"
            " hold nothing of the array.",
            devices=tuple(blank),
        )


def _partition_lost(group: MemberGroup) -> Iterator[Cause]:
    for name, start in group.starts.items():
        yield Cause(
            code=CauseCode.PARTITION_LOST,
            text=f"On {name}, the superblock is where a partition would have it that begins at sector"
            f" {start}{_table_words(group, name)}.",
            devices=(name,),
        )


def _table_words(group: MemberGroup, name: str) -> str:
    if partitions_of(group.facts.survey.devices[name]):
        return ", and none begins there: the partition table was rewritten, with other starts"
    return ": the partition table is lost"


def _missing(group: MemberGroup) -> Iterator[Cause]:
    roles = group.newest.roles
    silent = sorted(group.facts.survey.silent)
    also = f" {joined(silent)} did not answer, and may be one of them." if silent else ""
    there = [slot for slot in group.absent if roles is not None and roles[slot : slot + 1] not in {".", ""}]
    gone = [slot for slot in group.absent if slot not in there]
    if there:
        yield Cause(
            code=CauseCode.MISSING,
            text=f"{_slots(there)} not found. The last superblock ({moment(group.newest.updated_s)}) counts"
            f" on {'it: it' if len(there) == 1 else 'them: they'} dropped out after that.{also}",
        )
    if gone:
        known = " It had failed or been removed before the array stopped." if roles is not None else ""
        known = known.replace("It had", "They had") if len(gone) > 1 else known
        yield Cause(code=CauseCode.MISSING, text=f"{_slots(gone)} not found.{known}{also}")


def _slots(slots: Sequence[int]) -> str:
    return f"Slot {slots_words(slots)} was" if len(slots) == 1 else f"Slots {slots_words(slots)} were"
