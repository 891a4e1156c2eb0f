"""A device is held while it is written to, and let go."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from raidtui.features.bench.run.stage import Holder


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def test_held_and_let_go() -> None:
    holder = Holder()
    assert (holder.take("null"), holder.name) == ("", "null")
    first = holder._number
    assert Path(f"/proc/self/fd/{first}").readlink() == Path("/dev/null")
    assert not os.get_inheritable(first)
    assert (holder.take("null"), holder._number) == ("", first)
    assert (holder.take("zero"), holder.name) == ("", "zero")
    assert Path(f"/proc/self/fd/{holder._number}").readlink() == Path("/dev/zero")
    holder.let_go()
    assert (holder.name, is_open(first)) == ("", False)
    holder.let_go()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (errno.EBUSY, "sda is in use now; nothing more is written to it"),
        (errno.ENOENT, "sda cannot be opened exclusively: No such file or directory"),
    ],
)
def test_what_cannot_be_held(monkeypatch: pytest.MonkeyPatch, code: int, why: str) -> None:
    holder = Holder()
    assert holder.take("null") == ""

    def fails(path: str, flags: int) -> int:
        assert (path, bool(flags & os.O_EXCL)) == ("/dev/sda", True)
        raise OSError(code, os.strerror(code), path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fails)
        assert holder.take("sda") == why
    assert holder.name == ""
