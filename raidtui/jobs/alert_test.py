"""Makes the test alert by which the way of alerts is proven, from mdadm to the channels."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import StrEnum

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.alert_sender import own_environment
from raidtui.jobs.host_writer import HostWriter
from raidtui.model.alert_setup import HOOK

_MDADM = ("mdadm", "--monitor", "--scan", "--oneshot", "--test", "--no-sharing")
_MDADM_S, _HOOK_S = 60.0, 30.0


class AlertRoute(StrEnum):
    """By what the test alert was made."""

    MDADM = "mdadm"  # mdadm --monitor --test, which calls PROGRAM of mdadm.conf
    HOOK = "hook"  # the hook, called as mdadm would
    DIRECT = "direct"  # raidtui itself: there is no hook


def begin_test(host: HostReader, way: AlertRoute) -> str:
    """Make the alert; return why that failed, or ""."""
    if way is AlertRoute.MDADM:
        output = HostWriter(host).run(*_MDADM, timeout_s=_MDADM_S)
        failed = output.status not in {0, None}
        return output.why_not or (f"mdadm failed: {output.stderr.strip()}" if failed else "")
    direct = (sys.executable, "-P", "-m", "raidtui", "alert", "--event")
    argv = (HOOK,) if way is AlertRoute.HOOK else direct
    try:
        done = subprocess.run(
            (*argv, "TestMessage"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_HOOK_S,
            env={**os.environ, **own_environment()},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{argv[0]} cannot be run: {error}"
    said = done.stderr.decode("utf-8", "replace").strip()
    return f"{argv[0]} failed ({done.returncode}): {said}" if done.returncode else ""
