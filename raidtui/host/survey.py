"""Reads what a plan is made from. Devices are opened for reading only."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from raidtui.host.block import DiskReader
from raidtui.host.mdadm import MdadmError, read_examine
from raidtui.host.names import canonical_uuid
from raidtui.host.root import Root
from raidtui.host.tools import tool_path
from raidtui.host.usage import BLOCK
from raidtui.model.disk import Disk
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import PACKAGES, Device, Superblock, Survey

EDGE_BYTES = 1 << 20
CONF_PATHS = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")
WATCHED_FILES = (*CONF_PATHS, "/etc/fstab", "/etc/crypttab")
_INITRAMFS = (
    ("update-initramfs", "-u", "-k", "all"),
    ("dracut", "--force", "--regenerate-all"),
    ("mkinitcpio", "-P"),
)


def read_survey(root: Root, snapshot: Snapshot, names: Collection[str] = ()) -> Survey:
    """Return the survey of a host.

    Args:
        root: the host.
        snapshot: its arrays.
        names: kernel names of the devices to look at closely.
    """
    texts = {path: text for path in WATCHED_FILES if (text := _whole_text(root, path)) is not None}
    disks = DiskReader(root).read(set(names))
    return Survey(
        snapshot=snapshot,
        devices={name: read_device(root, name, disks) for name in names if name in disks},
        texts=texts,
        conf_path=_conf_path(root, texts),
        initramfs=next((argv for argv in _INITRAMFS if root.live and tool_path(argv[0])), ()),
        mdadm=_mdadm_version(root),
        homehost=root.hostname or "",
        missing=tuple(tool for tool in PACKAGES if root.live and tool_path(tool) is None),
    )


def read_device(root: Root, name: str, disks: Mapping[str, Disk] | None = None) -> Device:
    """Return one device with what is on it."""
    found = (disks or DiskReader(root).read({name}))[name]
    node = f"{BLOCK}/{name.replace('/', '!')}"
    whole = f"{BLOCK}/{found.disk.replace('/', '!')}"
    busy = why_busy(root, name)
    return Device(
        disk=found,
        superblock=read_superblock(root, name),
        digest=digest_of(root, name),
        busy=busy,
        read_only=(root.text(f"{node}/ro") or "0").strip() == "1",
        sector_bytes=_number(root.text(f"{whole}/queue/logical_block_size")) or 512,
        start_bytes=_number(root.text(f"{node}/start")) * 512,
        optimal_bytes=_number(root.text(f"{whole}/queue/optimal_io_size")),
        discards=_number(root.text(f"{whole}/queue/discard_max_bytes")) > 0,
    )


def read_superblock(root: Root, name: str) -> Superblock | None:
    """Return a device's md superblock, or None where it has none (or mdadm cannot be asked)."""
    try:
        values = read_examine(root, f"/dev/{name}")
    except MdadmError:
        return None
    if not values.get("MD_LEVEL") and not values.get("MD_UUID"):
        return None
    updated = values.get("MD_UPDATE_TIME", "")
    return Superblock(
        uuid=canonical_uuid(values.get("MD_UUID")),
        name=values.get("MD_NAME"),
        level=values.get("MD_LEVEL"),
        raid_disks=_number(values.get("MD_DEVICES")) or None,
        metadata=values.get("MD_METADATA"),
        device_uuid=canonical_uuid(values.get("MD_DEV_UUID")),
        events=_number(values.get("MD_EVENTS")) if values.get("MD_EVENTS") else None,
        updated_s=_time(updated),
    )


def why_busy(root: Root, name: str) -> str:
    """Return why a device cannot be opened for oneself alone, or "" where it can."""
    if not root.live:
        return ""
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        return "something uses it" if error.errno == errno.EBUSY else str(error.strerror)
    return ""


def digest_of(root: Root, name: str) -> str | None:
    """Return the SHA-256 of a device's first and last MiB: what tells whether somebody wrote to it."""
    if not root.live:
        return None
    with contextlib.suppress(OSError):
        descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
            first = os.pread(descriptor, EDGE_BYTES, 0)
            last = os.pread(descriptor, EDGE_BYTES, max(0, size - EDGE_BYTES))
        finally:
            os.close(descriptor)
        return hashlib.sha256(first + last).hexdigest()
    return None


def _whole_text(root: Root, path: str) -> str | None:
    try:
        return root.read(path).decode("latin-1")
    except OSError:
        return None


def _conf_path(root: Root, texts: dict[str, str]) -> str:
    """Debian's mdadm 4.2 reads /etc/mdadm/mdadm.conf alone; the others' reads /etc/mdadm.conf first."""
    for path in CONF_PATHS:
        if path in texts:
            return path
    return CONF_PATHS[0] if root.names("/etc/mdadm") or root.exists("/etc/debian_version") else CONF_PATHS[1]


def _mdadm_version(root: Root) -> tuple[int, ...] | None:
    output = root.run("mdadm", "--version", timeout_s=5.0)
    found = re.search(r"\bv([0-9]{1,3})\.([0-9]{1,3})", output.stdout + output.stderr)  # also v4.3-rc1
    return (int(found[1]), int(found[2])) if found else None


def _time(text: str) -> float | None:
    number = _number(text)
    if number:
        return float(number)
    with contextlib.suppress(ValueError):  # "Sat Nov 21 10:00:00 2026" of older versions
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    return None


def _number(text: str | None) -> int:
    word = (text or "").strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else 0
