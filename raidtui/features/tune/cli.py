"""``raidtui tune``: shows knobs, sets them for now, keeps them over reboots, undoes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import print_json, print_refusal, write_bytes
from raidtui.config import config_folder
from raidtui.features.tune.cli_output import (
    NOTHING,
    detail_lines,
    nothing_dict,
    profile_dict,
    result_dict,
    table_lines,
    tuning_dict,
)
from raidtui.features.tune.session import Tuner, TuneResult, ask_erc, read_profiles
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.plan_file import machine_of, save_plan
from raidtui.jobs.writable import tried
from raidtui.model.knob import KnobScope, Tuning
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.plans.shell_script import plan_sentences
from raidtui.plans.target import needs_root
from raidtui.plans.tune.keep import KeepItem, items_for_now, plan_forget, plan_keep
from raidtui.plans.tune.now import AskedValue, plan_set, titled_back
from raidtui.plans.tune.profiles import BUILT_IN, Profile, plan_profile
from raidtui.plans.tune.targets import NamedKnob, TargetReader
from raidtui.view.text import visible

NOT_DONE = 1
_WORDS = "disks, @ARRAY (all of its members), an array, a cache, cpu, system; then KNOB=VALUE"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``tune``."""
    subcommands = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
    form = argparse.ArgumentParser(add_help=False)
    form.add_argument("--json", action="store_true", help="print JSON (docs/tune.md)")
    act = argparse.ArgumentParser(add_help=False, parents=[form])
    act.add_argument(
        "--dry-run", action="store_true", help="show the plan and do nothing; with --json: for raidtui apply"
    )

    def subcommand(name: str, words: str, parent: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = subcommands.add_parser(
            name, help=words, description=f"{words[0].upper()}{words[1:]}.", parents=[parent]
        )
        return made

    show = subcommand("show", "show knobs: value, default, and what has set it", form)
    show.add_argument(
        "words", metavar="WHAT", nargs="*", help="disks, @ARRAY, an array, a cache, cpu, system"
    )
    show.add_argument(
        "--erc", action="store_true", help="also ask the disks for SCT ERC (smartctl; needs root)"
    )
    wish = subcommand("set", "set knobs for now; a reboot resets them", act)
    wish.add_argument("words", metavar="WORD", nargs="+", help=_WORDS)
    keep = subcommand("keep", "keep values over reboots: those named, or all that were set for now", act)
    keep.add_argument("words", metavar="WORD", nargs="*", help=f"{_WORDS}, or KNOB for its present value")
    forget = subcommand("forget", "stop keeping values: those named, or all", act)
    forget.add_argument(
        "words", metavar="WORD", nargs="*", help="disks, @ARRAY, an array, a cache, cpu, system; then KNOB"
    )
    subcommand("undo", "undo what was set last, by this run or another since the boot", act)
    profile = subcommand("profile", "set what differs from a profile; without a name, list the profiles", act)
    profile.add_argument("name", metavar="NAME", nargs="?", default="")
    profile.add_argument("words", metavar="WHAT", nargs="*", help="disks, @ARRAY, cpu; all members otherwise")
    profile.add_argument("--keep", action="store_true", help="keep it over reboots, too")


class _TuneRequest:
    """What every subcommand starts from: the arguments, the host, its knobs, and a targets of the words."""

    def __init__(self, reader: HostReader, arguments: argparse.Namespace) -> None:
        self.reader = reader
        self.arguments = arguments
        self.tuner = Tuner(reader)
        self.snapshot: Snapshot = Sampler(reader).sample()
        self.tuning: Tuning = self.tuner.read(self.snapshot)
        self.targets = TargetReader(self.snapshot, self.tuning, lambda word: kernel_name(reader, word))


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Carry ``raidtui tune ...`` out; return 0 done, 1 not all of it, 2 refused."""
    return _SUBCOMMANDS[arguments.subcommand](_TuneRequest(reader, arguments))


def _show(request: _TuneRequest) -> int:
    names = request.targets.names(request.arguments.words) if request.arguments.words else None
    if isinstance(names, Refusal):
        return _refused(request, names)
    tuning = request.tuning
    if request.arguments.erc:
        disks = [disk.name for disk in tuning.of(KnobScope.DISK) if names is None or disk.name in names]
        tuning = request.tuner.read(request.snapshot, ask_erc(request.reader, disks))
    if request.arguments.json:
        print_json(tuning_dict(tuning, request.snapshot, names))
        return 0
    lines = table_lines(tuning) if names is None else detail_lines(tuning, names)
    print("\n".join(visible(line) for line in lines))
    return 0


def _set(request: _TuneRequest) -> int:
    words = request.targets.read(request.arguments.words)
    if isinstance(words, Refusal):
        return _refused(request, words)
    asked = [AskedValue(subject=word.subject, knob=word.knob, value=word.value or "") for word in words]
    return _carry_out(request, plan_set(request.snapshot, request.tuning, asked))


def _keep(request: _TuneRequest) -> int:
    if not request.arguments.words:
        return _carry_out(request, plan_keep(request.snapshot, request.tuning, items_for_now(request.tuning)))
    words = request.targets.read(request.arguments.words, bare=True)
    if isinstance(words, Refusal):
        return _refused(request, words)
    for_now = {(item.subject, item.knob) for item in items_for_now(request.tuning)}
    items = [_item(word) for word in words if word.named or (word.subject, word.knob) in for_now]
    return _carry_out(request, plan_keep(request.snapshot, request.tuning, items))


def _forget(request: _TuneRequest) -> int:
    if not request.arguments.words:
        return _carry_out(request, plan_forget(request.snapshot, request.tuning, None))
    words = request.targets.read(request.arguments.words, bare=True)
    if isinstance(words, Refusal):
        return _refused(request, words)
    items = [_item(word) for word in words if word.named or _is_kept(request.tuning, word)]
    if not items:
        return _refused(
            request,
            Refusal(
                code=RefusalCode.NOTHING_TO_DO,
                why=f"raidtui keeps nothing of {' '.join(request.arguments.words)}",
            ),
        )
    return _carry_out(request, plan_forget(request.snapshot, request.tuning, items))


def _item(word: NamedKnob) -> KeepItem:
    return KeepItem(subject=word.subject, knob=word.knob, value=word.value or "")


def _is_kept(tuning: Tuning, word: NamedKnob) -> bool:
    subject = tuning.subject(word.subject)
    return subject is not None and subject.values[word.knob].kept is not None


def _undo(request: _TuneRequest) -> int:
    if refusal := needs_root(request.snapshot):
        return _refused(request, refusal)
    last = request.tuner.last()
    if isinstance(last, Refusal):
        return _refused(request, last)
    if request.arguments.dry_run:
        return _print_plan(request, titled_back(last.undo, request.tuning))
    said = _look_at_journal(request)
    return _report(request, request.tuner.undo(last, request.snapshot, request.tuning), said=said)


def _profile(request: _TuneRequest) -> int:
    own, troubles = read_profiles(config_folder())
    for trouble in troubles:
        print(f"raidtui: {visible(trouble)}", file=sys.stderr)
    profiles = {profile.name: profile for profile in (*BUILT_IN, *own)}
    name = request.arguments.name
    if not name:
        return _list_profiles(request, list(profiles.values()))
    if name not in profiles:
        return _refused(
            request,
            Refusal(
                code=RefusalCode.NOT_FOUND,
                why=f"there is no profile {name!r}",
                remedy=f"there are: {', '.join(profiles)}",
            ),
        )
    only = request.targets.names(request.arguments.words) if request.arguments.words else None
    if isinstance(only, Refusal):
        return _refused(request, only)
    plan = plan_profile(request.snapshot, request.tuning, profiles[name], only, keep=request.arguments.keep)
    return _carry_out(request, plan)


def _list_profiles(request: _TuneRequest, profiles: list[Profile]) -> int:
    if request.arguments.json:
        print_json({"profiles": [profile_dict(profile) for profile in profiles]})
        return 0
    width = max(len(profile.name) for profile in profiles)
    for profile in profiles:
        where = f" ({profile.where})" if profile.where else ""
        print(visible(f"{profile.name:<{width}}  {profile.description}{where}"))
    return 0


def _carry_out(request: _TuneRequest, plan: Plan | Refusal) -> int:
    if isinstance(plan, NothingToDo):
        return _nothing(request, plan)
    plan = tried(request.reader, plan)
    if isinstance(plan, Refusal):
        return _refused(request, plan)
    if request.arguments.dry_run:
        return _print_plan(request, plan)
    if plan.harm is not Harm.HARMLESS:
        again = "add --dry-run --json >plan.json, and then: raidtui apply plan.json"
        danger = Refusal(code=RefusalCode.NEEDS_CONFIRMATION, why=plan.warning.rstrip("."), remedy=again)
        return _refused(request, danger)
    said = _look_at_journal(request)
    result = request.tuner.carry_out(plan, request.snapshot, request.tuning)
    return _refused(request, result) if isinstance(result, Refusal) else _report(request, result, plan, said)


def _look_at_journal(request: _TuneRequest) -> str:
    """Say before a change that it cannot be noted, and return why; it is made nevertheless."""
    if trouble := request.tuner.journal.look():
        print(f"raidtui: {visible(trouble)}; this change will not be noted there", file=sys.stderr)
    return trouble


def _nothing(request: _TuneRequest, nothing: NothingToDo) -> int:
    """Report that there is nothing to change: done."""
    if not request.arguments.json:
        print(visible(f"{NOTHING}: {nothing.sentence}"))
    elif request.arguments.dry_run:
        return _print_plan(
            request, Plan(title=NOTHING, subject="tuning", steps=(), notes=(nothing.sentence,), already=True)
        )
    else:
        print_json(nothing_dict(nothing))
    return 0


def _print_plan(request: _TuneRequest, plan: Plan) -> int:
    if request.arguments.json:
        host = request.reader.hostname or ""
        write_bytes(save_plan(plan, host=host, made_s=time.time(), machine=machine_of(request.reader)))
    else:
        print("\n".join(plan_sentences(plan)))
    return 0


def _report(request: _TuneRequest, result: TuneResult, plan: Plan | None = None, said: str = "") -> int:
    if request.arguments.json:
        print_json(result_dict(result))
    else:
        files = [step for step in result.outcome.done if not step.text]
        lines = [*result.sentences, *(step.command for step in files), *(plan.notes if plan else ())]
        print("\n".join(visible(line) for line in lines))
    if (trouble := request.tuner.journal.trouble) and not said:
        print(f"raidtui: {visible(trouble)}; this change was not noted there", file=sys.stderr)
    if request.tuner.record.trouble:
        why = f"{request.tuner.record.trouble}; raidtui tune undo will not know of it"
        print(f"raidtui: {visible(why)}", file=sys.stderr)
    return 0 if result.as_asked else NOT_DONE


def _refused(request: _TuneRequest, refusal: Refusal) -> int:
    return print_refusal(refusal, as_json=request.arguments.json)


_SUBCOMMANDS: dict[str, Callable[[_TuneRequest], int]] = {
    "show": _show,
    "set": _set,
    "keep": _keep,
    "forget": _forget,
    "undo": _undo,
    "profile": _profile,
}
