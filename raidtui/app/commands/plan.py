"""``raidtui plan VERB ...``: makes a plan, prints it, changes nothing."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from raidtui.app.commands.monitoring import VERBS as MONITORING
from raidtui.app.registry import FEATURES
from raidtui.command.device_names import kernel_names
from raidtui.command.plan_output import add_destroy, add_forms, print_plan
from raidtui.frame.feature import Verbs
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import ReadingScope
from raidtui.model.array import Array
from raidtui.model.plan import NothingToDo, Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Device, Survey
from raidtui.monitor.sampler import Sampler
from raidtui.plans.already import (
    added_already,
    assembled_already,
    grown_already,
    journal_already,
    removed_already,
    renamed_already,
    replaced_already,
    shrunk_already,
    stopped_already,
    zeroed_already,
)
from raidtui.plans.assemble import plan_assemble
from raidtui.plans.bitmap import plan_bitmap
from raidtui.plans.candidates import old_arrays
from raidtui.plans.create.create_already import created_already
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest, OnTop
from raidtui.plans.create.partition import plan_on_disks
from raidtui.plans.leave import plan_fail, plan_remove, plan_zero_superblock
from raidtui.plans.locate import plan_locate
from raidtui.plans.re_add import plan_re_add
from raidtui.plans.rename import plan_rename
from raidtui.plans.repair import plan_add, plan_replace
from raidtui.plans.stop import plan_read_only, plan_read_write, plan_stop
from raidtui.plans.sync import plan_check, plan_repair
from raidtui.plans.target import find_array, needs_root
from raidtui.watch.storage import new_file_system_uuid, new_uuid, reading_of, scope_of

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``plan``."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    form = argparse.ArgumentParser(add_help=False)
    add_forms(form)

    def verb(name: str, words: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = verbs.add_parser(
            name, help=words, description=f"{words[0].upper()}{words[1:]}.", parents=[form]
        )
        return made

    for name, words in (
        ("stop", "stop an array"),
        ("read-only", "make an array read-only"),
        ("read-write", "make an array writable again"),
        ("check", "read all members and compare"),
        ("repair", "overwrite mismatches with one of the copies, or with recomputed parity"),
    ):
        verb(name, words).add_argument("array", metavar="ARRAY")
    for name, words in (
        ("fail", "mark a member as failed"),
        ("remove", "remove a failed member or a spare"),
        ("add", "add a device, as a member or a spare"),
        ("re-add", "re-add a former member, copying only what changed"),
    ):
        each = verb(name, words)
        each.add_argument("array", metavar="ARRAY")
        each.add_argument("device", metavar="DEVICE")
        if name == "add":
            add_destroy(each)
    replace = verb("replace", "copy a member to another device while it stays in service")
    replace.add_argument("array", metavar="ARRAY")
    replace.add_argument("device", metavar="OLD")
    replace.add_argument("--with", dest="other", metavar="NEW", required=True)
    add_destroy(replace)
    for verbs_of in _feature_verbs():
        verbs_of.add(verb)
    bitmap = verb("bitmap", "add or remove the write-intent bitmap of an array")
    bitmap.add_argument("array", metavar="ARRAY")
    bitmap.add_argument("bitmap", choices=("none", "internal", "lockless"))
    locate = verb("locate", "switch the locate light of a disk's bay on or off")
    locate.add_argument("device", metavar="DEVICE")
    locate.add_argument("--off", action="store_true", help="switch it off")
    rename = verb("rename", "rename an array")
    rename.add_argument("array", metavar="ARRAY")
    rename.add_argument("--to", metavar="NAME", required=True)
    rename.add_argument("--references", action="store_true", help="also change fstab and crypttab")
    assemble = verb("assemble", "start an array from its members")
    assemble.add_argument("devices", metavar="DEVICE", nargs="+")
    assemble.add_argument("--run", action="store_true", help="start it even if members are missing")
    assemble.add_argument("--read-only", action="store_true", help="write nothing to it")
    zero = verb("zero-superblock", "zero the md superblock of a device that no array uses")
    zero.add_argument("device", metavar="DEVICE")
    add_destroy(zero)
    _add_create(verb("create", "create an array"))


def _feature_verbs() -> tuple[Verbs, ...]:
    return (*(feature.verbs() for feature in FEATURES if feature.verbs is not None), MONITORING)


def _add_create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="name of the array: three digits, or a word")
    parser.add_argument("--level", required=True, help="raid0, raid1, raid4, raid5, raid6, raid10")
    parser.add_argument("--layout", default="", help="n2, f2, o2 (raid10); ls, la, rs, ra (raid5, raid6)")
    parser.add_argument("--chunk", type=int, default=0, metavar="KIB")
    parser.add_argument("--bitmap", default="", choices=("none", "internal"))
    parser.add_argument("--consistency-policy", default="", choices=("resync", "bitmap", "ppl", "journal"))
    parser.add_argument(
        "--write-journal", default="", metavar="DEVICE", help="device for a journal (raid4, raid5, raid6)"
    )
    parser.add_argument("--metadata", default="1.2", choices=("1.0", "1.1", "1.2"))
    parser.add_argument("--spare", action="append", default=[], metavar="DEVICE")
    parser.add_argument("--write-mostly", action="append", default=[], metavar="DEVICE")
    parser.add_argument("--failfast", action="store_true")
    parser.add_argument("--assume-clean", action="store_true", help="skip the first sync (raid1, raid10)")
    parser.add_argument(
        "--size", type=int, default=0, metavar="KIB", help="used of each member (default: all of it)"
    )
    parser.add_argument(
        "--partition", action="store_true", help="give whole disks a GPT with a Linux RAID partition"
    )
    parser.add_argument(
        "--reserve",
        type=int,
        default=10,
        metavar="PERCENT",
        help="left unused at the end of a disk (default: 10)",
    )
    parser.add_argument(
        "--lvm", default="", metavar="GROUP[/VOLUME]", help="create a volume group and a volume on it"
    )
    parser.add_argument(
        "--pv", action="append", default=[], metavar="DEVICE", help="another physical volume for the group"
    )
    parser.add_argument(
        "--stripes", type=int, default=0, help="stripe the volume over this many physical volumes"
    )
    parser.add_argument(
        "--stripe-size",
        type=int,
        default=64,
        metavar="KIB",
        help="size of the volume's stripes (default: 64)",
    )
    parser.add_argument(
        "--filesystem", default="", choices=("ext4", "xfs"), help="create it with the array's geometry"
    )
    parser.add_argument("--mount", default="", metavar="FOLDER", help="mount it there, now and in fstab")
    parser.add_argument("--trim-weekly", action="store_true", help="enable fstrim.timer")
    add_destroy(parser)
    parser.add_argument(
        "devices", metavar="DEVICE", nargs="+", help="members by slot; the word missing leaves a slot empty"
    )


def _closely(scope: ReadingScope, survey: Survey) -> list[Device]:
    return [survey.devices[name] for name in scope.closely if name in survey.devices]


def make_plan(reader: HostReader, arguments: argparse.Namespace) -> Plan | Refusal:
    """Read the host and return the plan that the arguments ask for."""
    verb = arguments.verb
    names = kernel_names(reader, arguments)
    snapshot = Sampler(reader).sample()
    array = find_array(snapshot, arguments.array) if hasattr(arguments, "array") else None
    if isinstance(array, Refusal):
        return _gone_already(reader, arguments, snapshot) or array
    of_feature = next((each for each in _feature_verbs() if verb in each.names), None)
    if of_feature is not None and of_feature.of_host is not None:
        return of_feature.of_host(reader, arguments, snapshot)
    scope = scope_of(verb, array, tuple(names.values()), on_top=verb == "create" and _puts_on_top(arguments))
    survey = reading_of(reader, snapshot, scope).start().wait()
    if not scope.everything and hasattr(arguments, "destroy") and old_arrays(_closely(scope, survey), survey):
        # Another stopped array may have the same name, which then does not say which one is destroyed.
        survey = reading_of(reader, snapshot, replace(scope, everything=True)).start().wait()
    if already := _already(arguments, array, survey, names):
        return needs_root(snapshot) or already
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
    if of_feature is not None and of_feature.of_array is not None:
        return of_feature.of_array(reader, arguments, array, survey, names)
    return _plan_for_array(arguments, array, survey, names)


def plan_of_words(reader: HostReader, words: Sequence[str]) -> Plan | Refusal:
    """Return the plan that an order of ours prints.

    Args:
        reader: the host.
        words: as after ``raidtui``, from ``plan`` on.
    """
    parser = argparse.ArgumentParser(prog="raidtui plan")
    add_arguments(parser)
    return make_plan(reader, parser.parse_args(words[1:]))


def _gone_already(
    reader: HostReader, arguments: argparse.Namespace, snapshot: Snapshot
) -> Plan | Refusal | None:
    """Return that an array which is not there was stopped, or renamed, as is asked for; else None."""
    if arguments.verb not in {"stop", "rename"} or needs_root(snapshot) is not None:
        return None
    survey = reading_of(reader, snapshot, ReadingScope(everything=True, digests=False)).start().wait()
    if arguments.verb == "stop":
        return stopped_already(survey, arguments.array)
    return renamed_already(survey, arguments.array, arguments.to)


def _already(
    arguments: argparse.Namespace, array: Array | None, survey: Survey, names: dict[str, str]
) -> NothingToDo | None:
    """Return that what is asked for is so, where the verb's own plan does not say it."""
    verb = arguments.verb
    if verb == "assemble":
        given = tuple(names[word] for word in arguments.devices)
        return assembled_already(survey, given, read_only=arguments.read_only)
    if verb == "zero-superblock":
        return zeroed_already(survey, names[arguments.device])
    if array is None:
        return None
    if verb in {"add", "re-add"}:
        return added_already(array, names[arguments.device])
    if verb == "remove":
        return removed_already(survey, array, names[arguments.device])
    if verb == "replace":
        return replaced_already(array, names[arguments.device], names[arguments.other])
    if verb == "grow" and not (arguments.size or arguments.larger):
        return grown_already(array, tuple(names[word] for word in arguments.devices), arguments.slots)
    if verb == "shrink":
        return shrunk_already(array, arguments.slots, arguments.size)
    if verb == "journal" and not arguments.policy:
        return journal_already(array, names[arguments.device] if arguments.device else "")
    return None


