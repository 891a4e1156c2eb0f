"""Arrays as mdstat and sysfs report them together."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.host.md.arrays import ArrayReader
from raidtui.host.md.mdstat import parse_mdstat
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.array import Array, Bitmap, Member
from raidtui.model.array_sync import Phase, Reshape, SpeedLimit, Sync
from tests.hosts.trees import (
    COMPONENT_KIB,
    ArraySpec,
    Syncing,
    Tree,
    container,
    host_tree,
    inactive,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
)


def read_all(tree: Tree, *, use_mdadm: bool = False) -> list[Array]:
    root = tree.root()
    reader = ArrayReader(root, use_mdadm=use_mdadm)
    return [reader.read(entry) for entry in parse_mdstat(root.text("/proc/mdstat") or "").arrays]


def read_one(spec: ArraySpec, **host: bool) -> Array:
    [array] = read_all(host_tree(spec, **host))  # type: ignore[arg-type]
    return array


def sample_member(name: str, number: int, slot: int | None, *states: str, errors: int = 0) -> Member:
    return Member(
        name=name,
        number=number,
        slot=slot,
        states=states,
        errors=errors,
        size_kib=COMPONENT_KIB,
        offset_sectors=264192,
        present=True,
    )


def test_whole_array() -> None:
    spec = raid10(
        failed=("sdb",),
        spares=("sde",),
        errors={"sdc": 3},
        bitmap=(2, 4),
        limits=(None, 400_000),
        mismatches=128,
        last_sync_action="check",
        sync_min=447232,
    )
    assert read_one(spec) == Array(
        name="md127",
        path="/dev/md127",
        uuid="3a6eb079:0f39ac87:c94f3856:b2dd2c5d",
        label="data",
        homehost="nas",
        link="/dev/md/data",
        level="raid10",
        layout=258,
        chunk_bytes=32768,
        metadata="1.2",
        size_bytes=2 * COMPONENT_KIB * 1024,
        component_kib=COMPONENT_KIB,
        array_state="clean",
        raid_disks=4,
        up="U_UU",
        degraded=1,
        consistency_policy="bitmap",
        bitmap=Bitmap(location="internal", chunk_bytes=64 << 20, used_pages=2, pages=4, used_bytes=8192),
        mismatch_count=128,
        sync_action="idle",
        last_sync_action="check",
        sync_min_sectors=447232,
        resync_start="none",
        reshape_position="none",
        speed_limit=SpeedLimit(min_kib_s=1000, max_kib_s=400_000, min_scope="system", max_scope="local"),
        members=(
            sample_member("sda", 0, 0, "in_sync"),
            sample_member("sdc", 2, 2, "in_sync", errors=3),
            sample_member("sdd", 3, 3, "in_sync"),
            sample_member("sdb", 1, None, "faulty"),
            sample_member("sde", 4, None, "spare"),
        ),
    )


def test_the_same_from_mdstat_alone() -> None:
    spec = raid10(failed=("sdb",), spares=("sde",), bitmap=(2, 4))

    def member(name: str, number: int, *states: str) -> Member:
        return Member(name=name, number=number, slot=None, states=states)

    assert read_one(spec, sysfs=False, udev=False) == Array(
        name="md127",
        path="/dev/md127",
        level="raid10",
        layout=258,
        chunk_bytes=32768,
        metadata="1.2",
        size_bytes=2 * COMPONENT_KIB * 1024,
        raid_disks=4,
        up="U_UU",
        degraded=1,
        bitmap=Bitmap(location="internal", chunk_bytes=64 << 20, used_pages=2, pages=4, used_bytes=8192),
        members=(
            member("sda", 0, "in_sync"),
            member("sdb", 1, "faulty"),
            member("sdc", 2, "in_sync"),
            member("sdd", 3, "in_sync"),
            member("sde", 4, "spare"),
        ),
    )


def test_flags_do_not_say_which_of_the_plain_members_is_rebuilt() -> None:
    array = read_one(raid5(rebuilding=("sdi",)), sysfs=False, udev=False)
    assert [(member.name, member.states) for member in array.members] == [
        ("sdg", None),
        ("sdh", None),
        ("sdi", None),
    ]


def test_flags() -> None:
    spec = raid5(
        journal="nvme0n1",
        failed=("nvme0n1",),
        states={"sdh": "in_sync,write_mostly"},
        replacements={"sdy": 0},
    )
    assert {m.name: m.states for m in read_one(spec, sysfs=False, udev=False).members} == {
        "sdg": ("in_sync",),
        "sdh": ("in_sync", "write_mostly"),
        "sdi": ("in_sync",),
        "sdy": ("replacement",),
        "nvme0n1": ("faulty", "journal"),
    }


def test_broken_without_sysfs() -> None:
    array = read_one(raid0(state="broken"), sysfs=False, udev=False)
    assert (array.array_state, array.active) == ("broken", True)
    assert [member.states for member in array.members] == [None, None]


@pytest.mark.parametrize("name", ["sdc", "md_d0p1", "cciss/c0d0p2"])
def test_slashes_are_exclamation_marks_in_sysfs(name: str) -> None:
    array = read_one(raid1(members=(name, "sdf")))
    assert [(member.name, member.slot, member.number) for member in array.members] == [
        (name, 0, 0),
        ("sdf", 1, 1),
    ]


@pytest.mark.parametrize(
    ("spec", "sync"),
    [
        (
            raid10(sync=Syncing(action="resync", done_kib=100_000_000, speed_kib_s=512_000)),
            Sync(
                action="resync",
                phase=Phase.RUNNING,
                done_kib=100_000_000,
                total_kib=2 * COMPONENT_KIB,
                kernel_permille=227,
                kernel_speed_kib_s=512_000,
            ),
        ),
        (
            raid10(rebuilding=("sdb",), sync=Syncing(action="recover", done_kib=1, total_kib=409_600)),
            Sync(
                action="recover",
                phase=Phase.RUNNING,
                done_kib=1,
                total_kib=409_600,
                kernel_permille=0,
                kernel_speed_kib_s=0,
            ),
        ),
        (
            raid1(sync=Syncing(action="repair", done_kib=COMPONENT_KIB - 1, speed_kib_s=5)),
            Sync(
                action="repair",
                phase=Phase.RUNNING,
                done_kib=COMPONENT_KIB - 1,
                total_kib=COMPONENT_KIB,
                kernel_permille=999,
                kernel_speed_kib_s=5,
            ),
        ),
        (raid1(sync=Syncing(action="resync", waiting="DELAYED")), Sync(action="resync", phase=Phase.DELAYED)),
        (raid1(sync=Syncing(action="resync", waiting="PENDING")), Sync(action="resync", phase=Phase.PENDING)),
        (raid1(sync=Syncing(action="recover", waiting="REMOTE")), Sync(action="recover", phase=Phase.REMOTE)),
        (raid1(), None),
        (raid1(frozen=True), None),
        (raid1(frozen=True, resync_start="20224"), Sync(action="resync", phase=Phase.FROZEN)),
        (raid1(frozen=True, failed=("sdf",), spares=("sdy",)), Sync(action="recover", phase=Phase.FROZEN)),
        (raid1(frozen=True, failed=("sdf",)), None),
        (raid1(frozen=True, replacements={"sdy": 0}), Sync(action="recover", phase=Phase.FROZEN)),
        (raid5(frozen=True, reshape_position="36864"), Sync(action="reshape", phase=Phase.FROZEN)),
        (
            raid1(
                sync=Syncing(action="resync", waiting="PENDING"),
                resync_start="20224",
                attributes={"sync_action": "frozen"},
            ),
            Sync(action="resync", phase=Phase.FROZEN),
        ),
    ],
)
def test_sync(spec: ArraySpec, sync: Sync | None) -> None:
    assert read_one(spec).sync == sync


def test_check_while_sysfs_says_resync() -> None:
    """Kernel 7.2 does so after a check was asked for while the initial resync was frozen."""
    spec = raid1(sync=Syncing(action="check", done_kib=5), attributes={"sync_action": "resync"})
    array = read_one(spec)
    assert (array.sync_action, array.sync and array.sync.action) == ("resync", "check")


def test_reshape() -> None:
    spec = raid5(
        members=("sdg", "sdh", "sdi", "sdy"),
        old_raid_disks=3,
        reshape_position="36864",
        sync=Syncing(action="reshape", done_kib=6272, total_kib=307_200, speed_kib_s=6272),
    )
    array = read_one(spec)
    assert (array.raid_disks, array.old_raid_disks, array.up) == (4, 3, "UUUU")
    assert (array.reshape_position, array.sync and array.sync.action) == ("36864", "reshape")
    assert array.size_bytes == 2 * COMPONENT_KIB * 1024


@pytest.mark.parametrize(
    ("attributes", "shift", "found"),
    [
        (
            {"layout": "2 (5)", "chunk_size": "131072 (65536)"},
            -384,
            Reshape(position_sectors=1920, layout=2, chunk_bytes=131072, shift_sectors=-384),
        ),
        (
            {"reshape_direction": "backwards"},
            256,
            Reshape(position_sectors=1920, backwards=True, shift_sectors=256),
        ),
        ({}, 0, Reshape(position_sectors=1920, shift_sectors=0, backup="/root/backup")),
        ({"reshape_position": "junk"}, None, Reshape()),
    ],
)
def test_what_a_reshape_does(attributes: dict[str, str | None], shift: int | None, found: Reshape) -> None:
    spec = raid5(reshape_position="1920", chunk_kib=64, shift=shift, attributes=attributes)
    tree = host_tree(spec)
    if found.backup:
        tree.links["/run/mdadm/backup_file-md125"] = found.backup
    [array] = tree.root().sampler().sample().arrays
    assert array.reshape == found
    assert (array.layout, array.chunk_bytes) == (5 if "layout" in attributes else 2, 65536)


def test_a_raid0_that_was_reshaped_is_one_until_mdadm_says_so() -> None:
    """It stays a raid4 for a moment, or for as long as no mdadm runs. Seen only then, it is a raid4."""
    grown = raid5(level="raid4", layout="pl", members=("sdn", "sdo", "sdp", None))
    reshaped = replace(grown, rebuilding=("sdp",), old_raid_disks=3, reshape_position="1920")
    stage = host_tree(reshaped).root()
    sampler = stage.sampler()
    assert sampler.sample().arrays[0].awaited_slots == (2, 3)
    stage.show(host_tree(grown))
    [array] = sampler.sample().arrays
    assert (array.awaited_slots, array.missing_slots, array.losses_left) == ((3,), (), 0)
    stage.show(host_tree(replace(grown, failed=("sdp",))))
    assert sampler.sample().arrays[0].missing_slots == (2, 3)
    [fresh] = host_tree(grown).root().sampler().sample().arrays
    assert (fresh.awaited_slots, fresh.missing_slots) == ((), (3,))


def test_members_by_slot_the_replacement_after_the_replaced() -> None:
    spec = raid10(
        members=("sdb", "sdc", "sdd", "sde"),
        replacements={"sda": 0},
        numbers={"sdc": 4, "sda": 5, "sdz": 6, "sdy": 7},
        spares=("sdz", "sdy"),
    )
    assert [(m.name, m.number, m.slot, m.states) for m in read_one(spec).members] == [
        ("sdb", 0, 0, ("in_sync", "want_replacement")),
        ("sda", 5, 0, ("spare", "replacement")),
        ("sdc", 4, 1, ("in_sync",)),
        ("sdd", 2, 2, ("in_sync",)),
        ("sde", 3, 3, ("in_sync",)),
        ("sdz", 6, None, ("spare",)),
        ("sdy", 7, None, ("spare",)),
    ]


def test_journal() -> None:
    array = read_one(raid5(journal="nvme0n1"))
    assert array.consistency_policy == "journal"
    assert array.members[-1] == sample_member("nvme0n1", 3, None, "journal")
    failed = read_one(raid5(journal="nvme0n1", failed=("nvme0n1",)))
    assert failed.members[-1] == sample_member("nvme0n1", 3, None, "faulty", "journal")


def test_level_without_redundancy_has_no_sync_attributes() -> None:
    array = read_one(raid0())
    assert (array.sync_action, array.degraded, array.mismatch_count, array.speed_limit) == (None,) * 4
    assert (array.level, array.chunk_bytes, array.size_bytes) == ("raid0", 524288, 2 * COMPONENT_KIB * 1024)


@pytest.mark.parametrize(
    ("low", "high", "limit"),
    [
        (
            "777 (local)",
            "200000 (system)",
            SpeedLimit(min_kib_s=777, max_kib_s=200_000, min_scope="local", max_scope="system"),
        ),
        ("1000", "what (ever)", SpeedLimit(min_kib_s=1000, max_kib_s=None, min_scope=None, max_scope=None)),
        (None, "5 (local)", SpeedLimit(min_kib_s=None, max_kib_s=5, min_scope=None, max_scope="local")),
        (None, None, None),
    ],
)
def test_speed_limit(low: str | None, high: str | None, limit: SpeedLimit | None) -> None:
    spec = raid1(attributes={"sync_speed_min": low, "sync_speed_max": high})
    assert read_one(spec).speed_limit == limit


@pytest.mark.parametrize(
    ("metadata", "kept", "holder"),
    [
        ("1.0", "1.0", None),
        ("0.90", "0.90", None),
        ("none", "none", None),
        ("external:/md127/0", "external:/md127/0", "md127"),
        ("external:-md127/1", "external:-md127/1", "md127"),
    ],
)
@pytest.mark.parametrize("sysfs", [True, False])
def test_metadata(metadata: str, kept: str, holder: str | None, sysfs: bool) -> None:  # noqa: FBT001
    array = read_one(raid1(metadata=metadata), sysfs=sysfs)
    assert (array.metadata, array.container) == (kept, holder)


def test_container() -> None:
    array = read_one(container())
    assert array.is_container
    assert (array.level, array.active, array.size_bytes, array.raid_disks) == (None, False, None, None)
    assert [member.states for member in array.members] == [("spare",), ("spare",)]


@pytest.mark.parametrize("sysfs", [True, False])
def test_inactive(sysfs: bool) -> None:  # noqa: FBT001
    array = read_one(inactive(raid6(members=("sdj", "sdk", "sdl"))), sysfs=sysfs)
    assert (array.active, array.size_bytes, array.up, array.sync) == (False, None, None, None)
    assert (array.array_state, array.level) == (("inactive", "raid6") if sysfs else (None, None))
    assert [member.states for member in array.members] == [("spare",)] * 3


@pytest.mark.parametrize(
    ("number", "word"),
    [("10", "raid10"), ("5", "raid5"), ("0", "raid0"), ("-1", "linear"), ("-4", "multipath"), ("", None)],
)
def test_level_of_an_inactive_array_is_a_number(number: str, word: str | None) -> None:
    """level_show prints the number where only the superblock has the level."""
    assert read_one(inactive(raid1(attributes={"level": number}))).level == word


@pytest.mark.parametrize(
    ("layout", "printed"),
    [("n2", 258), ("f2", 513), ("o2", 66049), ("n3", 259), ("n2f2", 0x202), ("n2o2", 0x10202)],
)
def test_layout_with_and_without_sysfs(layout: str, printed: int) -> None:
    for sysfs in (True, False):
        assert read_one(raid10(layout=layout), sysfs=sysfs).layout == printed


@pytest.mark.parametrize(
    ("words", "layout"),
    [
        ("2 far-copies 2 devices per set", 0x40201),
        ("2 near-copies 2 far-copies 4 devices per set", 0x40202),
        ("2 far-copies 3 devices per set", 0x20201),
        ("2 offset-copies", 0x10201),
        ("300 near-copies", None),
    ],
)
def test_layout_of_mdstat(words: str, layout: int | None) -> None:
    geometry = f"super 1.2 32K chunks {words} [2/2] [UU]"
    text = f"md0 : active raid10 sdb[1] sda[0]\n      17 blocks {geometry}\n      \n"
    [entry] = parse_mdstat(text).arrays
    assert ArrayReader(MemoryReader({"/proc/mdstat": text}), use_mdadm=False).read(entry).layout == layout


def test_attributes_that_are_missing() -> None:
    """An old kernel, or a file that cannot be read: what mdstat says stands, the rest is unknown."""
    gone = dict.fromkeys(
        [
            "uuid",
            "layout",
            "chunk_size",
            "metadata_version",
            "raid_disks",
            "degraded",
            "level",
            "resync_start",
            "consistency_policy",
            "mismatch_cnt",
            "component_size",
            "last_sync_action",
            "sync_min",
            "reshape_position",
        ]
    )
    array = read_one(raid10(attributes=gone), udev=False)
    assert (array.level, array.layout, array.chunk_bytes, array.metadata) == ("raid10", 258, 32768, "1.2")
    assert (array.raid_disks, array.degraded, array.up) == (4, 0, "UUUU")
    unknown = (
        array.uuid,
        array.component_kib,
        array.consistency_policy,
        array.mismatch_count,
        array.last_sync_action,
        array.sync_min_sectors,
        array.resync_start,
        array.reshape_position,
        array.label,
    )
    assert unknown == (None,) * 9


def test_bitmap_in_a_file() -> None:
    spec = raid1(bitmap=(1, 1), attributes={"bitmap/location": "file"})
    array = read_one(spec)
    assert array.bitmap == Bitmap(
        location="file", chunk_bytes=64 << 20, used_pages=1, pages=1, used_bytes=4096
    )


class CountingReader(MemoryReader):
    """Counts what is read."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.files, links=tree.links)
        self.paths: list[str] = []

    def read(self, path: str, *, keep: bool = False) -> bytes:
        self.paths.append(path)
        return super().read(path, keep=keep)


