"""Runs in the guest: what sysfs and mdadm say of the arrays, read without any code of raidtui's."""

import contextlib
import re
import subprocess
from pathlib import Path
from typing import Any

BLOCK = Path("/sys/block")
_TEST = {0: "whole", 1: "degraded", 2: "failed"}  # mdadm(8), --detail --test


def mdadm(*words: str) -> tuple[int, str]:
    """Run mdadm: exit status, and what it wrote."""
    done = subprocess.run(
        ["/sbin/mdadm", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def arrays() -> dict[str, dict[str, Any]]:
    """Each array that /proc/mdstat names, with its fields as `raidtui status --json` names them."""
    names = re.findall(r"^(md\S*) :", Path("/proc/mdstat").read_text(), re.MULTILINE)
    found = {}
    for name in names:
        with contextlib.suppress(OSError):  # stopped meanwhile: it is not there the next time
            found[name] = array(name)
    return found


def array(name: str) -> dict[str, Any]:
    """One array.

    Raises:
        OSError: it is gone.
    """
    md = BLOCK / name / "md"
    state = _word(md / "array_state")
    if state is None or state == "clear":
        raise FileNotFoundError(name)
    status, detail = mdadm("--detail", "--test", f"/dev/{name}")
    export = dict(
        line.split("=", 1)
        for line in mdadm("--detail", "--export", f"/dev/{name}")[1].split("\n")
        if "=" in line
    )
    active = state != "inactive"
    disks = _word(md / "raid_disks")
    return {
        "active": active,
        "level": _word(md / "level") or None,
        "chunk_bytes": _positive(md / "chunk_size"),
        "metadata": _word(md / "metadata_version"),
        "raid_disks": int(disks.split()[0]) if disks else None,
        "degraded": _number(md / "degraded"),
        "uuid": export.get("MD_UUID"),
        "label": (export.get("MD_NAME") or "").rpartition(":")[2] or None,
        "consistency_policy": _word(md / "consistency_policy"),
        "mismatch_count": _number(md / "mismatch_cnt"),
        "has_bitmap": _word(md / "bitmap/location") not in {None, "", "none"},
        "read_only": {"readonly": "read-only", "read-auto": "auto-read-only"}.get(state),
        "members": dict(sorted(_members(md))),
        "broken": state == "broken",
        "sync_action": _word(md / "sync_action"),
        "sets": dict(re.findall(r"^ +\d+ +\d+ +\d+ +(\d+) +.*\bset-([A-Z])", detail, re.MULTILINE)),
        "test": _TEST.get(status) if active else "inactive",
    }


def members_on(devices: list[str]) -> dict[str, dict[str, int]]:
    """Array UUID -> device -> event count, of the superblocks that lie on the devices."""
    found: dict[str, dict[str, int]] = {}
    for device in devices:
        lines = mdadm("--examine", "--export", f"/dev/{device}")[1].split("\n")
        fields = dict(line.split("=", 1) for line in lines if "=" in line)
        if "MD_UUID" in fields:
            found.setdefault(fields["MD_UUID"], {})[device] = int(fields.get("MD_EVENTS", "0"))
    return found


def _members(md: Path) -> list[tuple[str, tuple[int | None, str]]]:
    found = []
    for folder in md.glob("dev-*"):
        state, slot = _word(folder / "state"), _word(folder / "slot")
        if state is None or slot is None:  # its folder outlives it for a moment
            continue
        found.append((folder.name[4:], (int(slot) if slot.isdigit() else None, state)))
    return found


def _word(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _number(path: Path) -> int | None:
    word = _word(path)
    return int(word) if word is not None and word.isdigit() else None


def _positive(path: Path) -> int | None:
    return _number(path) or None
