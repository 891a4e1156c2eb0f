"""The plan that has mdadm and smartd report to raidtui, keeps the journal, and retries what was not sent."""

from __future__ import annotations

from collections.abc import Iterator

from raidtui.features.alerts.alert_part import REPLACE, AlertPart, put_file, put_program, unit_fact
from raidtui.features.alerts.smartd_part import report_smartd
from raidtui.host.alert_facts import ALERT_TIMER
from raidtui.model.alert_setup import HOOK, PARTS, AlertRequest, AlertSetup
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.snapshot import Snapshot
from raidtui.model.timer_setup import TimerSetup
from raidtui.plans.persist import keyword_lines
from raidtui.plans.target import needs_root
from raidtui.plans.timers import UNIT_S, timer_steps

_JOURNAL = "/var/log/journal"


def plan_alerts(snapshot: Snapshot, setup: AlertSetup, request: AlertRequest) -> Plan | Refusal:
    """Return the plan.

    Args:
        snapshot: the arrays.
        setup: what is there already.
        request: what is asked for. A part that cannot be done is refused where it was named; of all parts,
            only mdadm's is: the others are left out, and a note says why.
    """
    if refusal := needs_root(snapshot):
        return refusal
    wanted = request.parts or PARTS
    if not setup.channels and set(wanted) - {"journal"}:
        return Refusal(
            code=RefusalCode.NOT_FOUND,
            why="no channel is configured: an alert would reach no one",
            remedy="sudo raidtui alert --add NAME adds one: mail, ntfy, Matrix, Slack, a webhook",
        )
    watched = any(array.active and array.redundant for array in snapshot.arrays)
    made = {
        "hook": lambda: _hook(setup),
        "mdadm": lambda: _mdadm(setup, replaces=request.replaces, watched=watched),
        "retries": lambda: _retries(setup),
        "smartd": lambda: report_smartd(setup, replaces=request.replaces, named="smartd" in request.parts),
        "journal": lambda: _journal(setup),
    }
    parts, notes = list[AlertPart](), list[str]()
    hooked = ("hook",) if {"mdadm", "smartd"} & set(wanted) else ()
    for name in (*hooked, *(each for each in PARTS if each in wanted)):
        part = made[name]()
        if part.refusal is not None and (request.parts or name == "mdadm"):
            return part.refusal
        notes += (
            [f"{part.refusal.sentence[0].upper()}{part.refusal.sentence[1:]}."]
            if part.refusal
            else part.notes
        )
        if part.steps:
            parts.append(part)
    if not parts:
        return NothingToDo(why="everything is already set up; raidtui alert --test tries it")
    steps = tuple(step for part in parts for step in part.steps)
    return Plan(
        title=f"set up alerts: {', '.join(part.title for part in parts)}",
        subject="system",
        steps=steps,
        undo=tuple(step for each in reversed(steps) for step in each.undo),
        harm=Harm.HARMLESS,
        warning=_warning(setup) if hooked else "",
        notes=tuple(notes),
        rolls_back=True,
    )


def _warning(setup: AlertSetup) -> str:
    if not setup.owned_by:
        return ""
    return (
        f"User {setup.owned_by} may change this raidtui, and mdadm, smartd and systemd will run it as root:"
        " install it as root, and make the plan with that one."
    )


def _hook(setup: AlertSetup) -> AlertPart:
    part = AlertPart()
    part.title = "hook"
    if setup.texts.get(HOOK) != setup.hook:
        part.steps += put_program(setup, HOOK, "keeps each event on disk, and has it sent")
    return part


# -- mdadm


def _mdadm(setup: AlertSetup, *, replaces: bool, watched: bool) -> AlertPart:
    part = AlertPart()
    part.title = "mdadm"
    path, entry, named = _program_line(setup)
    if named not in {"", HOOK} and not replaces:
        return part.refuse(
            RefusalCode.TAKEN,
            f"{path} has PROGRAM {named}, which raidtui did not write",
            f"call {HOOK} from it with the same arguments, or: {REPLACE}",
        )
    if named == HOOK:
        return part
    part.refusal = refuse_silence(setup.monitor_enabled, package="systemd")
    if part.refusal:
        return part
    again = _restart(setup, watched=watched)
    part.steps.append(_conf_step(setup, path, entry, undone=again))
    if named:
        part.notes.append(f"{named} is no longer called.")
    if setup.monitor_names:
        part.notes.append(
            "A running mdadm --monitor has an address or a program on its command line,"
            " which overrides mdadm.conf. raidtui alert --test does not show this; check what starts it."
        )
    part.steps += (*_enabled(setup), *again)
    if not again:
        part.notes.append(
            "Nothing is restarted: no array runs that mdadm monitors."
            if setup.monitor_unit
            else "mdadm --monitor has to be restarted by hand: there is no mdmonitor.service of systemd."
        )
    return part


