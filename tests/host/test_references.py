"""Devices that the next boot wants, in every spelling that libmount and systemd take."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.host.device_paths import decoded, unquoted
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.reading import read_survey
from raidtui.host.references import read_named
from tests.hosts.trees import host_tree, snapshot_of

NODE = "/sys/class/block"
UDEV = """\
S:disk/by-uuid/9b3c-AF
S:disk/by-id/ata-X_1-part2
S:disk/by-label/my\\x20d\\xc3\\xa4ta
E:ID_FS_UUID=9b3c-AF
E:ID_FS_UUID_ENC=9b3c-AF
E:ID_FS_LABEL=my_data
E:ID_FS_LABEL_ENC=my\\x20d\\xc3\\xa4ta
E:ID_PART_ENTRY_NAME=big\\x20pool
E:ID_PART_ENTRY_UUID=0815-4711
"""
FSTAB, CRYPTTAB = "/etc/fstab", "/etc/crypttab"
UNIT = "[Unit]\nDescription=x\n[{}]\nWhat = {}\n"


def host(**files: str) -> MemoryReader:
    """Sda with sda2, and sdb, of which udev knows nothing."""
    root = MemoryReader({path: text.encode() for path, text in files.items()})
    for name, number in (("sda", "8:0"), ("sda2", "8:2"), ("sdb", "8:16"), ("md127", "9:127")):
        root.put(f"{NODE}/{name}/dev", f"{number}\n")
    root.put(f"{NODE}/sda/sda2/partition", "2\n")
    root.put("/run/udev/data/b8:2", UDEV)
    root.put("/run/udev/data/b9:127", "S:md/data\n")
    return root


def named(root: MemoryReader, path: str = "", text: str = "") -> list[tuple[str, int, tuple[str, ...]]]:
    found = read_named(root, {path: text} if path else {}, ("sda", "sdb", "md127"))
    return [(each.path, each.line, each.devices) for each in found]


@pytest.mark.parametrize(
    "word",
    [
        "UUID=9b3c-AF",
        "UUID=9b3c-af",
        'UUID="9b3c-AF"',
        "UUID='9b3c-AF'",
        r"LABEL=my\040d\303\244ta",
        r'LABEL="my\040d\303\244ta"',
        r"PARTLABEL=big\040pool",
        "PARTUUID=0815-4711",
        "ID=ata-X_1-part2",
        "/dev/sda2",
        "/dev/./sda2",
        "/dev//disk/../sda2",
        "//dev/sda2",
        r"/dev/sd\1412",
        "/dev/block/8:2",
        "/dev/disk/by-uuid/9b3c-AF",
        r"/dev/disk/by-label/my\134x20d\134xc3\134xa4ta",
    ],
)
def test_every_spelling(word: str) -> None:
    line = word.encode().decode("latin-1")
    assert named(host(), FSTAB, f"# disks\n\n  {line} /srv ext4 noauto 0 2") == [(FSTAB, 3, ("sda2",))]
    assert named(host(), CRYPTTAB, f"safe\t{line} none luks") == [(CRYPTTAB, 1, ("sda2",))]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (FSTAB, "/dev/md/log /srv xfs logdev=/dev/sda2 0 0"),
        (FSTAB, "none /srv x x-systemd.requires=UUID=9b3c-AF 0 0"),
        (CRYPTTAB, "safe /dev/mapper/x /etc/key luks,header=/dev/./sda2"),
        (CRYPTTAB, "safe /dev/mapper/x /key:LABEL=my\\040d\\303\\244ta luks"),
        (CRYPTTAB, "safe /dev/mapper/x /dev/sda2"),
    ],
)
def test_beside_the_main_device(path: str, line: str) -> None:
    assert named(host(), path, line) == [(path, 1, ("sda2",))]


@pytest.mark.parametrize(
    "line",
    [
        "# UUID=9b3c-AF /srv ext4",
        "UUID=9b3c /srv ext4",
        "LABEL=my_d /srv ext4",
        "LABEL=my /srv ext4",
        "/dev/sda20 /srv ext4",
        "sda2 /srv ext4",
        "/srv/sda2 /mnt none bind",
        "LABEL=9b3c-AF#x /srv ext4",
        "/dev/sda2:/x /srv nfs",
        "safe",
        "",
    ],
)
def test_what_means_something_else(line: str) -> None:
    assert named(host(), FSTAB, line) == []


def test_a_sign_in_a_word_begins_no_comment() -> None:
    root = host()
    root.put("/run/udev/data/b8:16", "E:ID_FS_LABEL=a#b\n")
    assert named(root, FSTAB, "LABEL=a#b /srv ext4") == [(FSTAB, 1, ("sdb",))]


def test_all_devices_of_a_label() -> None:
    root = host()
    root.put("/run/udev/data/b8:16", "E:ID_FS_UUID=9b3c-AF\n")
    assert named(root, FSTAB, "UUID=9b3c-AF /srv btrfs") == [(FSTAB, 1, ("sda2", "sdb"))]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/systemd/system/srv.mount", UNIT.format("Mount", "/dev/disk/by-uuid/9b3c-AF")),
        ("/usr/lib/systemd/system/srv.mount", UNIT.format("Mount", "UUID=9b3c-AF")),
        ("/run/systemd/system/x.swap", UNIT.format("Swap", "/dev/block/8:2")),
        ("/etc/systemd/system/srv.mount.d/what.conf", UNIT.format("Mount", "/dev/sda2")),
        ("/etc/systemd/system/srv.mount", "\n[Mount]\nWhat=/dev/x\nOptions=noatime,logdev=/dev/sda2\n"),
    ],
)
def test_units_of_systemd(path: str, text: str) -> None:
    root = host()
    root.put(path, text)
    root.put("/etc/systemd/system/y.mount", "[Mount]\nWhat=tmpfs\n")
    assert named(root) == [(path, 4, ("sda2",))]


def test_an_array() -> None:
    assert named(host(), FSTAB, "/dev/./md/data /srv ext4") == [(FSTAB, 1, ("md127",))]


def test_on_a_live_host_the_kernel_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whatever path, through whatever links; a place that is no device is none."""
    root = FolderReader("/")
    (tmp_path / "link").symlink_to("/dev/null")
    (tmp_path / "file").touch()
    text = "".join(f"{tmp_path}/{name} /srv ext4\n" for name in ("link", "file", "nothing"))
    assert read_named(root, {FSTAB: text}, ()) == ()


def test_in_a_survey() -> None:
    tree = host_tree(disks={"sdz": {}})
    root = tree.root()
    root.put(FSTAB, "/dev/./sdz /srv ext4\n")
    (found,) = read_survey(root, snapshot_of(tree), ("sdz",)).named
    assert (found.path, found.line, found.text, found.devices) == (FSTAB, 1, "/dev/./sdz", ("sdz",))
    assert read_survey(root, snapshot_of(tree)).named == ()


def test_words() -> None:
    assert [unquoted(text) for text in ('"a"', "'a'", "\"a'", '"', "")] == ["a", "a", "\"a'", '"', ""]
    assert decoded(r"a\x2fb\xzz\x") == r"a/b\xzz\x"
