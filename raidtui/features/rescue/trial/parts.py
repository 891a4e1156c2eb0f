"""Partitions and logical volumes on a device, as tables of linear maps: no kernel, no LVM activates them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader
from raidtui.model.answer import Answer, AnswerKind
from raidtui.view.units import SECTOR_BYTES

_WHERE = re.compile(r"(.+)\(([0-9]{1,12})\)\Z")
_TOOL_S = 60.0
_PROTECTIVE = "ee"
"""The entry of an MBR that stands for a GPT: all of the device."""


class Part(Struct, frozen=True, kw_only=True):
    """A part of a device.

    Args:
        name: for people: p1, vg0/data.
        table: the device mapper's table.
    """

    name: str
    table: str


def table_parts(root: HostReader, target: str) -> Answer[tuple[Part, ...]]:
    """Return the partitions of a device."""
    output = root.ask("sfdisk", "--json", target, timeout_s=_TOOL_S)
    if output.kind is not AnswerKind.ANSWER:
        return output.silent()
    try:
        table: dict[str, Any] = json.loads(output.stdout)["partitiontable"]
        unit = int(table.get("sectorsize", SECTOR_BYTES)) // SECTOR_BYTES
        rows = [
            (int(row["start"]) * unit, int(row["size"]) * unit)
            for row in table.get("partitions", ())
            if row.get("type") != _PROTECTIVE
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        return output.silent(AnswerKind.NOT_UNDERSTOOD, "sfdisk's table is not understood")
    parts = tuple(
        Part(name=f"p{number}", table=f"0 {sectors} linear {target} {start}")
        for number, (start, sectors) in enumerate(rows, start=1)
        if sectors > 2  # the two sectors of an extended partition hold no more than a table
    )
    return output.answer(parts)


def lvm_parts(root: HostReader, target: str, beside: Sequence[str] = ()) -> Answer[tuple[Part, ...]]:
    """Return the volumes on a physical volume that lie on it, and on nothing but it and what is beside it.

    LVM reads these devices and no others, so that it never sees a volume group twice.

    Args:
        root: the host.
        target: the device's path.
        beside: paths of devices that hold the rest of its volume group: arrays that run.
    """
    known = (target, *beside)
    accepted = ", ".join(f'"a|^{re.escape(path)}$|"' for path in known)
    only = f'devices {{ filter=[{accepted},"r|.*|"] global_filter=["a|.*|"] use_devicesfile=0 }}'
    options = ("--config", only, "--readonly", "--reportformat", "json", "--units", "s", "--nosuffix")
    volumes = root.ask(
        *("lvs", *options, "--segments", "--options"),
        "vg_name,lv_name,segtype,seg_start,seg_size,devices,vg_extent_size,stripe_size",
        timeout_s=_TOOL_S,
    )
    physical = root.ask(*("pvs", *options, "--options", "pv_name,pe_start", *known), timeout_s=_TOOL_S)
    for output in (volumes, physical):
        if output.kind is not AnswerKind.ANSWER:
            return output.silent()
    try:
        rows = json.loads(physical.stdout)["report"][0]["pv"]
        begins = {str(row["pv_name"]): int(row["pe_start"]) for row in rows}
        segments: list[dict[str, str]] = json.loads(volumes.stdout)["report"][0]["seg"]
        lines: dict[str, list[str] | None] = {}
        on_target: set[str] = set()
        for row in segments:
            name = f"{row['vg_name']}/{row['lv_name']}"
            found = [_WHERE.fullmatch(each) for each in row["devices"].split(",")]
            places = [
                (each[1], begins[each[1]] + int(each[2]) * int(row["vg_extent_size"]))
                for each in found
                if each is not None and each[1] in begins
            ]
            have = lines.setdefault(name, [])
            kind = row["segtype"]
            if len(places) < len(found) or kind not in ({"linear", "striped"} if beside else {"linear"}):
                lines[name] = None  # it is a snapshot, or lies on other devices, too
                continue
            on_target |= {name} if any(path == target for path, _ in places) else set()
            words = " ".join(f"{path} {start}" for path, start in places)
            shape = "linear" if kind == "linear" else f"striped {len(places)} {int(row['stripe_size'])}"
            if have is not None:
                have.append(f"{int(row['seg_start'])} {int(row['seg_size'])} {shape} {words}")
    except (ValueError, LookupError, TypeError):
        return volumes.silent(AnswerKind.NOT_UNDERSTOOD, "LVM's report is not understood")
    parts = tuple(
        Part(name=name, table="\n".join(each)) for name, each in lines.items() if each and name in on_target
    )
    return volumes.answer(parts)
