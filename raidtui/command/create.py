"""``raidtui plan create ...``: the options as a request."""

from __future__ import annotations

import argparse

from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest, OnTop
from raidtui.plans.create.partition import plan_on_disks
from raidtui.session.storage import new_file_system_uuid, new_uuid


def plan_created(arguments: argparse.Namespace, survey: Survey, names: dict[str, str]) -> Plan | Refusal:
    """Return the plan of a new array.

    Args:
        arguments: what was typed.
        survey: the host.
        names: kernel names of the devices, by what was typed.
    """
    request = CreateRequest(
        uuid=new_uuid(),
        name=arguments.name,
        level=arguments.level,
        devices=tuple(names[word] for word in arguments.devices),
        layout=arguments.layout,
        chunk_kib=arguments.chunk,
        bitmap=arguments.bitmap,
        consistency_policy=arguments.consistency_policy,
        metadata=arguments.metadata,
        spares=tuple(names[word] for word in arguments.spare),
        write_mostly=tuple(names[word] for word in arguments.write_mostly),
        failfast=arguments.failfast,
        assume_clean=arguments.assume_clean,
        size_kib=arguments.size,
        journal=names[arguments.write_journal] if arguments.write_journal else "",
        destroys=tuple(arguments.destroy),
        on_top=OnTop(
            file_system=arguments.filesystem,
            mount=arguments.mount,
            group=arguments.lvm.partition("/")[0],
            volume=arguments.lvm.partition("/")[2] or "data",
            uuid=new_file_system_uuid(),
            others=tuple(names[word] for word in arguments.pv),
            stripes=arguments.stripes,
            stripe_kib=arguments.stripe_size,
            trim_weekly=arguments.trim_weekly,
        ),
    )
    if arguments.partition:
        return plan_on_disks(request, survey, reserve_percent=arguments.reserve)
    return plan_create(request, survey)
