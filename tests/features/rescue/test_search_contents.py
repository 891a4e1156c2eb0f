"""What may stand on an array: XFS, btrfs, partitions, LVM; and the superblocks that are left."""

import random
import struct
import zlib
from pathlib import Path

import pytest

from raidtui.features.rescue.search.crc32c import SEED, crc32c
from raidtui.features.rescue.search.find_geometry import SearchRequest
from raidtui.features.rescue.search.members import SearchCancelledError, SearchStage, SearchWatch
from raidtui.features.rescue.search.results import CheckResult, SearchCandidate, SearchOutcome
from raidtui.features.rescue.session_search import search_geometry
from raidtui.model.geometry import MISSING
from raidtui.model.survey import Superblock
from tests.features.rescue.images import disk, ext4, search, xfs
from tests.features.rescue.striping import MIB, write_members

ORDER = [2, 0, 3, 1]
NAMES = ("m2", "m0", "m3", "m1")


def found(tmp_path: Path, content: bytes, size: int = 32 * MIB) -> SearchCandidate:
    """Search on a RAID 5 of four with this content; the truth is first and alone."""
    paths = write_members(tmp_path, content, level=5, layout="left-symmetric", order=ORDER, size=size)
    result = search(paths)
    assert result.outcome is SearchOutcome.UNIQUE, result
    first = result.candidates[0]
    assert first.geometry.order == NAMES
    assert (first.geometry.chunk_bytes, first.geometry.data_offset_sectors) == (65536, 2048)
    assert first.proof.check is CheckResult.CLEAN
    return first


