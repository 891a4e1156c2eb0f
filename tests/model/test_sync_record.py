"""Records of syncs, by recordings of real ones: a check that was paused twice, and one that was cancelled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from raidtui.model.check_words import check_words, ended_words, found_words
from raidtui.model.sync_record import (
    MOST_RUNS,
    Gap,
    LastCheck,
    RunEnd,
    SyncLook,
    SyncRecord,
    check_result,
    followed,
)
from tests.monitor.recordings import Row, rows_of

EMPTY = SyncRecord(uuid="0123")
ALL_KIB = 153_600


def look_at(row: Row, boot: str = "boot 1") -> SyncLook:
    """Return what a watcher reads at a row."""
    sample = row.sample
    return SyncLook(
        at_s=row.clock_s,
        boot=boot,
        action=row.action if sample is not None else "",
        done_kib=sample.done_kib if sample is not None else 0,
        total_kib=sample.total_kib if sample is not None else 0,
        mean_kib_s=sample.mean_kib_s if sample is not None else 0,
        kept_kib=row.kept_sectors // 2,
        start_kib=row.start_sectors // 2,
        mismatches=row.mismatches,
        last_action="check",
    )


def looks(name: str) -> Iterator[SyncLook]:
    """Yield what a watcher reads each second."""
    due_s = 0.0
    for row in rows_of(name):
        if row.clock_s >= due_s:
            due_s = row.clock_s + 1
            yield look_at(row)


def watched(*seen: SyncLook, record: SyncRecord = EMPTY) -> SyncRecord:
    """Return the record of one watcher who looked so often."""
    before_s = None
    for look in seen:
        record, before_s = followed(record, look, before_s), look.at_s
    return record


def result(record: SyncRecord | None, last: SyncLook) -> LastCheck:
    """Return what is known in the end."""
    found = check_result(record, "check", last)
    assert found is not None
    return found


def test_mismatches_are_summed_over_pauses() -> None:
    """The kernel's counter begins anew each time: its last word is 2048 of 6144."""
    seen = list(looks("pause"))
    record = watched(*seen)
    assert [run.end for run in record.runs] == [RunEnd.STOPPED, RunEnd.STOPPED, RunEnd.COMPLETE]
    assert [(run.first_kib, run.kept_kib) for run in record.runs[:2]] == [(0, 38_656), (38_656, 77_312)]
    found = result(record, seen[-1])
    assert (found.complete, found.read_kib, found.mismatches) == (True, ALL_KIB, 6144)
    assert (seen[-1].mismatches, ended_words(found)) == (2048, "check ended, 6144 mismatched sectors")


def test_mismatches_before_a_step_that_nobody_saw_are_not_forgotten() -> None:
    """Md goes on from its last step, so that they are not met again."""
    early = (replace(look, kept_kib=0) if look.at_s < 20 else look for look in looks("pause"))
    seen = list(early)
    assert result(watched(*seen), seen[-1]).mismatches == 6144


def test_what_is_paused_is_incomplete() -> None:
    seen = [look for look in looks("pause") if look.at_s < 26]
    found = result(watched(*seen), seen[-1])
    assert (found.complete, found.paused, found.mismatches) == (False, True, 2048)
    assert found_words(found) == "found 2048 mismatched sectors in the 31 % that it read"


def test_a_cancelled_check_has_not_found_nothing_in_what_it_did_not_read() -> None:
    seen = list(looks("cancel"))
    begun = next(index for index, look in enumerate(seen) if look.action)
    early = [*seen[: begun + 5], replace(seen[-1], at_s=seen[begun + 5].at_s, start_kib=0, mismatches=0)]
    found = result(watched(*early), early[-1])
    assert found.complete is False
    assert (
        ended_words(found) == f"check interrupted at {found.percent}, 0 mismatched sectors in what was read"
    )
    assert 4 < int(found.percent.removesuffix(" %")) < 10


