"""What a search is given and gives: geometries, what speaks for them, and what is written down. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.geometry import MISSING
from raidtui.view.units import joined


class RescueGeometry(Struct, frozen=True, kw_only=True):
    """How an array may have been laid out over its members.

    Args:
        level: 0, 1, 4, 5, 6 or 10.
        layout: mdadm's word: left-symmetric, n2; "" where the level has none.
        chunk_bytes: 0 for RAID 1.
        data_offset_sectors: where the data begin on each member, 512-byte sectors.
        order: kernel names of the devices by slot, or "missing".
        metadata: the version that is written where superblocks are made again: 1.2, 1.1, 1.0, 0.90.
        size_sectors: how much of each member holds data; None: all that fits.
    """

    level: int
    order: tuple[str, ...]
    layout: str = ""
    chunk_bytes: int = 0
    data_offset_sectors: int = 0
    metadata: str = "1.2"
    size_sectors: int | None = None

    @property
    def present(self) -> tuple[str, ...]:
        """The devices, without the slots that are empty."""
        return tuple(name for name in self.order if name != MISSING)


class CheckResult(StrEnum):
    """How a check of what stands on an array ended, for programs. None changes."""

    CLEAN = "clean"  # the check found nothing wrong
    ERRORS = "errors"  # it found errors
    NO_FILE_SYSTEM = "no-file-system"  # nothing is there that could be checked
    NOT_POSSIBLE = "not-possible"  # mdadm or the kernel refuses these members, or this geometry
    NOT_TRIED = "not-tried"  # not tried, or the trial was interrupted: says nothing


class Proof(Struct, frozen=True, kw_only=True):
    """What a trial says.

    Args:
        contents: what stands on it: ext4, xfs, btrfs, LVM2_member, crypto_LUKS, gpt, dos; "" for nothing.
        sure: how sure that is, and why: a sentence.
    """

    check: CheckResult
    contents: str = ""
    sure: str = ""


class LeftOut(Struct, frozen=True, kw_only=True):
    """What is read where one member is left out, and rebuilt from the others or read from its copies.

    Args:
        device: the member.
        against: rows, or blocks with copies, that P and Q or most copies say it is wrong in.
        good: blocks that are right without it.
        bad: blocks that are wrong without it.
        unmatched: rows or copies that disagree without it; None where nothing is left to compare.
    """

    device: str
    against: int = 0
    good: int = 0
    bad: int = 0
    unmatched: int | None = None

    @property
    def words(self) -> str:
        """What it shows, a clause."""
        said = f"without {self.device} {self.bad} of {self.good + self.bad} blocks are wrong"
        if self.unmatched is not None:
            said += f", and {self.unmatched or 'no'} sampled rows disagree"
        return said


class CandidateEvidence(Struct, frozen=True, kw_only=True):
    """What was seen of a candidate. It goes with it through trial, proof and plan.

    Args:
        good: blocks of what stands on it that are right; 0 where none were read.
        bad: blocks that are not.
        compared: rows with parity, or blocks with copies, that were compared; 0: nothing could be.
        unmatched: how many of them disagree.
        mirrored: whether it is copies that were compared, not parity.
        left_out: what is read without each member, where members disagree.
        spared: the member that it leaves out for that, where nothing shows that this one is outdated.
        tie: what no trial decides between it and others, a sentence; "" for nothing.
        behind: how old the superblocks of members are that are not the newest, clauses.
    """

    good: int = 0
    bad: int = 0
    compared: int = 0
    unmatched: int = 0
    mirrored: bool = False
    left_out: tuple[LeftOut, ...] = ()
    spared: str = ""
    tie: str = ""
    behind: tuple[str, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """What remains in doubt whatever a check of the file system says, sentences."""
        found = [self.tie] if self.tie else []
        without = f": {'; '.join(each.words for each in self.left_out)}" if self.left_out else ""
        if self.spared:
            found.append(
                f"A clean check is not enough here: members disagree, and nothing shows that {self.spared},"
                f" which is left out, is the outdated one{without}. Compare file contents, leaving"
                " out each member in turn."
            )
        elif self.unmatched:
            what = "copies" if self.mirrored else "parity"
            found.append(
                f"A clean check is not enough here: {what} did not match in {self.unmatched} of"
                f" {self.compared} sampled places, so a member may be outdated, and files"
                f" with it{without}. Compare file contents, leaving out each member in turn."
            )
        if self.behind:
            found.append(
                f"By the superblocks, {joined(list(self.behind))}: what was written since is missing."
            )
        return tuple(found)


class SearchOutcome(StrEnum):
    """How a search ended, for programs. docs/rescue.md documents each; none changes."""

    UNIQUE = "unique"
    TIED = "tied"
    IMPOSSIBLE = "impossible"
    NOTHING = "nothing"


class ArrayHint(Struct, frozen=True, kw_only=True):
    """What is written down of an array. What is None, "" or () is not.

    Args:
        source: where, for people: black box of 2026-11-22 13:05 (job 20261122-130501-stop).
        uuid: the array's.
        name: the array's, without the host.
        slots: by kernel name, as disks are called now, the slot that each had.
        raid_disks: the number of slots.
        chunk_bytes: 0 for none.
        data_offset_sectors: as the newest superblock had it.
    """

    source: str
    uuid: str = ""
    name: str = ""
    slots: Mapping[str, int] = {}
    raid_disks: int | None = None
    level: str = ""
    layout: str = ""
    chunk_bytes: int | None = None
    data_offset_sectors: int | None = None
    metadata: str = ""

    @property
    def order(self) -> tuple[str, ...]:
        """Kernel names by slot, or "missing"; () where no slot is known."""
        if not self.slots:
            return ()
        count = max(self.raid_disks or 0, max(self.slots.values()) + 1)
        by_slot = {slot: name for name, slot in self.slots.items()}
        return tuple(by_slot.get(slot, MISSING) for slot in range(count))

    @property
    def words(self) -> str:
        """All of it, a sentence."""
        known = [
            self.level,
            f"{self.raid_disks} slots" if self.raid_disks else "",
            self.layout,
            f"chunk {self.chunk_bytes >> 10} KiB" if self.chunk_bytes else "",
            f"data offset {self.data_offset_sectors} sectors" if self.data_offset_sectors is not None else "",
            *(
                f"{name} was slot {slot}"
                for name, slot in sorted(self.slots.items(), key=lambda each: each[1])
            ),
        ]
        what = f"the array {self.name}" if self.name else f"the array {self.uuid}"
        return f"{self.source}: {what}: {', '.join(filter(None, known)) or 'nothing more'}."


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
            alike = f"One of {least}{self.alike} geometries that fit equally, not the only one"
        elif self.more:
            alike = "More geometries fitted than could be compared"
        return (
            f"{alike}: a check may find nothing wrong in any of them. Compare file"
            " contents before you choose: raidtui rescue try rebuild-superblocks --hashes."
        )


def order_by_hints(result: SearchResult, hints: tuple[ArrayHint, ...]) -> SearchResult:
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
    return max(count_agreements(shape, hint) for shape in shapes for hint in hints)


def _noted(candidate: SearchCandidate, hints: tuple[ArrayHint, ...]) -> SearchCandidate:
    fits = next((hint for hint in hints if _is_as(candidate.geometry, hint)), None)
    if fits is None:
        return candidate
    return replace(candidate, notes=(*candidate.notes, f"It is as in {fits.source}, which proves nothing."))


def count_agreements(geometry: RescueGeometry, hint: ArrayHint) -> int:
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
        and count_agreements(geometry, hint) >= len(hint.slots) + 2
    )
