"""What follows from an array's attributes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.array import Array, Member
from raidtui.model.array_sync import Phase, SpeedLimit, Sync
from raidtui.model.disk import Use
from raidtui.model.snapshot import Host, Lack, Snapshot


def member(name: str = "sda", *, slot: int | None = None, states: str | None = "in_sync") -> Member:
    return Member(name=name, number=0, slot=slot, states=None if states is None else tuple(states.split(",")))


@pytest.mark.parametrize(
    ("states", "slot", "role"),
    [
        ("in_sync", 0, "in_sync"),
        ("in_sync,write_mostly,failfast", 0, "in_sync"),
        ("in_sync,want_replacement", 0, "in_sync"),
        ("spare", None, "spare"),
        ("spare", 2, "rebuilding"),
        ("spare,replacement", 0, "replacement"),
        ("replacement", None, "replacement"),
        ("faulty", None, "faulty"),
        ("faulty,blocked", 1, "faulty"),
        ("faulty,journal", None, "faulty"),
        ("journal", None, "journal"),
        ("blocked", None, "blocked"),
        (None, 0, "?"),
    ],
)
def test_role(states: str | None, slot: int | None, role: str) -> None:
    assert member(slot=slot, states=states).role == role


@pytest.mark.parametrize(
    ("states", "role"),
    [("spare", "not started"), (None, "not started"), ("faulty", "faulty"), ("journal,spare", "journal")],
)
def test_role_in_an_array_that_was_not_started(states: str | None, role: str) -> None:
    """The kernel calls all of them spares."""
    assert replace(member(states=states), waits="not started").role == role


def test_has() -> None:
    assert member(states="faulty,blocked").has("blocked")
    assert not member(states="faulty").has("blocked")
    assert not member(states=None).has("faulty")


@pytest.mark.parametrize(
    ("low", "high", "ceiling"),
    [
        (1000, 200_000, 200_000),
        (50_000, 3000, 50_000),
        (None, 3000, 3000),
        (1000, None, None),
        (None, None, None),
    ],
)
def test_ceiling_is_max_unless_min_is_above_it(
    low: int | None, high: int | None, ceiling: int | None
) -> None:
    limit = SpeedLimit(min_kib_s=low, max_kib_s=high, min_scope="local", max_scope="system")
    assert limit.ceiling_kib_s == ceiling


@pytest.mark.parametrize(
    ("done", "total", "permille", "fraction", "percent"),
    [
        (50, 200, 250, 0.25, "25.0 %"),
        (None, None, None, None, None),
        (0, 0, 0, None, "0.0 %"),
        (300, 200, 1000, 1.0, "100.0 %"),
    ],
)
def test_progress(
    done: int | None, total: int | None, permille: int | None, fraction: float | None, percent: str | None
) -> None:
    sync = Sync(
        action="resync", phase=Phase.RUNNING, done_kib=done, total_kib=total, kernel_permille=permille
    )
    assert (sync.fraction, sync.percent) == (fraction, percent)


def array(**values: object) -> Array:
    return Array(name="md0", path="/dev/md0", **values)  # type: ignore[arg-type]


def test_key_and_title() -> None:
    assert (array().key, array().title) == ("md0", "md0")
    known = array(uuid="1:2:3:4", label="data")
    assert (known.key, known.title) == ("1:2:3:4", "data")
    assert array(uuid="1:2:3:4", twin=True).key == "1:2:3:4@md0"


@pytest.mark.parametrize(
    ("metadata", "holder", "is_container"),
    [
        ("external:imsm", None, True),
        ("external:/md127/0", "md127", False),
        ("1.2", None, False),
        (None, None, False),
    ],
)
def test_container(metadata: str | None, holder: str | None, is_container: bool) -> None:  # noqa: FBT001
    assert array(metadata=metadata, container=holder).is_container is is_container


@pytest.mark.parametrize(
    ("level", "redundant"),
    [
        ("raid10", True),
        ("raid1", True),
        ("raid5", True),
        ("raid0", False),
        ("linear", False),
        ("faulty", False),
        ("container", False),
        (None, False),
    ],
)
def test_redundant(level: str | None, redundant: bool) -> None:  # noqa: FBT001
    assert array(level=level).redundant is redundant


def test_missing_slots_and_losses() -> None:
    degraded = array(level="raid10", layout=258, raid_disks=4, up="U_UU")
    assert (degraded.missing_slots, degraded.losses_left) == ((1,), 0)
    assert degraded.mirror_sets == ((0, 1), (2, 3))
    unknown = array(level="raid10", layout=258, raid_disks=4)
    assert (unknown.missing_slots, unknown.losses_left) == (None, None)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(
    ("level", "action", "unfinished"),
    [
        ("raid4", "resync", True),
        ("raid5", "resync", True),
        ("raid6", "resync", True),
        ("raid5", "check", False),
        ("raid5", "repair", False),
        ("raid5", "recover", False),
        ("raid5", "reshape", False),
        ("raid1", "resync", False),
        ("raid10", "resync", False),
        (None, "resync", False),
    ],
)
def test_parity_unfinished(level: str | None, action: str, phase: Phase, unfinished: bool) -> None:  # noqa: FBT001
    """Also while the resync waits: it is not done yet."""
    assert array(level=level, sync=Sync(action=action, phase=phase)).parity_unfinished is unfinished


def test_parity_is_finished_at_rest() -> None:
    assert not array(level="raid5").parity_unfinished


COUNTED = [
    ("raid10", 258, 4, "resync", (True, 0.5)),
    ("raid10", 258, 4, "check", (True, 0.5)),
    ("raid10", 259, 6, "repair", (True, 0.5)),
    ("raid10", 258, 4, "recover", (False, 1.0)),
    ("raid10", 258, 4, "reshape", (False, 1.0)),
    ("raid10", None, 4, "resync", (True, None)),
    ("raid1", 0, 2, "resync", (False, 1.0)),
    ("raid5", 2, 3, "check", (False, 1.0)),
]


@pytest.mark.parametrize(("level", "layout", "disks", "action", "counted"), COUNTED)
def test_what_the_kernel_counts(
    level: str, layout: int | None, disks: int, action: str, counted: tuple[bool, float | None]
) -> None:
    sync = Sync(action=action, phase=Phase.RUNNING)
    syncing = array(level=level, layout=layout, raid_disks=disks, sync=sync)
    assert (syncing.sync_counts_array, syncing.member_share) == counted


def test_nothing_waits_at_rest() -> None:
    members = (member(slot=0), member("sdb", states="spare"))
    at_rest = array(level="raid1", degraded=0, resync_start="none", reshape_position="none", members=members)
    assert not at_rest.work_waits
    assert not array(level="raid0", resync_start="0").work_waits


@pytest.mark.parametrize(
    "values",
    [
        {"degraded": 1, "members": (member("sdb", states="spare"),)},
        {"degraded": 1, "members": (member("sdb", slot=1, states="spare"),)},
        {"degraded": 0, "members": (member("sdb", slot=1, states="spare,replacement"),)},
        {"resync_start": "20224"},
        {"reshape_position": "36864"},
        {"sync": Sync(action="resync", phase=Phase.PENDING)},
    ],
)
def test_work_waits(values: dict[str, object]) -> None:
    assert array(level="raid1", **values).work_waits


@pytest.mark.parametrize("states", ["spare,faulty", "in_sync,replacement", "faulty,replacement"])
def test_no_work_waits_for_these(states: str) -> None:
    assert not array(
        level="raid1", degraded=int("spare" in states), members=(member(states=states),)
    ).work_waits


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (Use(kind="mount", what="/srv", detail="ext4"), "ext4 mounted at /srv"),
        (Use(kind="mount", what="/srv"), "file system mounted at /srv"),
        (Use(kind="swap", what="md1"), "swap in use"),
        (Use(kind="holder", what="dm-0", detail="vg-lv"), "held by dm-0 (vg-lv)"),
        (Use(kind="holder", what="md127"), "held by md127"),
        (Use(kind="partition", what="sda1"), "partition sda1"),
        (Use(kind="signature", what="ext4", detail="home"), 'ext4 signature "home"'),
        (Use(kind="signature", what="gpt"), "gpt signature"),
    ],
)
def test_use(use: Use, words: str) -> None:
    assert use.words == words


def test_snapshot() -> None:
    one = array(uuid="1:2:3:4", sync=Sync(action="resync", phase=Phase.DELAYED))
    host = Host(name="nas", kernel="7.2", is_root=False)
    snapshot = Snapshot(taken_s=1, clock_s=2, host=host, md_loaded=True, readable=True, arrays=(one,))
    assert snapshot.array("1:2:3:4") is one
    assert snapshot.array("md0") is None
    assert snapshot.array(None) is None
    assert not snapshot.syncing
    assert snapshot == Snapshot(taken_s=1, clock_s=2, host=host, md_loaded=True, readable=True, arrays=(one,))
    assert Lack(part="mdadm", reason="not installed").sentence == "mdadm: not installed"
    assert Lack(part="a", reason="b", remedy="c").sentence == "a: b; c"


@pytest.mark.parametrize(
    ("level", "layout", "old", "new", "size_kib"),
    [
        ("raid5", 2, 3, 4, 3 * 1024),
        ("raid4", 5, 3, 5, 4 * 1024),
        ("raid6", 2, 4, 5, 3 * 1024),
        ("raid10", 0x102, 4, 6, 3 * 1024),
        ("raid10", 0x102, 4, 5, 2560),
        ("raid5", 2, 4, 3, None),  # the size was set before
        ("raid5", 2, None, 3, 2 * 1024),
        ("raid1", 0, 2, 3, None),
        ("raid10", None, 4, 6, None),
    ],
)
def test_what_a_reshape_comes_to(
    level: str, layout: int | None, old: int | None, new: int, size_kib: int | None
) -> None:
    shape = array(
        level=level,
        layout=layout,
        old_raid_disks=old,
        raid_disks=new,
        component_kib=1024 + 7,
        chunk_bytes=65536,
    )
    assert shape.reshaped_bytes == (None if size_kib is None else size_kib * 1024)
