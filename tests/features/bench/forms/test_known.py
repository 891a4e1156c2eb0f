"""What there is to choose from: folders on arrays first, free devices first, knobs as the kernel has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.features.bench.forms.known import HostChoices, read_choices
from raidtui.monitor.sampler import Sampler
from tests.features.bench.host import BLOCK, Host, put_free_disks

MIB = 1 << 20


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    """A RAID-10 of four disks, and four free ones; sdf has a file system."""
    monkeypatch.setattr("raidtui.host.examine.why_busy", lambda *_: "")
    made = Host()
    put_free_disks(made, "sde", "sdf", "sdg", "sdh")
    made.put("/run/udev/data/b8:5", "E:ID_SERIAL_SHORT=FREE-SDF\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=photos\n")
    return made


def known(host: Host) -> HostChoices:
    return read_choices(host, Sampler(host).sample())


def test_devices(host: Host) -> None:
    found = known(host)
    assert [each.name for each in found.scratch] == ["sde", "sdf", "sdg", "sdh"]
    assert [each.word for each in found.scratch] == ["FREE-SDE", "FREE-SDF", "FREE-SDG", "FREE-SDH"]
    file_system = found.device("sdf")
    assert file_system is not None
    assert (file_system.kind, file_system.size_bytes) == ("disk", 256 * MIB)
    assert file_system.on == 'the ext4 file system "photos"'
    member, array = found.device("sda"), found.device("md127")
    assert member is not None
    assert array is not None
    assert member.refusal == "sda is a member of data"
    assert (array.kind, array.title) == ("array", "data")


def test_a_device_that_is_used_is_not_offered(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "raidtui.host.examine.why_busy", lambda _, name: "something uses it" * (name == "sdg")
    )
    host.put("/run/udev/data/b8:4", "E:ID_SERIAL_SHORT=FREE-SDE\nE:ID_FS_TYPE=LVM2_member\n")
    found = known(host)
    assert [each.name for each in found.scratch] == ["sdf", "sdh"]
    refusals = {each.name: each.refusal for each in found.devices}
    assert refusals["sde"].startswith("sde holds an LVM physical volume")
    assert refusals["sdg"] == "sdg: something uses it"


def test_volumes_are_devices_too(host: Host) -> None:
    host.put(f"{BLOCK}/dm-0/size", "2048\n")
    host.put(f"{BLOCK}/dm-0/dev", "253:0\n")
    host.put(f"{BLOCK}/dm-0/dm/name", "vg-data\n")
    volume = known(host).device("dm-0")
    assert volume is not None
    assert (volume.kind, volume.title, volume.size_bytes) == ("volume", "vg-data", MIB)
    assert volume not in known(host).scratch


def test_without_root_nothing_is_overwritten(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "writable", property(lambda _: False))
    found = known(host)
    assert found.scratch == ()
    assert {each.refusal for each in found.devices} == {"needs root"}


def test_folders_of_a_capture_are_not_looked_for(host: Host) -> None:
    host.put("/proc/self/mountinfo", "30 1 0:40 / /tmp rw - ext4 /dev/md127 rw\n")
    host.live = False
    assert known(host).folders == ()


def test_knobs(host: Host) -> None:
    found = known(host)
    assert [each.name for each in found.knobs][:2] == ["queue_depth", "scheduler"]
    depth, scheduler, bitmap = (found.knob(name) for name in ("queue_depth", "scheduler", "bitmap"))
    assert depth is not None
    assert scheduler is not None
    assert bitmap is not None
    assert (depth.now, depth.low) == (("32",), 1)
    assert (scheduler.now, scheduler.choices) == (("mq-deadline", "none"), ("none", "mq-deadline"))
    assert bitmap.choices == ("none", "internal")
    assert found.knob("stripe_cache_size") is None


def test_folders(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On arrays first, then where most is free; what is mounted twice once; nothing of a network."""
    places = {name: tmp_path / name for name in ("data", "root", "big", "again", "far")}
    for place in places.values():
        place.mkdir()
    free = {str(places["data"]): 10, str(places["root"]): 20, str(places["big"]): 30}
    monkeypatch.setattr("raidtui.features.bench.forms.known.free_bytes", lambda path: free[path])
    sources = {"data": "/dev/md127", "root": "/dev/sde", "big": "/dev/sdf", "again": "/dev/md127"}
    lines = [
        f"3{n} 1 0:4{n} / {places[name]} rw - ext4 {sources.get(name, 'nas:/srv')} rw"
        for n, name in enumerate(places)
    ]
    lines.append(f"40 1 0:50 / {tmp_path}/gone rw - ext4 /dev/sdg rw")
    host.put("/proc/self/mountinfo", "\n".join(lines) + "\n")
    found = known(host).folders
    assert [(Path(each.path).name, each.arrays, each.free_bytes) for each in found] == [
        ("data", ("data",), 10),
        ("big", (), 30),
        ("root", (), 20),
    ]
