"""What a host has answered, and what of that an administrator of many wants to know first. Pure.

The answer is that of ``raidtui status --json --wear`` (docs/status-json.md). It comes from outside: what is
not of that form is no answer, and no text of it is shown without being made visible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from raidtui.features.fleet.hosts import FleetHost
from raidtui.view.text import visible

FORM = 1
DAY_S = 86_400.0
SOON_S = 180 * DAY_S
"""Wear whose end is nearer is said."""
_DEEPEST = 32
_LARGEST_INT = 1 << 63
Seconds = Annotated[float, Meta(ge=0, le=1 << 36)]
"""Of a time or a span: calendars end at the year 9999."""
Part = Annotated[float, Meta(ge=0, le=1.01)]
Percent = Annotated[float, Meta(ge=0, le=1e6)]
_MOST = Meta(max_length=10_000)


class FleetState(IntEnum):
    """How a host is; the worse, the higher."""

    OPTIMAL = 0
    UNKNOWN = 1
    ATTENTION = 2
    NO_ANSWER = 3
    DEGRADED = 4
    FAILED = 5

    @property
    def word(self) -> str:
        """The word for people and programs."""
        return self.name.lower().replace("_", " ")


class NoAnswerCode(StrEnum):
    """Why a host has not answered, for programs."""

    UNREACHABLE = "unreachable"  # ssh ended with 255, for another reason than those below: no route, no name
    HOST_KEY_CHANGED = "host-key-changed"  # another key than the one in known_hosts
    HOST_KEY_UNKNOWN = "host-key-unknown"  # none in known_hosts, and ssh is not to take a new one
    DENIED = "denied"  # no key or login that it takes
    SUDO_PASSWORD = "sudo-password"  # noqa: S105  # sudo there asks for a password, and there is no terminal
    TIMEOUT = "timeout"
    NOT_INSTALLED = "not-installed"
    NOT_UNDERSTOOD = "not-understood"  # it is not the JSON of status, or of another version


class NoAnswer(Struct, frozen=True, kw_only=True):
    """Why there is no answer; ``why`` ends with what ssh or the host has said, where it said something.

    ``remedy`` is what fixes it, "" where that is not known.
    """

    code: NoAnswerCode
    why: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """Both in one line."""
        return f"{self.why}; {self.remedy}" if self.remedy else self.why


class HostPart(Struct, frozen=True, kw_only=True):
    """``host`` of an answer."""

    name: str | None = None


class SyncPart(Struct, frozen=True, kw_only=True):
    """``sync`` of an array; ``eta_s`` counts from the answer."""

    action: str
    phase: str
    fraction: Part | None = None
    eta_s: Seconds | None = None


class ArrayPart(Struct, frozen=True, kw_only=True):
    """One of ``arrays``."""

    name: str
    health: str
    label: str | None = None
    uuid: str | None = None
    sync: SyncPart | None = None


class AbsentPart(Struct, frozen=True, kw_only=True):
    """One of ``absent``."""

    health: str
    label: str | None = None
    uuid: str | None = None


class FindingPart(Struct, frozen=True, kw_only=True):
    """One of ``findings``."""

    severity: str
    code: str
    sentence: str
    remedy: str | None = None


class WearPart(Struct, frozen=True, kw_only=True):
    """One of ``wear``: a disk of the history. ``ends_s`` is None where that is not known, or far away."""

    disk: str
    name: str = ""
    percent_used: Percent | None = None
    ends_s: Seconds | None = None
    over: bool = False


class StatusAnswer(Struct, frozen=True, kw_only=True):
    """An answer, as far as it is needed here."""

    format_version: int
    raidtui_version: str
    taken_s: Seconds
    exit_status: Annotated[int, Meta(ge=0, le=255)]
    host: HostPart
    arrays: Annotated[tuple[ArrayPart, ...], _MOST] = ()
    absent: Annotated[tuple[AbsentPart, ...], _MOST] = ()
    findings: Annotated[tuple[FindingPart, ...], _MOST] = ()
    wear: Annotated[tuple[WearPart, ...], _MOST] | None = None


class FleetSync(Struct, frozen=True, kw_only=True):
    """A sync of a host.

    Args:
        array: its name.
        action: resync, recover, check, repair or reshape.
        phase: running, delayed, pending, remote or frozen.
        fraction: 0 to 1; None where it is not known.
        ends_s: epoch seconds by our clock; None where it is not known.
    """

    array: str
    action: str
    phase: str
    fraction: float | None
    ends_s: float | None


class FleetRow(Struct, frozen=True, kw_only=True):
    """One host as it is known.

    Args:
        host: which.
        at_s: when it answered, or was given up, epoch seconds of our clock.
        took_s: how long that took.
        state: how it is.
        problems: what is wrong, a sentence each, the worst first.
        syncs: what is being synced.
        worn: the disks whose rated life ends soon or has ended, the nearest first.
        answer: what it answered; None where it has not.
        status: the whole answer, of JSON's types; None where there is none.
        none: why there is no answer.
    """

    host: FleetHost
    at_s: float
    took_s: float
    state: FleetState
    problems: tuple[str, ...] = ()
    syncs: tuple[FleetSync, ...] = ()
    worn: tuple[WearPart, ...] = ()
    answer: StatusAnswer | None = None
    status: object = None
    none: NoAnswer | None = None


_OF_WORD = {
    "attention": FleetState.ATTENTION,
    "degraded": FleetState.DEGRADED,
    "failed": FleetState.FAILED,
    "unknown": FleetState.UNKNOWN,
    "optimal": FleetState.OPTIMAL,
}
_OF_STATUS = {
    0: FleetState.OPTIMAL,
    1: FleetState.ATTENTION,
    2: FleetState.FAILED,
    3: FleetState.UNKNOWN,
}
_SEVERITIES = ("failed", "degraded", "attention")


def row_without(host: FleetHost, none: NoAnswer, *, at_s: float, took_s: float) -> FleetRow:
    """Return the row of a host that has not answered."""
    return FleetRow(
        host=host, at_s=at_s, took_s=took_s, state=FleetState.NO_ANSWER, problems=(none.sentence,), none=none
    )


def row_of(host: FleetHost, raw: bytes, *, at_s: float, took_s: float) -> FleetRow:
    """Return the row of a host that has answered.

    Args:
        host: which.
        raw: its standard output.
        at_s: when, epoch seconds of our clock.
        took_s: how long it took.
    """
    try:
        status = msgspec.json.decode(raw)
        _check_sizes(status)
        answer = msgspec.convert(status, StatusAnswer)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        why = f"its answer is not the JSON of raidtui status: {visible(str(error))}"
        none = NoAnswer(code=NoAnswerCode.NOT_UNDERSTOOD, why=why)
        return row_without(host, none, at_s=at_s, took_s=took_s)
    if answer.format_version != FORM:
        version = visible(answer.raidtui_version)
        why = f"its raidtui {version} answers in form {answer.format_version}, not {FORM}"
        none = NoAnswer(code=NoAnswerCode.NOT_UNDERSTOOD, why=why)
        return row_without(host, none, at_s=at_s, took_s=took_s)
    worn = _worn(answer)
    words = [*(each.health for each in answer.arrays), *(each.health for each in answer.absent)]
    states = [_OF_WORD.get(word, FleetState.UNKNOWN) for word in words]
    state = max((*states, _OF_STATUS.get(answer.exit_status, FleetState.UNKNOWN)))
    return FleetRow(
        host=host,
        at_s=at_s,
        took_s=took_s,
        state=max(state, FleetState.ATTENTION) if worn else state,
        problems=(*_problems(answer), *(wear_words(each, answer.taken_s) for each in worn)),
        syncs=tuple(_syncs(answer, at_s)),
        worn=worn,
        answer=answer,
        status=status,
    )


def _check_sizes(value: object, depth: int = 0) -> None:
    """Check what no part of an answer has, also those that are only handed on: they are printed again.

    Raises:
        ValueError: it is nested too deeply, or a number is too large for other programs.
    """
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _check_sizes(each, depth + 1)
    elif (isinstance(value, int) and abs(value) >= _LARGEST_INT) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise ValueError("a number in it is too large")


def _problems(answer: StatusAnswer) -> tuple[str, ...]:
    found = [each for each in answer.findings if each.severity in _SEVERITIES]
    found.sort(key=lambda each: _SEVERITIES.index(each.severity))
    return tuple(visible(each.sentence) for each in found)


def _syncs(answer: StatusAnswer, at_s: float) -> Iterable[FleetSync]:
    for array in answer.arrays:
        if array.sync is not None:
            left_s = array.sync.eta_s
            yield FleetSync(
                array=array.label or array.name,
                action=array.sync.action,
                phase=array.sync.phase,
                fraction=array.sync.fraction,
                ends_s=None if left_s is None else at_s + left_s,
            )


def _worn(answer: StatusAnswer) -> tuple[WearPart, ...]:
    last_s = answer.taken_s + SOON_S
    soon = [
        each for each in answer.wear or () if each.over or (each.ends_s is not None and each.ends_s <= last_s)
    ]
    return tuple(sorted(soon, key=lambda each: each.ends_s or 0.0))


def wear_words(disk: WearPart, now_s: float) -> str:
    """Return a sentence on a disk whose rated life ends soon, or has ended."""
    name = visible(f"{disk.name} ({disk.disk})" if disk.name else disk.disk)
    if disk.over or disk.ends_s is None or disk.ends_s <= now_s:
        return f"the rated life of {name} is used up"
    days = round((disk.ends_s - now_s) / DAY_S)
    return f"the rated life of {name} ends in {days} {'day' if days == 1 else 'days'}"


def worst_first(rows: Iterable[FleetRow]) -> list[FleetRow]:
    """Return rows in the order in which they want to be looked at."""
    return sorted(rows, key=lambda row: (-row.state, -len(row.problems), row.host.name))


def exit_status(rows: Iterable[FleetRow]) -> int:
    """Return 2 where a host has failed, 1 degraded or needs attention, 3 no answer or unknown, 0 else."""
    states = {row.state for row in rows}
    if FleetState.FAILED in states:
        return 2
    if states & {FleetState.DEGRADED, FleetState.ATTENTION}:
        return 1
    return 3 if states & {FleetState.NO_ANSWER, FleetState.UNKNOWN} else 0
