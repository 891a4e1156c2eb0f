"""The diagnosis of every wreck that the laboratory has made, on what was read there; its documentation."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.cli_diagnose import report_dict, status_of
from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.groups import MemberGroup
from raidtui.features.rescue.mismatch.mismatch_records import ContentKind, MismatchVerdict
from raidtui.features.rescue.records import (
    CauseCode,
    Presence,
    RescueArray,
    RescueMember,
    VerdictCode,
    WayCode,
)
from raidtui.features.rescue.reshapes_halves_containers import take_halves
from raidtui.features.rescue.session import RescueReport, read_facts, read_rescue
from raidtui.model.disk import Use
from raidtui.model.survey import Superblock
from tests.features.rescue.expected import KNOWN, differs
from tests.hosts.wrecks import wrecked
from tests.places import HOUSE

TEXT = (HOUSE / "docs" / "rescue.md").read_text(encoding="utf-8")


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


def test_numbers_of_the_kernel_speak_for_former_members() -> None:
    """A device that is added later gets a further one than those of the creation."""
    said = [
        cause.text
        for array in read_rescue(wrecked("r6-members-recorded-as-spares")).arrays
        for cause in array.causes
    ]
    numbers = "/proc/mdstat numbers sda[0], sdb[2] and sdc[3], below 6, as for members since creation"
    assert any(numbers in text for text in said), said


def test_a_path_of_a_multipath_device_is_no_second_disk() -> None:
    facts = read_facts(wrecked("r5-cable-two"))
    assert facts is not None
    survey = facts.survey
    names = {each.device for each in diagnose(facts)[0].members}
    path = survey.devices["ubda"]
    above = replace(path, disk=replace(path.disk, name="dm-0", disk="dm-0"))
    held = replace(path, disk=replace(path.disk, uses=(Use(kind="holder", what="dm-0"),)))
    for below, wanted in ((held, names - {"ubda"} | {"dm-0"}), (path, names | {"dm-0"})):
        devices = {**survey.devices, "ubda": below, "dm-0": above}
        found = diagnose(replace(facts, survey=replace(survey, devices=devices)))[0]
        assert {each.device for each in found.members} == wanted
        clones = [each for each in found.causes if each.code is CauseCode.CLONE]
        assert bool(clones) is (below is path)


def first_cells(heading: str) -> list[str]:
    """Return the words in backticks of the first cells of the table below a heading."""
    part = TEXT.partition(heading)[2].lstrip("\n").partition("\n\n")[0]
    rows = [line for line in part.split("\n") if line.startswith("| `")]
    return [word for row in rows for word in re.findall(r"`([a-z0-9_-]+)`", row.split(" | ")[0])]


def test_every_code() -> None:
    assert first_cells("\n### `causes`\n")[1:] == list(CauseCode)
    assert first_cells("They are listed from harmless to drastic.\n")[1:] == list(WayCode)


def test_every_code_of_a_mismatch() -> None:
    assert first_cells("\n### `verdict` of a stretch\n")[1:] == list(MismatchVerdict)
    assert first_cells("data lie in that place of the row.\n")[1:] == list(ContentKind)


def test_every_verdict() -> None:
    assert first_cells("A disk that comes back can change it.\n") == ["code", *VerdictCode]


def test_every_state() -> None:
    assert first_cells("`backwards`; null without one |\n")[1:] == list(Presence)


def test_every_field_of_a_member() -> None:
    member = RescueMember(device="sda", superblock=None, presence=Presence.STALE)
    array = RescueArray(uuid=None, name="", level=None, members=(member,))
    (shown,) = report_dict(RescueReport(arrays=(array,)))["arrays"][0]["members"]
    assert sorted(first_cells("\n### each member\n")) == sorted(shown)


def test_one_half_is_taken_and_the_other_kept() -> None:
    blocks = {name: Superblock(uuid=None, events=events) for name, events in (("sda", 7), ("sdb", 9))}
    group = cast("MemberGroup", SimpleNamespace(halves=(("sda", "sdb"),), blocks=blocks))
    for way, (kept, left) in zip(take_halves(group), (("sda", "sdb"), ("sdb", "sda")), strict=True):
        assert way.devices == (kept,)
        assert f" {left} is kept unchanged until all files there are safe" in way.text
        assert (way.writes, way.forgives) == (
            f"the superblock of {kept}; later all of {left}",
            f"what was written to {left} alone",
        )
