"""The services that alerts are sent to without a library: ntfy, webhooks, and mail servers, with TLS.

An address is a URL. Certificates are checked against those of the host, or the file that the channel names;
they are never ignored. Nothing is redirected, and no proxy is used.
"""

from __future__ import annotations

import base64
import html
import http.client
import ipaddress
import json
import os
import smtplib
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from raidtui.model.alert import Message
from raidtui.model.finding import Severity

if TYPE_CHECKING:
    import ssl

_ANSWER_S = 10.0
_MOST_SAID = 200
CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch, Alpine, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL and what is built of it
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",
)
"""Where distributions have the certificates of the authorities that they trust."""
_NTFY = "ntfy.sh"
_PRIORITY = {Severity.INFO: 2, Severity.ATTENTION: 3, Severity.DEGRADED: 4, Severity.FAILED: 5}
_TYPES = {
    Severity.INFO: "info",
    Severity.ATTENTION: "warning",
    Severity.DEGRADED: "failure",
    Severity.FAILED: "failure",
}
_DISCORD = 2000
"""Characters of a message, at most."""


class _AddressError(ValueError):
    """An address is incomplete; the text says what is missing."""


def is_own(url: str) -> bool:
    """Whether an address is of one of these services; Apprise may know the others."""
    return urlsplit(url).scheme in {*_BODIES, *_MAIL}


def why_unusable_address(url: str, ca: str = "") -> str:
    """Return what is wrong with the address of one of these services, or with its CA file; "" for nothing."""
    parts = urlsplit(url)
    try:
        if not parts.hostname:
            return "the address has no host"
        if _is_no_port(parts):
            return "the address's port is not a number up to 65535"
        if parts.scheme in _MAIL:
            _recipients(parts)
        elif parts.scheme in _NTFIES:
            _topic(parts)
        if _is_secure(parts):
            _tls(ca)
    except (_AddressError, OSError, ValueError) as error:
        return str(error)
    return ""


Mail = Callable[[str, str], bytes]
"""Returns a message as a mail, from and to these addresses."""


def send_message(url: str, message: Message, text: str, mail: Mail, ca: str = "") -> str:
    """Send a message; return why it was not accepted, or "".

    Args:
        url: the address.
        message: what is sent.
        text: its body with its time.
        mail: makes the mail of it.
        ca: a file of certificates that are trusted instead of the host's.
    """
    parts = urlsplit(url)
    try:
        if parts.scheme in _MAIL:
            return _by_smtp(parts, mail, ca)
        return _by_http(parts, message, text, ca)
    except TimeoutError:
        return f"no answer within {_ANSWER_S:.0f} s"
    except socket.gaierror as error:
        return f"the host's name is not known: {error.strerror}"
    except (_AddressError, smtplib.SMTPException, http.client.HTTPException, UnicodeError) as error:
        return " ".join(str(error).split())[:_MOST_SAID] or type(error).__name__
    except OSError as error:
        return _tls_words(error, ca) or f"no connection: {error.strerror or error}"


# -- TLS


def _is_no_port(parts: SplitResult) -> bool:
    try:
        return parts.port == 0
    except ValueError:
        return True


def _is_secure(parts: SplitResult) -> bool:
    return parts.scheme not in {"http", "json", "ntfy", "slack+http", "discord+http", "matrix+http"}


def ca_file(named: str = "") -> str:
    """Return the file of the certificates that are trusted; "" where this host has none.

    Args:
        named: the channel's own.
    """
    places = (named,) if named else (os.environ.get("SSL_CERT_FILE", ""), *CA_FILES)
    return next((place for place in places if place and os.access(place, os.R_OK)), "")


def _tls(named: str) -> ssl.SSLContext:
    try:
        import ssl  # noqa: PLC0415  (a Python may be built without it)
    except ImportError:
        raise _AddressError("raidtui's Python has no TLS: use a channel by sendmail") from None
    file = ca_file(named)
    if not file:
        raise _AddressError(
            f"{named} cannot be read"
            if named
            else "this host has no CA certificates: install ca-certificates, or name a file with ca"
        )
    return ssl.create_default_context(cafile=file)


def _tls_words(error: OSError, ca: str) -> str:
    """Return what TLS complains of; "" where it is another error."""
    try:
        import ssl  # noqa: PLC0415
    except ImportError:
        return ""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message} (trusted are those of {ca_file(ca)})"
    return f"no TLS: {error.reason or error}" if isinstance(error, ssl.SSLError) else ""


# -- HTTP


