"""Sends what waits in the spool: a process for each channel, with a time limit for each message."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import syslog
import time
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path

import msgspec

import raidtui
from raidtui.host.tools import end
from raidtui.jobs.alert_channel import Outcome, Task
from raidtui.model.alert import Alert, Channel, Message
from raidtui.model.finding import Severity

MESSAGE_S = 30.0
_GRACE_S = 5
_FIRST_WAIT_S, _LONGEST_WAIT_S = 60.0, 3600.0
_SILENT = f"no answer within {MESSAGE_S:.0f} s: it is not known whether it arrived"
_CRASHED = "the process that sends ended without an answer"

Report = Callable[[Channel, Outcome], None]
"""Receives each outcome as soon as it is known."""


def own_environment() -> dict[str, str]:
    """Return the environment in which ``python -P -m raidtui`` is this raidtui."""
    return {"PYTHONPATH": str(Path(raidtui.__file__).parents[1]), "LC_ALL": "C.UTF-8"}


def due_s(tries: int, tried_s: float) -> float:
    """Return when a message that failed is tried again: after a minute, later after an hour at most."""
    wait_s = min(_FIRST_WAIT_S * 2.0 ** max(0, min(tries, 20) - 1), _LONGEST_WAIT_S)
    return tried_s + wait_s if tries else 0.0


def _task(
    channel: Channel, messages: tuple[Message, ...] = (), *, check: bool = False, marks: str = ""
) -> Task:
    return Task(
        url=channel.url,
        ca=channel.ca,
        mail_to=channel.mail_to,
        program=channel.program,
        messages=messages,
        check=check,
        marks=marks,
        limit_s=ceil(MESSAGE_S) + _GRACE_S,
    )


def _started(task: Task, inherits: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        (sys.executable, "-P", "-m", "raidtui.jobs.alert_channel"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={**os.environ, **own_environment()},
        start_new_session=True,
        pass_fds=inherits,
    )
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # it has ended: its end is seen where it is read
            process.stdin.write(msgspec.json.encode(task))
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return process


def why_unusable(channel: Channel) -> str:
    """Return why nothing can be sent on a channel, by its address alone; "" where it can."""
    process = _started(_task(channel, check=True))
    try:
        if process.stdout is None:
            return _CRASHED
        with selectors.DefaultSelector() as chosen:
            chosen.register(process.stdout, selectors.EVENT_READ)
            line = process.stdout.readline() if chosen.select(MESSAGE_S) else b""
        return msgspec.json.decode(line, type=Outcome).why if line else _CRASHED
    finally:
        end(process)
        if process.stdout is not None:
            process.stdout.close()


def log_alert(alert: Alert) -> None:
    """Write what is sent to the system's log, too."""
    if alert.words is None:
        return
    level = syslog.LOG_CRIT if alert.words.severity > Severity.ATTENTION else syslog.LOG_WARNING
    with contextlib.suppress(OSError):  # a container may have no system log
        syslog.openlog("raidtui", syslog.LOG_PID, syslog.LOG_DAEMON)
        syslog.syslog(level if alert.words.severity else syslog.LOG_NOTICE, alert.words.sentence)


class _Sending:
    """A channel's process."""

    def __init__(
        self, channel: Channel, messages: Sequence[Message], marks: str, inherits: tuple[int, ...]
    ) -> None:
        self.channel = channel
        self.open = [message.id for message in messages]
        self.until_s = time.monotonic() + MESSAGE_S
        self.failed = False
        self._text = b""
        self.process = _started(_task(channel, tuple(messages), marks=marks), inherits)

    def read(self) -> list[Outcome] | None:
        """Return the outcomes that have come; None at the end."""
        stream = self.process.stdout
        data = os.read(stream.fileno(), 1 << 16) if stream is not None else b""
        *lines, self._text = (self._text + data).split(b"\n")
        found = [msgspec.json.decode(line, type=Outcome) for line in lines if line]
        for each in found:
            self.open.remove(each.id)
            self.until_s = time.monotonic() + MESSAGE_S
        return found if data else None

    def stop(self) -> None:
        """End it, and close what is open."""
        if self.process.poll() is None:
            end(self.process)
        if self.process.stdout is not None:
            self.process.stdout.close()


def message_of(alert: Alert, channel: Channel) -> Message | None:
    """Return what a channel gets of an alert; None while no one has looked at the array yet."""
    words = alert.words
    if words is None:
        return None
    before = alert.deliveries.get(channel.name)
    return Message(
        id=alert.id,
        at_s=alert.at_s,
        host=alert.host,
        severity=words.severity,
        title=words.title,
        body=words.sentence,
        tries=before.tries if before is not None else 0,
    )


def send(
    queues: Mapping[str, tuple[Channel, Sequence[Message]]],
    report: Report,
    *,
    marks: Callable[[Channel], str] = lambda _: "",
    inherits: tuple[int, ...] = (),
) -> None:
    """Send the messages of each channel in their order; return when no process is left.

    Args:
        queues: by the channel's name.
        report: called for each message that was tried. After a failure, those behind it are not tried.
        marks: returns where a channel's process marks what was accepted.
        inherits: descriptors that the processes hold, too: the spool's lock.
    """
    chosen = selectors.DefaultSelector()
    sendings = set[_Sending]()
    try:
        for channel, messages in queues.values():
            sending = _Sending(channel, messages, marks(channel), inherits)
            sendings.add(sending)
            chosen.register(sending.process.stdout or -1, selectors.EVENT_READ, sending)
        while sendings:
            ready = chosen.select(max(0.0, min(each.until_s for each in sendings) - time.monotonic()))
            for key, _ in ready:
                if _heard(key.data, report):
                    chosen.unregister(key.fileobj)
                    sendings.remove(key.data)
            for late in [each for each in sendings if time.monotonic() >= each.until_s]:
                chosen.unregister(late.process.stdout or -1)
                sendings.remove(late)
                late.stop()
                report(late.channel, Outcome(id=late.open[0], why=_SILENT))
    finally:
        for each in sendings:
            each.stop()
        chosen.close()


def _heard(sending: _Sending, report: Report) -> bool:
    """Take what a process has said; return whether it has ended."""
    outcomes = sending.read()
    for each in outcomes or ():
        sending.failed = bool(each.why)
        report(sending.channel, each)
    if outcomes is not None:
        return False
    sending.stop()
    if sending.open and not sending.failed:
        report(sending.channel, Outcome(id=sending.open[0], why=_CRASHED))
    return True
