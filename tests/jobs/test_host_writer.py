"""What may be written to, and what refuses it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.simulated_reader import SimulatedReader
from raidtui.jobs.host_writer import HostWriter, replace_file
from raidtui.model.answer import AnswerKind


class Live(SimulatedReader):
    """Takes what is written."""

    def take_value(self, path: str, text: str) -> None:
        self.put(path, text)


def test_a_live_host(tmp_path: Path) -> None:
    file = tmp_path / "value"
    file.write_text("old")
    HostWriter(FolderReader("/")).write(str(file), "new")
    assert file.read_text() == "new"
    assert HostWriter(FolderReader("/")).run("true").status == 0
    with pytest.raises(FileNotFoundError):
        HostWriter(FolderReader("/")).write(str(tmp_path / "none"), "x")


def _readonly(host: HostReader) -> HostReader:
    host.readonly = True
    return host


@pytest.mark.parametrize("kind", ["folder", "memory", "readonly", "simulated"])
def test_what_is_never_written_to(tmp_path: Path, kind: str) -> None:
    (tmp_path / "proc").mkdir()
    file = tmp_path / "value"
    file.write_text("old")
    host = {
        "folder": FolderReader(str(tmp_path)),
        "memory": MemoryReader({str(file): "old"}),
        "readonly": _readonly(FolderReader("/")),
        "simulated": _readonly(Live({str(file): "old"})),
    }[kind]
    with pytest.raises(OSError, match=r"never written to|started with --readonly") as raised:
        HostWriter(host).write(str(file), "new")
    assert raised.value.errno == errno.EROFS
    assert HostWriter(host).run("touch", str(tmp_path / "made")).kind is AnswerKind.REFUSED
    assert (file.read_text(), (tmp_path / "made").exists()) == ("old", False)


def test_a_file_that_is_in_place_and_not_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk failed after the old file was replaced: nothing is left beside it to remove."""

    def fails(folder: Path) -> None:
        raise OSError(errno.EIO, "Input/output error", str(folder))

    monkeypatch.setattr("raidtui.jobs.host_writer.sync_folder", fails)
    file = tmp_path / "mdadm.conf"
    assert replace_file(str(file), "ARRAY\n", "") == f"{file} cannot be written: Input/output error"
    assert [path.name for path in tmp_path.iterdir()] == ["mdadm.conf"]