def _by_http(parts: SplitResult, message: Message, text: str, ca: str) -> str:
    host = parts.hostname or ""
    path, body = _BODIES[parts.scheme](parts, message, text)
    if parts.scheme in _NTFIES and not parts.path.strip("/"):
        host = _NTFY
    secure = _is_secure(parts)
    connection = (
        http.client.HTTPSConnection(host, parts.port, timeout=_ANSWER_S, context=_tls(ca))
        if secure
        else http.client.HTTPConnection(host, parts.port, timeout=_ANSWER_S)
    )
    headers = {"Content-Type": "application/json", "User-Agent": "raidtui", **_authorization(parts)}
    try:
        connection.request("POST", path, json.dumps(body).encode(), headers)
        answer = connection.getresponse()
        said = " ".join(answer.read(4096).decode("utf-8", "replace").split())[:_MOST_SAID]
    finally:
        connection.close()
    if answer.status < 300:
        return ""
    words = f"it answered {answer.status} {answer.reason}"
    if answer.status in {401, 403}:
        words += ": check user, password or token"
    elif answer.status < 400:
        words += ": use the address that it names"
    return f"{words}{f' ({said})' if said else ''}"


def _authorization(parts: SplitResult) -> dict[str, str]:
    """Return the header of user and password, or of a token of ntfy."""
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if user.startswith("tk_") and not password:
        return {"Authorization": f"Bearer {user}"}
    if not user and not password:
        return {}
    word = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {word}"}


_Body = tuple[str, dict[str, object]]


def _whole_path(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _ntfy(parts: SplitResult, message: Message, text: str) -> _Body:
    return "/", {
        "topic": _topic(parts),
        "title": message.title,
        "message": text,
        "priority": _PRIORITY[message.severity],
        "tags": [message.severity.word],
    }


def _topic(parts: SplitResult) -> str:
    """Return the topic: the path, or the host of an address that names no server."""
    topic = unquote(parts.path.strip("/")) or parts.hostname or ""
    if "/" in topic:
        raise _AddressError("the address has more than a topic: ntfys://HOST/TOPIC")
    return topic


def _generic(parts: SplitResult, message: Message, text: str) -> _Body:
    return _whole_path(parts), {
        "version": "1.0",
        "title": message.title,
        "message": text,
        "type": _TYPES[message.severity],
        "severity": message.severity.word,
        "host": message.host,
        "at": message.at_s,
    }


def _slack(parts: SplitResult, message: Message, text: str) -> _Body:
    return _whole_path(parts), {"text": html.escape(f"{message.title}\n{text}", quote=False)}


def _matrix(parts: SplitResult, message: Message, text: str) -> _Body:
    return _whole_path(parts), {"text": f"{message.title}\n{text}"}


def _discord(parts: SplitResult, message: Message, text: str) -> _Body:
    words = f"{message.title}\n{text}"[:_DISCORD]
    return _whole_path(parts), {"content": words, "allowed_mentions": {"parse": []}}


_NTFIES = frozenset({"ntfy", "ntfys"})
_BODIES: dict[str, Callable[[SplitResult, Message, str], _Body]] = {
    "ntfy": _ntfy,
    "ntfys": _ntfy,
    "json": _generic,
    "jsons": _generic,
    "http": _generic,
    "https": _generic,
    "slack+http": _slack,
    "slack+https": _slack,
    "matrix+http": _matrix,
    "matrix+https": _matrix,
    "discord+http": _discord,
    "discord+https": _discord,
}
"""What a message looks like there, by the address's scheme."""


# -- mail

_MAIL = {"smtp": 587, "smtps": 465}
"""The port of each scheme."""


def _recipients(parts: SplitResult) -> list[str]:
    found = [each.strip() for text in parse_qs(parts.query).get("to", []) for each in text.split(",")]
    if not found or not all("@" in each for each in found):
        raise _AddressError("the address names no one: smtps://USER:PASSWORD@HOST?to=ADDRESS")
    return found


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _by_smtp(parts: SplitResult, mail: Mail, ca: str) -> str:
    host, port = parts.hostname or "", parts.port or _MAIL[parts.scheme]
    to = _recipients(parts)
    sender = parse_qs(parts.query).get("from", [f"root@{socket.getfqdn()}"])[0]
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_ANSWER_S, context=_tls(ca))
    else:
        server = smtplib.SMTP(host, port, timeout=_ANSWER_S)
    with server:
        server.ehlo()
        if parts.scheme == "smtp" and (server.has_extn("starttls") or not _is_here(host)):
            server.starttls(context=_tls(ca))
            server.ehlo()
        if user:
            server.login(user, password)
        refused = server.sendmail(sender, to, mail(sender, ", ".join(to)))
    return f"it refused {', '.join(refused)}" if refused else ""
