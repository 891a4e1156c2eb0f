"""Fewer devices, or less of each: what stands on the array first, room after the data, refusals."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.features.reshape.plan.shrink_plan import plan_shrink, plan_shrink_size
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from tests.hosts.specs import ArraySpec, raid0, raid1, raid5, raid6, raid10
from tests.plans.goldens import accepted, commands
from tests.plans.running import first
from tests.plans.test_grow import grown

FOUR = raid5(chunk_kib=64, members=("sdg", "sdh", "sdi", "sdj"))
EXT4, XFS = Use(kind="signature", what="ext4"), Use(kind="signature", what="xfs")
PV = (Use(kind="signature", what="LVM2_member"), Use(kind="holder", what="dm-0", detail="vg-lv"))
BTRFS = (Use(kind="signature", what="btrfs"), Use(kind="mount", what="/srv", detail="btrfs"))


def holding(array: ArraySpec, *uses: Use, **more: Any) -> Survey:
    """A host with something on an array."""
    survey = grown(array, **more)
    disk = survey.snapshot.disks[array.name]
    return replace(survey, above={array.name: replace(disk, uses=uses)})


def shrunk(array: ArraySpec, slots: int, *, component_kib: int = 0, **more: Any) -> Plan | Refusal:
    survey = grown(array, **more)
    found = first(survey)
    return plan_shrink(survey, replace(found, component_kib=component_kib or found.component_kib), slots)


def less(survey: Survey, kib: int) -> Plan | Refusal:
    """So much less of each member."""
    return plan_shrink_size(survey, first(survey), (first(survey).component_kib or 0) - kib)


def under(*uses: Use) -> Plan | Refusal:
    survey = holding(FOUR, *uses, tail=256)
    return plan_shrink(survey, first(survey), 3)


def immovable(uses: tuple[Use, ...]) -> Plan | Refusal:
    """The same whether it gets fewer devices, or less of each."""
    found = under(*uses)
    assert found == less(holding(FOUR, *uses, tail=256), 64)
    return found


test_plans = accepted(
    {
        # Mdadm needs no backup file where the kernel knows the direction, and there is room after the data.
        "fewer devices": lambda: shrunk(FOUR, 3, tail=256),
        # A little less of each member: 256 sectors for 4 to 3 devices with chunks of 64 KiB.
        "fewer devices, room after the data is made": lambda: shrunk(FOUR, 3, tail=255),
        # The last ones leave, one after the other, as long as those that stay serve; then the slots.
        "fewer mirrors": lambda: shrunk(raid1(members=("sde", "sdf", "sdg", "sdh")), 2),
        "less of each": lambda: less(grown(FOUR), 64),
    }
)
test_commands = accepted(
    {
        # As measured: 5 to 4 devices of 64512 KiB with chunks of 64 KiB are 128896 KiB.
        "raid10, which makes room by itself": lambda: shrunk(
            raid10(chunk_kib=64, members=("sda", "sdb", "sdc", "sdd", "sde")), 4, component_kib=64512
        ),
        "first: nothing": under,
        "first: ext4": lambda: under(EXT4),
        "first: a physical volume": lambda: under(*PV),
        "first: btrfs": lambda: under(*BTRFS),
    },
    commands,
)
test_what_cannot_be_made_smaller = accepted(
    {
        "refused: xfs, mounted": (Use(kind="mount", what="/srv", detail="xfs"),),
        "refused: xfs": (XFS,),
        "refused: ext4, mounted": (EXT4, Use(kind="mount", what="/srv", detail="ext4")),
        "refused: LUKS": (Use(kind="signature", what="crypto_LUKS"),),
        "refused: partitions": (Use(kind="partition", what="md125p1"),),
    },
    immovable,
)
test_refused = accepted(
    {
        "refused: raid5, as many": lambda: shrunk(FOUR, 4, tail=256),
        "refused: raid5, two fewer": lambda: shrunk(FOUR, 2, tail=256),
        "refused: raid6 of four": lambda: shrunk(raid6(), 3, tail=256),
        "refused: raid1 of two": lambda: shrunk(raid1(), 1, tail=256),
        "refused: raid0": lambda: shrunk(raid0(), 1, tail=256),
        "refused: far copies": lambda: shrunk(raid10(layout="f2"), 3, tail=256),
        "refused: spares": lambda: shrunk(replace(FOUR, spares=("sdy",)), 3, tail=256),
        "refused: degraded": lambda: shrunk(replace(FOUR, failed=("sdi",)), 3, tail=256),
        "refused: room not known": lambda: shrunk(FOUR, 3, room=None),
        "refused: more of each": lambda: less(grown(FOUR), -64),
        "refused: as much of each": lambda: less(grown(FOUR), 0),
        "refused: no whole chunk less of each": lambda: less(grown(FOUR), 1),
        "refused: less than nothing of each": lambda: plan_shrink_size(grown(FOUR), first(grown(FOUR)), -64),
    }
)
