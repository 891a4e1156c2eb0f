"""Does what the hook and the sender do, and kills itself (SIGKILL) at the n-th call that leaves a trace.

``python killed.py N event WORD...`` or ``python killed.py N send``; N is 0 for not at all. The last line of
standard output is the number of such calls. What is started by it is not killed.
"""

import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from raidtui.features.alerts.session import send_waiting
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.jobs import alert_sender
from raidtui.jobs.alert_spool import AlertSpool, new_alert, spool_folder
from raidtui.model.alert import AlertEvent

calls = 0
at = int(sys.argv[1])


def counted(of: Any, name: str) -> None:
    """Count a function's calls, before and after; kill at the n-th."""
    function: Callable[..., Any] = getattr(of, name)

    def call(*args: Any, **more: Any) -> Any:
        tick()
        result = function(*args, **more)
        tick()
        return result

    setattr(of, name, call)


def tick() -> None:
    global calls  # noqa: PLW0603
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGKILL)


uid = os.geteuid() or 12345
os.geteuid = lambda: uid
for place, name in (
    (os, "fsync"),
    (pathlib.Path, "replace"),
    (pathlib.Path, "mkdir"),
    (pathlib.Path, "unlink"),
    (subprocess, "Popen"),
    (alert_sender, "_heard"),
):
    counted(place, name)

if sys.argv[2] == "event":
    AlertSpool(spool_folder()).keep(
        new_alert(AlertEvent(source="mdadm", name=sys.argv[3], device="/dev/md0"), "nas")
    )
    sys.stdout.write("kept\n")
    sys.stdout.flush()
else:
    send_waiting(MemoryReader({"/proc/mdstat": "Personalities :\nunused devices: <none>\n"}), eager=True)
sys.stdout.write(f"{calls}\n")
