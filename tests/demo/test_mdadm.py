"""What mdadm does and refuses in the demo, with its own words (Manage.c, Create.c, Assemble.c)."""

from __future__ import annotations

import pytest

from tests.demo.scene import Scene

_UUID = "0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9"


def mdadm(scene: Scene, *argv: str) -> str:
    """Run it; returns what it prints, or its error."""
    output = scene.reader.take_tool("mdadm", *argv)
    assert (output.status == 0) == (not output.stderr)
    return output.stdout or output.stderr


def create(scene: Scene, level: str, *devices: str, more: tuple[str, ...] = ()) -> str:
    """Create an array named new."""
    slots = sum(not name.startswith("--") for name in devices)
    words = (
        "--run",
        "--homehost=demo",
        "--name=new",
        f"--uuid={_UUID}",
        "--metadata=1.2",
        f"--level={level}",
    )
    return mdadm(scene, "--create", "/dev/md/new", *words, f"--raid-devices={slots}", *more, *devices)


def states(scene: Scene, label: str) -> dict[str, str]:
    """The states of an array's members."""
    array = scene.reader.simulated.array(label)
    assert array is not None
    return {each.device: each.state for each in array.members}


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("/dev/md126", "--add", "/dev/sda2"), "Cannot open /dev/sda2: Device or resource busy"),
        (("/dev/md126", "--add", "/dev/sda"), "Cannot open /dev/sda: Device or resource busy"),
        (("/dev/md126", "--add", "/dev/sdf"), "/dev/sdf not large enough to join array"),
        (("/dev/md126", "--add", "/dev/sdz"), "cannot open /dev/sdz: No such file or directory"),
        (("/dev/md126", "--remove", "/dev/sda1"), "Device or resource busy"),
        (("/dev/md125", "--re-add", "/dev/sdh"), "--re-add for /dev/sdh to /dev/md125 is not possible"),
        (("/dev/md9", "--add", "/dev/sdh"), "error opening /dev/md9: No such file or directory"),
    ],
)
def test_refusals_of_manage(scene: Scene, argv: tuple[str, ...], says: str) -> None:
    before = scene.reader.read("/proc/mdstat")
    assert mdadm(scene, "--manage", *argv) == f"mdadm: {says}\n"
    assert scene.reader.read("/proc/mdstat") == before


def test_a_former_member_is_re_added_by_its_bitmap(scene: Scene) -> None:
    scene.reader.take_value("/sys/class/block/md125/md/dev-nvme3n1p1/state", "remove")
    for option in ("--fail", "--remove"):
        mdadm(scene, "--manage", "/dev/md125", option, "/dev/nvme0n1p1")
    assert "MD_NAME=demo:vm" in mdadm(scene, "--examine", "--export", "/dev/nvme0n1p1")
    said = mdadm(scene, "--manage", "/dev/md125", "--re-add", "/dev/nvme0n1p1")
    assert said == "mdadm: re-added /dev/nvme0n1p1\n"
    assert scene.done_kib("md125") == 751_616_000 * 95 // 100


def test_replacing_while_md_syncs_only_marks_the_member(scene: Scene) -> None:
    mdadm(scene, "--manage", "/dev/md127", "--add-spare", "/dev/sdh")
    said = mdadm(scene, "--manage", "/dev/md127", "--replace", "/dev/sda2", "--with", "/dev/sdh")
    assert said == "mdadm: Failed to set /dev/sdh as preferred replacement.\n"
    assert states(scene, "data")["sda2"] == "in_sync,want_replacement"
    scene.go(500)  # md takes the spare when the resync has ended
    assert states(scene, "data")["sdh"] == "spare,replacement"


def test_an_array_in_use_is_not_stopped(scene: Scene) -> None:
    for path in ("/dev/md126", "/dev/md127"):
        assert mdadm(scene, "--stop", path).startswith(f"mdadm: Cannot get exclusive access to {path}:")


@pytest.mark.parametrize(
    ("level", "more", "action", "last"),
    [
        ("raid1", ("--bitmap=internal",), "resync", "in_sync"),
        ("raid10", ("--chunk=512", "--layout=n2"), "resync", "in_sync"),
        ("raid5", ("--chunk=512", "--layout=left-symmetric"), "recover", "spare"),
        ("raid0", ("--chunk=512",), "", "in_sync"),
        ("raid1", ("--assume-clean",), "idle", "in_sync"),
    ],
)
def test_the_first_sync_of_a_new_array(
    scene: Scene, level: str, more: tuple[str, ...], action: str, last: str
) -> None:
    assert create(scene, level, "/dev/sdh", "/dev/sdi", more=more) == "mdadm: array /dev/md/new started.\n"
    assert (scene.reader.text("/sys/class/block/md123/md/sync_action") or "").strip() == action
    assert states(scene, "new") == {"sdh": "in_sync", "sdi": last}
    assert scene.mdstat().problems == []
    assert scene.mdstat().arrays[0].name == "md123"
    assert f"MD_UUID={_UUID}" in mdadm(scene, "--examine", "--export", "/dev/sdi")
    assert scene.reader.names("/sys/class/block/sdh/holders") == ("md123",)
    scene.go(3000)
    assert states(scene, "new") == {"sdh": "in_sync", "sdi": "in_sync"}


def test_what_mdadm_does_not_create(scene: Scene) -> None:
    assert "Device or resource busy" in create(scene, "raid1", "/dev/sda1", "/dev/sdh")
    assert "does not play a journal" in create(
        scene, "raid5", "/dev/sdh", "/dev/sdi", more=("--write-journal=/dev/sdf",)
    )
    assert "md123" not in scene.reader.names("/sys/class/block")


def test_a_stopped_array_is_assembled_and_its_resync_goes_on(scene: Scene) -> None:
    create(scene, "raid1", "/dev/sdh", "/dev/sdi")
    scene.go(60)
    done = scene.done_kib("md123")
    assert mdadm(scene, "--stop", "/dev/md/new") == "mdadm: stopped /dev/md/new\n"
    assert "md123" not in scene.reader.names("/sys/class/block")
    assert "MD_NAME=demo:new" in mdadm(scene, "--examine", "--export", "/dev/sdh")
    said = mdadm(scene, "--assemble", "/dev/md/new", f"--uuid={_UUID}", "/dev/sdh", "/dev/sdi")
    assert said == "mdadm: /dev/md/new has been started with 2 drives.\n"
    assert scene.done_kib("md123") >= done > 0


def test_what_is_cleared_is_gone(scene: Scene) -> None:
    create(scene, "raid1", "/dev/sdh", "/dev/sdi")
    assert "Device or resource busy" in mdadm(scene, "--zero-superblock", "/dev/sdh")
    mdadm(scene, "--stop", "/dev/md123")
    assert (
        scene.reader.take_tool("wipefs", "--no-act", "/dev/sdi").stdout
        == f"sdi 0x1000 linux_raid_member {_UUID}\n"
    )
    assert scene.reader.take_tool("wipefs", "--all", "/dev/sdi").status == 0
    assert scene.reader.take_tool("wipefs", "--no-act", "/dev/sdi").stdout == ""
    mdadm(scene, "--zero-superblock", "/dev/sdh")
    assert mdadm(scene, "--zero-superblock", "/dev/sdh").startswith("mdadm: Unrecognised md component device")
    assert scene.reader.simulated.stopped == []
