"""Servers on the loopback that receive alerts: HTTP and SMTP; they accept, refuse, or do not answer."""

from __future__ import annotations

import base64
import json
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECRET = "s3cret-token"
"""A word in a channel's address, which nothing may show."""


TLS = Path(__file__).parents[2] / "fixtures" / "tls"
"""A certificate authority of its own; ``server`` is for the loopback, ``elsewhere`` for another name."""


def _tls(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / f"{certificate}.pem", TLS / "server.key")
    return context


class Web:
    """An HTTP server.

    Attributes:
        got: (path, body) of each request that was accepted, in order.
        authorized: the header of each of them.
        status: what it answers; None: nothing, until ``go`` is set.
    """

    def __init__(self) -> None:
        self.got: list[tuple[str, str]] = []
        self.authorized: list[str] = []
        self.status: int | None = 200
        self.asked = threading.Event()
        self.go = threading.Event()
        self.port = 0

    def titles(self) -> list[str]:
        """Return the titles of Apprise's JSON messages."""
        return [json.loads(body)["title"] for _, body in self.got]


@contextmanager
def web_server(port: int = 0, *, certificate: str = "") -> Iterator[Web]:
    """Give a web server; with TLS, where it has one of the certificates in tests/fixtures/tls."""
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            web.asked.set()
            if web.status is None:
                web.go.wait(60)
                return
            if web.status == 200:
                web.got.append((self.path, body))
                web.authorized.append(self.headers.get("Authorization", ""))
            self.send_response(web.status)
            self.end_headers()
            self.wfile.write(
                b'{"access_token": "t", "user_id": "@u:lab", "room_id": "!r:lab", "event_id": "e"}'
            )

        do_PUT = do_POST  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        web.port = server.server_address[1]
        if certificate:
            server.socket = _tls(certificate).wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield web
        finally:
            web.go.set()
            server.shutdown()
            thread.join()


class Post:
    """An SMTP server.

    Attributes:
        got: (recipients, message) of each mail that was accepted, in order.
        refuses: whether it refuses all recipients.
        secure: whether each mail came over TLS.
        password: what a login needs; "" where it offers none.
    """

    def __init__(self) -> None:
        self.got: list[tuple[list[str], str]] = []
        self.secure: list[bool] = []
        self.refuses = False
        self.password = ""
        self.port = 0


@contextmanager
def mail_server(*, certificate: str = "", from_start: bool = False) -> Iterator[Post]:
    """Give a mail server.

    Args:
        certificate: one of those in tests/fixtures/tls: it offers STARTTLS.
        from_start: whether it speaks TLS from the start instead.
    """
    post = Post()

    class Handler(socketserver.StreamRequestHandler):
        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

        def secured(self) -> None:
            self.connection = _tls(certificate).wrap_socket(self.connection, server_side=True)
            self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

        def finish(self) -> None:
            super().finish()
            self.connection.close()  # TLS has a socket of its own

        def handle(self) -> None:
            to: list[str] = []
            secure = from_start
            if from_start:
                self.secured()
            self.say("220 lab")
            while raw := self.rfile.readline():
                line = raw.decode().strip()
                word = line.partition(" ")[0].upper()
                if word == "EHLO":
                    self.say("250-lab")
                    if certificate and not secure:
                        self.say("250-STARTTLS")
                    self.say("250 AUTH PLAIN" if post.password else "250 HELP")
                elif word == "STARTTLS":
                    self.say("220 go")
                    self.secured()
                    secure = True
                elif word == "AUTH":
                    *_, given = base64.b64decode(line.split()[-1]).decode().split("\0")
                    self.say("235 ok" if given == post.password else "535 wrong user or password")
                elif word == "RCPT" and post.refuses:
                    self.say("550 no such user")
                elif word == "RCPT":
                    to.append(line.partition("<")[2].partition(">")[0])
                    self.say("250 ok")
                elif word == "DATA":
                    self.say("354 go")
                    body = []
                    while (each := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                        body.append(each)
                    post.got.append((to, "\n".join(body)))
                    post.secure.append(secure)
                    self.say("250 ok")
                elif word == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 ok")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        post.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield post
        finally:
            server.shutdown()
            thread.join()
