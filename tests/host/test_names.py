"""Labels and links: udev's database, mdadm's --export output as captured, and what has neither."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from raidtui.host import udev as udev_database
from raidtui.host.md.array_names import ArrayName, canonical_uuid, read_array_name, read_uuid, sysfs_uuid
from raidtui.host.md.mdadm import MdadmError, parse_export, read_detail, read_examine
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import ToolOutput, output_path
from raidtui.host.udev import UdevEntry, parse_udev_entry, read_udev_entry, unsettled_devices
from raidtui.model.array import Array, Member

DETAIL = """\
MD_LEVEL=raid10
MD_DEVICES=4
MD_METADATA=1.2
MD_UUID=010c7d3a:e15ddc6f:2260233f:e1a29168
MD_RESHAPE_ACTIVE=False
MD_NAME=(none):127
MD_DEVICE_dev_sde_ROLE=3
MD_DEVICE_dev_sde_DEV=/dev/sde
"""
EXAMINE = """\
MD_LEVEL=raid10
MD_DEVICES=4
MD_NAME=lab:127
MD_ARRAY_SIZE=838.86MB
MD_UUID=010c7d3a:e15ddc6f:2260233f:e1a29168
MD_UPDATE_TIME=1795209977
MD_DEV_UUID=82ae83f0:b078211d:6b8a39b1:66e86f7a
MD_EVENTS=17
"""
VOLUME = """\
MD_LEVEL=raid5
MD_DEVICES=3
MD_CONTAINER=/dev/md/imsm0
MD_MEMBER=0
MD_UUID=26a948a2:0f6b6f4c:e4affbbb:2c6335c4
MD_DEVNAME=vol0
MD_RESHAPE_ACTIVE=False
"""
CONTAINER = """\
MD_LEVEL=container
MD_DEVICES=3
MD_METADATA=imsm
MD_UUID=c5019abf:fbd87f72:ac39a60e:90be0680
MD_DEVNAME=imsm0
"""
UUID = "010c7d3a:e15ddc6f:2260233f:e1a29168"

ACTIVE = Array(name="md127", path="/dev/md127")
MEMBER = Member(name="sdb", number=0, slot=None, states=None)
INACTIVE = replace(ACTIVE, active=False, members=(MEMBER,))


def said(*argv: str, text: str, status: int = 0) -> dict[str, str]:
    return {output_path(argv): f"exit {status}\n{text}"}


def detail(text: str, status: int = 0) -> dict[str, str]:
    return said("mdadm", "--detail", "--export", "/dev/md127", text=text, status=status)


def udev(text: str) -> dict[str, str]:
    lines = "".join(f"E:{line}\n" for line in text.splitlines())
    return {
        "/sys/class/block/md127/dev": "9:127\n",
        "/run/udev/data/b9:127": f"I:30218366\nS:md/data\n{lines}G:systemd\n",
    }


@pytest.mark.parametrize(
    ("files", "array", "name"),
    [
        (
            detail(DETAIL),
            ACTIVE,
            ArrayName(label="127", homehost="(none)", uuid=UUID, level="raid10", raid_disks=4),
        ),
        (
            said("mdadm", "--examine", "--export", "/dev/sdb", text=EXAMINE),
            INACTIVE,
            ArrayName(label="127", homehost="lab", uuid=UUID, level="raid10", raid_disks=4),
        ),
        (
            detail(VOLUME),
            ACTIVE,
            ArrayName(label="vol0", uuid="26a948a2:0f6b6f4c:e4affbbb:2c6335c4", level="raid5", raid_disks=3),
        ),
        (
            udev(CONTAINER),
            ACTIVE,
            ArrayName(
                label="imsm0", link="/dev/md/data", uuid="c5019abf:fbd87f72:ac39a60e:90be0680", raid_disks=3
            ),
        ),
        (
            udev(EXAMINE) | detail(DETAIL),
            ACTIVE,
            ArrayName(
                label="127", homehost="lab", link="/dev/md/data", uuid=UUID, level="raid10", raid_disks=4
            ),
        ),
        (detail("mdadm: cannot open /dev/md127: No such file or directory", 1), ACTIVE, ArrayName()),
        (detail("MD_LEVEL=raid10\nwhat is this\n"), ACTIVE, ArrayName()),
        ({}, ACTIVE, ArrayName()),
        ({}, replace(ACTIVE, active=False), ArrayName()),
        (
            udev("MD_NAME=data\nMD_DEVICES=²\nMD_UUID=00000000:00000000:00000000:00000000"),
            ACTIVE,
            ArrayName(label="data", link="/dev/md/data"),
        ),
    ],
)
def test_name(files: dict[str, str], array: Array, name: ArrayName) -> None:
    assert read_array_name(MemoryReader(files), array, use_mdadm=True) == name


def test_mdadm_is_not_asked_where_it_may_not_be_or_udev_knows() -> None:
    class NoTools(MemoryReader):
        def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
            del timeout_s, stdin
            raise AssertionError(argv)

    assert read_array_name(NoTools({}), ACTIVE, use_mdadm=False) == ArrayName()
    assert read_array_name(NoTools(udev(VOLUME)), ACTIVE, use_mdadm=True).label == "vol0"


class Live(MemoryReader):
    """A host that is not a capture, and what it was asked."""

    live = True

    def __init__(self, files: dict[str, str]) -> None:
        super().__init__(files)
        self.asked: list[tuple[str, ...]] = []

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        self.asked.append(argv)
        return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)


def test_an_array_that_udev_does_not_know_yet_is_not_opened() -> None:
    """Its creator may be about to stop it, or to make it read-only."""
    files = said("mdadm", "--examine", "--export", "/dev/sdc", text=EXAMINE) | detail(DETAIL)
    failed = Member(name="sdb", number=1, slot=None, states=("faulty",))
    good = Member(name="sdc", number=0, slot=0, states=("in_sync",))
    root = Live(files)
    array = replace(ACTIVE, members=(failed, good))
    assert read_array_name(root, array, use_mdadm=True).homehost == "lab"
    assert root.asked == [("mdadm", "--examine", "--export", "/dev/sdc")]
    volume = replace(array, metadata="external:/md126/0", container="md126")
    assert read_array_name(root, volume, use_mdadm=True) == ArrayName()
    assert len(root.asked) == 1


@pytest.mark.parametrize(
    ("name", "homehost", "label"),
    [
        ("nas:data", "nas", "data"),
        ("data", None, "data"),
        ("nas:a:b", "nas", "a:b"),
        ("nas:", None, "nas:"),
        (":0", "", "0"),
    ],
)
def test_home_host(name: str, homehost: str | None, label: str) -> None:
    found = read_array_name(MemoryReader(udev(f"MD_NAME={name}")), ACTIVE, use_mdadm=False)
    assert (found.homehost, found.label) == (homehost, label)


def test_link_without_udev() -> None:
    root = MemoryReader({}, links={"/dev/md/other": "../md126", "/dev/md/mine": "../md127"})
    assert read_array_name(root, ACTIVE, use_mdadm=False) == ArrayName(link="/dev/md/mine", label="mine")


def test_uuid_in_sysfs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read on a real kernel: mdadm reported 331caa73:a62f67ec:ddf95339:50ab75f9 of the first."""
    shown = "73aa1c33-ec67-2fa6-3953-f9ddf975ab50"
    kept = "73aa1c33:ec672fa6:3953f9dd:f975ab50"
    monkeypatch.setattr("sys.byteorder", "little")
    assert sysfs_uuid(shown, "0.90") == "331caa73:a62f67ec:ddf95339:50ab75f9"
    assert sysfs_uuid(shown, "1.2") == sysfs_uuid(shown, None) == kept
    assert sysfs_uuid("00000000-0000-0000-0000-000000000000", "0.90") is None
    monkeypatch.setattr("sys.byteorder", "big")
    assert sysfs_uuid(shown, "0.90") == kept


