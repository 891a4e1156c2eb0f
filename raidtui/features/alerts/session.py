"""Alerts from the event to the channels: kept first, then judged, then sent; and again until all have it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.alerts.alert_words import alert_words, is_test
from raidtui.features.alerts.channels import ChannelsError, channels_text, parse_channels, without_secrets
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.alert_channel import OFTEN, Outcome
from raidtui.jobs.alert_channels_file import channels_path, keep_channels_text, read_channels_text
from raidtui.jobs.alert_sender import due_s, log_alert, message_of, send
from raidtui.jobs.alert_spool import AlertSpool, spool_folder
from raidtui.model.alert import Alert, AlertWords, Channel, Delivery, Message

_JUDGED_S = 15.0
_LOCK_S = 600.0


class SendingResult(Struct, frozen=True, kw_only=True):
    """What is left after a pass.

    Args:
        waiting: alerts that a channel still lacks, the oldest first.
        troubles: what prevents sending, a sentence each.
        busy: whether another process is sending.
    """

    waiting: tuple[Alert, ...] = ()
    troubles: tuple[str, ...] = ()
    busy: bool = False


def read_channels() -> tuple[Channel, ...]:
    """Return the channels.

    Raises:
        ChannelsError: their file cannot be read.
    """
    path = channels_path()
    try:
        return parse_channels(read_channels_text(path) or "")
    except OSError as error:
        raise ChannelsError(f"{path} cannot be read: {error.strerror}") from error
    except ChannelsError as error:
        raise ChannelsError(
            f"{path}: {error}; nothing is sent until it is fixed, and nothing is lost"
        ) from None


def keep_channels(channels: Sequence[Channel]) -> Path:
    """Keep the channels; return the file.

    Raises:
        ChannelsError: it cannot be written.
    """
    path = channels_path()
    try:
        keep_channels_text(path, channels_text(channels) if channels else "")
    except OSError as error:
        raise ChannelsError(f"{path} cannot be written: {error.strerror}") from error
    return path


def send_waiting(
    reader: HostReader,
    *,
    eager: bool,
    judged: Mapping[str, AlertWords] | None = None,
    lock_s: float = _LOCK_S,
) -> SendingResult:
    """Send what waits, the oldest first on each channel.

    Args:
        reader: the host, for the verdict on alerts that no one has looked at yet.
        eager: whether channels that failed a moment ago are tried again at once: something new has happened.
        judged: words for alerts, by id.
        lock_s: how long to wait for another process that is sending.

    Raises:
        OSError: the spool cannot be read or written.
    """
    spool = AlertSpool(spool_folder())
    with spool.lock(lock_s) as lock:
        if lock is None:
            return SendingResult(waiting=spool.waiting(), busy=True)
        spool.adopt()
        alerts = {each.id: spool.marked(each) for each in spool.waiting()}
        known = dict(judged or {})
        if unjudged := [each for each in alerts.values() if each.words is None and each.id not in known]:
            known |= judge_alerts(reader, unjudged)
        for alert in alerts.values():
            if alert.words is None:
                alerts[alert.id] = replace(alert, words=known[alert.id])
                spool.keep(alerts[alert.id])
                log_alert(alerts[alert.id])
        damaged = tuple(f"{path} is damaged and cannot be sent" for path in spool.damaged())
        try:
            channels = read_channels()
        except ChannelsError as error:
            return SendingResult(waiting=tuple(alerts.values()), troubles=(str(error), *damaged))
        _SendingPass(spool, alerts, channels).run(eager=eager, lock=lock)
        waiting = spool.waiting()
    return SendingResult(waiting=waiting, troubles=(*channel_troubles(channels), *damaged))


def channel_troubles(channels: Sequence[Channel]) -> tuple[str, ...]:
    """Return what is wrong with the configuration, a sentence each."""
    if not channels:
        return ("no channel is configured: raidtui alert --add NAME adds one (docs/alerts.md)",)
    return tuple(f"channel {each.name}: {each.trouble}" for each in channels if each.trouble)


def send_unkept(reader: HostReader, alert: Alert) -> None:
    """Send an alert that could not be kept: once, and what fails is lost but for the system's log."""
    alert = replace(alert, words=judge_alerts(reader, (alert,))[alert.id])
    log_alert(alert)
    try:
        channels = read_channels()
    except ChannelsError:
        return
    message = {each.name: message_of(alert, each) for each in channels if not each.trouble}
    queues = {
        each.name: (each, (found,))
        for each in channels
        if _wants(each, alert) and (found := message.get(each.name)) is not None
    }
    send(queues, lambda _channel, _outcome: None)


