"""Alerts without a library: what each service gets, over TLS, and what is said where it fails."""

from __future__ import annotations

import email
import email.policy
import json
import socket
import threading
from collections.abc import Iterator

import pytest

from raidtui.jobs import alert_services
from raidtui.jobs.alert_channel import _mail
from raidtui.jobs.alert_services import ca_file, is_own, send_message, why_unusable_address
from raidtui.model.alert import Message
from raidtui.model.finding import Severity
from tests.features.alerts.servers import SECRET, TLS, Post, Web, mail_server, web_server

CA = str(TLS / "ca.pem")
MESSAGE = Message(
    id="7",
    at_s=1_795_209_900.0,
    host="nas",
    severity=Severity.DEGRADED,
    title="nas: sda of data has <failed>",
    body="data is degraded.",
)

SLACK = "nas: sda of data has &lt;failed&gt;\ndata is degraded.\n2026"


def sent(url: str, ca: str = CA, message: Message = MESSAGE) -> str:
    def mail(sender: str, to: str) -> bytes:
        return _mail(message, sender, to).as_bytes()

    return send_message(url, message, f"{message.body}\n2026", mail, ca)


@pytest.fixture
def secure_web() -> Iterator[Web]:
    with web_server(certificate="server") as server:
        yield server


@pytest.mark.parametrize(
    ("address", "path", "body"),
    [
        ("ntfys://HOST/disks", "/", {"topic": "disks", "title": MESSAGE.title, "priority": 4}),
        ("jsons://HOST/a?b=1", "/a?b=1", {"title": MESSAGE.title, "type": "failure", "severity": "degraded"}),
        ("https://HOST/", "/", {"message": "data is degraded.\n2026", "host": "nas", "at": MESSAGE.at_s}),
        (
            "slack+https://HOST/T/B",
            "/T/B",
            {"text": "nas: sda of data has &lt;failed&gt;\ndata is degraded.\n2026"},
        ),
        ("matrix+https://HOST/x", "/x", {"text": f"{MESSAGE.title}\ndata is degraded.\n2026"}),
        (
            "discord+https://HOST/x",
            "/x",
            {"content": f"{MESSAGE.title}\ndata is degraded.\n2026", "allowed_mentions": {"parse": []}},
        ),
    ],
)
def test_what_a_web_service_gets(secure_web: Web, address: str, path: str, body: dict[str, object]) -> None:
    url = address.replace("HOST", f"localhost:{secure_web.port}")
    assert (is_own(url), why_unusable_address(url, CA), sent(url)) == (True, "", "")
    [(asked, text)] = secure_web.got
    assert asked == path
    assert json.loads(text).items() >= body.items()


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ("", ""),
        (f"me:{SECRET}%40", "Basic bWU6czNjcmV0LXRva2VuQA=="),
        ("tk_abc", "Bearer tk_abc"),
    ],
)
def test_user_password_and_token(secure_web: Web, user: str, header: str) -> None:
    assert sent(f"ntfys://{user}{'@' if user else ''}localhost:{secure_web.port}/disks") == ""
    assert secure_web.authorized == [header]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "it answered 401 Unauthorized: check user, password or token"),
        (404, "it answered 404 Not Found"),
        (302, "it answered 302 Found: use the address that it names"),
        (500, "it answered 500 Internal Server Error"),
    ],
)
def test_what_a_web_service_refuses(secure_web: Web, status: int, why: str) -> None:
    secure_web.status = status
    assert sent(f"https://localhost:{secure_web.port}/").startswith(why)
    assert secure_web.got == []


def test_a_certificate_is_never_ignored(secure_web: Web) -> None:
    """Of an authority that is not trusted, or for another name."""
    why = sent(f"https://localhost:{secure_web.port}/", ca="")
    assert why.startswith("its certificate is not valid: ")
    assert why.endswith(f"(trusted are those of {ca_file()})")
    with web_server(certificate="elsewhere") as other:
        why = sent(f"https://localhost:{other.port}/")
        assert "Hostname mismatch" in why
    assert secure_web.got == other.got == []
    with mail_server(certificate="elsewhere") as post:
        assert "Hostname mismatch" in sent(f"smtp://localhost:{post.port}?to=me@lab.test")
    assert post.got == []


