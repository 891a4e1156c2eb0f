"""Servers on the loopback that receive alerts: HTTP and SMTP; they accept, refuse, or do not answer."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "s3cret-token"
"""A word in a channel's address, which nothing may show."""


class Web:
    """An HTTP server.

    Attributes:
        got: (path, body) of each request that was accepted, in order.
        status: what it answers; None: nothing, until ``go`` is set.
    """

    def __init__(self) -> None:
        self.got: list[tuple[str, str]] = []
        self.status: int | None = 200
        self.asked = threading.Event()
        self.go = threading.Event()
        self.port = 0

    def titles(self) -> list[str]:
        """Return the titles of Apprise's JSON messages."""
        return [json.loads(body)["title"] for _, body in self.got]


@contextmanager
def web_server(port: int = 0) -> Iterator[Web]:
    """Give a web server."""
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
    """

    def __init__(self) -> None:
        self.got: list[tuple[list[str], str]] = []
        self.refuses = False
        self.port = 0


@contextmanager
def mail_server() -> Iterator[Post]:
    """Give a mail server."""
    post = Post()

    class Handler(socketserver.StreamRequestHandler):
        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

        def handle(self) -> None:
            to: list[str] = []
            self.say("220 lab")
            for raw in self.rfile:
                line = raw.decode().strip()
                word = line.partition(" ")[0].upper()
                if word == "RCPT" and post.refuses:
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