def test_at_rest_only_the_volatile_attributes_are_read() -> None:
    root = CountingReader(host_tree(raid1()))
    reader = ArrayReader(root, use_mdadm=False)
    [entry] = parse_mdstat(root.text("/proc/mdstat") or "").arrays
    first = reader.read(entry)
    root.paths.clear()
    assert reader.read(entry) is first
    base = "/sys/class/block/md126/md"
    assert root.paths == [
        *(
            f"{base}/{name}"
            for name in (
                "array_state",
                "sync_action",
                "degraded",
                "mismatch_cnt",
                "sync_speed_min",
                "sync_speed_max",
                "sync_min",
                "uuid",
            )
        ),
        *(f"{base}/dev-{disk}/{name}" for disk in ("sde", "sdf") for name in ("state", "errors")),
    ]


@pytest.mark.parametrize(
    ("attribute", "text", "field", "value"),
    [
        ("mismatch_cnt", "8", "mismatch_count", 8),
        ("sync_action", "frozen", "sync_action", "frozen"),
        ("array_state", "active", "array_state", "active"),
        ("sync_min", "64", "sync_min_sectors", 64),
        ("uuid", "01234567-89ab-cdef-0123-456789abcdef", "uuid", "01234567:89abcdef:01234567:89abcdef"),
    ],
)
def test_change_that_mdstat_does_not_show(attribute: str, text: str, field: str, value: object) -> None:
    root = host_tree(raid1()).root()
    reader = ArrayReader(root, use_mdadm=False)
    [entry] = parse_mdstat(root.text("/proc/mdstat") or "").arrays
    before = reader.read(entry)
    root.put(f"/sys/class/block/md126/md/{attribute}", f"{text}\n")
    after = reader.read(entry)
    assert (getattr(after, field), getattr(before, field) == value) == (value, False)


