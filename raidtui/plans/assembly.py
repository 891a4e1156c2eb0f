"""Arrays that do not run and whose superblocks lie on devices, and the ways to start one. Pure."""

from __future__ import annotations

from msgspec import Struct

from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Superblock, Survey
from raidtui.plans.power import plan_assemble
from raidtui.plans.whole import standing
from raidtui.view.units import counted


class AtRest(Struct, frozen=True, kw_only=True):
    """An array that does not run.

    Args:
        block: the newest of its superblocks.
        names: kernel names of its members, in the kernel's order.
        found: how many of its slots these fill.
        short: why the data of some are not whole, a clause each: "sdc2 is 2 events behind".
    """

    block: Superblock
    names: tuple[str, ...]
    found: int
    short: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """How many slots nothing was found for."""
        return max(0, (self.block.raid_disks or 0) - self.found)

    @property
    def words(self) -> str:
        """The array in one line: label, level, members, what differs."""
        wanted = self.block.raid_disks
        parts = [f"{self.found} of {wanted} members" if wanted else counted(self.found, "member")]
        parts += self.short
        shape = f"{self.block.label:<12} {self.block.level or '?':<7}"
        return f"{shape} {', '.join(parts)}  {' '.join(self.names)}"


class Way(Struct, frozen=True, kw_only=True):
    """One way to start an array: what it is called, what it means, what it would do."""

    words: str
    note: str
    made: Plan | Refusal


def arrays_at_rest(survey: Survey) -> tuple[AtRest, ...]:
    """Return the arrays that are not running, by their superblocks; not those of external metadata."""
    running = {array.uuid for array in survey.snapshot.arrays if array.active}
    found: dict[str, list[str]] = {}
    for name, device in survey.devices.items():
        block = device.superblock
        if block is not None and block.uuid and block.uuid not in running and not _is_on_a_part(name, survey):
            found.setdefault(block.uuid, []).append(name)
    return tuple(_at_rest(tuple(names), survey) for names in found.values())


def _is_on_a_part(name: str, survey: Survey) -> bool:
    """A superblock at the end (1.0, 0.90) shows on a disk and on its last partition: it is the latter's."""
    own = survey.devices[name]
    parts = [use.what for use in own.disk.uses if use.kind == "partition"]
    blocks = [survey.devices[part].superblock for part in parts if part in survey.devices]
    same = own.superblock.device_uuid if own.superblock is not None else None
    return same is not None and any(block is not None and block.device_uuid == same for block in blocks)


def _at_rest(names: tuple[str, ...], survey: Survey) -> AtRest:
    blocks = {name: block for name in names if (block := survey.devices[name].superblock) is not None}
    newest = max(blocks.values(), key=lambda block: block.events or 0)
    slots = {block.slot for block in blocks.values() if block.slot is not None}
    return AtRest(
        block=newest,
        names=names,
        found=len(slots) or len(names),
        short=tuple(f"{name} {why}" for name, _, why in standing(blocks).not_whole),
    )


def ways(array: AtRest, survey: Survey) -> tuple[Way, ...]:
    """Return the ways to start an array; where members are missing also the degraded ones.

    A way that mdadm would refuse is there with its refusal, which says what has to come back.
    """
    found = [
        Way(
            words="normal",
            note="As at boot: it is started, and synced where that is due.",
            made=plan_assemble(survey, array.names),
        ),
        Way(
            words="read-only",
            note="Nothing is written, not even by md: to look at what is there before anything is decided.",
            made=plan_assemble(survey, array.names, read_only=True),
        ),
    ]
    if array.missing or array.short:
        found += [
            Way(
                words="degraded, read-only",
                note="With the members that there are; nothing is written. The others can still be found.",
                made=plan_assemble(survey, array.names, run=True, read_only=True),
            ),
            Way(
                words="degraded (--run)",
                note="With the members that there are. What is written from now on is not on the others: they"
                " have to be copied anew when they come back.",
                made=plan_assemble(survey, array.names, run=True),
            ),
        ]
    return tuple(found)
