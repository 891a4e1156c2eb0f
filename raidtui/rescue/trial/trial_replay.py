"""A file system that was not unmounted: its journal is replayed on an overlay of the array, not on it."""

from __future__ import annotations

import os
from pathlib import Path

from raidtui.host.roots.root import Root
from raidtui.rescue.trial.trial_request import TrialNames, map_path

_SUPER, _LENGTH = 1024, 1024
_INCOMPATIBLE, _NEEDS_RECOVERY = 96, 0x4
_STORE = "1G"
_REPLAY_S = 900.0


def needs_replay(target: str) -> bool:
    """Whether an ext3 or ext4 file system was not unmounted (ext4's s_feature_incompat, needs_recovery)."""
    try:
        descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        data = os.pread(descriptor, _LENGTH, _SUPER)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    word = int.from_bytes(data[_INCOMPATIBLE : _INCOMPATIBLE + 4], "little")
    return data[56:58] == b"\x53\xef" and bool(word & _NEEDS_RECOVERY)


def replayed(root: Root, names: TrialNames, target: str, number: int) -> str:
    """Replay a journal on an overlay; return the overlay's path, or "" where that fails.

    Args:
        root: the host.
        names: the trial's: what is made is found by them, and taken down.
        target: the file system; it is only read.
        number: of the overlay.
    """
    file = f"{names.scratch}/journal-{number}"
    name = f"{names.own}-on-{number}"
    if not Path(names.scratch).is_dir():
        root.run("mkdir", "-m", "700", names.scratch)
    if root.run("truncate", f"--size={_STORE}", file).status != 0:
        return ""
    loop = root.run("losetup", "--find", "--show", file).stdout.strip()
    sectors = root.run("blockdev", "--getsz", target).stdout.strip()
    if not loop.startswith("/dev/loop") or not sectors.isdigit():
        return ""
    table = f"0 {sectors} snapshot {target} {loop} N 8"
    if root.run("dmsetup", "create", name, "--table", table).status != 0:
        return ""
    argv = ("e2fsck", "-y", "-E", "journal_only", map_path(name))
    done = root.run(*argv, timeout_s=_REPLAY_S)
    return map_path(name) if done.status in {0, 1} else ""
