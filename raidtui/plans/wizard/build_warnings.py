"""What speaks against a new array, where it is chosen: rules with their sources in docs/build.md. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import IntEnum

from msgspec import Struct

from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.survey import Device, Survey
from raidtui.plans.wizard.defaults import Medium, is_shingled, is_usb, media_of, medium_of
from raidtui.plans.wizard.wizard_draft import WizardDraft
from raidtui.view.units import KIB, binary_size, counted, decimal_size, duration, joined

_HDD_BYTES_S = 150e6
"""An HDD's mean over its whole surface: about three quarters of the outer speed."""
_DEFAULT_KIB_S = 200_000
_RATED = (1e-14, 1e-15)
"""Unreadable bits for each bit read, at most: data sheets of desktop and of NAS disks."""
_LIKELY_PERCENT, _LONG_S = 10, 24 * 3600
_UNEQUAL, _WASTEFUL = 0.01, 0.10
_MOST = {"raid5": 8, "raid6": 14}
_WORN, _WORN_STRIPED = 80, 70
_MOST_NAMED = 4


class Gravity(IntEnum):
    """How much a warning weighs. STOP has the array's name typed before anything is done."""

    NOTE = 0
    WARN = 1
    STOP = 2


class BuildWarning(Struct, frozen=True, kw_only=True):
    """A warning.

    Args:
        weight: how much it weighs.
        words: a sentence or two.
    """

    weight: Gravity
    words: str


def warnings_of(draft: WizardDraft, survey: Survey) -> tuple[BuildWarning, ...]:
    """Return what speaks against a draft's array, the heaviest first."""
    devices = [survey.devices[name] for name in draft.devices if name in survey.devices]
    if not devices:
        return ()
    found = [*_of_disks(draft, devices), *_of_sets(draft, devices), *_of_level(draft, devices, survey)]
    return tuple(sorted(found, key=lambda each: -each.weight))


def _of_disks(draft: WizardDraft, devices: list[Device]) -> Iterator[BuildWarning]:
    for trouble in dict.fromkeys(each.trouble for each in devices if each.trouble and not each.unjudged):
        names = _names(each for each in devices if each.trouble == trouble)
        yield BuildWarning(weight=Gravity.STOP, words=f"{names}: {trouble}. Do not build on it.")
    if names := _names(each for each in devices if is_usb(each)):
        words = f"{names}: USB. Bridges drop out under load and hide SMART."
        yield BuildWarning(weight=Gravity.STOP, words=words)
    if names := _names(each for each in devices if is_shingled(each)):
        parity = draft.level in PARITY_LEVELS
        words = f"{names}: shingled (SMR). A rebuild may take days, or stall."
        yield BuildWarning(weight=Gravity.STOP if parity else Gravity.WARN, words=words)
    late = [each for each in devices if each.retries] if draft.level != "raid0" else []
    if late:
        words = f"{_names(iter(late))}: {late[0].retries}; md then drops it. Pane 7 has the remedy."
        yield BuildWarning(weight=Gravity.WARN, words=words)
    for why in dict.fromkeys(each.unjudged for each in devices if each.unjudged):
        names = _names(each for each in devices if each.unjudged == why)
        yield BuildWarning(weight=Gravity.NOTE, words=f"{names}: health not known: {why}.")
    limit = _WORN_STRIPED if draft.level == "raid0" else _WORN
    if names := _names(each for each in devices if (each.wear_percent or 0) >= limit):
        striped = draft.level == "raid0"
        words = f"{names}: {limit} % or more of the rated life is used."
        yield BuildWarning(weight=Gravity.STOP if striped else Gravity.WARN, words=words)


