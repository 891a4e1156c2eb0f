"""md arrays: /proc/mdstat joined with /sys/class/block/mdN/md.

Values that may change without a change in mdstat are read at every sample, through descriptors kept open; the
others only after a change in mdstat or in one of those values, or after an event. Sources:
Documentation/admin-guide/md.rst and drivers/md/md.c; ``component_size`` is in KiB, despite md.rst.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from raidtui.host.block import BLOCK
from raidtui.host.md.array_attributes import (
    bad_spans,
    bitmap_of,
    degraded_of,
    integer,
    is_active,
    layout_of,
    level_of,
    member_order,
    metadata_of,
    pair_of,
    raid_disks_of,
    speed_limit_of,
    states_of_flags,
)
from raidtui.host.md.array_names import ArrayName, read_array_name, sysfs_uuid
from raidtui.host.md.mdadm_waits import waiting_mdadm
from raidtui.host.md.mdstat import MdstatArray
from raidtui.host.md.sync_reading import kept_sectors, plain_text, sync_of
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.udev import read_udev_entry
from raidtui.model.array import NO_SUPERBLOCK, Array, Member
from raidtui.model.array_sync import Reshape
from raidtui.model.geometry import awaited_slots

_VOLATILE = (
    "array_state", "sync_action", "degraded", "mismatch_cnt", "sync_speed_min", "sync_speed_max", "sync_min",
    "uuid",
)  # fmt: skip
_REREAD_EVERY = 240
# No other file shows a new bad block; of hundreds of arrays, a part is read at each sample.
_BAD_BLOCKS_EVERY = 12
_MEMBER = "linux_raid_member"
"""udev's ID_FS_TYPE of a device with md's superblock (util-linux, libblkid)."""
_BACKUPS = "/run/mdadm/backup_file-"
"""mdadm's links to backup files, by the kernel's name of the array (Grow.c, make_backup)."""


class _Known(Struct):
    """The last reading of one array."""

    head: str
    paths: tuple[str, ...]
    volatile: tuple[bytes | None, ...]
    array: Array
    bad_blocks: tuple[str | None, ...]
    age: int = 0
    going: bool = False  # a member is being removed, or its device has come or gone: read the array again


class ArrayReader:
    """Reads arrays and keeps them, so that an idle array costs a few preads.

    Args:
        reader: the host.
        use_mdadm: whether mdadm may be run for names that udev does not have (needs root).
    """

    def __init__(self, reader: HostReader, *, use_mdadm: bool) -> None:
        self._reader = reader
        self._use_mdadm = use_mdadm
        self._known: dict[str, _Known] = {}

    def forget(self, name: str | None = None) -> None:
        """Read an array, or all, or the array of a member that has come or gone, completely next time."""
        if name is None:
            self._known.clear()
        elif self._known.pop(name, None) is None:
            self.look_for_members(name)

    def look_for_members(self, name: str | None = None) -> None:
        """Look whether the device of a member, or of all, has come or gone; if so, read its array again.

        No file of md shows it.
        """
        for known in self._known.values():
            array = known.array
            known.going |= any(
                self._presence(array.name, member.name) != member.present
                for member in array.members
                if name in {None, member.name}
            )

    def _presence(self, array: str, member: str) -> bool | None:
        """Whether the kernel has the block device of a member; None where that cannot be known.

        The kernel removes the entry before it reports that a device is removed (device_del), and gives its
        name to no other device while md holds it. A capture may be of md's files alone.
        """
        folder = member.replace("/", "!")
        if self._reader.is_there(f"{BLOCK}/{folder}"):
            return True
        decides = self._reader.live or any(not name.startswith("md") for name in self._reader.names(BLOCK))
        return False if decides and self._reader.is_there(f"{BLOCK}/{array}/md/dev-{folder}") else None

    def keep_only(self, names: set[str]) -> None:
        """Forget arrays that no longer exist."""
        for name in [name for name in self._known if name not in names]:
            del self._known[name]
            self._reader.forget(f"{BLOCK}/{name}/")

    def read(self, entry: MdstatArray) -> Array:
        """Return the array for one entry of mdstat."""
        head = entry.text if entry.sync is None else _head_text(entry.text)
        known = self._known.get(entry.name)
        same = known is not None and known.head == head and known.age < _REREAD_EVERY and not known.going
        if same and known is not None and self._is_as_known(known, syncs=entry.sync is not None):
            known.age += 1
            if known.age % _BAD_BLOCKS_EVERY == 0 and self._has_drifted(known):
                self.forget(entry.name)
                return self.read(entry)
            sync = sync_of(entry, known.array)
            if sync != known.array.sync:
                known.array = replace(known.array, sync=sync)
            return known.array
        base = f"{BLOCK}/{entry.name}/md"
        folders = tuple(name for name in self._reader.names(base) if name.startswith("dev-"))
        paths = (
            *(f"{base}/{attribute}" for attribute in _VOLATILE),
            *(f"{base}/{folder}/{attribute}" for folder in folders for attribute in ("state", "errors")),
        )
        # Before mismatch_cnt: what is met after md's step is met again, what is left out never is.
        steps = (f"{base}/sync_completed",) if entry.sync is not None else ()
        step = self._reader.read_many(steps)
        volatile = self._reader.read_many(paths)
        texts = tuple(None if value is None else plain_text(value) for value in volatile)
        further = self._moving(base, folders, texts[len(_VOLATILE) :])
        if entry.sync is not None:
            further = (*further, f"{base}/sync_max")
        bad_blocks = self._bad_blocks(paths)
        paths = (*steps, *paths, *further)
        volatile = (*step, *volatile, *self._reader.read_many(further))
        before = known.array if known is not None else None
        array = self._read_whole(entry, base, folders, texts, bad_blocks)
        array = replace(array, awaited_slots=_awaited(array, before), sync_kept_sectors=kept_sectors(step))
        # Arrays are read completely at different samples, not all at once.
        age = 0 if known is not None else len(self._known) % _REREAD_EVERY
        going = any(state is None for state in texts[len(_VOLATILE) :: 2])
        self._known[entry.name] = _Known(head, paths, volatile, array, bad_blocks, age, going)
        return array

    def _is_as_known(self, known: _Known, *, syncs: bool) -> bool:
        """Whether an array reads as before; md's step in a sync, the first file then, is taken as it is."""
        volatile = self._reader.read_many(known.paths)
        if volatile != known.volatile and syncs and volatile[1:] == known.volatile[1:]:
            known.volatile = volatile
            known.array = replace(known.array, sync_kept_sectors=kept_sectors(volatile[:1]))
        return volatile == known.volatile

    def _moving(self, base: str, folders: tuple[str, ...], states: tuple[str | None, ...]) -> tuple[str, ...]:
        """Return the further files of this array that may change without any other sign.

        A member that is not in sync loses its slot some time after it failed; a reshape advances.
        """
        slots = tuple(
            f"{base}/{folder}/slot"
            for folder, state in zip(folders, states[::2], strict=True)
            if state is not None and "in_sync" not in state
        )
        reshape = f"{base}/reshape_position"
        return slots if self._reader.text(reshape) in {None, "none"} else (*slots, reshape)

    def _has_drifted(self, known: _Known) -> bool:
        """Whether there are other bad blocks, or other members are there, than were read."""
        members = known.array.members
        there = (self._presence(known.array.name, member.name) == member.present for member in members)
        return self._bad_blocks(known.paths) != known.bad_blocks or not all(there)

    def _bad_blocks(self, paths: tuple[str, ...]) -> tuple[str | None, ...]:
        """Read the lists of bad blocks of all members, in the order of their folders."""
        folders = [path.removesuffix("state") for path in paths if path.endswith("/state")]
        return tuple(self._reader.text(f"{folder}bad_blocks") for folder in folders)

    def _read_whole(
        self,
        entry: MdstatArray,
        base: str,
        folders: tuple[str, ...],
        volatile: tuple[str | None, ...],
        bad_blocks: tuple[str | None, ...],
    ) -> Array:
        text = self._reader.text
        state, action, degraded, mismatches, low, high, sync_min, uuid = volatile[: len(_VOLATILE)]
        old_disks, disks = raid_disks_of(text(f"{base}/raid_disks"))
        metadata = metadata_of(text(f"{base}/metadata_version"), entry)
        level = text(f"{base}/level")
        layout, new_layout = pair_of(text(f"{base}/layout"))
        chunk, new_chunk = pair_of(text(f"{base}/chunk_size"))
        array = Array(
            name=entry.name,
            path=f"/dev/{entry.name}",
            uuid=sysfs_uuid(uuid, metadata),
            level=level_of(level, entry),
            # Without a level (mdadm -I is still collecting members) the file reads 0.
            layout=layout_of(layout if level else None, entry),
            chunk_bytes=chunk or (entry.chunk_kib or 0) * 1024 or None,
            metadata=metadata,
            size_bytes=self._size_bytes(entry),
            component_kib=integer(text(f"{base}/component_size")),
            array_state=state or ("broken" if entry.state == "broken" else None),
            active=is_active(entry, state),
            understood=not entry.trouble,
            read_only=entry.read_only,
            raid_disks=entry.raid_disks or disks or None,
            old_raid_disks=old_disks,
            up=entry.up,
            degraded=degraded_of(degraded, entry),
            consistency_policy=text(f"{base}/consistency_policy"),
            bitmap=bitmap_of(self._reader, entry),
            mismatch_count=integer(mismatches),
            sync_action=action,
            last_sync_action=text(f"{base}/last_sync_action"),
            sync_min_sectors=integer(sync_min),
            sync_max_sectors=integer(text(f"{base}/sync_max")),
            resync_start=text(f"{base}/resync_start"),
            reshape_position=text(f"{base}/reshape_position"),
            speed_limit=speed_limit_of(low, high),
            members=self._members(entry, base, folders, volatile[len(_VOLATILE) :], bad_blocks),
            container=metadata[len("external:") :].strip("/-").split("/")[0]
            if metadata and metadata.startswith(("external:/", "external:-"))
            else None,
        )
        if array.reshape_position not in (None, "none"):
            found = self._reshape(base, entry.name, folders, layout=new_layout, chunk_bytes=new_chunk)
            # It may be a RAID 0, which mdadm waits for; or mdadm saves in a file what md moves next.
            if (array.level == "raid4" or not found.shift_sectors) and self._reader.live:
                found = replace(found, attended=bool(waiting_mdadm(self._reader, entry.name)))
            array = replace(array, reshape=found)
        array = _named(array, read_array_name(self._reader, array, use_mdadm=self._use_mdadm))
        return replace(array, sync=sync_of(entry, array))

    def _reshape(
        self, base: str, name: str, folders: tuple[str, ...], *, layout: int | None, chunk_bytes: int | None
    ) -> Reshape:
        """Read what is known of a reshape that is not finished."""
        text = self._reader.text
        shifts: set[int | None] = set()
        for folder in folders:
            old, new = (integer(text(f"{base}/{folder}/{each}")) for each in ("offset", "new_offset"))
            shifts.add(None if old is None or new is None else new - old)
        return Reshape(
            position_sectors=integer(text(f"{base}/reshape_position")),
            layout=layout,
            chunk_bytes=chunk_bytes,
            backwards=text(f"{base}/reshape_direction") == "backwards",
            shift_sectors=shifts.pop() if len(shifts) == 1 else None,
            backup=self._reader.link(f"{_BACKUPS}{name}") or "",
        )

    def _size_bytes(self, entry: MdstatArray) -> int | None:
        if entry.state in {"inactive", ""}:
            return None  # there, mdstat prints the sum of the members
        sectors = integer(self._reader.text(f"{BLOCK}/{entry.name}/size"))
        if sectors:
            return sectors * 512
        return None if entry.blocks_kib is None else entry.blocks_kib * 1024

    def _members(
        self,
        entry: MdstatArray,
        base: str,
        folders: tuple[str, ...],
        states: tuple[str | None, ...],
        bad_blocks: tuple[str | None, ...],
    ) -> tuple[Member, ...]:
        flags = {member.name.replace("/", "!"): member for member in entry.members}
        plain = sum(1 for member in entry.members if not set(member.flags) - {"W"})
        marks = entry.foreign or entry.up
        all_in_sync = marks is None or plain == marks.count("U")
        waits = ""
        if entry.state == "inactive":
            waits = "in container" if entry.super.startswith("external:") else "not started"
        members: list[Member] = []
        for index, folder in enumerate(folders):
            name = folder.removeprefix("dev-")
            state, errors = states[2 * index : 2 * index + 2]
            if state is None and name not in flags:
                continue  # removed: its folder still exists, but nothing in it can be read
            listed = flags.pop(name, None)
            slot = self._reader.text(f"{base}/{folder}/slot")
            words = tuple(state.split(",")) if state else None
            if state is None and listed is not None:  # it is being removed: mdstat still has its flags
                words = states_of_flags(listed.flags, active=entry.state == "active" and all_in_sync)
            size_kib = integer(self._reader.text(f"{base}/{folder}/size"))
            offset_sectors = integer(self._reader.text(f"{base}/{folder}/offset"))
            members.append(
                Member(
                    name=name.replace("!", "/"),
                    number=listed.number if listed else None,
                    slot=integer(slot),
                    states=words,
                    errors=integer(errors),
                    size_kib=size_kib,
                    offset_sectors=offset_sectors,
                    bad_blocks=bad_spans(bad_blocks[index], offset_sectors, size_kib),
                    waits=waits,
                    present=self._presence(entry.name, name.replace("!", "/")),
                    foreign=listed.foreign if listed else "",
                )
            )
        members += [
            Member(
                name=listed.name,
                number=listed.number,
                slot=None,
                states=states_of_flags(listed.flags, active=entry.state == "active" and all_in_sync),
                waits=waits,
                foreign=listed.foreign,
            )
            for listed in flags.values()
        ]
        if waits == "not started":
            members = self._without_superblock(members)
        return tuple(sorted(members, key=member_order))

    def _without_superblock(self, members: list[Member]) -> list[Member]:
        """Mark the devices on which udev finds no superblock, though it does on others."""
        devs = {
            each.name: self._reader.text(f"{BLOCK}/{each.name.replace('/', '!')}/dev") for each in members
        }
        known = {name: read_udev_entry(self._reader, dev).properties for name, dev in devs.items()}
        if not any(values.get("ID_FS_TYPE") == _MEMBER for values in known.values()):
            return members
        strange = {name for name, values in known.items() if values and values.get("ID_FS_TYPE") != _MEMBER}
        return [replace(each, waits=NO_SUPERBLOCK) if each.name in strange else each for each in members]


