"""``raidtui tune``: knobs shown, set for now, kept for good, put back."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import print_json, print_refusal, write_bytes
from raidtui.command.tune_output import (
    NOTHING,
    detail_lines,
    nothing_dict,
    profile_dict,
    result_dict,
    table_lines,
    tuning_dict,
)
from raidtui.config import config_folder
from raidtui.host.roots.root import Root
from raidtui.host.smart.smart_reader import SmartReader
from raidtui.jobs.store import save_plan
from raidtui.model.knob import KnobScope, Tuning
from raidtui.model.plan import NothingToDo, Plan, Refusal, RefusalCode
from raidtui.model.smart import ErrorRecovery, SmartReading
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.sampler import Sampler
from raidtui.plans.shell_script import plan_sentences
from raidtui.plans.target import needs_root
from raidtui.plans.tune.keep import KeepItem, items_for_now, plan_forget, plan_keep
from raidtui.plans.tune.now import AskedValue, plan_set
from raidtui.plans.tune.profiles import BUILT_IN, Profile, plan_profile
from raidtui.plans.tune.targets import NamedKnob, TargetReader
from raidtui.session.tuning import Tuner, TuneResult, read_profiles
from raidtui.view.text import visible

NOT_DONE, REFUSED = 1, 2


_WORDS = "disks, @ARRAY (all of its members), an array, cpu, system; then KNOB=VALUE"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``tune`` takes."""
    orders = parser.add_subparsers(dest="order", metavar="ORDER", required=True)
    form = argparse.ArgumentParser(add_help=False)
    form.add_argument("--json", action="store_true", help="as JSON (docs/tune.md)")
    act = argparse.ArgumentParser(add_help=False, parents=[form])
    act.add_argument(
        "--dry-run", action="store_true", help="show the plan, do nothing; with --json: for raidtui apply"
    )

    def order(name: str, words: str, parent: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = orders.add_parser(
            name, help=words, description=words, parents=[parent]
        )
        return made

    show = order("show", "show all knobs, or those of some: value, default, who set it", form)
    show.add_argument("words", metavar="WHAT", nargs="*", help="disks, @ARRAY, an array, cpu, system")
    show.add_argument(
        "--erc", action="store_true", help="ask the disks for SCT ERC, too (smartctl; needs root)"
    )
    wish = order("set", "set knobs for now; a reboot forgets them", act)
    wish.add_argument("words", metavar="WORD", nargs="+", help=_WORDS)
    keep = order("keep", "keep values over reboots: those named, or all that was set for now", act)
    keep.add_argument("words", metavar="WORD", nargs="*", help=f"{_WORDS}, or KNOB for the value of now")
    forget = order("forget", "keep values no longer: those named, or all", act)
    forget.add_argument("words", metavar="WORD", nargs="*", help="whose, and which knobs")
    order("undo", "put back what was set last, also by another run since the boot", act)
    profile = order("profile", "set what differs from a profile; without a name, list the profiles", act)
    profile.add_argument("name", metavar="NAME", nargs="?", default="")
    profile.add_argument("words", metavar="WHAT", nargs="*", help="disks, @ARRAY, cpu; all members otherwise")
    profile.add_argument("--keep", action="store_true", help="and keep it over reboots")


class _Desk:
    """What every order starts from: the host, its knobs, and what words mean there."""

    def __init__(self, root: Root, arguments: argparse.Namespace) -> None:
        self.root = root
        self.arguments = arguments
        self.tuner = Tuner(root)
        self.snapshot: Snapshot = Sampler(root).sample()
        self.tuning: Tuning = self.tuner.read(self.snapshot)
        self.reader = TargetReader(self.snapshot, self.tuning, lambda word: kernel_name(root, word))


def run(root: Root, arguments: argparse.Namespace) -> int:
    """Carry ``raidtui tune ...`` out; return 0 done, 1 not all of it, 2 refused."""
    return _ORDERS[arguments.order](_Desk(root, arguments))


def _show(desk: _Desk) -> int:
    names = desk.reader.names(desk.arguments.words) if desk.arguments.words else None
    if isinstance(names, Refusal):
        return _refused(desk, names)
    tuning = desk.tuning
    if desk.arguments.erc:
        disks = [disk.name for disk in tuning.of(KnobScope.DISK) if names is None or disk.name in names]
        tuning = desk.tuner.read(desk.snapshot, _patience(desk.root, disks))
    if desk.arguments.json:
        print_json(tuning_dict(tuning, desk.snapshot, names))
        return 0
    lines = table_lines(tuning) if names is None else detail_lines(tuning, names)
    print("\n".join(visible(line) for line in lines))
    return 0


def _patience(root: Root, disks: Sequence[str]) -> dict[str, ErrorRecovery | None]:
    """Return what the disks say of their own timeouts; those that say nothing are left out."""
    return {
        name: measured.result.erc
        for name, measured in SmartReader(root).read(disks).items()
        if isinstance(measured.result, SmartReading)
    }


def _set(desk: _Desk) -> int:
    words = desk.reader.read(desk.arguments.words)
    if isinstance(words, Refusal):
        return _refused(desk, words)
    asked = [AskedValue(subject=word.subject, knob=word.knob, value=word.value or "") for word in words]
    return _carry_out(desk, plan_set(desk.snapshot, desk.tuning, asked))


def _keep(desk: _Desk) -> int:
    if not desk.arguments.words:
        return _carry_out(desk, plan_keep(desk.snapshot, desk.tuning, items_for_now(desk.tuning)))
    words = desk.reader.read(desk.arguments.words, bare=True)
    if isinstance(words, Refusal):
        return _refused(desk, words)
    for_now = {(item.subject, item.knob) for item in items_for_now(desk.tuning)}
    items = [_item(word) for word in words if word.named or (word.subject, word.knob) in for_now]
    return _carry_out(desk, plan_keep(desk.snapshot, desk.tuning, items))


def _forget(desk: _Desk) -> int:
    if not desk.arguments.words:
        return _carry_out(desk, plan_forget(desk.snapshot, desk.tuning, None))
    words = desk.reader.read(desk.arguments.words, bare=True)
    if isinstance(words, Refusal):
        return _refused(desk, words)
    items = [_item(word) for word in words if word.named or _is_kept(desk.tuning, word)]
    if not items:
        return _refused(
            desk,
            Refusal(
                code=RefusalCode.NOTHING_TO_DO,
                why=f"raidtui keeps nothing of {' '.join(desk.arguments.words)}",
            ),
        )
    return _carry_out(desk, plan_forget(desk.snapshot, desk.tuning, items))


def _item(word: NamedKnob) -> KeepItem:
    return KeepItem(subject=word.subject, knob=word.knob, value=word.value or "")


def _is_kept(tuning: Tuning, word: NamedKnob) -> bool:
    subject = tuning.subject(word.subject)
    return subject is not None and subject.values[word.knob].kept is not None


def _undo(desk: _Desk) -> int:
    if refusal := needs_root(desk.snapshot):
        return _refused(desk, refusal)
    last = desk.tuner.last()
    if isinstance(last, Refusal):
        return _refused(desk, last)
    if desk.arguments.dry_run:
        return _print_plan(desk, last.undo)
    return _told(desk, desk.tuner.undo(last, desk.snapshot, desk.tuning))


def _profile(desk: _Desk) -> int:
    own, troubles = read_profiles(config_folder())
    for trouble in troubles:
        print(f"raidtui: {visible(trouble)}", file=sys.stderr)
    profiles = {profile.name: profile for profile in (*BUILT_IN, *own)}
    name = desk.arguments.name
    if not name:
        return _list_profiles(desk, list(profiles.values()))
    if name not in profiles:
        return _refused(
            desk,
            Refusal(
                code=RefusalCode.NOT_FOUND,
                why=f"there is no profile {name!r}",
                remedy=f"there are: {', '.join(profiles)}",
            ),
        )
    only = desk.reader.names(desk.arguments.words) if desk.arguments.words else None
    if isinstance(only, Refusal):
        return _refused(desk, only)
    plan = plan_profile(desk.snapshot, desk.tuning, profiles[name], only, keep=desk.arguments.keep)
    return _carry_out(desk, plan)


def _list_profiles(desk: _Desk, profiles: list[Profile]) -> int:
    if desk.arguments.json:
        print_json({"profiles": [profile_dict(profile) for profile in profiles]})
        return 0
    width = max(len(profile.name) for profile in profiles)
    for profile in profiles:
        where = f" ({profile.where})" if profile.where else ""
        print(visible(f"{profile.name:<{width}}  {profile.description}{where}"))
    return 0


def _carry_out(desk: _Desk, plan: Plan | Refusal) -> int:
    if isinstance(plan, NothingToDo):
        return _nothing(desk, plan)
    if isinstance(plan, Refusal):
        return _refused(desk, plan)
    if desk.arguments.dry_run:
        return _print_plan(desk, plan)
    result = desk.tuner.carry_out(plan, desk.snapshot, desk.tuning)
    return _refused(desk, result) if isinstance(result, Refusal) else _told(desk, result, plan)


def _nothing(desk: _Desk, nothing: NothingToDo) -> int:
    """What is so already is done."""
    if not desk.arguments.json:
        print(visible(f"{NOTHING}: {nothing.sentence}"))
    elif desk.arguments.dry_run:
        return _print_plan(desk, Plan(title=NOTHING, subject="tuning", steps=(), notes=(nothing.sentence,)))
    else:
        print_json(nothing_dict(nothing))
    return 0


def _print_plan(desk: _Desk, plan: Plan) -> int:
    if desk.arguments.json:
        write_bytes(save_plan(plan, host=desk.root.hostname or "", made_s=time.time()))
    else:
        print("\n".join(plan_sentences(plan)))
    return 0


def _told(desk: _Desk, result: TuneResult, plan: Plan | None = None) -> int:
    if desk.arguments.json:
        print_json(result_dict(result))
    else:
        files = [step for step in result.outcome.done if not step.text]
        lines = [*result.sentences, *(step.command for step in files), *(plan.notes if plan else ())]
        print("\n".join(visible(line) for line in lines))
    if desk.tuner.record.trouble:
        why = f"{desk.tuner.record.trouble}; raidtui tune undo will not know of it"
        print(f"raidtui: {visible(why)}", file=sys.stderr)
    return 0 if result.as_asked else NOT_DONE


def _refused(desk: _Desk, refusal: Refusal) -> int:
    print_refusal(refusal, as_json=desk.arguments.json)
    return REFUSED


_ORDERS: dict[str, Callable[[_Desk], int]] = {
    "show": _show,
    "set": _set,
    "keep": _keep,
    "forget": _forget,
    "undo": _undo,
    "profile": _profile,
}
