"""What raidtui itself did, as entries: which member was failed or removed is known by file or step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidtui.features.history.own_entries import _changes


@pytest.mark.parametrize(
    ("file", "wrote", "device"),
    [
        ("dev-sdb1/state", "faulty", "sdb1"),
        ("dev-sdb1/state", "remove", "sdb1"),
        ("dev-sdb1/state", "writemostly", ""),
        ("sync_action", "frozen", ""),
    ],
)
def test_a_change_is_about_a_member_that_it_fails_or_removes(
    file: str, wrote: str, device: str, tmp_path: Path
) -> None:
    line = {"at_s": 5.0, "plan": "done", "subject": "data", "path": f"/sys/class/block/md9/md/{file}"}
    path = tmp_path / "journal"
    path.write_text(json.dumps(line | {"wrote": wrote}) + "\n")
    (entry,) = _changes(path)
    assert (entry.array, entry.device) == ("data", device)
