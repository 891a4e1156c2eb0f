"""Sends alerts on one channel: ``python -m raidtui.jobs.alert_channel``, a process that may be killed.

Standard input has a JSON ``Task``; its address is in no argument and no environment, where others could read
it. Standard output gets a JSON ``Outcome`` as each message ends. The first that fails ends it, unless that
message has failed often: it then is not what keeps the others waiting.
"""

from __future__ import annotations

import contextlib
import email.message
import email.utils
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from raidtui.built import Built, how_built
from raidtui.jobs.state_files import write_synced
from raidtui.model.alert import Message
from raidtui.model.finding import Severity

OFTEN = 5
_SENDMAIL_S = 25.0
_SENDMAILS = ("/usr/sbin/sendmail", "/usr/lib/sendmail")
_NOT_INSTALLED = (
    "Apprise is not installed: pip install 'raidtui[alerts]' into raidtui's Python; ntfy, webhooks, mail by"
    " smtps and sendmail need none of it (docs/alerts.md)"
)
_NOT_INSIDE = (
    "this raidtui brings its own Python, without Apprise: use ntfy, a webhook, mail by smtps or by sendmail"
    " (docs/alerts.md), or install raidtui by pipx with its extra alerts (docs/install.md)"
)
_REFUSED_URL = "Apprise does not know this kind of URL, or the URL is incomplete: see docs/alerts.md"


class Task(Struct, frozen=True, kw_only=True):
    """A channel's address and its messages, the oldest first. See ``Channel`` for the fields."""

    url: str = ""
    ca: str = ""
    mail_to: str = ""
    program: str = ""
    messages: tuple[Message, ...] = ()
    check: bool = False
    """Whether only the address is looked at, and nothing is sent."""
    limit_s: int = 60
    """After how long with one message the process ends: no one may be left who does that."""
    marks: str = ""
    """The path of a mark, with {id}; "" for none. What was accepted is marked before it is reported."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a message; ``why`` is "" where the channel has accepted it."""

    id: str
    why: str = ""


def main() -> int:
    """Send; return 0."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    if task.check:
        _say(Outcome(id="", why=_why_unusable(task)))
    for message in task.messages:
        signal.alarm(task.limit_s)
        why = _sent(task, message)
        if task.marks and not why:
            _mark(task.marks.format(id=message.id))
        _say(Outcome(id=message.id, why=why))
        if why and message.tries + 1 < OFTEN:
            break
    return 0


def _why_unusable(task: Task) -> str:
    from raidtui.jobs.alert_services import is_own, why_unusable_address  # noqa: PLC0415

    if task.mail_to:
        return ""
    return why_unusable_address(task.url, task.ca) if is_own(task.url) else _why_no_service(task.url)


def _sent(task: Task, message: Message) -> str:
    """Send a message; return why it was not accepted, or ""."""
    from raidtui.jobs.alert_services import is_own, send_message  # noqa: PLC0415

    if task.mail_to:
        return _by_mail(task, message)
    if not is_own(task.url):
        return _by_apprise(task.url, message)

    def mail(sender: str, to: str) -> bytes:
        return _mail(message, sender, to).as_bytes()

    return send_message(task.url, message, f"{message.body}\n{_day(message.at_s)}", mail, task.ca)


def _say(outcome: Outcome) -> None:
    with contextlib.suppress(BrokenPipeError):  # no one waits for it any more: the mark says it
        sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
        sys.stdout.buffer.flush()


def _mark(path: str) -> None:
    """Note that it was accepted; if that fails, the process that started this one may still note it."""
    with contextlib.suppress(OSError):
        write_synced(Path(path), b"")


def _why_no_apprise() -> str:
    """Return what to do where Apprise is missing: what brings its own Python takes no further packages."""
    if how_built() in {Built.ONE_FILE, Built.DEB, Built.RPM}:
        return _NOT_INSIDE
    return _NOT_INSTALLED


def _why_no_service(url: str) -> str:
    """Return why Apprise cannot send to a URL."""
    try:
        import apprise  # noqa: PLC0415
    except ImportError:
        return _why_no_apprise()
    logging.getLogger("apprise").addHandler(logging.NullHandler())
    return "" if apprise.Apprise().add(url) else _REFUSED_URL


def _by_mail(task: Task, message: Message) -> str:
    """Hand it to sendmail; return why it was not taken."""
    program = task.program or next((each for each in _SENDMAILS if os.access(each, os.X_OK)), "")
    if not program or not os.access(program, os.X_OK):
        return f"there is no {program or 'sendmail'}: install a mail program, or use another channel"
    mail = _mail(message, "root", task.mail_to)
    try:
        done = subprocess.run(
            (program, "-oi", "-t"),
            input=mail.as_bytes(),
            capture_output=True,
            timeout=_SENDMAIL_S,
            env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{program} did not end within {_SENDMAIL_S:.0f} s"
    except OSError as error:
        return f"{program}: {error.strerror}"
    said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())[-300:]
    return (
        "" if done.returncode == 0 else f"{program} failed ({done.returncode}){f': {said}' if said else ''}"
    )


def _mail(message: Message, sender: str, to: str) -> email.message.EmailMessage:
    mail = email.message.EmailMessage()
    mail["From"] = sender
    mail["To"] = to
    mail["Subject"] = f"[{message.severity.word}] {message.title}"
    mail["Date"] = email.utils.formatdate(message.at_s, localtime=True)
    mail["Message-ID"] = f"<{message.id}.raidtui@{_domain(message.host)}>"  # the same at each try
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(f"{message.body}\n\n{_day(message.at_s)}, raidtui on {message.host}\n")
    return mail


def _domain(host: str) -> str:
    return (
        "".join(char for char in host if char.isascii() and (char.isalnum() or char in "-.")) or "localhost"
    )


def _day(at_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(at_s))


class _Said(logging.Handler):
    """Keeps what Apprise logs: its answer is yes or no alone."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(" ".join(record.getMessage().split()))


def _by_apprise(url: str, message: Message) -> str:
    """Send it with Apprise; return why it was not taken, in the library's words, secrets included."""
    try:
        import apprise  # noqa: PLC0415  (160 ms, and an optional dependency)
    except ImportError:
        return _why_no_apprise()
    said = _Said()
    log = logging.getLogger("apprise")
    log.addHandler(said)
    log.propagate = False
    kinds = {
        Severity.INFO: apprise.NotifyType.INFO,
        Severity.ATTENTION: apprise.NotifyType.WARNING,
        Severity.DEGRADED: apprise.NotifyType.FAILURE,
        Severity.FAILED: apprise.NotifyType.FAILURE,
    }
    asset = apprise.AppriseAsset(
        app_id="raidtui", app_desc="Linux software RAID", app_url="", async_mode=False
    )
    service = apprise.Apprise(asset=asset)
    try:
        if not service.add(url):
            return _REFUSED_URL
        body = f"{message.body}\n{_day(message.at_s)}"
        sent = service.notify(
            title=message.title,
            body=body,
            notify_type=kinds[message.severity],
            body_format=apprise.NotifyFormat.TEXT,
        )
    finally:
        log.removeHandler(said)
    if sent:
        return ""
    return (
        "; ".join(dict.fromkeys(said.lines))[:500]
        or "the service did not accept it, and Apprise does not say why"
    )


if __name__ == "__main__":
    sys.exit(main())
