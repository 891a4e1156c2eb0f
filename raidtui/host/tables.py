"""Which devices are to be mounted, swapped to or opened at the next boot: fstab, crypttab, systemd's units.

Read as libmount and systemd read them (fstab(5), crypttab(5), systemd.mount(5), systemd.swap(5)): a device
that is named there is somebody's, however it is spelled, mounted or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from raidtui.host.device_paths import DevicePaths
from raidtui.host.referring import MOST_FILES, regular_text
from raidtui.host.roots.root import Root
from raidtui.host.usage import unescape
from raidtui.model.survey import Named

FSTAB, CRYPTTAB = "/etc/fstab", "/etc/crypttab"
_UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
_UNITS = (".mount", ".swap")
# No device is at the place that these name, and asking for it may take for ever.
_NO_DEVICE = ("nfs", "cifs", "smb", "ceph", "9p", "glusterfs", "lustre", "tmpfs", "proc", "sysfs")


def read_named(root: Root, texts: Mapping[str, str], names: Collection[str]) -> tuple[Named, ...]:
    """Return where these devices, or partitions of them, are named.

    Args:
        root: the host.
        texts: its fstab and its crypttab, by path, as bytes in characters.
        names: kernel names.
    """
    paths = DevicePaths(root, names)
    found = []
    for path, number, spelled in (*_table_words(texts), *_unit_words(root)):
        if devices := paths.meant(spelled):
            found.append(Named(path=path, line=number, text=spelled, devices=devices))
    return tuple(found)


def _table_words(texts: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    for path, place in ((FSTAB, 0), (CRYPTTAB, 1)):
        for number, line in enumerate(texts.get(path, "").split("\n"), 1):
            if line.lstrip().startswith("#"):  # anywhere else the sign is part of a word
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
    """Characters that stand for bytes (latin-1) as text."""
    return word.encode("latin-1", "replace").decode("utf-8", "replace")


def _values(options: str) -> Iterator[str]:
    """Return the devices that options name: logdev=/dev/sdb1, x-systemd.requires=..., header=UUID=..."""
    for option in options.split(","):
        value = option.partition("=")[2]
        if value.startswith("/dev/") or "=" in value:
            yield value


def _unit_words(root: Root) -> Iterator[tuple[str, int, str]]:
    for folder in _UNIT_FOLDERS:
        units = [name for name in root.names(folder) if name.endswith((*_UNITS, ".mount.d", ".swap.d"))]
        for unit in units[:MOST_FILES]:
            place = f"{folder}/{unit}"
            drop_ins = [f"{place}/{name}" for name in root.names(place) if name.endswith(".conf")]
            for path in drop_ins if unit.endswith(".d") else (place,):
                for number, line in enumerate((regular_text(root, path) or "").split("\n"), 1):
                    key, separator, value = line.partition("=")
                    value = _text(value.strip().replace("%%", "%"))
                    if separator and key.strip() == "What":
                        yield path, number, value
                    elif separator and key.strip() == "Options":
                        yield from ((path, number, word) for word in _values(value))
