"""From a stretch of an array up to what lies on it, by what the kernel and the tools say."""

from collections.abc import Mapping

import pytest

from raidtui.features.rescue.mismatch.block_owners import find_ext_owners, find_xfs_owners
from raidtui.features.rescue.mismatch.layers import LaidStretch, Layers
from raidtui.features.rescue.mismatch.mismatch_records import (
    ContentKind,
    Mismatch,
    MismatchPart,
    MismatchVerdict,
    PartRole,
)
from raidtui.features.rescue.mismatch.what_lies_there import add_contents
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import ToolOutput, output_path

BLOCK = "/sys/class/block"


def tree(
    *,
    kind: str = "",
    table: str = "",
    holders: Mapping[str, tuple[str, str, str]] | None = None,
    parts: bool = False,
) -> MemoryReader:
    """A host with an array of 100,000 sectors; ``holders``: name, uuid and table of each map."""
    files = {
        f"{BLOCK}/md127/dev": "9:127\n",
        f"{BLOCK}/md127/size": "100000\n",
        "/run/udev/data/b9:127": f"E:ID_FS_TYPE={kind}\nE:ID_PART_TABLE_TYPE={table}\n",
    }
    for number, (device, (name, uuid, text)) in enumerate((holders or {}).items()):
        files[f"{BLOCK}/md127/holders/{device}/dev"] = ""
        files[f"{BLOCK}/{device}/dm/name"] = name
        files[f"{BLOCK}/{device}/dm/uuid"] = uuid
        files[f"{BLOCK}/{device}/dev"] = f"253:{number}\n"
        files[f"/run/udev/data/b253:{number}"] = "E:ID_FS_TYPE=ext4\n"
        files[output_path(("dmsetup", "table", name))] = f"exit 0\n{text}\n"
    if parts:
        for number, start in ((1, 2048), (2, 52_048)):
            node = f"{BLOCK}/md127/md127p{number}"
            files |= {f"{node}/partition": "1", f"{node}/start": str(start), f"{node}/size": "20000"}
            files[f"{BLOCK}/md127p{number}/dev"] = f"259:{number}\n"
            files[f"/run/udev/data/b259:{number}"] = "E:ID_FS_TYPE=xfs\n"
    return MemoryReader(files)


def laid(root: MemoryReader, first: int, sectors: int) -> list[LaidStretch]:
    return list(Layers(root).grounds("md127", first, sectors))


def test_partitions_and_what_is_beside_them() -> None:
    """A stretch over all of it: the table, a gap, both partitions, and the table's copy at the end."""
    found = laid(tree(table="gpt", parts=True), 0, 100_000)
    assert [(each.device, each.first, each.sectors, each.array_sector) for each in found] == [
        ("md127", 0, 34, 0),
        ("md127", 34, 2014, 34),
        ("md127p1", 0, 20_000, 2048),
        ("md127", 22_048, 30_000, 22_048),
        ("md127p2", 0, 20_000, 52_048),
        ("md127", 72_048, 27_919, 72_048),
        ("md127", 99_967, 33, 99_967),
    ]
    kinds = [each.kind for each in found]
    assert kinds == [
        ContentKind.TABLE,
        ContentKind.FREE,
        None,
        ContentKind.FREE,
        None,
        ContentKind.FREE,
        ContentKind.TABLE,
    ]
    assert (found[2].volumes, found[2].file_system) == (("partition md127p1",), "xfs")


def test_a_volume_in_two_pieces() -> None:
    """The second piece of the volume lies before the first."""
    text = "0 4096 linear 9:127 20480\n4096 2048 linear 9:127 2048\n6144 8 linear 8:16 2048"
    root = tree(kind="LVM2_member", holders={"dm-0": ("vg--x-da--ta", "LVM-abc", text)})
    first, second = laid(root, 20_480, 10)[0], laid(root, 2050, 3)[0]
    assert (first.device, first.first, first.volumes) == ("dm-0", 0, ("volume vg-x/da-ta",))
    assert (second.first, second.sectors, second.array_sector) == (4098, 3, 2050)


@pytest.mark.parametrize(
    ("kind", "holders", "first", "expected", "words"),
    [
        ("crypto_LUKS", {}, 9, ContentKind.ENCRYPTED, "without the key"),
        ("swap", {}, 9, ContentKind.SWAP, "swap space"),
        ("", {}, 9, ContentKind.NOT_KNOWN, "no file system known to udev"),
        ("linux_raid_member", {}, 9, ContentKind.NOT_KNOWN, "a member of another array"),
        (
            "crypto_LUKS",
            {"dm-0": ("open", "CRYPT-LUKS2-abc", "0 60000 crypt aes-xts-plain64 :64:logon:x 0 9:127 32768")},
            100,
            ContentKind.METADATA,
            "the header of LUKS",
        ),
        (
            "LVM2_member",
            {"dm-0": ("vg-pool", "LVM-abc", "0 60000 striped 2 128 9:127 2048 8:16 2048")},
            5000,
            ContentKind.NOT_KNOWN,
            "volume vg/pool (target striped)",
        ),
    ],
)
def test_what_no_file_system_says(
    kind: str, holders: Mapping[str, tuple[str, str, str]], first: int, expected: ContentKind, words: str
) -> None:
    (found,) = laid(tree(kind=kind, holders=holders), first, 4)
    assert found.kind is expected
    assert words in found.text


