"""What the members say of a geometry that a person gives: as a search sees it, without the search."""

from __future__ import annotations

from contextlib import ExitStack

from raidtui.features.rescue.candidate_evidence import CandidateEvidence
from raidtui.features.rescue.proof import RescueGeometry
from raidtui.features.rescue.search.agreement import copy_agreement, parity_agreement
from raidtui.features.rescue.search.limits import SearchWatch
from raidtui.features.rescue.search.logical import LogicalArray
from raidtui.features.rescue.search.mapping import StripeShape, far_stride
from raidtui.features.rescue.search.members import OpenMember
from raidtui.features.rescue.search.ranking import IN_USE
from raidtui.features.rescue.search.samples import take_samples
from raidtui.plans.create.create_request import MISSING
from raidtui.view.units import SECTOR_BYTES

_SEED = 1
_BLIND = "Nothing is left to compare the members with: one that is outdated would not show."


def measured(geometry: RescueGeometry) -> CandidateEvidence:
    """Compare the members of a geometry at random places; nothing is written.

    Raises:
        OSError: a device cannot be opened.
    """
    offset, chunk = geometry.data_offset_sectors * SECTOR_BYTES, geometry.chunk_bytes or SECTOR_BYTES
    with ExitStack() as stack:
        members = {name: OpenMember(f"/dev/{name}", name) for name in geometry.present}
        for member in members.values():
            stack.callback(member.close)
        room = min((member.size_bytes for member in members.values()), default=0) - offset
        size = geometry.size_sectors * SECTOR_BYTES if geometry.size_sectors else room
        slots = len(geometry.order)
        shape = StripeShape(
            level=geometry.level,
            layout=geometry.layout,
            slots=slots,
            chunk_bytes=chunk,
            stride_bytes=far_stride(geometry.layout, slots, chunk, size) if geometry.level == 10 else 0,
        )
        order = [members[name] if name != MISSING else None for name in geometry.order]
        array = LogicalArray(shape, offset, order)
        samples = take_samples(list(members.values()), SearchWatch(), seed=_SEED, first=offset)
        found = parity_agreement(array, samples, offset, 0) or copy_agreement(array, IN_USE, _SEED)
    if found is None:
        blind = MISSING in geometry.order and geometry.level != 0
        return CandidateEvidence(tie=_BLIND if blind else "")
    return CandidateEvidence(
        compared=found.compared, unmatched=found.unmatched, mirrored=geometry.level in {1, 10}
    )
