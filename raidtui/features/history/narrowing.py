"""Which incidents are wanted: by array, by disk, by text, by weight."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from raidtui.features.history.identity import Today, subject_of
from raidtui.features.history.incidents import Incident
from raidtui.features.history.patterns import Weight


class SubjectError(Exception):
    """There is no such array or disk, neither today nor in any line; the message says what there is."""


class Narrowing(Struct, frozen=True, kw_only=True):
    """What is wanted; "" for all.

    Args:
        array: a name, a UUID, or the kernel's name: today's, or one of that boot which is no other array now.
        disk: the kernel's name or a serial number.
        text: contained in the lines, whatever their case.
        troubles: whether only warnings and worse are wanted.
    """

    array: str = ""
    disk: str = ""
    text: str = ""
    troubles: bool = False


def narrowed(incidents: Sequence[Incident], wanted: Narrowing, today: Today) -> tuple[Incident, ...]:
    """Return the incidents that are wanted.

    Raises:
        SubjectError: there is no such array or disk.
    """
    found = list(incidents)
    if wanted.array:
        name = wanted.array.removeprefix("/dev/").removeprefix("md/")
        found = [each for each in found if _about_array(each, name, today)]
        if not found and not _is_array(name, today):
            known = sorted({array.title for array in today.arrays.values()})
            there = f"; there is: {', '.join(known)}" if known else ""
            raise SubjectError(f"neither this host nor its logs have an array {wanted.array}{there}")
    if wanted.disk:
        disk = wanted.disk.removeprefix("/dev/")
        found = [each for each in found if _about_disk(each, disk, today)]
        if not found and disk not in today.serials and disk not in today.serials.values():
            known = sorted(today.serials)
            there = f"; there is: {', '.join(known)}" if known else ""
            raise SubjectError(f"neither this host nor its logs have a disk {wanted.disk}{there}")
    if wanted.troubles:
        found = [each for each in found if each.weight >= Weight.WARNING]
    text = wanted.text.lower()
    return tuple(each for each in found if not text or text in each.search_text().lower())


def _uuid(text: str) -> str:
    return text.replace(":", "").replace("-", "").lower()


def _is_array(name: str, today: Today) -> bool:
    return any(
        name in {array.name, array.title, array.key} or _uuid(name) == _uuid(array.key)
        for array in today.arrays.values()
    )


def _about_array(incident: Incident, name: str, today: Today) -> bool:
    arrays = subject_of(incident, today).arrays
    if any(
        name in {array.name, array.title, array.key} or _uuid(name) == _uuid(array.key) for array in arrays
    ):
        return True
    # The name of then counts where it is not known to have been another array.
    return not arrays and name in incident.arrays


def _about_disk(incident: Incident, name: str, today: Today) -> bool:
    subject = subject_of(incident, today)
    serial = today.serials.get(name, name)
    if name in subject.disks or serial in incident.serials.values():
        return True
    known = {today.serials.get(disk) for disk in subject.disks}
    if serial in known - {"", None}:
        return True
    return name in incident.disks and name not in incident.serials and name in subject.unknown
