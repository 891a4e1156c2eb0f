"""The plan that has all arrays checked regularly, by what the host has for it, and by nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.checks.check_setup import (
    BOOT_TARGET,
    CHECKARRAY,
    CONTINUE,
    CRON_CHECKS,
    RAID_CHECK,
    RAID_CHECK_CRON,
    START,
    CheckSetup,
    CronCheck,
    Rhythm,
)
from raidtui.features.checks.hours import (
    SHORTEST_MIN,
    USUAL,
    CheckHours,
    beginnings,
    clock,
    mdcheck_files,
    parse_window,
    raid_check_files,
)
from raidtui.host.system_units import SYSTEM_UNITS
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.snapshot import Snapshot
from raidtui.plans.persist import put_file
from raidtui.plans.target import needs_root
from raidtui.plans.timers import RELOAD, UNIT_S
from raidtui.view.units import joined

_DAY = {Rhythm.MONTHLY: "on the first Sunday of each month", Rhythm.WEEKLY: "each Sunday"}


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What was asked for.

    Args:
        rhythm: how often a check begins.
        window: the hours as they were typed, 01:00-05:00; "" for the usual ones.
    """

    rhythm: Rhythm = Rhythm.MONTHLY
    window: str = ""


class _File(Struct, frozen=True, kw_only=True):
    """A file as it is to be, and a phrase why."""

    path: str
    text: str
    why: str


class _Wanted(Struct, frozen=True, kw_only=True):
    """How it is to be.

    Args:
        tool: what checks: mdcheck.
        when: a phrase: "monthly, from 01:00 to 05:00".
        files: those that it needs.
        on: timers that run, now and after each start.
        off: timers that do not.
        notes: sentences.
    """

    tool: str
    when: str
    files: tuple[_File, ...]
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def plan_checks(snapshot: Snapshot, setup: CheckSetup, request: CheckRequest) -> Plan | Refusal:
    """Return the plan.

    Args:
        snapshot: the arrays.
        setup: what the host has.
        request: what is asked for.
    """
    if refusal := needs_root(snapshot):
        return refusal
    window = parse_window(request.window) if request.window else USUAL
    if window is None or window.length_min < SHORTEST_MIN:
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{request.window!r} is not a window of {SHORTEST_MIN} minutes or more",
            remedy="write it as 01:00-05:00",
        )
    wanted = _wanted(setup, request, window)
    if isinstance(wanted, Refusal):
        return wanted
    if refusal := _refuse_timers(setup, wanted):
        return refusal
    steps = tuple(_steps(setup, wanted))
    if not steps:
        done = f"{wanted.tool} already checks all arrays {wanted.when}"
        return NothingToDo(why="; ".join((done, *_others(setup))))
    return Plan(
        title=f"{wanted.tool} checks all arrays {wanted.when}",
        subject="system",
        steps=steps,
        undo=tuple(step for each in reversed(steps) for step in each.undo),
        harm=Harm.HARMLESS,
        notes=(*wanted.notes, *(f"{each[0].upper()}{each[1:]}." for each in _others(setup))),
        rolls_back=True,
    )


# -- what is there, and what of it


def _wanted(setup: CheckSetup, request: CheckRequest, window: CheckHours) -> _Wanted | Refusal:
    """Return how it is to be: by mdcheck if that is on, else by raid-check if its distribution has it."""
    by_mdcheck = setup.mdcheck and START in setup.checks and RAID_CHECK not in setup.checks
    if setup.systemd and setup.raid_check and not request.window and not by_mdcheck:
        return _by_raid_check(setup, request.rhythm)
    if setup.systemd and setup.mdcheck:
        return _by_mdcheck(setup, request.rhythm, window)
    if setup.systemd and setup.raid_check:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="raid-check does not pause: it runs until all arrays are checked, and mdcheck is not here",
            remedy="leave out --window",
        )
    if setup.crons:
        return _by_cron(setup, request, setup.crons[0])
    if setup.mdcheck or setup.raid_check:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why="systemd is not running, and what is installed here to check arrays needs its timers",
            remedy="let cron write check to md/sync_action of each array",
        )
    return Refusal(
        code=RefusalCode.NOT_FOUND,
        why="nothing here checks arrays regularly: neither mdcheck, raid-check nor checkarray is installed",
        remedy="install the package mdadm",
    )


