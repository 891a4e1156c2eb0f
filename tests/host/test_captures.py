"""The captured texts through the whole reader: the same arrays by every way in, and the verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.host.md.mdstat import parse_mdstat
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.opening import open_root
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.health import health_of, judge
from raidtui.monitor.sampler import Sampler
from tests.hosts.captures import ALL_CAPTURES, MDSTAT, capture_text, expected_verdicts


def _sample(name: str) -> Snapshot:
    return Sampler(MemoryReader({"/proc/mdstat": capture_text(name)})).sample()


def _verdicts(snapshot: Snapshot) -> dict[str, list[str]]:
    findings = judge(snapshot)
    return {
        array.name: [
            health_of(array, findings).word,
            *[finding.code for finding in findings if finding.subject == array.key],
        ]
        for array in snapshot.arrays
    }


def test_all_captures_are_here() -> None:
    assert len(ALL_CAPTURES) == 159
    assert set(ALL_CAPTURES) == expected_verdicts().keys()


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_verdict(name: str) -> None:
    assert _verdicts(_sample(name)) == expected_verdicts()[name]


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_members_and_sync_are_those_of_the_text(name: str) -> None:
    snapshot = _sample(name)
    assert (snapshot.md_loaded, snapshot.readable, snapshot.stale) == (True, True, None)
    printed = parse_mdstat(capture_text(name)).arrays
    assert [(array.name, array.level, array.up) for array in snapshot.arrays] == [
        (entry.name, entry.level, entry.up) for entry in printed
    ]
    for array, entry in zip(snapshot.arrays, printed, strict=True):
        assert {(member.name, member.number) for member in array.members} == {
            (member.name, member.number) for member in entry.members
        }
        assert {member.name for member in array.members if member.has("faulty")} == {
            member.name for member in entry.members if "F" in member.flags
        }
        assert (array.sync and (array.sync.done_kib, array.sync.total_kib)) == (
            entry.sync and (entry.sync.done_kib, entry.sync.total_kib)
        )


@pytest.mark.parametrize("name", ["reshape.txt", "7.2_mdB_ddf_0.txt", "6.1_mdB_metadata-0-90-and-1-0_1.txt"])
def test_opened_by_path_or_as_a_folder_it_is_the_same(name: str, tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "mdstat").write_text(capture_text(name))
    arrays = _sample(name).arrays
    assert len(arrays) > 0
    assert Sampler(open_root(str(MDSTAT / name))).sample().arrays == arrays
    assert Sampler(open_root(str(tmp_path))).sample().arrays == arrays
