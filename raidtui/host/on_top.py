"""What lies on top of arrays: LVM, file systems and systemd's units, and whether facts about them hold."""

from __future__ import annotations

import json

from raidtui.host.readers.host_reader import HostReader, whole_number
from raidtui.model.answer import Answer, AnswerKind, known
from raidtui.model.fact import FactKind

_ACTIVITY = frozenset({"active", "inactive"})
_TOOL_S = 10.0
_TIMER = "fstrim.timer"
_RAID456_DISCARDS = "/sys/module/raid456/parameters/devices_handle_discard_safely"


def read_groups(reader: HostReader) -> Answer[tuple[str, ...]]:
    """Return the names of all LVM volume groups.

    vgs reads the labels of all block devices, so this is called only where the answer is needed.
    """
    if reader.live and not reader.writable:
        return Answer(kind=AnswerKind.NOT_ASKED, source="vgs", why="only root may ask for volume groups")
    output = reader.ask("vgs", "--reportformat", "json", "--options", "vg_name", timeout_s=_TOOL_S)
    if not reader.live and output.kind is AnswerKind.NOT_ASKED:
        return known(())  # the demo has none yet
    if output.kind is not AnswerKind.ANSWER:
        return output.silent()
    try:
        rows = json.loads(output.stdout)["report"][0]["vg"]
        return output.answer(tuple(str(row["vg_name"]) for row in rows))
    except (ValueError, LookupError, TypeError):
        return output.silent(AnswerKind.NOT_UNDERSTOOD, "vgs prints something other than a report in JSON")


def read_issue_discards(reader: HostReader) -> bool | None:
    """Return lvm.conf's issue_discards or its default; None where there is no LVM."""
    output = reader.ask("lvmconfig", "--typeconfig", "full", "devices/issue_discards", timeout_s=_TOOL_S)
    words = {line.strip() for line in output.stdout.split("\n")}
    return {"issue_discards=1": True, "issue_discards=0": False}.get(
        next((word for word in words if word.startswith("issue_discards=")), "")
    )


def runs_systemd(reader: HostReader) -> bool:
    """Whether systemd is PID 1: only then do its timers run."""
    return (reader.text("/proc/1/comm") or "").strip() == "systemd"


def read_trim_timer(reader: HostReader) -> str:
    """Return the state of fstrim.timer: enabled, disabled, masked; "" where systemd has none."""
    if not runs_systemd(reader):
        return ""
    word = reader.ask("systemctl", "is-enabled", _TIMER, timeout_s=_TOOL_S).stdout.strip()
    return "" if word == "not-found" else word


def read_raid456_discards(reader: HostReader) -> bool | None:
    """Return whether raid456 passes discards to its members; None where it is not loaded."""
    return {"Y": True, "N": False}.get((reader.text(_RAID456_DISCARDS) or "").strip())


def _extents(reader: HostReader, path: str, value: str) -> str:
    """Whether the data start at a stripe boundary (pvs(8): pe_start)."""
    output = reader.ask("pvs", "--noheadings", "--nosuffix", "--units", "b", "--options", "pe_start", path)
    if output.why_not:
        return f"{path} cannot be examined: {output.why_not}"
    start, wanted = whole_number(output.stdout), whole_number(value)
    if output.status != 0 or start is None:
        return f"{path} is not a physical volume"
    if wanted and start % wanted == 0:
        return ""
    return f"the data on {path} start at byte {start}, which is not a multiple of {value}"


def _group(reader: HostReader, path: str, value: str) -> str:
    output = reader.ask("pvs", "--noheadings", "--options", "vg_name", path)
    if output.why_not:
        return f"{path} cannot be examined: {output.why_not}"
    found = output.stdout.strip() if output.status == 0 else ""
    if found == value:
        return ""
    return f"{path} is in the volume group {found}" if found else f"{path} is in no volume group"


def _volume(reader: HostReader, name: str, value: str) -> str:
    """Compare all rows of lvs, one per segment: a volume may have been extended with other stripes."""
    output = reader.ask(
        *("lvs", "--noheadings", "--nosuffix", "--units", "k", "--separator", ","),
        *("--options", "stripes,stripe_size", name),
    )
    if output.why_not:
        return f"{name} cannot be examined: {output.why_not}"
    rows = {line.strip() for line in output.stdout.split("\n") if line.strip()}
    found = " and ".join(sorted(map(_stripes, rows))) if output.status == 0 else ""
    if found == value:
        return ""
    return f"the volume {name} is {found}" if found else f"there is no volume {name}"


def _stripes(row: str) -> str:
    stripes, _, size = row.partition(",")
    return "linear" if stripes == "1" else f"{stripes}x{size.partition('.')[0]}"


def _geometry(reader: HostReader, path: str, value: str) -> str:
    """Compare tune2fs's or xfs_info's figures, in blocks; the device may be mounted or not."""
    xfs = value.startswith("sunit=")
    output = reader.ask(*(("xfs_info", path) if xfs else ("tune2fs", "-l", path)))
    if output.why_not or output.status != 0:
        said = output.why_not or output.stderr.strip() or output.stdout.strip()
        return f"{path} cannot be examined: {said}"
    found = _xfs_geometry(output.stdout) if xfs else _ext4_geometry(output.stdout)
    return "" if found == value else f"the file system on {path} has {found or 'no geometry'}"


def _ext4_geometry(text: str) -> str:
    """Of "RAID stride:              8" and "RAID stripe width:        16"."""
    rows = dict(line.split(":", 1) for line in text.split("\n") if ":" in line)
    fields = (("stride", rows.get("RAID stride")), ("stripe_width", rows.get("RAID stripe width")))
    return ",".join(f"{key}={number.strip()}" for key, number in fields if number is not None)


def _xfs_geometry(text: str) -> str:
    """Of "         =                       sunit=8      swidth=16 blks"; 0 and 0 are none."""
    for line in text.split("\n"):
        words = line.split()
        found = [word for word in words if word.startswith(("sunit=", "swidth="))]
        if len(found) == 2:
            return "" if found == ["sunit=0", "swidth=0"] else ",".join(found)
    return ""


def _unit(reader: HostReader, unit: str, value: str) -> str:
    verb = "is-active" if value in _ACTIVITY else "is-enabled"
    output = reader.ask("systemctl", verb, unit)
    if output.why_not:
        return f"the state of {unit} cannot be read: {output.why_not}"
    found = output.stdout.strip()
    return "" if found == value else f"{unit} is {found or 'not known to systemd'}"


FACT_READERS = {
    FactKind.EXTENTS: _extents,
    FactKind.GROUP: _group,
    FactKind.VOLUME: _volume,
    FactKind.GEOMETRY: _geometry,
    FactKind.UNIT: _unit,
}
"""For each kind a function of (root, subject, value) that returns why the fact does not hold, or ""."""
