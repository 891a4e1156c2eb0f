"""The line to QEMU itself: commands that change the machine while it runs (QEMU's QMP reference manual)."""

import json
import socket
import threading
from collections.abc import Mapping
from typing import Any

from tests.lab.guests.link import GuestDiedError, LabError

TIMEOUT_S = 20.0


class Qmp:
    """Asks, and waits for the answer. One asker at a time."""

    def __init__(self, line: socket.socket) -> None:
        line.settimeout(TIMEOUT_S)
        self._line = line
        self._rest = b""
        self._events: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._greeted = False

    def command(self, name: str, arguments: Mapping[str, object] | None = None) -> Any:
        """Run one command, with QEMU's own names.

        Raises:
            LabError: QEMU refused; its words are in the error.
            GuestDiedError: QEMU ended, or did not answer.
        """
        with self._lock:
            if not self._greeted:
                self._execute("qmp_capabilities", {})
                self._greeted = True
            return self._execute(name, arguments or {})

    def wait_event(self, name: str, **data: object) -> None:
        """Until an event of this name and with these data has come; each is waited for once.

        Raises:
            GuestDiedError: it did not come.
        """
        with self._lock:
            while True:
                for event in self._events:
                    if event["event"] == name and data.items() <= event.get("data", {}).items():
                        self._events.remove(event)
                        return
                self._receive()

    def _execute(self, name: str, arguments: Mapping[str, object]) -> Any:
        try:
            self._line.sendall(json.dumps({"execute": name, "arguments": dict(arguments)}).encode() + b"\n")
        except OSError as error:
            raise GuestDiedError(f"QEMU takes no commands: {error}") from error
        while True:
            answer = self._receive()
            if "error" in answer:
                raise LabError(f"{name}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def _receive(self) -> dict[str, Any]:
        """The next answer; an event is kept as well."""
        while b"\n" not in self._rest:
            try:
                data = self._line.recv(65536)
            except OSError as error:
                raise GuestDiedError(f"QEMU does not answer: {error}") from error
            if not data:
                raise GuestDiedError("QEMU has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        if "event" in answer:
            self._events.append(answer)
        return answer
