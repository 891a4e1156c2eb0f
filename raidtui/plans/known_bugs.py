"""Kernels whose md has a known bug that a reshape or a journal can run into, by their version.

A distribution keeps the number of a kernel and fixes it: of its kernels, which have a suffix
(6.1.0-18-amd64), the number does not say what is in them. A bug is a reason to refuse where the number is the
whole of the release; else it is only said.

Sources: the records of the kernel's CVE numbers (git.kernel.org, security/vulns.git), which list for each
stable series the first release that is fixed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from raidtui.model.array import Array
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.survey import Survey

Version = tuple[int, int, int]


class KnownBug(Struct, frozen=True, kw_only=True):
    """A bug of md in some kernels.

    Args:
        number: of the CVE.
        effect: what it does, a clause.
        levels: the arrays that it concerns.
        since: the first release of the main line that has it.
        backported: the first release that has it of older series, by (major, minor).
        fixed: the first fixed release of a stable series, by (major, minor).
        gone: the first release of the main line without it.
        refuses: whether a plan is refused on a kernel that has it.
    """

    number: str
    effect: str
    levels: frozenset[str]
    since: Version
    backported: Mapping[tuple[int, int], int]
    mended: Mapping[tuple[int, int], int]
    gone: Version
    refuses: bool = False

    def has(self, kernel: Version) -> bool:
        """Whether a release of the kernel.org series has it."""
        series, patch = kernel[:2], kernel[2]
        if kernel >= self.gone or (series in self.mended and patch >= self.mended[series]):
            return False
        return kernel >= self.since or patch >= self.backported.get(series, patch + 1)

    def remedy(self, kernel: Version) -> str:
        """Which kernels are without it: of the same series, if there is one, and of the main line."""
        major, minor, _ = kernel
        own = self.mended.get((major, minor))
        later = f"{'.'.join(map(str, self.gone[:2]))} or later"
        return f"boot Linux {major}.{minor}.{own}, or {later}" if own else f"boot Linux {later}"


_PARITY = frozenset(PARITY_LEVELS)
KNOWN_BUGS = (
    KnownBug(
        number="CVE-2024-39476",
        effect="md can deadlock while it writes superblocks, and all I/O with it",
        levels=_PARITY,
        since=(6, 1, 0),
        backported={
            (4, 14): 296,
            (4, 19): 262,
            (5, 4): 220,
            (5, 10): 150,
            (5, 15): 75,
            (5, 19): 17,
            (6, 0): 3,
        },
        mended={(4, 19): 316, (5, 4): 278, (5, 10): 219, (5, 15): 161, (6, 1): 94, (6, 6): 34, (6, 9): 5},
        gone=(6, 10, 0),
        refuses=True,
    ),
    KnownBug(
        number="CVE-2024-43914",
        effect="a reshape that was sent back (--update=revert-reshape) can stop the kernel when it continues",
        levels=_PARITY,
        since=(2, 6, 30),
        backported={},
        mended={(4, 19): 320, (5, 4): 282, (5, 10): 224, (5, 15): 165, (6, 1): 105, (6, 6): 46, (6, 10): 5},
        gone=(6, 11, 0),
    ),
    KnownBug(
        number="CVE-2024-26756",
        effect="an array that was stopped amid a reshape can hang when it is stopped again",
        levels=_PARITY | {"raid10"},
        since=(6, 7, 0),
        backported={},
        mended={(6, 7): 7},
        gone=(6, 8, 0),
    ),
)
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(.*)")


def refuse_known_bugs(survey: Survey, array: Array) -> Refusal | None:
    """Return why an array is not reshaped, or given a journal, by the kernel that runs; or None.

    Args:
        survey: the host.
        array: the array.
    """
    kernel, exact = _release(survey.snapshot.host.kernel)
    bug = next((each for each in _known(array, kernel) if each.refuses), None)
    if bug is None or kernel is None or not exact:
        return None
    return Refusal(
        code=RefusalCode.UNSUPPORTED,
        why=f"Linux {survey.snapshot.host.kernel} has {bug.number}: {bug.effect}",
        remedy=bug.remedy(kernel),
    )


def bug_notes(survey: Survey, array: Array) -> tuple[str, ...]:
    """Return what is known against the kernel that runs, a sentence each.

    Args:
        survey: the host.
        array: the array.
    """
    return tuple(f"{clause}." for _, clause, _ in met_bugs(survey.snapshot.host.kernel, array))


def met_bugs(release: str | None, array: Array) -> tuple[tuple[str, str, bool], ...]:
    """Return the bugs of a kernel that an array can meet: number, a clause, and whether it is certain.

    Args:
        release: of the kernel; None where it is not known.
        array: the array.
    """
    kernel, exact = _release(release)
    has = "has" if exact else "has, unless the distribution has fixed it,"
    return tuple(
        (bug.number, f"Linux {release} {has} {bug.number}: {bug.effect}", exact)
        for bug in _known(array, kernel)
    )


def _known(array: Array, kernel: Version | None) -> tuple[KnownBug, ...]:
    if kernel is None:
        return ()
    return tuple(bug for bug in KNOWN_BUGS if array.level in bug.levels and bug.has(kernel))


def _release(release: str | None) -> tuple[Version | None, bool]:
    """Return the kernel's version, and whether that is the whole of its release."""
    found = _RELEASE.match(release or "")
    if found is None:
        return None, False
    major, minor, patch, suffix = found.groups()
    return (int(major), int(minor), int(patch or 0)), not suffix
