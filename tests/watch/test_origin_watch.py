"""An array that is filled for the first time, and what on its members is older than it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from raidtui.model.finding import FindingCode, Severity
from raidtui.monitor.health import judge
from raidtui.monitor.sampler import Sampler
from raidtui.watch.origin_watch import older_words
from tests.hosts.trees import Syncing, host_tree, raid1

T_S = 1_700_000_000.0


@pytest.mark.parametrize(
    ("created_s", "made", "words"),
    [
        (T_S, {}, ""),
        (T_S, {"sda": T_S, "sdb": T_S + 5}, ""),
        (None, {"sda": T_S}, ""),
        (
            T_S,
            {"sda": T_S + 5, "sdb": T_S - 86_400, "sdc": T_S - 60},
            (
                "was created 2023-11-14 22:13:20 UTC, and the file system on sdb and sdc is older:"
                " 2023-11-13 22:13:20 UTC"
            ),
        ),
    ],
)
def test_only_what_carries_an_older_date(
    created_s: float | None, made: Mapping[str, float], words: str
) -> None:
    assert older_words(created_s, made) == words


def test_it_is_said_while_it_is_filled() -> None:
    root = host_tree(raid1(sync=Syncing(action="resync", done_kib=1024))).root()
    snapshot = Sampler(root).sample()
    (array,) = snapshot.arrays
    [finding] = judge(replace(snapshot, origins={array.key: "was created now, and an older one is there"}))
    assert (finding.code, finding.severity) == (FindingCode.CREATED_OVER, Severity.ATTENTION)
    assert f"stop it now (mdadm --stop {array.path})" in finding.remedy
