"""What happened between snapshots, as whole lists over an array's life."""

from __future__ import annotations

import errno
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from raidtui.model.array_sync import Stale
from raidtui.model.finding import Event, EventKind, Tone
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.events import diff, initial_events
from raidtui.monitor.health import judge
from tests.hosts.trees import (
    COMPONENT_KIB,
    EPOCH_S,
    ArraySpec,
    Stage,
    Syncing,
    host_tree,
    inactive,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
    snapshot_of,
)

KERNEL, HEALTH = EventKind.KERNEL, EventKind.HEALTH
PLAIN, GOOD, WARN, BAD = Tone.PLAIN, Tone.GOOD, Tone.WARN, Tone.BAD
Line = tuple[str, str, str]


def lines(events: tuple[Event, ...]) -> list[Line]:
    """EventKind and tone in one word, subject, text."""
    marks = {PLAIN: "", GOOD: "+", WARN: "!", BAD: "!!"}
    return [
        (("health" if event.kind is HEALTH else "kernel") + marks[event.tone], event.subject, event.text)
        for event in events
    ]


def between(old: Snapshot, new: Snapshot) -> list[Line]:
    return lines(diff(old, new, judge(old), judge(new)))


@dataclass
class Life:
    """A host whose changes are reported one after another."""

    stage: Stage

    def __post_init__(self) -> None:
        self.sampler = self.stage.sampler()
        self.last = self.sampler.sample()

    def then(self, *specs: ArraySpec, limits: tuple[int, int] = (1000, 200_000)) -> list[Line]:
        """Show the host like this and return the events."""
        self.stage.show(host_tree(*specs, limits=limits))
        before, self.last = self.last, self.sampler.sample()
        return between(before, self.last)


def starting_with(*specs: ArraySpec) -> Life:
    return Life(host_tree(*specs).root())


def resync(done: int, waiting: str = "") -> Syncing:
    return Syncing(action="resync", done_kib=done, speed_kib_s=9, waiting=waiting)


def recover(done: int) -> Syncing:
    return Syncing(action="recover", done_kib=done, speed_kib_s=9)


def test_life_of_a_raid10() -> None:
    """Created, synced, a member fails, goes, a new one comes, is filled; stopped."""
    life = starting_with()
    half = COMPONENT_KIB // 2
    assert life.then(raid10(sync=resync(5), resync_start="0")) == [
        ("kernel", "data", "started as /dev/md127: raid10, 420 GiB")
    ]
    assert life.then(raid10(sync=resync(2 * half), resync_start="0")) == []
    assert life.then(raid10(last_sync_action="resync")) == [("kernel+", "data", "resync ended")]
    assert life.then(raid10(failed=("sdb",), last_sync_action="resync")) == [
        ("kernel!!", "data", "member sdb failed"),
        (
            "health!!",
            "data",
            "is degraded: 1 of 4 members missing (slot 1), sdb failed; slot 0 holds the last copy",
        ),
    ]
    gone = raid10(members=("sda", None, "sdc", "sdd"), last_sync_action="resync")
    assert life.then(gone) == [("kernel!", "data", "member sdb removed")]
    new = raid10(
        members=("sda", "sde", "sdc", "sdd"), numbers={"sde": 4}, rebuilding=("sde",), sync=recover(5)
    )
    assert life.then(new) == [
        ("kernel", "data", "member sde added (rebuilding)"),
        ("kernel", "data", "recover started, 210 GiB"),
    ]
    assert life.then(replace(new, sync=recover(COMPONENT_KIB - 9), last_sync_action="recover")) == []
    whole = replace(new, sync=None, rebuilding=(), last_sync_action="recover")
    assert life.then(whole) == [
        ("kernel+", "data", "member sde: rebuilding → in_sync"),
        ("kernel+", "data", "recover ended"),
        ("health+", "data", "optimal"),
    ]
    assert life.then() == [("kernel!", "data", "stopped")]


