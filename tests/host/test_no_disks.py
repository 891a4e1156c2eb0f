"""Devices that stand on others are no disks: not in the wizard, not in Tune, not in Wear."""

from __future__ import annotations

from raidtui.host.block import candidate_names
from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.smart.smart_names import has_smart, smart_names
from raidtui.model.knob import KnobScope
from raidtui.monitor.sampler import Sampler
from tests.hosts.specs import raid1
from tests.hosts.stack_host import StackHost
from tests.hosts.trees import host_tree


def test_the_wizard_offers_disks_alone() -> None:
    assert candidate_names(StackHost()) == tuple(f"ubd{letter}" for letter in "abcdefgh")


def test_tune_and_wear_of_an_array_on_a_cache() -> None:
    """An array whose members are a bcache and a map of the device mapper."""
    root = host_tree(raid1(members=("bcache0", "dm-0"))).root()
    snapshot = Sampler(root).sample()
    assert [member.name for member in snapshot.arrays[0].members] == ["bcache0", "dm-0"]
    tuning = KnobReader(root).read(snapshot)
    assert not [each for each in tuning.subjects if each.scope is KnobScope.DISK]
    assert smart_names(root, snapshot) == ()
    assert not has_smart("bcache0")
