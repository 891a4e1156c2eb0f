"""Facts: what can be read from the host, and must hold before or after a step."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class FactKind(StrEnum):
    """What a fact says of its subject; ``value`` is given in brackets."""

    SERIAL = "serial"  # a device's whole disk has this serial number, or WWN where it has none
    APPEARANCE = "appearance"  # a device's disk has not been gone since ("boot/diskseq"), in this boot
    SIZE = "size"  # a device has this many bytes
    FREE = "free"  # nothing uses a device: no mount, swap, holder, array, loop device, process
    UNTOUCHED = "untouched"  # a device reads as when the plan was made: the digest of its ends
    CONTENTS = "contents"  # blkid and wipefs find these types on a device itself ("": nothing)
    SUPERBLOCK = "superblock"  # a device's superblock is of the array with this UUID ("": it has none)
    CLEAN = "clean"  # wipefs finds nothing on a device
    ARRAY = "array"  # a kernel name (md127) is the array with this UUID
    GONE = "gone"  # no array has this kernel name, or this UUID
    RUNNING = "running"  # the array with this UUID is there and active
    UNUSED = "unused"  # nothing is mounted from, or holds, the array with this kernel name
    NAME = "name"  # the array with this UUID has this name in its superblock
    STATE = "state"  # the array (kernel name) has one of these in md/array_state (a|b)
    CHUNK = "chunk"  # the array (kernel name) has chunks of so many KiB, or is being reshaped to them
    SLOTS = "slots"  # the array (kernel name) has so many slots, or is being reshaped to them
    RESHAPED = "reshaped"  # no reshape of the array (kernel name) is under way, or waits half done
    UNATTENDED = "unattended"  # no mdadm waits for the end of a reshape of the array (kernel name)
    SHAPE = "shape"  # the array (kernel name) has, or is being reshaped to, one of level/slots[/layout] (a|b)
    POLICY = "policy"  # the array (kernel name) has this consistency policy
    LARGER = "larger"  # a device (kernel name) has more than so many bytes
    SYNCED = "synced"  # nothing of the array (kernel name) is being synced, or waits for that
    BITMAP = "bitmap"  # the array (kernel name) has a bitmap: none or internal
    SERVES = "serves"  # "md127/sda" is in sync, and the device that is to take its place is not yet
    LOOSE = "loose"  # "md127/sda" has no slot, or is no member; and the array is not frozen
    LEVEL = "level"  # the array (kernel name) is of this level
    # "md127/sda2" has one of these state words (a|b), is "present", "absent", or "detached": a member whose
    # device is no longer in the kernel
    MEMBER = "member"
    FILE_SYSTEM = "file-system"  # blkid finds this type on a device (a path)
    MOUNTED = "mounted"  # something is mounted at a place ("no": nothing is)
    NODE = "node"  # a path is there
    TEXT = "text"  # a file reads so, white space at the ends aside
    DIGEST = "digest"  # a file has this SHA-256 ("": it is not there)
    LINE = "line"  # a file has this line
    EXTENTS = "extents"  # an LVM physical volume (a path) has its data begin at a multiple of these bytes
    GROUP = "group"  # an LVM physical volume (a path) is in this volume group ("": in none)
    # a map (its name) is a dm-cache with this: mode writeback, policy smq, dirty 0 (blocks),
    # migration_threshold 2048; or a dm-writecache: mode writeback, held 0 (blocks), cleaner yes or no; or
    # "yes": it is either; "no": it is none
    CACHED = "cached"
    VOLUME = "volume"  # an LVM volume (group/volume) is linear, or striped: 2x64 (KiB) ("": not there)
    GEOMETRY = "geometry"  # a file system (on a path) was created with: stride=8,stripe_width=16
    UNIT = "unit"  # a systemd unit is enabled, disabled, active or inactive
    ABSENT = "absent"  # nothing has this path
    READ_ONLY = "read-only"  # the kernel lets nothing be written to a device: yes or no
    BACKED = "backed"  # a loop device (kernel name) is set up on this file ("": on none)
    UNBACKED = "unbacked"  # a loop device (kernel name) is not set up on this file
    MAPPED = "mapped"  # the device mapper has a map of this name: yes or no
    STANDS_ON = "stands-on"  # the array (kernel name) has one of these: names of maps or devices (a|b)
    STANDS_OFF = "stands-off"  # the array (kernel name) is not there, or has none of these (a|b)
    # nothing was written to the array with this UUID since its start ("runs": it still runs, read-only; a job
    # adds the "boot/diskseq" of the array as it has started it: no other start counts)
    UNWRITTEN = "unwritten"
    RULED = "ruled"  # udev follows the rules of the trial with these letters: it has noted so of /dev/null
    EVENTS = "events"  # a device's superblock of the array (UUID/count), if it has one, counts no more events


class Fact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that can be read from the host, and must hold."""

    kind: FactKind
    subject: str
    value: str = ""