def _program_line(setup: AlertSetup) -> tuple[str, tuple[int, ...], str]:
    """Return the file with PROGRAM, the places of its lines, and the program; else mdadm.conf, (), ""."""
    for path in setup.confs:
        text = setup.texts.get(path, "")
        for entry in keyword_lines(text, "program"):
            words = " ".join(text.split("\n")[index].partition("#")[0] for index in entry).split()
            if len(words) > 1:
                return path, entry, words[1].strip("\"'")
    return setup.confs[0], (), ""


def _conf_step(setup: AlertSetup, path: str, entry: tuple[int, ...], *, undone: tuple[Step, ...]) -> Step:
    old = setup.texts.get(path)
    line = f"PROGRAM {HOOK}"
    if entry:
        lines = (old or "").split("\n")
        kept = [line if index == entry[0] else each for index, each in enumerate(lines)]
        new = "\n".join(each for index, each in enumerate(kept) if index == entry[0] or index not in entry)
    else:
        new = (f"{old.rstrip()}\n" if old and old.strip() else "") + f"{line}\n"
    soft = tuple(RunTool(argv=each.argv, why=each.why, may_fail=True) for each in undone)
    return put_file(setup, path, new, why="mdadm --monitor calls it at each event", after=soft)


def _enabled(setup: AlertSetup) -> Iterator[Step]:
    if setup.monitor_installs and not setup.monitor_enabled.value:
        yield RunTool(
            argv=("systemctl", "enable", setup.monitor_unit),
            why="mdadm monitors after the next start, too",
            proves=(unit_fact(setup.monitor_unit, "enabled"),),
            undo=(RunTool(argv=("systemctl", "disable", setup.monitor_unit), why="as it was"),),
        )


def _restart(setup: AlertSetup, *, watched: bool) -> tuple[Step, ...]:
    """Mdadm reads its configuration when it starts; without an array to monitor it ends at once."""
    if not setup.monitor_unit or not watched:
        return ()
    return (
        RunTool(
            argv=("systemctl", "restart", setup.monitor_unit),
            why="mdadm --monitor reads its configuration as it starts",
            timeout_s=UNIT_S,
            proves=(unit_fact(setup.monitor_unit, "active"),),
        ),
    )


# -- retries


def _retries(setup: AlertSetup) -> AlertPart:
    part = AlertPart()
    part.title = "retries"
    if not setup.systemd:
        return part.refuse(
            RefusalCode.UNSUPPORTED,
            "without systemd, what was not sent is tried again only at the next alert",
            "let cron call raidtui alert --send every minute",
        )
    for answer in (setup.timer_enabled, setup.timer_active):
        part.refusal = refuse_silence(answer, package="systemd")
        if part.refusal:
            return part
    timer = TimerSetup(
        timer=ALERT_TIMER,
        systemd=True,
        enabled=setup.timer_enabled,
        active=setup.timer_active,
        units=setup.units,
        texts=setup.texts,
    )
    part.steps += timer_steps(timer, "tries what waits, each minute")
    return part


# -- the journal


def _journal(setup: AlertSetup) -> AlertPart:
    part = AlertPart()
    part.title = "journal"
    if setup.kept:
        return part
    if not setup.systemd:
        return part.refuse(
            RefusalCode.UNSUPPORTED,
            "the kernel's messages are kept in no file, and there is no systemd to keep them",
            "install a syslog daemon",
        )
    if setup.storage not in {"auto", "persistent"}:
        return part.refuse(
            RefusalCode.TAKEN,
            f"journald is to keep nothing: its configuration says Storage={setup.storage}",
            "set Storage=persistent there, unless it is volatile on purpose",
        )
    if _JOURNAL not in setup.folders:
        part.steps.append(
            RunTool(
                argv=("mkdir", "--parents", _JOURNAL),
                why="journald keeps what it has where this folder is (journald.conf(5), Storage=)",
                proves=(Fact(kind=FactKind.NODE, subject=_JOURNAL),),
            )
        )
    part.steps += (
        RunTool(
            argv=("systemd-tmpfiles", "--create", "--prefix", _JOURNAL),
            why="gives it its owner and mode",
            may_fail=True,
        ),
        RunTool(argv=("journalctl", "--flush"), why="moves what this boot has said there", timeout_s=UNIT_S),
    )
    part.notes.append("The journal stays where it is when this is undone: nothing in it is deleted.")
    return part