def test_the_uuid_of_external_metadata_is_udevs() -> None:
    udev = "E:MD_UUID=528102c9:0430e198:9dccf7bd:c7d7b2ab\n"
    files = {
        "/sys/class/block/md124/md/uuid": "00000000-0000-0000-0000-000000000000\n",
        "/sys/class/block/md124/md/metadata_version": "external:/md125/0\n",
        "/sys/class/block/md124/dev": "9:124\n",
        "/run/udev/data/b9:124": udev,
    }
    folder = "/sys/class/block/md124/md"
    assert read_uuid(MemoryReader(files), folder) == "528102c9:0430e198:9dccf7bd:c7d7b2ab"
    del files["/run/udev/data/b9:124"]
    assert read_uuid(MemoryReader(files), folder) is None


@pytest.mark.parametrize(
    ("text", "uuid"),
    [
        ("010c7d3a-e15d-dc6f-2260-233fe1a29168\n", UUID),
        (UUID.upper(), UUID),
        ("00000000-0000-0000-0000-000000000000", None),
        ("010c7d3a", None),
        ("g10c7d3a:e15ddc6f:2260233f:e1a29168", None),
        ("", None),
        (None, None),
    ],
)
def test_canonical_uuid(text: str | None, uuid: str | None) -> None:
    assert canonical_uuid(text) == uuid


