"""What is written down of arrays, in a search; and ties, which no trial decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.app.cli import run
from raidtui.features.rescue.hints import read_hints, superblock_of
from raidtui.features.rescue.search.results import (
    ArrayHint,
    CheckResult,
    Proof,
    RescueGeometry,
    SearchCandidate,
    SearchOutcome,
    SearchResult,
    order_by_hints,
)
from raidtui.features.rescue.session import read_captured_hints, read_facts
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.opening import open_root
from raidtui.jobs.store import Job
from raidtui.model.disk import Disk
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Plan, RunTool
from tests.hosts.wrecks import WRECKED

UUID = "01234567:89abcdef:01234567:89abcdef"
EXAMINE = """\
/dev/{name}:
          Magic : a92b4efc
        Version : 1.2
    Feature Map : 0x0
     Array UUID : 01234567:89abcdef:01234567:89abcdef
           Name : nas:data  (local to host nas)
  Creation Time : Sun Nov 22 12:00:00 2026
     Raid Level : raid5
   Raid Devices : 3

 Avail Dev Size : 260096 sectors (127.00 MiB 133.17 MB)
     Array Size : 260096 KiB (254.00 MiB 266.34 MB)
    Data Offset : 2048 sectors
   Super Offset : 8 sectors
          State : clean
         Events : 17
         Layout : left-symmetric
     Chunk Size : 64K

   Device Role : Active device {slot}
   Array State : AAA ('A' == active, '.' == missing, 'R' == replacing)
"""
CONF = f"ARRAY /dev/md/data metadata=1.2 level=raid5 num-devices=3 UUID={UUID} name=nas:data\n"
HINT = ArrayHint(
    source="black box",
    uuid=UUID,
    slots={"sdb": 0, "sda": 1},
    raid_disks=3,
    level="raid5",
    layout="left-symmetric",
    chunk_bytes=65536,
    data_offset_sectors=2048,
)
GEOMETRY = RescueGeometry(
    level=5,
    layout="left-symmetric",
    chunk_bytes=64 << 10,
    data_offset_sectors=2048,
    order=("sda", "sdb", "sdc"),
)
OTHER = replace(GEOMETRY, order=("sdb", "sda", "sdc"))
PROOF = Proof(check=CheckResult.CLEAN)
WARNING = (
    ": a check may find nothing wrong in any of them. Compare file contents before you choose:"
    " raidtui rescue try rebuild-superblocks --hashes."
)


def job(folder: Path, name: str, slot: int, serial: str, *, listed: bool = False) -> Job:
    """A job with a black box of one member; its serial is in its plan, or only in the list of disks."""
    facts = (Fact(kind=FactKind.SERIAL, subject=name, value=serial),) if not listed else ()
    step = RunTool(argv=("mdadm", "--zero-superblock", f"/dev/{name}"), why="", needs=facts)
    made = Job.create(Plan(title="zero: data", subject="data", steps=(step,)), host="nas", folder=folder)
    box = made.folder / "blackbox"
    box.mkdir()
    (box / f"examine-{name}.txt").write_text(EXAMINE.format(name=name, slot=slot))
    disks = [{"name": name, "serial": serial}] if listed else []
    (box / "lsblk.json").write_text(json.dumps({"blockdevices": disks}))
    return made


def disk(name: str, serial: str) -> Disk:
    return Disk(name=name, disk=name, serial=serial)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Black boxes of three members, which had other names then; of S1 there is an older one, too."""
    jobs = [
        job(tmp_path, "sdc", 0, "S1"),
        job(tmp_path, "sda", 1, "S1"),
        job(tmp_path, "sdb", 0, "S2", listed=True),
        job(tmp_path, "sdx", 2, "S9"),
    ]
    monkeypatch.setattr("raidtui.features.rescue.hints.all_jobs", lambda: jobs)
    return jobs


@pytest.mark.usefixtures("kept")
def test_disks_are_known_by_their_serial_numbers() -> None:
    (hint,) = read_hints(MemoryReader({}), [disk("sdd", "S1"), disk("sde", "S2"), disk("sdf", "S3")])
    assert hint.order == ("sde", "sdd", "missing")
    assert (hint.level, hint.layout, hint.chunk_bytes, hint.data_offset_sectors, hint.metadata) == (
        *("raid5", "left-symmetric", 65536, 2048, "1.2"),
    )
    assert hint.words.startswith("black box of 20")
    assert hint.words.endswith(
        "the array data: raid5, 3 slots, left-symmetric, chunk 64 KiB, data offset 2048 sectors, sde was slot"
        " 0, sdd was slot 1."
    )


def test_mdadm_conf_and_its_backups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.rescue.hints.all_jobs", list)
    old = "89abcdef:01234567:89abcdef:01234567"
    root = MemoryReader(
        {
            "/etc/mdadm/mdadm.conf": CONF,
            "/etc/mdadm/mdadm.conf.20261122-1.bak": CONF + f"ARRAY /dev/md/old UUID={old}\n",
            "/etc/mdadm/other": f"ARRAY /dev/md/x UUID={UUID}\n",
        }
    )
    assert [hint.words for hint in read_hints(root, [])] == [
        "/etc/mdadm/mdadm.conf, line 1: the array data: raid5, 3 slots.",
        "/etc/mdadm/mdadm.conf.20261122-1.bak, line 2: the array old: nothing more.",
    ]


