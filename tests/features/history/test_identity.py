"""What an incident is about today, and which incidents are wanted."""

from __future__ import annotations

import pytest

from raidtui.features.history.assembly import assemble
from raidtui.features.history.entries import Entry, Origin
from raidtui.features.history.identity import ArrayToday, Today, subject_of
from raidtui.features.history.incidents import Incident
from raidtui.features.history.narrowing import Narrowing, SubjectError, narrowed
from raidtui.features.history.patterns import Weight
from raidtui.model.log_line import LogLine, Writer
from tests.features.history.logs import EPOCH_S, entries, line

THEN, NOW = "a" * 32, "c" * 32
TODAY = Today(
    boot=NOW,
    arrays={
        "md127": ArrayToday(name="md127", key="1111", title="data", members=("sda2", "sdb2")),
        "md126": ArrayToday(name="md126", key="2222", title="root", members=("sda1", "sdb1")),
    },
    serials={"sda": "S-ONE", "sdb": "S-TWO", "nvme0n1": "N-ONE"},
)


def smartd(name: str, serial: str, boot: str = THEN) -> LogLine:
    text = f"Device: /dev/{name} [SAT], A model, S/N:{serial}, WWN:5-0, FW:1, 500 GB"
    return line(9.0, text, Writer.SMARTD, boot)


def failure(array: str, member: str, boot: str, at_s: float = 5000.0) -> LogLine:
    return line(at_s, f"md/raid1:{array}: Disk failure on {member}, disabling device.", boot=boot)


def one(*lines: LogLine) -> Incident:
    incidents, _ = assemble(entries(lines), (), TODAY)
    (found,) = (each for each in incidents if each.weight >= Weight.ERROR)
    return found


def test_in_the_present_boot_names_are_what_they_are() -> None:
    subject = subject_of(one(failure("md127", "sda2", NOW)), TODAY)
    assert ([array.key for array in subject.arrays], subject.disks, subject.unknown) == (
        ["1111"],
        ("sda",),
        (),
    )


def test_of_an_earlier_boot_a_name_says_nothing() -> None:
    subject = subject_of(one(failure("md127", "sda2", THEN)), TODAY)
    assert (subject.arrays, subject.disks, subject.unknown) == ((), (), ("md127", "sda"))


def test_serials_of_that_boot_say_it() -> None:
    """Then, the disks had each other's letters, and md126 was what is md127 now."""
    found = one(smartd("sda", "S-TWO"), smartd("sdb", "S-ONE"), failure("md126", "sdb2", THEN))
    subject = subject_of(found, TODAY)
    assert ([array.title for array in subject.arrays], subject.disks) == (["data"], ("sda",))


def test_a_disk_that_is_no_longer_there() -> None:
    subject = subject_of(one(smartd("sda", "S-OLD"), failure("md127", "sda2", THEN)), TODAY)
    assert subject.unknown == ("md127", "sda")


def test_members_that_belong_to_two_arrays_now_say_nothing() -> None:
    lines = [
        smartd("sda", "S-ONE"),
        line(3.0, "md/raid:md5: device sda1 operational as raid disk 0", boot=THEN),
        failure("md5", "sda2", THEN),
    ]
    assert subject_of(one(*lines), TODAY).arrays == ()


def test_an_nvme_disk() -> None:
    found = one(line(5000.0, "nvme nvme0: Removing after probe failure status: -19", boot=NOW))
    assert subject_of(found, TODAY).disks == ("nvme0n1",)


def ours(at_s: float, text: str = "check, by ann", array: str = "data") -> Entry:
    return Entry(
        at_s=EPOCH_S + at_s,
        boot="",
        origin=Origin.CHANGE,
        code="change",
        weight=Weight.NOTE,
        text=text,
        array=array,
    )


