"""Volumes of LVM, as ``lvs --reportformat json`` reports them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec import Struct

LVS = (
    *("lvs", "--all", "--readonly", "--nolocking", "--reportformat", "json"),
    *("--options", "lv_uuid,lv_name,vg_name,lv_health_status"),
)
"""Reads metadata from the disks without taking a lock: a pvmove that runs does not hold it up (lvs(8))."""

_UNREAD = "unknown"
"""The health of a volume of LVM's own RAID, which lvs does not ask the kernel for with --readonly."""


class LvmVolume(Struct, frozen=True, kw_only=True):
    """A volume.

    Args:
        health: partial, refresh needed, mismatches exist; "" for nothing wrong.
    """

    group: str
    name: str
    health: str = ""

    @property
    def label(self) -> str:
        """Its name as LVM's tools take it; inner volumes without their brackets."""
        return f"{self.group}/{self.name.strip('[]')}"


def parse_volumes(text: str) -> Mapping[str, LvmVolume]:
    """Return the volumes by UUID without dashes; {} for anything that is not such a report."""
    found: dict[str, LvmVolume] = {}
    try:
        rows = [row for report in json.loads(text)["report"] for row in report.get("lv", ())]
        for row in rows:
            uuid = str(row["lv_uuid"]).replace("-", "")
            found[uuid] = LvmVolume(
                group=str(row["vg_name"]),
                name=str(row["lv_name"]),
                health=str(row.get("lv_health_status", "")).replace(_UNREAD, ""),
            )
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}
    return found
