"""The key of what is encrypted, and what it opens. How it comes to a worker: ``raidtui.jobs.key_pipe``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from raidtui.features.rescue.trial.trial_request import map_path
from raidtui.jobs.patient_tool import run_patiently

_NO_KEY = 2
"""The exit status of cryptsetup where no keyslot opens (cryptsetup(8), RETURN CODES)."""


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
        return Opening(words="the passphrase did not come, so what is encrypted was not looked at")
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
        return Opening(words=f"{words}; what is encrypted was not looked at")
    if end.missing:
        words = "cryptsetup is not installed (apt install cryptsetup-bin)"
    else:
        words = f"cryptsetup could not open it: {end.why or end.tail.rpartition(chr(10))[2]}"
    return Opening(words=f"{words}; what is encrypted was not looked at")