def test_progress_alone_changes_nothing_else() -> None:
    stage = host_tree(raid1(sync=Syncing(action="resync", done_kib=1000))).root()
    reader = ArrayReader(stage, use_mdadm=False)
    [entry] = parse_mdstat(stage.text("/proc/mdstat") or "").arrays
    first = reader.read(entry)
    stage.show(host_tree(raid1(sync=Syncing(action="resync", done_kib=2000))))
    stage.put("/sys/class/block/md126/md/consistency_policy", "ppl\n")  # would show if it were read again
    [entry] = parse_mdstat(stage.text("/proc/mdstat") or "").arrays
    second = reader.read(entry)
    assert first.sync is not None
    assert second.sync is not None
    assert (first.sync.done_kib, second.sync.done_kib) == (1000, 2000)
    assert second.members is first.members
    assert second.consistency_policy == first.consistency_policy == "resync"


def test_what_never_notifies_is_read_again_in_the_end_or_on_request() -> None:
    stage = host_tree(raid1()).root()
    reader = ArrayReader(stage, use_mdadm=False)
    [entry] = parse_mdstat(stage.text("/proc/mdstat") or "").arrays
    reader.read(entry)
    stage.put("/sys/class/block/md126/md/consistency_policy", "ppl\n")
    policies = [reader.read(entry).consistency_policy for _ in range(241)]
    assert policies == ["resync"] * 240 + ["ppl"]
    stage.put("/sys/class/block/md126/md/consistency_policy", "none\n")
    reader.forget("md126")
    assert reader.read(entry).consistency_policy == "none"
    stage.put("/sys/class/block/md126/md/consistency_policy", "bitmap\n")
    reader.keep_only(set())
    assert reader.read(entry).consistency_policy == "bitmap"


