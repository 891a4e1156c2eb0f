"""What a trial looks at: files, and tools that do not say what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.features.rescue.search.results import CheckResult
from raidtui.features.rescue.trial import trial_checks
from raidtui.features.rescue.trial.trial_checks import Checker, read_store_use
from raidtui.features.rescue.trial.trial_look import (
    FilesFound,
    files_damaged,
    look_around,
    read_sums,
    refuse_target,
)
from raidtui.features.rescue.trial.trial_record import TrialNames
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.jobs.patient_tool import PatientEnd
from raidtui.jobs.sandbox import Sandbox

ONE, TWO = "1" * 64, "a" * 64
BLKID = output_path(("blkid", "--probe", "--output", "export", "/dev/md/x"))
STATUS = output_path(("dmsetup", "status", "overlay"))
SFDISK = output_path(("sfdisk", "--json", "/dev/md/x"))
A_PART = '{"partitiontable": {"partitions": [{"start": 2048, "size": 4096}]}}'


def test_a_list_as_sha256sum_writes_it() -> None:
    text = f"{ONE}  ./music/one two.ogg\n{TWO.upper()} *b\nno sum  c\n{ONE[:-1]}  short\n{TWO}  /etc/fstab\n"
    assert read_sums(text) == {"music/one two.ogg": ONE, "b": TWO, "etc/fstab": TWO}


def test_files_are_listed_and_compared(tmp_path: Path) -> None:
    place = tmp_path / "place"
    (place / "below").mkdir(parents=True)
    (place / "same").write_bytes(b"")
    (place / "below" / "other").write_bytes(b"text")
    (place / "out").symlink_to("/etc/hostname")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    sums = {"same": empty, "below/other": ONE, "gone": ONE, "out": ONE}
    found = look_around(str(place), tmp_path / "list", sums, lambda: False)
    assert (found.files, found.same, found.other) == (3, 1, ("below/other",))
    assert found.absent == ("gone",)  # a link is there, and is not followed
    assert sorted((tmp_path / "list").read_text().split("\n")) == [
        *("", "0\tsame", f"{len('/etc/hostname')}\tout", "4\tbelow/other")
    ]


@pytest.mark.parametrize(
    ("found", "damaged"),
    [
        ([], False),
        ([FilesFound(files=2, same=2)], False),
        ([FilesFound(other=("a",))], True),
        ([FilesFound(unread=("a",))], True),
        ([FilesFound(absent=("a",))], True),
        ([FilesFound(absent=("a", "b")), FilesFound(absent=("c",))], False),  # a volume has the others' files
        ([FilesFound(absent=("a", "b")), FilesFound(absent=("b", "c"))], True),
        ([FilesFound(absent=("a",)), FilesFound(why="it cannot be mounted")], False),  # it may be there
    ],
)
def test_a_file_of_the_list_that_is_nowhere_is_damage(found: list[FilesFound], *, damaged: bool) -> None:
    assert files_damaged(found) is damaged


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", ""),
        ("new", ""),
        ("file", "is not a folder"),
        ("none/new", "there is no folder"),
        ("own-abc/1", "belongs to a trial"),
        ("link", "belongs to a trial"),
    ],
)
def test_where_files_may_be_copied_to(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "own-abc" / "1").mkdir(parents=True)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "own-abc" / "1")
    found = refuse_target(str(tmp_path / name), f"{tmp_path}/own-")
    assert why in found if why else found == ""


@pytest.mark.parametrize(
    ("said", "check", "sure"),
    [
        (
            "timed-out\nblkid did not answer within 60 s",
            CheckResult.NOT_TRIED,
            "its contents are not known: blkid did not answer within 60 s",
        ),
        ("exit 1\n", CheckResult.NOT_TRIED, "its contents are not known: blkid failed (1)"),
        ("exit 2\n", CheckResult.NO_FILE_SYSTEM, "blkid does not know its contents"),
    ],
)
def test_what_is_there(said: str, check: CheckResult, sure: str, tmp_path: Path) -> None:
    checker = Checker(MemoryReader({BLKID: said}), tmp_path, TrialNames(ident="x"), lambda: False)
    [found] = checker.check("/dev/md/x")
    assert (found.proof.check, found.proof.sure) == (check, sure)


@pytest.mark.parametrize(
    ("said", "check", "places"),
    [
        ("timed-out\nsfdisk did not answer within 60 s", CheckResult.NOT_TRIED, [""]),
        ("exit 1\n", CheckResult.NOT_TRIED, [""]),
        ("exit 0\ngarbage", CheckResult.NOT_TRIED, [""]),
        ('exit 0\n{"partitiontable": {}}', CheckResult.NO_FILE_SYSTEM, [""]),
        (f"exit 0\n{A_PART}", CheckResult.NO_FILE_SYSTEM, ["", "p1"]),  # dmsetup does not map it
    ],
)
def test_a_partition_table(said: str, check: CheckResult, places: list[str], tmp_path: Path) -> None:
    """A table that no tool reads is not one without a file system; a part that is not mapped is a finding."""
    files = {BLKID: "exit 0\nPTTYPE=gpt\n", SFDISK: said}
    found = Checker(MemoryReader(files), tmp_path, TrialNames(ident="x"), lambda: False).check("/dev/md/x")
    assert (found[0].proof.check, [each.place for each in found]) == (check, places)
    assert all(each.proof.check is CheckResult.NOT_TRIED for each in found[1:])


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("exit 0\n0 262144 snapshot 24/131072 16\n", {"sda": 24}),
        ("exit 0\n0 262144 snapshot Invalid\n", "the store of sda is full, and its overlay is void"),
        (
            "timed-out\ndmsetup did not answer within 20 s",
            "it is not known how full the store of sda is: dmsetup did not answer within 20 s",
        ),
    ],
)
def test_the_store(said: str, found: dict[str, int] | str) -> None:
    assert read_store_use(MemoryReader({STATUS: said}), {"sda": "overlay"}) == found


def test_checks_run_with_that_one_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads a foreign file system may use it, and write to an overlay alone."""
    given: list[tuple[str, Sandbox]] = []

    def ran(argv: tuple[str, ...], *_: object, sandbox: Sandbox) -> PatientEnd:
        given.append((argv[0], sandbox))
        return PatientEnd(status=0)

    monkeypatch.setattr(trial_checks, "run_patiently", ran)
    checker = Checker(MemoryReader({}), tmp_path, TrialNames(ident="x"), lambda: False)
    for kind in ("ext4", "xfs", "btrfs"):
        checker._judged("/dev/md300", kind)
    checker._replay("/dev/mapper/raidtui-rescue-x-on-1")
    assert [(tool, each.device, each.writes, each.without) for tool, each in given] == [
        ("e2fsck", "/dev/md300", False, ()),
        ("xfs_repair", "/dev/md300", False, ()),
        ("btrfs", "/dev/md300", False, ()),
        ("e2fsck", "/dev/mapper/raidtui-rescue-x-on-1", True, ()),
    ]
    assert all(each.uid for _, each in given)
