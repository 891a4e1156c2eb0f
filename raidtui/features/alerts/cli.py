"""``raidtui alert``: takes events of mdadm and smartd, sends alerts, tests the way, shows what waits."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from raidtui.command.streams import print_json
from raidtui.features.alerts.alert_check import run_test
from raidtui.features.alerts.alert_words import is_noise
from raidtui.features.alerts.channels import ChannelsError, channel_of
from raidtui.features.alerts.session import (
    channel_troubles,
    judge_alerts,
    keep_channels,
    read_channels,
    send_unkept,
    send_waiting,
)
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.opening import open_root
from raidtui.jobs.alert_sender import why_unusable
from raidtui.jobs.alert_spool import AlertSpool, new_alert, spool_folder
from raidtui.jobs.spawn import detached
from raidtui.model.alert import AlertEvent
from raidtui.view.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raidtui.features.alerts.alert_check import AlertTest
    from raidtui.model.alert import Alert, Channel

_DONE, _NOT_DONE, _REFUSED = 0, 1, 2
_LEAST = ("info", "attention", "degraded", "failed")
_SHOWN = 10
_LONGEST = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``alert``."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--event",
        nargs="+",
        metavar="WORD",
        help="take an event as mdadm --monitor reports it: EVENT [DEVICE [MEMBER]]",
    )
    what.add_argument("--smartd", action="store_true", help="take an event as smartd reports it: SMARTD_...")
    what.add_argument("--send", action="store_true", help="retry alerts that wait and are due")
    what.add_argument("--test", action="store_true", help="send a test alert, and report the outcome")
    what.add_argument("--list", action="store_true", help="show channels, what waits, and the last alerts")
    what.add_argument(
        "--add",
        metavar="NAME",
        help="add or replace a channel; its address is read from the terminal or standard input",
    )
    what.add_argument("--remove", metavar="NAME", help="remove a channel")
    parser.add_argument("--least", choices=_LEAST, help="with --add: send nothing less severe there")
    parser.add_argument(
        "--ca", metavar="FILE", help="with --add: certificates that are trusted there, not the host's"
    )
    parser.add_argument("--json", action="store_true", help="for programs, with --test and --list")


def run(reader: HostReader, arguments: argparse.Namespace) -> int:
    """Do one of them; return the exit status (docs/alerts.md)."""
    if arguments.least is not None and arguments.add is None:
        return _refused("--least goes with --add")
    if arguments.ca is not None and arguments.add is None:
        return _refused("--ca goes with --add")
    if arguments.json and not (arguments.test or arguments.list):
        return _refused("--json goes with --test and --list")
    if not reader.live:
        return _refused("this is not the live host, and alerts are of the live host alone")
    if arguments.event or arguments.smartd:
        return _taken(_event_of(arguments), reader)

    try:
        if arguments.send:
            return _sent(reader)
        if arguments.test:
            return _tested(reader, as_json=arguments.json)
        if arguments.list:
            return _listed(as_json=arguments.json)
        return (
            _removed(arguments.remove)
            if arguments.remove
            else _added(arguments.add, arguments.least, arguments.ca)
        )
    except ChannelsError as error:
        return _refused(str(error))
    except OSError as error:
        return _refused(f"{error.filename or 'the spool'}: {error.strerror}")


def _refused(sentence: str) -> int:

    print(visible(f"raidtui: {sentence}"), file=sys.stderr)
    return _REFUSED


# -- an event


def _event_of(arguments: argparse.Namespace) -> AlertEvent:

    if arguments.smartd:
        said = os.environ
        return AlertEvent(
            source="smartd",
            name=said.get("SMARTD_FAILTYPE", "")[:_LONGEST],
            device=said.get("SMARTD_DEVICE", "")[:_LONGEST],
            detail=said.get("SMARTD_MESSAGE", "")[:_LONGEST],
        )
    name, device, detail = (*arguments.event[:3], "", "")[:3]
    return AlertEvent(
        source="mdadm", name=name[:_LONGEST], device=device[:_LONGEST], detail=detail[:_LONGEST]
    )


def _taken(event: AlertEvent, reader: HostReader) -> int:
    """Keep an event on disk, and let another process send it; return at once."""
    if is_noise(event):
        return _DONE
    alert = new_alert(event, reader.hostname or "localhost")
    try:
        AlertSpool(spool_folder()).keep(alert)
    except OSError as error:
        detached(lambda: _send_unkept(alert))
        why = error.strerror or error
        print(f"raidtui: the alert cannot be kept: {why}; it is sent once", file=sys.stderr)
        return _NOT_DONE
    with contextlib.suppress(OSError):  # no process more: the timer sends it
        detached(lambda: _send_new(alert))
    return _DONE


def _send_new(alert: Alert) -> None:

    reader = open_root()
    send_waiting(reader, eager=True, judged=judge_alerts(reader, (alert,)))


def _send_unkept(alert: Alert) -> None:

    send_unkept(open_root(), alert)


# -- sending, testing


def _sent(reader: HostReader) -> int:

    result = send_waiting(reader, eager=False, lock_s=0.0)
    for trouble in result.troubles if result.waiting else ():
        print(visible(f"raidtui: {trouble}"), file=sys.stderr)
    if result.busy:
        print("another process is sending")
    for line in _waiting_lines(result.waiting):
        print(visible(line))
    return _NOT_DONE if result.waiting else _DONE


def _tested(reader: HostReader, *, as_json: bool) -> int:

    channels = read_channels()
    troubles = channel_troubles(channels)
    if all(each.trouble for each in channels):
        return _refused(troubles[0])
    test = run_test(reader, channels)
    if as_json:
        print_json(dict_of_test(test, troubles))
    else:
        for line in lines_of_test(test, troubles):
            print(visible(line))
    fine = not test.trouble and not troubles and all(each.outcome == "accepted" for each in test.channels)
    return _DONE if fine else _NOT_DONE


_WAYS = {
    "mdadm": "Sent through mdadm --monitor, which called the PROGRAM of mdadm.conf, as at a real failure",
    "hook": "Sent through the hook, called as mdadm would",
    "direct": "Sent by raidtui itself",
}


def lines_of_test(test: AlertTest, troubles: Sequence[str]) -> Iterator[str]:
    """Yield what came of a test, for people."""
    yield f"{_WAYS[test.way]}{f'; {test.why_way}' if test.why_way else ''}."
    if test.trouble:
        yield f"failed: {test.trouble}"
    words = {
        "accepted": "accepted",
        "waiting": "not tried yet; it is kept, and sent later",
    }
    for each in test.channels:
        what = words.get(each.outcome, f"failed: {each.why}; it is kept, and tried again")
        yield f"  {each.channel.name} ({each.channel.kind}): {what}"
    yield from troubles
    yield from test.unproven


def dict_of_test(test: AlertTest, troubles: Sequence[str]) -> dict[str, Any]:
    """Return what came of a test, for programs (docs/alerts.md)."""
    return {
        "way": str(test.way),
        "why_way": test.why_way or None,
        "alerts": test.alerts,
        "channels": [
            {
                "name": each.channel.name,
                "kind": each.channel.kind,
                "outcome": str(each.outcome),
                "why": each.why or None,
            }
            for each in test.channels
        ],
        "trouble": test.trouble or None,
        "troubles": list(troubles),
        "unproven": list(test.unproven),
    }


# -- showing


def _listed(*, as_json: bool) -> int:

    spool = AlertSpool(spool_folder())
    waiting, sent = spool.waiting(), spool.sent()
    channels: Sequence[Channel] = ()
    try:
        channels = read_channels()
        troubles = channel_troubles(channels)
    except ChannelsError as error:
        troubles = (str(error),)
    troubles = (*troubles, *(f"{path} is damaged and cannot be sent" for path in spool.damaged()))
    if as_json:
        print_json(
            {
                "channels": [_channel_dict(each) for each in channels],
                "waiting": [alert_dict(each) for each in waiting],
                "sent": [alert_dict(each) for each in sent],
                "troubles": list(troubles),
            }
        )
    else:
        lines = [*_channel_lines(channels), *troubles, *_waiting_lines(waiting), *_sent_lines(sent)]
        for line in lines:
            print(visible(line))
    return _NOT_DONE if waiting or troubles else _DONE


def _channel_dict(channel: Channel) -> dict[str, Any]:
    return {
        "name": channel.name,
        "kind": channel.kind,
        "least": channel.least.word,
        "trouble": channel.trouble or None,
    }


def alert_dict(alert: Alert) -> dict[str, Any]:
    """Return an alert for programs (docs/alerts.md)."""
    words = alert.words
    return {
        "id": alert.id,
        "at": alert.at_s,
        "source": alert.event.source,
        "event": alert.event.name,
        "device": alert.event.device or None,
        "severity": words.severity.word if words else None,
        "title": words.title if words else None,
        "text": words.sentence if words else None,
        "channels": {
            name: {
                "accepted": each.done_s,
                "tries": each.tries,
                "tried": each.tried_s,
                "why": each.why or None,
            }
            for name, each in alert.deliveries.items()
        },
    }


def _channel_lines(channels: Sequence[Channel]) -> Iterator[str]:
    for each in channels:
        if not each.trouble:
            least = f", from {each.least.word} on" if each.least else ""
            yield f"channel {each.name}: {each.kind}{least}"


def _waiting_lines(waiting: Sequence[Alert]) -> Iterator[str]:
    for alert in waiting:
        yield f"waits since {_day(alert.at_s)}: {alert.words.title if alert.words else alert.event.name}"
        for name, each in alert.deliveries.items():
            if each.done_s is None:
                times = "once" if each.tries == 1 else f"{each.tries} times"
                yield f"  {name}: tried {times}, last at {_day(each.tried_s)}: {each.why}"


def _sent_lines(sent: Sequence[Alert]) -> Iterator[str]:
    for alert in sent[-_SHOWN:]:
        names = [name for name, each in alert.deliveries.items() if each.done_s is not None]
        where = f"sent to {', '.join(names)}" if names else "sent nowhere: no channel wants it"
        yield f"{where} ({_day(alert.at_s)}): {alert.words.title if alert.words else alert.event.name}"


def _day(at_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))


# -- channels


def _added(name: str, least: str | None, ca: str | None) -> int:
    channels = read_channels()
    channel = channel_of(name, _address(), least or "info", ca or "")
    if why := why_unusable(channel):
        return _refused(f"not added: {why}")
    others = [each for each in channels if each.name != name]
    if wrong := [each.name for each in others if each.trouble]:
        return _refused(f"not added: fix channel {wrong[0]} first, or remove it")
    path = keep_channels([*others, channel])
    print(f"channel {name} ({channel.kind}) is in {path}; raidtui alert --test tries it")
    return _DONE


def _address() -> str:
    if sys.stdin.isatty():
        return getpass.getpass(
            "Address (a URL as in docs/alerts.md, or a mail address for sendmail): "
        ).strip()
    return sys.stdin.readline(_LONGEST).strip()


def _removed(name: str) -> int:

    channels = read_channels()
    if all(each.name != name for each in channels):
        return _refused(f"there is no channel {name}")
    left = [each for each in channels if each.name != name]
    if wrong := [each.name for each in left if each.trouble]:
        return _refused(f"not removed: fix channel {wrong[0]} first, or remove it by hand")
    print(f"channel {name} is no longer in {keep_channels(left)}")
    return _DONE
