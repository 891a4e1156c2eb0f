"""ddrescue's map file: what was read, and what could not be."""

from __future__ import annotations

from raidtui.features.rescue.copies import CopyProgress, read_map

MAP = """\
# Mapfile. Created by GNU ddrescue version 1.27
# Command line: ddrescue --no-scrape /dev/sda /srv/sda.img /srv/sda.img.map
0x002F0000     ?               1
#      pos        size  status
0x00000000  0x00300000  +
0x00300000  0x00001000  -
0x00301000  0x00001000  *
0x00302000  0x00000200  -
0x00302200  0x000FDE00  ?
"""


def test_a_map() -> None:
    found = read_map(MAP)
    assert found == CopyProgress(
        read_bytes=0x300000, bad_bytes=0x1200, bad_places=2, left_bytes=0x1000 + 0xFDE00
    )
    assert found.words == "75 % copied, 3 MiB; 4.5 KiB in 2 places could not be read"


def test_what_is_none() -> None:
    assert read_map("") is None
    assert read_map("a b c\nd x f\n") is None
    assert read_map("0 ? 1\n") == CopyProgress()
    assert CopyProgress().percent == 0
