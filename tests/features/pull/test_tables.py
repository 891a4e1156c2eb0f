"""Partition tables of a neighbour for a new disk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from raidtui.features.pull.tables import boot_notes, parse_dump, refuse_table, table_script
from raidtui.model.plan import Refusal
from tests.lab.conftest import REQUIRE

SFDISK = shutil.which("sfdisk", path="/usr/sbin:/sbin:/usr/bin") or ""
GPT = """\
label: gpt
label-id: 65FC8C46-76A7-1C4B-BA98-D019A05A3275
device: /dev/sdb
unit: sectors
first-lba: 34
last-lba: 262110
sector-size: 512

/dev/sdb1 : start=          34, size=        2014, type=21686148-6449-6E6F-744E-656564454649, uuid=82B4E33A-AA51-4445-89DA-451CECE15867
/dev/sdb2 : start=        4096, size=       40960, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, uuid=7226F80D-2DEA-984C-8A56-8A69C86F30BF, name="EFI, x=1"
/dev/sdb5 : start=       45056, size=      215040, type=A19D880F-05FC-4D3B-A006-743F0F84911E, uuid=E98243A4-D8F0-1E44-9528-1057FC1C3FB2, attrs="GUID:63"
"""  # noqa: E501
MBR = """\
label: dos
label-id: 0x8f4e1f1a
device: /dev/nvme0n1
unit: sectors

/dev/nvme0n1p1 : start=        2048, size=       20480, type=fd, bootable
/dev/nvme0n1p2 : start=       22528, size=       40960, type=5
/dev/nvme0n1p5 : start=       24576, size=       30720, type=fd
"""


def test_identifiers_are_left_out_and_numbers_stay() -> None:
    table = parse_dump(GPT)
    assert table is not None
    assert table_script(table, "nvme1n1") == (
        "label: gpt\nunit: sectors\nfirst-lba: 34\n\n"
        "/dev/nvme1n1p1 : start=34, size=2014, type=21686148-6449-6E6F-744E-656564454649\n"
        "/dev/nvme1n1p2 : start=4096, size=40960, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B,"
        ' name="EFI, x=1"\n'
        "/dev/nvme1n1p5 : start=45056, size=215040, type=A19D880F-05FC-4D3B-A006-743F0F84911E,"
        ' attrs="GUID:63"\n'
    )


def test_a_table_of_the_old_kind() -> None:
    table = parse_dump(MBR)
    assert table is not None
    assert [(part.number, part.is_extended) for part in table.parts] == [(1, False), (2, True), (5, False)]
    assert table_script(table, "sdc") == (
        "label: dos\nunit: sectors\n\n"
        "/dev/sdc1 : start=2048, size=20480, type=fd, bootable\n"
        "/dev/sdc2 : start=22528, size=40960, type=5\n"
        "/dev/sdc5 : start=24576, size=30720, type=fd\n"
    )


@pytest.mark.parametrize(("dump", "spare"), [(GPT, 17408), (MBR, 0)])
def test_the_end_of_the_table_has_to_fit(dump: str, spare: int) -> None:
    table = parse_dump(dump)
    assert table is not None
    least = max(part.start + part.size for part in table.parts) * 512 + spare
    assert refuse_table(table, name="sdc", size_bytes=least, sector_bytes=512) is None
    refused = refuse_table(table, name="sdc", size_bytes=least - 512, sector_bytes=512)
    assert isinstance(refused, Refusal)
    assert refused.sentence == (
        f"sdc is too small for this table: {least - 512} bytes, {least} are needed (512 B more);"
        " choose a larger disk"
    )


def test_a_table_counts_in_sectors_of_one_size() -> None:
    table = parse_dump(GPT)
    assert table is not None
    refused = refuse_table(table, name="sdc", size_bytes=1 << 40, sector_bytes=4096)
    assert refused is not None
    assert refused.why == "sdc has sectors of 4096 bytes, the table counts in 512"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "label: sun\ndevice: /dev/sdb\nunit: sectors\n\n/dev/sdb1 : start=1, size=2, type=1\n",
        "label: gpt\ndevice: /dev/sdb\nunit: sectors\n",
        "label: gpt\ndevice: /dev/sdb\nunit: sectors\n\n/dev/sdb1 : start=x, size=2, type=1\n",
        "label: gpt\ndevice: /dev/sdb\nunit: sectors\n\n/dev/sdb1 : size=2, type=1\n",
        'label: gpt\ndevice: /dev/sdb\nunit: sectors\n\n/dev/sdb1 : start=1, size=2, type=1, name="x\n',
    ],
)
def test_what_is_not_understood_is_not_copied(text: str) -> None:
    assert parse_dump(text) is None


def test_what_boots_is_named_with_its_commands() -> None:
    table, old = parse_dump(GPT), parse_dump(MBR)
    assert table is not None and old is not None  # noqa: PT018  (for the checker)
    bios, esp = boot_notes(table, "sdc", "sdb")
    assert bios == (
        "/dev/sdc1 is a BIOS boot partition, and empty: grub-install /dev/sdc fills it (Debian keeps the list"
        " of disks: dpkg-reconfigure grub-pc)."
    )
    assert esp.startswith("/dev/sdc2 is an EFI system partition, and empty: mkfs.vfat -F 32 /dev/sdc2;")
    assert boot_notes(old, "nvme1n1", "nvme0n1") == (
        (
            "The table marks a partition bootable, and the boot code before it is not copied: grub-install"
            " /dev/nvme1n1 writes it."
        ),
    )


@pytest.mark.parametrize("dump", [GPT, MBR])
def test_sfdisk_takes_it_and_makes_identifiers_of_its_own(tmp_path: Path, dump: str) -> None:
    """On a file: the table that comes out has the same partitions, and no identifier of the old one."""
    if not SFDISK:
        (pytest.fail if REQUIRE else pytest.skip)("sfdisk is not installed (Debian: apt install fdisk)")
    table = parse_dump(dump)
    assert table is not None
    image = tmp_path / "sdc"
    image.touch()
    with image.open("r+b") as file:
        file.truncate(256 << 20)
    script = table_script(table, "sdc")
    subprocess.run([SFDISK, "--quiet", str(image)], input=script, text=True, check=True)
    again = subprocess.run([SFDISK, "--dump", str(image)], capture_output=True, text=True, check=True).stdout
    copied = parse_dump(again.replace(str(image), "/dev/sdc"))
    assert copied is not None
    assert copied.parts == table.parts
    assert not {"65FC8C46-76A7-1C4B-BA98-D019A05A3275", "0x8f4e1f1a"} & set(again.split())
    assert "82B4E33A" not in again