def test_without_a_watcher_it_is_not_known_whether_it_was_complete() -> None:
    last = list(looks("pause"))[-1]
    found = result(None, last)
    assert found.complete is None
    assert check_words(found) == "last check: 2048 mismatched sectors; not known whether it was complete"


def test_who_came_late_does_not_know_what_was_before() -> None:
    seen = [look for look in looks("pause") if look.at_s > 55]
    found = result(watched(*seen), seen[-1])
    assert (found.complete, found.begun_s, found.took_s) == (False, None, None)
    assert found.percent == "50 %"


def test_a_gap_at_the_end_leaves_it_open() -> None:
    """Who did not watch the end cannot say whether it was stopped, where it can have been at its end."""
    seen = list(looks("pause"))
    last = replace(seen[-1], at_s=200.0)
    found = result(watched(*(look for look in seen if look.at_s < 70), last), last)
    assert found.complete is None


def test_a_gap_in_between_is_kept() -> None:
    seen = [look for look in looks("t2") if not 20 < look.at_s < 50]
    record = watched(*seen)
    (gap,) = record.runs[-1].gaps
    assert isinstance(gap, Gap)
    assert (18 < gap.from_s < 21, 49 < gap.to_s < 52) == (True, True)
    assert record.runs[-1].end is RunEnd.COMPLETE
    assert check_words(result(record, seen[-1])).endswith("; unwatched for 31 s")


def test_another_watcher_goes_on_from_the_record() -> None:
    seen = list(looks("pause"))
    first = watched(*(look for look in seen if look.at_s < 40))
    both = watched(*(look for look in seen if look.at_s > 42), record=first)
    assert result(both, seen[-1]).mismatches == 6144
    assert result(both, seen[-1]).complete is True


def test_a_check_that_nobody_watched_makes_the_last_one_unknown() -> None:
    seen = list(looks("pause"))
    later = replace(seen[-1], at_s=500.0, mismatches=128)
    found = result(watched(*seen, later), later)
    assert (found.complete, found.mismatches) == (None, 128)


def test_a_reboot_forgets_the_counter_and_not_the_result() -> None:
    seen = list(looks("pause"))
    later = SyncLook(at_s=900.0, boot="boot 2", mismatches=0, last_action="none")
    record = watched(*seen, later)
    found = check_result(record, "none", later)
    assert found is not None
    assert (found.complete, found.mismatches) == (True, 6144)
    cut = watched(*seen[:10], later)
    assert cut.runs[-1].end is RunEnd.UNKNOWN


@pytest.mark.parametrize(("waits", "end"), [(True, RunEnd.STOPPED), (False, RunEnd.COMPLETE)])
def test_a_recovery_is_complete_when_nothing_is_left(waits: bool, end: RunEnd) -> None:  # noqa: FBT001
    runs = SyncLook(at_s=1.0, boot="b", action="recover", done_kib=10, total_kib=100, last_action="recovery")
    ended = SyncLook(at_s=2.0, boot="b", last_action="recovery", work_waits=waits)
    assert watched(runs, ended).runs[-1].end is end


def test_a_resync_after_a_check_has_written_over_what_did_not_match() -> None:
    seen = list(looks("pause"))
    resync = SyncLook(at_s=300.0, boot="boot 1", action="resync", done_kib=1, total_kib=ALL_KIB)
    done = SyncLook(at_s=301.0, boot="boot 1", last_action="resync", mismatches=0)
    found = check_result(watched(*seen, resync, done), "resync", done)
    assert found is not None
    assert found.rewritten


def test_it_keeps_a_few_runs_only() -> None:
    record = EMPTY
    for number in range(3 * MOST_RUNS):
        run = SyncLook(at_s=10.0 * number, boot="b", action="recover", done_kib=1, total_kib=9 + number)
        record = followed(record, run, None)
    assert len(record.runs) == MOST_RUNS