def test_export() -> None:
    assert parse_export(VOLUME) == {
        "MD_LEVEL": "raid5",
        "MD_DEVICES": "3",
        "MD_CONTAINER": "/dev/md/imsm0",
        "MD_MEMBER": "0",
        "MD_UUID": "26a948a2:0f6b6f4c:e4affbbb:2c6335c4",
        "MD_DEVNAME": "vol0",
        "MD_RESHAPE_ACTIVE": "False",
    }
    assert parse_export("MD_NAME=a=b \n\n") == {"MD_NAME": "a=b "}


@pytest.mark.parametrize("line", ["mdadm: no", "=x", "A B=x", "Ä=x", "a" * 129 + "=x"])
def test_export_of_something_else(line: str) -> None:
    with pytest.raises(MdadmError) as raised:
        parse_export(f"MD_LEVEL=raid1\n{line}\n")
    assert str(raised.value) == f"mdadm printed a line that is not KEY=value: {line[:60]!r}"


def test_why_mdadm_did_not_answer() -> None:
    files = detail("mdadm: cannot open /dev/md127", 1) | said(
        "mdadm", "--examine", "--export", "/dev/sdb", text="", status=2
    )
    root = MemoryReader(files)
    with pytest.raises(MdadmError, match=r"^mdadm --detail /dev/md127: mdadm: cannot open /dev/md127$"):
        read_detail(root, "/dev/md127")
    with pytest.raises(MdadmError, match=r"^mdadm --examine /dev/sdb: exit status 2$"):
        read_examine(root, "/dev/sdb")
    with pytest.raises(MdadmError, match=r"^mdadm was not run for this capture$"):
        read_detail(root, "/dev/md1")


def test_udev_entry() -> None:
    text = "S:md/data\nS:disk/by-id/md-name-nas:data\nE:MD_NAME=nas:data\nE:A=b=c\nE:broken\nL:0\nW:1\n\n"
    assert parse_udev_entry(text) == UdevEntry(
        properties={"MD_NAME": "nas:data", "A": "b=c"}, links=("md/data", "disk/by-id/md-name-nas:data")
    )
    assert read_udev_entry(MemoryReader({}), None) == UdevEntry()
    assert read_udev_entry(MemoryReader({}), "9:1") == UdevEntry()


class Libudev:
    """A context with two disks; udev finishes with the second when it has been listed ``after`` times."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._listed = 0

    def list_devices(self, subsystem: str) -> list[SimpleNamespace]:
        assert subsystem == "block"
        self._listed += 1
        settled = self._listed > self._after
        return [
            SimpleNamespace(sys_name="sda", is_initialized=True),
            SimpleNamespace(sys_name="sdb", is_initialized=settled),
        ]


def test_devices_that_udev_has_not_finished_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(udev_database, "_CONTROL", tmp_path)
    monkeypatch.setattr(udev_database, "_libudev", lambda: Libudev(after=10**9))
    root = MemoryReader({})
    assert unsettled_devices(root, patience_s=0) == frozenset()  # a capture has no udev that works
    monkeypatch.setattr(root, "live", True)
    assert unsettled_devices(root, patience_s=0) == {"sdb"}
    monkeypatch.setattr(udev_database, "_libudev", lambda: Libudev(after=2))
    assert unsettled_devices(root, patience_s=60) == frozenset()
    monkeypatch.setattr(udev_database, "_libudev", lambda: None)  # not installed
    assert unsettled_devices(root, patience_s=0) == frozenset()
    monkeypatch.setattr(udev_database, "_libudev", lambda: Libudev(after=10**9))
    monkeypatch.setattr(udev_database, "_CONTROL", tmp_path / "absent")  # udev does not run
    assert unsettled_devices(root, patience_s=0) == frozenset()


def test_a_containers_uuid_comes_from_a_disk_that_has_one() -> None:
    """The record of udev is of before the first volume; a spare has no UUID (mdadm 4.2, imsm)."""
    none = CONTAINER.replace("c5019abf:fbd87f72:ac39a60e:90be0680", "00000000:00000000:00000000:00000000")
    ones = none.replace("0" * 8, "f" * 8)
    members = tuple(replace(MEMBER, name=name) for name in ("sdb", "sdc", "sdd"))
    array = replace(ACTIVE, active=False, metadata="external:imsm", members=members)
    asked = {
        name: said("mdadm", "--examine", "--export", f"/dev/{name}", text=text)
        for name, text in (("sdb", none), ("sdc", ones), ("sdd", CONTAINER))
    }
    root = MemoryReader(udev(none) | asked["sdb"] | asked["sdc"] | asked["sdd"])
    found = read_array_name(root, array, use_mdadm=True)
    assert (found.uuid, found.label) == ("c5019abf:fbd87f72:ac39a60e:90be0680", "imsm0")
    assert read_array_name(root, array, use_mdadm=False).uuid is None
