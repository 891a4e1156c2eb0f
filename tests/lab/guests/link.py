"""The host's side of the lines: requests to the agent and its answers; what the kernel's console says."""

import json
import queue
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Answer = dict[str, Any]
CONSOLE_LINES = 100
# Longer requests go through a file: the guest's serial line stalls when more than its buffers come at once.
SHORT_BYTES = 1500


class LabError(Exception):
    """The laboratory failed, not what it was asked to run."""


class GuestDiedError(LabError):
    """The guest ended or does not answer; the text has the console's last lines."""


class Console:
    """What a line said, its last lines kept."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._lines: deque[bytes] = deque([b""], maxlen=CONSOLE_LINES)
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True, name="lab console")
        self._reader.start()

    def _read(self) -> None:
        while data := receive(self._line):
            first, *others = data.replace(b"\r", b"").split(b"\n")
            with self._lock:
                self._lines[-1] += first
                self._lines.extend(others)

    def tail(self) -> str:
        """The last lines."""
        with self._lock:
            return b"\n".join(line for line in self._lines if line).decode(errors="replace")

    def join(self) -> None:
        """Wait for the reader's end: the line must be shut down."""
        self._reader.join(timeout=2)


@dataclass(slots=True)
class Request:
    """A question that was sent; its answers arrive in a queue of its own."""

    ident: int
    answers: "queue.SimpleQueue[Answer | None]"


class Link:
    """Sends requests, hands each answer to the one who asked. Safe to use from several threads."""

    def __init__(self, line: socket.socket, folder: Path, why_dead: Callable[[], str | None]) -> None:
        self._line = line
        self._folder = folder  # shared with the guest
        self._why_dead = why_dead  # the reason once the guest has ended
        self._lock = threading.Lock()
        self._last = 0
        self._waiting: dict[int, Request] = {0: Request(0, queue.SimpleQueue())}
        self._reader = threading.Thread(target=self._read, daemon=True, name="lab agent")
        self._reader.start()

    def send(self, op: str, **fields: object) -> Request:
        """Ask; does not wait."""
        with self._lock:
            self._last += 1
            request = Request(self._last, queue.SimpleQueue())
            self._waiting[request.ident] = request
            data = json.dumps({"id": request.ident, "op": op, **fields}).encode()
            if len(data) > SHORT_BYTES:
                name = f"{request.ident}.request"
                (self._folder / name).write_bytes(data)
                data = json.dumps({"id": request.ident, "op": "file", "name": name}).encode()
            try:
                self._line.sendall(data + b"\n")
            except OSError as error:
                raise GuestDiedError(self._why_dead() or f"the line to the guest broke: {error}") from error
        return request

    def receive(self, request: Request, timeout: float) -> Answer:
        """The next answer to a request.

        Raises:
            GuestDiedError: the guest ended, or did not answer in time.
            LabError: the agent could not do what was asked.
        """
        try:
            answer = request.answers.get(timeout=timeout)
        except queue.Empty:
            raise GuestDiedError(
                self._why_dead() or f"the guest did not answer within {timeout:g} s"
            ) from None
        if answer is None:
            request.answers.put(None)  # for whoever asks next
            raise GuestDiedError(self._why_dead() or "the guest hung up")
        if answer["event"] != "started":
            self._waiting.pop(request.ident, None)
        if answer["event"] == "error":
            raise LabError(answer["text"])
        return answer

    def call(self, op: str, timeout: float = 20.0, **fields: object) -> Answer:
        """Ask and wait for the answer."""
        return self.receive(self.send(op, **fields), timeout)

    def wait_ready(self, timeout: float) -> None:
        """Wait until the agent answers."""
        self.receive(self._waiting[0], timeout)

    def _read(self) -> None:
        rest = b""
        while data := receive(self._line):
            *lines, rest = (rest + data).split(b"\n")
            for text in lines:
                try:
                    answer = json.loads(text)
                    request = self._waiting.get(answer["id"])
                except (ValueError, KeyError, TypeError):
                    continue  # the kernel's noise before the agent made the line raw
                if request is not None:
                    request.answers.put(answer)
        for request in list(self._waiting.values()):
            request.answers.put(None)

    def join(self) -> None:
        """Wait for the reader's end: the line must be shut down."""
        self._reader.join(timeout=2)


def receive(line: socket.socket) -> bytes:
    """Return the input; empty at its end."""
    try:
        return line.recv(65536)
    except OSError:
        return b""
