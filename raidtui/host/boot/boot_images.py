"""Installed kernels, and what is in the initramfs of each: initramfs-tools, dracut or mkinitcpio."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import IO, cast

from raidtui.host.initramfs import InitramfsError, walk_initramfs
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.regular_files import open_regular
from raidtui.model.boot import BootKernel, Initramfs

MATTERING = frozenset(
    {"md_mod", "linear", "raid0", "raid1", "raid10", "raid456", "dm_mod", "dm_crypt"}
    | {"ext4", "xfs", "btrfs", "f2fs", "jfs"}
)
"""Modules of the kernel that are asked for."""
_CONFS = ("etc/mdadm/mdadm.conf", "etc/mdadm.conf")
_TABLES = ("cryptroot/crypttab", "etc/crypttab")
_WORDS = re.compile(r"etc/cmdline(\.d/[^/]+\.conf)?")
_PROGRAMS = ("mdadm", "lvm", "cryptsetup", "systemd-cryptsetup")
_MAKERS = (
    ("dracut", re.compile(r"(usr/)?lib/dracut/")),
    ("mkinitcpio", re.compile(r"init_functions|hooks/udev|usr/lib/initcpio/")),
    ("initramfs-tools", re.compile(r"scripts/(functions|local)$")),
)
_STARTS = re.compile(
    r"scripts/local-(block|top)/mdadm|(usr/)?s?bin/mdraid_start(\.sh)?|.*/mdadm-last-resort@\.timer"
)
_MODULE = re.compile(r".*/([^/]+)\.ko(\.(xz|zst|gz))?")
_KERNEL = re.compile(r"vmlinu[xz]-(.+)")
_RESCUE = "0-rescue"
_NUMBERS = re.compile(r"(\d+)")


def read_kernels(reader: HostReader) -> tuple[BootKernel, ...]:
    """Return the kernels in /boot, the newest first."""
    names = reader.names("/boot")
    versions = [found[1] for name in names if (found := _KERNEL.fullmatch(name)) and _RESCUE not in name]
    return tuple(
        BootKernel(
            version=version,
            built_in=_built_in(reader, version),
            initramfs=next((_initramfs(reader, path) for path in _paths(version, names)), None),
        )
        for version in sorted(versions, key=newest, reverse=True)
    )


def newest(version: str) -> tuple[tuple[int, str], ...]:
    """Return by what kernels are sorted."""
    words = _NUMBERS.split(version)
    return tuple((int(word), "") if word.isdigit() else (-1, word) for word in words)


def _paths(version: str, names: tuple[str, ...]) -> tuple[str, ...]:
    forms = (f"initrd.img-{version}", f"initramfs-{version}.img", f"initrd-{version}")
    return tuple(f"/boot/{name}" for name in forms if name in names)


def _built_in(reader: HostReader, version: str) -> tuple[str, ...]:
    text = reader.text(f"/lib/modules/{version}/modules.builtin")
    text = text or reader.text(f"/usr/lib/modules/{version}/modules.builtin") or ""
    return tuple(sorted({_name_of(line) for line in text.split("\n")} & MATTERING))


def _name_of(path: str) -> str:
    found = _MODULE.fullmatch(path)
    return found[1].replace("-", "_") if found else ""


def _initramfs(reader: HostReader, path: str) -> Initramfs:
    try:
        if not reader.live:
            return _walked(io.BytesIO(reader.read(path)), path, None)
        descriptor = open_regular(path)
    except PermissionError:
        return Initramfs(path=path, modified_s=_modified_s(path), unread="it can only be read by root")
    except OSError as error:
        return Initramfs(path=path, unread=f"it cannot be read: {error.strerror}")
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        return _walked(cast("IO[bytes]", stream), path, os.fstat(descriptor).st_mtime)


def _modified_s(path: str) -> float | None:
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return None


def _walked(stream: IO[bytes], path: str, modified_s: float | None) -> Initramfs:
    names, texts = set[str](), dict[str, bytes]()
    try:
        for name, data in walk_initramfs(stream, _is_wanted):
            names.add(name)
            if data is not None:
                texts[name] = data
    except InitramfsError as error:
        return Initramfs(path=path, modified_s=modified_s, unread=str(error))
    return _judge_names(path, names, texts, modified_s)


def _is_wanted(name: str) -> bool:
    return name in {*_CONFS, *_TABLES} or _WORDS.fullmatch(name) is not None


def _judge_names(path: str, names: set[str], texts: dict[str, bytes], modified_s: float | None) -> Initramfs:
    """Return what an initramfs with these files can do; ``texts`` has those of ``_is_wanted``."""
    maker = next((maker for maker, sign in _MAKERS if any(map(sign.match, names))), "")
    bins = {name.rpartition("/")[2] for name in names if "bin/" in name or "systemd/" in name}
    conf = next((texts[name] for name in _CONFS if name in texts), None)
    if conf is None and not names.isdisjoint(_CONFS):
        conf = b""
    tables = "\n".join(texts[name].decode("utf-8", "replace") for name in _TABLES if name in texts)
    return Initramfs(
        path=path,
        maker=maker,
        modules=tuple(sorted({_name_of(name) for name in names} & MATTERING)),
        programs=tuple(name for name in _PROGRAMS if name in bins),
        conf=None if conf is None else conf.decode("utf-8", "replace"),
        crypttab=tuple(
            line.split()[0]
            for line in tables.split("\n")
            if line.strip() and not line.lstrip().startswith("#")
        ),
        words=tuple(
            word
            for name in sorted(texts)
            if _WORDS.fullmatch(name)
            for word in texts[name].decode("utf-8", "replace").split()
            if word.startswith("rd.")
        ),
        starts_degraded=any(map(_STARTS.fullmatch, names)),
        modified_s=modified_s,
    )
