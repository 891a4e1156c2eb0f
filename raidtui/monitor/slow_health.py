"""The finding about a member that is slower than its siblings."""

from __future__ import annotations

import time

from raidtui.model.array import Array
from raidtui.model.finding import Finding, FindingCode, Severity
from raidtui.model.member_speed import SlowMember
from raidtui.model.speed_record import has_changed
from raidtui.view.units import counted


def slow_finding(array: Array, slow: SlowMember) -> Finding:
    """Return the finding about a slow member; INFO where the difference may be its model's."""
    what = "write" if slow.writes else "read"
    until = time.strftime("%d %b" if slow.hourly else "%H:%M", time.localtime(slow.at_s))
    over = f"{slow.stretches} of {counted(slow.compared, 'hour' if slow.hourly else 'minute')} until {until}"
    text = (
        f"member {slow.member} takes {_ms(slow.wait_ms)} for a {what}, its siblings at most"
        f" {_ms(slow.others_ms)}: {over}, {counted(slow.requests, what)}"
    )
    if has_changed(slow):
        text += "; before, it was as fast as they were"
    if slow.other_model:
        text += "; it is of another model"
    remedy = f"look at its SMART values (raidtui wear), its cable and its port; {_plan(array, slow.member)}"
    return Finding(
        severity=Severity.INFO if slow.other_model and not has_changed(slow) else Severity.ATTENTION,
        code=FindingCode.SLOW_MEMBER,
        subject=array.key,
        name=array.title,
        sentence=text,
        remedy=remedy,
    )


def _plan(array: Array, member: str) -> str:
    if not array.redundant:
        return f"copy the data away before it fails: {array.title} has no redundancy"
    return f"raidtui plan replace {array.title} {member} --with DEVICE exchanges it before it fails"


def _ms(wait_ms: float) -> str:
    return f"{wait_ms:.0f} ms" if wait_ms >= 9.95 else f"{wait_ms:.1f} ms"
