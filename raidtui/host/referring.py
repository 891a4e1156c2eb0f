"""Reads the host's own files that may name an array: boot loader, LVM, udev, systemd, initramfs, mdadm.

Regular files alone, of a limited size; what cannot be read is left out: nothing but a note depends on it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from raidtui.host.roots.dir_root import DirRoot
from raidtui.host.roots.root import Root

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


def read_referring(root: Root) -> dict[str, str]:
    """Return those files that name any array, by path, as bytes in characters: see ``Survey.texts``."""
    found = {}
    for path in _paths(root):
        data = _regular(root, path)
        if data is not None and any(sign in data for sign in _SIGNS):
            found[path] = data.decode("latin-1")
    return found


def _paths(root: Root) -> Iterator[str]:
    yield from _FILES
    for folder, endings in _FOLDERS:
        names = [name for name in root.names(folder) if name.endswith(endings)]
        yield from (f"{folder}/{name}" for name in names[:MOST_FILES])


def regular_text(root: Root, path: str) -> str | None:
    """Return a regular file's bytes as characters, or None where it is none, or cannot be read."""
    data = _regular(root, path)
    return data.decode("latin-1") if data is not None else None


def _regular(root: Root, path: str) -> bytes | None:
    """Return a regular file's bytes, or None where it is none, is too large, or cannot be read."""
    try:
        if not isinstance(root, DirRoot):
            data = root.read(path)
            return data if len(data) <= LARGEST_BYTES else None
        # A pipe must not be waited for.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(root.source.rstrip("/") + path, flags)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_BYTES:
                return None
            return os.pread(descriptor, LARGEST_BYTES, 0)
        finally:
            os.close(descriptor)
    except OSError:
        return None