_PVS = ("pvs", "--noheadings", "--nosuffix", "--units", "s", "--separator", ",", "--readonly")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("timed-out\npvs did not answer within 30 s", "pvs did not answer within 30 s"),
        ("exit 5\n", "pvs failed (5)"),
        ("exit 0\n  2048,vg\n", "lvs was not run for this capture"),
    ],
)
def test_where_lvm_is_silent_nothing_is_called_free(said: str, words: str) -> None:
    root = tree(kind="LVM2_member")
    root.put(output_path((*_PVS, "--options", "pe_start,vg_name", "/dev/md127")), said)
    (found,) = laid(root, 5000, 4)
    assert (found.kind, found.text) == (
        ContentKind.NOT_KNOWN,
        f"LVM does not report what lies there: {words}",
    )


def test_through_an_opened_mapping() -> None:
    text = "0 60000 crypt aes-xts-plain64 :64:logon:x 0 9:127 32768 1 allow_discards"
    root = tree(kind="crypto_LUKS", holders={"dm-0": ("open", "CRYPT-LUKS2-abc", text)})
    (found,) = laid(root, 32_800, 8)
    assert (found.device, found.first, found.file_system) == ("dm-0", 32, "ext4")
    assert found.volumes == ("opened mapping open",)


class Answering(MemoryReader):
    """A host whose tools answer as given."""

    def __init__(self, answers: Mapping[str, tuple[str, str]]) -> None:
        super().__init__({f"{BLOCK}/md127/dev": "9:127\n", "/run/udev/data/b9:127": "E:ID_FS_TYPE=ext4\n"})
        self.answers = answers

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s
        key = next((key for key in self.answers if key in " ".join(argv) + stdin), None)
        out, err = self.answers[key] if key is not None else ("", "")
        return ToolOutput(argv=argv, status=0 if key is not None else 1, stdout=out, stderr=err)


ICHECK = "Block\tInode number\n10\t<block not found>\n11\t8\n12\t14\n13\t2\n14\t<block not found>\n"
ANSWERS = {
    "dumpe2fs": ("Block size:               1024\n", ""),
    "icheck": (ICHECK, "debugfs 1.47\n"),
    "ncheck": ("Inode\tPathname\n14\t//one\n14\t/a b/two\n99\t/else\n", ""),
    "testb": ("debugfs: testb 10 1\nBlock 10 marked in use\ndebugfs: testb 14 1\nBlock 14 not in use\n", ""),
}


def test_the_owners_of_blocks_of_ext4() -> None:
    size, owners = find_ext_owners(Answering(ANSWERS), "md127", [(10 << 10, 15 << 10)])
    assert size == 1024
    assert not isinstance(owners, str)
    assert {block: (owner.kind, owner.paths) for block, owner in owners.items()} == {
        10: (ContentKind.METADATA, ()),
        11: (ContentKind.METADATA, ()),
        12: (ContentKind.FILE, ("/one", "/a b/two")),
        13: (ContentKind.FILE, ("/",)),
        14: (ContentKind.FREE, ()),
    }


def test_a_file_system_that_is_damaged_is_no_reason_to_guess() -> None:
    """Debugfs ends with 0 although it has not seen all inodes: a block without an owner may have one."""
    answers = ANSWERS | {
        "icheck": (ICHECK, "icheck: Inode checksum does not match inode while doing inode scan\n"),
        "ncheck": (
            ANSWERS["ncheck"][0],
            "ncheck: Inode checksum does not match inode while doing inode scan\n",
        ),
    }
    _, owners = find_ext_owners(Answering(answers), "md127", [(10 << 10, 15 << 10)])
    assert not isinstance(owners, str)
    assert owners[10].kind is ContentKind.NOT_KNOWN
    assert "could not read all folders" in owners[12].text
    assert owners[14].kind is ContentKind.FREE  # the bitmap says so


def test_a_tool_that_fails_leaves_it_open() -> None:
    part = MismatchPart(device="sda", slot=0, role=PartRole.COPY, first_sector=2058, array_sector=10)
    stretch = Mismatch(verdict=MismatchVerdict.NOT_KNOWN, sectors=2, bytes_differ=9, parts=(part,))
    (found,) = add_contents(Answering({}), "md127", [stretch])
    (lies,) = found.contents
    assert (lies.kind, lies.array_sector, lies.sectors) == (ContentKind.NOT_KNOWN, 10, 2)
    assert lies.text == "dumpe2fs does not read the file system: exit status 1"


def test_the_owners_of_blocks_of_xfs() -> None:
    said = (
        "block 5 (0/5) type free2\nblock 6 (0/6) type data inode 131 a b/c\nblock 9 (0/9) type inode\n"
        "block 40 (1/8) type log\n"
    )
    answers = {"blockget": (said, ""), "blocksize": ("blocksize = 4096\n", "")}
    size, owners = find_xfs_owners(
        Answering(answers), "md127", [(5 * 4096, 7 * 4096), (9 * 4096, 9 * 4096 + 1), (40 * 4096, 41 * 4096)]
    )
    assert size == 4096
    assert not isinstance(owners, str)
    assert [owner.kind for owner in owners.values()] == [
        ContentKind.FREE,
        ContentKind.FILE,
        ContentKind.METADATA,
        ContentKind.METADATA,
    ]
    assert owners[6].paths == ("/a b/c",)
    answers = {"blockget": (said[:40], "xfs_db: cannot read"), "blocksize": ("blocksize = 4096\n", "")}
    _, why = find_xfs_owners(Answering(answers), "md127", [(5 * 4096, 7 * 4096)])
    assert why == "xfs_db does not report who owns the blocks: xfs_db: cannot read"
