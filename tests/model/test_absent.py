"""Arrays that do not run: how many members are counted, and in what words."""

import pytest

from raidtui.model.absent import Absence, AbsentArray, AbsentMember

HERE = AbsentMember(name="sda", present=True)


@pytest.mark.parametrize(
    ("array", "count", "words", "short"),
    [
        ({"filled": 2, "raid_disks": 3}, (2, 3), "2 of 3 members present", "2 of 3 members"),
        ({"members": (HERE,)}, (1, None), "1 member present", "1 member"),
        ({"members": (HERE,), "raid_disks": 3}, (1, 3), "1 member present of 3", "1 member of 3"),
        ({"filled": 2}, (0, None), "0 members present", "0 members"),
    ],
)
def test_counts(array: dict[str, object], count: tuple[int, int | None], words: str, short: str) -> None:
    found = AbsentArray(absence=Absence.NOT_STARTED, path="/dev/md/data", **array)  # type: ignore[arg-type]
    assert (found.count, found.count_words, found.count_short) == (count, words, short)
