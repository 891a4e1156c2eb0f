"""Verdicts, each as the whole sentences."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.array_sync import Stale
from raidtui.model.finding import Finding, FindingCode, Health, Severity
from raidtui.model.snapshot import Lack, Snapshot
from raidtui.model.verdict import troubles
from raidtui.monitor.health import (
    Judged,
    condition_of,
    exit_status,
    health_of,
    healths_of,
    judge,
    judge_array,
)
from raidtui.monitor.sampler import Sampler
from tests.hosts.trees import (
    ArraySpec,
    Syncing,
    container,
    growing_raid0,
    host_tree,
    inactive,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
    snapshot_of,
)
from tests.places import HOUSE

REBUILD = Syncing(action="recover", done_kib=5, speed_kib_s=5)
INFO, ATTENTION, DEGRADED, FAILED = Severity.INFO, Severity.ATTENTION, Severity.DEGRADED, Severity.FAILED
RESUME = "resume it: p in the console, or mdadm --action=idle "
RESCUE = "raidtui rescue (a in the console) says what happened and how it comes back"
WRITABLE = "raidtui plan read-write root makes it writable"
KEEP_OFF = f"do not write to it and never re-create it; {RESCUE}"


def result(spec: ArraySpec, **host: bool) -> tuple[str, list[tuple[Severity, str, str, str]]]:
    """Return the health word and the findings of an array."""
    snapshot = snapshot_of(host_tree(spec, **host))  # type: ignore[arg-type]
    findings = judge(snapshot)
    [array] = snapshot.arrays
    assert all((each.subject, each.name) == (array.key, array.title) for each in findings)
    own = [(each.severity, each.code, each.sentence, each.remedy) for each in findings]
    return health_of(array, findings).word, own


UNNOTICED = "md has not noticed yet: {} left the machine"
MARK = "raidtui plan fail {} marks it as failed (F in the console); then remove it, and add a disk"
BACK = "do not write to it; reconnect {}, stop it and assemble it again; never re-create it"
AWAITED = "gains redundancy by this reshape: {} holds parity once it ends"
UNGUARDED = (
    "do not mount it; stop it (mdadm --stop /dev/md125), then let it continue with its backup file:"
    " raidtui rescue, or key a"
)
CUT = (
    "It stopped within a stripe: until it continues, a read between 960 KiB and 1 MiB of the array"
    " hangs, and the reader cannot be killed (Linux 6.0 and newer)"
)
RAID0_GROWS = growing_raid0()

QUIET = {
    "at rest": raid10(),
    "with a spare": raid5(spares=("sdz",)),
    "no redundancy at all": raid0(),
    "resync": raid10(sync=Syncing(action="resync", done_kib=5), resync_start="819712"),
    "check": raid6(sync=Syncing(action="check", done_kib=5)),
    "repair": raid1(sync=Syncing(action="repair", done_kib=5)),
    "reshape": raid5(sync=Syncing(action="reshape", done_kib=5), reshape_position="36864"),
    "replacing": raid10(replacements={"sdz": 0}, sync=REBUILD),
    "elsewhere in the cluster": raid1(sync=Syncing(action="resync", waiting="REMOTE")),
    "write-mostly, failfast": raid1(states={"sdf": "in_sync,write_mostly,failfast"}),
    "journal": raid5(journal="nvme0n1"),
    "container": container(),
    "what a resync rewrote": raid5(mismatches=4096, last_sync_action="resync"),
}


@pytest.mark.parametrize("case", QUIET)
def test_nothing_to_report(case: str) -> None:
    assert result(QUIET[case]) == ("optimal", [])


LOUD: dict[str, tuple[ArraySpec, str, list[tuple[Severity, str, str, str]]]] = {
    "raid10, one failed": (
        raid10(failed=("sdb",)),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 4 members missing (slot 1), sdb failed; slot 0 holds the last copy",
                "add a disk: mdadm /dev/md127 --add DEVICE",
            )
        ],
    ),
    "raid10, two gone, of both sets": (
        raid10(members=("sda", None, None, "sdd")),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 2 of 4 members missing (slots 1, 2); slots 0, 3 hold the last copy",
                "add a disk: mdadm /dev/md127 --add DEVICE",
            )
        ],
    ),
    "raid10, two gone, of one set": (
        raid10(members=(None, None, "sdc", "sdd")),
        "failed",
        [(FAILED, "failed", "has failed: 2 of 4 members missing (slots 0, 1)", KEEP_OFF)],
    ),
    "raid10 f2, neighbours gone": (
        raid10(layout="f2", failed=("sda", "sdd")),
        "failed",
        [(FAILED, "failed", "has failed: 2 of 4 members missing (slots 0, 3), sda and sdd failed", KEEP_OFF)],
    ),
    "raid10 f2, others gone": (
        raid10(layout="f2", failed=("sda", "sdc")),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                (
                    "is degraded: 2 of 4 members missing (slots 0, 2), sda and sdc failed;"
                    " slots 1, 3 hold the last copy"
                ),
                "add a disk: mdadm /dev/md127 --add DEVICE",
            )
        ],
    ),
    "raid10 n3, one gone": (
        raid10(members=("sda", "sdb", None), layout="n3"),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 3 members missing (slot 2)",
                "add a disk: mdadm /dev/md127 --add DEVICE",
            )
        ],
    ),
    "raid1 of three, two gone": (
        raid1(members=("sde", None, None)),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 2 of 3 members missing (slots 1, 2); no redundancy is left",
                "add a disk: mdadm /dev/md126 --add DEVICE",
            )
        ],
    ),
    "raid1, recovering": (
        raid1(rebuilding=("sdf",), sync=REBUILD),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 2 members missing (slot 1), sdf being rebuilt; no redundancy is left",
                "a recovery runs; leave the other members alone until it is done",
            )
        ],
    ),
    "raid5, spare waits": (
        raid5(failed=("sdh",), spares=("sdz",)),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 3 members missing (slot 1), sdh failed; no redundancy is left",
                "a spare is present; its recovery has not started yet",
            )
        ],
    ),
    "raid5, recovery delayed": (
        raid5(rebuilding=("sdi",), sync=Syncing(action="recover", waiting="DELAYED")),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 3 members missing (slot 2), sdi being rebuilt; no redundancy is left",
                "the member that fills it is present; its recovery waits for another array's",
            ),
            (INFO, "delayed", "its recover waits for another array's", ""),
        ],
    ),
    "raid5, frozen with a spare": (
        raid5(failed=("sdh",), spares=("sdz",), frozen=True),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 3 members missing (slot 1), sdh failed; no redundancy is left",
                f"nothing is rebuilt while it is frozen; {RESUME}/dev/md125",
            ),
            (
                DEGRADED,
                "frozen-with-work",
                "is frozen while a recover waits: it does not resume by itself",
                f"{RESUME}/dev/md125",
            ),
        ],
    ),
    "raid5, two gone": (
        raid5(failed=("sdh", "sdi")),
        "failed",
        [(FAILED, "failed", "has failed: 2 of 3 members missing (slots 1, 2), sdh and sdi failed", KEEP_OFF)],
    ),
    "raid6, one failed": (
        raid6(failed=("sdk",)),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 4 members missing (slot 1), sdk failed",
                "add a disk: mdadm /dev/md124 --add DEVICE",
            )
        ],
    ),
    "raid6, three failed": (
        raid6(failed=("sdj", "sdk", "sdl")),
        "failed",
        [
            (
                FAILED,
                "failed",
                "has failed: 3 of 4 members missing (slots 0, 1, 2), sdj, sdk and sdl failed",
                KEEP_OFF,
            )
        ],
    ),
    "raid0 broken": (
        raid0(state="broken"),
        "failed",
        [(FAILED, "failed", "has failed: a member is gone", KEEP_OFF)],
    ),
    "raid1 broken, with both members": (
        raid1(state="broken"),
        "failed",
        [
            (
                FAILED,
                "broken",
                "is broken: every write fails since its last good member was reported as failed; reads work",
                "stop it and assemble it again: mdadm --stop /dev/md126, then mdadm --assemble",
            )
        ],
    ),
    "raid0 with a faulty member": (
        raid0(states={"sdo": "faulty"}),
        "failed",
        [(FAILED, "failed", "has failed: sdo failed", KEEP_OFF)],
    ),
    "replaced member is still there": (
        raid10(failed=("sdz",)),
        "attention",
        [
            (
                ATTENTION,
                "member-faulty",
                "sdz has failed; all slots are filled without it",
                "mdadm /dev/md127 --remove failed, then replace the disk",
            )
        ],
    ),
    "two replaced members are still there": (
        raid10(failed=("sdz", "sdy")),
        "attention",
        [
            (
                ATTENTION,
                "member-faulty",
                "sdz and sdy have failed; all slots are filled without them",
                "mdadm /dev/md127 --remove failed, then replace the disk",
            )
        ],
    ),
    "write errors, blocked": (
        raid1(states={"sde": "in_sync,write_error", "sdf": "in_sync,blocked"}),
        "attention",
        [
            (ATTENTION, "member-trouble", "member sde: write errors", "check its SMART data"),
            (ATTENTION, "member-trouble", "member sdf: is blocked", "check its SMART data"),
        ],
    ),
    "corrected read errors": (
        raid1(errors={"sde": 1, "sdf": 7}),
        "optimal",
        [
            (
                INFO,
                "read-errors",
                "member sde: 1 corrected read error",
                "a check (c) shows whether there are more",
            ),
            (
                INFO,
                "read-errors",
                "member sdf: 7 corrected read errors",
                "a check (c) shows whether there are more",
            ),
        ],
    ),
    "journal failed": (
        raid5(journal="nvme0n1", failed=("nvme0n1",)),
        "degraded",
        [
            (
                DEGRADED,
                "journal-missing",
                "has lost its journal device and accepts no writes until it has a new one, or another policy",
                "mdadm --readonly /dev/md125, then mdadm /dev/md125 --add-journal DEVICE",
            )
        ],
    ),
    "journal gone": (
        raid5(consistency_policy="journal"),
        "degraded",
        [
            (
                DEGRADED,
                "journal-missing",
                "has lost its journal device and accepts no writes until it has a new one, or another policy",
                "mdadm --readonly /dev/md125, then mdadm /dev/md125 --add-journal DEVICE",
            )
        ],
    ),
    "journal has left": (
        raid5(journal="nvme0n1", pulled=("nvme0n1",)),
        "degraded",
        [
            (
                DEGRADED,
                "journal-missing",
                (
                    "has lost its journal device: nvme0n1 left the machine, which md notices at the next"
                    " write; from then on it accepts none until it has a new one, or another policy"
                ),
                (
                    "raidtui plan fail media nvme0n1 and plan remove take it out; then mdadm --readonly"
                    " /dev/md125, then mdadm /dev/md125 --add-journal DEVICE"
                ),
            )
        ],
    ),
    "a disk has left": (
        raid1(pulled=("sdf",)),
        "degraded",
        [
            (DEGRADED, "member-detached", UNNOTICED.format("sdf"), MARK.format("root sdf")),
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 2 members missing (slot 1), sdf left the machine; no redundancy is left",
                "",
            ),
        ],
    ),
    "a disk has left, and md has noticed": (
        raid1(pulled=("sdf",), failed=("sdf",)),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 2 members missing (slot 1), sdf failed; no redundancy is left",
                "add a disk: mdadm /dev/md126 --add DEVICE",
            )
        ],
    ),
    "a disk has left after another one failed": (
        raid6(failed=("sdj",), pulled=("sdl",), spares=("sdn",)),
        "degraded",
        [
            (DEGRADED, "member-detached", UNNOTICED.format("sdl"), MARK.format("backup sdl")),
            (
                DEGRADED,
                "degraded",
                (
                    "is degraded: 2 of 4 members missing (slots 0, 2), sdj failed, sdl left the machine;"
                    " no redundancy is left"
                ),
                "a spare is present; its recovery has not started yet",
            ),
        ],
    ),
    "a spare waits until a disk that has left is failed": (
        raid5(pulled=("sdh",), spares=("sdn",)),
        "degraded",
        [
            (DEGRADED, "member-detached", UNNOTICED.format("sdh"), MARK.format("media sdh")),
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 3 members missing (slot 1), sdh left the machine; no redundancy is left",
                "once it is marked as failed, the spare is filled",
            ),
        ],
    ),
    "two disks of a raid5 have left": (
        raid5(pulled=("sdg", "sdi")),
        "failed",
        [
            (
                FAILED,
                "failed",
                "has failed: 2 of 3 members missing (slots 0, 2), sdg and sdi left the machine",
                BACK.format("sdg and sdi"),
            )
        ],
    ),
    "both copies of a raid10 have left": (
        raid10(pulled=("sda", "sdb")),
        "failed",
        [
            (
                FAILED,
                "failed",
                "has failed: 2 of 4 members missing (slots 0, 1), sda and sdb left the machine",
                BACK.format("sda and sdb"),
            )
        ],
    ),
    "a disk of a raid0 has left": (
        raid0(pulled=("sdo",)),
        "failed",
        [(FAILED, "failed", "has failed: sdo left the machine", BACK.format("sdo"))],
    ),
    "a disk of a linear array has left": (
        replace(raid0(pulled=("sdo",)), level="linear", chunk_kib=0),
        "failed",
        [(FAILED, "failed", "has failed: sdo left the machine", BACK.format("sdo"))],
    ),
    "a spare has left": (
        raid5(spares=("sdn",), pulled=("sdn",)),
        "attention",
        [
            (
                ATTENTION,
                "member-detached",
                UNNOTICED.format("the spare sdn"),
                "raidtui plan remove media sdn releases it",
            )
        ],
    ),
    "a disk that is being filled has left": (
        raid5(rebuilding=("sdi",), pulled=("sdi",), sync=REBUILD),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 3 members missing (slot 2), sdi left the machine; no redundancy is left",
                "a recovery runs; leave the other members alone until it is done",
            ),
            (ATTENTION, "member-detached", UNNOTICED.format("sdi"), MARK.format("media sdi")),
        ],
    ),
    "a replacement has left": (
        raid10(replacements={"sdp": 1}, pulled=("sdp",)),
        "attention",
        [(ATTENTION, "member-detached", UNNOTICED.format("sdp"), MARK.format("data sdp"))],
    ),
    "a disk whose replacement is whole has left": (
        raid10(replacements={"sdp": 1}, states={"sdp": "in_sync,replacement"}, pulled=("sdb",)),
        "attention",
        [(ATTENTION, "member-detached", UNNOTICED.format("sdb"), MARK.format("data sdb"))],
    ),
    "inactive, and a disk has left": (
        inactive(raid5(pulled=("sdi",))),
        "failed",
        [
            (
                FAILED,
                "inactive",
                "is inactive: not started, with 2 of 3 members",
                (
                    "find the missing members; raidtui plan assemble (a in the console) says whether it can"
                    " start without them; never re-create it"
                ),
            )
        ],
    ),
    "frozen, nothing waits": (
        raid1(frozen=True),
        "attention",
        [
            (
                ATTENTION,
                "frozen",
                "is frozen: a failed disk would not be rebuilt",
                f"{RESUME}/dev/md126",
            )
        ],
    ),
    "frozen resync": (
        raid1(frozen=True, resync_start="20224"),
        "degraded",
        [
            (
                DEGRADED,
                "frozen-with-work",
                "is frozen while a resync waits: it does not resume by itself",
                f"{RESUME}/dev/md126",
            )
        ],
    ),
    "frozen reshape": (
        raid5(frozen=True, reshape_position="36864"),
        "degraded",
        [
            (
                DEGRADED,
                "frozen-with-work",
                "is frozen while a reshape waits: it does not resume by itself",
                f"{RESUME}/dev/md125",
            )
        ],
    ),
    "RAID 0 that gets a device": (
        RAID0_GROWS,
        "optimal",
        [
            (
                INFO,
                "phantom-parity",
                "is a RAID 0 that md shows as a raid4 without its parity device while it gets more devices",
                "do not pause it: mdadm takes that for the end, and fails the new members",
            )
        ],
    ),
    "RAID 0 that gets a device, which has failed": (
        replace(RAID0_GROWS, failed=("sdp",), rebuilding=()),
        "failed",
        [(FAILED, "failed", "has failed: 2 of 4 members missing (slots 2, 3), sdp failed", KEEP_OFF)],
    ),
    "RAID 0 whose new device was taken away": (
        replace(RAID0_GROWS, members=("sdn", "sdo", None, None), rebuilding=()),
        "failed",
        [(FAILED, "failed", "has failed: 2 of 4 members missing (slots 2, 3)", KEEP_OFF)],
    ),
    "RAID 0 that becomes a RAID 5": (
        raid5(
            layout="pl",
            rebuilding=("sdi",),
            reshape_position="0",
            sync=Syncing(action="reshape", done_kib=5),
            attributes={"layout": "2 (5)"},
        ),
        "optimal",
        [
            (
                INFO,
                "parity-awaited",
                "gains redundancy by this reshape: sdi holds parity once it ends",
                "",
            )
        ],
    ),
    "RAID 5 that becomes a RAID 6": (
        raid6(
            layout="ls6",
            rebuilding=("sdm",),
            reshape_position="0",
            sync=Syncing(action="reshape", done_kib=5),
            attributes={"layout": "2 (18)"},
        ),
        "optimal",
        [
            (
                INFO,
                "parity-awaited",
                "gains redundancy by this reshape: sdm holds parity once it ends",
                "",
            )
        ],
    ),
    "RAID 5 that becomes a RAID 6, and has lost a member": (
        raid6(
            layout="ls6",
            members=("sdj", None, "sdl", "sdm"),
            rebuilding=("sdm",),
            reshape_position="0",
            sync=Syncing(action="reshape", done_kib=5),
            attributes={"layout": "2 (18)"},
        ),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 2 of 4 members missing (slots 1, 3), sdm being rebuilt; no redundancy is left",
                "add a disk: mdadm /dev/md124 --add DEVICE",
            )
        ],
    ),
    "reshape after a crash": (
        raid5(
            members=("sdg", "sdh", "sdi", "sdp"),
            old_raid_disks=3,
            chunk_kib=64,
            reshape_position="182784",
            read_only="auto-read-only",
        ),
        "attention",
        [
            (
                ATTENTION,
                "reshape-waits",
                "is in the middle of a reshape, which waits until the first write (auto-read-only)",
                "mdadm --readwrite /dev/md125",
            ),
            (INFO, "auto-read-only", "is auto-read-only: the first write makes it writable", ""),
        ],
    ),
    "reshape after a crash, within a stripe": (
        raid5(
            members=("sdg", "sdh", "sdi", "sdp"),
            old_raid_disks=3,
            chunk_kib=64,
            reshape_position="1920",
            read_only="auto-read-only",
        ),
        "attention",
        [
            (
                ATTENTION,
                "reshape-waits",
                "is in the middle of a reshape, which waits until the first write (auto-read-only)",
                f"mdadm --readwrite /dev/md125 before anything reads it. {CUT}",
            ),
            (INFO, "auto-read-only", "is auto-read-only: the first write makes it writable", ""),
        ],
    ),
    "reshape in place that nobody guards": (
        raid5(shift=0, reshape_position="0", read_only="auto-read-only"),
        "attention",
        [
            (
                ATTENTION,
                "reshape-waits",
                "is at the start of an in-place reshape, and no mdadm saves what moves: a write loses data",
                UNGUARDED,
            ),
            (INFO, "auto-read-only", "is auto-read-only: the first write makes it writable", ""),
        ],
    ),
    "frozen replacement": (
        raid10(frozen=True, replacements={"sdz": 0}),
        "degraded",
        [
            (
                DEGRADED,
                "frozen-with-work",
                "is frozen while a recover waits: it does not resume by itself",
                f"{RESUME}/dev/md127",
            )
        ],
    ),
    "auto-read-only with a resync to do": (
        raid1(read_only="auto-read-only", sync=Syncing(action="resync", waiting="PENDING"), resync_start="0"),
        "optimal",
        [
            (INFO, "pending", "its resync waits until the first write (auto-read-only)", WRITABLE),
            (INFO, "auto-read-only", "is auto-read-only: the first write makes it writable", WRITABLE),
        ],
    ),
    "auto-read-only, and the member that it lacks is there": (
        raid5(
            label="root",
            members=("sdg", None, "sdi"),
            spares=("sdh",),
            states={"sdh": "in_sync"},
            read_only="auto-read-only",
        ),
        "degraded",
        [
            (
                DEGRADED,
                "degraded",
                "is degraded: 1 of 3 members missing (slot 1); no redundancy is left",
                f"the member that fills it is present, and waits until the array is writable: {WRITABLE}",
            ),
            (INFO, "auto-read-only", "is auto-read-only: the first write makes it writable", ""),
        ],
    ),
    "read-only with a resync to do": (
        raid1(read_only="read-only", sync=Syncing(action="resync", waiting="PENDING")),
        "optimal",
        [
            (INFO, "pending", "its resync waits until the array is made writable", WRITABLE),
            (INFO, "read-only", "is read-only", "mdadm --readwrite /dev/md126"),
        ],
    ),
    "pending for a moment": (
        raid1(sync=Syncing(action="resync", waiting="PENDING")),
        "optimal",
        [(INFO, "pending", "its resync has not started yet", "")],
    ),
    "delayed": (
        raid1(sync=Syncing(action="resync", waiting="DELAYED")),
        "optimal",
        [(INFO, "delayed", "its resync waits for another array's", "")],
    ),
    "mismatches of parity": (
        raid6(mismatches=8, last_sync_action="check"),
        "attention",
        [
            (
                ATTENTION,
                "mismatches",
                "the last check found 8 mismatched sectors; not known whether it was complete",
                "raidtui rescue mismatches md124 says where; a repair rewrites parity, not the data",
            )
        ],
    ),
    "mismatches of mirrors": (
        raid10(mismatches=1, last_sync_action="check"),
        "optimal",
        [
            (
                INFO,
                "mismatches",
                "the last check found 1 mismatched sector; not known whether it was complete",
                "",
            )
        ],
    ),
    "bad blocks on one of two": (
        raid1(bad_blocks={"sde": "", "sdf": "264292 8\n"}),
        "attention",
        [
            (
                ATTENTION,
                "bad-blocks",
                "bad blocks are recorded on sdf (4 KiB): sde alone holds 4 KiB there",
                "replace sdf (R) before failing any other member",
            )
        ],
    ),
    "bad blocks where another one is bad, too": (
        raid1(bad_blocks={"sde": "264296 100\n", "sdf": "264292 8\n"}),
        "degraded",
        [
            (
                DEGRADED,
                "bad-blocks-lost",
                "has 2 KiB that cannot be read: all copies are bad there (sde and sdf)",
                "read what is still readable; what lay there has to come from a backup",
            ),
            (
                ATTENTION,
                "bad-blocks",
                (
                    "bad blocks are recorded on sde (50 KiB) and sdf (4 KiB):"
                    " sde and sdf alone hold 48 KiB there"
                ),
                "replace sde and sdf (R) before failing any other member",
            ),
        ],
    ),
    "bad blocks where two others are whole": (
        raid6(bad_blocks={"sdj": "264292 8\n"}),
        "attention",
        [
            (
                ATTENTION,
                "bad-blocks",
                "bad blocks are recorded on sdj (4 KiB)",
                "replace sdj (R) before failing any other member",
            )
        ],
    ),
    "repaired mismatches of parity": (
        raid6(mismatches=8, last_sync_action="repair"),
        "optimal",
        [
            (
                INFO,
                "mismatches",
                "the last repair rewrote 8 mismatched sectors; not known whether it was complete",
                "",
            )
        ],
    ),
    "inactive": (
        inactive(raid5(members=("sdg", "sdh", None))),
        "failed",
        [
            (
                FAILED,
                "inactive",
                "is inactive: not started, with 2 of 3 members",
                (
                    "find the missing members; raidtui plan assemble (a in the console) says whether it can"
                    " start without them; never re-create it"
                ),
            )
        ],
    ),
    "inactive with all members": (
        inactive(raid5()),
        "failed",
        [
            (
                FAILED,
                "inactive",
                "is inactive: not started, with 3 of 3 members",
                (
                    "raidtui plan assemble (a in the console) starts it, or says what keeps it from starting;"
                    " never re-create it"
                ),
            )
        ],
    ),
}


@pytest.mark.parametrize("case", LOUD)
def test_rule(case: str) -> None:
    spec, word, findings = LOUD[case]
    assert result(spec) == (word, findings)


def test_the_same_count_of_missing_members() -> None:
    """RAID-10 is judged by mirror sets: two missing members are one verdict or the other."""
    verdicts = {}
    for missing in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        members = tuple(None if slot in missing else f"sd{'abcd'[slot]}" for slot in range(4))
        verdicts[missing] = result(raid10(members=members))[0]
    assert verdicts == {
        (0, 1): "failed",
        (0, 2): "degraded",
        (0, 3): "degraded",
        (1, 2): "degraded",
        (1, 3): "degraded",
        (2, 3): "failed",
    }


def test_inactive_of_unknown_size() -> None:
    spec = inactive(raid1(members=("sde",)))
    assert result(spec, sysfs=False)[1][0][2] == "is inactive: not started, with 1 member"


def test_worst_first() -> None:
    spec = raid5(
        failed=("sdh",), errors={"sdg": 2}, mismatches=8, last_sync_action="check", read_only="read-only"
    )
    word, findings = result(spec)
    assert word == "degraded"
    assert [(severity, code) for severity, code, _, _ in findings] == [
        (DEGRADED, "degraded"),
        (ATTENTION, "mismatches"),
        (INFO, "read-errors"),
        (INFO, "read-only"),
    ]


def test_worst_array_first() -> None:
    snapshot = snapshot_of(
        host_tree(raid10(read_only="read-only"), raid5(failed=("sdh",)), raid0(state="broken"))
    )
    assert [(finding.name, finding.code) for finding in judge(snapshot)] == [
        ("scratch", "failed"),
        ("media", "degraded"),
        ("data", "read-only"),
    ]


def test_array_without_a_line_of_members_is_unknown() -> None:
    [array] = snapshot_of(host_tree(raid1())).arrays
    assert health_of(replace(array, up=None), ()) is Health.UNKNOWN
    assert health_of(array, ()) is Health.OPTIMAL


def test_stale() -> None:
    [array] = snapshot_of(host_tree(raid1())).arrays
    stale = replace(array, stale=Stale(since_s=1.0, reason="unknown state 'odd'"))
    findings = tuple(judge_array(stale))
    assert findings == (
        Finding(
            severity=ATTENTION,
            code="stale",
            subject=array.key,
            name="root",
            sentence="cannot be read now: unknown state 'odd'",
        ),
    )
    assert health_of(stale, findings) is Health.ATTENTION
    assert health_of(stale, ()) is Health.UNKNOWN


def _status(*specs: ArraySpec, **values: object) -> int:
    snapshot: Snapshot = replace(snapshot_of(host_tree(*specs)), **values)
    return exit_status(snapshot, healths_of(snapshot, judge(snapshot)).values())


def test_exit_status() -> None:
    broken = raid0(state="broken")
    assert _status() == 0
    assert _status(raid1(), raid10(read_only="auto-read-only")) == 0
    assert _status(raid1(), raid10(failed=("sdz",))) == 1
    assert _status(raid1(failed=("sdf",)), raid10()) == 1
    assert _status(raid1(failed=("sdf",)), broken) == 2
    assert _status(raid1(), readable=False) == 3
    assert _status(broken, readable=False) == 2
    odd = (Lack(part="/proc/mdstat", reason="md1: unknown state 'odd'"),)
    assert _status(raid1(failed=("sdf",)), lacks=odd) == 3
    assert _status(raid1(), lacks=(Lack(part="udev", reason="no database"),)) == 0


def test_words_are_in_order_of_urgency() -> None:
    assert [health.word for health in sorted(Health)] == [
        "optimal", "unknown", "attention", "degraded", "failed"
    ]  # fmt: skip
    assert [severity.word for severity in sorted(Severity)] == ["info", "attention", "degraded", "failed"]


def test_only_arrays_that_changed_are_judged_again() -> None:
    known: Judged = {}
    whole = snapshot_of(host_tree(raid1(), raid10(failed=("sdb",))))
    first = judge(whole, known)
    assert first == judge(whole) != ()
    assert judge(replace(whole, taken_s=9.0), known)[0] is first[0]
    mended = snapshot_of(host_tree(raid1(), raid10()))
    assert judge(replace(whole, arrays=(whole.arrays[0], mended.arrays[1])), known) == ()
    judge(replace(whole, arrays=whole.arrays[:1]), known)
    assert list(known) == [whole.arrays[0].key]


def test_every_code_is_documented() -> None:
    text = (HOUSE / "docs" / "status-json.md").read_text()
    table = text.partition("| `code` | `severity` | means |")[2].partition("\n\n")[0]
    first = [line.split("|")[1] for line in table.strip().split("\n")[1:]]
    documented = [code for cell in first for code in re.findall(r"`([a-z-]+)`", cell)]
    assert sorted(documented) == sorted(FindingCode)


def test_the_verdict_gives_no_other_codes() -> None:
    """Every code of a verdict is a finding's, with the severity of the finding."""
    for spec, _, _ in LOUD.values():
        snapshot = snapshot_of(host_tree(spec))
        [array] = snapshot.arrays
        findings = {each.code: each.severity for each in judge_array(array)}
        found = troubles(condition_of(array))
        assert found == {code: severity for code, severity in findings.items() if severity > INFO}


def test_nothing_is_to_be_added_where_the_member_waits_by_mdstat_alone() -> None:
    """Without sysfs md prints resync=DELAYED, and the member that is to be rebuilt without any flag."""
    text = (
        "Personalities : [raid1]\n"
        "md1 : active raid1 sdb2[2] sda2[0]\n"
        "      51136 blocks super 1.2 [2/1] [U_]\n"
        "      \tresync=DELAYED\n\n"
        "unused devices: <none>\n"
    )
    snapshot = Sampler(MemoryReader({"/proc/mdstat": text})).sample()
    [found] = [finding for finding in judge(snapshot) if finding.code == "degraded"]
    assert "--add" not in found.remedy


def test_a_reshape_that_stands_in_mid_way_is_never_optimal() -> None:
    """After a cut, an array may run with its reshape neither under way nor announced by mdstat."""
    spec = raid5(old_raid_disks=2, reshape_position="1920", shift=0)
    word, found = result(spec)
    assert word == "attention"
    assert (found[0][1], found[0][2]) == (
        "reshape-waits",
        "is in the middle of a reshape, which does not run",
    )
