"""``raidtui plan VERB ...``: makes a plan, prints it, changes nothing."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable

from raidtui.actions.create import CreateRequest, plan_create
from raidtui.actions.create_request import MISSING
from raidtui.actions.names import find_array
from raidtui.actions.on_top import OnTop
from raidtui.actions.partition import plan_on_disks
from raidtui.actions.power import plan_assemble, plan_stop
from raidtui.actions.rename import plan_rename
from raidtui.actions.repair import (
    plan_add,
    plan_fail,
    plan_re_add,
    plan_remove,
    plan_replace,
    plan_zero_superblock,
)
from raidtui.actions.script import plan_sentences, shell_script
from raidtui.actions.sync import plan_check
from raidtui.desk import new_file_system_uuid, new_uuid
from raidtui.host.root import Root
from raidtui.host.survey import read_survey
from raidtui.jobs.store import save_plan
from raidtui.model.array import Array
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.model.text import visible
from raidtui.monitor.sampler import Sampler

REFUSED = 2
_WITH_DEVICE: dict[str, Callable[[Survey, Array, str], Plan | Refusal]] = {
    "fail": plan_fail,
    "remove": plan_remove,
    "add": plan_add,
    "re-add": plan_re_add,
}


def make_plan(root: Root, arguments: argparse.Namespace) -> Plan | Refusal:
    """Read the host and return the plan that the arguments ask for."""
    words = [word for key in ("devices", "spare", "write_mostly") for word in getattr(arguments, key, ())]
    words += [word for key in ("device", "other") if (word := getattr(arguments, key, None))]
    # An empty slot is no device, and only an array that is yet to be has one.
    hole = MISSING if arguments.verb == "create" else ""
    names = {word: word if word == hole else kernel_name(root, word) for word in words}
    snapshot = Sampler(root).sample()
    array = find_array(snapshot, arguments.array) if hasattr(arguments, "array") else None
    if isinstance(array, Refusal):
        return array
    members = [member.name for member in array.members] if array is not None else []
    survey = read_survey(root, snapshot, tuple(dict.fromkeys((*names.values(), *members))))
    if arguments.verb == "create":
        return _create(arguments, survey, names)
    if arguments.verb == "assemble":
        given = tuple(names[word] for word in arguments.devices)
        return plan_assemble(survey, given, run=arguments.run, read_only=arguments.read_only)
    if arguments.verb == "zero-superblock":
        return plan_zero_superblock(survey, names[arguments.device])
    return (
        _of_array(arguments, array, survey, names) if array is not None else Refusal(why="no array is named")
    )


def _of_array(
    arguments: argparse.Namespace, array: Array, survey: Survey, names: dict[str, str]
) -> Plan | Refusal:
    if arguments.verb == "stop":
        return plan_stop(survey, array)
    if arguments.verb == "check":
        return plan_check(survey.snapshot, array.key)
    if arguments.verb == "rename":
        return plan_rename(survey, array, arguments.to, references=arguments.references)
    if arguments.verb == "replace":
        return plan_replace(survey, array, names[arguments.device], names[arguments.other])
    return _WITH_DEVICE[arguments.verb](survey, array, names[arguments.device])


def _create(arguments: argparse.Namespace, survey: Survey, names: dict[str, str]) -> Plan | Refusal:
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
        on_top=OnTop(
            file_system=arguments.filesystem,
            mount=arguments.mount,
            group=arguments.lvm.partition("/")[0],
            volume=arguments.lvm.partition("/")[2] or "data",
            uuid=new_file_system_uuid(),
        ),
    )
    if arguments.partition:
        return plan_on_disks(request, survey, reserve_percent=arguments.reserve)
    return plan_create(request, survey)


def kernel_name(root: Root, word: str) -> str:
    """Return the kernel's name of a device: links under /dev are followed, as they are now."""
    path = _plain(word if word.startswith("/") else f"/dev/{word}")
    for _ in range(8):
        target = root.link(path)
        if target is None:
            break
        path = _plain(target if target.startswith("/") else f"{path.rpartition('/')[0]}/{target}")
    return path.removeprefix("/dev/").removeprefix("/")


def _plain(path: str) -> str:
    """Return an absolute path without "..", "." and empty parts."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts.append(part)
    return "/" + "/".join(parts)


def run_plan_order(root: Root, arguments: argparse.Namespace) -> int:
    """Print the plan; return 0, or 2 where it is refused."""
    plan = make_plan(root, arguments)
    if isinstance(plan, Refusal):
        print(f"raidtui: not possible: {visible(plan.sentence)}", file=sys.stderr)
        return REFUSED
    if arguments.json:
        sys.stdout.buffer.write(save_plan(plan, host=root.hostname or "", made_s=time.time()))
    elif arguments.sh:
        sys.stdout.write(shell_script(plan))
    else:
        print("\n".join(plan_sentences(plan)))
        if plan.confirm:
            print(
                "To do it: raidtui plan ... --json >plan.json;"
                f" raidtui apply plan.json --confirm={shlex.quote(visible(plan.confirm))}"
            )
    return 0
