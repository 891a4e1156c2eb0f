"""What ``--root`` may name."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from raidtui.host.readers import archive, opening
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import ReaderError
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.opening import open_root
from tests.hosts.captures import capture_text
from tests.hosts.trees import host_tree, raid1, raid10

MDSTAT = capture_text("reshape.txt")


def make_capture(
    path: Path, files: dict[str, str], *, mode: str = "w:xz", links: dict[str, str] | None = None
) -> str:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return str(path)


def test_live_host() -> None:
    root = open_root("/")
    assert (type(root), root.live, root.still, root.source) == (FolderReader, True, False, "")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_capture(tmp_path: Path, mode: str) -> None:
    tree = host_tree(raid10(), raid1())
    path = make_capture(
        tmp_path / "nas.tar",
        {name[1:]: text for name, text in tree.files.items()},
        mode=mode,
        links=tree.links,
    )
    root = open_root(path)
    assert (root.live, root.still, root.source, root.hostname) == (False, True, "nas.tar", "nas")
    assert {name: root.text(name) for name in tree.files} == {
        name: text.rstrip("\n") for name, text in tree.files.items()
    }
    assert {name: root.link(name) for name in tree.links} == tree.links


def test_capture_of_a_host_without_md(tmp_path: Path) -> None:
    root = open_root(make_capture(tmp_path / "a.tar", {"./.raidtui/taken_s": "5"}))
    assert root.now_s() == 5.0


def test_entries_that_lead_out_of_the_tree(tmp_path: Path) -> None:
    files = {
        "proc/mdstat": MDSTAT,
        "../etc/passwd": "x",
        "/etc/../../root": "x",
        "home/me": "x",
        "./sys//a": "kept",
        "/etc/b": "kept",
    }
    root = open_root(make_capture(tmp_path / "a.tar", files))
    assert isinstance(root, MemoryReader)
    assert (root.names(""), root.text("/sys/a"), root.text("/etc/b")) == (
        ("etc", "proc", "sys"),
        "kept",
        "kept",
    )
    assert (root.names("/etc"), root.names("/sys")) == (("b",), ("a",))


def test_lone_text(tmp_path: Path) -> None:
    path = tmp_path / "mdstat"
    path.write_text(MDSTAT)
    os.utime(path, (5, 1_795_209_900))
    root = open_root(str(path))
    assert (root.live, root.still, root.source, root.now_s()) == (False, True, "mdstat", 1_795_209_900)
    assert root.text("/proc/mdstat") == MDSTAT.rstrip("\n")


def refusal_of(path: Path) -> str:
    """Return why a root cannot be opened."""
    with pytest.raises(ReaderError) as raised:
        open_root(str(path))
    return str(raised.value).replace(str(path), "PATH")


def test_nothing_there(tmp_path: Path) -> None:
    assert refusal_of(tmp_path / "no") == "PATH: no such file or folder"
    assert refusal_of(tmp_path) == "PATH: not the root of a host: it has no proc/mdstat"


def test_text_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "letter"
    path.write_text("Dear reader")
    assert refusal_of(path) == (
        "PATH: neither a capture nor a /proc/mdstat text (no line starts with 'Personalities :')"
    )


def test_archive_of_another_kind(tmp_path: Path) -> None:
    make_capture(tmp_path / "a.tar", {"proc/cpuinfo": "x"})
    assert refusal_of(tmp_path / "a.tar") == (
        "PATH: not a capture: it has no proc/mdstat; make one with: raidtui capture FILE"
    )


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_capture(tmp_path / "a.tar", {"proc/mdstat": MDSTAT})
    (tmp_path / "text").write_text(MDSTAT)
    monkeypatch.setattr(archive, "LARGEST_FILE", 10)
    monkeypatch.setattr(opening, "LARGEST_TEXT", 10)
    assert refusal_of(tmp_path / "a.tar") == "PATH: too large for a capture; made by raidtui capture?"
    assert refusal_of(tmp_path / "text") == "PATH: neither a capture nor a /proc/mdstat text"
    monkeypatch.setattr(archive, "LARGEST_FILE", 1000)
    monkeypatch.setattr(archive, "_LARGEST_TREE", 10)
    assert refusal_of(tmp_path / "a.tar") == "PATH: too large for a capture; made by raidtui capture?"


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz", "w"])
def test_damaged_archive(tmp_path: Path, mode: str) -> None:
    """Cut, or with bytes turned over: an error with a sentence, or what is left of it, but no other error."""
    path = tmp_path / "a.tar"
    noise = "".join(chr(33 + (index * index * 7919 >> 5) % 90) for index in range(30_000))
    make_capture(path, {"proc/mdstat": MDSTAT, "etc/mdadm.conf": noise, "sys/z": noise}, mode=mode)
    whole = path.read_bytes()
    outcomes = set()
    for place in (1, 5, 20, 60, 200, *range(512, len(whole), len(whole) // 12)):
        for damaged in (
            whole[:place],
            whole[:place] + bytes(byte ^ 255 for byte in whole[place : place + 40]) + whole[place + 40 :],
        ):
            path.write_bytes(damaged)
            try:
                open_root(str(path))
                outcomes.add("opened")
            except ReaderError as error:
                assert str(error).startswith(f"{path}: ")  # noqa: PT017
                outcomes.add("refused")
    assert "refused" in outcomes
