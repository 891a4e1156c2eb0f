"""mdadm.conf is found in an initramfs as distributions make it, and nowhere else."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable

import pytest

from raidtui.host.initramfs import InitramfsError, walk_initramfs

CONF = b"ARRAY /dev/md/data UUID=01234567:89abcdef:01234567:89abcdef\n"
WANTED = ("etc/mdadm/mdadm.conf", "etc/mdadm.conf")


def entry(name: str, data: bytes = b"") -> bytes:
    """A file of a cpio archive."""
    fields = (1, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def archive(*entries: bytes) -> bytes:
    """A cpio archive, filled up to 512 bytes."""
    data = b"".join((*entries, entry("TRAILER!!!")))
    return data + b"\0" * (-len(data) % 512)


MICROCODE = archive(entry("kernel"), entry("kernel/x86/microcode/GenuineIntel.bin", b"\1" * 4099))
MAIN = archive(
    entry("bin/busybox", b"\2" * 3_000_001), entry("etc/mdadm/mdadm.conf", CONF), entry("init", b"x")
)


def found(data: bytes) -> bytes | None:
    """The last mdadm.conf, as the kernel unpacks it: a later file replaces an earlier one."""
    files = dict(walk_initramfs(io.BytesIO(data), WANTED.__contains__))
    return next((files[name] for name in WANTED if name in files), None)


@pytest.mark.parametrize(
    "packed", [bytes, gzip.compress, lzma.compress, bz2.compress], ids=["plain", "gzip", "xz", "bzip2"]
)
def test_behind_the_microcode(packed: Callable[[bytes], bytes]) -> None:
    assert found(MICROCODE + packed(MAIN)) == CONF


def test_as_dracut_names_it() -> None:
    assert found(archive(entry("./etc/mdadm.conf", CONF))) == CONF


def test_an_initramfs_without_it() -> None:
    assert (
        found(MICROCODE + gzip.compress(archive(entry("etc/fstab", CONF), entry("x/etc/mdadm.conf", CONF))))
        is None
    )
    assert found(b"") is None


def test_zstd_is_read_where_python_can() -> None:
    frame = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"  # of nothing
    why = "it ends in the middle" if sys.version_info >= (3, 14) else "which Python reads from 3.14 on"
    with pytest.raises(InitramfsError, match=why):
        found(MICROCODE + frame)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x02\x21\x4c\x18" + b"x" * 99, "it is compressed with lz4"),
        (b"MZ" + b"x" * 999, "it is not a cpio archive"),
        (gzip.compress(b"y" * 999), "it is not a cpio archive"),
        (MAIN[:2000], "it ends in the middle"),
        (b"070701" + b"z" * 104, "it is damaged: invalid literal for int() with base 16: b'zzzzzzzz'"),
    ],
    ids=["lz4", "program", "gzip-of-else", "cut", "no-numbers"],
)
def test_what_cannot_be_read_says_why(data: bytes, why: str) -> None:
    with pytest.raises(InitramfsError) as error:
        found(data)
    assert str(error.value) == why


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress, bz2.compress], ids=["gzip", "xz", "bzip2"])
def test_one_that_was_cut(packed: Callable[[bytes], bytes]) -> None:
    data = packed(MAIN)
    with pytest.raises(InitramfsError, match=r"it is damaged|it ends in the middle"):
        found(data[: len(data) // 2])


def test_a_bomb_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.host.initramfs._MOST_BYTES", 1 << 20)
    with pytest.raises(InitramfsError, match="it is too large"):
        found(gzip.compress(MAIN))
