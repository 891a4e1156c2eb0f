"""Partitions and logical volumes on a device, as tables of linear maps: no kernel, no LVM activates them."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from raidtui.host.roots.root import Root
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


def table_parts(root: Root, target: str) -> Answer[tuple[Part, ...]]:
    """Return the partitions of a device."""
    output = root.run("sfdisk", "--json", target, timeout_s=_TOOL_S)
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


def lvm_parts(root: Root, target: str) -> Answer[tuple[Part, ...]]:
    """Return the volumes on a physical volume that lie on it alone, segment after segment.

    LVM reads this device and no other, so that it never sees a volume group twice.
    """
    only = f'devices {{ filter=["a|^{target}$|","r|.*|"] global_filter=["a|.*|"] use_devicesfile=0 }}'
    options = ("--config", only, "--readonly", "--reportformat", "json", "--units", "s", "--nosuffix")
    volumes = root.run(
        *("lvs", *options, "--segments", "--options"),
        "vg_name,lv_name,segtype,seg_start,seg_size,devices,vg_extent_size",
        timeout_s=_TOOL_S,
    )
    physical = root.run(*("pvs", *options, "--options", "pe_start", target), timeout_s=_TOOL_S)
    for output in (volumes, physical):
        if output.kind is not AnswerKind.ANSWER:
            return output.silent()
    try:
        begins = int(json.loads(physical.stdout)["report"][0]["pv"][0]["pe_start"])
        rows: list[dict[str, str]] = json.loads(volumes.stdout)["report"][0]["seg"]
    except (ValueError, LookupError, TypeError):
        return volumes.silent(AnswerKind.NOT_UNDERSTOOD, "LVM's report is not understood")
    lines: dict[str, list[str] | None] = {}
    for row in rows:
        name = f"{row['vg_name']}/{row['lv_name']}"
        found = _WHERE.fullmatch(row["devices"])
        if row["segtype"] != "linear" or found is None or found[1] != target:
            lines[name] = None  # it is striped, a snapshot, or lies on other devices, too
            continue
        start = begins + int(found[2]) * int(row["vg_extent_size"])
        line = f"{int(row['seg_start'])} {int(row['seg_size'])} linear {target} {start}"
        have = lines.setdefault(name, [])
        if have is not None:
            have.append(line)
    parts = tuple(Part(name=name, table="\n".join(each)) for name, each in lines.items() if each)
    return volumes.answer(parts)
