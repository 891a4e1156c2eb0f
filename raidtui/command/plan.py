"""``raidtui plan VERB ...``: makes a plan, prints it, changes nothing."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Callable

from msgspec.structs import replace

from raidtui.command.device_names import kernel_names
from raidtui.command.refusal import tell_refusal
from raidtui.command.streams import write_bytes
from raidtui.host.reading import ReadingScope
from raidtui.host.roots.root import Root
from raidtui.jobs.store import save_plan
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Device, Survey
from raidtui.monitor.sampler import Sampler
from raidtui.plans.assemble import plan_assemble
from raidtui.plans.candidates import old_arrays
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest, OnTop
from raidtui.plans.create.partition import plan_on_disks
from raidtui.plans.leave import plan_fail, plan_remove, plan_zero_superblock
from raidtui.plans.locate import plan_locate
from raidtui.plans.rename import plan_rename
from raidtui.plans.repair import plan_add, plan_re_add, plan_replace
from raidtui.plans.reshape import plan_bitmap, plan_grow_chunk
from raidtui.plans.shell_script import plan_sentences, shell_script
from raidtui.plans.stop import plan_read_only, plan_read_write, plan_stop
from raidtui.plans.sync import plan_check, plan_repair
from raidtui.plans.target import find_array
from raidtui.session.storage import new_file_system_uuid, new_uuid, read, scope_of
from raidtui.view.text import visible

REFUSED = 2
_OF_ARRAY: dict[str, Callable[[Survey, Array], Plan | Refusal]] = {
    "stop": plan_stop,
    "read-only": plan_read_only,
    "read-write": plan_read_write,
    "check": lambda survey, array: plan_check(survey.snapshot, array.key),
    "repair": lambda survey, array: plan_repair(survey.snapshot, array.key),
}
_OF_MEMBER: dict[str, Callable[[Survey, Array, str], Plan | Refusal]] = {
    "fail": plan_fail,
    "remove": plan_remove,
    "re-add": plan_re_add,
}


def _closely(scope: ReadingScope, survey: Survey) -> list[Device]:
    return [survey.devices[name] for name in scope.closely if name in survey.devices]


def make_plan(root: Root, arguments: argparse.Namespace) -> Plan | Refusal:
    """Read the host and return the plan that the arguments ask for."""
    verb = arguments.verb
    names = kernel_names(root, arguments)
    snapshot = Sampler(root).sample()
    array = find_array(snapshot, arguments.array) if hasattr(arguments, "array") else None
    if isinstance(array, Refusal):
        return array
    if verb == "self-test":
        from raidtui.wear.self_tests import read_self_test_plan  # noqa: PLC0415  (other plans need none of it)

        return read_self_test_plan(root, snapshot, names[arguments.device], arguments.test)
    scope = scope_of(verb, array, tuple(names.values()), on_top=verb == "create" and _puts_on_top(arguments))
    survey = read(root, snapshot, scope).start().wait()
    if not scope.everything and hasattr(arguments, "destroy") and old_arrays(_closely(scope, survey), survey):
        # Another array at rest may have the same name: that one alone would not say which is given up.
        survey = read(root, snapshot, replace(scope, everything=True)).start().wait()
    if verb == "create":
        return _plan_create(arguments, survey, names)
    if verb == "assemble":
        given = tuple(names[word] for word in arguments.devices)
        return plan_assemble(survey, given, run=arguments.run, read_only=arguments.read_only)
    if verb == "zero-superblock":
        return plan_zero_superblock(survey, names[arguments.device], destroys=arguments.destroy)
    if verb == "locate":
        return plan_locate(survey, names[arguments.device], on=not arguments.off)
    if array is None:
        return Refusal(code=RefusalCode.NOT_FOUND, why="no array is named")
    return _of_array(arguments, array, survey, names)


def _puts_on_top(arguments: argparse.Namespace) -> bool:
    """Whether LVM and systemd have to be asked."""
    return bool(arguments.lvm or arguments.filesystem or arguments.mount or arguments.trim_weekly)


def _of_array(
    arguments: argparse.Namespace, array: Array, survey: Survey, names: dict[str, str]
) -> Plan | Refusal:
    verb = arguments.verb
    if verb in _OF_ARRAY:
        return _OF_ARRAY[verb](survey, array)
    if verb == "rename":
        return plan_rename(survey, array, arguments.to, references=arguments.references)
    if verb == "grow-chunk":
        return plan_grow_chunk(survey, array, arguments.chunk)
    if verb == "bitmap":
        return plan_bitmap(survey, array, arguments.bitmap)
    device = names[arguments.device]
    if verb == "add":
        return plan_add(survey, array, device, destroys=arguments.destroy)
    if verb == "replace":
        return plan_replace(survey, array, device, names[arguments.other], destroys=arguments.destroy)
    return _OF_MEMBER[verb](survey, array, device)


def run_plan(root: Root, arguments: argparse.Namespace) -> int:
    """Print the plan; return 0, or 2 where it is refused."""
    plan = make_plan(root, arguments)
    if isinstance(plan, Refusal):
        tell_refusal(plan, as_json=arguments.json)
        return REFUSED
    if arguments.json:
        write_bytes(save_plan(plan, host=root.hostname or "", made_s=time.time()))
    elif arguments.sh:
        write_bytes(shell_script(plan).encode("utf-8", "surrogateescape"))
    else:
        print("\n".join(plan_sentences(plan)))
        if plan.confirm:
            print(
                "To do it: raidtui plan ... --json >plan.json;"
                f" raidtui apply plan.json --confirm={shlex.quote(visible(plan.confirm))}"
            )
    return 0


def _plan_create(arguments: argparse.Namespace, survey: Survey, names: dict[str, str]) -> Plan | Refusal:
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
