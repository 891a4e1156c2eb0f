"""The part of alerts' plan that has smartd report to raidtui."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from raidtui.features.alerts.alert_part import REPLACE, AlertPart, put_file, put_program, unit_fact
from raidtui.host.alert_facts import SMARTD_SCRIPT
from raidtui.host.watch_facts import SMARTD_RUN, smartd_lines
from raidtui.model.alert_setup import HOOK, AlertSetup
from raidtui.model.plan import RefusalCode, RunTool, Step
from raidtui.plans.timers import UNIT_S

_RUN_SCRIPT = f"{SMARTD_RUN}/{SMARTD_SCRIPT}"
_RUNNER = "/smartd-runner"


def report_smartd(setup: AlertSetup, *, replaces: bool, named: bool) -> AlertPart:
    """Return the steps that have smartd call raidtui at a fault.

    Args:
        setup: what is there already.
        replaces: whether what smartd calls now is replaced.
        named: whether smartd was asked for by name.
    """
    part, smartd = AlertPart(), setup.smartd
    part.title = "smartd"
    if smartd is None:
        return part.refuse(
            RefusalCode.NOT_FOUND,
            "smartd is not installed: no disk reports its faults",
            "apt install smartmontools",
        )
    if smartd.virtual and not smartd.runs and not named:
        return part.refuse(
            RefusalCode.UNSUPPORTED,
            "smartd does not run, and this machine is virtual: its disks may have nothing to report",
            "--only smartd sets it up nevertheless",
        )
    text = setup.texts.get(smartd.conf, "")
    entries = tuple(_smartd_entries(text))
    others = tuple(dict.fromkeys(each for _, each, _ in entries if each and each not in {HOOK, _RUNNER}))
    runner = any(each == _RUNNER for _, each, _ in entries)
    if others and not replaces:
        return part.refuse(
            RefusalCode.TAKEN,
            f"smartd calls {', '.join(others)}, by {smartd.conf}, and keeps doing so",
            f"call {HOOK} from it, or: {REPLACE}",
        )
    if not entries:
        return part.refuse(
            RefusalCode.NOT_FOUND,
            f"{smartd.conf} names no disk",
            "put DEVICESCAN in it, alone on a line",
        )
    changed = False
    if runner and setup.texts.get(_RUN_SCRIPT) != setup.hook:
        part.steps += put_program(setup, _RUN_SCRIPT, "smartd's runner of this distribution runs it, too")
    new = _with_exec(text, entries)
    if new != text:
        changed = True
        part.notes.append(
            "smartd no longer sends mail itself where it calls the hook: raidtui's channels have its reports."
        )
        again = _smartd_again(setup)
        soft = tuple(RunTool(argv=each.argv, why=each.why, may_fail=True) for each in again)
        part.steps.append(
            put_file(setup, smartd.conf, new, why="smartd calls the hook at a fault", after=soft)
        )
    if setup.smartd_unit and (changed or not smartd.runs):
        part.steps += _smartd_again(setup)
    return part


def _smartd_again(setup: AlertSetup) -> tuple[Step, ...]:
    if not setup.smartd_unit or setup.smartd is None:
        return ()
    verb = ("restart",) if setup.smartd.runs else ("enable", "--now")
    return (
        RunTool(
            argv=("systemctl", *verb, setup.smartd_unit),
            why="smartd reads its configuration as it starts",
            timeout_s=UNIT_S,
            may_fail=not setup.smartd.runs,
            proves=(unit_fact(setup.smartd_unit, "active"),) if setup.smartd.runs else (),
        ),
    )


def _smartd_entries(text: str) -> Iterator[tuple[tuple[int, ...], str, bool]]:
    """Yield the lines of each entry, what it calls ("" for nothing, ``_RUNNER``), and whether it has -m."""
    for places, words in smartd_lines(text):
        called = next((word for flag, word in pairwise(words) if flag == "exec"), "")
        yield places, _RUNNER if called.endswith(_RUNNER) else called, "-m" in words


def _with_exec(text: str, entries: Sequence[tuple[tuple[int, ...], str, bool]]) -> str:
    """Return smartd.conf with the hook in each entry that does not call the distribution's runner."""
    lines = text.split("\n")
    for places, called, mails in entries:
        if called in {HOOK, _RUNNER}:
            continue
        if called:
            for index in places:
                lines[index] = lines[index].replace(called, HOOK)
            continue
        last = places[-1]
        body, sign, comment = lines[last].partition("#")
        more = f"{'' if mails else ' -m <nomailer>'} -M exec {HOOK}"
        lines[last] = f"{body.rstrip()}{more}{f'  {sign}{comment}' if sign else ''}"
    return "\n".join(lines)