class _SendingPass:
    """One pass over the spool, under its lock."""

    def __init__(self, spool: AlertSpool, alerts: dict[str, Alert], channels: Sequence[Channel]) -> None:
        self._spool = spool
        self._alerts = alerts
        self._channels = channels

    def run(self, *, eager: bool, lock: int) -> None:
        """Send what is due, note each outcome when it is known, and move away what is done."""
        queues = {}
        for channel in self._channels:
            messages = () if channel.trouble else tuple(self._due(channel, eager=eager))
            if messages:
                queues[channel.name] = (channel, messages)
        for alert in tuple(self._alerts.values()):
            self._finish(alert)
        if queues:
            send(
                queues,
                self._note,
                marks=lambda channel: self._spool.marks(channel.name),
                inherits=(lock,),
            )

    def _due(self, channel: Channel, *, eager: bool) -> Iterator[Message]:
        """Yield a channel's messages: none behind one that is not due yet, unless that has failed often."""
        for alert in self._alerts.values():
            if not _wants(channel, alert) or alert.accepted_by(channel.name):
                continue
            before = alert.deliveries.get(channel.name, Delivery())
            late = due_s(before.tries, before.tried_s)
            if not eager and before.tries and before.tried_s <= time.time() < late:
                if before.tries < OFTEN:
                    return
                continue
            if (message := message_of(alert, channel)) is not None:
                yield message

    def _note(self, channel: Channel, outcome: Outcome) -> None:
        alert = self._alerts[outcome.id]
        before = alert.deliveries.get(channel.name, Delivery())
        now_s = time.time()
        delivery = Delivery(
            done_s=None if outcome.why else now_s,
            tries=before.tries + 1,
            tried_s=now_s,
            why=without_secrets(outcome.why, channel),
        )
        alert = replace(alert, deliveries={**alert.deliveries, channel.name: delivery})
        self._alerts[alert.id] = alert
        self._spool.keep(alert)
        self._finish(alert)

    def _finish(self, alert: Alert) -> None:
        if self._channels and all(
            alert.accepted_by(each.name) or not (each.trouble or _wants(each, alert))
            for each in self._channels
        ):
            self._spool.finish(alert)
            del self._alerts[alert.id]


def _wants(channel: Channel, alert: Alert) -> bool:
    """Whether a channel is to have an alert: a test goes to all of them."""
    return alert.words is None or is_test(alert.event) or alert.words.severity >= channel.least


def judge_alerts(reader: HostReader, alerts: Sequence[Alert]) -> dict[str, AlertWords]:
    """Return what is sent of these alerts, by the present state of the arrays.

    The arrays are read in a thread that is given up when the kernel does not answer.
    """
    found: dict[str, AlertWords] = {}

    def work() -> None:
        found.update(_judged(reader, alerts))

    thread = threading.Thread(target=work, name="alert-verdict", daemon=True)
    thread.start()
    thread.join(_JUDGED_S)
    late = thread.is_alive()
    unread = f"the kernel has not answered within {_JUDGED_S:.0f} s" if late else "they could not be read"
    return {
        each.id: found.get(each.id) or alert_words(each.event, each.host, None, (), unread=unread)
        for each in alerts
    }


def _judged(reader: HostReader, alerts: Sequence[Alert]) -> dict[str, AlertWords]:
    from raidtui.watch.watch import HostWatch  # noqa: PLC0415  (what only sends needs no watch)

    report = HostWatch(reader).refresh()
    return {
        each.id: alert_words(
            replace(each.event, device=_kernel_path(reader, each.event.device)),
            each.host,
            report.snapshot,
            report.findings,
        )
        for each in alerts
    }


def _kernel_path(reader: HostReader, device: str) -> str:
    """Return the kernel's path of an array that was named by its link: /dev/md/data."""
    target = reader.link(device) if device.startswith("/dev/") else None
    return f"/dev/{target.rpartition('/')[2]}" if target else device