def _by_mdcheck(setup: CheckSetup, rhythm: Rhythm, window: CheckHours) -> _Wanted:
    start_min, continue_min = beginnings(window, restarts=setup.restarts)
    begins = clock(continue_min if setup.restarts else start_min)
    drop_ins = mdcheck_files(rhythm, window, restarts=setup.restarts)
    return _Wanted(
        tool="mdcheck",
        when=f"{rhythm}, {window.words}",
        files=(
            *(_File(path=path, text=text, why="keeps the hours") for path, text in drop_ins.items()),
            *_switched_off(setup, CRON_CHECKS),
        ),
        on=(START, CONTINUE),
        notes=(
            (
                f"A check begins {_DAY[rhythm]} at {begins}, pauses at {clock(window.end_min)}, and continues"
                f" at {clock(continue_min)} the next day, until all arrays are checked."
            ),
            "mdcheck looks at the clock every two to four minutes, so it may pause that much later.",
        ),
    )


def _by_raid_check(setup: CheckSetup, rhythm: Rhythm) -> _Wanted:
    config, drop_ins = RAID_CHECK_CRON.config, raid_check_files(rhythm)
    old = setup.texts.get(config, "")
    repairs = value_of(old, "CHECK") == "repair"
    text = with_value(old, RAID_CHECK_CRON.key, RAID_CHECK_CRON.on)
    return _Wanted(
        tool="raid-check",
        when=rhythm,
        files=(
            *(_File(path=path, text=new, why="sets the day and the hour") for path, new in drop_ins.items()),
            _File(path=config, text=with_value(text, "CHECK", "check"), why="raid-check obeys it"),
            *_switched_off(setup, (CHECKARRAY,)),
        ),
        on=(RAID_CHECK,),
        off=(START, CONTINUE) if setup.mdcheck else (),
        notes=(
            (
                f"A check begins {_DAY[rhythm]} at {clock(USUAL.begin_min)}, and runs until all arrays are"
                f" checked, without those that SKIP_DEVS in {config} names."
            ),
            *(("Mismatches are counted and no longer overwritten: CHECK was repair.",) if repairs else ()),
        ),
    )


def _by_cron(setup: CheckSetup, request: CheckRequest, check: CronCheck) -> _Wanted | Refusal:
    name = check.script.rpartition("/")[2]
    if request.window:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{name} does not pause, and {check.crontab} says when it begins",
            remedy="leave out --window",
        )
    if request.rhythm != check.rhythm:
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"{check.crontab} starts {name} {check.rhythm}",
            remedy=f"use --{check.rhythm}",
        )
    if not setup.cron:
        return Refusal(
            code=RefusalCode.WRONG_STATE,
            why=f"cron is not running, and only {check.crontab} starts {name}",
            remedy="install and start cron",
        )
    old = setup.texts.get(check.config, "")
    text = old if check.crontab in setup.checks else with_value(old, check.key, check.on)
    return _Wanted(
        tool=name,
        when=check.rhythm,
        files=(_File(path=check.config, text=text, why=f"{name} obeys it"),),
        notes=(f"{check.crontab} says when it begins; {name} does not pause before all arrays are checked.",),
    )


def _switched_off(setup: CheckSetup, checks: Sequence[CronCheck]) -> Iterator[_File]:
    """Yield the files that switch other checks off; none for what is off."""
    on = {*setup.checks, *((RAID_CHECK_CRON.crontab,) if RAID_CHECK in setup.checks else ())}
    for each in checks:
        if each.crontab in on:
            text = with_value(setup.texts.get(each.config, ""), each.key, each.off)
            yield _File(path=each.config, text=text, why="so nothing is checked twice")


def _others(setup: CheckSetup) -> Iterator[str]:
    """Yield what else checks arrays, and is left alone, a clause each."""
    ours = {START, RAID_CHECK, *(each.crontab for each in CRON_CHECKS)}
    for each in setup.checks:
        if each not in ours:
            yield f"{each} also checks arrays, and raidtui does not change it"


def _refuse_timers(setup: CheckSetup, wanted: _Wanted) -> Refusal | None:
    for timer in (*wanted.on, *wanted.off):
        for answer in (setup.enabled[timer], setup.active[timer]):
            if refusal := refuse_silence(answer, package="systemd"):
                return refusal
        if timer in wanted.on and (setup.enabled[timer].value or "").startswith("masked"):
            return Refusal(
                code=RefusalCode.WRONG_STATE,
                why=f"{timer} is masked",
                remedy=f"unmask it first: systemctl unmask {timer}",
            )
    return None


# -- steps


def _steps(setup: CheckSetup, wanted: _Wanted) -> Iterator[Step]:
    changed = [each for each in wanted.files if setup.texts.get(each.path) != each.text]
    units = [each.path for each in changed if each.path.startswith(f"{SYSTEM_UNITS}/")]
    yield from _folders(setup, units)
    for each in changed:
        after = (RELOAD,) if each.path in units[:1] else ()
        yield put_file(setup.texts.get(each.path), each.path, each.text, why=each.why, after=after)
    if units:
        yield RELOAD
    yield from _off(setup, wanted.off)
    yield from _on(setup, wanted.on)


