"""Processes of mdadm that wait for a reshape: those of one array, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.host.md.mdadm_waits import waiting_mdadm
from raidtui.host.readers.folder_reader import FolderReader


@pytest.mark.parametrize(
    ("comm", "words", "waits"),
    [
        ("mdadm", ("/usr/sbin/mdadm", "--grow", "/dev/md127", "--raid-devices=3", "--add", "/dev/sdc"), True),
        ("mdadm", ("mdadm", "--grow", "--continue", "/dev/md127"), True),
        ("mdadm", ("mdadm", "--grow", "/dev/md/data", "-n", "3"), True),
        ("mdadm-own", ("mdadm-own", "--grow", "/dev/md/data", "-n", "3"), False),
        ("mdadm", ("mdadm", "--grow", "--continue", "/dev/md1270"), False),
        ("mdadm", ("mdadm", "--grow", "/dev/md/other", "-n", "3"), False),
        ("mdadm", ("mdadm", "--assemble", "--backup-file=/x", "/dev/md127", "/dev/sda"), True),
        ("mdadm", ("mdadm", "--monitor", "/dev/md127"), False),
        ("vi", ("vi", "--grow", "/dev/md127"), False),
    ],
)
def test_who_waits(tmp_path: Path, comm: str, words: tuple[str, ...], waits: bool) -> None:  # noqa: FBT001
    folder = tmp_path / "proc" / "815"
    folder.mkdir(parents=True)
    (folder / "comm").write_text(f"{comm}\n")
    (folder / "cmdline").write_text("\0".join((*words, "")))
    (tmp_path / "proc" / "self").mkdir()
    links = tmp_path / "dev" / "md"
    links.mkdir(parents=True)
    (links / "data").symlink_to("../md127")
    (links / "other").symlink_to("../md126")
    assert waiting_mdadm(FolderReader(str(tmp_path)), "md127") == ((815,) if waits else ())


def test_a_process_that_ends_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "proc" / "815").mkdir(parents=True)
    assert waiting_mdadm(FolderReader(str(tmp_path)), "md127") == ()
