"""``raidtui pull``: exchange a disk: which one it is, which one has left, and the new one put in.

Exit status: 0 done, or there is nothing; 1 a disk is being exchanged, or it was not done; 2 refused; 75
another job is running.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from raidtui.command.device_names import kernel_name
from raidtui.command.following import attach, refused
from raidtui.command.streams import UsageError, print_json
from raidtui.features.pull.blink import burst
from raidtui.features.pull.pull_plans import disk_scope, make_draft, next_scope, plan_next
from raidtui.features.pull.record import PullError
from raidtui.features.pull.session import Pulls, closed, note_job, read_look, refuse_ending
from raidtui.features.pull.standing import PullStage
from raidtui.features.pull.words import disk_words
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import Reading
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import begin_job, start_worker
from raidtui.jobs.store import find_job
from raidtui.jobs.writable import tried
from raidtui.model.plan import Harm, Refusal
from raidtui.monitor.boot.boot_check import check_boot, look_at_boot_dict
from raidtui.monitor.sampler import Sampler
from raidtui.plans.shell_script import plan_sentences
from raidtui.plans.target import find_array
from raidtui.view.text import visible
from raidtui.watch.storage import reading_of

if TYPE_CHECKING:
    from raidtui.features.pull.bays import BayDisk
    from raidtui.features.pull.record import PullDisk
    from raidtui.features.pull.session import PullLook
    from raidtui.model.plan import Plan

_NOTHING, _SOME, _REFUSED = 0, 1, 2
_PACE_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``pull``."""
    parser.description = (
        "Exchange a disk. Without arguments: the state of the exchange. With an array and a member: which"
        " disk it is, and the plan that takes it out."
    )
    parser.add_argument("array", metavar="ARRAY", nargs="?", help="the array")
    parser.add_argument("member", metavar="MEMBER", nargs="?", help="the member whose disk is to be pulled")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--next", action="store_true", help="print the next plan of the exchange")
    what.add_argument(
        "--watch", action="store_true", help="report what happens, until there is something to do"
    )
    what.add_argument(
        "--status", action="store_true", help="show the state of the exchange; as without arguments"
    )
    what.add_argument("--cancel", action="store_true", help="forget the exchange; nothing is changed")
    parser.add_argument("--start", action="store_true", help="carry the plan out, and follow its job")
    parser.add_argument("--disk", default="", metavar="SERIAL", help="the new disk, where several are new")
    parser.add_argument(
        "--confirm", default="", metavar="NAME", help="name to type for a plan that destroys data"
    )
    parser.add_argument(
        "--destroy", action="append", default=[], metavar="NAME", help="a stopped array that may be destroyed"
    )
    parser.add_argument("--json", action="store_true", help="the status as JSON (docs/pull.md)")


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Carry out ``raidtui pull``; return the exit status, see the module."""
    if (arguments.array is None) != (arguments.member is None):
        raise UsageError("an array and a member are needed: raidtui pull ARRAY MEMBER")
    asked = arguments.array is not None
    if asked and (arguments.next or arguments.watch or arguments.cancel or arguments.status):
        raise UsageError("--next, --watch, --status and --cancel are about the exchange that has begun")
    if arguments.start and not (asked or arguments.next):
        raise UsageError("--start goes with an array and a member, or with --next")
    pulls = Pulls(reader)
    try:
        if asked:
            return _begin(reader, pulls, arguments)
        if arguments.cancel:
            return _cancel(reader, pulls)
        if arguments.watch:
            return _watch(reader, pulls)
        if arguments.next:
            return _next(reader, pulls, arguments)
        return _status(reader, pulls, as_json=arguments.json)
    except PullError as error:
        return _refused(str(error))


def _look(reader: HostReader, pulls: Pulls) -> PullLook | None:

    look = read_look(reader, pulls, Sampler(reader).sample().arrays)
    return closed(look, check_boot(reader)) if look is not None and look.closes else look


def _status(reader: HostReader, pulls: Pulls, *, as_json: bool) -> int:

    look = _look(reader, pulls)
    if as_json:
        print_json({"pull": look_dict(look) if look is not None else None})
    elif look is None:
        print("No disk is being exchanged. To begin: raidtui pull ARRAY MEMBER")
    else:
        _print_look(look)
    return _NOTHING if look is None else _SOME


def _print_look(look: PullLook) -> None:

    for line in look_lines(look):
        print(visible(line), flush=True)


def look_lines(look: PullLook) -> list[str]:
    """Return an exchange as it stands, for people."""
    record, found, words = look.record, look.standing, look.words
    lines = [f"Pull this disk: {record.target.name} · {disk_words(record.target)}", f"{words.head}."]
    lines += [f"  {text}" for text in words.text]
    lines += ["Not these:"]
    for disk, state in found.others:
        arrays = ", ".join(dict.fromkeys(member.array for member in disk.members)) or "no array"
        lines.append(f"  {disk.name:<9} {disk_words(disk)} · {arrays} · {state.value}")
    if words.act:
        lines.append(f"Next, {words.act}: raidtui pull {'--cancel' if _is_done(look) else '--next'}")
    return lines


def _is_done(look: PullLook) -> bool:

    return look.standing.stage is PullStage.DONE


def look_dict(look: PullLook) -> dict[str, Any]:
    """Return the form for programs (docs/pull.md)."""
    record, found = look.record, look.standing
    return {
        "stage": found.stage.value,
        "head": look.words.head,
        "text": list(look.words.text),
        "target": {**_disk_dict(record.target), "here": found.target is not None},
        "others": [{**_disk_dict(disk), "state": state.value} for disk, state in found.others],
        "new": [{**_number_dict(disk), "name": disk.name, "bay": disk.bay or None} for disk in found.fresh],
        "complete": found.complete,
        "lost": list(found.lost),
        "begun_at": record.begun_s,
        "left_at": record.left_s,
        "who": record.who,
        "job": found.job or None,
        "boot": None if look.boot is None else look_at_boot_dict(look.boot),
    }


def _number_dict(disk: PullDisk | BayDisk) -> dict[str, Any]:
    return {"serial": disk.label or None, "identity": disk.identity or None}


def _disk_dict(disk: PullDisk) -> dict[str, Any]:
    return {
        **_number_dict(disk),
        "name": disk.name,
        "model": disk.model or None,
        "size_bytes": disk.size_bytes,
        "bay": disk.bay or None,
        "members": [
            {"array": each.array, "uuid": each.uuid, "partition": each.part or None, "slot": each.slot}
            for each in disk.members
        ],
    }


def _begin(reader: HostReader, pulls: Pulls, arguments: argparse.Namespace) -> int:
    """Show which disk it is and what takes it out; with ``--start``, do it."""
    snapshot = Sampler(reader).sample()
    array = find_array(snapshot, arguments.array)
    if isinstance(array, Refusal):
        return _not_possible(array)
    name = kernel_name(reader, arguments.member)
    survey = Reading(reader, snapshot, disk_scope(snapshot, name, array)).start().wait()
    draft = make_draft(reader, survey, name)
    if isinstance(draft, Refusal):
        return _not_possible(draft)
    target = draft.record.target
    if not any(member.uuid == array.uuid for member in target.members):
        return _refused(f"{name} holds no member of {array.title}")
    taken_out = tried(reader, draft.made)
    if isinstance(taken_out, Refusal):
        return _not_possible(taken_out)
    print(visible(f"Pull this disk: {target.name} · {disk_words(target)}"))
    for disk in draft.record.others:
        print(visible(f"Not this one:   {disk.name} · {disk_words(disk)}"))
    if draft.first is not None:
        print(visible(f"First choice:   {draft.first.title}: it copies while this disk still serves (R)"))
    begin = f"raidtui pull {shlex.quote(arguments.array)} {shlex.quote(arguments.member)} --start"
    if not arguments.start:
        _print_plan(taken_out, begin)
        return _NOTHING
    if refusal := _refuse_start(reader):
        return _refused(refusal)
    pulls.begin(draft.record)
    if not taken_out.steps:
        return _status(reader, pulls, as_json=False)
    return _carry_out(reader, pulls, taken_out, None, arguments)


def _print_plan(plan: Plan, command: str) -> None:

    print("\n".join(plan_sentences(plan)))
    confirm = f" --confirm={shlex.quote(plan.confirm)}" if plan.confirm else ""
    print(f"To do it: {command}{confirm}")


def _refuse_start(reader: HostReader) -> str:
    if not reader.live:
        return "this is not the live host: nothing is carried out here"
    return "" if reader.writable else "needs root: run it with sudo"


def _next(reader: HostReader, pulls: Pulls, arguments: argparse.Namespace) -> int:
    """Show the next plan; with ``--start``, carry it out."""
    look = _look(reader, pulls)
    if look is None:
        return _refused("no disk is being exchanged; to begin: raidtui pull ARRAY MEMBER")
    if look.standing.interrupted:
        if not arguments.start:
            print(f"job {look.standing.job} was interrupted. To resume it: raidtui pull --next --start")
            return _SOME

        try:
            job = find_job(look.standing.job)
            since = len(job.entries())
            start_worker(job)
        except JobError as error:
            return refused(error)
        return attach(job, since=since)
    snapshot = Sampler(reader).sample()
    survey = reading_of(reader, snapshot, next_scope(snapshot, look, arguments.disk)).start().wait()
    made = tried(
        reader, plan_next(reader, survey, look, chosen=arguments.disk, destroys=tuple(arguments.destroy))
    )
    if isinstance(made, Refusal):
        return _not_possible(made)
    if not arguments.start:
        _print_plan(made, "raidtui pull --next --start")
        return _NOTHING
    if refusal := _refuse_start(reader):
        return _refused(refusal)
    name = made.confirm or made.subject
    if made.harm is Harm.DESTROYS and arguments.confirm != name:
        return _refused(f"it destroys data: to confirm, give --confirm={shlex.quote(name)}")
    return _carry_out(reader, pulls, made, look, arguments)


def _carry_out(
    reader: HostReader, pulls: Pulls, plan: Plan, look: PullLook | None, arguments: argparse.Namespace
) -> int:

    print("\n".join(plan_sentences(plan)), flush=True)
    try:
        job = begin_job(plan, host=reader.hostname or "")
    except JobError as error:
        return refused(error)
    note_job(pulls, look, job.id, chosen=arguments.disk)
    status = attach(job)
    found = _look(reader, pulls)
    if found is not None:
        _print_look(found)
    return status


def _watch(reader: HostReader, pulls: Pulls) -> int:
    """Print each change, until something is to be done that raidtui does; meanwhile let the disk blink."""
    last: list[str] = []
    while True:
        look = _look(reader, pulls)
        if look is None:
            if not last:
                print("No disk is being exchanged. To begin: raidtui pull ARRAY MEMBER")
            return _NOTHING
        lines = look_lines(look)
        if lines != last:
            alarm = "\a" if look.standing.wrong else ""
            print(alarm, end="")
            _print_look(look)
            last = lines
        if look.words.act:
            return _NOTHING
        target = look.standing.target
        if target is not None and look.standing.stage is PullStage.WAITING and not look.record.light:
            burst(f"/dev/{target.name}")
        time.sleep(_PACE_S)


def _cancel(reader: HostReader, pulls: Pulls) -> int:

    look = _look(reader, pulls)
    if look is None:
        print("No disk is being exchanged.")
        return _NOTHING
    if refusal := refuse_ending(look):
        return _not_possible(refusal)
    pulls.end()
    target = look.record.target
    print(visible(f"The exchange of {target.name}, {target.number}, has ended. Nothing was changed."))
    if look.record.light and look.standing.target is not None:
        print(
            "The light of its bay may still be on:"
            f" ledctl --listed-only locate_off=/dev/{look.standing.target.name}"
        )
    return _NOTHING


def _not_possible(refusal: Refusal) -> int:
    return _refused(f"not possible: {refusal.sentence}")


def _refused(sentence: str) -> int:

    print(visible(f"raidtui: {sentence}"), file=sys.stderr)
    return _REFUSED
