"""What a rescue knows of an array: its members, what happened to them, and the ways back. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from raidtui.model.survey import Superblock


class CauseCode(StrEnum):
    """What happened to an array, for programs. docs/rescue.md documents each; none changes."""

    COMPLETE = "complete"
    MISSING = "member-missing"
    STALE = "stale"
    NOT_ENOUGH = "not-enough"


class WayCode(StrEnum):
    """A way back, for programs; from harmless to drastic. docs/rescue.md documents each; none changes."""

    START = "start"
    BRING_BACK = "bring-back"
    START_DEGRADED = "start-degraded"


class Presence(StrEnum):
    """How much of a member is there, for programs."""

    WHOLE = "whole"
    STALE = "stale"
    REBUILDING = "rebuilding"
    SPARE = "spare"


class Cause(Struct, frozen=True, kw_only=True):
    """Something that happened to an array.

    Args:
        text: a sentence with its reasons and times, for people.
        devices: kernel names of the devices that it is about.
    """

    code: CauseCode
    text: str
    devices: tuple[str, ...] = ()


class WayBack(Struct, frozen=True, kw_only=True):
    """A way to get an array back, or a step of one.

    Args:
        text: what is done and what for, a sentence.
        writes: what it writes, a clause; "" for nothing.
        possible: whether mdadm and the kernel would do it.
        why_not: why not; "" where it is possible.
        devices: kernel names of the devices that it names.
    """

    code: WayCode
    text: str
    writes: str = ""
    possible: bool = True
    why_not: str = ""
    devices: tuple[str, ...] = ()


class RescueMember(Struct, frozen=True, kw_only=True):
    """A device that belongs, or belonged, to an array.

    Args:
        device: the kernel's name.
        serial: of its disk; "" where it is not known.
        size_bytes: None where it is not known.
    """

    device: str
    superblock: Superblock
    presence: Presence
    serial: str = ""
    size_bytes: int | None = None


class RescueArray(Struct, frozen=True, kw_only=True):
    """An array by the superblocks of its members.

    Args:
        uuid: in mdadm's form 8:8:8:8; None for devices that have no superblock.
        name: as it is stored, "host:name"; "" where none is stored.
        causes: what happened, the most important first.
        ways: the ways back, from harmless to drastic.
    """

    uuid: str | None
    name: str
    level: str | None
    members: tuple[RescueMember, ...]
    causes: tuple[Cause, ...] = ()
    ways: tuple[WayBack, ...] = ()
