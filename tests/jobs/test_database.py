"""The file below the ledger and the history: all or none, made once, never of a form that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.jobs.state_files import Database


class NotesError(Exception):
    """The notes cannot be used."""


class Notes(Database):
    """Words, one a row."""

    what, schema, error = "notebook", 1, NotesError
    make = ("CREATE TABLE note (word TEXT NOT NULL)",)

    def words(self) -> list[str]:
        with self.reading() as file:
            return [row[0] for row in file.execute("SELECT word FROM note ORDER BY rowid")]

    def add(self, *words: str | None) -> None:
        with self.writing() as file:
            for word in words:
                file.execute("INSERT INTO note VALUES (?)", (word,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "notes.sqlite"


def test_what_is_written_is_there_for_the_next_one(path: Path) -> None:
    with Notes(path) as notes, Notes(path) as other:
        notes.add("one", "two")
        assert other.words() == ["one", "two"]
    with Notes(path) as again:
        assert again.words() == ["one", "two"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_all_or_none(path: Path) -> None:
    with Notes(path) as notes:
        notes.add("one")
        with pytest.raises(NotesError, match=r"cannot be used: NOT NULL constraint failed: note.word$"):
            notes.add("two", None)
        assert notes.words() == ["one"]
        notes.add("three")
        assert notes.words() == ["one", "three"]


def test_an_error_of_ours_in_the_middle_takes_back_too(path: Path) -> None:
    with Notes(path) as notes:

        def stumble() -> None:
            with notes.writing() as file:
                file.execute("INSERT INTO note VALUES ('half')")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            stumble()
        assert notes.words() == []


def test_a_form_that_cannot_be_made_leaves_no_half(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notes, "make", (*Notes.make, "CREATE NONSENSE"))
    with pytest.raises(NotesError, match=rf"^the notebook {path} cannot be used: near "):
        Notes(path)
    monkeypatch.undo()
    with Notes(path) as notes:
        assert notes.words() == []


def test_a_newer_form(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notes, "schema", 2)
    Notes(path).close()
    monkeypatch.undo()
    with pytest.raises(NotesError, match=rf"^the notebook {path} was written by a newer raidtui \(form 2\)$"):
        Notes(path)


def test_no_database(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"something else, and long enough to be looked at" * 20)
    with pytest.raises(NotesError, match=r"file is not a database; move it away to start a new one$"):
        Notes(path)


def test_no_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotesError, match=r"file/notes.sqlite cannot be opened: File exists$"):
        Notes(tmp_path / "file" / "notes.sqlite")
