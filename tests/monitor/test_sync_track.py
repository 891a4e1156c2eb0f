"""A stall, by recordings: a member that hangs, and the pauses that md makes itself."""

from __future__ import annotations

import pytest

from raidtui.monitor.sync_track import SyncSample, SyncTrack
from tests.monitor.recordings import NAMES, played, rows_of, tracks

HUNG = {"stall1": 23.2, "stall_fast": 15.4, "stall_user": 15.8}


@pytest.mark.parametrize("name", sorted(HUNG))
def test_a_member_that_hangs_is_said_within_ten_seconds(name: str) -> None:
    stalled = [row.clock_s for row, track in tracks(name) if track.stalled]
    assert HUNG[name] < stalled[0] < HUNG[name] + 10
    assert all(stalled[0] <= at_s < HUNG[name] + 23 for at_s in stalled)


@pytest.mark.parametrize("name", sorted(set(NAMES) - HUNG.keys()))
@pytest.mark.parametrize("every_s", [0.2, 1.0])
def test_no_pause_of_md_is_taken_for_a_stall(name: str, every_s: float) -> None:
    """After a lowered limit md rests for 25 s; and it waits at sync_max, or is frozen."""
    assert [row.clock_s for row, track in tracks(name, every_s) if track.stalled] == []


@pytest.mark.parametrize("name", sorted(HUNG))
def test_while_it_stands_there_is_no_end_and_no_speed(name: str) -> None:
    for _, following in played(rows_of(name)):
        if following is not None and following.track.stalled:
            assert following.estimate is not None
            assert (following.estimate.left_s, following.estimate.speed_kib_s) == (None, 0.0)


def test_what_moved_last_is_known() -> None:
    track = SyncTrack(SyncSample(clock_s=10.0, done_kib=0, total_kib=1000, mean_kib_s=10, ceiling_kib_s=100))
    for clock_s, done_kib in ((11.0, 64), (12.0, 64), (17.0, 64)):
        track.add(
            SyncSample(clock_s=clock_s, done_kib=done_kib, total_kib=1000, mean_kib_s=10, ceiling_kib_s=100)
        )
    assert (track.moved_s, track.stalled) == (11.0, True)
