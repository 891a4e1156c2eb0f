"""Alerts: what mdadm or smartd reported, what is sent of it, and what became of that on each channel."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from raidtui.model.finding import Severity


class AlertEvent(Struct, frozen=True, kw_only=True):
    """An event as it was reported.

    Args:
        source: ``mdadm`` or ``smartd``.
        name: mdadm's word (Fail, DegradedArray), or smartd's SMARTD_FAILTYPE.
        device: the array or disk, a path; "" where none was named.
        detail: mdadm's third word: a member, or "mismatches found: 128 (on raid level 1)"; smartd's message.
    """

    source: str
    name: str
    device: str = ""
    detail: str = ""


class AlertWords(Struct, frozen=True, kw_only=True):
    """What is sent.

    Args:
        severity: the worse one of the event and of raidtui's verdict on the array.
        title: one line: host, array, what happened.
        sentence: what happened, what raidtui says of the array now, and what to do.
    """

    severity: Severity
    title: str
    sentence: str


class Delivery(Struct, frozen=True, kw_only=True):
    """What became of an alert on a channel.

    Args:
        done_s: when the channel accepted it, epoch seconds; None for not yet.
        tries: how often it was tried.
        tried_s: when the last try ended, epoch seconds.
        why: why the last try failed; "" where it did not. It never holds a secret of the channel.
    """

    done_s: float | None = None
    tries: int = 0
    tried_s: float = 0.0
    why: str = ""


class Alert(Struct, frozen=True, kw_only=True):
    """An alert in the spool.

    Args:
        id: its name in the spool; later ones sort behind.
        at_s: when it was reported, epoch seconds.
        host: of the host.
        event: what was reported.
        words: what is sent; None while no one has looked at the array yet.
        deliveries: by the name of the channel.
    """

    id: str
    at_s: float
    host: str
    event: AlertEvent
    words: AlertWords | None = None
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)

    def accepted_by(self, channel: str) -> bool:
        """Whether a channel has it."""
        found = self.deliveries.get(channel)
        return found is not None and found.done_s is not None


class Message(Struct, frozen=True, kw_only=True):
    """What is sent; ``tries`` counts how often it was tried on this channel before."""

    id: str
    at_s: float
    host: str
    severity: Severity
    title: str
    body: str
    tries: int = 0


class Channel(Struct, frozen=True, kw_only=True):
    """A way to people. The address of most is a secret: it is shown nowhere.

    Args:
        name: the user's name for it.
        url: of a service; "" for sendmail.
        ca: a file of certificates that are trusted there instead of the host's; "" for the host's.
        mail_to: the address that the local sendmail sends to; "" for a service.
        program: the sendmail; "" for the system's.
        least: what is less severe is not sent.
        trouble: why it cannot be used; "" where it can.
    """

    name: str
    url: str = ""
    ca: str = ""
    mail_to: str = ""
    program: str = ""
    least: Severity = Severity.INFO
    trouble: str = ""

    def __repr__(self) -> str:
        return f"Channel({self.name})"

    @property
    def kind(self) -> str:
        """What it is, without anything that may be secret: "ntfy", "sendmail to root"."""
        if self.mail_to:
            return f"sendmail to {self.mail_to}"
        return self.url.partition("://")[0] or "unknown"
