"""An array on whole disks, which get a table first, with room left free at the end.

What is left free is room for an SSD's own work (published advice: 7 to 12 %), and lets a slightly smaller
disk replace a member later.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.plans.contents import losses_of
from raidtui.plans.create.create_plan import chosen, plan_create
from raidtui.plans.create.create_request import CreateRequest
from raidtui.plans.member_partition import partition_of, table_steps
from raidtui.view.units import binary_size

MOST_RESERVED = 50


def plan_on_disks(
    request: CreateRequest, survey: Survey, *, reserve_percent: int, slack: bool = False
) -> Plan | Refusal:
    """Return the plan that partitions the whole disks of a request, and creates the array on the partitions.

    Args:
        request: the array; whole disks and partitions.
        survey: the host.
        reserve_percent: part left free at the end of each disk.
        slack: whether a little is left free at the end for a smaller spare (``partition_of``).
    """
    if not 0 <= reserve_percent <= MOST_RESERVED:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{reserve_percent} % cannot be left free",
            remedy=f"choose 0 to {MOST_RESERVED}",
        )
    if refusal := survey.refuse_tool("sfdisk", "wipefs"):
        return refusal
    found = chosen(request, survey)
    if isinstance(found, Refusal):
        return found
    whole = {device.disk.name: device for device in found if device.disk.disk == device.disk.name}
    parts = {name: partition_of(device, reserve_percent, slack=slack) for name, device in whole.items()}
    names = {name: part.disk.name for name, part in parts.items()}
    on_parts = replace(
        request,
        devices=tuple(names.get(name, name) for name in request.devices),
        spares=tuple(names.get(name, name) for name in request.spares),
        write_mostly=tuple(names.get(name, name) for name in request.write_mostly),
        journal=names.get(request.journal, request.journal),
    )
    devices = {**survey.devices, **{part.disk.name: part for part in parts.values()}}
    plan = plan_create(on_parts, replace(survey, devices=devices))
    if isinstance(plan, Refusal) or not whole:
        return plan
    before = [
        step for device in whole.values() for step in table_steps(device, parts[device.disk.name], survey)
    ]
    losses = losses_of(whole.values(), survey)
    left = binary_size(sum((d.disk.size_bytes or 0) for d in whole.values()) * reserve_percent // 100)
    note = (
        f"{reserve_percent} % at the end of each disk stays unused ({left} in total), as spare area for the"
        " SSD."
    )
    return replace(
        plan,
        steps=(*before, *plan.steps),
        losses=(*losses, *plan.losses),
        warning="What is on the devices is lost, and undo does not restore it." if losses else plan.warning,
        notes=(*plan.notes, note) if reserve_percent else plan.notes,
        devices=(*request.named, *request.on_top.others),
    )