SDB = "/sys/class/block/md127/md/dev-sdb"


def test_a_failed_member_loses_its_slot_without_any_other_sign() -> None:
    root = host_tree(raid10(failed=("sdb",))).root()
    root.put(f"{SDB}/slot", "1\n")
    reader = ArrayReader(root, use_mdadm=False)
    [entry] = parse_mdstat(root.text("/proc/mdstat") or "").arrays
    assert [member.slot for member in reader.read(entry).members] == [0, 1, 2, 3]
    root.put(f"{SDB}/slot", "none\n")
    assert [(member.name, member.slot) for member in reader.read(entry).members][-1] == ("sdb", None)


def test_a_removed_member_whose_folder_is_still_there_is_no_member() -> None:
    """The folder stays in sysfs for a while; its files can no longer be read."""
    root = host_tree(raid10(failed=("sdb",))).root()
    reader = ArrayReader(root, use_mdadm=False)
    [entry] = parse_mdstat(root.text("/proc/mdstat") or "").arrays
    assert len(reader.read(entry).members) == 4
    for attribute in ("state", "errors", "slot", "size", "offset"):
        root.drop(f"{SDB}/{attribute}")
    root.put(f"{SDB}/ppl_size", "0\n")  # the folder is there
    [listed] = [member for member in reader.read(entry).members if member.name == "sdb"]
    assert listed.states == ("faulty",)  # as mdstat has it
    gone = host_tree(raid10(members=("sda", None, "sdc", "sdd"))).files["/proc/mdstat"]
    [removed] = parse_mdstat(gone).arrays
    assert [member.name for member in reader.read(removed).members] == ["sda", "sdc", "sdd"]
    root.put(f"{SDB}/state", "spare\n")  # the device is back, and mdstat has not been read since
    assert [member.name for member in reader.read(removed).members] == ["sda", "sdc", "sdd", "sdb"]


