"""The diagnosis of every wreck that the laboratory has made, on what was read of it there."""

from __future__ import annotations

import pytest

from raidtui.features.rescue.cli_diagnose import report_dict, status_of
from raidtui.features.rescue.session import read_rescue
from tests.features.rescue.expected import KNOWN, differs
from tests.hosts.wrecks import wrecked


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
    numbers = "/proc/mdstat numbers sda[0], sdb[2] and sdc[3], below 6, as members from the creation on are"
    assert any(numbers in text for text in said), said
