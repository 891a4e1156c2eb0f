"""Where an exchange stands, by what is there."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from raidtui.features.pull.bays import read_bays
from raidtui.features.pull.record import PullRecord
from raidtui.features.pull.standing import OtherState, PullStage, PullStanding, standing
from raidtui.features.pull.words import pull_words
from raidtui.jobs.states import JobState
from tests.hosts.bays import MEDIA, NEW, SERIALS, BayHost, filled, without


def stands(host: BayHost, record: PullRecord, jobs: Mapping[str, JobState] | None = None) -> PullStanding:
    return standing(record, read_bays(host), host.sampler().sample().arrays, jobs or {})


@pytest.fixture
def host() -> BayHost:
    return BayHost()


@pytest.fixture
def record(host: BayHost) -> PullRecord:
    return host.record("sdc")


def test_the_record_knows_disks_by_serial_number_and_bay(record: PullRecord) -> None:
    target = record.target
    assert (target.identity, target.name, target.bay) == (SERIALS["sdc"], "sdc", "pci-0000:00:17.0-ata-3")
    assert [(member.array, member.part, member.slot) for member in target.members] == [("media", 0, 2)]
    assert [other.identity for other in record.others] == [
        *(SERIALS[name] for name in ("sda", "sdb", "sdd")),
        "20214A2B3C4D",
    ]
    assert record.others[-1].members == ()


def test_from_its_begin_to_its_end(host: BayHost, record: PullRecord) -> None:
    assert stands(host, record).stage is PullStage.SERVING
    running = {"job-1": JobState.RUNNING}
    assert stands(host, replace(record, out_job="job-1"), running).stage is PullStage.TAKING
    host.now(without("sdc"))
    assert stands(host, record).stage is PullStage.WAITING
    host.pull("sdc", without("sdc"))
    found = stands(host, record)
    assert (found.stage, found.wrong, found.target) == (PullStage.LEFT, (), None)
    record = replace(record, left_s=1.0)
    host.push("sdc", NEW, bay=3)
    found = stands(host, record)
    assert (found.stage, [disk.identity for disk in found.fresh]) == (PullStage.FRESH, [NEW])
    host.now(filled("sdc", 2))
    found = stands(host, record)
    assert (found.stage, found.complete, found.sync and found.sync.percent) == (
        PullStage.FILLING,
        False,
        "34.1 %",
    )
    host.now(MEDIA)
    assert (stands(host, record).stage, stands(host, record).complete) == (PullStage.DONE, True)


def test_a_failed_member_is_still_in_service_until_md_lets_it_go(host: BayHost, record: PullRecord) -> None:
    host.now(replace(MEDIA, failed=("sdc",)))
    assert stands(host, record).stage is PullStage.SERVING


def test_another_disk_with_the_name_of_the_former_one_is_no_former_one(
    host: BayHost, record: PullRecord
) -> None:
    host.pull("sdc", without("sdc"))
    host.push("sdc", NEW)
    assert stands(host, record).stage is PullStage.FRESH


@pytest.mark.parametrize("left_s", [1.0, None])
def test_the_former_disk_is_recognised(host: BayHost, record: PullRecord, left_s: float | None) -> None:
    """By the record, or by the kernel's count of its appearances."""
    host.pull("sdc", without("sdc"))
    host.push("sdf", SERIALS["sdc"], bay=3)
    assert stands(host, replace(record, left_s=left_s)).stage is PullStage.BACK


def test_after_a_reboot_that_nobody_saw_it_leave_before_it_counts_as_not_yet_pulled(
    host: BayHost, record: PullRecord
) -> None:
    host.now(without("sdc"))
    booted = replace(record, appearance="99999999-2222-3333-4444-555555555555/3")
    assert stands(host, booted).stage is PullStage.WAITING
    assert stands(host, replace(booted, left_s=1.0)).stage is PullStage.BACK


def test_the_former_disk_back_in_its_array_ends_it(host: BayHost, record: PullRecord) -> None:
    host.pull("sdc", without("sdc"))
    host.push("sdc", SERIALS["sdc"])
    host.now(filled("sdc", 2))
    record = replace(record, left_s=1.0)
    assert stands(host, record).stage is PullStage.FILLING
    host.now(MEDIA)
    assert stands(host, record).stage is PullStage.DONE


