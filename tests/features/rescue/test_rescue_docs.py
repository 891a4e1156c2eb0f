"""docs/rescue.md names every code, every state and every field of a member."""

from __future__ import annotations

import re

from raidtui.features.rescue.cli_diagnose import report_dict
from raidtui.features.rescue.mismatch.mismatch_records import ContentKind, MismatchVerdict
from raidtui.features.rescue.records import (
    CauseCode,
    Presence,
    RescueArray,
    RescueMember,
    VerdictCode,
    WayCode,
)
from raidtui.features.rescue.session import RescueReport
from tests.places import HOUSE

TEXT = (HOUSE / "docs" / "rescue.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> list[str]:
    """Return the words in backticks of the first cells of the table below a heading."""
    part = TEXT.partition(heading)[2].lstrip("\n").partition("\n\n")[0]
    rows = [line for line in part.split("\n") if line.startswith("| `")]
    return [word for row in rows for word in re.findall(r"`([a-z0-9_-]+)`", row.split(" | ")[0])]


def test_every_code() -> None:
    assert first_cells("\n### `causes`\n")[1:] == list(CauseCode)
    assert first_cells("They are listed from harmless to drastic.\n")[1:] == list(WayCode)


def test_every_code_of_a_mismatch() -> None:
    assert first_cells("\n### `verdict` of a stretch\n")[1:] == list(MismatchVerdict)
    assert first_cells("data lie in that place of the row.\n")[1:] == list(ContentKind)


def test_every_verdict() -> None:
    assert first_cells("A disk that comes back can change it.\n") == ["code", *VerdictCode]


def test_every_state() -> None:
    assert first_cells("`backwards`; null without one |\n")[1:] == list(Presence)


def test_every_field_of_a_member() -> None:
    member = RescueMember(device="sda", superblock=None, presence=Presence.STALE)
    array = RescueArray(uuid=None, name="", level=None, members=(member,))
    (shown,) = report_dict(RescueReport(arrays=(array,)))["arrays"][0]["members"]
    assert sorted(first_cells("\n### each member\n")) == sorted(shown)
