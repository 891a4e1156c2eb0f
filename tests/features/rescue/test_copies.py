"""Copies: ddrescue's map file, and the plan of a copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidtui.features.rescue.copies import CopyProgress, find_other_source, read_map
from raidtui.features.rescue.copy_plan import CopyRequest, ImageFile, plan_copy
from raidtui.jobs.job_kinds import COPY_FILE
from raidtui.jobs.store import Job
from raidtui.model.disk import Use
from raidtui.model.plan import Harm, Plan, Refusal
from raidtui.model.survey import Superblock
from tests.plans.new_array import GIB, MOUNT, UUID, device, survey

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
IMAGE = ImageFile(path="/srv/sda.img", room_bytes=200 * GIB)


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


def request(target: str | ImageFile = IMAGE, **more: Any) -> CopyRequest:
    return CopyRequest(**{"source": "sda", "target": target, "map_path": "/srv/sda.img.map", **more})


def test_to_a_file() -> None:
    made = plan_copy(survey(device("sda")), request())
    assert isinstance(made, Plan)
    assert (made.harm, made.losses, made.confirm, made.devices) == (Harm.HARMLESS, (), "", ("sda",))
    assert [step.command for step in made.steps] == [
        "mkdir -p /srv",
        "ddrescue --no-scrape /dev/sda /srv/sda.img /srv/sda.img.map",
        "ddrescue --idirect --retry-passes=3 /dev/sda /srv/sda.img /srv/sda.img.map",
        "sync /srv/sda.img",
    ]


def test_to_a_disk_it_is_confirmed() -> None:
    made = plan_copy(survey(device("sda"), device("sdb")), request("sdb"))
    assert isinstance(made, Plan)
    assert (made.harm, made.confirm, made.devices) == (Harm.DESTROYS, "S-sdb", ("sda", "sdb"))
    assert made.steps[1].argv[:2] == ("ddrescue", "--force")
    assert {fact.subject for fact in made.steps[1].needs} == {"sda", "sdb"}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"installed": False}, "ddrescue is not installed; apt install gddrescue"),
        ({"source": "sdx"}, "there is no device sdx"),
        ({"target": "sda"}, "sda is on the disk to be copied"),
        (
            {"target": "sdc"},
            "sdc is too small: 50 GiB, sda has 100 GiB; choose a disk that is at least as large",
        ),
        ({"target": "sdd"}, "sdd is in use: ext4 mounted at /srv; choose a free device"),
        (
            {"source": "sdd"},
            "sdd is in use: ext4 mounted at /srv; unmount it first: the copy misses what",
        ),
        ({"map_path": ""}, "a disk has no serial number to find its map file by"),
        (
            {"map_there": True, "other": "sdb (S-9)"},
            "/srv/sda.img.map belongs to a copy of another disk: sdb (S-9)",
        ),
        (
            {"target": ImageFile(path="/srv/x", room_bytes=200 * GIB, there=True)},
            "/srv/x is there, and /srv/sda.img.map is not: it is another file",
        ),
        ({"target": ImageFile(path="/srv/x", room_bytes=GIB)}, "there is no room for /srv/x: 1 GiB free"),
        ({"target": ImageFile(path="/none/x", room_bytes=None)}, "there is no folder for /none/x"),
        ({"target": ImageFile(path="/dev/sdq", room_bytes=0)}, "there is no device /dev/sdq"),
    ],
)
def test_refused(more: dict[str, Any], sentence: str) -> None:
    mounted = Use(kind="mount", what=MOUNT.what, detail=MOUNT.detail)
    host = survey(device("sda"), device("sdc", size_bytes=50 * GIB), device("sdd", mounted))
    made = plan_copy(host, request(**more))
    assert isinstance(made, Refusal)
    assert made.sentence.startswith(sentence)


def block(device_uuid: str, slot: int) -> Superblock:
    return Superblock(uuid=UUID, device_uuid=device_uuid, name="nas:data", slot=slot, events=7)


@pytest.mark.parametrize("map_there", [False, True])
def test_a_member_at_rest_is_no_target(*, map_there: bool) -> None:
    """Not even with a map file: it is of another copy, or the target was mistaken for another."""
    host = survey(device("sda", superblock=block("a", 0)), device("sdb", superblock=block("b", 1)))
    made = plan_copy(host, request("sdb", map_there=map_there))
    assert isinstance(made, Refusal)
    assert made.sentence.startswith("sdb may be a member: it has a superblock of data, which does not run;")


def test_the_copy_itself_is_no_other_member() -> None:
    host = survey(device("sda", superblock=block("a", 0)), device("sdb", superblock=block("a", 0)))
    assert isinstance(plan_copy(host, request("sdb", map_there=True)), Plan)
    assert isinstance(plan_copy(host, request("sdb")), Refusal)


def test_a_copy_that_was_cut_short_goes_on() -> None:
    there = ImageFile(path="/srv/sda.img", room_bytes=0, there=True)
    assert isinstance(plan_copy(survey(device("sda")), request(there, map_there=True)), Plan)


@pytest.mark.parametrize(
    ("map_path", "identity", "other"),
    [
        ("/srv/sda.img.map", "S-sda", ""),
        ("/srv/sda.img.map", "S-9", "sda (S-sda)"),
        ("/srv/sda.img.map", "", "sda (S-sda)"),
        ("/srv/sdb.img.map", "S-9", ""),
    ],
)
def test_whose_a_map_file_is(
    map_path: str, identity: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the serial number of the disk that an earlier copy has read."""
    monkeypatch.setattr("raidtui.jobs.store.journal_path", lambda: tmp_path / "lib" / "journal.jsonl")
    made = plan_copy(survey(device("sda")), request())
    assert isinstance(made, Plan)
    (Job.create(made, host="nas").folder / COPY_FILE).write_text("{}\n")
    Job.create(made, host="nas")  # of another kind: it says nothing of copies
    assert find_other_source(map_path, identity) == other