def test_the_wrong_one_left_came_back_and_is_filled(host: BayHost, record: PullRecord) -> None:
    raid6 = replace(MEDIA, level="raid6", layout="ls6")
    host.pull("sdb", without("sdb", "sdc", array=raid6))
    found = stands(host, record)
    assert ([disk.identity for disk in found.wrong], found.lost) == ([SERIALS["sdb"]], ())
    host.push("sdg", SERIALS["sdb"], without("sdb", "sdc", array=raid6))
    found = stands(host, record)
    assert (found.wrong, [disk.name for disk in found.those(OtherState.OUT)]) == ((), ["sdb"])
    assert found.names[SERIALS["sdb"]] == "sdg"
    members = ("sda", "sdg", None, "sdd")
    host.now(replace(raid6, members=members, rebuilding=("sdg",)))
    assert [disk.name for disk in stands(host, record).those(OtherState.FILLING)] == ["sdb"]
    host.now(replace(raid6, members=members))
    assert stands(host, record).those(OtherState.THERE) == record.others


def test_a_disk_beside_the_arrays_that_leaves_is_wrong_too(host: BayHost, record: PullRecord) -> None:
    host.pull("sde", without("sdc"))
    found = stands(host, record)
    assert [disk.identity for disk in found.wrong] == ["20214A2B3C4D"]
    words = pull_words(record, found, host.sampler().sample().arrays)
    assert words.text[-1] == "It held no member of an array: there is nothing to add."


@pytest.mark.parametrize(
    "array", [without("sdb", "sdc"), replace(without("sdb", "sdc"), array_state="broken")]
)
def test_an_array_that_cannot_do_without_the_wrong_one_is_lost(
    host: BayHost, record: PullRecord, array: object
) -> None:
    host.pull("sdb", array)  # type: ignore[arg-type]
    found = stands(host, record)
    assert found.lost == ("media",)
    words = pull_words(record, found, host.sampler().sample().arrays)
    assert (words.head, words.role, words.act) == ("WRONG DISK: push it back", "bad", "")
    assert "has stopped working" in words.text[-1]


def test_without_a_bitmap_it_is_copied_whole(host: BayHost, record: PullRecord) -> None:
    raid6 = replace(MEDIA, level="raid6", layout="ls6", bitmap=None)
    host.pull("sdb", without("sdb", "sdc", array=raid6))
    words = pull_words(record, stands(host, record), host.sampler().sample().arrays)
    assert words.text[-1] == "Then it is added to media and copied whole, since there is no bitmap."


def test_of_several_new_disks_the_one_in_the_same_bay_is_first(host: BayHost, record: PullRecord) -> None:
    host.pull("sdc", without("sdc"))
    host.push("sdf", "OTHER-1", bay=9)
    host.push("sdg", NEW, bay=3)
    assert [disk.identity for disk in stands(host, record).fresh] == [NEW, "OTHER-1"]
    noted = replace(record, fresh="OTHER-1")
    assert [disk.identity for disk in stands(host, noted).fresh] == ["OTHER-1", NEW]


@pytest.mark.parametrize(
    ("state", "fresh", "resumed"),
    [
        (JobState.INTERRUPTED, NEW, True),
        (JobState.INTERRUPTED, "OTHER-1", False),  # it was interrupted with another disk
        (JobState.FAILED, NEW, False),
        (JobState.DONE, NEW, False),
    ],
)
def test_which_job_of_a_new_disk_is_resumed(
    host: BayHost, record: PullRecord, state: JobState, fresh: str, *, resumed: bool
) -> None:
    host.pull("sdc", without("sdc"))
    host.push("sdc", NEW)
    found = stands(host, replace(record, fresh=fresh, fill_job="job-2", left_s=1.0), {"job-2": state})
    assert (found.stage, found.interrupted) == (PullStage.FRESH, resumed)


def test_what_is_in_the_array_already_is_resumed_whatever_became_of_its_job(
    host: BayHost, record: PullRecord
) -> None:
    host.pull("sdc", without("sdc"))
    host.push("sdc", NEW, filled("sdc", 2))
    noted = replace(record, fresh=NEW, fill_job="job-2", left_s=1.0)
    found = stands(host, noted, {"job-2": JobState.FAILED})
    assert (found.stage, found.interrupted) == (PullStage.FILLING, True)
    words = pull_words(noted, found, host.sampler().sample().arrays)
    assert (words.head, words.act) == ("Interrupted", "resume the job")


def test_a_disk_without_a_serial_number_is_named(host: BayHost, record: PullRecord) -> None:
    host.pull("sdc", without("sdc"))
    host.push("sdf", "")
    host.drop("/run/udev/data/b8:80")
    assert stands(host, record).unnamed == ("sdf",)
