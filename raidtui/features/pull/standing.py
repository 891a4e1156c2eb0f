"""Where an exchange stands: the record of it, against what the kernel shows now. Pure.

What is there is decided by facts alone: the jobs of the exchange only say what is under way. So it makes no
difference who took a disk out, put one in, or whether raidtui was there when it happened.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from raidtui.features.pull.bays import BayDisk, by_identity, partition_of_disk
from raidtui.features.pull.record import PullDisk, PullMember, PullRecord
from raidtui.jobs.states import RESUMABLE, UNDER_WAY, JobState
from raidtui.model.array import Array, Member
from raidtui.model.array_sync import Sync


class PullStage(StrEnum):
    """What is the case. The words stay as they are; ``docs/pull.md`` lists them."""

    TAKING = "taking out"  # the job that takes the disk out of its arrays runs
    SERVING = "in service"  # the disk is there, and is a member of an array: do not pull it
    WAITING = "pull it"  # the disk is there, and out of all arrays
    LEFT = "left"  # it has left; no new disk is there yet
    BACK = "back"  # the disk that had left is there again
    FRESH = "new disk"  # a new disk is there
    FILLING = "filling"  # the new disk, or the old one, is in, and its arrays are not complete yet
    DONE = "done"  # the arrays are complete again


class OtherState(StrEnum):
    """What became of a disk that is not to be pulled."""

    THERE = "there"
    LEFT = "left"  # it was pulled, or has died
    OUT = "out"  # it is there, and is no member where it was one
    FILLING = "filling"  # it is a member again, and not yet up to date


class PullStanding(Struct, frozen=True, kw_only=True):
    """Where an exchange stands.

    Args:
        target: the disk to be pulled, while it is there.
        others: each other disk of the record, and what became of it.
        fresh: the disks that can take its place, the one in the same bay first; in ``FILLING`` and ``DONE``
            the one that has.
        names: the kernel's names of the disks that are there, by identity.
        unnamed: names of disks of which no serial number is known: udev has not read them yet, or they have
            none.
        job: the job that does what the stage is about, where it has not ended well; "" for none.
        job_state: its state.
        interrupted: whether that job is to be resumed, rather than a new plan to be made.
        complete: whether no array of the disk misses a member.
        lost: titles of arrays that miss more members than their level survives, or are gone.
        sync: what md does on one of these arrays.
    """

    stage: PullStage
    target: BayDisk | None = None
    others: tuple[tuple[PullDisk, OtherState], ...] = ()
    fresh: tuple[BayDisk, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    unnamed: tuple[str, ...] = ()
    job: str = ""
    job_state: JobState | None = None
    interrupted: bool = False
    complete: bool = False
    lost: tuple[str, ...] = ()
    sync: Sync | None = None

    def those(self, state: OtherState) -> tuple[PullDisk, ...]:
        """Return the other disks of which this is the case."""
        return tuple(disk for disk, each in self.others if each is state)

    @property
    def wrong(self) -> tuple[PullDisk, ...]:
        """The disks that have left and should not have."""
        return self.those(OtherState.LEFT)


_BEFORE = frozenset({PullStage.TAKING, PullStage.SERVING, PullStage.WAITING, PullStage.LEFT})
_CUT = frozenset({JobState.MADE, JobState.INTERRUPTED})
_RESUMED = {
    PullStage.SERVING: _CUT,
    PullStage.FRESH: _CUT,
    PullStage.BACK: _CUT,
    PullStage.FILLING: RESUMABLE,  # what is in an array already is not a disk to make a plan for
}
"""In which states of its job a stage continues with that, rather than with a new plan."""


def standing(
    record: PullRecord, bays: Sequence[BayDisk], arrays: Sequence[Array], jobs: Mapping[str, JobState]
) -> PullStanding:
    """Return where an exchange stands.

    Args:
        record: what is known of it.
        bays: the disks that are there now.
        arrays: the arrays that are there now.
        jobs: the states of the record's jobs, by id, as far as they are there.
    """
    here, known = by_identity(tuple(bays)), {array.uuid: array for array in arrays if array.uuid}
    target = here.get(record.target.identity)
    uuids = {member.uuid for member in record.target.members}
    own = [known[uuid] for uuid in uuids if uuid in known]
    fresh = _fresh(record, bays)
    placed = tuple(disk for disk in fresh if _members(disk.name, own))
    complete = len(own) == len(uuids) and not any(array.degraded for array in own)
    serves = target is not None and bool(_members(target.name, own))
    back = target is not None and has_been_away(record, target)
    stage = _stage(
        record,
        jobs,
        there=target is not None,
        serves=serves,
        back=back,
        placed=bool(placed),
        fresh=bool(fresh),
        complete=complete,
    )
    shown = placed or fresh
    job = record.out_job if stage in _BEFORE else record.fill_job
    state = jobs.get(job)
    same = stage in _BEFORE or record.fresh in {disk.identity for disk in (*shown[:1], *_given(target))}
    return PullStanding(
        stage=stage,
        target=target,
        others=tuple((other, _other(other, here, known)) for other in record.others),
        fresh=shown,
        names={identity: disk.name for identity, disk in here.items()},
        unnamed=tuple(disk.name for disk in bays if not disk.identity),
        job=job if state in UNDER_WAY or state in RESUMABLE else "",
        job_state=state,
        interrupted=same and state in _RESUMED.get(stage, frozenset()),
        complete=complete,
        lost=_lost(record, known),
        sync=next((array.sync for array in own if array.sync is not None), None),
    )


def _stage(
    record: PullRecord,
    jobs: Mapping[str, JobState],
    *,
    there: bool,
    serves: bool,
    back: bool,
    placed: bool,
    fresh: bool,
    complete: bool,
) -> PullStage:
    if jobs.get(record.out_job) is JobState.RUNNING and there and not back:
        return PullStage.TAKING
    if placed or (back and serves):
        return PullStage.DONE if complete else PullStage.FILLING
    if jobs.get(record.fill_job) in UNDER_WAY:
        return PullStage.FILLING
    if there and not back:
        return PullStage.SERVING if serves else PullStage.WAITING
    if back:
        return PullStage.BACK
    return PullStage.FRESH if fresh else PullStage.LEFT


def _given(target: BayDisk | None) -> tuple[BayDisk, ...]:
    return () if target is None else (target,)


def has_been_away(record: PullRecord, target: BayDisk) -> bool:
    """Whether the disk that is to be pulled had left, and is there again.

    After a reboot that no one saw its absence before, this is not known: it counts as not yet pulled.
    """
    if record.left_s is not None:
        return True
    then, now = record.appearance, target.appearance
    return bool(then and now) and then != now and then.partition("/")[0] == now.partition("/")[0]


def _fresh(record: PullRecord, bays: Sequence[BayDisk]) -> tuple[BayDisk, ...]:
    """Return the disks that were not there when the exchange began, the one in the same bay first."""
    old = {record.target.identity, *(other.identity for other in record.others)}
    found = [disk for disk in bays if disk.identity and disk.identity not in old]
    bay = record.target.bay
    return tuple(sorted(found, key=lambda disk: (disk.identity != record.fresh, not bay or disk.bay != bay)))


def _members(disk: str, arrays: Collection[Array]) -> list[Member]:
    """Return the members of arrays that a disk is or holds. A failed one counts: md has not let it go."""
    return [
        member
        for array in arrays
        for member in array.members
        if member.name == disk or (member.name.startswith(disk) and _is_part(member.name, disk))
    ]


def _is_part(name: str, disk: str) -> bool:
    rest = name.removeprefix(disk)
    return (rest.removeprefix("p") if disk[-1:].isdigit() else rest).isdigit()


def _other(other: PullDisk, here: Mapping[str, BayDisk], arrays: Mapping[str, Array]) -> OtherState:
    disk = here.get(other.identity)
    if disk is None:
        return OtherState.LEFT
    states = [_member_state(disk.name, member, arrays) for member in other.members]
    for state in (OtherState.OUT, OtherState.FILLING):
        if state in states:
            return state
    return OtherState.THERE


def _member_state(disk: str, was: PullMember, arrays: Mapping[str, Array]) -> OtherState:
    array = arrays.get(was.uuid)
    if array is None:  # stopped, by whomever: then nothing is out of it
        return OtherState.THERE
    name = partition_of_disk(disk, was.part)
    member = next((each for each in array.members if each.name == name), None)
    if member is None or member.has("faulty"):
        return OtherState.OUT
    filled = was.slot is None or member.has("in_sync") or not array.active
    return OtherState.THERE if filled else OtherState.FILLING


def _lost(record: PullRecord, arrays: Mapping[str, Array]) -> tuple[str, ...]:
    """Return the arrays of all disks of the record that have lost too much, in the order of the record."""
    disks = (record.target, *record.others)
    was = {member.uuid: member.array for disk in disks for member in disk.members}
    return tuple(title for uuid, title in was.items() if _is_lost(arrays.get(uuid)))


def _is_lost(array: Array | None) -> bool:
    if array is None or not array.active or array.array_state == "broken":
        return True
    return array.losses_left is not None and array.losses_left < 0
