"""Which files of the host name devices and arrays: fstab, crypttab, systemd's units, boot loader, LVM, udev.

fstab, crypttab and units are parsed as libmount and systemd do (fstab(5), crypttab(5), systemd.mount(5),
systemd.swap(5)): a device that they name is in use, by whatever name and whether mounted or not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping

from raidtui.host.device_paths import DevicePaths
from raidtui.host.mounts import unescape
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.survey import Reference

FSTAB, CRYPTTAB = "/etc/fstab", "/etc/crypttab"
_UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
_UNITS = (".mount", ".swap")
# These name no device, and a lookup of their source may hang.
_NO_DEVICE = ("nfs", "cifs", "smb", "ceph", "9p", "glusterfs", "lustre", "tmpfs", "proc", "sysfs")


LARGEST_BYTES = 1 << 20
MOST_FILES = 500
"""Of one folder."""
_FILES = (
    "/etc/default/grub",
    "/etc/kernel/cmdline",
    "/etc/lvm/lvm.conf",
    "/etc/lvm/lvmlocal.conf",
    "/etc/initramfs-tools/initramfs.conf",
    "/etc/dracut.conf",
    "/boot/grub/grub.cfg",
    "/boot/grub2/grub.cfg",
    "/boot/extlinux/extlinux.conf",
)
_FOLDERS = (
    ("/etc/mdadm/mdadm.conf.d", (".conf",)),
    ("/etc/mdadm.conf.d", (".conf",)),
    ("/etc/default/grub.d", (".cfg",)),
    ("/etc/udev/rules.d", (".rules",)),
    ("/etc/systemd/system", (".mount", ".automount", ".swap", ".service")),
    ("/etc/initramfs-tools/conf.d", ("",)),
    ("/etc/dracut.conf.d", (".conf",)),
    ("/boot/loader/entries", (".conf",)),
)
# A path, /dev/disk/by-id/md-name-nas:data, or a unit of systemd: dev-md-data.device.
_SIGNS = (b"/dev/md", b"/md-name-", b"dev-md", b"md\\x2dname")


def read_named(reader: HostReader, texts: Mapping[str, str], names: Collection[str]) -> tuple[Reference, ...]:
    """Return the lines that name these devices or their partitions.

    Args:
        reader: the host.
        texts: fstab and crypttab by path, bytes as characters.
        names: kernel names.
    """
    paths = DevicePaths(reader, names)
    found = []
    for path, number, text in (*_table_words(texts), *_unit_words(reader)):
        if devices := paths.find(text):
            found.append(Reference(path=path, line=number, text=text, devices=devices))
    return tuple(found)


def _table_words(texts: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    for path, place in ((FSTAB, 0), (CRYPTTAB, 1)):
        for number, line in enumerate(texts.get(path, "").split("\n"), 1):
            if line.lstrip().startswith("#"):  # elsewhere # is part of a word
                continue
            words = [_text(unescape(word)) for word in line.split()]
            if len(words) <= place or (path == FSTAB and "".join(words[2:3]).startswith(_NO_DEVICE)):
                continue
            yield path, number, words[place]
            for word in _values(words[3] if len(words) > 3 else ""):
                yield path, number, word
            if path == CRYPTTAB and len(words) > 2:  # a key on a device: /key:UUID=..., or the device itself
                yield path, number, words[2].rpartition(":")[2]


def _text(word: str) -> str:
    """Decode a word that was read with bytes as characters (latin-1)."""
    return word.encode("latin-1", "replace").decode("utf-8", "replace")


def _values(options: str) -> Iterator[str]:
    """Yield the devices in mount options: logdev=/dev/sdb1, x-systemd.requires=..., header=UUID=..."""
    for option in options.split(","):
        value = option.partition("=")[2]
        if value.startswith("/dev/") or "=" in value:
            yield value


def _unit_words(reader: HostReader) -> Iterator[tuple[str, int, str]]:
    for folder in _UNIT_FOLDERS:
        units = [name for name in reader.names(folder) if name.endswith((*_UNITS, ".mount.d", ".swap.d"))]
        for unit in units[:MOST_FILES]:
            place = f"{folder}/{unit}"
            drop_ins = [f"{place}/{name}" for name in reader.names(place) if name.endswith(".conf")]
            for path in drop_ins if unit.endswith(".d") else (place,):
                for number, line in enumerate((regular_text(reader, path) or "").split("\n"), 1):
                    key, separator, value = line.partition("=")
                    value = _text(value.strip().replace("%%", "%"))
                    if separator and key.strip() == "What":
                        yield path, number, value
                    elif separator and key.strip() == "Options":
                        yield from ((path, number, word) for word in _values(value))


def read_referring(reader: HostReader) -> dict[str, str]:
    """Return the files that name any array, by path, bytes as characters: see ``Survey.texts``."""
    found = {}
    for path in _paths(reader):
        data = _regular(reader, path)
        if data is not None and any(sign in data for sign in _SIGNS):
            found[path] = data.decode("latin-1")
    return found


def _paths(reader: HostReader) -> Iterator[str]:
    yield from _FILES
    for folder, endings in _FOLDERS:
        names = [name for name in reader.names(folder) if name.endswith(endings)]
        yield from (f"{folder}/{name}" for name in names[:MOST_FILES])


def regular_text(reader: HostReader, path: str) -> str | None:
    """Return a regular file with bytes as characters; None for other files, and where it cannot be read."""
    data = _regular(reader, path)
    return data.decode("latin-1") if data is not None else None


def _regular(reader: HostReader, path: str) -> bytes | None:
    """Return a regular file's bytes; None for other files, large ones, and where it cannot be read."""
    try:
        if not isinstance(reader, FolderReader):
            data = reader.read(path)
            return data if len(data) <= LARGEST_BYTES else None
        # O_NONBLOCK: opening a FIFO must not wait for a writer.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(reader.source.rstrip("/") + path, flags)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_BYTES:
                return None
            return os.pread(descriptor, LARGEST_BYTES, 0)
        finally:
            os.close(descriptor)
    except OSError:
        return None