def _folders(setup: CheckSetup, paths: Sequence[str]) -> Iterator[Step]:
    """Yield the step that makes the folders of new drop-ins."""
    parents = (path.rpartition("/")[0] for path in paths)
    missing = tuple(folder for folder in parents if folder not in setup.folders)
    if missing:
        back = RunTool(argv=("rmdir", "--ignore-fail-on-non-empty", "--", *missing), why="they did not exist")
        yield RunTool(
            argv=("mkdir", "--parents", *missing),
            why="the folders of drop-ins",
            proves=tuple(Fact(kind=FactKind.NODE, subject=folder) for folder in missing),
            undo=(back,),
        )


def _off(setup: CheckSetup, timers: Sequence[str]) -> Iterator[Step]:
    running = tuple(
        each
        for each in timers
        if setup.enabled[each].value == "enabled" or setup.active[each].value == "active"
    )
    if not running:
        return
    linked = tuple(each for each in running if each in setup.linked)
    back = [RunTool(argv=("systemctl", "enable", "--now", *running), why="as before", timeout_s=UNIT_S)]
    if linked:
        back.append(_wants(linked))
    yield RunTool(
        argv=("systemctl", "disable", "--now", *running),
        why="so nothing is checked twice",
        timeout_s=UNIT_S,
        proves=(*_units(running, "disabled"), *_units(running, "inactive")),
        undo=tuple(back),
    )


def _on(setup: CheckSetup, timers: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that have timers run: with the system, as mdmonitor.service may not start.

    mdcheck itself stops mdcheck_continue.timer where nothing is left to check; mdcheck_start.service starts
    it again.
    """
    loose = tuple(each for each in timers if each not in setup.linked)
    if loose:
        yield replace(_wants(loose), undo=tuple(_unlinked(setup, loose)))
    if timers and setup.active[timers[0]].value != "active":
        stopped = tuple(each for each in timers if setup.active[each].value != "active")
        yield RunTool(
            argv=("systemctl", "start", *stopped),
            why="without waiting for the next start of the system",
            timeout_s=UNIT_S,
            proves=_units(stopped, "active"),
            undo=(RunTool(argv=("systemctl", "stop", *stopped), why="as before", timeout_s=UNIT_S),),
        )


def _wants(timers: Sequence[str]) -> RunTool:
    return RunTool(
        argv=("systemctl", "add-wants", BOOT_TARGET, *timers),
        why=f"{joined(timers)} {'start' if len(timers) > 1 else 'starts'} with the system",
        timeout_s=UNIT_S,
        proves=(
            *_units(timers, "enabled"),
            *(Fact(kind=FactKind.NODE, subject=_link(each)) for each in timers),
        ),
    )


def _link(timer: str) -> str:
    return f"{SYSTEM_UNITS}/{BOOT_TARGET}.wants/{timer}"


def _unlinked(setup: CheckSetup, timers: Sequence[str]) -> Iterator[Step]:
    """Yield what takes the links back; other links of a timer that was enabled stay."""
    disabled = tuple(each for each in timers if setup.enabled[each].value != "enabled")
    if disabled:
        yield RunTool(argv=("systemctl", "disable", *disabled), why="as before", timeout_s=UNIT_S)
    kept = tuple(each for each in timers if each not in disabled)
    if kept:
        yield RunTool(argv=("rm", "--force", "--", *map(_link, kept)), why="as before")
        yield RELOAD


def _units(timers: Sequence[str], state: str) -> tuple[Fact, ...]:
    return tuple(Fact(kind=FactKind.UNIT, subject=each, value=state) for each in timers)


# -- shell files


def _assigned(key: str) -> re.Pattern[str]:
    return re.compile(rf"""^([ \t]*{key}=)("[^"\n]*"|'[^'\n]*'|[^\s#]*)""", re.MULTILINE)


def value_of(text: str, key: str) -> str:
    """Return the last value of a variable in a shell file, or ""."""
    return next((old.strip("\"'") for _, old in reversed(_assigned(key).findall(text))), "")


def with_value(text: str, key: str, value: str) -> str:
    """Return a shell file in which a variable has a value: in its lines, or in a new one at the end."""
    found = _assigned(key).findall(text)
    if not found:
        return f"{text.rstrip()}\n{key}={value}\n" if text.strip() else f"{key}={value}\n"
    if all(old.strip("\"'") == value for _, old in found):
        return text
    return _assigned(key).sub(rf"\g<1>{value}", text)
