"""Scratch arrays: made of devices that were given for it, measured, and removed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection

from msgspec.structs import replace

from raidtui.bench.course import Scratch
from raidtui.host.block import BLOCK, candidate_names
from raidtui.host.md.array_names import canonical_uuid
from raidtui.host.reading import read_survey
from raidtui.host.roots.root import Root
from raidtui.model.plan import Harm, Plan, Refusal
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from raidtui.monitor.sampler import Sampler
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.create.create_request import CreateRequest

_NUMBERS = range(999, 899, -1)
_CLEAN = frozenset({"raid1", "raid10"})
_LOOK_S = 0.1
_IDLE_S = 10.0


def survey_of(root: Root, names: Collection[str]) -> Survey:
    """Return a survey with these devices and their partitions."""
    parts = [each for each in candidate_names(root) if each.startswith(tuple(names))] if names else []
    return read_survey(root, Sampler(root).sample(), tuple(dict.fromkeys((*names, *parts))))


def plan_scratch(scratch: Scratch, survey: Survey) -> tuple[str, Plan] | Refusal:
    """Return the kernel's name of a scratch array and the plan that makes it, or why it cannot be made.

    mdadm.conf and the initramfs are left alone: the array is gone again soon. Undoing
    the plan stops it and wipes its superblocks.

    Args:
        scratch: the array.
        survey: the host, read just now.
    """
    number = _free_number(survey.snapshot)
    name = str(number)
    request = CreateRequest(
        name=name,
        uuid=canonical_uuid(uuid.uuid4().hex) or "",
        level=scratch.level,
        devices=scratch.devices,
        layout=scratch.layout,
        chunk_kib=0 if scratch.level == "raid1" else scratch.chunk_kib,
        bitmap=scratch.bitmap or ("" if scratch.level in {"raid0", "raid5", "raid6", "raid4"} else "none"),
        size_kib=scratch.size_kib,
        assume_clean=scratch.level in _CLEAN,
    )
    plan = plan_create(request, survey)
    if isinstance(plan, Refusal):
        return plan
    create = next(place for place, step in enumerate(plan.steps) if step.argv[:2] == ("mdadm", "--create"))
    return f"md{number}", replace(
        plan,
        title=f"scratch array: {scratch_words(scratch)}",
        steps=plan.steps[: create + 1],
        harm=Harm.REDUCES,  # what was on the devices before the course is in its black box already
        rolls_back=True,
    )


def scratch_words(scratch: Scratch) -> str:
    """Return an array in words: raid10 n2, chunk 32K, 4 devices."""
    if not scratch.level:
        return scratch.devices[0]
    shape = f"{scratch.level} {scratch.layout}".rstrip()
    chunk = f", chunk {scratch.chunk_kib}K" if scratch.chunk_kib else ""
    bitmap = f", bitmap {scratch.bitmap}" if scratch.bitmap else ""
    return f"{shape}{chunk}{bitmap}, {len(scratch.devices)} devices"


def wait_for_sync(root: Root, name: str, stopped: Callable[[], bool]) -> str:
    """Wait until an array's first sync is done, or somebody asks to stop; return why it has no end, or "".

    A sync that is wanted begins a moment after the array runs; until then sync_action is idle, too.
    """

    def word(file: str) -> str:
        return (root.text(f"{BLOCK}/{name}/md/{file}") or "").strip()

    idle_s: float | None = None
    while not stopped():
        if word("sync_action") not in {"", "idle", "frozen"}:
            idle_s = None
        elif word("degraded") in {"", "0"} and word("resync_start") in {"", "none"}:
            return ""
        elif idle_s is None:
            idle_s = time.monotonic()
        elif time.monotonic() - idle_s > _IDLE_S:
            return f"the first sync of {name} stopped before its end: what is half synced is not measured"
        time.sleep(_LOOK_S)
    return ""


def _free_number(snapshot: Snapshot) -> int:
    taken = {array.name for array in snapshot.arrays} | {f"md{array.label}" for array in snapshot.arrays}
    return next(number for number in _NUMBERS if f"md{number}" not in taken)