def test_changes_are_in_the_boot_of_their_time_with_the_lines_that_followed() -> None:
    logged = [
        failure("md127", "sda2", THEN, -9e6),
        line(-8e6, "Journal stopped", Writer.JOURNAL, THEN),
        line(0.0, "Linux version 6.1.0", boot=NOW),
        line(5010.0, "md: data-check of RAID array md127", boot=NOW),
    ]
    incidents, boots = assemble(entries(logged), [ours(5009.0), ours(-9.9e6)], TODAY)
    assert [(each.boot, [entry.code for entry in each.entries]) for each in incidents] == [
        ("", ["change"]),
        (THEN, ["member-failed"]),
        (THEN, ["shutdown"]),
        (NOW, ["boot"]),
        (NOW, ["change", "sync-started"]),
    ]
    assert [boot.boot for boot in boots] == [THEN, NOW]


def test_a_boot_without_a_shutdown_before_it() -> None:
    def boots(*texts: tuple[float, str, str]) -> list[str]:
        lines = [
            line(at_s, text, Writer.JOURNAL if text == "Journal stopped" else Writer.KERNEL, boot)
            for at_s, text, boot in texts
        ]
        return [each.title for each in assemble(entries(lines), (), TODAY)[0]]

    first = (0.0, "Linux version 6.1.0", THEN)
    second = (9e5, "Linux version 6.1.1", NOW)
    assert boots(first, second) == ["booted, Linux 6.1.0", "booted; no shutdown was logged before"]
    ended = boots(first, (8e5, "Journal stopped", THEN), second)
    assert ended == ["booted, Linux 6.1.0", "the journal ends: shutdown", "booted, Linux 6.1.1"]
    in_files = boots((0.0, "Linux version 6.1.0", "file-1"), (9e5, "Linux version 6.1.1", "file-2"))
    assert in_files == ["booted, Linux 6.1.0", "booted, Linux 6.1.1"]


ALL, _ = assemble(
    entries(
        [
            smartd("sdb", "S-ONE"),
            failure("md126", "sdb2", THEN),
            failure("md9", "sdq1", THEN, 9000.0),
            failure("md127", "sda2", NOW, 9e5),
            line(9.9e5, "md: data-check of RAID array md126", boot=NOW),
        ]
    ),
    (),
    TODAY,
)


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        ({"array": "data"}, ["sdb2 failed: md no longer uses it", "sda2 failed: md no longer uses it"]),
        (
            {"array": "/dev/md/data"},
            ["sdb2 failed: md no longer uses it", "sda2 failed: md no longer uses it"],
        ),
        ({"array": "11:11"}, ["sdb2 failed: md no longer uses it", "sda2 failed: md no longer uses it"]),
        ({"array": "md126"}, ["check started"]),  # the md126 of then is another array now
        ({"array": "md9"}, ["sdq1 failed: md no longer uses it"]),
        ({"disk": "sda"}, ["sdb2 failed: md no longer uses it", "sda2 failed: md no longer uses it"]),
        ({"disk": "S-ONE"}, ["sdb2 failed: md no longer uses it", "sda2 failed: md no longer uses it"]),
        ({"disk": "sdq"}, ["sdq1 failed: md no longer uses it"]),
        ({"disk": "S-TWO"}, []),
        ({"text": "DATA-CHECK"}, ["check started"]),
        ({"troubles": True, "array": "root"}, []),
    ],
)
def test_what_is_wanted(wanted: dict[str, str], titles: list[str]) -> None:
    found = narrowed(ALL, Narrowing(**wanted), TODAY)  # type: ignore[arg-type]
    assert [each.title for each in found] == titles


def test_what_is_not_there() -> None:
    with pytest.raises(
        SubjectError, match=r"^neither this host nor its logs have an array x; there is: data, root$"
    ):
        narrowed(ALL, Narrowing(array="x"), TODAY)
    with pytest.raises(SubjectError, match=r"have a disk sdz; there is: nvme0n1, sda, sdb$"):
        narrowed(ALL, Narrowing(disk="sdz"), TODAY)
