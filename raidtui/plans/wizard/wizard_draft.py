"""What has been decided of a new array, the request that it makes, and the rows of a step. Pure."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.geometry import MISSING
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Device, Superblock, Survey
from raidtui.plans.candidates import is_given_up, old_arrays
from raidtui.plans.create.create_plan import component_sizes, plan_create
from raidtui.plans.create.create_request import CreateRequest, OnTop
from raidtui.plans.create.partition import plan_on_disks
from raidtui.plans.create.shape import shape_of
from raidtui.plans.member_partition import partition_of

LEVELS = (
    ("raid1", "", "raid1"),
    ("raid10", "n", "raid10 near"),
    ("raid10", "f", "raid10 far"),
    ("raid10", "o", "raid10 offset"),
    ("raid5", "", "raid5"),
    ("raid6", "", "raid6"),
    ("raid0", "", "raid0"),
    ("raid4", "", "raid4"),
)
"""(level, first letter of the layout, words), in the order in which they are offered."""
LEAVE, MEMBER, SPARE, JOURNAL = "", "member", "spare", "journal"
MOST_EMPTY = 4
SLACK = "slack"
"""Of ``WizardDraft.disks``: a partition that leaves room for a spare that is a little smaller."""
_UNNAMED, _NO_UUID = "new-array", "00000000:00000000:00000000:00000001"


class WizardDraft(Struct, frozen=True, kw_only=True):
    """What has been decided. Empty is undecided.

    Args:
        devices: members by slot, empty slots left out.
        empty: how many slots stay empty.
        destroys: names of arrays that do not run and may be destroyed, as they were typed.
        disks: what whole disks become: "whole", "slack", or how many per cent of each stay free.
        layout: as mdadm takes it.
        policy: "ppl" where that was chosen; a journal is chosen by its device.
        size_percent: used part of each member.
        on_top: "nothing", "ext4", "lvm+ext4" and so on.
        others: further devices of the volume group.
    """

    devices: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    journal: str = ""
    empty: int = 0
    destroys: tuple[str, ...] = ()
    disks: str = ""
    level: str = ""
    layout: str = ""
    chunk_kib: int = 0
    bitmap: str = ""
    policy: str = ""
    metadata: str = "1.2"
    write_mostly: tuple[str, ...] = ()
    failfast: bool = False
    assume_clean: bool = False
    size_percent: int = 100
    number: int | None = None
    on_top: str = ""
    mount: str = ""
    others: tuple[str, ...] = ()
    stripes: int = 0
    stripe_kib: int = 64
    trim_weekly: bool = False
    name: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """All devices that were chosen, for whatever."""
        return (*self.devices, *self.spares, *((self.journal,) if self.journal else ()))

    @property
    def file_system(self) -> str:
        """ext4 or xfs, or "" for none."""
        return "" if self.on_top == "nothing" else self.on_top.removeprefix("lvm").removeprefix("+")

    @property
    def slots(self) -> tuple[str, ...]:
        """The devices by slot, with the empty ones.

        Those stand last; in a RAID-10 they stand between the others, so that no two copies are missing.
        """
        if not self.empty:
            return self.devices
        if self.level != "raid10" or self.empty > len(self.devices):
            return (*self.devices, *(MISSING,) * self.empty)
        found: list[str] = []
        for number, name in enumerate(self.devices):
            found += [name, MISSING] if number >= len(self.devices) - self.empty else [name]
        return tuple(found)

    def guarded(self, key: str) -> WizardDraft:
        """Return the draft with what keeps it consistent after a crash: none, internal, ppl or journal."""
        policy = key if key in {"ppl", "journal"} else ""
        return replace(self, bitmap="none" if policy else key, policy=policy)

    def role(self, device: str) -> str:
        """Return what a device becomes; "" for nothing."""
        if device in self.devices:
            return MEMBER
        if device in self.spares:
            return SPARE
        return JOURNAL if device == self.journal else LEAVE

    def request(self, survey: Survey, uuid: str = _NO_UUID, file_system_uuid: str = "") -> CreateRequest:
        """Return it as a request; what is undecided is as create's own default."""
        made = CreateRequest(
            name=self.name or _UNNAMED,
            uuid=uuid,
            level=self.level or "raid1",
            devices=self.slots,
            layout=self.layout,
            chunk_kib=self.chunk_kib,
            bitmap=self.bitmap,
            consistency_policy=self.policy,
            metadata=self.metadata,
            spares=self.spares,
            journal=self.journal,
            write_mostly=self.write_mostly,
            failfast=self.failfast,
            assume_clean=self.assume_clean,
            number=self.number,
            on_top=self._top(file_system_uuid),
            destroys=self.destroys,
        )
        return replace(made, size_kib=self._size_kib(made, survey)) if self.size_percent < 100 else made

    def _top(self, uuid: str) -> OnTop:
        lvm = self.on_top.startswith("lvm")
        return OnTop(
            file_system=self.file_system,
            mount=self.mount,
            group=f"vg{self.name or _UNNAMED}" if lvm else "",
            uuid=uuid,
            others=self.others,
            stripes=self.stripes,
            stripe_kib=self.stripe_kib,
            trim_weekly=self.trim_weekly and bool(self.mount),
        )

    def _size_kib(self, request: CreateRequest, survey: Survey) -> int:
        least = min(usable(self, request, survey), default=0)
        step = self.chunk_kib or 64
        return least * self.size_percent // 100 // step * step


