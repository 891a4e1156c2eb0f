"""A trial on which a tool does not answer: that is neither "no file system" nor "the store is full"."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.features.rescue.search.results import CheckResult
from raidtui.features.rescue.trial import trial_checks
from raidtui.features.rescue.trial.trial_checks import Checker, read_store_use
from raidtui.features.rescue.trial.trial_record import TrialNames
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.jobs.patient_tool import PatientEnd
from raidtui.jobs.sandbox import Sandbox

BLKID = output_path(("blkid", "--probe", "--output", "export", "/dev/md/x"))
STATUS = output_path(("dmsetup", "status", "overlay"))


@pytest.mark.parametrize(
    ("said", "check", "sure"),
    [
        (
            "timed-out\nblkid did not answer within 60 s",
            CheckResult.NOT_TRIED,
            "it is not known what is there: blkid did not answer within 60 s",
        ),
        ("exit 1\n", CheckResult.NOT_TRIED, "it is not known what is there: blkid failed (1)"),
        ("exit 2\n", CheckResult.NO_FILE_SYSTEM, "blkid knows nothing of what is there"),
    ],
)
def test_what_is_there(said: str, check: CheckResult, sure: str, tmp_path: Path) -> None:
    checker = Checker(MemoryReader({BLKID: said}), tmp_path, TrialNames(ident="x"), lambda: False)
    [found] = checker.check("/dev/md/x")
    assert (found.proof.check, found.proof.sure) == (check, sure)


SFDISK = output_path(("sfdisk", "--json", "/dev/md/x"))
A_PART = '{"partitiontable": {"partitions": [{"start": 2048, "size": 4096}]}}'


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