def test_replacement() -> None:
    before = raid10(spares=("sde",))
    during = raid10(replacements={"sde": 0}, sync=recover(5))
    after = raid10(members=("sde", "sdb", "sdc", "sdd"), numbers={"sde": 4, "sda": 0}, failed=("sda",))
    life = starting_with(before)
    assert life.then(during) == [
        ("kernel", "data", "member sde: spare → replacement"),
        ("kernel", "data", "recover started, 210 GiB"),
    ]
    assert life.then(after) == [
        ("kernel+", "data", "member sde: replacement → in_sync"),
        ("kernel!!", "data", "member sda failed"),
        ("kernel+", "data", "recover ended"),
        ("health!", "data", "attention: sda has failed; all slots are filled without it"),
    ]


def test_renamed_is_the_same_array_under_another_name() -> None:
    life = starting_with(raid1("md127", "126", uuid="f" * 32))
    assert life.then(raid1("md126", "root", uuid="f" * 32)) == [
        ("kernel", "root", "is now /dev/md126, was /dev/md127"),
        ("kernel", "root", "renamed, was 126"),
    ]


def test_another_array_under_the_same_name() -> None:
    life = starting_with(raid1("md127", "old"))
    life.sampler.forget()
    assert life.then(raid1("md127", "new", members=("sde", None))) == [
        ("kernel!", "old", "stopped"),
        ("kernel", "new", "started as /dev/md127: raid1, 210 GiB"),
        (
            "health!!",
            "new",
            "is degraded: 1 of 2 members missing (slot 1); no redundancy is left",
        ),
    ]


@pytest.mark.parametrize("early", [True, False])
def test_uuid_that_is_known_only_later_or_no_more(early: bool) -> None:  # noqa: FBT001
    bare = snapshot_of(host_tree(raid1(label="", attributes={"uuid": None}), udev=False))
    full = snapshot_of(host_tree(raid1(label="")))
    assert bare.arrays[0].key != full.arrays[0].key
    assert between(*((bare, full) if early else (full, bare))) == []


def test_mirror_coming_apart() -> None:
    life = starting_with(raid1(members=("sda", None)))
    apart = life.then(raid1("md127", members=(None, "sdb")), raid1(members=("sda", None)))
    assert apart == [
        ("kernel", "root", "started as /dev/md127: raid1, 210 GiB"),
        (
            "health!!",
            "root",
            "is degraded: 1 of 2 members missing (slot 0); no redundancy is left",
        ),
    ]


def test_inactive_then_started() -> None:
    life = starting_with()
    members = ("sda", "sdb", "sdc", None)
    assert life.then(inactive(raid10(members=members))) == [
        ("kernel", "md127", "appeared as /dev/md127, inactive, with 3 members"),
        ("health!!", "md127", "failed: is inactive: not started, with 3 of 4 members"),
    ]
    assert life.then(raid10(members=members, read_only="auto-read-only")) == [
        ("kernel+", "data", "started"),
        ("kernel", "data", "is auto-read-only"),
        ("health!!", "data", "is degraded: 1 of 4 members missing (slot 3); slot 2 holds the last copy"),
    ]
    assert life.then(raid10(members=members)) == [("kernel", "data", "is writable")]
    assert life.then(inactive(raid10(members=members))) == [
        ("kernel!!", "md127", "became inactive"),
        ("health!!", "md127", "failed: is inactive: not started, with 3 of 4 members"),
    ]


def test_check_with_mismatches() -> None:
    life = starting_with(raid5())
    started = raid5(sync=Syncing(action="check", done_kib=5))
    assert life.then(started) == [("kernel", "media", "check started, 210 GiB")]
    late = raid5(
        sync=Syncing(action="check", done_kib=COMPONENT_KIB - 5), mismatches=8, last_sync_action="check"
    )
    assert life.then(late) == [
        ("health!", "media", "attention: the check has found 8 mismatched sectors so far")
    ]
    done = raid5(mismatches=8, last_sync_action="check")
    assert life.then(done) == [("kernel!", "media", "check ended, 8 mismatched sectors")]


