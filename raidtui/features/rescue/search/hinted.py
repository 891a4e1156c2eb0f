"""Hints in a search: of candidates that fit alike, those come first that something written down speaks for.

That decides nothing: a tie stays a tie.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.rescue.hints import ArrayHint
from raidtui.features.rescue.proof import RescueGeometry
from raidtui.features.rescue.search.outcome import SearchCandidate, SearchResult
from raidtui.plans.create.create_request import MISSING


def with_hints(result: SearchResult, hints: tuple[ArrayHint, ...]) -> SearchResult:
    """Return a result with what is written down, and the candidates that fit alike in its order.

    Args:
        result: of the search; kernel names are those of the hints.
        hints: the newest first.
    """
    if not hints:
        return result
    best = [each for each in result.candidates if each.best]
    others = [each for each in result.candidates if not each.best]
    best = [_noted(each, hints) for each in sorted(best, key=lambda each: -_most(each, hints))]
    return replace(result, candidates=(*best, *others), hints=hints)


def _most(candidate: SearchCandidate, hints: tuple[ArrayHint, ...]) -> int:
    shapes = (candidate.geometry, *candidate.same)
    return max(agreements(shape, hint) for shape in shapes for hint in hints)


def _noted(candidate: SearchCandidate, hints: tuple[ArrayHint, ...]) -> SearchCandidate:
    fits = next((hint for hint in hints if _is_as(candidate.geometry, hint)), None)
    if fits is None:
        return candidate
    return replace(candidate, notes=(*candidate.notes, f"It is as in {fits.source}, which proves nothing."))


def agreements(geometry: RescueGeometry, hint: ArrayHint) -> int:
    """Return how much of a hint a geometry agrees with; 0 where it is of other disks, or another level."""
    if hint.level != f"raid{geometry.level}" or not set(hint.slots) & set(geometry.present):
        return 0
    slots = sum(
        slot < len(geometry.order) and geometry.order[slot] == name for name, slot in hint.slots.items()
    )
    rest = (
        hint.chunk_bytes == geometry.chunk_bytes,
        hint.layout == geometry.layout,
        hint.data_offset_sectors == geometry.data_offset_sectors,
    )
    return slots + sum(rest)


def _is_as(geometry: RescueGeometry, hint: ArrayHint) -> bool:
    """Whether a geometry has nothing else than the hint says, and the places of all disks that it names."""
    order = hint.order
    same = len(order) == len(geometry.order) and all(
        one == other or MISSING in {one, other} for one, other in zip(order, geometry.order, strict=True)
    )
    return (
        same
        and bool(set(order) & set(geometry.present))
        and agreements(geometry, hint) >= len(hint.slots) + 2
    )
