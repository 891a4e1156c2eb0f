"""What a search has found. Pure."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from raidtui.features.rescue.candidate_evidence import CandidateEvidence
from raidtui.features.rescue.hints import ArrayHint
from raidtui.features.rescue.proof import Proof, RescueGeometry


class SearchOutcome(StrEnum):
    """How a search ended, for programs. docs/rescue.md documents each; none changes."""

    UNIQUE = "unique"
    TIED = "tied"
    IMPOSSIBLE = "impossible"
    NOTHING = "nothing"


class SearchCandidate(Struct, frozen=True, kw_only=True):
    """A geometry that the members' content speaks for.

    Args:
        passed: blocks that were recognised at their places.
        failed: blocks that were not, and must be there.
        best: whether nothing separates it from the first.
        same: other geometries that read the same.
        notes: what else is to be known of it, sentences.
        evidence: what was seen of it; it goes with it to its trial and its plan.
    """

    geometry: RescueGeometry
    proof: Proof
    passed: int
    failed: int
    best: bool
    same: tuple[RescueGeometry, ...] = ()
    notes: tuple[str, ...] = ()
    evidence: CandidateEvidence = CandidateEvidence()


class SearchResult(Struct, frozen=True, kw_only=True):
    """What a search says.

    Args:
        candidates: the best first; of many that are alike, the first few.
        alike: how many geometries nothing separates; those that read the same count as one.
        more: whether there are more of them than were counted.
        text: what was found, sentences for people.
        blank: devices on which nothing was found.
        bytes_read: from all devices.
        seconds: how long it took.
        hints: what is written down of these disks: it orders what fits alike, and decides nothing.
        tested: how many geometries were tested without regard to the order.
    """

    outcome: SearchOutcome
    candidates: tuple[SearchCandidate, ...] = ()
    alike: int = 0
    more: bool = False
    text: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    bytes_read: int = 0
    seconds: float = 0.0
    tested: int = 0
    hints: tuple[ArrayHint, ...] = ()

    def evidence_of(self, geometry: RescueGeometry) -> CandidateEvidence:
        """Return what was seen of a geometry, and what no trial of it decides."""
        found = next(
            (each.evidence for each in self.candidates if each.geometry == geometry), CandidateEvidence()
        )
        return msgspec.structs.replace(found, tie=self.tie_of(geometry))

    def tie_of(self, geometry: RescueGeometry) -> str:
        """Return what no trial of a geometry decides, a sentence; "" where nothing else fits as well."""
        best = any(each.best and each.geometry == geometry for each in self.candidates)
        if self.outcome is not SearchOutcome.TIED or not best:
            return ""
        least = "at least " if self.more else ""
        alike = "The only geometry that fits is in doubt"
        if self.alike > 1:
            alike = f"One of {least}{self.alike} geometries that fit alike, not the only one"
        elif self.more:
            alike = "More geometries fitted than could be compared"
        return (
            f"{alike}: a check may find nothing wrong in any of them. Compare the contents of files before"
            " you choose: raidtui rescue try rebuild-superblocks --hashes."
        )