def test_interrupted_check() -> None:
    life = starting_with(raid1(sync=Syncing(action="check", done_kib=COMPONENT_KIB * 2 // 5)))
    assert life.then(raid1(sync_min=447232)) == [
        ("kernel+", "root", "check interrupted at 40.0 %, 0 mismatched sectors")
    ]


def test_a_recovery_has_ended_though_another_slot_is_empty() -> None:
    """RAID-6, two failed, one added: the array is degraded still, the recovery is not interrupted."""
    before = raid6(
        members=(None, "sdk", "sdl", "sdm", "sdq"), rebuilding=("sdq",), sync=recover(COMPONENT_KIB // 2)
    )
    after = replace(before, rebuilding=(), sync=None, last_sync_action="recover")
    life = starting_with(before)
    assert life.then(after) == [
        ("kernel+", "backup", "member sdq: rebuilding → in_sync"),
        ("kernel!", "backup", "recover ended"),
    ]


def test_a_recovery_whose_target_fails_is_interrupted() -> None:
    before = raid10(rebuilding=("sdb",), sync=recover(COMPONENT_KIB // 2))
    life = starting_with(before)
    assert life.then(raid10(failed=("sdb",))) == [
        ("kernel!!", "data", "member sdb failed"),
        ("kernel!", "data", "recover interrupted at 50.0 %"),
    ]


def test_a_reshape_that_was_frozen_and_waits_has_not_ended() -> None:
    life = starting_with(raid5(frozen=True, reshape_position="15360"))
    words = "attention: is in the middle of a reshape, which does not run"
    assert life.then(raid5(reshape_position="15360")) == [
        ("kernel", "media", "reshape pending"),
        ("health+", "media", words),
    ]
    assert life.then(raid5()) == [
        ("kernel+", "media", "reshape ended"),
        ("health+", "media", "optimal"),
    ]


def test_failed_and_removed_in_one_moment() -> None:
    """``mdadm --fail X --remove X``: md lets nobody remove a member in sync, so it had failed."""
    life = starting_with(raid1())
    assert life.then(raid1(members=("sde", None)))[:2] == [
        ("kernel!!", "root", "member sdf failed"),
        ("kernel!", "root", "member sdf removed"),
    ]
    spare = starting_with(raid1(spares=("sdg",)))
    assert spare.then(raid1()) == [("kernel!", "root", "member sdg removed")]
    shrunk = starting_with(raid1(members=("sde", "sdf", "sdg")))
    assert shrunk.then(raid1()) == [("kernel!", "root", "member sdg removed")]


def test_paused_and_resumed() -> None:
    life = starting_with(raid1(sync=resync(5), resync_start="0"))
    assert life.then(raid1(frozen=True, resync_start="5")) == [
        ("kernel!", "root", "resync frozen"),
        ("health!!", "root", "degraded: is frozen while a resync waits: it does not resume by itself"),
    ]
    assert life.then(raid1(sync=resync(10), resync_start="5")) == [
        ("kernel", "root", "resync resumed"),
        ("health+", "root", "optimal"),
    ]


@pytest.mark.parametrize(
    ("waiting", "text"),
    [
        ("DELAYED", "resync delayed: another array on the same disks syncs"),
        ("PENDING", "resync pending"),
        ("REMOTE", "resync runs on another node"),
    ],
)
def test_waiting(waiting: str, text: str) -> None:
    life = starting_with(raid1())
    assert life.then(raid1(sync=resync(0, waiting=waiting))) == [("kernel", "root", text)]
    assert life.then(raid1(sync=resync(5))) == [("kernel", "root", "resync started, 210 GiB")]


def test_resync_yields_to_recovery() -> None:
    life = starting_with(raid5(sync=resync(COMPONENT_KIB // 4)))
    after = raid5(failed=("sdh",), members=("sdg", "sdz", "sdi"), rebuilding=("sdz",), sync=recover(5))
    assert life.then(after)[:4] == [
        ("kernel", "media", "member sdz added (rebuilding)"),
        ("kernel!!", "media", "member sdh failed"),
        ("kernel!", "media", "resync ended"),
        ("kernel", "media", "recover started, 210 GiB"),
    ]


def test_several_members_removed_are_reported_in_order() -> None:
    life = starting_with(raid1(spares=("sdx", "sdy", "sdz")))
    assert life.then(raid1()) == [
        ("kernel!", "root", f"member {name} removed") for name in ("sdx", "sdy", "sdz")
    ]


def test_broken_and_grown() -> None:
    life = starting_with(raid0())
    assert life.then(raid0(state="broken")) == [
        ("kernel!!", "scratch", "is broken"),
        ("health!!", "scratch", "has failed: a member is gone"),
    ]
    life = starting_with(raid5())
    assert life.then(raid5(members=("sdg", "sdh", "sdi", "sdz"))) == [
        ("kernel", "media", "size 420 GiB → 630 GiB"),
        ("kernel", "media", "member sdz added (in sync)"),
    ]


def test_limits() -> None:
    life = starting_with(raid1())
    assert life.then(raid1(), limits=(50_000, 500_000)) == [
        ("kernel", "system", "min speed limit 1.0 MB/s → 51.2 MB/s (all arrays)"),
        ("kernel", "system", "max speed limit 205 MB/s → 512 MB/s (all arrays)"),
    ]
    assert life.then(raid1(limits=(None, 90_000)), limits=(50_000, 500_000)) == [
        ("kernel", "root", "max limit 512 MB/s → 92.2 MB/s (this array)")
    ]
    assert life.then(raid1(limits=(60_000, 90_000)), limits=(50_000, 500_000)) == [
        ("kernel", "root", "min limit 51.2 MB/s → 61.4 MB/s (this array)")
    ]
    assert life.then(raid1(), limits=(50_000, 500_000)) == [
        ("kernel", "root", "min limit given back to the system: 51.2 MB/s"),
        ("kernel", "root", "max limit given back to the system: 512 MB/s"),
    ]


def test_unreadable_and_readable_again() -> None:
    good = snapshot_of(host_tree(raid1()))
    stale = replace(good, readable=False, stale=Stale(since_s=EPOCH_S, reason=str(errno.EIO)))
    assert between(good, stale) == [("kernel!!", "/proc/mdstat", "can no longer be read")]
    assert between(stale, good) == [("kernel+", "/proc/mdstat", "can be read again")]


def test_odd_lines_and_their_end() -> None:
    good = snapshot_of(host_tree(raid1()))
    odd = replace(good, arrays=(replace(good.arrays[0], stale=Stale(since_s=1.0, reason="odd lines")),))
    assert between(good, odd) == [("health!", "root", "attention: cannot be read now: odd lines")]
    assert between(odd, good) == [("health+", "root", "optimal")]


def test_nothing_happened() -> None:
    one, other = (snapshot_of(host_tree(raid10(), raid5(failed=("sdh",)))) for _ in range(2))
    assert one.arrays[0] is not other.arrays[0]
    assert between(one, other) == []


def test_events_are_at_the_time_of_the_new_snapshot() -> None:
    stage = host_tree().root()
    sampler = stage.sampler()
    old = sampler.sample()
    stage.show(host_tree(raid10()), after_s=7)
    assert diff(old, sampler.sample(), (), ()) == (
        Event(
            at_s=EPOCH_S + 7,
            kind=KERNEL,
            subject="data",
            text="started as /dev/md127: raid10, 420 GiB",
            tone=PLAIN,
        ),
    )


def test_first_words() -> None:
    snapshot = snapshot_of(host_tree(raid1(), raid5(failed=("sdh",)), raid10(failed=("sdz",))))
    assert lines(initial_events(snapshot, judge(snapshot))) == [
        ("health+", "root", "optimal"),
        (
            "health!!",
            "media",
            "is degraded: 1 of 3 members missing (slot 1), sdh failed; no redundancy is left",
        ),
        ("health!", "data", "attention: sdz has failed; all slots are filled without it"),
    ]


def test_first_words_of_what_is_being_synced() -> None:
    """That it is whole is not its state; that it is degraded is."""
    filling = raid10(members=("sda", "sde", "sdc", "sdd"), rebuilding=("sde",), sync=recover(5))
    snapshot = snapshot_of(host_tree(raid1(sync=resync(5)), filling))
    words = lines(initial_events(snapshot, judge(snapshot)))
    assert [(subject, text.partition(":")[0]) for _, subject, text in words] == [
        ("root", "resync"),
        ("data", "is degraded"),
        ("data", "recover"),
    ]