def _awaited(array: Array, before: Array | None) -> tuple[int, ...]:
    """Return ``Array.awaited_slots``. mdadm makes a RAID 0 of a raid4 again a moment after its reshape."""
    if array.up is None or any(member.has("faulty") or member.detached for member in array.members):
        return ()
    count = len(array.up)
    if array.reshape is not None:
        filled = {each.slot for each in array.members if each.role == "rebuilding" and each.slot is not None}
        layouts, slots = (array.layout, array.reshape.layout), (array.old_raid_disks, count)
        return awaited_slots(array.level, layouts, slots, array.not_up, filled)
    was = before is not None and before.as_raid4 and before.raid_disks == array.raid_disks
    return array.not_up if was and array.level == "raid4" and array.not_up == (count - 1,) else ()


def _head_text(text: str) -> str:
    """Return an entry's lines without the progress, which changes at every sample."""
    return "\n".join(
        line.partition("=")[0] if " = " in line or "=100.0%" in line else line for line in text.split("\n")
    )


def _named(array: Array, name: ArrayName) -> Array:
    return replace(
        array,
        uuid=array.uuid or name.uuid,
        label=name.label,
        homehost=name.homehost,
        link=name.link,
        level=array.level or name.level,
        raid_disks=array.raid_disks or name.raid_disks,
    )
