"""What there is to know at each step of the wizard before one decides. Pure.

Lines that begin with a blank stay as they are; the others are paragraphs.
"""

from __future__ import annotations

from raidtui.plans.wizard.evidence import SOURCE, table_lines

_DEVICES = """\
The order in which devices are taken is the order of their slots. A RAID-10 near 2 keeps the two copies of
a block on slots 0 and 1, the next on 2 and 3: take them so that the two of a pair share no cable,
controller or age.

A spare waits, written to by nobody, until a member fails; then it is filled at once, without you. One
spare serves as long as nothing else happens meanwhile.

A journal is one device for a RAID-4, -5 or -6 to which every write goes first. After a crash, what was
half written is written to its end. Without the journal the array is read-only, so it should be as safe as
the array.

A slot that stays empty makes the array degraded from the start. That is for moving: build the new array
with one disk missing, copy the data, then add the old disk.

Members should be equal: all but RAID-0 use of each only what the smallest has. Two partitions of one disk
are no redundancy. Disks of one batch wear alike, and may fail within the same week: mixing models or ages
helps.

A partition that does not begin at a whole MiB makes an SSD rewrite two pages where one was asked for."""

_OLD = """\
These devices have md superblocks of arrays that do not run. That may be a leftover; or it is an array
that did not start after a crash, a lost cable, or a new kernel, and all its data are there.

An array that does not run is not gone. Go back, leave the wizard, and assemble it (a on the first
screen): read-only, nothing is written to it.

Once its superblocks are wiped, nothing on the disks tells the order of its members, its chunk, and where
its data began. So its name has to be typed here."""

_DISKS = """\
A disk without a partition table looks empty: to the firmware of some boards, which write a table on it by
themselves, to installers, and to people. A GPT with one partition of type Linux RAID says whose it is.

Room left free. What was never written, or was trimmed, an SSD uses for its own work: it has blocks to
erase in advance, and writes less of its own. Published advice is 7 to 12 %. An SSD for servers has that
room inside already. On a disk that was used before, the room helps only when it was trimmed.

Disks of one size are not of one size: two models of "240 GB" differ by a few MB. With some room left
free, a slightly smaller one can stand in later."""

_LEVEL = """\
What can go is said beside each level. Behind "any 1" stands a rebuild: as long as it takes, a RAID-5 has
no redundancy left, and every other disk is read from end to end. RAID-6 has one loss left during that
time.

Writing. RAID-1 and RAID-10 write each block as often as there are copies. RAID-5 reads old data and old
parity for a small write, and writes both: four requests for one. RAID-6: six. Only where a whole stripe
is written at once, nothing has to be read.

Reading. RAID-1 gives one reader one disk's speed, many readers all of them. RAID-10 far 2 gives a single
reader nearly the speed of a RAID-0. Published, on a RAID-10 of four SATA SSDs: random reads of 1 MiB 910
MB/s, of one SSD 482; of 8 KiB 69, of one SSD 67. An array gains only where a request is larger than a
chunk, or where there are many at once.

TRIM. RAID-0, -1 and -10 hand discards on to members that take them. RAID-4, -5 and -6 do so only with the
module parameter raid456.devices_handle_discard_safely=Y, set before the array starts, and that is safe
only with SSDs whose trimmed blocks surely read as zeros. Without it, fstrim fails on older kernels; on
newer ones it says that it trimmed, and the members' counters of discards stay at 0. The counters are
right.

The first sync. RAID-1 always writes a whole mirror. RAID-10 and RAID-6 read everything, and write only
where it does not fit: on members that were trimmed and read as zeros, nothing. RAID-4 and -5 write all of
the last member. Measured with members of 200 MiB: RAID-1 200 written; RAID-10 of zeroed disks 0, of used
disks 200 on each second copy; RAID-5 200 on the last one; RAID-6 of zeroed disks 0.

A rebuild of one member writes all of it, on any level, whatever is on the array; with a bitmap, only for
a member that was away and comes back, less."""

_CHUNK = f"""\
The chunk is what lies on one member before the next one's turn comes. A request that is smaller is served
by one member; one that is larger, by several at once.

Small chunks make single large requests fast. Large chunks leave the other members free for other
requests, which is better where many are under way at once: mdadm's own is 512 KiB, Intel's firmware makes
32 KiB.

All of these figures are one person's. {SOURCE}:

TABLE

What they say: the array gains only where blocks are larger than a chunk; nearly twice one SSD's speed is
reached beyond 1 MiB; at 128 and 512 KiB, chunks of 32 KiB were best; with several jobs at once, the
picture moves as if blocks were larger. The three runs of each differed by 8 to 26 MB/s.

A file system should know the chunk: ext4's stride is chunk / 4 KiB, its stripe width is that times the
members that hold data; XFS calls them su and sw. The wizard gives both.

It cannot be changed cheaply later: a reshape rewrites all of the array. So measure with your own load
before it is full."""