def _of_sets(draft: WizardDraft, devices: list[Device]) -> Iterator[BuildWarning]:
    media = media_of(devices) - {Medium.UNKNOWN}
    if len(media) > 1:
        remedy = " Flag the slow one write-mostly." if draft.level == "raid1" else ""
        kinds = joined([str(each) for each in Medium if each in media])
        words = f"{kinds} mixed: the slowest member sets the pace.{remedy}"
        yield BuildWarning(weight=Gravity.WARN, words=words)
    sizes = [each.disk.size_bytes or 0 for each in devices]
    most, least = max(sizes), min(sizes)
    if draft.level != "raid0" and most and (most - least) / most > _UNEQUAL:
        lost = sum(size - least for size in sizes)
        weight = Gravity.WARN if (most - least) / most >= _WASTEFUL else Gravity.NOTE
        yield BuildWarning(weight=weight, words=f"Sizes differ: {binary_size(lost)} stay unused.")
    sectors = sorted({each.sector_bytes for each in devices})
    if len(sectors) > 1:
        words = f"Sectors of {joined([str(each) for each in sectors])} bytes: the array's are {sectors[-1]}."
        yield BuildWarning(weight=Gravity.WARN, words=words)
    models = {each.disk.model for each in devices}
    if len(devices) > 1 and len(models) == 1 and (model := devices[0].disk.model):
        words = f"All are {model}: disks of one model and age tend to fail together."
        yield BuildWarning(weight=Gravity.NOTE, words=words)


def _of_level(draft: WizardDraft, devices: list[Device], survey: Survey) -> Iterator[BuildWarning]:
    level, count = draft.level, len(draft.slots)
    if count > _MOST.get(level, count):
        words = f"{counted(count, 'member')} in one {level}: a rebuild reads them all. Build two arrays."
        yield BuildWarning(weight=Gravity.WARN, words=words)
    if level == "raid4":
        words = "raid4 keeps all parity on one member, which slows each write. Prefer raid5."
        yield BuildWarning(weight=Gravity.WARN, words=words)
    if level == "raid10" and count == 2:
        yield BuildWarning(weight=Gravity.NOTE, words="Two members: raid1 is the same, and can be reshaped.")
    if level == "raid10" and count % 2 and draft.layout.startswith("n"):
        words = "An odd number: copies overlap, so fewer pairs of losses are survived."
        yield BuildWarning(weight=Gravity.NOTE, words=words)
    if level == "raid6" and count == 4:
        words = "raid10 of four has the same room, writes faster and rebuilds from one disk."
        yield BuildWarning(weight=Gravity.NOTE, words=words)
    if level == "raid5" and any(medium_of(each.disk) is Medium.HDD for each in devices):
        yield from _of_long_rebuild(devices, survey)


def unreadable_odds(read_bytes: float, rate: float) -> float:
    """Return the odds that a sector cannot be read, at most: ``1 - exp(-8 B r)``.

    Args:
        read_bytes: how much is read.
        rate: unreadable bits for each bit read, by the data sheet: an upper bound.
    """
    return -math.expm1(-8 * read_bytes * rate)


def rebuild_s(size_bytes: int, survey: Survey) -> float:
    """Return how long the rebuild of a hard disk takes at least, at the present limit."""
    limit = (survey.snapshot.limits.max_kib_s or _DEFAULT_KIB_S) * KIB
    return size_bytes / min(limit, _HDD_BYTES_S)


def _of_long_rebuild(devices: list[Device], survey: Survey) -> Iterator[BuildWarning]:
    size = min(each.disk.size_bytes or 0 for each in devices)
    read = size * (len(devices) - 1)
    desktop, server = (unreadable_odds(read, rate) * 100 for rate in _RATED)
    takes_s = rebuild_s(size, survey)
    if desktop < _LIKELY_PERCENT and takes_s < _LONG_S:
        return
    words = (
        f"A rebuild takes at least {duration(takes_s)} and reads {decimal_size(read)}; by the data sheet,"
        f" some sector cannot be read in at most {desktop:.0f} % of them (NAS disks: {server:.0f} %)."
        " raid6 survives that."
    )
    yield BuildWarning(weight=Gravity.WARN, words=words)


def _names(devices: Iterator[Device]) -> str:
    names = [device.disk.name for device in devices]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
