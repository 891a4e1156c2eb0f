"""How a replace is taken back: while its copy is not whole, the old member has lost nothing yet.

Measured on kernel 6.1 (raid1, raid5, raid6, raid10): the replacement can be failed and removed while it is
being filled, the array stays as redundant as it was, and ``-want_replacement`` clears the wish. Frozen, the
copy cannot come to its end between the look at it and the failing: then the replacement would be the only
copy. When the copy is whole, the old member is faulty, and nothing is taken back.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.plan import Fact, Kind, Step
from raidtui.plans.manage import manage, member_fact
from raidtui.plans.target import array_step


def undo_add_spare(array: Array, old: str, new: str, same: tuple[Fact, ...] = ()) -> tuple[Step, ...]:
    """Return what takes the device back that was added as a spare, for the copy.

    Its superblock goes, too: udev gives a spare that has one back to its array at the next event, and at the
    next boot (``mdadm --incremental``).

    Args:
        array: the array.
        old: the member that was to go.
        new: the device; it was free before.
        same: facts that say that it still is the same disk.
    """
    uuid = array.uuid or ""
    zero = Step(
        argv=("mdadm", "--zero-superblock", f"/dev/{new}"),
        why="with a superblock it would be taken for a spare again",
        needs=(
            *same,
            Fact(kind=Kind.FREE, subject=new),
            Fact(kind=Kind.SUPERBLOCK, subject=new, value=uuid),
        ),
        proves=(Fact(kind=Kind.SUPERBLOCK, subject=new),),
    )
    return (_settle(new), _remove(array, old, new, "give it back"), *((zero,) if uuid else ()))


def undo_replace(array: Array, old: str, new: str, *, spare: bool) -> tuple[Step, ...]:
    """Return what ends the copying of a member to another device, and lets the member stay.

    The first step says whether it can be done at all; ``idle`` must come after it, whatever became of those
    between.

    Args:
        array: the array.
        old: the member that was to go.
        new: the device that it is copied to.
        spare: whether that was a spare of the array before: then it is one again.
    """
    serves = _serves(array, old, new)
    freeze = array_step(array, "sync_action", "frozen", "so that the copy does not end meanwhile")
    fail = manage(
        array, ("--fail", f"/dev/{new}"), "give the copy up", member_fact(array, new, "faulty|absent")
    )
    thaw = array_step(array, "sync_action", "idle", f"what else waits goes on, and {new} loses its slot")
    add = manage(
        array, ("--add-spare", f"/dev/{new}"), "it was a spare before", member_fact(array, new, "spare")
    )
    return (
        replace(freeze, needs=(serves,)),
        replace(fail, needs=(*fail.needs, serves)),
        array_step(array, f"dev-{old.replace('/', '!')}/state", "-want_replacement", f"{old} is to stay"),
        replace(thaw, proves=(Fact(kind=Kind.LOOSE, subject=f"{array.name}/{new}"),)),
        _settle(new),
        _remove(array, old, new, "let go of it"),
        *((add,) if spare else ()),
    )


def _remove(array: Array, old: str, new: str, why: str) -> Step:
    remove = manage(array, ("--remove", f"/dev/{new}"), why, member_fact(array, new, "absent"))
    return replace(remove, needs=(*remove.needs, _serves(array, old, new)))


def _settle(new: str) -> Step:
    """What was added a moment ago, udev may be about to add again."""
    return Step(
        argv=("udevadm", "settle", "--timeout=10"), why=f"what udev has to do with {new} first", may_fail=True
    )


def _serves(array: Array, old: str, new: str) -> Fact:
    return Fact(kind=Kind.SERVES, subject=f"{array.name}/{old}", value=new)
