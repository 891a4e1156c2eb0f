"""What an initramfs can do, by the names of its files: those of real ones, and mdadm.conf in it."""

from __future__ import annotations

import gzip
import lzma

import pytest

from raidtui.host.boot.boot_images import newest, read_kernels
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.boot import Initramfs
from tests.host.test_initramfs import archive, entry
from tests.places import FIXTURES

BOOT_FIXTURES = FIXTURES / "boot"
VERSION = "6.1.0-50-cloud-amd64"
CONF = b"ARRAY /dev/md0 UUID=11111111:22222222:33333333:44444444\n"
LEVELS = ("linear", "raid0", "raid1", "raid10", "raid456")
MKINITCPIO = (
    *("config", "init", "init_functions", "hooks/udev", "usr/bin/mdadm", "etc/mdadm.conf"),
    *("usr/lib/udev/rules.d/64-md-raid-assembly.rules", "usr/lib/modules/6.6.1-arch1/kernel/raid1.ko.zst"),
    "usr/lib/modules/6.6.1-arch1/kernel/md-mod.ko.zst",
)
"""As HOOKS=(base udev ... mdadm_udev) makes it, by mkinitcpio's documents."""


def names_of(file: str) -> list[str]:
    """The names in a real one, of Debian 12."""
    return lzma.decompress((BOOT_FIXTURES / f"{file}.names.xz").read_bytes()).decode().split("\n")[:-1]


def read(*entries: bytes, name: str = f"initrd.img-{VERSION}", version: str = VERSION) -> Initramfs:
    files = {
        f"/boot/vmlinuz-{version}": b"",
        f"/boot/{name}": gzip.compress(archive(*entries)),
        f"/lib/modules/{version}/modules.builtin": b"kernel/fs/ext4/ext4.ko\nkernel/drivers/md/x.ko\n",
    }
    (kernel,) = read_kernels(MemoryReader(files, still=True))
    assert (kernel.version, kernel.built_in) == (version, ("ext4",))
    assert kernel.initramfs is not None
    assert kernel.initramfs.path == f"/boot/{name}"
    return kernel.initramfs


def with_names(*names: str, without: str = "") -> list[bytes]:
    return [
        entry(name, CONF if name.endswith("mdadm.conf") and "modprobe" not in name else b"")
        for name in names
        if not without or without not in name
    ]


def test_one_of_initramfs_tools() -> None:
    found = read(*with_names(*names_of("initramfs-tools")))
    assert (found.maker, found.starts_degraded) == ("initramfs-tools", True)
    assert set(LEVELS) <= set(found.modules)
    assert found.programs == ("mdadm", "lvm", "cryptsetup")
    assert found.conf == CONF.decode()


@pytest.mark.parametrize("name", [f"initrd.img-{VERSION}", f"initramfs-{VERSION}.img", f"initrd-{VERSION}"])
def test_one_of_dracut_as_distributions_name_it(name: str) -> None:
    found = read(*with_names(*names_of("dracut")), name=name)
    assert (found.maker, found.starts_degraded) == ("dracut", True)
    assert set(LEVELS) <= set(found.modules)
    assert found.programs == ("mdadm", "lvm", "systemd-cryptsetup")
    assert (found.conf, found.words) == (CONF.decode(), ())


def test_what_dracut_adds_to_the_command_line() -> None:
    more = entry("etc/cmdline.d/90mdraid.conf", b"rd.md.uuid=aa:bb root=/dev/x\n")
    assert read(*with_names(*names_of("dracut")), more).words == ("rd.md.uuid=aa:bb",)


def test_one_of_mkinitcpio() -> None:
    found = read(*with_names(*MKINITCPIO), name="initramfs-6.6.1-arch1.img", version="6.6.1-arch1")
    assert (found.maker, found.starts_degraded) == ("mkinitcpio", False)
    assert (found.modules, found.programs) == (("md_mod", "raid1"), ("mdadm",))
    assert found.conf == CONF.decode()


@pytest.mark.parametrize(
    ("without", "lacks"),
    [
        ("raid1.ko", "modules"),
        ("sbin/mdadm", "programs"),
        ("local-block/mdadm", "starts"),
        ("mdadm.conf", "conf"),
    ],
)
def test_what_is_missing_is_seen(without: str, lacks: str) -> None:
    found = read(*with_names(*names_of("initramfs-tools"), without=without))
    assert ("raid1" in found.modules) is (lacks != "modules")
    assert ("mdadm" in found.programs) is (lacks != "programs")
    assert found.starts_degraded is (lacks != "starts")
    assert (found.conf is not None) is (lacks != "conf")


def test_all_kernels_the_newest_first() -> None:
    names = ("6.1.0-9-amd64", "6.1.0-50-amd64", "5.10.0-30-amd64", "0-rescue-1234")
    files = {f"/boot/vmlinuz-{name}": b"" for name in names}
    found = read_kernels(MemoryReader(files, still=True))
    assert [each.version for each in found] == ["6.1.0-50-amd64", "6.1.0-9-amd64", "5.10.0-30-amd64"]
    assert all(each.initramfs is None for each in found)
    assert newest("6.10") > newest("6.9")


def test_one_that_is_damaged() -> None:
    files = {f"/boot/vmlinuz-{VERSION}": b"", f"/boot/initrd.img-{VERSION}": b"no archive"}
    (kernel,) = read_kernels(MemoryReader(files, still=True))
    assert kernel.initramfs is not None
    assert kernel.initramfs.unread == "it is not a cpio archive"
