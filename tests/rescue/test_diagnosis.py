"""The diagnosis of every wreck that the laboratory has made, on what was read of it there."""

from __future__ import annotations

import argparse
import json

import pytest

from raidtui.command.rescue_diagnose import report_dict, run, status_of
from raidtui.host.roots.memory_root import MemoryRoot
from raidtui.host.tools import output_path
from raidtui.session.rescue import read_rescue
from tests.hosts.wrecks import wrecked
from tests.rescue.expected import KNOWN, differs


@pytest.mark.parametrize("wreck", KNOWN)
def test_what_is_said_of_it(wreck: str) -> None:
    report = read_rescue(wrecked(wreck))
    assert differs(wreck, report_dict(report)) == ""
    assert status_of(report) == KNOWN[wreck].status


@pytest.mark.parametrize("wreck", KNOWN)
def test_each_way_says_why_not_or_what_it_writes(wreck: str) -> None:
    for array in read_rescue(wrecked(wreck)).arrays:
        for way in array.ways:
            assert way.possible is not bool(way.why_not)
            assert (
                set(way.devices) <= {member.device for member in array.members}
                or not way.possible
                or ("re-created" in {cause.code for cause in array.causes})
            )
            assert way.text.endswith(".")
        assert array.causes
        assert all(cause.text.endswith(".") for cause in array.causes)


def container_disks(kind: str) -> MemoryRoot:
    """Two disks with data, on which mdadm finds no superblock, and udev what is given."""
    files = {"/proc/mdstat": "Personalities :\nunused devices: <none>\n"}
    surfaces = [{"device": name, "blank": False} for name in ("sda", "sdb")]
    files["/.raidtui/surfaces.json"] = json.dumps(surfaces)
    for number, name in enumerate(("sda", "sdb")):
        node = f"/sys/class/block/{name}"
        files |= {f"{node}/dev": f"8:{number * 16}\n", f"{node}/size": "2097152\n"}
        files[f"/run/udev/data/b8:{number * 16}"] = f"E:ID_FS_TYPE={kind}\nE:ID_FS_USAGE=raid\n"
        for more in ((), ("--export",)):
            argv = ("mdadm", "--examine", *more, f"/dev/{name}")
            files[output_path(argv)] = "exit 1\n"
    return MemoryRoot(files)


@pytest.mark.parametrize("kind", ["isw_raid_member", "ddf_raid_member"])
def test_a_container_that_mdadm_does_not_read_is_not_called_lost(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = container_disks(kind)
    report = read_rescue(root)
    assert (report.arrays, [*report.silent], report.read) == ((), ["sda", "sdb"], 0)
    assert run(root, argparse.Namespace(devices=[], json=False)) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert (
        "what is on sda is not known: udev finds metadata of a container on it (Intel, DDF), and mdadm none"
        in said.err
    )
    assert read_rescue(container_disks("ext4")).silent == {}