def test_a_reshape_that_waits_is_read_until_it_is_over() -> None:
    root = host_tree(raid5(reshape_position="15360")).root()
    reader = ArrayReader(root, use_mdadm=False)
    [entry] = parse_mdstat(root.text("/proc/mdstat") or "").arrays
    waiting = reader.read(entry)
    assert (waiting.reshape_position, waiting.sync) == (
        "15360",
        Sync(action="reshape", phase=Phase.PENDING),
    )
    root.put("/sys/class/block/md125/md/reshape_position", "none\n")
    assert reader.read(entry).sync is None


def test_another_array_with_the_same_lines_is_known_by_its_uuid() -> None:
    """Stopped and made anew between two samples, of the same members: mdstat reads as before."""
    stage = host_tree(raid1()).root()
    reader = ArrayReader(stage, use_mdadm=False)
    [entry] = parse_mdstat(stage.text("/proc/mdstat") or "").arrays
    old = reader.read(entry)
    stage.show(host_tree(raid1(label="other")))
    [same_lines] = parse_mdstat(stage.text("/proc/mdstat") or "").arrays
    new = reader.read(same_lines)
    assert same_lines.text == entry.text
    assert (old.label, new.label, old.uuid == new.uuid) == ("root", "other", False)


def test_descriptors_of_arrays_that_are_gone_are_closed(tmp_path: Path) -> None:
    tree = host_tree(raid10("md12"), raid1("md1"))
    tree.write_to(tmp_path)
    root = FolderReader(str(tmp_path))
    root._may_keep = 100  # as the live host's
    reader = ArrayReader(root, use_mdadm=False)
    for entry in parse_mdstat(tree.files["/proc/mdstat"]).arrays:
        reader.read(entry)
    assert {path.split("/")[4] for path in root._kept} == {"md1", "md12"}
    reader.keep_only({"md12"})
    assert {path.split("/")[4] for path in root._kept} == {"md12"}
    assert len(root._kept) == 8 + 2 * 4
    root.close()


