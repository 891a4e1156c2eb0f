"""Arrays that should run and do not: failed while they were watched, not started, or only named by a file.

An array that was stopped still has enough members to run. If too few are left, it has failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from raidtui.host.block import BLOCK, read_identity
from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.md.configured import read_configured
from raidtui.host.md.superblock import FoundMember, MemberScan, Superblocks
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.trial_traces import read_trials
from raidtui.host.udev import QUEUE, read_udev_entry
from raidtui.model.absent import Absence, AbsentArray, AbsentMember
from raidtui.model.array import Array, Member
from raidtui.model.geometry import losses_left
from raidtui.model.snapshot import StaleLine, TrialTrace
from raidtui.model.start_obstacle import obstacle_of
from raidtui.model.survey import Superblock
from raidtui.monitor.configured_arrays import RunningArrays, stale_lines, with_names
from raidtui.monitor.free_members import free_members

_SETTLE_S = 2.0
"""How long an array may be between two states, stopped and assembled again, before it is listed."""
_READ_S = 7.0
"""How long to wait for its superblocks."""
_LEAST_S = 0.25
"""The least time between two looks: events of devices come in bursts."""
_AGAIN_S = 60.0
"""How often to look at everything again without any event."""


class _Seen(Struct, kw_only=True):
    """An array as it was when it last ran."""

    array: Array
    serials: dict[str, str | None]
    places: dict[str, tuple[int, str]]
    """Slot and role of each member when it last had a slot: md removes it as the array fails."""
    at_s: float = 0.0
    died: bool = False
    ended: bool = False


class AbsentArrays:
    """Finds arrays that should run and do not. Not thread-safe: the sampling thread calls it.

    Args:
        reader: the host.
        may_ask: whether mdadm may be run for superblocks (it needs root).
        patient: whether to wait for superblocks, for a single report.
    """

    def __init__(self, reader: HostReader, *, may_ask: bool, patient: bool = False) -> None:
        self._reader = reader
        self._scan = MemberScan(reader)
        self._superblocks = Superblocks(reader, may_ask=may_ask, patient=patient)
        self._seen: dict[str, _Seen] = {}
        self._running: tuple[Array, ...] = ()
        self._shape: tuple[object, ...] | None = None
        self._found: tuple[AbsentArray, ...] = ()
        self._since: dict[str, float] | None = None
        self._looked_s = self._taken_s = 0.0
        self._dirty = True
        self.unsettled = False
        """Whether to look again soon."""
        self.stale_lines: Mapping[str, tuple[StaleLine, ...]] = {}
        """Lines of mdadm.conf with another UUID for arrays that run, at the last look."""
        self.trials: tuple[TrialTrace, ...] = ()
        """Rescue trials of which something was there at the last look."""

    def forget(self, name: str | None = None) -> None:
        """Look again at a device, or at all, after an event."""
        self._scan.forget(name)
        self._superblocks.forget(name)
        self._dirty = True

    def read(self, arrays: tuple[Array, ...], taken_s: float, clock_s: float) -> tuple[AbsentArray, ...]:
        """Return the arrays that should run and do not.

        Args:
            arrays: those of /proc/mdstat.
            taken_s: epoch seconds of the sample.
            clock_s: monotonic seconds of the sample.
        """
        changed = self._has_changed(arrays)
        if changed:
            self._remember(arrays)
            self._superblocks.forget_empty()
        self._taken_s = taken_s
        if self.trials:
            self.trials = read_trials(self._reader)  # its end may have no event
        if clock_s - self._looked_s >= _AGAIN_S:
            self._scan.forget()
            self._dirty = True
        soon = clock_s - self._looked_s < _LEAST_S and self._since is not None
        if self._dirty and soon and not changed:
            self.unsettled = True
        elif changed or self._dirty or self.unsettled:
            self._found = self._look(arrays, clock_s)
            self._looked_s, self._dirty = clock_s, False
        return self._found

    def _has_changed(self, arrays: tuple[Array, ...]) -> bool:
        """Whether arrays or their members have changed; progress alone is not a change."""
        former, self._running = self._running, arrays
        if len(former) == len(arrays) and all(
            one is other for one, other in zip(former, arrays, strict=True)
        ):
            return False
        shape = tuple((a.name, a.uuid, a.label, a.link, a.active, a.up, a.members) for a in arrays)
        same, self._shape = shape == self._shape, shape
        return not same

    # -- arrays that ran

    def _remember(self, arrays: tuple[Array, ...]) -> None:
        uuids = {array.uuid for array in arrays if array.uuid}
        names = {array.name for array in arrays}
        for key, seen in list(self._seen.items()):
            if key in uuids or (seen.array.uuid is None and key in names):
                continue
            if not seen.ended:
                seen.ended, seen.at_s = True, self._taken_s
                seen.died = self._has_died(seen.array)
                self._scan.forget()  # its members may have had no event
        for array in arrays:
            if not array.active or array.is_container or array.array_state == "clear":
                continue  # inactive: keep its former state, if it ran
            if array.uuid is not None:
                self._seen.pop(array.name, None)  # seen before its UUID was known
            key = array.uuid or array.name
            before = self._seen.get(key)
            if before is not None and not before.ended and not array.members:
                continue  # it is being stopped
            serials = before.serials if before is not None else {}
            places = dict(before.places) if before is not None else {}
            if (array.losses_left or 0) >= 0:  # else it is failing, and loses its members one by one
                here = {member.name for member in array.members}
                places = {name: place for name, place in places.items() if name in here}
            places |= {
                member.name: (member.slot, member.role)
                for member in array.members
                if member.slot is not None and member.role != "faulty"
            }
            for member in array.members:
                if member.name not in serials and self._is_there(member.name):
                    serials[member.name] = read_identity(self._reader, member.name).serial
            self._seen[key] = _Seen(array=array, serials=serials, places=places)

    def _is_there(self, name: str) -> bool:
        return self._reader.text(f"{BLOCK}/{name.replace('/', '!')}/dev") is not None

    def _is_same(self, name: str, seen: _Seen) -> bool:
        """Whether the disk under a name is the one that was a member."""
        if not self._is_there(name):
            return False
        before, now = seen.serials.get(name), read_identity(self._reader, name).serial
        return before is None or now is None or before == now

    def _has_died(self, array: Array) -> bool:
        """Whether too few members are left for the array as it was last seen."""
        left = array.losses_left
        if array.array_state == "broken" or (left is not None and left < 0):
            return True
        whole = [m for m in array.members if m.has("in_sync") and not m.has("faulty")]
        lost = [m for m in whole if not self._is_there(m.name)]
        if not lost:
            return False
        total = array.raid_disks or len(whole)
        filled = {m.slot for m in whole if m not in lost and m.slot is not None}
        after = losses_left(array.level, array.layout, total, set(range(total)) - filled)
        return after is None or after < 0

    # -- members that are present

    def _look(self, arrays: tuple[Array, ...], clock_s: float) -> tuple[AbsentArray, ...]:
        self.trials = read_trials(self._reader)
        members = self._scan.read()
        expected = read_configured(self._reader)
        running = {array.uuid for array in arrays if array.uuid}
        used = {member.name for array in arrays for member in array.members}
        udev_works = self._reader.is_there(QUEUE)
        busy = udev_works and self._since is not None
        unread = tuple(name for name in self._scan.unread() if name not in used)
        held = {each.name: self._scan.holders(each) for each in members}
        running |= {each.uuid for each in members if any(holder[:2] == "md" for holder in held[each.name])}
        taken = used | {name for name, holders in held.items() if holders}
        free, blocks = free_members(
            self._scan,
            self._superblocks,
            taken=taken,
            running=running,
            ignored=[each for each in expected if each.ignored],
            ask=not busy,
        )
        found = list(self._gone(free, running, unread, udev_busy=busy))
        stopped = (self._not_started(uuid, group, blocks) for uuid, group in free.items())
        found += [
            absent.maybe_more(unread) if udev_works or unread else absent
            for absent in stopped
            if absent is not None
        ]
        named = [each for each in expected if not each.ignored]
        self.stale_lines = stale_lines(named, arrays)
        found = with_names(found, named, RunningArrays(self._reader, arrays, running))
        listed = self._settled(found, clock_s, reading=busy or self._superblocks.reading)
        young = any(self._is_young(seen) for seen in self._seen.values())
        self.unsettled = len(listed) < len(found) or udev_works or young or self._superblocks.reading
        return tuple(listed)

    def _is_young(self, seen: _Seen) -> bool:
        return seen.died and self._taken_s - seen.at_s < _SETTLE_S

    def _gone(
        self,
        free: dict[str, list[FoundMember]],
        running: set[str],
        unread: tuple[str, ...],
        *,
        udev_busy: bool,
    ) -> Iterable[AbsentArray]:
        for key, seen in list(self._seen.items()):
            if not seen.died or key in running:
                continue
            group = {each.name: each for each in free.get(key, ())}
            if not group and self._was_wiped(seen):
                del self._seen[key]
                continue
            array = seen.array
            # udev may not have read yet what the kernel knew: that a device is a member.
            by_kernel = array.uuid is None or udev_busy or self._is_young(seen)
            here = {member.name for member in array.members}
            lost = [
                Member(name=name, number=None, slot=slot, states=None)
                for name, (slot, _) in seen.places.items()
                if name not in here
            ]
            members = [
                AbsentMember(
                    name=member.name,
                    present=member.name in group
                    or ((by_kernel or member.name in unread) and self._is_same(member.name, seen)),
                    slot=seen.places.get(member.name, (None, ""))[0],
                    role=seen.places.get(member.name, (None, member.role))[1],
                    serial=seen.serials.get(member.name),
                )
                for member in (*array.members, *lost)
            ]
            named = {member.name for member in members}
            members += [
                AbsentMember(name=each.name, present=True, serial=each.serial)
                for each in group.values()
                if each.name not in named  # it has come back under another name
            ]
            slots = {m.slot for m in members if m.present and m.slot is not None}
            loose = sum(m.present and m.slot is None and not m.role for m in members)
            total = array.raid_disks
            free.pop(key, None)
            yield AbsentArray(
                absence=Absence.GONE,
                path=array.path,
                uuid=array.uuid,
                label=array.label,
                level=array.level,
                layout=array.layout,
                raid_disks=total,
                filled=len(slots) + loose if total is None else min(total, len(slots) + loose),
                members=tuple(members),
                wanted=True,
                seen_s=seen.at_s,
            )

    def _was_wiped(self, seen: _Seen) -> bool:
        """Whether a disk of the array has other content now: then the array was given up on purpose."""
        for name, serial in seen.serials.items():
            node = f"{BLOCK}/{name.replace('/', '!')}"
            known = read_udev_entry(self._reader, self._reader.text(f"{node}/dev")).properties
            other = "ID_FS_TYPE" in known or "ID_PART_TABLE_TYPE" in known
            own = canonical_uuid(known.get("ID_FS_UUID")) == seen.array.uuid
            if other and not own and serial and read_identity(self._reader, name).serial == serial:
                return True
        return False

    def _not_started(
        self, uuid: str, group: Sequence[FoundMember], blocks: dict[str, Superblock | None]
    ) -> AbsentArray | None:
        known = {each.name: block for each in group if (block := blocks.get(each.name)) is not None}
        newest = max(known.values(), key=lambda block: block.events or 0, default=None)
        most = (newest.events or 0) if newest is not None else 0
        members = tuple(
            AbsentMember(
                name=each.name,
                present=True,
                slot=block.slot if (block := known.get(each.name)) else None,
                events_behind=most - (block.events or most) if block else 0,
                dropped=block is not None and newest is not None and newest.takes_for_failed(block),
                serial=each.serial,
            )
            for each in group
        )
        seen = self._seen.get(uuid)
        if not known and seen is not None:
            return self._stopped(seen, group)
        all_read = len(known) == len(group)
        slots = {m.slot for m in members if m.slot is not None and m.events_behind <= 1 and not m.dropped}
        roles_known = all(block.role is not None for block in known.values())
        if all_read and newest is not None and (newest.metadata != "0.90" or roles_known):
            if all(member.slot is None for member in members) and "A" in (newest.roles or "A"):
                return None  # spares alone cannot be started
            filled: int | None = len(slots)
        else:
            filled = len(slots) or len(group) if all_read and newest is not None else None
        full_name = next((each.full_name for each in group if each.full_name), "")
        label = full_name.rpartition(":")[2] or None
        return AbsentArray(
            absence=Absence.NOT_STARTED,
            path=f"/dev/md/{label or uuid[:8]}",
            uuid=uuid,
            label=label,
            level=newest.level if newest is not None else None,
            layout=newest.layout if newest is not None else None,
            raid_disks=newest.raid_disks if newest is not None else None,
            filled=filled,
            members=members,
            obstacle=obstacle_of(known.values()) if known else "",
            silence=next((self._superblocks.silent.get(each.name, "") for each in group), ""),
        )

    def _stopped(self, seen: _Seen, group: Sequence[FoundMember]) -> AbsentArray:
        """Return an array that was seen running and whose superblocks cannot be read, or not yet."""
        array = seen.array
        members = tuple(
            AbsentMember(
                name=each.name,
                present=True,
                slot=seen.places.get(each.name, (None, ""))[0],
                role=seen.places.get(each.name, (None, ""))[1],
                serial=each.serial,
            )
            for each in group
        )
        slots = {m.slot for m in members if m.slot is not None and m.role == "in_sync"}
        return AbsentArray(
            absence=Absence.NOT_STARTED,
            path=array.path,
            uuid=array.uuid,
            label=array.label,
            level=array.level,
            layout=array.layout,
            raid_disks=array.raid_disks,
            filled=len(slots),
            members=members,
        )

    def _settled(self, found: Sequence[AbsentArray], clock_s: float, *, reading: bool) -> list[AbsentArray]:
        """Leave out arrays that may be between two states; at the first look, none is.

        An array whose superblocks are being read has more time.
        """
        keys = {each.key for each in found}
        if self._since is None:
            self._since = dict.fromkeys(keys, clock_s - _SETTLE_S)
        self._since = {key: at for key, at in self._since.items() if key in keys}
        listed = []
        for each in found:
            wait_s = _READ_S if reading and each.complete is None else _SETTLE_S
            passed_s = clock_s - self._since.setdefault(each.key, clock_s)
            if each.absence is Absence.GONE or passed_s >= wait_s:
                listed.append(each)
        return listed
