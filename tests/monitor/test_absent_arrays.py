"""Arrays that should run and do not: what is found of them, and what is passed over."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from raidtui.host.md.configured import read_configured
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.model.absent import Absence, AbsentArray
from raidtui.model.finding import Health
from raidtui.model.snapshot import Snapshot, TrialTrace
from raidtui.monitor.absent_arrays import AbsentArrays
from raidtui.monitor.absent_health import health_of_absent, judge_absent
from raidtui.monitor.events import diff
from raidtui.monitor.health import exit_status, healths_of, judge
from raidtui.monitor.sampler import Sampler
from tests.hosts.members import OTHER, THREE, TWO, UUID, examined, member, slot, udev
from tests.hosts.trees import Stage, host_tree, inactive, raid1, raid5, snapshot_of

CONF = "/etc/mdadm/mdadm.conf"


def found(files: dict[str, str], *, may_ask: bool = True) -> tuple[AbsentArray, ...]:
    """Return what is found on a host without a running array."""
    return AbsentArrays(MemoryReader(files), may_ask=may_ask, patient=True).read((), 0.0, 0.0)


def report_of(absent: AbsentArray) -> tuple[str, str, Health]:
    """Return the code, the sentence and the health."""
    snapshot = host_tree().root().sampler().sample()
    [finding] = judge(
        Snapshot(**{**{f: getattr(snapshot, f) for f in snapshot.__struct_fields__}, "absent": (absent,)})
    )
    return finding.code, finding.sentence, health_of_absent(absent)


def test_a_host_without_members_has_none() -> None:
    assert found({"/sys/class/block/sda/dev": "8:0\n"}) == ()


def test_members_are_missing() -> None:
    [absent] = found(slot("sda", 1, 0) | slot("sdc", 3, 2))
    assert (absent.title, absent.level, absent.uuid) == ("old", "raid5", UUID)
    assert report_of(absent) == (
        "not-started",
        "is not started: 2 of 3 members present (sda, sdc)",
        Health.FAILED,
    )


def test_all_members_are_there() -> None:
    [absent] = found(THREE)
    words = "is not started: 3 of 3 members present (sda, sdb, sdc)"
    assert report_of(absent) == ("not-started", words, Health.ATTENTION)


def test_a_member_that_is_behind_does_not_count() -> None:
    [absent] = found(slot("sda", 1, 0) | slot("sdb", 2, 1, events=3) | slot("sdc", 3, 2, events=16))
    words = "is not started: 2 of 3 members present (sda, sdc); sdb is behind the others"
    assert report_of(absent) == ("not-started", words, Health.FAILED)


def test_an_old_array_whose_members_all_failed_does_not_start() -> None:
    """Metadata 0.90: the superblocks count all as failed, themselves too; none is up to date."""
    rows = "this     0       8       16        0      faulty\n\n   0     0  0  0  0  faulty\n"
    text = f"exit 0\n          Version : 0.90.00\n   Raid Devices : 3\n{rows}"
    files = THREE | {
        output_path(("mdadm", "--examine", f"/dev/{name}")): text for name in ("sda", "sdb", "sdc")
    }
    [absent] = found(files)
    words = "is not started: 0 of 3 members present (sda, sdb, sdc)"
    assert report_of(absent) == ("not-started", words, Health.FAILED)


def test_no_number_is_made_up_without_root() -> None:
    [absent] = found(THREE, may_ask=False)
    words = "is not started: 3 members present (sda, sdb, sdc); the number of its members is not known"
    assert report_of(absent) == ("not-started", words, Health.UNKNOWN)


def test_a_member_that_the_others_count_as_failed_does_not_count() -> None:
    """As one that md has failed when no more can be lost: its superblock is one event behind."""
    [absent] = found(
        member("sda", 1)
        | examined("sda", "Active device 0", events=18, roles="A.A")
        | slot("sdb", 2, 1)
        | member("sdc", 3)
        | examined("sdc", "Active device 2", events=18, roles="A.A")
    )
    words = "is not started: 2 of 3 members present (sda, sdc); the others record sdb as failed"
    assert report_of(absent) == ("not-started", words, Health.FAILED)
    assert judge_absent(absent).remedy.startswith("never re-create it;")


def unread(name: str, number: int, *, size: int = 2048) -> dict[str, str]:
    """Return a device that the kernel has and udev has no entry of."""
    node = f"/sys/class/block/{name}"
    return {f"{node}/dev": f"8:{number * 16}\n", f"{node}/size": f"{size}\n"}


SO_FAR = "is not started: 2 of 3 members found so far (sda, sdc); "


@pytest.mark.parametrize(
    ("more", "reads"),
    [
        ({"/run/udev/queue": ""}, "udev is still reading devices"),
        (unread("sdb", 2), "udev has not read sdb yet"),
    ],
    ids=["its queue", "no entry"],
)
def test_what_udev_has_not_read_is_not_missing(more: dict[str, str], reads: str) -> None:
    [absent] = found(slot("sda", 1, 0) | slot("sdc", 3, 2) | more)
    assert (absent.filled, absent.complete) == (None, None)
    assert report_of(absent) == ("not-started", SO_FAR + reads, Health.UNKNOWN)


@pytest.mark.parametrize(
    "more",
    [
        unread("sdb", 2, size=0),
        unread("sdb", 2) | {"/sys/class/block/sdb/holders/dm-0/dev": "253:0\n"},
        unread("sdb", 2) | {"/run/udev/data/b8:32": "I:5150\n"},
    ],
    ids=["no medium", "in use", "udev knows nothing of it"],
)
def test_what_cannot_be_a_member_is_not_waited_for(more: dict[str, str]) -> None:
    [absent] = found(slot("sda", 1, 0) | slot("sdc", 3, 2) | more)
    assert (absent.filled, absent.awaits_udev) == (2, False)


def test_a_complete_array_is_complete_whatever_udev_still_reads() -> None:
    [absent] = found(THREE | unread("sdx", 9) | {"/run/udev/queue": ""})
    assert (absent.complete, absent.awaits_udev) == (True, False)


@pytest.mark.parametrize("serial", [None, "B2"])
def test_a_member_that_udev_does_not_know_as_such_is_found(serial: str | None) -> None:
    """What udev has read of a disk may be older than its superblock: there is an entry, without contents."""
    known = f"E:ID_SERIAL_SHORT={serial}\n" if serial else ""
    hidden = unread("sdb", 2) | {"/run/udev/data/b8:32": f"I:5150\n{known}"}
    [absent] = found(
        slot("sda", 1, 0) | slot("sdc", 3, 2) | hidden | examined("sdb", "Active device 1", events=3)
    )
    behind = "is not started: 2 of 3 members present (sda, sdc); sdb is behind the others"
    assert report_of(absent) == ("not-started", behind, Health.FAILED)
    assert {each.name: each.serial for each in absent.members}["sdb"] == serial


def test_an_array_of_which_udev_knows_no_member_is_found() -> None:
    """It was created just now, and has failed or was stopped since; one that is ignored stays so."""
    hidden = unread("sda", 1) | unread("sdb", 2) | unread("sdx", 9)
    hidden |= {f"/run/udev/data/b8:{number * 16}": "I:5150\n" for number in (1, 2, 9)}
    hidden |= examined("sda", "Active device 0") | examined("sdb", "Active device 1")
    [absent] = found(hidden)
    assert (absent.title, absent.level, absent.count) == ("old", "raid5", (2, 3))
    assert found(hidden | {CONF: f"ARRAY <ignore> UUID={UUID}\n"}) == ()
    assert found(hidden, may_ask=False) == ()
    of_maps = unread("dm-0", 1) | {"/run/udev/data/b8:16": "I:5150\n"} | examined("dm-0", "Active device 0")
    assert found(of_maps) == ()  # who removes a map must not find it open


@pytest.mark.parametrize("more", ["", "E:DM_MULTIPATH_DEVICE_PATH=1\n"], ids=["a copy", "a path"])
def test_a_second_look_at_a_member_is_no_second_member(more: str) -> None:
    same = "MD_DEV_UUID=00000000:00000000:00000000:00000001\n"
    hidden = unread("sdx", 9) | {"/run/udev/data/b8:144": f"I:5150\n{more}"}
    hidden |= {path: text + same for path, text in examined("sdx", "Active device 0").items()}
    [absent] = found(slot("sda", 1, 0) | slot("sdc", 3, 2) | hidden)
    assert [each.name for each in absent.members] == ["sda", "sdc"]


def test_a_device_is_looked_at_again_until_udev_has_read_it() -> None:
    root = MemoryReader(
        slot("sda", 1, 0) | slot("sdc", 3, 2) | unread("sdb", 2) | examined("sdb", "Active device 1")
    )
    arrays = AbsentArrays(root, may_ask=True, patient=True)
    assert [each.complete for each in arrays.read((), 0.0, 0.0)] == [None]
    for path, text in udev("8:32", number=2).items():
        root.put(path, text)
    arrays.forget("sdb")
    assert [each.complete for each in arrays.read((), 5.0, 5.0)] == [True]


def test_that_no_more_members_are_found_is_an_event() -> None:
    """Nothing is reported again for a device of another array that udev reads meanwhile."""
    known = found(TWO)
    waits = found(TWO | unread("sdx", 9))
    empty = snapshot_of(host_tree(raid1()))
    first, second = (replace(empty, absent=each) for each in (waits, known))
    words = "failed: is not started: 2 of 3 members present (sda, sdc)"
    assert [event.text for event in diff(first, second, judge(first), judge(second))] == [words]
    assert list(diff(second, first, judge(second), judge(first))) == []


def test_a_rescue_trial_is_not_reported_as_the_array() -> None:
    """It starts and ends, and holds the members one by one; the array itself does not start."""
    [rests] = found(TWO)
    [fewer] = found(slot("sda", 1, 0))
    idle, tried = snapshot_of(host_tree()), snapshot_of(host_tree(raid5(members=("sdg", "sdh", None))))
    trials = (TrialTrace(ident="ab12cd", array=tried.arrays[0].name),)
    course = [
        replace(idle, absent=(rests,)),
        replace(idle, absent=(fewer,), trials=trials),
        replace(tried, trials=trials),
        replace(idle, trials=trials),
    ]
    happened = [
        event.text for one, two in pairwise(course) for event in diff(one, two, judge(one), judge(two))
    ]
    assert happened == [
        f"a rescue trial runs, as {tried.arrays[0].path}",
        "its members are held by a rescue trial",
        "the rescue trial has ended",
    ]


SPARE = {**member("sdx", 9), **examined("sdx", "spare")}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(SPARE, id="spares alone"),
        pytest.param(member("sda", 1, more="E:DM_MULTIPATH_DEVICE_PATH=1\n"), id="a path of a multipath"),
        pytest.param(THREE | {CONF: f"ARRAY <ignore> UUID={UUID}\n"}, id="ignored by its UUID"),
        pytest.param(THREE | {CONF: "array <ignore> name=nas:old\n"}, id="ignored by its name"),
        pytest.param(
            {f"/sys/class/block/{name}/holders/dm-0/dev": "253:0\n" for name in ("sda", "sdb", "sdc")}
            | THREE,
            id="held by device-mapper",
        ),
        pytest.param(
            {f"/sys/class/block/{name}/dev": "8:16\n" for name in ("sda", "sdb")}
            | {"/run/udev/data/b8:16": "E:ID_FS_TYPE=isw_raid_member\n"},
            id="a container's",
        ),
        pytest.param(
            THREE | {"/sys/class/block/sda/holders/md0/dev": "9:0\n"},
            id="another member is in an array: these were thrown out of it",
        ),
    ],
)
def test_what_is_passed_over(files: dict[str, str]) -> None:
    assert found(files) == ()


def test_a_disk_and_its_last_partition_are_one_member() -> None:
    part = {"/sys/class/block/sda1/dev": "8:17\n", "/sys/class/block/sda/sda1/partition": "1\n"}
    files = member("sda", 1) | part | udev("8:17", number=1) | examined("sda1", "Active device 0", disks=1)
    [absent] = found(files)
    assert [each.name for each in absent.members] == ["sda1"]


def test_what_files_name() -> None:
    conf = (
        "DEVICE partitions\nHOMEHOST <system>\n# ARRAY /dev/md/no UUID=x\n"
        f"ARRAY /dev/md/a metadata=1.2\n\tUUID={OTHER} num-devices=4  # of the cellar\n\n"
        'arr b name="nas:b"\nARRAY metadata=imsm UUID=1:2:3:4\n'
        "ARRAY /dev/md/v container=/dev/md/imsm member=0\n"
        "MAILADDR root\n"
    )
    fstab = (
        "# /dev/md/x / ext4\n/dev/md/c\\040d /srv ext4 defaults,noauto 0 2\nUUID=1234 / ext4 defaults 0 1\n"
        "/dev/md7p1 none swap sw 0 0\n/dev/mdadm /x ext4\n"
        f"/dev/disk/by-id/md-uuid-{UUID}-part2 /y ext4\n"
    )
    crypttab = "safe /dev/md/e none luks\n"
    named = read_configured(MemoryReader({CONF: conf, "/etc/fstab": fstab, "/etc/crypttab": crypttab}))
    assert [(each.where, each.path, each.uuid, each.label, each.at_boot) for each in named] == [
        (f"{CONF}, line 4", "/dev/md/a", OTHER, "a", True),
        (f"{CONF}, line 7", "/dev/md/b", None, "b", True),
        ("/etc/fstab, line 2", "/dev/md/c d", None, "c d", False),
        ("/etc/fstab, line 4", "/dev/md7p1", None, "", True),
        ("/etc/fstab, line 6", f"/dev/disk/by-id/md-uuid-{UUID}-part2", UUID, "", True),
        ("/etc/crypttab, line 1", "/dev/md/e", None, "e", True),
    ]
    assert named[0].raid_disks == 4


def test_named_and_not_there() -> None:
    files = {CONF: f"ARRAY /dev/md/lost UUID={OTHER}\n", "/etc/fstab": "/dev/md/shelf /mnt ext4 noauto 0 0\n"}
    lost, shelf = found(files)
    words = f"does not run, and none of its members was found: {CONF}, line 1 names it"
    assert report_of(lost) == ("not-there", words, Health.FAILED)
    assert report_of(shelf)[2] is Health.ATTENTION


def test_named_and_not_started_is_one() -> None:
    files = THREE | {
        CONF: f"ARRAY /dev/md/old UUID={UUID}\n",
        "/etc/fstab": "/dev/md/old /srv ext4 defaults\n",
    }
    [absent] = found(files)
    assert (absent.absence, absent.named_by) == (
        Absence.NOT_STARTED,
        (f"{CONF}, line 1", "/etc/fstab, line 1"),
    )


@pytest.mark.parametrize(
    "line",
    ["/dev/md126 / ext4", "/dev/md126p2 / ext4", "/dev/md/root1 / ext4", "/dev/md/root / ext4"],
)
def test_what_runs_is_not_missed(line: str) -> None:
    root = host_tree(raid1()).root()
    root.put("/etc/fstab", f"{line}\n")
    root.put(CONF, "ARRAY /dev/md/root name=nas:root\nARRAY /dev/md126 super-minor=126\n")
    assert Sampler(root, absent=True).sample().absent == ()
    root.put("/etc/fstab", "/dev/md1262 / ext4\n")
    assert len(Sampler(root, absent=True).sample().absent) == 1


def test_an_inactive_array_without_a_name_may_be_the_one_that_is_named() -> None:
    root = host_tree(inactive(raid5(label=""))).root()
    root.put("/etc/fstab", "/dev/md/media /srv ext4 defaults\n")
    assert Sampler(root, absent=True).sample().absent == ()


# -- while it is watched

MEDIA = raid5(uuid=UUID.replace(":", ""))
NAMES = ("sdg", "sdh", "sdi")


class Watched:
    """A host with one array, watched."""

    def __init__(self) -> None:
        self.reader: Stage = host_tree(MEDIA).root()
        self.read: tuple[str, ...] = NAMES  # those that udev has read
        self._report()
        self.sampler = Sampler(self.reader, clock=self.reader.clock, absent=True)
        self.last = self.sampler.sample()

    def _report(self, names: tuple[str, ...] = NAMES) -> None:
        for number, name in enumerate(names):
            dev = (self.reader.text(f"/sys/class/block/{name}/dev") or "").strip()
            for path, text in udev(dev, number=number, label="nas:media").items():
                self.reader.put(path, text)

    def then(
        self,
        *specs: object,
        pulled: tuple[str, ...] = (),
        after_s: float = 1.0,
        records: dict[str, str] | None = None,
    ) -> list[str]:
        """Show the host like this; return what the timeline says."""
        self.reader.show(host_tree(*specs), pulled=pulled, after_s=after_s)  # type: ignore[arg-type]
        self._report(tuple(name for name in self.read if name not in pulled))
        for path, text in (records or {}).items():
            self.reader.put(path, text)
        self.sampler.forget()
        before, self.last = self.last, self.sampler.sample()
        return [event.text for event in diff(before, self.last, judge(before), judge(self.last))]

    @property
    def absent(self) -> list[tuple[str, str]]:
        return [(each.absence.value, each.count_words) for each in self.last.absent]


def test_an_array_that_dies_stays_listed_until_it_runs_again() -> None:
    host = Watched()
    assert host.absent == []
    words = "is gone without having been stopped, 1 of 3 members present (sdi); not there: sdg, sdh"
    assert host.then(pulled=("sdg", "sdh")) == [f"failed: {words}"]
    assert host.absent == [("gone", "1 of 3 members present")]
    assert exit_status(host.last, healths_of(host.last, judge(host.last)).values()) == 2
    assert host.last.absent[0].key == UUID
    host.then(pulled=NAMES, after_s=600)
    assert host.absent == [("gone", "0 of 3 members present")]  # nothing of it is left; it is not forgotten
    host.then(MEDIA)
    assert host.absent == []


def test_a_dying_array_that_was_seen_to_fail_first() -> None:
    host = Watched()
    host.then(raid5(uuid=UUID.replace(":", ""), failed=("sdg", "sdh")))
    host.then()
    assert host.absent == [("gone", "3 of 3 members present")]


def test_an_array_that_is_stopped_has_time_to_come_back() -> None:
    host = Watched()
    assert host.then() == ["stopped"]
    assert (host.absent, host.sampler.unsettled) == ([], True)
    host.then(MEDIA)
    assert (host.absent, host.sampler.unsettled) == ([], False)


def test_an_array_that_stays_stopped() -> None:
    """All that it needs is there: it was stopped, and needs attention alone. Its slots are still known."""
    host = Watched()
    host.then()
    assert host.then(after_s=2.0) == ["is not started: 3 of 3 members present (sdg, sdh, sdi)"]
    assert exit_status(host.last, healths_of(host.last, judge(host.last)).values()) == 1
    assert host.then(pulled=("sdh",), after_s=2.0) == [
        "failed: is not started: 2 of 3 members present (sdg, sdi)"
    ]
    assert exit_status(host.last, healths_of(host.last, judge(host.last)).values()) == 2


def test_an_array_whose_disks_hold_something_else_now_was_given_up() -> None:
    host = Watched()
    host.then(pulled=("sdg", "sdh"))
    assert host.absent == [("gone", "1 of 3 members present")]
    host.reader.put("/sys/class/block/sdg/dev", "8:96\n")
    for dev, number in (("8:96", 0), ("8:128", 2)):
        for path, text in udev(dev, OTHER, number=number).items():
            host.reader.put(path, text)
    host.sampler.forget()
    host.reader.passed_s += 5
    assert [each.uuid for each in host.sampler.sample().absent if each.absence is Absence.GONE] == []


@pytest.mark.parametrize(("serial", "present"), [("S2", 1), ("S9", 0)], ids=["the member", "another disk"])
def test_what_udev_has_not_read_yet(serial: str, present: int) -> None:
    """The kernel has just named sdi as a member; udev's record of it is still that of an empty disk."""
    host = Watched()
    dev = (host.reader.text("/sys/class/block/sdi/dev") or "").strip()
    record = {f"/run/udev/data/b{dev}": f"E:ID_SERIAL_SHORT={serial}\n"}
    host.read = ()
    host.then(pulled=("sdg", "sdh"), records=record)
    assert host.absent == [("gone", f"{present} of 3 members present")]
    assert host.sampler.unsettled
    host.then(pulled=("sdg", "sdh"), after_s=5.0, records=record)  # it holds nothing, as udev knows by now
    assert host.absent == [("gone", "0 of 3 members present")]
    assert not host.sampler.unsettled