@pytest.mark.parametrize("from_start", [False, True])
def test_mail_over_tls_with_a_login(from_start: bool) -> None:  # noqa: FBT001
    with mail_server(certificate="server", from_start=from_start) as post:
        post.password = SECRET
        url = f"{'smtps' if from_start else 'smtp'}://me:%s@localhost:{post.port}?to=a@lab.test,b@lab.test"
        assert why_unusable_address(url, CA) == ""
        assert sent(f"{url % SECRET}&from=nas@lab.test") == ""
        why = sent(url % "wrong")
        assert "535" in why
        assert "wrong user or password" in why
    [(to, text)] = post.got
    found = email.message_from_string(text, policy=email.policy.default)
    assert (to, post.secure) == (["a@lab.test", "b@lab.test"], [True])
    assert (found["From"], found["To"]) == ("nas@lab.test", "a@lab.test, b@lab.test")
    assert found["Message-ID"] == "<7.raidtui@nas>"


def test_a_password_never_goes_over_a_line_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this host itself, a server without TLS is taken; of another one it is not."""
    with mail_server() as post:
        assert sent(f"smtp://localhost:{post.port}?to=me@lab.test") == ""
        monkeypatch.setattr(alert_services, "_is_here", lambda _: False)
        post.password = SECRET
        why = sent(f"smtp://me:{SECRET}@localhost:{post.port}?to=me@lab.test")
        assert "STARTTLS" in why
    assert len(post.got) == 1


def test_mail_that_is_refused(post: Post) -> None:
    post.refuses = True
    assert "no such user" in sent(f"smtp://localhost:{post.port}?to=me@lab.test")


@pytest.fixture
def post() -> Iterator[Post]:
    with mail_server() as server:
        yield server


def test_where_no_one_answers(monkeypatch: pytest.MonkeyPatch, web: Web) -> None:
    monkeypatch.setattr(alert_services, "_ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert sent(f"https://localhost:{port}/") == "no answer within 0 s"
    assert sent(f"https://localhost:{port}/").startswith("no connection: ")
    assert sent("https://nosuch.invalid/").startswith("the host's name is not known: ")
    assert sent(f"https://localhost:{web.port}/").startswith("no TLS: ")  # it speaks plain HTTP
    with socket.create_server(("127.0.0.1", 0)) as talks:
        port = talks.getsockname()[1]

        def answer() -> None:
            line, _ = talks.accept()
            with line:
                line.recv(1 << 16)
                line.sendall(b"SSH-2.0\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert sent(f"http://localhost:{port}/")
        thread.join()


@pytest.mark.parametrize(
    ("url", "ca", "why"),
    [
        ("https:///x", "", "the address has no host"),
        ("smtps://host", "", "the address names no one: smtps://USER:PASSWORD@HOST?to=ADDRESS"),
        ("smtp://host?to=me", "", "the address names no one: smtps://USER:PASSWORD@HOST?to=ADDRESS"),
        ("ntfys://host/a/b", "", "the address has more than a topic: ntfys://HOST/TOPIC"),
        ("https://host/", "/nosuch.pem", "/nosuch.pem cannot be read"),
        ("https://host:port/", "", "the address's port is not a number up to 65535"),
        ("ntfys://disks", "", ""),
        ("http://host/", "/nosuch.pem", ""),
    ],
)
def test_addresses(url: str, ca: str, why: str) -> None:
    assert why_unusable_address(url, ca) == why
    assert not is_own("slack://TokenA/TokenB/TokenC")
    assert not is_own("mailtos://me:x@host?to=a@b.c")


def test_a_host_without_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alert_services, "CA_FILES", ())
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert why_unusable_address("https://host/").startswith("this host has no CA certificates: ")
    monkeypatch.setenv("SSL_CERT_FILE", CA)
    assert (ca_file(), why_unusable_address("https://host/")) == (CA, "")
