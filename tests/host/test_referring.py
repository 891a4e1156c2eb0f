"""Files that may name an array: which are read, and that nothing of them can hurt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raidtui.host import references
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.reading import read_survey
from raidtui.host.references import read_referring
from tests.hosts.trees import host_tree, snapshot_of

NAMED = "root=/dev/md/data caf\xe9\n"
DATA = NAMED.encode("latin-1")
PATHS = (
    "/etc/default/grub",
    "/etc/default/grub.d/x.cfg",
    "/etc/kernel/cmdline",
    "/etc/lvm/lvm.conf",
    "/etc/mdadm/mdadm.conf.d/a.conf",
    "/etc/udev/rules.d/60.rules",
    "/etc/systemd/system/srv.mount",
    "/etc/systemd/system/x.service",
    "/etc/initramfs-tools/conf.d/resume",
    "/boot/grub/grub.cfg",
    "/boot/loader/entries/x.conf",
)


def test_what_is_read() -> None:
    others = ("/etc/default/keyboard", "/etc/systemd/system/x.timer", "/etc/udev/rules.d/60.rules.bak")
    root = MemoryReader(dict.fromkeys((*PATHS, *others), DATA))
    assert read_referring(root) == dict.fromkeys(PATHS, NAMED)
    assert read_referring(MemoryReader({})) == {}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("root=/dev/md127", True),
        ("root=/dev/disk/by-id/md-name-nas:data", True),
        ("After=dev-md-data.device", True),
        ("After=dev-disk-by\\x2did-md\\x2dname\\x2dnas:data.device", True),
        ("root=UUID=1 KERNEL==md127", False),
    ],
)
def test_only_what_names_an_array_is_kept(text: str, *, kept: bool) -> None:
    assert bool(read_referring(MemoryReader({"/etc/default/grub": text}))) is kept


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize(("size", "read"), [(1 << 20, True), ((1 << 20) + 1, False)])
def test_large_files_are_left_out(tmp_path: Path, size: int, *, read: bool, memory: bool) -> None:
    data = DATA.ljust(size, b"#")
    (tmp_path / "etc/default").mkdir(parents=True)
    (tmp_path / "etc/default/grub").write_bytes(data)
    root = MemoryReader({"/etc/default/grub": data}) if memory else FolderReader(str(tmp_path))
    assert (list(read_referring(root)) == ["/etc/default/grub"]) is read


def test_only_regular_files_are_opened_for_reading(tmp_path: Path) -> None:
    """A pipe would never end; what is not there, or a folder, is no error."""
    folder = tmp_path / "etc/initramfs-tools/conf.d"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "gone").symlink_to("nowhere")
    (folder / "device").symlink_to("/dev/null")
    (folder / "good").write_bytes(DATA)
    (folder / "link").symlink_to("good")
    found = read_referring(FolderReader(f"{tmp_path}/"))
    assert found == dict.fromkeys((f"/etc/initramfs-tools/conf.d/{name}" for name in ("good", "link")), NAMED)


def test_a_folder_of_very_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MOST_FILES", 2)
    root = MemoryReader({f"/etc/udev/rules.d/{number}.rules": DATA for number in range(3)})
    assert list(read_referring(root)) == ["/etc/udev/rules.d/0.rules", "/etc/udev/rules.d/1.rules"]


@pytest.mark.parametrize(
    ("conf", "homehost"),
    [
        ("HOMEHOST <system>\n", "nas"),
        ("HOMEHOST <ignore>\nHOMEHOST <system>\n", "nas"),
        ("homehost <ignore> x\nHOMEHOST else\nHOMEHOST other\n", "else"),
        ("HOMEHOST <none>\n", "<none>"),
        ("HOMEHOST\n# HOMEHOST x\n", "nas"),
    ],
)
def test_the_host_before_new_names(conf: str, homehost: str) -> None:
    """What mdadm.conf says of it is what mdadm writes."""
    tree = host_tree()
    root = tree.root()
    root.put("/etc/mdadm/mdadm.conf", conf)
    assert read_survey(root, snapshot_of(tree)).homehost == homehost


def test_a_survey_has_them() -> None:
    tree = host_tree()
    root = tree.root()
    root.put("/etc/default/grub", DATA)
    assert read_survey(root, snapshot_of(tree)).texts == {"/etc/default/grub": NAMED}
