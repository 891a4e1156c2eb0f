"""A device and the maps that stand on it: paths of a multipath device."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.records import CauseCode
from raidtui.features.rescue.session import read_facts
from raidtui.model.disk import Use
from tests.hosts.wrecks import wrecked


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
