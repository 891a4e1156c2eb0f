"""Stop and assemble: the plans, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.disk import Disk, Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Survey
from raidtui.plans.assemble import plan_assemble
from raidtui.plans.stop import plan_read_only, plan_read_write, plan_stop
from tests.hosts.specs import ArraySpec, container, growing_raid0, inactive, raid0, raid1, raid5, raid10
from tests.plans.goldens import accepted
from tests.plans.new_array import MOUNT, device
from tests.plans.running import OTHER, first, former, host

UUID = raid10().array_uuid
NAMES = ("sda", "sdb", "sdc", "sdd")


MEMBER = former(UUID, "nas:data")
GROWING, DATA = growing_raid0(), raid10()


def of_first(
    plan: Callable[[Survey, Array], Plan | Refusal], *arrays: ArraySpec, **more: Any
) -> Plan | Refusal:
    survey = host(*arrays, **more)
    return plan(survey, first(survey))


def stop(*arrays: ArraySpec, **more: Any) -> Plan | Refusal:
    return of_first(plan_stop, *arrays, **more)


def stop_seen(disks: dict[str, Disk]) -> Plan | Refusal:
    """With these disks alone known."""
    survey = host(DATA)
    seen = replace(survey, snapshot=replace(survey.snapshot, disks=disks))
    return plan_stop(seen, first(seen))


def partitions() -> dict[str, Disk]:
    disk = host(DATA).snapshot.disks["md127"]
    whole = replace(disk, uses=(Use(kind="partition", what="md127p1"),))
    return {"md127": whole, "md127p1": replace(disk, name="md127p1", disk="md127", uses=(MOUNT,))}


def stacked() -> Plan | Refusal:
    survey = host(DATA)
    held = (
        Use(kind="holder", what="dm-0", detail="vg-data"),
        Use(kind="holder", what="dm-1", detail="vg-swap"),
    )
    md = replace(survey.snapshot.disks["md127"], uses=held)
    data = replace(md, name="dm-0", disk="dm-0", uses=(Use(kind="holder", what="dm-2", detail="safe"),))
    swap = replace(md, name="dm-1", disk="dm-1", uses=(Use(kind="swap", what="dm-1"),))
    safe = replace(md, name="dm-2", disk="dm-2", uses=(MOUNT,))
    above = {disk.name: disk for disk in (md, data, swap, safe)}
    return plan_stop(replace(survey, above=above), first(survey))


def without_uuid() -> Plan | Refusal:
    survey = host(raid0())
    return plan_stop(survey, replace(first(survey), uuid=None))


test_stop = accepted(
    {
        "stop": lambda: stop(raid10(failed=("sdb",))),
        "stop: inactive": lambda: stop(inactive(DATA)),
        "stop: without a UUID": without_uuid,
        # The other half has the same UUID, and continues.
        "stop: half of a mirror": lambda: stop(
            raid1("md126", members=("sda", None)), raid1("md125", members=(None, "sdb"))
        ),
        "stop: its disk is not known": lambda: stop_seen({}),
        "stop: its partition is not known": lambda: stop_seen({"md127": partitions()["md127"]}),
        "stop: refused, a partition in use": lambda: stop_seen(partitions()),
        "stop: refused, not root": lambda: stop(DATA, writable=False),
        "stop: refused, mounted": lambda: stop(DATA, mounts={"md127": "/srv"}),
        "stop: refused, swap": lambda: stop(DATA, swaps=("md127",)),
        "stop: refused, held": lambda: stop(DATA, holders={"md127": ("md9",)}),
        # From the bottom to the top: that is the order in which it is taken down, from the end.
        "stop: refused, all that is stacked on it": stacked,
        "stop: refused, a container with volumes": lambda: stop(
            container(), raid1("md126", "vol", members=("sda", "sdb"), metadata="external:/md127/0")
        ),
        "stop: refused, a raid0 that gets devices": lambda: stop(GROWING),
    }
)
test_read_only = accepted(
    {
        "read-only": lambda: of_first(plan_read_only, DATA),
        "read-only: already": lambda: of_first(plan_read_only, raid10(read_only="read-only")),
        "read-only: inactive": lambda: of_first(plan_read_only, inactive(DATA)),
        "read-only: mounted": lambda: of_first(plan_read_only, DATA, mounts={"md127": "/srv"}),
        "read-only: a raid0 that gets devices": lambda: of_first(plan_read_only, GROWING),
        "read-write": lambda: of_first(plan_read_write, raid10(read_only="auto-read-only")),
        "read-write: already": lambda: of_first(plan_read_write, DATA),
        "read-write: in a reshape that nobody saves": lambda: of_first(
            plan_read_write, raid5(shift=0, reshape_position="0", read_only="auto-read-only")
        ),
        "read-write: not root": lambda: of_first(plan_read_write, DATA, writable=False),
    }
)


def members(*events: int | None, **more: Any) -> tuple[Device, ...]:
    """Members of the stopped array data, with these event counts."""
    return tuple(
        device(name, superblock=former(UUID, "nas:data", raid_disks=4, events=count), **more)
        for name, count in zip(NAMES, events, strict=False)
    )


def assemble(found: tuple[Device, ...], names: tuple[str, ...] = NAMES, **more: Any) -> Plan | Refusal:
    return plan_assemble(host(devices=found), names, **more)


def named(name: str | None) -> Plan | Refusal:
    return assemble((device("sda", superblock=former(UUID, name)),), ("sda",))


def renamed() -> Plan | Refusal:
    old, *others = members(16, 17, 17, 17)
    away = replace(old, superblock=former(UUID, "nas:older", raid_disks=3, events=16))
    return assemble((away, *others))


def alone(*uses: Use, **more: Any) -> Plan | Refusal:
    return assemble((device("sda", *uses, **more),), ("sda",))


def beside(array: ArraySpec, name: str) -> Plan | Refusal:
    return plan_assemble(host(array, devices=(device(name, superblock=MEMBER),)), (name,))


def in_a_capture() -> Plan | Refusal:
    survey = host(devices=members(1), writable=False)
    capture = replace(survey.snapshot.host, source="bug.tar.gz")
    return plan_assemble(replace(survey, snapshot=replace(survey.snapshot, host=capture)), ("sda",))


EVEN = members(17, 17, 17, 17)
test_assemble = accepted(
    {
        "assemble": lambda: assemble(members(17, 17, None, 16)),
        "assemble: degraded, read-only": lambda: assemble(EVEN, NAMES[:3], run=True, read_only=True),
        "assemble: whole, with --run": lambda: assemble(EVEN, run=True),
        # A member that was away when the array was renamed has its old name.
        "assemble: under the newest name": renamed,
        "assemble: without a name": lambda: named(None),
        "assemble: of a name with a blank": lambda: named("nas:a b"),
        "assemble: of a number": lambda: named("007"),
        # One event is a crash; the stale half of a mirror would be taken for the newer one from then on.
        "assemble: without a member one event newer": lambda: assemble(
            members(17, 17, 17, 18), NAMES[:3], run=True
        ),
        "assemble: refused, without a newer member": lambda: assemble(
            members(17, 17, 17, 25), NAMES[:3], run=True
        ),
        "assemble: refused, nothing named": lambda: assemble((), ()),
        "assemble: refused, named twice": lambda: assemble(members(1), ("sda", "sda")),
        "assemble: refused, not there": lambda: assemble((), ("sda",)),
        "assemble: refused, no superblock": alone,
        "assemble: refused, a superblock without a UUID": lambda: alone(superblock=former(None, None)),
        "assemble: refused, mounted": lambda: alone(MOUNT, superblock=MEMBER),
        "assemble: refused, used by something": lambda: alone(superblock=MEMBER, busy="something uses it"),
        "assemble: refused, of two arrays": lambda: assemble(
            (device("sda", superblock=MEMBER), device("sdb", superblock=former(OTHER))), ("sda", "sdb")
        ),
        "assemble: refused, too few": lambda: assemble(members(17, 17), ("sda", "sdb")),
        "assemble: refused, it runs": lambda: beside(DATA, "sda"),
        "assemble: refused, it is inactive": lambda: beside(inactive(DATA), "sda"),
        "assemble: refused, it runs without this one": lambda: beside(DATA, "sdz"),
        "assemble: refused, not root": lambda: plan_assemble(
            host(devices=members(1), writable=False), ("sda",)
        ),
        "assemble: refused, a capture": in_a_capture,
    }
)