def parts(draft: WizardDraft, survey: Survey) -> tuple[Device, ...]:
    """Return what the members and spares will be: devices, or the partitions that are made on disks."""
    found = [survey.devices[name] for name in (*draft.devices, *draft.spares) if name in survey.devices]
    if draft.disks in {"", "whole"}:
        return tuple(found)
    return tuple(
        partition_of(each, _reserve(draft), slack=draft.disks == SLACK)
        if each.disk.disk == each.disk.name
        else each
        for each in found
    )


def _reserve(draft: WizardDraft) -> int:
    return 0 if draft.disks == SLACK else int(draft.disks)


def usable(draft: WizardDraft, request: CreateRequest, survey: Survey) -> tuple[int, ...]:
    """Return what of each member and spare can hold data, KiB; nothing where there can be no such array."""
    shape = shape_of(request)
    devices = parts(draft, survey)
    return () if isinstance(shape, Refusal) else component_sizes(request, shape, devices)


def plan_draft(
    draft: WizardDraft, survey: Survey, uuid: str = _NO_UUID, file_system_uuid: str = ""
) -> Plan | Refusal:
    """Return the plan of a draft, finished or not."""
    request = draft.request(survey, uuid, file_system_uuid)
    if draft.disks not in {"", "whole"}:
        return plan_on_disks(request, survey, reserve_percent=_reserve(draft), slack=draft.disks == SLACK)
    return plan_create(request, survey)


def doomed(draft: WizardDraft, survey: Survey) -> tuple[tuple[Superblock, tuple[str, ...]], ...]:
    """Return the arrays that do not run, have members among the devices, and were not given up yet.

    Returns:
        A superblock and the paths of the members for each.
    """
    devices = [survey.devices[name] for name in draft.named if name in survey.devices]
    found = old_arrays(devices, survey).values()
    return tuple((block, paths) for block, paths in found if not is_given_up(block, survey, draft.destroys))


def with_role(draft: WizardDraft, device: str, role: str) -> WizardDraft:
    """Return the draft with a device as a member, spare, journal or nothing; what it is already, it leaves.

    What was decided for the others is undecided again; there is one journal at most.
    """
    role = LEAVE if role == draft.role(device) else role
    devices = tuple(name for name in draft.devices if name != device)
    spares = tuple(name for name in draft.spares if name != device)
    journal = "" if device == draft.journal else draft.journal
    return WizardDraft(
        devices=(*devices, device) if role == MEMBER else devices,
        spares=(*spares, device) if role == SPARE else spares,
        journal=device if role == JOURNAL else journal,
        empty=draft.empty,
        name=draft.name,
    )


def with_level(draft: WizardDraft, level: str, layout: str) -> WizardDraft:
    """Return the draft with another level; what follows from it is undecided again."""
    return WizardDraft(
        devices=draft.devices, spares=draft.spares, journal=draft.journal, empty=draft.empty,
        destroys=draft.destroys, disks=draft.disks, level=level, layout=layout, name=draft.name,
        on_top=draft.on_top, mount=draft.mount, others=draft.others, stripes=draft.stripes,
        stripe_kib=draft.stripe_kib, trim_weekly=draft.trim_weekly,
    )  # fmt: skip


def with_empty(draft: WizardDraft, count: int) -> WizardDraft:
    """Return the draft with so many empty slots; what was decided on top of it is undecided again."""
    kept = max(0, min(MOST_EMPTY, count))
    return WizardDraft(
        devices=draft.devices, spares=draft.spares, journal=draft.journal, empty=kept, name=draft.name
    )


class WizardChoice(Struct, frozen=True, kw_only=True):
    """One thing that can be chosen.

    Args:
        key: its identity within the step.
        words: its row.
        note: an explanation, one or more sentences.
        refusal: why it cannot be chosen, if so.
        pending: whether that is only because it is still being read.
        cells: its row as columns, at the step that has a table.
    """

    key: str
    words: str = ""
    note: str = ""
    refusal: str = ""
    pending: bool = False
    cells: tuple[str, ...] = ()


class WizardRow(Struct, frozen=True, kw_only=True):
    """A value that can be changed, beside others.

    Args:
        key: its identity within the step.
        words: its name.
        value: its value, in words.
        reason: why it has this value, in a few words.
        note: an explanation, one or more sentences.
        refusal: why it cannot be changed, if so.
        usual: whether it has its default value.
        typed: whether its value is typed.
        trouble: what is wrong with what was typed.
    """

    key: str
    words: str
    value: str
    reason: str = ""
    note: str = ""
    refusal: str = ""
    usual: bool = True
    typed: bool = False
    trouble: str = ""