OFFSET = 264192  # of the trees' members


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, None),
        ("", ()),
        ("\n", ()),
        (f"{OFFSET + 100} 8\n{OFFSET} 1\n", ((0, 1), (100, 8))),
        ("100 8\n", ()),  # before the data
        (f"{OFFSET - 4} 8\n", ((0, 4),)),
        (f"{OFFSET + 2 * COMPONENT_KIB - 1} 8\n", ((2 * COMPONENT_KIB - 1, 1),)),
        ("many\n1 x\n", ()),
        (  # the kernel prints one page
            "".join(f"{OFFSET + at:09} 000001\n" for at in range(1000))[:4095],
            tuple((at, 1) for at in range(240)),
        ),
    ],
)
def test_bad_blocks(text: str | None, found: tuple[tuple[int, int], ...] | None) -> None:
    """The kernel counts from the beginning of the device; ours begin where the data do."""
    array = read_one(raid1(bad_blocks={} if text is None else {"sde": text}))
    assert [member.bad_blocks for member in array.members] == [found, None]


def test_bad_blocks_are_seen_after_a_while_though_nothing_else_changes() -> None:
    quiet, bad = (host_tree(raid1(bad_blocks={"sde": text})) for text in ("", f"{OFFSET} 8\n"))
    stage = quiet.root()
    reader = ArrayReader(stage, use_mdadm=False)
    [entry] = parse_mdstat(stage.text("/proc/mdstat") or "").arrays
    assert reader.read(entry).members[0].bad_blocks == ()
    stage.show(bad)
    seen = [reader.read(entry).members[0].bad_blocks for _ in range(12)]
    assert seen == [()] * 11 + [((0, 8),)]


