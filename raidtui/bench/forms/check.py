"""What is wrong with what stands in one field of a benchmark's form. Pure."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from raidtui.bench.ask import sweep_values
from raidtui.bench.course import ONE
from raidtui.bench.forms.field import Field
from raidtui.bench.forms.texts import (
    DEVICE,
    NO,
    Draft,
    Kind,
    axes_of,
    directory_of,
    preset_of,
    text_of,
    values_of,
    work_of,
)
from raidtui.bench.typed import TypedError, read_chunks, read_number, read_size
from raidtui.bench.workload import WAYS, Workload, parse_size, refuse_workload
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import KIB

_MOST_REPEATS = 5000
_DAY_S = 86400
_MOST_TIMES = 100
_SHORT = 72


def refuse_field(draft: Draft, field: Field) -> Refusal | None:
    """Return what is wrong with what stands in a field, or None."""
    text = text_of(draft, field.name).strip()
    name = field.name.rpartition(" ")[2]
    try:
        if field.several or field.name.startswith("values "):
            return _refuse_values(draft, field, text)
        if field.picks:
            return _refuse_pick(draft, field, text)
        if field.name[:2] in {"A ", "B "}:
            return _refuse_side(draft, field, text)
        check = _CHECKS.get(name)
        return check(draft, field.of, text) if check is not None else None
    except TypedError as error:
        why, _, remedy = str(error).partition("; ")
        return Refusal(code=RefusalCode.INVALID, why=why, remedy=remedy)


def _refuse_pick(draft: Draft, field: Field, text: str) -> Refusal | None:
    pick = field.pick(text)
    if field.name == "preset" and not text:
        return None
    if pick is None:
        few = ", ".join(each.words for each in field.picks)
        few = few if len(few) <= _SHORT and "  " not in few else "one with the arrow keys"
        why = f"{text} cannot be chosen here" if text else "nothing is chosen"
        return Refusal(code=RefusalCode.INVALID, why=why, remedy=f"choose {few}")
    if pick.refusal:
        return Refusal(code=RefusalCode.INVALID, why=pick.refusal, remedy="choose no, or another device")
    if field.name == "write" and pick.key == NO:
        work = work_of(draft, field.of)
        if work is not None and work.writes and draft.where == DEVICE:
            return Refusal(
                code=RefusalCode.NEEDS_CONFIRMATION,
                why=f"{WAYS.get(work.rw, work.rw)} overwrites what is on the device",
                remedy="choose yes, or a workload that reads",
            )
    return _refuse_side(draft, field, text) if field.name[:2] in {"A ", "B "} else None


def _refuse_side(draft: Draft, field: Field, text: str) -> Refusal | None:
    """A and B are a value each, and two different ones."""
    side, _, axis = field.name.partition(" ")
    words = sweep_values(text)
    if len(words) != 1:
        why = "there is no value" if not words else "there are several values"
        return Refusal(
            code=RefusalCode.INVALID,
            why=why,
            remedy="give one" if not words else "give one, or choose a sweep",
        )
    if side == "B" and words == sweep_values(text_of(draft, f"A {axis}")):
        return Refusal(
            code=RefusalCode.NOTHING_TO_DO, why=f"{words[0]} is A already", remedy="give another value"
        )
    return _refuse_axis(draft, field.of, axis, words)


def _refuse_values(draft: Draft, field: Field, text: str) -> Refusal | None:
    words = sweep_values(text)
    if field.picks or field.name == "scratch":
        gone = next((word for word in words if field.pick(word) is None), "")
        if gone and field.picks:
            return Refusal(
                code=RefusalCode.INVALID, why=f"{gone} cannot be taken here", remedy="leave it out"
            )
    axis = field.name.removeprefix("values ")
    if axis == "scratch":
        chunks = sweep_values(
            values_of(draft, field.of, "chunk") if "chunk" in axes_of(draft, field.of) else ""
        )
        if len(words) < (1 if chunks == (ONE,) else 2):
            return Refusal(
                code=RefusalCode.TOO_SMALL,
                why="an array wants two devices at least",
                remedy="take them with Space",
            )
        return None
    if len(words) < 2:
        why = "one value is no sweep" if words else "there is no value"
        return Refusal(code=RefusalCode.INVALID, why=why, remedy="give two or more")
    again = next((word for word in words if words.count(word) > 1), "")
    if again:
        return Refusal(code=RefusalCode.INVALID, why=f"{again} is there twice", remedy="give each value once")
    return _refuse_axis(draft, field.of, axis, words)


def _refuse_axis(draft: Draft, kind: Kind, axis: str, words: tuple[str, ...]) -> Refusal | None:
    if axis == "chunk":
        read_chunks(",".join(words))
    check = _CHECKS.get(axis) if axis in {"block", "depth", "jobs"} else None
    return check(draft, kind, ",".join(words)) if check is not None else None


# -- texts


def _ideal(draft: Draft, kind: Kind) -> Workload:
    """Return a workload with which nothing is wrong, to try one value of a field in."""
    work = work_of(draft, kind)
    rw = work.rw if work is not None and work.rw in WAYS else "randread"
    return Workload(rw=rw, block_bytes=4 * KIB, size_bytes=1 << 60)


def _refuse_block(draft: Draft, kind: Kind, text: str) -> Refusal | None:
    sizes = [read_size("bs", word) for word in sweep_values(text)]
    tried = (refuse_workload(replace(_ideal(draft, kind), block_bytes=size)) for size in sizes)
    return next((each for each in tried if each is not None), None)


def _refuse_size(draft: Draft, kind: Kind, text: str) -> Refusal | None:
    preset = preset_of(draft, kind)
    if not text:
        return (
            None
            if preset is not None
            else Refusal(code=RefusalCode.INVALID, why="there is no size", remedy="give one: 500m, 4g")
        )
    words = sweep_values(values_of(draft, kind, "block") if "block" in axes_of(draft, kind) else draft.block)
    blocks = [found for word in words if (found := parse_size(word))]
    if not words and preset is not None:
        blocks = list(preset.blocks)
    block = max((each for each in blocks if each % 512 == 0), default=4 * KIB)
    return refuse_workload(
        replace(_ideal(draft, kind), size_bytes=read_size("size", text), block_bytes=max(512, block))
    )


def _refuse_number(option: str, attribute: str) -> Callable[[Draft, Kind, str], Refusal | None]:
    """Return a check of one or several numbers of a workload."""

    def check(draft: Draft, kind: Kind, text: str) -> Refusal | None:
        for word in sweep_values(text):
            number = read_number(option, word)
            work = replace(_ideal(draft, kind), **{attribute: number}).with_engine_for_depth()
            if refusal := refuse_workload(work):
                return refusal
        return None

    return check


def _refuse_one(option: str, attribute: str) -> Callable[[Draft, Kind, str], Refusal | None]:
    """Return a check of one number of a workload."""

    def check(draft: Draft, kind: Kind, text: str) -> Refusal | None:
        if not text:
            return None
        runtime = {"runtime_s": 1} if attribute == "ramp_s" else {}
        number = read_number(option, text)
        return refuse_workload(replace(_ideal(draft, kind), **runtime, **{attribute: number}))

    return check


def _within(least: int, most: int) -> Callable[[Draft, Kind, str], Refusal | None]:
    def check(draft: Draft, kind: Kind, text: str) -> Refusal | None:
        del draft, kind
        if not text or least <= read_number("", text) <= most:
            return None
        return Refusal(
            code=RefusalCode.INVALID,
            why=f"{text} is not possible",
            remedy=f"give a number between {least} and {most}",
        )

    return check


def _refuse_places(draft: Draft, kind: Kind, text: str) -> Refusal | None:
    return refuse_workload(replace(_ideal(draft, kind), distribution=text))


def _refuse_chunk(draft: Draft, kind: Kind, text: str) -> Refusal | None:
    del draft, kind
    if len(read_chunks(text)) > 1:
        return Refusal(
            code=RefusalCode.AMBIGUOUS,
            why="there are several chunks",
            remedy="give one, or choose the chunk as what changes",
        )
    return None


def _refuse_member(draft: Draft, kind: Kind, text: str) -> Refusal | None:
    del draft, kind
    if text and read_size("member_size", text) < KIB:
        return Refusal(code=RefusalCode.TOO_SMALL, why=f"{text} is too little", remedy="give more: 10g")
    return None


def _wanted(why: str, remedy: str) -> Callable[[Draft, Kind, str], Refusal | None]:
    def check(draft: Draft, kind: Kind, text: str) -> Refusal | None:
        del draft, kind
        return None if text else Refusal(code=RefusalCode.INVALID, why=why, remedy=remedy)

    return check


def _refuse_path(draft: Draft, kind: Kind, text: str) -> Refusal | None:
    del kind, text
    if directory_of(draft):
        return None
    return Refusal(
        code=RefusalCode.NOT_FOUND, why="no folder is named", remedy="give one that is there: /srv/bench"
    )


_CHECKS: dict[str, Callable[[Draft, Kind, str], Refusal | None]] = {
    "job": _wanted("no job file is named", "give its path"),
    "block": _refuse_block,
    "size": _refuse_size,
    "depth": _refuse_number("depth", "depth"),
    "jobs": _refuse_number("jobs", "jobs"),
    "runtime": _refuse_one("runtime", "runtime_s"),
    "ramp": _refuse_one("ramp", "ramp_s"),
    "read_percent": _refuse_one("read_percent", "read_percent"),
    "places": _refuse_places,
    "knob": _wanted("no knob is chosen", "choose another thing that changes"),
    "knob2": _wanted("no knob is chosen", "choose another thing that changes"),
    "path": _refuse_path,
    "device": _wanted("no device is chosen", "choose a folder, or a device"),
    "chunk": _refuse_chunk,
    "member_size": _refuse_member,
    "repeats": _within(1, _MOST_REPEATS),
    "cool": _within(0, _DAY_S),
    "precondition": _within(0, _MOST_TIMES),
}
