"""The levels that can be chosen: how much fits, what may fail, what each is good and bad at. Pure."""

from __future__ import annotations

from collections.abc import Collection

from raidtui.model.geometry import capacity_kib, losses_left, separate_groups
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS
from raidtui.model.plan import Refusal
from raidtui.model.survey import Survey
from raidtui.plans.create.request import CreateRequest
from raidtui.plans.create.shape import Shape, shape_of
from raidtui.plans.on_top.trim import trim_words
from raidtui.plans.wizard.draft import LEVELS, Draft, parts, planned, usable
from raidtui.plans.wizard.pick import Pick
from raidtui.view.units import KIB, binary_size

_GOOD_AT = {
    "raid1": "Every member holds all of it. One reader gets one member's speed, many readers all of them;"
    " a write goes to all.",
    "n": "Copies side by side on neighbours. Reads spread over all, writes cost two: good for small"
    " random I/O, databases, virtual machines.",
    "f": "The second copy lies in the other half of the members. A single reader streams like a raid0;"
    " writes as near.",
    "o": "Each stripe is written again one member further on. Reads nearly like far, writes like near,"
    " and the number of members may be changed later.",
    "raid4": "All parity on one member, which takes part in every write. raid5 spreads it; choose that.",
    "raid5": "Much room, streams well. A small write reads two blocks and writes two. A crash while"
    " degraded may lose data (write hole) unless a ppl or a journal guards it.",
    "raid6": "Any two may go, also during a rebuild. A small write reads three blocks and writes three:"
    " the slowest at small writes.",
    "raid0": "All the speed and all the room, no safety: when one goes, everything is gone.",
}


def level_picks(draft: Draft, survey: Survey) -> tuple[Pick, ...]:
    """Return the levels, those that cannot be among them, each with its capacity and what may fail."""
    return tuple(_pick(draft, survey, *each) for each in LEVELS)


def _pick(draft: Draft, survey: Survey, level: str, letter: str, words: str) -> Pick:
    layout = f"{letter}2" if letter else ""
    words = f"{words} 2" if letter else words
    tried = Draft(
        devices=draft.devices, spares=draft.spares, journal=draft.journal, empty=draft.empty,
        destroys=draft.destroys, disks=draft.disks, level=level, layout=layout,
    )  # fmt: skip
    made = planned(tried, survey)
    request = tried.request(survey)
    shape = shape_of(request)
    if isinstance(made, Refusal) or isinstance(shape, Refusal):
        return Pick(key=words, words=words, refusal=made.sentence if isinstance(made, Refusal) else "")
    sizes = usable(tried, request, survey)
    component = request.size_kib or min(sizes)
    size = sum(sizes) if level == "raid0" else _capacity_kib(shape, component, len(request.devices))
    fails = may_fail(level, shape.layout_number, len(request.devices), request.holes)
    told = (
        _GOOD_AT[letter or level],
        trim_words(level, survey, parts(tried, survey)),
        first_sync_words(request, shape, component, size),
        rebuild_words(level, component, [each.life_bytes for each in parts(tried, survey)]),
    )
    return Pick(
        key=words,
        words=f"{words:<15} {binary_size(size * KIB):>8}  {fails}",
        note=" ".join(text for text in told if text),
    )


def _capacity_kib(shape: Shape, component: int, slots: int) -> int:
    return capacity_kib(shape.level, shape.layout_number, component, slots)


def may_fail(level: str, layout: int | None, slots: int, holes: Collection[int]) -> str:
    """Return how many members may fail, in two or three words."""
    left = losses_left(level, layout, slots, holes)
    if level in NO_REDUNDANCY:
        return "none!"
    if not left or left < 0:
        return "none: slots are empty"
    if level != "raid10" or holes:
        return f"any {left}"
    sets = separate_groups(level, layout, slots)
    if len(sets) > 1:
        return f"{left}, or {left * len(sets)} of other {'pairs' if left == 1 else 'sets'}"
    if not sets and slots > 3:
        return f"{left}, or {slots // 2} not adjacent"
    return f"any {left}"


def first_sync_words(request: CreateRequest, shape: Shape, component: int, size: int) -> str:
    """Return what the first sync writes (raid1.c, raid10.c, raid5.c; mdadm's Create.c).

    Args:
        request: the array.
        shape: what mdadm is told.
        component: what is used of each member, KiB.
        size: what the array holds, KiB.
    """
    each = binary_size(component * KIB)
    if shape.level == "raid0":
        return "There is no first sync."
    if request.assume_clean:
        return "The first sync is left out."
    if request.holes:
        return f"It starts degraded: each device that is added later is written as a whole, {each}."
    if shape.level == "raid1":
        return f"The first sync writes all of every member but one: {each} each."
    if shape.level in {"raid4", "raid5"}:
        return f"The first sync writes all of the last member: {each}."
    most, where = component * PARITY_LEVELS.get(shape.level, 0), "parity does not fit"
    if shape.level == "raid10":
        most, where = component * len(request.devices) - size, "copies differ"
    return (
        f"The first sync writes only where {where}: nothing on members that were trimmed and read zeros,"
        f" else up to {binary_size(most * KIB)} in all."
    )


def rebuild_words(level: str, component: int, lives: Collection[int | None] = ()) -> str:
    """Return what the rebuild of a member writes.

    Args:
        level: the kernel's word.
        component: what is used of each member, KiB.
        lives: what may be written to each member in its whole life, bytes, where that is known.
    """
    if level in NO_REDUNDANCY:
        return ""
    known = [life for life in lives if life]
    share = f", {_share(component * KIB / min(known))} % of its life" if known else ""
    return f"A rebuild writes one member: {binary_size(component * KIB)}{share}."


def _share(part: float) -> str:
    percent = part * 100
    if percent < 0.05:
        return "less than 0.1"
    return f"about {percent:.0f}" if percent >= 9.5 else f"about {percent:.1f}"
