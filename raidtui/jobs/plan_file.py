"""Saved plans: the JSON that ``raidtui plan --json`` prints, ``raidtui apply`` reads, and each job keeps."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec.structs import replace

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.old_steps import FIRST_FORM, is_as_written, with_types
from raidtui.jobs.state_files import checksum
from raidtui.model.plan import Plan

SCHEMA = 2
"""The version of the form; the first one is read, too: its steps did not say what they are."""


class PlanFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A saved plan. ``raidtui_plan`` is the version of the form, ``machine`` that of ``machine_of``.

    ``checksum`` is that of all the rest; a plan that was made by hand has none.
    """

    raidtui_plan: int
    host: str
    made_s: float
    checksum: str = ""
    plan: Plan
    machine: str = ""

    @property
    def sum(self) -> str:
        """The checksum that it should have."""
        return checksum(msgspec.json.encode(replace(self, checksum="")))


def machine_of(reader: HostReader) -> str:
    """Return an id that another host of the same name does not have; "" where none is known.

    It is a digest: machine-id(5) itself is not to be given away.
    """
    text = (reader.text("/etc/machine-id") or "").strip()
    return hashlib.sha256(f"raidtui plan {text}".encode()).hexdigest()[:32] if text else ""


def save_plan(plan: Plan, *, host: str, made_s: float, machine: str = "") -> bytes:
    """Return a plan as JSON.

    Raises:
        JobError: it holds a name whose bytes are not UTF-8.
    """
    file = PlanFile(raidtui_plan=SCHEMA, host=host, made_s=made_s, plan=plan, machine=machine)
    try:
        file = msgspec.json.decode(msgspec.json.encode(file), type=PlanFile)  # numbers as they are read
        return msgspec.json.format(msgspec.json.encode(replace(file, checksum=file.sum)), indent=1) + b"\n"
    except UnicodeEncodeError as error:
        raise JobError(f"this plan cannot be saved: {error.object!r} is not UTF-8") from error


def load_plan(data: bytes) -> PlanFile:
    """Return a saved plan.

    Raises:
        JobError: it is not a plan, or of another version.
    """
    try:
        head = msgspec.json.decode(data)
        version = head.get("raidtui_plan") if isinstance(head, dict) else None
        if type(version) is not int or version not in {SCHEMA, FIRST_FORM}:  # True is 1, too
            raise JobError(f"not a plan of version {SCHEMA}: raidtui plan ... --json prints one")
        whole = version == SCHEMA or is_as_written(head)
        file = msgspec.convert(head if version == SCHEMA else _upgraded(head), type=PlanFile)
    except RecursionError as error:  # Python's own words for it differ from version to version
        raise JobError("not a plan: it is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise JobError(f"not a plan: {error}") from error
    if not whole or (version == SCHEMA and file.checksum not in {"", file.sum}):
        why = "not a plan as raidtui made it: its checksum does not fit; make it again"
        raise JobError(f'{why}, or, where it was edited on purpose, leave its line "checksum" out')
    return replace(file, checksum="")


def _upgraded(head: dict[str, Any]) -> dict[str, Any]:
    """Return a plan of the form before in the present one."""
    return {**with_types(_with_waits(head)), "raidtui_plan": SCHEMA}


def _with_waits(head: dict[str, Any]) -> dict[str, Any]:
    """Return a saved plan with a step that waits, where an earlier raidtui said that of the plan."""
    plan = head.get("plan")
    if not isinstance(plan, dict) or not isinstance(plan.get("steps"), list) or "goes_on" not in plan:
        return head
    kept = {key: value for key, value in plan.items() if key not in {"goes_on", "ends", "lasts"}}
    wait = {"why": plan["goes_on"], **{key: plan[key] for key in ("ends", "lasts") if key in plan}}
    return {**head, "plan": {**kept, "steps": [*plan["steps"], wait]}}
