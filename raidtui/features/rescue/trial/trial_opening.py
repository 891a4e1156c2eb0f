"""What has to be opened before it can be checked: an encrypted volume, and a file system with a journal.

How a key comes to a worker: raidtui.jobs.key_pipe. The journal of a file system that was not unmounted is
replayed on an overlay of the array, not on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from raidtui.features.rescue.trial.trial_record import TrialNames, map_path
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput
from raidtui.jobs.patient_tool import PatientEnd, run_patiently
from raidtui.jobs.trial_writer import TrialWriter

_NO_KEY = 2
"""The exit status of cryptsetup where no keyslot opens (cryptsetup(8), RETURN CODES)."""
_SUPER, _LENGTH = 1024, 1024
_INCOMPATIBLE, _NEEDS_RECOVERY = 96, 0x4
_STORE = "1G"
_REPLAY_S = 900.0


class TrialKey(Struct, frozen=True, kw_only=True):
    """A key.

    Args:
        file: the file that holds it; "" where it was typed.
        typed: the passphrase; "" where it is in a file, or has not come.
    """

    file: str = ""
    typed: str = ""


class Opening(Struct, frozen=True, kw_only=True):
    """What came of opening an encrypted volume.

    Args:
        path: the map that shows what is in it; "" where it was not opened.
        words: what that says, a clause.
    """

    path: str = ""
    words: str = ""


def open_volume(
    target: str, name: str, key: TrialKey, output: Path, cancelled: Callable[[], bool]
) -> Opening:
    """Open an encrypted volume, read-only.

    Args:
        target: its path.
        name: the map's name.
        key: the key.
        output: the file that gets what cryptsetup prints.
        cancelled: whether to end.

    Raises:
        OSError: the output cannot be written.
    """
    if not key.file and not key.typed:
        return Opening(words="the passphrase did not arrive, so the encrypted data was not read")
    argv = ("cryptsetup", "open", "--readonly", "--type=luks", f"--key-file={key.file or '-'}", target, name)
    end = run_patiently(argv, output, cancelled, stdin=key.typed)
    if end.status == 0:
        return Opening(
            path=map_path(name), words="the key opens it, so its header and that keyslot are whole"
        )
    if end.status == _NO_KEY:
        words = (
            "the key opens no keyslot: it is another key, or the keyslots are damaged; nothing shows which"
        )
        return Opening(words=f"{words}; the encrypted data was not read")
    if end.missing:
        words = "cryptsetup is not installed (apt install cryptsetup-bin)"
    else:
        words = f"cryptsetup could not open it: {end.why or end.tail.rpartition(chr(10))[2]}"
    return Opening(words=f"{words}; the encrypted data was not read")


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


class Replay(Struct, frozen=True, kw_only=True):
    """What came of replaying a journal.

    Args:
        path: the overlay on which it was replayed; "" where that was not possible.
        why: why not.
        damaged: whether that is the journal's fault, not the host's.
    """

    path: str = ""
    why: str = ""
    damaged: bool = False


def log_is_dirty(said: str) -> bool:
    """Whether xfs_repair -n has passed over a log that is not empty (xfsprogs, repair/phase2.c)."""
    return "metadata changes in a log which is being" in " ".join(said.split())


def replay_journal(
    reader: HostReader,
    names: TrialNames,
    target: str,
    kind: str,
    *,
    number: int,
    replay: Callable[[str], PatientEnd],
) -> Replay:
    """Replay a journal on an overlay: e2fsck does that itself, for XFS only the kernel can.

    Args:
        reader: the host.
        names: the trial's: what is made is found by them, and taken down.
        target: the file system; it is only read.
        kind: ext3, ext4 or xfs.
        number: of the overlay.
        replay: replays the journal of ext3 or ext4 on the overlay, given its path.
    """
    writer = TrialWriter(reader)
    file = f"{names.scratch}/journal-{number}"
    name = f"{names.own}-on-{number}"
    if not Path(names.scratch).is_dir():
        writer.run("mkdir", "-m", "700", names.scratch)
    # The read-only methods need neither module.
    writer.run("modprobe", "--all", "dm-mod", "dm-snapshot", "loop")
    if (made := writer.run("truncate", f"--size={_STORE}", file)).status != 0:
        return Replay(why=_why(made))
    loop = (made := writer.run("losetup", "--find", "--show", file)).stdout.strip()
    sectors = reader.ask("blockdev", "--getsz", target).stdout.strip()
    if not loop.startswith("/dev/loop") or not sectors.isdigit():
        return Replay(why=_why(made))
    table = f"0 {sectors} snapshot {target} {loop} N 8"
    if (made := writer.run("dmsetup", "create", name, "--table", table)).status != 0:
        return Replay(why=_why(made))
    path = map_path(name)
    if kind == "xfs":
        return _mounted_once(writer, path, f"{names.place}/replay-{number}")
    end = replay(path)
    if end.status in {0, 1}:
        return Replay(path=path)
    said = end.why or end.tail.rpartition("\n")[2]
    return Replay(why=said or f"e2fsck failed ({end.status})", damaged=end.status is not None)


def _mounted_once(writer: TrialWriter, path: str, place: str) -> Replay:
    """Mount an overlay, which replays the log into the overlay's store, and unmount it."""
    writer.run("mkdir", "-m", "700", place)
    options = "nouuid,nodev,nosuid,noexec"
    done = writer.run("mount", "-t", "xfs", "-o", options, path, place, timeout_s=_REPLAY_S)
    if done.status != 0:
        return Replay(why=_why(done), damaged=done.status is not None)
    ended = writer.run("umount", place, timeout_s=_REPLAY_S)
    return Replay(path=path) if ended.status == 0 else Replay(why=_why(ended))


def _why(output: ToolOutput) -> str:
    said = (output.stderr.strip() or output.stdout.strip()).rpartition("\n")[2]
    return output.why_not or said or f"{output.argv[0]} failed ({output.status})"
