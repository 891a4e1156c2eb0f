"""The channels in alerts.toml: their names, their addresses, and what is wrong with them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence

from raidtui.model.alert import Channel
from raidtui.model.finding import Severity

HEAD = """\
# The channels on which raidtui sends alerts. For root alone: an address may hold a password or a token.
# raidtui alert --add NAME and --remove NAME change it; docs/alerts.md has examples.
"""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_MAIL = re.compile(r"[^\s,<>@-][^\s,<>]*")
_KEYS = frozenset({"url", "ca", "sendmail", "program", "least"})
_LEAST = {each.word: each for each in Severity}
_PART = re.compile(r"[^/:@?&=\s]+")
_SHORT = 4


class ChannelsError(Exception):
    """The channels cannot be read or kept; the message says why, and what to do."""


def parse_channels(text: str) -> tuple[Channel, ...]:
    """Return the channels of alerts.toml in its order; one that is wrong has a ``trouble``.

    Raises:
        ChannelsError: it is no such file.
    """
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where = re.search(r"\(at [^)]*\)", str(error))  # the rest may quote an address
        raise ChannelsError(f"it is not valid TOML {where[0] if where else ''}".strip()) from None
    table = values.get("channels", {})
    if not isinstance(table, dict) or values.keys() - {"channels"}:
        raise ChannelsError("it must hold [channels.NAME] tables, and nothing else")
    return tuple(_channel(str(name), each) for name, each in table.items())


def _channel(name: str, values: object) -> Channel:
    def wrong(trouble: str) -> Channel:
        return Channel(name=name, trouble=trouble)

    if not NAME.fullmatch(name):
        return wrong("a channel's name has letters, digits, - and _, 32 at most")
    if not isinstance(values, dict):
        return wrong(f"it must be a table: [channels.{name}]")
    if unknown := sorted(map(str, values.keys() - _KEYS)):
        return wrong(f"unknown setting {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    if not all(isinstance(each, str) for each in values.values()):
        return wrong("each setting must be a text in quotes")
    url, mail_to = values.get("url", ""), values.get("sendmail", "")
    if bool(url) == bool(mail_to):
        return wrong('it needs either url = "..." or sendmail = "address"')
    if url and not _URL.fullmatch(url):
        return wrong("its url has another form than SCHEME://...")
    if mail_to and not _MAIL.fullmatch(mail_to):
        return wrong("sendmail must be one mail address, or a user's name")
    program = values.get("program", "")
    if program and (url or not program.startswith("/")):
        return wrong("program is the absolute path of a sendmail, and goes with sendmail")
    ca = values.get("ca", "")
    if ca and (not url or not ca.startswith("/")):
        return wrong("ca is the absolute path of a file of certificates, and goes with url")
    least = values.get("least", "info")
    if least not in _LEAST:
        return wrong(f"least must be one of {', '.join(_LEAST)}")
    return Channel(name=name, url=url, ca=ca, mail_to=mail_to, program=program, least=_LEAST[least])


def channel_of(name: str, address: str, least: str = "info", ca: str = "") -> Channel:
    """Return a new channel.

    Args:
        name: the user's name for it.
        address: a URL; or a mail address, for the local sendmail.
        least: the least severity that is sent.
        ca: the path of a file of certificates that are trusted there; "" for the host's.

    Raises:
        ChannelsError: it has no such form.
    """
    key = "url" if "://" in address else "sendmail"
    found = _channel(name, {key: address, "least": least, **({"ca": ca} if ca else {})})
    if found.trouble:
        raise ChannelsError(found.trouble)
    return found


def channels_text(channels: Sequence[Channel]) -> str:
    """Return alerts.toml with these channels."""
    lines = [HEAD]
    for each in channels:
        values = {"url": each.url, "ca": each.ca, "sendmail": each.mail_to, "program": each.program}
        lines.append(f"[channels.{each.name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items() if value]
        if each.least:
            lines.append(f"least = {json.dumps(each.least.word)}")
        lines.append("")
    return "\n".join(lines)


def without_secrets(text: str, channel: Channel) -> str:
    """Return what a library says of a channel, without any part of the channel's address but the scheme."""
    if not channel.url:
        return text
    parts = {part for part in _PART.findall(channel.url.partition("://")[2]) if len(part) >= _SHORT}
    for part in sorted({channel.url, *parts}, key=len, reverse=True):
        text = text.replace(part, "…")
    return text
