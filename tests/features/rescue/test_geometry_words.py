"""A geometry as it is typed: whole, and nothing of it left to a default."""

from __future__ import annotations

import pytest

from raidtui.features.rescue.cli_try import read_geometry
from raidtui.features.rescue.search.results import RescueGeometry


def test_all_of_it() -> None:
    text = "level=6,layout=left-symmetric,chunk=512,offset=264192,metadata=1.1,size=4096"
    assert read_geometry(text, ["sda", "missing"]) == RescueGeometry(
        level=6,
        order=("sda", "missing"),
        layout="left-symmetric",
        chunk_bytes=512 << 10,
        data_offset_sectors=264192,
        metadata="1.1",
        size_sectors=4096,
    )


def test_the_least() -> None:
    assert read_geometry("level=1,metadata=0.90", ["sda"]) == RescueGeometry(
        level=1, order=("sda",), metadata="0.90"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "level=0, 1, 4, 5, 6 or 10"),
        ("level=7", "level=0, 1, 4, 5, 6 or 10"),
        ("level=5,offset=0,layout=la", "chunk=KIB: a default is a guess"),
        ("level=5,offset=0,chunk=64", "layout=: a default is a guess"),
        ("level=5,layout=la,chunk=64", "offset=SECTORS: a default is a guess"),
        ("level=5,level=6", "each once"),
        ("level", "each once"),
        ("level=1,offset=x", "offset=x is not a number"),
        ("level=1,metadata=2", "metadata '2' is not one of"),
    ],
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("'", ".")):
        read_geometry(text, ["sda", "sdb", "sdc"])
