"""Which disk is it: words and a light."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan, RunTool, Step
from raidtui.model.survey import Device
from raidtui.plans.locate import plan_locate, slot_of, which_disk
from tests.plans.new_array import device
from tests.plans.running import fact, host, refused

LINKS = ("disk/by-id/ata-X", "disk/by-path/pci-0000:00:17.0-ata-3-part2", "disk/by-path/other")
PLUGGED = device("sda2", links=LINKS)
NAMED = replace(PLUGGED, disk=replace(PLUGGED.disk, model="Samsung SSD 850"))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (NAMED, "sda2 (on sda) is: Samsung SSD 850, serial S-sda, at pci-0000:00:17.0-ata-3."),
        (device("sdb"), "sdb is: unknown model, serial S-sdb."),
        (
            replace(device("sdb"), disk=replace(device("sdb").disk, serial=None, wwn="0x5002")),
            "sdb is: unknown model, WWN 0x5002.",
        ),
        (
            replace(device("sdb"), disk=replace(device("sdb").disk, serial=None)),
            "sdb is: unknown model, no serial number.",
        ),
    ],
)
def test_words(found: Device, words: str) -> None:
    assert which_disk(found) == words


def test_slot() -> None:
    assert (slot_of(PLUGGED), slot_of(device("sda"))) == ("pci-0000:00:17.0-ata-3", "")


def light(word: str, why: str) -> Step:
    return RunTool(
        argv=("ledctl", "--listed-only", f"{word}=/dev/sda"),
        why=why,
        needs=(fact(FactKind.SERIAL, "sda", "S-sda"),),
    )


def test_a_light() -> None:
    """It is the whole disk's bay that blinks."""
    on, off = light("locate", "its bay light blinks"), light("locate_off", "its bay light is off again")
    expected = Plan(
        title="locate light of sda on",
        subject="sda",
        steps=(on,),
        undo=(off,),
        notes=(
            "sda2 (on sda) is: Samsung SSD 850, serial S-sda, at pci-0000:00:17.0-ata-3.",
            "Bays without a locate light, or a controller for it, stay dark.",
        ),
    )
    survey = host(devices=(NAMED,))
    assert plan_locate(survey, "sda2") == expected
    dark = replace(expected, title="locate light of sda off", steps=(off,), undo=(on,))
    assert plan_locate(survey, "sda2", on=False) == dark


def test_no_light() -> None:
    survey = host(devices=(NAMED,), missing=("ledctl",))
    assert refused(plan_locate(survey, "sda2")) == "ledctl is not installed; apt install ledmon"
    assert refused(plan_locate(host(), "sda2")) == "there is no device sda2"
    assert refused(plan_locate(host(writable=False), "sda2")) == "needs root; run it as: sudo raidtui"