_BITMAP = """\
After a crash or a power cut, members may differ where something was being written. What is done about
that?

None: everything is compared and synced again. A RAID-10 of four SSDs did 400 GB in under five minutes
(published); disks with heads take hours. A member that was away for a minute is copied as a whole.

Internal bitmap: the array notes where it is about to write, so only that is synced, and a member that
comes back gets only what it missed. It never helps with a new disk. Published cost: up to 30 % of
sequential writes; that was in 2016, with bitmap chunks much smaller than today's 64 MiB. Measure it.

The write hole of RAID-4, -5 and -6: a crash leaves data and parity of a stripe at odds. If a member is
lost before that is put right, what it held is computed wrongly, and nobody is told. A bitmap makes that
time shorter. A ppl (RAID-5 alone; in the members' own metadata; may cost 30 to 40 % of writes) or a
journal on a device of its own closes it.

Without any of these, RAID-5 and RAID-6 are not built here."""

_MORE = """\
All of this will do as it is; Enter goes on.

Metadata says where the superblock lies. 1.2: 4 KiB from the start, the usual one. 1.1: at the very start.
1.0: at the end, so that a member alone looks like a file system or a partition: firmware and old boot
loaders can read it, and so can anybody by mistake, who then changes one half of a mirror. Only for an EFI
system partition, or /boot.

Write-mostly (RAID-1): reads go to the other members as long as there is one. For an SSD beside a disk
with heads, or one in another building.

Failfast (RAID-1, RAID-10): requests to members fail quickly instead of being tried again for a minute.
The last member that is left is tried as usual.

First sync left out (RAID-1, RAID-10): blocks that nobody ever wrote may differ between members. No file
system reads what it never wrote; but every check will count them.

Used of each member: md uses less than there is. It can be made more later (mdadm --grow --size=max)."""

_TOP = """\
Nothing: you get /dev/md/NAME and do the rest.

A file system on the array is the simplest. It is told the array's chunk and width, so that it begins
large files at the start of a stripe. mke2fs leaves ext4's stripe width out on SSDs since 1.47.3, because
its allocator gains nothing by it there; here it is given, which does no harm.

LVM between: volumes can be cut, moved and snapshotted later; it costs next to nothing. It takes the
alignment from md by itself.

ext4 or XFS: "the difference is not world-shaking" (2016). ext4 can be made smaller, XFS cannot. Keep 25 %
of a file system on SSDs free; trim weekly (fstrim.timer) rather than mount with -o discard. After more
than 40 % of a file system had been written, a trim gave back 10 to 20 % of speed."""

_MOUNT = """\
The file system gets a line in /etc/fstab, by its UUID, with nofail: a boot without the array goes on.

Empty: it is made and not mounted."""

_VOLUME = """\
A volume group may hold several arrays. Without stripes LVM fills one after the other, so that one of them
takes the load; with stripes each large request goes to several. Published, with three devices of about
500 MB/s each: 1.5 to 1.7 GB/s at best (lvcreate -i3 -I4MB).

It costs safety: when one of the arrays is gone, the volume is. And it costs room where the arrays differ.

A stripe is a power of two from 4 KiB to 4 MiB, which is an extent. iostat's %util says little of a
striped volume; look at each of its physical volumes.

A weekly TRIM (fstrim.timer) tells the SSDs what is free, on all file systems of /etc/fstab. Mounting with
-o discard tells them at every delete, which costs time when it is least wanted."""
_NAME = """\
The name stands in every member's superblock, and makes the link /dev/md/NAME, which stays the same; the
number mdN may be another after a boot. So /etc/fstab should use a UUID or the link, never mdN.

Three digits are best: "127" is md127 and /dev/md/127, and stays so with other versions of mdadm and other
distributions (published advice). Or a word: letters, digits, . _ and -, up to 31. With the host's name
before it, the superblock has room for 31 together; a longer one is stored without the host.

The array is written into mdadm.conf, and the initramfs is made anew, so that it is there under this name
at the next boot."""

_PAGES = {
    "devices": _DEVICES,
    "old arrays": _OLD,
    "disks": _DISKS,
    "level": _LEVEL,
    "chunk": _CHUNK,
    "bitmap": _BITMAP,
    "more": _MORE,
    "on top": _TOP,
    "mount": _MOUNT,
    "volume": _VOLUME,
    "name": _NAME,
}


def why(step: str) -> tuple[str, ...]:
    """Return the page of a step, a line or a paragraph each."""
    lines: list[str] = []
    for paragraph in _PAGES[step].split("\n\n"):
        lines += table_lines() if paragraph == "TABLE" else [" ".join(paragraph.split("\n"))]
        lines.append("")
    return tuple(lines[:-1])
