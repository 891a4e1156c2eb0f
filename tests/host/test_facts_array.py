"""Facts of an array's folder in sysfs."""

from __future__ import annotations

import pytest

from raidtui.host.facts import why_not
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.fact import Fact, FactKind

MD = "/sys/class/block/md127/md"


FIVE = {"level": "raid5\n", "raid_disks": "4 (3)\n", "layout": "2 (18)\n"}


@pytest.mark.parametrize(
    ("kind", "files", "value", "sentence"),
    [
        (FactKind.STATE, {"array_state": "readonly\n"}, "readonly", ""),
        (FactKind.STATE, {"array_state": "active\n"}, "clean|active", ""),
        (FactKind.STATE, {"array_state": "read-auto\n"}, "clean|active", "md127 is read-auto"),
        (FactKind.STATE, {}, "clean", "md127 is not there"),
        (FactKind.CHUNK, {"chunk_size": "32768\n"}, "32", ""),
        (FactKind.CHUNK, {"chunk_size": "65536 (32768)\n"}, "64", ""),
        (FactKind.CHUNK, {"chunk_size": "65536 (32768)\n"}, "32", "md127 has chunks of 65536 bytes"),
        (FactKind.CHUNK, {}, "32", "md127 is not there"),
        (FactKind.SLOTS, {"raid_disks": "4\n"}, "4", ""),
        (FactKind.SLOTS, {"raid_disks": "4 (3)\n"}, "4", ""),
        (FactKind.SLOTS, {"raid_disks": "4 (3)\n"}, "3", "md127 has 4 slots"),
        (FactKind.SLOTS, {}, "4", "md127 is not there"),
        (FactKind.SHAPE, FIVE, "raid5/4", ""),
        (FactKind.SHAPE, FIVE, "raid5/4/2", ""),
        (FactKind.SHAPE, FIVE, "raid0/3|raid5/4/2", ""),
        (FactKind.SHAPE, FIVE, "raid5/4/18", "md127 is a raid5 of 4"),
        (FactKind.SHAPE, FIVE, "raid5/3", "md127 is a raid5 of 4"),
        (FactKind.SHAPE, FIVE, "raid6/4", "md127 is a raid5 of 4"),
        (FactKind.SHAPE, {}, "raid5/4", "md127 is not there"),
        (FactKind.POLICY, {"consistency_policy": "ppl\n"}, "ppl", ""),
        (FactKind.POLICY, {"consistency_policy": "ppl\n"}, "resync", "md127 has consistency policy ppl"),
        (FactKind.POLICY, {}, "ppl", "md127 is not there"),
        (FactKind.SYNCED, {"array_state": "clean\n", "sync_action": "idle\n"}, "", ""),
        (FactKind.SYNCED, {"array_state": "clean\n"}, "", ""),
        (
            FactKind.SYNCED,
            {"array_state": "clean\n", "sync_action": "resync\n"},
            "",
            "md127 is being synced",
        ),
        (
            FactKind.SYNCED,
            {"array_state": "clean\n", "sync_action": "idle\n", "resync_start": "128\n"},
            "",
            "md127 is being synced",
        ),
        (FactKind.SYNCED, {}, "", "md127 is not there"),
        (FactKind.RESHAPED, {"array_state": "clean\n", "reshape_position": "none\n"}, "", ""),
        (
            FactKind.RESHAPED,
            {"array_state": "clean\n", "reshape_position": "0\n"},
            "",
            "md127 is being reshaped",
        ),
        (FactKind.RESHAPED, {"array_state": "clean\n"}, "", ""),
        (FactKind.UNATTENDED, {"array_state": "clean\n"}, "", ""),
        (FactKind.RESHAPED, {}, "", "md127 is not there"),
        (
            FactKind.RESHAPED,
            {"array_state": "inactive\n", "reshape_position": "none\n"},
            "",
            "md127 is inactive",
        ),
        (FactKind.SYNCED, {"array_state": "inactive\n", "sync_action": "idle\n"}, "", "md127 is inactive"),
        (FactKind.BITMAP, {"bitmap/location": "none\n"}, "none", ""),
        (FactKind.BITMAP, {"bitmap/location": "+8\n"}, "internal", ""),
        (FactKind.BITMAP, {"bitmap/location": "+8\n"}, "none", "md127 has a bitmap"),
        (FactKind.BITMAP, {"bitmap/location": "none\n"}, "internal", "md127 has no bitmap"),
        (FactKind.BITMAP, {}, "none", "md127 is not there, or has no place for a bitmap"),
    ],
)
def test_facts(kind: FactKind, files: dict[str, str], value: str, sentence: str) -> None:
    root = MemoryReader({f"{MD}/{name}": text for name, text in files.items()})
    assert why_not(root, Fact(kind=kind, subject="md127", value=value)) == sentence


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("in_sync,want_replacement", "spare,replacement", ""),
        ("in_sync", "spare", ""),
        ("in_sync", "faulty,replacement", ""),
        ("in_sync", None, ""),
        ("faulty", "in_sync", "the copy is complete: cciss/c0d1 has replaced cciss/c0d0"),
        (None, "in_sync", "the copy is complete: cciss/c0d1 has replaced cciss/c0d0"),
        ("faulty", "spare", "cciss/c0d0 is not in sync: it is faulty"),
        (None, "spare", "cciss/c0d0 is not in sync: it is not a member"),
    ],
)
def test_whether_the_old_member_serves(old: str | None, new: str | None, sentence: str) -> None:
    states = {"cciss!c0d0": old, "cciss!c0d1": new}
    root = MemoryReader({f"{MD}/dev-{name}/state": f"{text}\n" for name, text in states.items() if text})
    assert (
        why_not(root, Fact(kind=FactKind.SERVES, subject="md127/cciss/c0d0", value="cciss/c0d1")) == sentence
    )


@pytest.mark.parametrize(
    ("slot", "action", "sentence"),
    [
        ("none", "idle", ""),
        (None, "recover", ""),
        ("0", "idle", "cciss/c0d1 still has slot 0"),
        ("none", "frozen", "md127 is frozen"),
    ],
)
def test_whether_a_failed_member_can_be_removed(slot: str | None, action: str, sentence: str) -> None:
    files = {"sync_action": action, **({"dev-cciss!c0d1/slot": slot} if slot else {})}
    root = MemoryReader({f"{MD}/{name}": f"{text}\n" for name, text in files.items()})
    assert why_not(root, Fact(kind=FactKind.LOOSE, subject="md127/cciss/c0d1")) == sentence
