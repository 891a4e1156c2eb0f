"""The files of the records of syncs: what is foreign, damaged or too large counts as none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest

from raidtui.jobs.sync_book import SyncBook, open_book
from raidtui.model.sync_record import SyncRecord, SyncRun

UUID = "3a6eb079:0f39ac87:c94f3856:b2dd2c5d"
RUN = SyncRun(action="check", boot="b", begun_s=1.0, watched=True, total_kib=5)
RECORD = SyncRecord(uuid=UUID, runs=(RUN,))


def path_in(folder: Path) -> Path:
    """Return where the record lies."""
    return folder / "3a6eb0790f39ac87c94f3856b2dd2c5d.json"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    book = SyncBook(tmp_path / "syncs", writes=True)
    assert book.read(UUID) is None
    book.write(RECORD)
    assert (book.read(UUID), book.changed(UUID), book.trouble) == (RECORD, False, "")
    other = SyncBook(tmp_path / "syncs", writes=True)
    assert other.read(UUID) == RECORD
    other.write(SyncRecord(uuid=UUID))
    assert (book.changed(UUID), other.changed(UUID)) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"\xff\x00", b"[]", b'{"uuid": 5}', b'{"uuid": "' + UUID.encode() + b'", "runs": 7}',
        msgspec.json.encode(SyncRecord(uuid="another")),
        msgspec.json.encode(SyncRecord(uuid=UUID, runs=(RUN,) * 1000)),
    ],
)  # fmt: skip
def test_garbage_counts_as_none(text: bytes, tmp_path: Path) -> None:
    path_in(tmp_path).write_bytes(text)
    assert SyncBook(tmp_path, writes=True).read(UUID) is None


def test_who_may_not_write_writes_nothing(tmp_path: Path) -> None:
    SyncBook(tmp_path / "syncs", writes=False).write(RECORD)
    open_book(live=False, writable=True).write(RECORD)
    SyncBook(tmp_path / "syncs", writes=True).write(SyncRecord(uuid="../../etc/x"))
    SyncBook(tmp_path / "syncs", writes=True).write(SyncRecord(uuid="md0"))
    assert list(tmp_path.iterdir()) == []


def test_why_it_was_not_written_is_known(tmp_path: Path) -> None:
    (tmp_path / "syncs").write_text("")
    book = SyncBook(tmp_path / "syncs", writes=True)
    book.write(RECORD)
    assert book.trouble == f"{path_in(tmp_path / 'syncs')} cannot be written: File exists"


def test_one_writes_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.jobs.state_files._WAIT_S", 0.0)
    book, other = (SyncBook(tmp_path / "syncs", writes=True) for _ in range(2))
    with book.turn():
        assert stat.S_IMODE((tmp_path / "syncs").stat().st_mode) == 0o700  # nobody else can lock it
        with other.turn():
            assert f"process {os.getpid()} has held the lock" in other.trouble
    other.trouble = ""
    with other.turn():
        assert other.trouble == ""
