"""Checks of the fields of a benchmark's form. Pure."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from raidtui.features.bench.forms.form_draft import (
    DEVICE,
    NO,
    BenchDraft,
    FormField,
)
from raidtui.features.bench.option_texts import (
    ONE,
    RequestError,
    parse_size,
    read_chunk,
    read_number,
    read_size,
    read_values,
    refuse,
    refuse_number,
    sweep_values,
)
from raidtui.features.bench.workload import KINDS_OF_IO, Workload, refuse_workload
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.view.units import KIB

_Check = Callable[[BenchDraft, str], Refusal | None]
_SHORT = 72
_LISTED = frozenset({"folder", "device"})
"""Their choices have a line each: too much for a sentence."""


def refuse_field(draft: BenchDraft, field: FormField) -> Refusal | None:
    """Return why the text of a field cannot be used, or None."""
    text = draft.text(field.name).strip()
    try:
        if field.several or (field.axis and not field.side):
            return _refuse_values(draft, field, text)
        if field.picks:
            return _refuse_pick(draft, field, text)
        if field.side:
            return _refuse_side(draft, field, text)
        check = _CHECKS.get(field.name)
        return check(draft, text) if check is not None else None
    except RequestError as error:
        return refuse(error.why, error.remedy)


def _refuse_pick(draft: BenchDraft, field: FormField, text: str) -> Refusal | None:
    pick = field.pick(text)
    if field.name == "preset" and not text:
        return None
    if pick is None:
        few = ", ".join(each.words for each in field.picks)
        few = few if len(few) <= _SHORT and field.name not in _LISTED else "one with the arrow keys"
        why = f"{text} cannot be chosen here" if text else "nothing is chosen"
        return refuse(why, f"choose {few}")
    if pick.refusal:
        return refuse(pick.refusal, "choose no, or another device")
    if field.name == "write" and pick.key == NO:
        work, preset = draft.work, draft.chosen_preset
        writes = preset.writes if preset is not None else work is not None and work.writes
        if work is not None and writes and draft.where == DEVICE:
            what = preset.name if preset is not None and preset.loads else KINDS_OF_IO.get(work.rw, work.rw)
            return refuse(
                f"{what} overwrites what is on the device",
                "choose yes, or a workload that reads",
                code=RefusalCode.NEEDS_CONFIRMATION,
            )
    return _refuse_side(draft, field, text) if field.side else None


def _refuse_side(draft: BenchDraft, field: FormField, text: str) -> Refusal | None:
    """A and B are a value each, and two different ones."""
    words = sweep_values(text)
    if len(words) != 1:
        why = "there is no value" if not words else "there are several values"
        return refuse(why, "give one" if not words else "give one, or choose a sweep")
    if field.side == "B" and words == sweep_values(draft.text(f"A {field.axis}")):
        return refuse(
            f"{words[0]} is already the value of A", "give another value", code=RefusalCode.NOTHING_TO_DO
        )
    return _refuse_axis(draft, field.axis, words)


def _refuse_values(draft: BenchDraft, field: FormField, text: str) -> Refusal | None:
    words = sweep_values(text)
    if field.picks or field.name == "scratch":
        gone = next((word for word in words if field.pick(word) is None), "")
        if gone and field.picks:
            return refuse(f"{gone} cannot be used here", "leave it out")
    if field.name == "scratch":
        chunks = sweep_values(draft.values_of("chunk") if "chunk" in draft.axes else "")
        if len(words) < (1 if chunks == (ONE,) else 2):
            return refuse(
                "an array needs at least two devices", "select them with Space", code=RefusalCode.TOO_SMALL
            )
        return None
    if len(words) < 2:
        why = "one value is not a sweep" if words else "there is no value"
        return refuse(why, "give two or more")
    again = next((word for word in words if words.count(word) > 1), "")
    if again:
        return refuse(f"{again} is given twice", "give each value once")
    return _refuse_axis(draft, field.axis, words)


def _refuse_axis(draft: BenchDraft, axis: str, words: tuple[str, ...]) -> Refusal | None:
    if axis == "chunk":
        read_values("chunk", ",".join(words), read_chunk)
    check = _CHECKS.get(axis) if axis in {"block", "depth", "jobs"} else None
    return check(draft, ",".join(words)) if check is not None else None


# -- texts


def _ideal(draft: BenchDraft) -> Workload:
    """Return a valid workload, to check one value of a field in."""
    work = draft.work
    rw = work.rw if work is not None and work.rw in KINDS_OF_IO else "randread"
    return Workload(rw=rw, block_bytes=4 * KIB, size_bytes=1 << 60)


def _refuse_block(draft: BenchDraft, text: str) -> Refusal | None:
    sizes = [read_size("bs", word) for word in sweep_values(text)]
    tried = (refuse_workload(replace(_ideal(draft), block_bytes=size)) for size in sizes)
    return next((each for each in tried if each is not None), None)


def _refuse_size(draft: BenchDraft, text: str) -> Refusal | None:
    preset = draft.chosen_preset
    if not text:
        return None if preset is not None else refuse("no size is given", "give one: 500m, 4g")
    words = sweep_values(draft.values_of("block"))
    blocks = [found for word in words if (found := parse_size(word))]
    if not words and preset is not None:
        blocks = list(preset.blocks)
    block = max((each for each in blocks if each % 512 == 0), default=4 * KIB)
    return refuse_workload(
        replace(_ideal(draft), size_bytes=read_size("size", text), block_bytes=max(512, block))
    )


def _refuse_number(option: str, attribute: str) -> _Check:
    """Return a check of one or several numbers of a workload."""

    def check(draft: BenchDraft, text: str) -> Refusal | None:
        for word in sweep_values(text):
            number = read_number(option, word)
            work = replace(_ideal(draft), **{attribute: number}).with_engine_for_depth()
            if refusal := refuse_workload(work):
                return refusal
        return None

    return check


def _refuse_one(option: str, attribute: str) -> _Check:
    """Return a check of one number of a workload."""

    def check(draft: BenchDraft, text: str) -> Refusal | None:
        if not text:
            return None
        runtime = {"runtime_s": 1} if attribute == "ramp_s" else {}
        number = read_number(option, text)
        return refuse_workload(replace(_ideal(draft), **runtime, **{attribute: number}))

    return check


def _refuse_limit(name: str) -> _Check:
    """Return a check of a number that ``Request`` itself knows the limits of."""

    def check(draft: BenchDraft, text: str) -> Refusal | None:
        del draft
        return refuse_number(name, read_number(name, text)) if text else None

    return check


def _refuse_places(draft: BenchDraft, text: str) -> Refusal | None:
    return refuse_workload(replace(_ideal(draft), distribution=text))


def _refuse_chunk(draft: BenchDraft, text: str) -> Refusal | None:
    del draft
    if len(read_values("chunk", text, read_chunk)) > 1:
        return refuse(
            "there are several chunks",
            "give one, or choose the chunk under changes",
            code=RefusalCode.AMBIGUOUS,
        )
    return None


def _refuse_member(draft: BenchDraft, text: str) -> Refusal | None:
    del draft
    if text and read_size("member_size", text) < KIB:
        return refuse(f"{text} is too small", "give more: 10g", code=RefusalCode.TOO_SMALL)
    return None


def _wanted(why: str, remedy: str) -> _Check:
    def check(draft: BenchDraft, text: str) -> Refusal | None:
        del draft
        return None if text else refuse(why, remedy)

    return check


def _refuse_path(draft: BenchDraft, text: str) -> Refusal | None:
    del text
    if draft.directory:
        return None
    return refuse("no folder is given", "give an existing one: /srv/bench", code=RefusalCode.NOT_FOUND)


_CHECKS: dict[str, _Check] = {
    "job": _wanted("no job file is given", "give its path"),
    "block": _refuse_block,
    "size": _refuse_size,
    "depth": _refuse_number("depth", "depth"),
    "jobs": _refuse_number("jobs", "jobs"),
    "runtime": _refuse_one("runtime", "runtime_s"),
    "ramp": _refuse_one("ramp", "ramp_s"),
    "read_percent": _refuse_one("read_percent", "read_percent"),
    "places": _refuse_places,
    "knob": _wanted("no knob is chosen", "choose something else under changes"),
    "knob2": _wanted("no knob is chosen", "choose something else under changes"),
    "path": _refuse_path,
    "device": _wanted("no device is chosen", "choose a folder, or a device"),
    "chunk": _refuse_chunk,
    "member_size": _refuse_member,
    "repeats": _refuse_limit("repeats"),
    "cool": _refuse_limit("cool"),
    "precondition": _refuse_limit("precondition"),
}