def test_the_checksum_is_castagnolis() -> None:
    assert crc32c(SEED, b"123456789") ^ SEED == 0xE3069283
    whole = random.Random(1).randbytes(1001)
    assert crc32c(crc32c(SEED, whole[:333]), whole[333:]) == crc32c(SEED, whole)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("-b", "4096"), id="4k"),
        pytest.param(("-O", "^metadata_csum,uninit_bg"), id="old-checksums"),
        pytest.param(("-O", "^metadata_csum,^uninit_bg,^extent,^64bit"), id="no-checksums"),
        pytest.param(("-I", "128", "-O", "^flex_bg"), id="small-inodes"),
    ],
)
def test_kinds_of_ext4(base: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    kind = "ext3" if "^extent" in options[-1] else "ext4"
    assert found(tmp_path, ext4(base, *options)).proof.contents == kind


def test_xfs(base: Path, tmp_path: Path) -> None:
    assert found(tmp_path, xfs(base), size=120 * MIB).proof.contents == "xfs"


def test_a_partition(base: Path, tmp_path: Path) -> None:
    first = found(tmp_path, disk(tmp_path, "gpt", ext4(base)))
    assert first.proof.contents == "gpt"
    assert "ext4" in first.proof.sure


def test_a_file_system_whose_partition_table_is_lost(base: Path, tmp_path: Path) -> None:
    first = found(tmp_path, bytes(MIB) + ext4(base))
    assert first.proof.contents == "ext4"


@pytest.mark.parametrize("indent", [b"\t", b""], ids=["as-vgcfgbackup", "as-on-disk"])
def test_a_logical_volume_in_two_pieces(base: Path, tmp_path: Path, indent: bytes) -> None:
    pieces = [(0, 4, 9), (4, 8, 0)]  # extents of 4 MiB: first in the volume, how many, first on the disk
    candidate = found(tmp_path, _physical_volume(ext4(base), pieces, indent))
    assert candidate.proof.contents == "LVM2_member"
    assert "blocks of LVM and ext4 are right" in candidate.proof.sure


def test_a_logical_volume_is_not_taken_for_the_array(base: Path, tmp_path: Path) -> None:
    """Its first extent is a whole number of rows behind the start: the array could begin there as well."""
    content = _physical_volume(ext4(base), [(0, 12, 0)], b"")
    paths = write_members(
        tmp_path, content, level=4, layout="", order=[1, 3, 4, 0, 2], chunk=32 << 10, offset=0, size=28 * MIB
    )
    result = search([path for number, path in enumerate(paths) if number != 2])
    assert result.outcome is SearchOutcome.UNIQUE, result.text
    first = result.candidates[0]
    assert (first.proof.check, first.proof.contents) == (CheckResult.CLEAN, "LVM2_member")
    assert (first.geometry.chunk_bytes, first.geometry.data_offset_sectors) == (32 << 10, 0)
    assert first.geometry.order == ("m1", "m3", "m4", "m0")
    assert (4, ("m1", "m3", "m4", "m0", MISSING)) in {(each.level, each.order) for each in first.same}


def _physical_volume(system: bytes, pieces: list[tuple[int, int, int]], indent: bytes) -> bytes:
    """A physical volume with a file system in a logical volume; its pieces are those of ``_metadata``."""
    content = bytearray(80 * MIB)
    own = b"AbCdEf1234567890abcdefGHIJKLmnop"
    label = bytearray(512)
    label[:8] = b"LABELONE"
    struct.pack_into("<Q", label, 8, 1)
    struct.pack_into("<I", label, 20, 32)
    label[24:32] = b"LVM2 001"
    label[32:64] = own
    struct.pack_into("<QQQQQQQQQ", label, 64, 80 * MIB, MIB, 0, 0, 0, 4096, MIB - 4096, 0, 0)
    content[512:1024] = label
    text = _metadata(own.decode(), pieces).encode().replace(b"\t", indent)
    area = bytearray(512)
    area[4:20] = b" LVM2 x[5A%r0N*>"
    struct.pack_into("<IQQ", area, 20, 1, 4096, MIB - 4096)
    crc = zlib.crc32(text, 0xF597A6CF ^ SEED) ^ SEED
    struct.pack_into("<QQII", area, 40, 512, len(text), crc, 0)
    content[4096 : 4096 + 512] = area
    content[4608 : 4608 + len(text)] = text
    for first, count, at in pieces:
        part = system[first * 4 * MIB : (first + count) * 4 * MIB]
        content[MIB + at * 4 * MIB : MIB + at * 4 * MIB + len(part)] = part
    return bytes(content)


def _metadata(own: str, pieces: list[tuple[int, int, int]]) -> str:
    identity = "-".join((own[:6], own[6:10], own[10:14], own[14:18], own[18:22], own[22:26], own[26:]))
    segments = "".join(
        f"\n\t\t\tsegment{number} {{\n\t\t\t\tstart_extent = {first}\n"
        f"\t\t\t\textent_count = {count}\t# 16 Megabytes\n\n"
        '\t\t\t\ttype = "striped"\n\t\t\t\tstripe_count = 1\t# linear\n\n'
        f'\t\t\t\tstripes = [\n\t\t\t\t\t"pv0", {at}\n\t\t\t\t]\n\t\t\t}}\n'
        for number, (first, count, at) in enumerate(pieces, 1)
    )
    return (
        'box {\nid = "x"\nseqno = 2\nextent_size = 8192\t\t# 4 Megabytes\n\n'
        "\tphysical_volumes {\n\n\t\tpv0 {\n"
        f'\t\t\tid = "{identity}"\n\t\t\tdevice = "/dev/md0"\n\n\t\t\tpe_start = 2048\n\t\t}}\n\t}}\n\n'
        '\tlogical_volumes {\n\n\t\thome {\n\t\t\tid = "y"\n\t\t\tsegment_count = 2\n'
        f"{segments}\t\t}}\n\t}}\n\n}}\n"
    )


def test_btrfs(tmp_path: Path) -> None:
    """Superblocks and three levels of trees, written by hand: nothing here may have mkfs.btrfs."""
    content = bytearray(random.Random(3).randbytes(90 * MIB))  # parity of zeros would be a copy
    identity = bytes(range(16))
    system, metadata = 8 * MIB, 16 * MIB

    def put(start: int, block: bytearray) -> None:
        struct.pack_into("<I", block, 0, crc32c(SEED, bytes(block[32:])) ^ SEED)
        content[start : start + len(block)] = block

    def leaf(logical: int, owner: int, items: list[tuple[int, int, int, bytes]]) -> bytearray:
        block = bytearray(16384)
        block[32:48] = identity
        struct.pack_into("<Q", block, 48, logical)
        struct.pack_into("<QIB", block, 88, owner, len(items), 0)
        end = 16384 - 101
        for index, (objectid, kind, offset, data) in enumerate(items):
            end -= len(data)
            struct.pack_into("<QBQII", block, 101 + 25 * index, objectid, kind, offset, end, len(data))
            block[101 + end : 101 + end + len(data)] = data
        return block

    def chunk(start: int, length: int, kind: int) -> bytes:
        head = struct.pack("<QQQQIIIHH", length, 2, 65536, kind, 4096, 4096, 4096, 1, 0)
        return head + struct.pack("<QQ", 1, start) + bytes(16)

    chunks = [
        (256, 228, system, chunk(system, 8 * MIB, 2)),
        (256, 228, metadata, chunk(metadata, 32 * MIB, 4)),
    ]
    put(system, leaf(system, 3, chunks))
    roots = []
    for number in range(60):
        logical = metadata + MIB + number * 500 * 1024 // 16384 * 16384
        put(logical, leaf(logical, 5 + number, []))
        item = bytearray(239)
        struct.pack_into("<Q", item, 176, logical)
        roots.append((5 + number, 132, 0, bytes(item)))
    put(metadata, leaf(metadata, 1, roots))
    array = struct.pack("<QBQ", 256, 228, system) + chunk(system, 8 * MIB, 2)
    for at in (64 << 10, 64 * MIB):
        block = bytearray(4096)
        block[32:48] = identity
        struct.pack_into("<Q", block, 48, at)
        block[64:72] = b"_BHRfS_M"
        struct.pack_into("<QQ", block, 80, metadata, system)
        struct.pack_into("<I", block, 148, 16384)
        struct.pack_into("<I", block, 160, len(array))
        struct.pack_into("<QQ", block, 201, 1, 90 * MIB)
        block[811 : 811 + len(array)] = array
        put(at, block)
    first = found(tmp_path, bytes(content))
    assert first.proof.contents == "btrfs"
    assert "65 blocks of btrfs are right" in first.proof.sure


def _superblock(slot: int, created_s: float) -> Superblock:
    return Superblock(
        uuid="1:2:3:4",
        level="raid5",
        raid_disks=4,
        metadata="1.2",
        slot=slot,
        offset_sectors=2048,
        chunk_bytes=65536,
        created_s=created_s,
    )


def _with_superblocks(tmp_path: Path, created_s: float) -> tuple[SearchOutcome, int, tuple[str, ...]]:
    """Search on content that ties, with the superblocks of two members."""
    content = bytearray(40 * MIB)
    content[:8] = b"LUKS\xba\xbe\0\1"
    content[4096:] = random.Random(7).randbytes(len(content) - 4096)
    paths = write_members(
        tmp_path, bytes(content), level=5, layout="left-symmetric", order=[0, 1, 2, 3], size=16 * MIB
    )
    recorded = {"m0": _superblock(0, created_s), "m2": _superblock(2, created_s)}
    free = search_geometry([str(path) for path in paths], SearchRequest())
    kept = search_geometry([str(path) for path in paths], SearchRequest(superblocks=recorded))
    assert kept.alike < free.alike
    orders = {candidate.geometry.order[0::2] for candidate in kept.candidates if candidate.best}
    assert orders == {("m0", "m2")}
    return kept.outcome, kept.alike, kept.text


def test_superblocks_that_are_left_decide_a_tie_as_far_as_they_go(tmp_path: Path) -> None:
    outcome, alike, text = _with_superblocks(tmp_path, 1.0)
    assert (outcome, alike > 1) == (SearchOutcome.TIED, True)  # the layout and two slots are still open
    assert any(line.startswith("The superblocks of m0 and m2 decide between ") for line in text)


def test_a_search_can_be_ended(base: Path, tmp_path: Path) -> None:
    paths = write_members(tmp_path, ext4(base), level=5, layout="left-symmetric", order=ORDER)
    seen: list[SearchStage] = []
    watch = SearchWatch(lambda stage, _done, _total: seen.append(stage))
    assert search_geometry([str(path) for path in paths], None, watch).outcome is SearchOutcome.UNIQUE
    assert set(seen) == set(SearchStage)
    for stage in SearchStage:
        reached: list[SearchStage] = []
        ending = SearchWatch(
            lambda now, _done, _total, reached=reached: reached.append(now),  # type: ignore[misc]
            lambda stage=stage, reached=reached: stage in reached,  # type: ignore[misc]
        )
        with pytest.raises(SearchCancelledError):
            search_geometry([str(path) for path in paths], None, ending)


def test_a_bad_sector_is_told_and_does_not_end_the_search(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_members(tmp_path, ext4(base), level=5, layout="left-symmetric", order=ORDER)
    import os  # noqa: PLC0415

    real = os.pread
    bad = os.stat(paths[0]).st_ino  # noqa: PTH116

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        if os.fstat(descriptor).st_ino == bad and offset <= 5 * MIB < offset + length:
            raise OSError(5, "Input/output error")
        return real(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", pread)
    result = search(paths)
    assert result.candidates[0].geometry.order == NAMES
    assert "m0: not everything can be read. Copy it first." in result.text