def test_what_is_no_superblock_says_nothing() -> None:
    assert superblock_of("mdadm: No md superblock detected on /dev/sda.") is None
    assert superblock_of(EXAMINE.format(name="sda", slot=1)) is not None


def candidate(*order: str, **more: Any) -> SearchCandidate:
    geometry = RescueGeometry(
        level=5, order=order, layout="left-symmetric", chunk_bytes=65536, data_offset_sectors=2048
    )
    return SearchCandidate(
        geometry=geometry,
        proof=Proof(check=CheckResult.CLEAN),
        passed=9,
        failed=0,
        **({"best": True} | more),
    )


def test_a_tie_is_ordered_and_stays_a_tie() -> None:
    wrong, right, worse = (
        candidate("sda", "sdb", "sdc"),
        candidate("sdb", "sda", "sdc"),
        candidate("sdb", "sda", "sdc", best=False),
    )
    found = SearchResult(outcome=SearchOutcome.TIED, candidates=(wrong, right, worse), alike=2)
    result = order_by_hints(found, (HINT,))
    assert [each.geometry.order for each in result.candidates] == [
        *(("sdb", "sda", "sdc"), ("sda", "sdb", "sdc"), ("sdb", "sda", "sdc"))
    ]
    assert (result.outcome, result.alike, result.hints) == (SearchOutcome.TIED, 2, (HINT,))
    assert [each.notes for each in result.candidates] == [
        *(("It is as in black box, which proves nothing.",), (), ())
    ]


def test_a_hint_does_not_stand_before_what_has_more_for_it() -> None:
    better, hinted = candidate("sda", "sdb", "sdc"), candidate("sdb", "sda", "sdc", best=False)
    found = SearchResult(outcome=SearchOutcome.UNIQUE, candidates=(better, hinted), alike=1)
    assert order_by_hints(found, (HINT,)).candidates == (better, hinted)
    assert order_by_hints(found, ()) is found


@pytest.fixture
def capture(tmp_path: Path) -> str:
    """A capture of a host with a RAID 5 of four, of which two members had dropped out."""
    texts = json.loads((WRECKED / "r5-cable-two.json").read_text())
    for path, text in texts.items():
        file = tmp_path / "capture" / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(tmp_path / "capture")


def test_a_capture_says_how_disks_lay_that_are_known_by_their_serial_numbers(capture: str) -> None:
    then = read_facts(open_root(capture))
    assert then is not None
    serials = {name: device.disk.identity for name, device in then.survey.devices.items()}
    now = [disk("sdx", serials["ubdb"]), disk("sdy", serials["ubda"]), disk("sdz", "other")]
    (hint,) = read_captured_hints(capture, now)
    assert hint.source == f"capture {capture}"
    assert (hint.level, hint.raid_disks, hint.layout, hint.chunk_bytes) == (
        "raid5",
        4,
        "left-symmetric",
        65536,
    )
    assert (hint.data_offset_sectors, hint.slots) == (2048, {"sdx": 1, "sdy": 0})
    (hashed,) = read_captured_hints(capture, [disk("sdz", "other")])
    assert (hashed.slots, hashed.order, hashed.level) == ({}, (), "raid5")


def test_a_search_shows_what_a_capture_records(
    capture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"LUKS\xba\xbe\0\1" + bytes(8 << 20))
    run(["rescue", "search", str(image), "--capture", capture])
    said = "".join(capsys.readouterr().out.split())  # lines may end within the path
    assert f"capture{capture}:thearray" in said
    assert ":raid5,4slots,left-symmetric,chunk64KiB,dataoffset2048sectors." in said
    assert run(["rescue", "search", str(image), "--capture", str(tmp_path / "none")]) == 3
    assert "no such file or folder" in capsys.readouterr().err


def found(*, alike: int, more: bool = False) -> SearchResult:
    return SearchResult(
        outcome=SearchOutcome.TIED if more or alike > 1 else SearchOutcome.UNIQUE,
        candidates=(
            SearchCandidate(geometry=GEOMETRY, proof=PROOF, passed=9, failed=0, best=True),
            SearchCandidate(geometry=OTHER, proof=PROOF, passed=9, failed=0, best=False),
        ),
        alike=alike,
        more=more,
    )


def test_a_tie() -> None:
    first = "One of 720 geometries that fit equally, not the only one"
    assert found(alike=720).tie_of(GEOMETRY) == first + WARNING
    assert found(alike=720, more=True).tie_of(GEOMETRY).startswith("One of at least 720 geometries")


def test_one_is_left_of_more_than_could_be_compared() -> None:
    """It is not known to be the only one, which is a tie for whoever chooses it."""
    assert found(alike=1, more=True).tie_of(GEOMETRY) == (
        "More geometries fitted than could be compared" + WARNING
    )


def test_the_only_one_is_in_doubt() -> None:
    """Where the array begins is not known, or parity does not fit: another geometry may."""
    doubtful = replace(found(alike=1), outcome=SearchOutcome.TIED)
    assert doubtful.tie_of(GEOMETRY) == "The only geometry that fits is in doubt" + WARNING
    assert doubtful.tie_of(OTHER) == ""


def test_nothing_fits_as_well() -> None:
    assert found(alike=1).tie_of(GEOMETRY) == ""
    assert found(alike=2).tie_of(OTHER) == ""
