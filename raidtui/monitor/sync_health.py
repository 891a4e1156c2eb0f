"""Findings about what md moves: syncs that wait, frozen arrays, reshapes that have halted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.finding import Finding, FindingCode, Severity
from raidtui.model.reshape_words import stands_unguarded, waits_words
from raidtui.view.units import joined

Troubles = Mapping[str, int]
"""Severities by the codes of ``raidtui.model.verdict``."""
_PENDING_WORDS = {
    "auto-read-only": "waits until the first write (auto-read-only)",
    "read-only": "waits until the array is made writable",
    "": "has not started yet",
}


def finding_of(
    array: Array, code: FindingCode, sentence: str, remedy: str = "", *, found: Troubles | None = None
) -> Finding:
    """Return a finding with the severity that the verdict gives its code; INFO where it has none."""
    severity = Severity((found or {}).get(code, Severity.INFO))
    return Finding(
        severity=severity, code=code, subject=array.key, name=array.title, sentence=sentence, remedy=remedy
    )


def judge_sync(array: Array, found: Troubles) -> Iterator[Finding]:
    """Yield the findings about what moves in an array, or waits to."""
    sync = array.sync
    if FindingCode.FROZEN_WITH_WORK in found:
        what = sync.action if sync else "recover"
        text = f"is frozen while a {what} waits: it does not resume by itself"
        yield finding_of(array, FindingCode.FROZEN_WITH_WORK, text, resume_words(array), found=found)
    elif FindingCode.FROZEN in found:
        text = "is frozen: a failed disk would not be rebuilt"
        yield finding_of(array, FindingCode.FROZEN, text, resume_words(array), found=found)
    elif FindingCode.RESHAPE_WAITS in found:
        waits = _PENDING_WORDS[array.read_only] if array.read_only else "does not run"
        text = f"is in the middle of a reshape, which {waits}"
        remedy = f"mdadm --readwrite {array.path}" if array.read_only else ""
        if stands_unguarded(array):
            text = "is at the start of an in-place reshape, and no mdadm saves what moves: a write loses data"
            remedy = (
                f"do not mount it; stop it (mdadm --stop {array.path}), then let it continue with"
                " its backup file: raidtui rescue, or key a"
            )
        elif cut := waits_words(array):
            remedy = f"{remedy or 'let it continue'} before anything reads it. {cut}".removesuffix(".")
        yield finding_of(array, FindingCode.RESHAPE_WAITS, text, remedy, found=found)
    elif sync is not None and sync.phase is Phase.PENDING:
        text, remedy = f"its {sync.action} {_PENDING_WORDS[array.read_only]}", writable_words(array)
        yield finding_of(array, FindingCode.PENDING, text, remedy if array.read_only else "")
    elif sync is not None and sync.phase is Phase.DELAYED:
        yield finding_of(array, FindingCode.DELAYED, f"its {sync.action} waits for another array's")


def judge_awaited(array: Array) -> Finding:
    """Return the finding about slots whose redundancy only comes with the end of a reshape."""
    if not array.as_raid4:
        names = [member.name for member in array.members if member.slot in array.awaited_slots]
        text = f"gains redundancy by this reshape: {joined(names)} holds parity once it ends"
        return finding_of(array, FindingCode.PARITY_AWAITED, text)
    text = "is a RAID 0 that md shows as a raid4 without its parity device while it gets more devices"
    remedy = "do not pause it: mdadm takes that for the end, and fails the new members"
    if array.reshape is None:
        text = "is a RAID 0 that got more devices, and md still shows it as a raid4 without its parity device"
        remedy = f"mdadm makes it a raid0 again; if it no longer runs: mdadm --grow {array.path} -l 0"
    return finding_of(array, FindingCode.PHANTOM_PARITY, text, remedy)


def writable_words(array: Array) -> str:
    """Return how what waits for the first write starts."""
    return f"raidtui plan read-write {array.title} makes it writable"


def resume_words(array: Array) -> str:
    """Return how a frozen array continues."""
    return f"resume it: p in the console, or mdadm --action=idle {array.path}"