def _puts_on_top(arguments: argparse.Namespace) -> bool:
    """Whether LVM and systemd have to be asked."""
    return bool(arguments.lvm or arguments.filesystem or arguments.mount or arguments.trim_weekly)


def _plan_for_array(
    arguments: argparse.Namespace, array: Array, survey: Survey, names: dict[str, str]
) -> Plan | Refusal:
    verb = arguments.verb
    if verb in _OF_ARRAY:
        return _OF_ARRAY[verb](survey, array)
    if verb == "rename":
        return plan_rename(survey, array, arguments.to, references=arguments.references)
    if verb == "bitmap":
        return plan_bitmap(survey, array, arguments.bitmap)
    device = names[arguments.device]
    if verb == "add":
        return plan_add(survey, array, device, destroys=arguments.destroy)
    if verb == "replace":
        return plan_replace(survey, array, device, names[arguments.other], destroys=arguments.destroy)
    return _OF_MEMBER[verb](survey, array, device)


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Print the plan; return 0, or 2 where it is refused."""
    return print_plan(make_plan(reader, arguments), arguments, reader, "raidtui plan ...")


def _plan_create(arguments: argparse.Namespace, survey: Survey, names: dict[str, str]) -> Plan | Refusal:
    """Return the plan of a new array.

    Args:
        arguments: the arguments of the verb.
        survey: the host.
        names: kernel names of the devices, by the typed words.
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
    if already := created_already(request, survey, partitions=arguments.partition):
        return already
    if arguments.partition:
        return plan_on_disks(request, survey, reserve_percent=arguments.reserve)
    return plan_create(request, survey)
