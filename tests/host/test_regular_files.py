"""Files that never end, block or fill the memory."""

from __future__ import annotations

import errno
import os
import tarfile
from pathlib import Path

import pytest

from raidtui import first_frame
from raidtui.app.cli import run
from raidtui.config import read_config
from raidtui.features.tune.session import read_profiles
from raidtui.first_frame import read_colours
from raidtui.frame.themes import load_themes
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.regular_files import LARGEST_FILE, read_regular
from tests.host.test_opening import refusal_of
from tests.hosts.trees import host_tree, raid1

GIB = 1 << 30


def huge(path: Path) -> Path:
    """Make a file of 1.5 GiB that takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(3 * GIB // 2)
    return path


def fifo(path: Path) -> Path:
    """Make a FIFO that nobody writes to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    return path


def number_of(path: Path) -> int | None:
    """Return the number of the error that reading gives."""
    with pytest.raises(OSError) as raised:  # noqa: PT011  (which one is asserted by the caller)
        read_regular(str(path))
    return raised.value.errno


def test_what_is_no_file(tmp_path: Path) -> None:
    assert number_of(fifo(tmp_path / "fifo")) == errno.EINVAL
    assert number_of(Path("/dev/zero")) == errno.EINVAL
    assert number_of(tmp_path) == errno.EISDIR
    assert number_of(huge(tmp_path / "huge")) == errno.EFBIG
    assert number_of(tmp_path / "no") == errno.ENOENT


def test_a_large_file_is_read_whole(tmp_path: Path) -> None:
    data = bytes(range(256)) * (LARGEST_FILE // 256)
    (tmp_path / "file").write_bytes(data)
    assert read_regular(str(tmp_path / "file")) == data


@pytest.mark.parametrize("path", ["proc/mdstat", "proc/sys/kernel/hostname", "run/udev/data/b9:127"])
def test_a_tree_with_files_without_end(tmp_path: Path, path: str) -> None:
    host_tree(raid1()).write_to(tmp_path)
    for make in (huge, fifo, lambda place: place.symlink_to("/dev/zero")):
        (tmp_path / path).unlink(missing_ok=True)
        make(tmp_path / path)
        assert FolderReader(str(tmp_path)).text(f"/{path}") is None
        first_frame.frame(str(tmp_path), 80, 24)
        assert run(["--root", str(tmp_path), "status"]) == (3 if path == "proc/mdstat" else 0)


def test_roots_without_end(tmp_path: Path) -> None:
    assert refusal_of(fifo(tmp_path / "fifo")) == "PATH: neither a folder nor a file"
    assert refusal_of(Path("/dev/zero")) == "PATH: neither a folder nor a file"
    with huge(tmp_path / "huge").open("r+b") as file:
        file.write(b"Personalities :\n")
    assert refusal_of(tmp_path / "huge") == "PATH: neither a capture nor a /proc/mdstat text"
    assert refusal_of(Path("a" * 5000)) == f"{'a' * 200}: File name too long"


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_capture_with_a_name_of_a_gigabyte(tmp_path: Path, mode: str, kind: bytes) -> None:
    path = tmp_path / "capture.tar"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        entry = tarfile.TarInfo("././@LongLink")
        entry.type, entry.size = kind, 3 * GIB // 2
        archive.fileobj.write(entry.tobuf(tarfile.GNU_FORMAT))
        archive.fileobj.write(bytes(1 << 20))
    assert refusal_of(path) in {
        "PATH: too large for a capture; made by raidtui capture?",
        # tarfile of Python 3.14 reads such a name in pieces, and finds that it ends too early
        "PATH: the archive is damaged: empty header",
        "PATH: neither a capture nor a /proc/mdstat text (no line starts with 'Personalities :')",
    }


def test_a_small_capture_that_becomes_a_large_one(tmp_path: Path) -> None:
    """What is passed over is unpacked, too: 1 MiB of it became 1 GiB."""
    path = tmp_path / "capture.tar.gz"
    import gzip  # noqa: PLC0415

    entry = tarfile.TarInfo("home/other")
    entry.size = GIB
    block = gzip.compress(bytes(1 << 24))
    path.write_bytes(gzip.compress(entry.tobuf()) + block * (GIB >> 24))
    assert refusal_of(path) == "PATH: too large for a capture; made by raidtui capture?"


def test_settings_that_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "raidtui"
    for name in ("config.toml", "profiles.toml", "themes/own.toml"):
        fifo(folder / name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert [each.partition(": ")[2] for each in read_config().troubles] == [
        f"[Errno 22] not a regular file: '{folder}/config.toml'; the defaults are used"
    ]
    assert first_frame._configured_theme() is None
    assert read_colours("own") == {}
    assert "not a regular file" in load_themes()[1][0]
    assert "not a regular file" in read_profiles(folder)[1][0]


def test_settings_that_are_nested(tmp_path: Path) -> None:
    text = "theme = " + "[" * 90_000
    for name in ("config.toml", "profiles.toml", "own.toml"):
        (tmp_path / name).write_text(text)
    assert read_config(tmp_path).troubles == (
        f"{tmp_path}/config.toml: nested too deeply; the defaults are used",
    )
    assert read_profiles(tmp_path)[1] == (f"{tmp_path}/profiles.toml: nested too deeply",)
    assert f"theme {tmp_path}/own.toml: nested too deeply" in load_themes([str(tmp_path)])[1]


def test_a_plan_without_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apply", "/dev/zero"]) == 2
    assert capsys.readouterr() == ("", "raidtui: /dev/zero: too large for a plan\n")
