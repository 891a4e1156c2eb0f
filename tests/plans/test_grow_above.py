"""What stands on an array that becomes larger: from the bottom to the top, and only what is in use."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.features.reshape.plan.grow_above import Above, geometry_above, larger_above
from raidtui.features.reshape.plan.grow_shape import GrowShape
from raidtui.features.reshape.plan.grow_stages import refuse_reshape
from raidtui.model.answer import known
from raidtui.model.disk import Disk, Use
from raidtui.model.plan import Refusal
from raidtui.model.survey import Survey
from tests.hosts.specs import raid5
from tests.plans.goldens import accepted
from tests.plans.running import first
from tests.plans.test_grow import grown

RAID5 = raid5()
PV = Use(kind="signature", what="LVM2_member")
LUKS = Use(kind="signature", what="crypto_LUKS")
VOLUMES = (
    Use(kind="holder", what="dm-0", detail="vg--x-home\n"),
    Use(kind="holder", what="dm-1", detail="vg--x-root\n"),
)
SAFE = Use(kind="holder", what="dm-0", detail="safe\n")
OLD = GrowShape(level="raid5", layout=2, chunk_bytes=1 << 16, disks=3)
WIDER, COARSER = replace(OLD, disks=4), replace(OLD, chunk_bytes=1 << 19)
MIRROR = GrowShape(level="raid1", layout=0, chunk_bytes=0, disks=2)


def mounted(kind: str, where: str = "/srv") -> Use:
    return Use(kind="mount", what=where, detail=kind)


def signed(kind: str) -> Use:
    return Use(kind="signature", what=kind)


def standing(*uses: Use, **others: tuple[Use, ...]) -> Survey:
    """A host with something on an array, and on what stands on it: dm_0 is dm-0."""
    survey = grown(RAID5)
    disk = survey.snapshot.disks[RAID5.name]
    names = {name.replace("_", "-"): found for name, found in others.items()}
    more = {name: Disk(name=name, disk=name, uses=found) for name, found in names.items()}
    return replace(survey, above={RAID5.name: replace(disk, uses=uses), **more})


def larger(survey: Survey, *volumes: str) -> Above | Refusal:
    return larger_above(survey, first(survey), volumes)


def geometry(
    survey: Survey, new: GrowShape = WIDER, *, old: GrowShape = OLD, size_bytes: int = 0, **more: Any
) -> Above:
    array = first(survey)
    if size_bytes:
        array = replace(array, size_bytes=size_bytes)
    return geometry_above(replace(survey, **more), array, old, new)


def home(kind: str = "ext4") -> tuple[Use, ...]:
    return signed(kind), mounted(kind, "/home")


test_what_takes_the_new_room = accepted(
    {
        "larger: nothing": lambda: larger(standing()),
        # A job that is resumed after a boot may find it unmounted: resize2fs would ask for e2fsck -f first.
        "larger: ext4": lambda: larger(standing(signed("ext4"), mounted("ext4"))),
        "larger: xfs": lambda: larger(standing(signed("xfs"), mounted("xfs"))),
        "larger: btrfs": lambda: larger(standing(signed("btrfs"), mounted("btrfs"))),
        "larger: ext4 that is not mounted": lambda: larger(standing(signed("ext4"))),
        "larger: f2fs": lambda: larger(standing(mounted("f2fs"))),
        "larger: partitions": lambda: larger(standing(signed("gpt"), Use(kind="partition", what="md125p1"))),
        "larger: LUKS that is closed": lambda: larger(standing(LUKS)),
        "larger: LUKS with a file system": lambda: larger(standing(LUKS, SAFE, dm_0=home())),
        "larger: LUKS with a volume group": lambda: larger(standing(LUKS, SAFE, dm_0=(PV, *VOLUMES))),
        "larger: a volume group": lambda: larger(standing(PV, *VOLUMES, dm_0=home())),
        # The device mapper doubles what is a "-" in the names of group and volume.
        "larger: a volume that is named": lambda: larger(
            standing(PV, *VOLUMES, dm_0=home("xfs")), "vg-x/home"
        ),
        "larger: refused, no such volume": lambda: larger(
            standing(PV, *VOLUMES, dm_0=home("xfs")), "vg-x/none"
        ),
        "larger: refused, a tool is missing": lambda: larger(
            replace(standing(signed("xfs"), mounted("xfs")), missing=("xfs_growfs",))
        ),
        # Mounted or not; what proves it is in its superblock, and it can be undone.
        "geometry: ext4": lambda: geometry(standing(signed("ext4"), mounted("ext4"))),
        "geometry: ext4 on LUKS": lambda: geometry(standing(LUKS, SAFE, dm_0=home())),
        "geometry: ext4, of a mirror before": lambda: geometry(standing(signed("ext4")), old=MIRROR),
        "geometry: ext4 with smaller blocks": lambda: geometry(
            standing(signed("ext4"), mounted("ext4")), size_bytes=1 << 28
        ),
        "geometry: ext4 without tune2fs": lambda: geometry(
            standing(signed("ext4"), mounted("ext4")), missing=("tune2fs",)
        ),
        "geometry: xfs": lambda: geometry(standing(signed("xfs"), mounted("xfs"))),
        # An allocation group need not be a multiple of another sunit: such a mount fails.
        "geometry: xfs, another chunk": lambda: geometry(standing(signed("xfs"), mounted("xfs")), COARSER),
    }
)


def test_the_geometry_of_ext4_is_set_whether_it_is_mounted_or_not() -> None:
    assert geometry(standing(signed("ext4"))) == geometry(standing(signed("ext4"), mounted("ext4")))


def test_no_geometry() -> None:
    """Of a mirror there is none; the same stays; btrfs keeps none."""
    ext4 = standing(signed("ext4"))
    assert geometry(ext4, MIRROR, old=WIDER) == Above()
    assert geometry(ext4, OLD) == Above()
    assert geometry(standing(signed("btrfs"), mounted("btrfs"))) == Above()


def unable(changed: dict[str, Any]) -> Refusal | None:
    survey = grown(RAID5)
    host = replace(survey.snapshot.host, kernel=changed.get("kernel", survey.snapshot.host.kernel))
    survey = replace(
        survey, snapshot=replace(survey.snapshot, host=host), mdadm=changed.get("mdadm", survey.mdadm)
    )
    return refuse_reshape(survey, first(survey))


test_versions_that_cannot = accepted(
    {"refused: Linux 3.4": {"kernel": "3.4.113"}, "refused: mdadm 3.2": {"mdadm": known((3, 2))}}, unable
)
