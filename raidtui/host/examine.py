"""Look at the host and at single devices for a plan. Devices are opened for reading only."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from collections.abc import Collection, Mapping
from threading import Lock

from msgspec.structs import replace

from raidtui.host.block import BLOCK, DiskReader, read_appearance
from raidtui.host.edges import EDGE_BYTES, LOOKED_AT_BYTES, may_have_superblock, read_edges
from raidtui.host.md.superblock import read_superblock
from raidtui.host.on_top import (
    read_raid456_discards,
    runs_systemd,
)
from raidtui.host.probe import TogetherProbe, probe_signatures
from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.host.references import read_referring
from raidtui.host.tool_version import read_version
from raidtui.host.tools import tool_path
from raidtui.host.udev import has_udev_entry, read_udev_entry
from raidtui.model.answer import Answer
from raidtui.model.disk import Disk
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import NOT_ASKED, PACKAGES, Device, Survey

CONF_PATHS = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")
WATCHED_FILES = (*CONF_PATHS, "/etc/fstab", "/etc/crypttab")
_VERSION = re.compile(r"\bv([0-9]{1,3})\.([0-9]{1,3})")  # also v4.3-rc1
_claims: dict[str, Lock] = {}
"""By disk: while a partition is open with O_EXCL, its disk and its other partitions cannot be opened so."""
_UDEV_QUEUE = "/run/udev/queue"
"""It is there while udev is at work on events."""
_UDEV_S, _PACE_S = 5.0, 0.1
_INITRAMFS = (
    ("update-initramfs", "-u", "-k", "all"),
    ("dracut", "--force", "--regenerate-all"),
    ("mkinitcpio", "-P"),
)


def read_host(reader: HostReader, snapshot: Snapshot, *, mdadm: bool = True) -> Survey:
    """Return what every survey has: files, tools, and the devices on top of the arrays."""
    texts = watched_texts(reader)
    return Survey(
        snapshot=snapshot,
        texts={**texts, **read_referring(reader)},
        conf_path=_conf_path(reader, texts),
        initramfs=next((argv for argv in _INITRAMFS if reader.live and tool_path(argv[0])), ()),
        mdadm=read_mdadm_version(reader) if mdadm else NOT_ASKED,
        above=read_above(reader, [array.name for array in snapshot.arrays]),
        homehost=_homehost(texts.get(_conf_path(reader, texts), "")) or reader.hostname or "",
        missing=tuple(tool for tool in PACKAGES if reader.live and tool_path(tool) is None),
        systemd=runs_systemd(reader),
        raid456_discards=read_raid456_discards(reader),
    )


def read_above(reader: HostReader, names: Collection[str]) -> dict[str, Disk]:
    """Return these devices, their partitions and holders, and in turn theirs."""
    disk_reader, found = DiskReader(reader), dict[str, Disk]()
    wanted = set(names)
    while wanted:
        now = {name: disk for name, disk in disk_reader.read(wanted).items() if name in wanted}
        found |= now
        uses = [use for disk in now.values() for use in disk.uses if use.kind in {"partition", "holder"}]
        wanted = {use.what for use in uses} - found.keys()
    return found


def read_device(
    reader: HostReader,
    name: str,
    disks: Mapping[str, Disk] | None = None,
    *,
    digest: bool = True,
    together: TogetherProbe | None = None,
) -> Device:
    """Return one device with its contents.

    Args:
        reader: the host.
        name: the kernel's name.
        disks: it and its disk, if they have been read.
        digest: whether to read its first and last MiB, too.
        together: looks for signatures on it and others at once.
    """
    found = (disks or DiskReader(reader).read({name}))[name]
    node = f"{BLOCK}/{name.replace('/', '!')}"
    whole = f"{BLOCK}/{found.disk.replace('/', '!')}"
    edges = read_edges(reader, name, EDGE_BYTES if digest else LOOKED_AT_BYTES)
    with _claims.setdefault(found.disk, Lock()):
        busy = why_busy(reader, name)
        end_s = time.monotonic() + _UDEV_S
        while (
            busy and reader.exists(_UDEV_QUEUE) and time.monotonic() < end_s
        ):  # such as its mdadm --incremental
            time.sleep(_PACE_S)
            busy = why_busy(reader, name)
        probed = (together and together.take(name)) or probe_signatures(reader, name)
    entry = read_udev_entry(reader, found.dev)
    if reader.live and probed.value is not None and not has_udev_entry(reader, found.dev or ""):
        uses = tuple(use for use in found.uses if use.kind != "signature")
        found = replace(found, uses=(*uses, *probed.value))
    return Device(
        disk=found,
        probed=probed,
        superblock=read_superblock(reader, name) if may_have_superblock(edges) else None,
        digest=hashlib.sha256(b"".join(edges)).hexdigest() if digest and edges is not None else None,
        busy=busy,
        read_only=(reader.text(f"{node}/ro") or "0").strip() == "1",
        sector_bytes=whole_number(reader.text(f"{whole}/queue/logical_block_size")) or 512,
        start_bytes=(whole_number(reader.text(f"{node}/start")) or 0) * 512,
        optimal_bytes=whole_number(reader.text(f"{whole}/queue/optimal_io_size")) or 0,
        discards=(whole_number(reader.text(f"{whole}/queue/discard_max_bytes")) or 0) > 0,
        links=entry.links,
        appearance=read_appearance(reader, found.disk),
    )


def why_busy(reader: HostReader, name: str) -> str:
    """Return why a device cannot be opened with O_EXCL, or "" where it can."""
    if not reader.live:
        return ""
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return "something uses it" if error.errno == errno.EBUSY else str(error.strerror)
    return ""


def digest_of(reader: HostReader, name: str) -> str | None:
    """Return the SHA-256 of a device's first and last MiB, to detect writes; None where it cannot be read."""
    edges = read_edges(reader, name)
    return hashlib.sha256(b"".join(edges)).hexdigest() if edges is not None else None


def watched_texts(reader: HostReader) -> dict[str, str]:
    """Return those of mdadm.conf, fstab and crypttab that exist, by path."""
    return {path: text for path in WATCHED_FILES if (text := reader.byte_text(path)) is not None}


def _conf_path(reader: HostReader, texts: dict[str, str]) -> str:
    """Debian's mdadm 4.2 reads only /etc/mdadm/mdadm.conf; others read /etc/mdadm.conf first."""
    for path in CONF_PATHS:
        if path in texts:
            return path
    return (
        CONF_PATHS[0] if reader.names("/etc/mdadm") or reader.exists("/etc/debian_version") else CONF_PATHS[1]
    )


def _homehost(conf: str) -> str:
    """Return the HOMEHOST in mdadm.conf, "" where that is the host's own name (mdadm.conf(5))."""
    words = [line.split() for line in conf.split("\n")]
    named = [word[1] for word in words if len(word) > 1 and word[0].upper() == "HOMEHOST"]
    return next((name for name in named if name.lower() not in {"<system>", "<ignore>"}), "")


def read_mdadm_version(reader: HostReader) -> Answer[tuple[int, ...]]:
    """Return mdadm's version."""
    return read_version(reader, "mdadm", _VERSION)
