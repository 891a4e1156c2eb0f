"""What the host offers for the layers on top of an array: volume groups, TRIM, systemd."""

from __future__ import annotations

import json

from raidtui.host.roots.root import Root

_TOOL_S = 10.0
_TIMER = "fstrim.timer"
_RAID456_DISCARDS = "/sys/module/raid456/parameters/devices_handle_discard_safely"


def read_groups(root: Root) -> tuple[str, ...]:
    """Return the names of all LVM volume groups; none where there is no LVM, or without root.

    It looks at the labels of all block devices, so it is asked where the answer is needed alone.
    """
    if root.live and not root.writable:
        return ()
    output = root.run("vgs", "--reportformat", "json", "--options", "vg_name", timeout_s=_TOOL_S)
    try:
        rows = json.loads(output.stdout)["report"][0]["vg"]
        return tuple(str(row["vg_name"]) for row in rows)
    except (ValueError, LookupError, TypeError):
        return ()


def read_issue_discards(root: Root) -> bool | None:
    """Return lvm.conf's issue_discards, its default where it says nothing; None where there is no LVM."""
    output = root.run("lvmconfig", "--typeconfig", "full", "devices/issue_discards", timeout_s=_TOOL_S)
    words = {line.strip() for line in output.stdout.split("\n")}
    return {"issue_discards=1": True, "issue_discards=0": False}.get(
        next((word for word in words if word.startswith("issue_discards=")), "")
    )


def runs_systemd(root: Root) -> bool:
    """Whether systemd is PID 1: only then do its timers run."""
    return (root.text("/proc/1/comm") or "").strip() == "systemd"


def read_trim_timer(root: Root) -> str:
    """Return what systemd says of fstrim.timer: enabled, disabled, masked; "" where it has none."""
    if not runs_systemd(root):
        return ""
    word = root.run("systemctl", "is-enabled", _TIMER, timeout_s=_TOOL_S).stdout.strip()
    return "" if word == "not-found" else word


def read_raid456_discards(root: Root) -> bool | None:
    """Return whether raid456 hands discards on to its members; None where it is not loaded."""
    return {"Y": True, "N": False}.get((root.text(_RAID456_DISCARDS) or "").strip())
