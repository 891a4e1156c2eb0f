"""Taking a replace back: each step whole, frozen first, and never the only copy."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.fact import FactKind
from raidtui.model.plan import RunTool
from raidtui.plans.manage import undo_add_spare, undo_replace
from raidtui.plans.target import array_step
from tests.hosts.specs import raid10
from tests.plans.running import fact, first, host, manage

ARRAY = raid10()
SERVES = fact(FactKind.SERVES, "md127/sda", "sde")


SETTLE = RunTool(
    argv=("udevadm", "settle", "--timeout=10"), why="wait for udev to finish with sde", may_fail=True
)


@pytest.mark.parametrize("spare", [False, True])
def test_a_copy_that_is_not_whole(*, spare: bool) -> None:
    array = first(host(ARRAY))
    freeze = array_step(array, "sync_action", "frozen", "keeps the copy from finishing meanwhile")
    thaw = array_step(array, "sync_action", "idle", "resumes pending work and frees the slot of sde")
    add = manage(ARRAY, "--add-spare /dev/sde", "it was a spare before", proves="sde spare")
    assert undo_replace(array, "sda", "sde", spare=spare) == (
        replace(freeze, needs=(SERVES,)),
        manage(ARRAY, "--fail /dev/sde", "abandon the copy", needs=(SERVES,), proves="sde faulty|absent"),
        array_step(array, "dev-sda/state", "-want_replacement", "keep sda"),
        replace(thaw, proves=(fact(FactKind.LOOSE, "md127/sde"),)),
        SETTLE,
        manage(ARRAY, "--remove /dev/sde", "remove it", needs=(SERVES,), proves="sde absent"),
        *([add] if spare else []),
    )


def test_the_device_that_was_added_for_it() -> None:
    """Nothing but this array's own superblock is wiped, on the disk that was meant."""
    same = (fact(FactKind.SERIAL, "sde", "S-sde"),)
    zero = RunTool(
        argv=("mdadm", "--zero-superblock", "/dev/sde"),
        why="with its superblock, udev would add it as a spare again",
        needs=(*same, fact(FactKind.FREE, "sde"), fact(FactKind.SUPERBLOCK, "sde", ARRAY.array_uuid)),
        proves=(fact(FactKind.SUPERBLOCK, "sde"),),
    )
    array = first(host(ARRAY))
    remove = manage(ARRAY, "--remove /dev/sde", "release it", needs=(SERVES,), proves="sde absent")
    assert undo_add_spare(array, "sda", "sde", same) == (SETTLE, remove, zero)
    unknown = undo_add_spare(replace(array, uuid=None), "sda", "sde", same)
    assert [step.argv for step in unknown] == [SETTLE.argv, remove.argv]


def test_names_with_a_slash() -> None:
    steps = undo_replace(first(host(ARRAY)), "cciss/c0d0", "cciss/c0d1", spare=False)
    assert steps[2].path == "/sys/class/block/md127/md/dev-cciss!c0d0/state"
    assert steps[5].argv == ("mdadm", "--manage", "/dev/md127", "--remove", "/dev/cciss/c0d1")
