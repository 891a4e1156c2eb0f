"""What the diagnosis of each wreck must say, in its codes (docs/rescue.md)."""

from dataclasses import dataclass

_STARTS = "start start-degraded"
_ALL = f"{_STARTS} look force take-half continue-reshape search rebuild-superblocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said of a wreck.

    Args:
        causes: what must be named; more may be.
        ways: the ways back that must be possible; more may be.
        never: those that must not be.
    """

    causes: frozenset[str]
    ways: frozenset[str]
    never: frozenset[str]


def _says(causes: str = "", *, ways: str = "", never: str = "") -> Verdict:
    return Verdict(
        causes=frozenset(causes.split()), ways=frozenset(ways.split()), never=frozenset(never.split())
    )


_LOST = _says("superblock-lost", ways="search", never=f"{_STARTS} force")
_FORCED = _says("stale", ways="force", never=f"{_STARTS} rebuild-superblocks")
_DEGRADED = _says("member-missing", ways="look start-degraded", never="start force rebuild-superblocks")

VERDICTS = {
    **dict.fromkeys(
        (
            *("r5-zero-all", "r5-zero-all-512k", "r5-la-128k", "r5-rs-16k", "r5-ra-32k", "r5-parity-first"),
            *("r5-six", "r5-one-gone", "r5-offset", "r5-part-of-the-disks", "r4", "r6", "r6-one-gone"),
            *("r6-two-gone", "r10-near", "r10-far", "r10-offset", "r0", "r1", "r5-metadata-0.90"),
            *("r5-metadata-1.1", "r5-and-a-spare", "r5-two-blank-two-zeroed"),
            *("gpt-in-md", "xfs-in-md", "luks-in-md"),
        ),
        _LOST,
    ),
    **dict.fromkeys(("r5-metadata-1.0", "lvm-in-md"), _says(never=f"{_STARTS} force")),
    "r5-zero-one": _says("superblock-lost", ways="start-degraded", never="start force"),
    "r5-zero-two": _says("superblock-lost", ways="search", never=f"{_STARTS} force"),
    "r5-zero-three-of-four": _says("superblock-lost", ways="search", never=f"{_STARTS} force"),
    "r5-checksum-two": _says("checksum-wrong", ways="search", never="force"),
    "r5-two-blank": _says("not-enough", never=_ALL),
    "blank-all": _says("", never=_ALL),
    "r5-recreated": _says(""),
    "r5-recreated-missing": _says("re-created", ways="search"),
    "r5-recreated-and-rebuilt": _says(""),
    "r5-recreated-partly-rebuilt": _says("recovery-cut"),
    "r6-recreated-partly-resynced": _says(""),
    "r10-recreated-partly-resynced": _says(""),
    "r5-one-absent": _DEGRADED,
    "r6-two-absent": _DEGRADED,
    "r1-one-absent": _DEGRADED,
    "r5-a-disk-of-another-array": _says("member-missing", ways="look start-degraded", never="force"),
    "r5-ppl-one-absent": _DEGRADED,
    "r5-one-absent-and-dirty": _says("member-missing dirty-degraded", ways="force", never=_STARTS),
    "r0-one-absent": _says("not-enough member-missing", never=_ALL),
    "r10-pair-lost-for-good": _says("not-enough member-missing", never=_ALL),
    "r5-cable-two": _says("failed-together stale", ways="force", never=f"{_STARTS} rebuild-superblocks"),
    "r5-behind-by-one": _says("", ways="start"),
    "r5-behind-by-20": _FORCED,
    "r5-behind-by-20000": _FORCED,
    "r5-one-behind": _says("stale", ways="start", never="force rebuild-superblocks"),
    "r6-three-stale": _FORCED,
    "r10-pair-lost": _FORCED,
    "r5-recovery-cut": _says("recovery-cut", ways="start", never="force rebuild-superblocks"),
    "r5-recovery-cut-one-absent": _says("recovery-cut", never=f"{_STARTS} force"),
    "r5-failed-mid-rebuild": _FORCED,
    "r5-added-as-a-spare": _says("stale spare", ways="force", never=_STARTS),
    "r1-split-brain": _says("split-brain", ways="take-half", never=f"{_STARTS} force"),
    "r1-clone": _says("clone"),
    "r5-of-another-host": _says("foreign", ways="start", never="force rebuild-superblocks"),
    "two-arrays": _says("failed-together stale", ways="force start", never="start-degraded"),
    "reshape-grow-cut": _says("reshape-cut", ways="continue-reshape", never="rebuild-superblocks search"),
    "reshape-grow-member-lost": _says("reshape-cut", never="rebuild-superblocks search start"),
    "r5-journal-lost": _says("journal-lost", ways="force", never=_STARTS),
    "r1-0.90-whole-or-partition": _says("disk-and-partition", ways="start", never="force"),
    "r1-partition-lost": _says("partition-table-lost", ways="map-partition", never=f"{_STARTS} force"),
    "r5-partition-lost-on-one": _says("partition-table-lost", ways="map-partition", never="start force"),
    "r5-shorter-disk": _says("device-smaller", ways="restore-size", never="force"),
    "r0-bad-sectors": _says("read-errors", ways="copy-first"),
    "r5-bad-sectors-one-absent": _says("read-errors member-missing", ways="copy-first", never="force"),
    "r5-bad-block-list": _says("bad-blocks"),
    "ddf": _says("external-metadata", never="force rebuild-superblocks"),
}
"""By the wreck's id."""
