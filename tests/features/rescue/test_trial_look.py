"""What is looked at in a trial: lists of sums, and where files may be copied to."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.features.rescue.trial.trial_look import (
    FilesFound,
    files_damaged,
    look_around,
    read_sums,
    refuse_target,
)

ONE, TWO = "1" * 64, "a" * 64


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
        ("own-abc/1", "is a place of a trial itself"),
        ("link", "is a place of a trial itself"),
    ],
)
def test_where_files_may_be_copied_to(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "own-abc" / "1").mkdir(parents=True)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "own-abc" / "1")
    found = refuse_target(str(tmp_path / name), f"{tmp_path}/own-")
    assert why in found if why else found == ""