def test_a_recovery_that_ends_between_two_files() -> None:
    """The member is not in sync yet when mdstat is read, and is a moment later in sysfs."""
    done = Syncing(action="recover", done_kib=400_000, total_kib=409_600)
    assert read_one(raid10(sync=done)).sync is None
    running = read_one(raid10(rebuilding=("sdb",), sync=done)).sync
    assert running is not None
    assert running.phase is Phase.RUNNING


def test_what_does_not_match_is_read_after_the_step_that_it_belongs_to() -> None:
    """A paused check goes on from md's step: what was met before it and not counted is lost."""

    class Goes(MemoryReader):
        """A check that goes on while it is read."""

        def read(self, path: str, *, keep: bool = False) -> bytes:
            data = super().read(path, keep=keep)
            if path.endswith("/sync_completed"):
                self.put(path.replace("sync_completed", "mismatch_cnt"), "384\n")
            return data

    spec = raid5(sync=Syncing(action="check", done_kib=9), attributes={"sync_completed": "16 / 99"})
    tree = host_tree(spec)
    root = Goes(tree.files, links=tree.links)
    [entry] = parse_mdstat(root.text("/proc/mdstat") or "").arrays
    array = ArrayReader(root, use_mdadm=False).read(entry)
    assert (array.sync_kept_sectors, array.mismatch_count) == (16, 384)
