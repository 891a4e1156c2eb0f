"""A test alert, by the way that a real one takes, and what came of it on each channel."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from raidtui.features.alerts.alert_words import is_test
from raidtui.host.alert_facts import program_of
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import tool_path
from raidtui.host.watch_facts import read_watchers
from raidtui.jobs.alert_spool import AlertSpool, spool_folder
from raidtui.jobs.alert_test import AlertRoute, begin_test
from raidtui.model.alert import Alert, Channel
from raidtui.model.alert_setup import HOOK

PATIENCE_S = 60.0
_PACE_S = 0.2


class ChannelOutcome(StrEnum):
    """What came of it on a channel."""

    ACCEPTED = "accepted"
    FAILED = "failed"  # it is kept, and tried again
    WAITING = "waiting"  # it was not tried within the time


class ChannelResult(Struct, frozen=True, kw_only=True):
    """What came of a test on a channel. ``why`` is "" unless it failed."""

    channel: Channel
    outcome: ChannelOutcome
    why: str = ""


class AlertTest(Struct, frozen=True, kw_only=True):
    """What came of a test.

    Args:
        way: by what it was made.
        why_way: why it is not mdadm; "" where it is.
        alerts: how many test alerts there were: mdadm makes one for each array.
        channels: of those that can be used.
        trouble: why no alert was made; "" where one was.
        unproven: what it does not show, a sentence each.
    """

    way: AlertRoute
    why_way: str = ""
    alerts: int = 0
    channels: tuple[ChannelResult, ...] = ()
    trouble: str = ""
    unproven: tuple[str, ...] = ()


def run_test(reader: HostReader, channels: Sequence[Channel], *, patience_s: float = PATIENCE_S) -> AlertTest:
    """Send a test alert to all channels, and wait until each was tried.

    Raises:
        OSError: the spool cannot be read.
    """
    spool = AlertSpool(spool_folder())
    before = {each.id for each in _tests(spool)}

    def made() -> tuple[Alert, ...]:
        return tuple(each for each in _tests(spool) if each.id not in before)

    way, why_way = _way(reader)
    trouble = begin_test(reader, way)
    if way is AlertRoute.MDADM and not trouble and not made():
        way, why_way = AlertRoute.HOOK, "mdadm made no test alert: no array runs that it monitors"
        trouble = begin_test(reader, way)
    usable = tuple(each for each in channels if not each.trouble)
    if not trouble and not made():
        trouble = "no alert reached the spool: see the system log"
    if not trouble:
        _wait(made, usable, time.monotonic() + patience_s)
    found = made()
    return AlertTest(
        way=way,
        why_way=why_way,
        alerts=len(found),
        channels=tuple(_result(each, found) for each in usable) if found else (),
        trouble=trouble,
        unproven=tuple(_unproven(reader, usable)),
    )


def _tests(spool: AlertSpool) -> Iterator[Alert]:
    """Yield all test alerts; one that moves meanwhile may come twice."""
    yield from (each for each in (*spool.waiting(), *spool.sent()) if is_test(each.event))


def _way(reader: HostReader) -> tuple[AlertRoute, str]:
    if not os.access(HOOK, os.X_OK):
        return AlertRoute.DIRECT, f"there is no {HOOK}: raidtui plan alerts sets it up"
    if os.geteuid() != 0:
        return AlertRoute.HOOK, "mdadm --monitor needs root"
    if tool_path("mdadm") is None:
        return AlertRoute.HOOK, "mdadm is not installed"
    program = program_of(reader)
    if program != HOOK:
        said = f"is {program}" if program else "is missing"
        return AlertRoute.HOOK, f"PROGRAM of mdadm.conf {said}: raidtui plan alerts sets it up"
    return AlertRoute.MDADM, ""


def _wait(made: Callable[[], tuple[Alert, ...]], channels: Sequence[Channel], end_s: float) -> None:
    while time.monotonic() < end_s:
        found = made()
        if all(_tried(alert, channel) for alert in found for channel in channels):
            return
        if all(_result(each, found).outcome is not ChannelOutcome.WAITING for each in channels):
            return
        time.sleep(_PACE_S)


def _tried(alert: Alert, channel: Channel) -> bool:
    delivery = alert.deliveries.get(channel.name)
    return delivery is not None and delivery.tries > 0


def _result(channel: Channel, alerts: Sequence[Alert]) -> ChannelResult:
    whys = [each.deliveries[channel.name].why for each in alerts if _tried(each, channel)]
    if failed := next((why for why in whys if why), ""):
        return ChannelResult(channel=channel, outcome=ChannelOutcome.FAILED, why=failed)
    done = alerts and all(each.accepted_by(channel.name) for each in alerts)
    return ChannelResult(channel=channel, outcome=ChannelOutcome.ACCEPTED if done else ChannelOutcome.WAITING)


def _unproven(reader: HostReader, channels: Sequence[Channel]) -> Iterator[str]:
    yield "A channel accepting it does not mean that it was read: ask the recipients."
    if any(each.mail_to for each in channels):
        yield "sendmail accepts mail before it is delivered: mailq shows what is still queued."
    watchers = read_watchers(reader)
    if watchers is not None and not watchers.monitors:
        yield "No mdadm --monitor runs now: nothing would report a real failure."
