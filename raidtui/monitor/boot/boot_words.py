"""What a boot check has found, in a few sentences: for a page that is about something else."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from raidtui.monitor.boot.boot_reasons import BootCode, DiskVerdict, Reason
from raidtui.monitor.boot.boot_remedies import remedy_of
from raidtui.view.units import joined


def boot_sentences(verdicts: Sequence[DiskVerdict]) -> tuple[str, ...]:
    """Return whether the machine boots without any one of its disks, why not, and what fixes it."""
    if not verdicts:
        return ("It is not known whether the machine boots without any one disk: how it boots is not known.",)
    alone = [each for each in verdicts if _is_alone(each)]
    others = [each for each in verdicts if not _is_alone(each)]
    good = [each.name for each in others if each.boots_without]
    return (
        *((f"The machine boots without {_any_of(good)}.",) if good else ()),
        *_describe_bad(others),
        *_describe_unknown(others),
        *(
            f"Without {each.name} it does not boot: the root file system is on that disk alone."
            for each in alone
        ),
    )


def indispensable(verdicts: Sequence[DiskVerdict]) -> tuple[str, ...]:
    """Return the disks without which the machine does not boot."""
    return tuple(each.name for each in verdicts if each.boots_without is False)


def boots_without_any(verdicts: Sequence[DiskVerdict]) -> bool | None:
    """Whether the machine boots without any one of its disks; None where that is not known."""
    found = {each.boots_without for each in verdicts}
    return False if False in found else None if None in found or not found else True


def _is_alone(verdict: DiskVerdict) -> bool:
    return any(reason.code is BootCode.ROOT_LOST for reason in verdict.reasons)


def _any_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"any one of {joined(list(names))}"


def _by_reason(verdicts: Sequence[DiskVerdict], *, boots: bool | None) -> dict[Reason, list[str]]:
    found: dict[Reason, list[str]] = {}
    for verdict in verdicts:
        if verdict.boots_without is boots:
            for reason in verdict.reasons:
                if reason.boots is boots:
                    found.setdefault(reason, []).append(verdict.name)
    return found


def _describe_bad(verdicts: Sequence[DiskVerdict]) -> Iterator[str]:
    for reason, names in _by_reason(verdicts, boots=False).items():
        yield f"Without {joined(names)} the machine does not boot: {reason.text}.{_plan(reason)}"


def _describe_unknown(verdicts: Sequence[DiskVerdict]) -> Iterator[str]:
    for reason, names in _by_reason(verdicts, boots=None).items():
        words = f"It is not known whether the machine boots without {joined(names)}: {reason.text}."
        yield f"{words}{_plan(reason)}"


def _plan(reason: Reason) -> str:
    remedy, order = remedy_of(reason)
    if order:
        return f" Plan: {shlex.join(('raidtui', *order))}."
    return f" To do: {remedy}." if remedy else ""
