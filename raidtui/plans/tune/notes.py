"""What there is to know of values that are about to be set: what they cost, and who may set them again."""

from __future__ import annotations

from collections.abc import Sequence

from raidtui.model.knob import By, Setting, Subject, Value, same_value
from raidtui.model.knob_table import KNOBS, OUR_FILES
from raidtui.view.units import KIB, binary_size

_PAGE_KIB = 4
_WATCHING = frozenset({By.TUNED, By.TLP, By.AUTO_CPUFREQ, By.POWER_PROFILES})
"""Services that set values again while the host runs."""

Wish = tuple[Subject, str, str]
"""A subject, a knob's name, and the value that it is to have."""


def tune_notes(wishes: Sequence[Wish], *, kept: bool = False) -> tuple[str, ...]:
    """Return notes, a sentence each.

    Args:
        wishes: what is to be set.
        kept: whether it is to be kept, too.
    """
    found: list[str] = []
    knobs = {knob for _, knob, _ in wishes}
    if "scheduler" in knobs and "nr_requests" not in knobs:
        found.append("With a new scheduler the kernel sets nr_requests anew.")
    if any(knob == "queue_depth" and after == "1" for _, knob, after in wishes):
        found.append("A queue depth of 1 turns NCQ off.")
    for subject, knob, after in wishes:
        if knob == "stripe_cache_size" and subject.members:
            memory = binary_size(int(after) * _PAGE_KIB * subject.members * KIB)
            found.append(f"The stripe cache of {subject.title} takes {memory} of memory.")
        if knob == "driver_mode":
            found.append("The processors' governors and limits begin anew with another mode.")
        found += _others(subject, knob, after, subject.values[knob], kept=kept)
    return tuple(dict.fromkeys(found))


def _others(subject: Subject, knob: str, after: str, value: Value, *, kept: bool) -> list[str]:
    found = []
    if not kept and value.kept is not None and not same_value(value.kept, after):
        found.append(
            f"raidtui keeps {knob} of {subject.title} at {value.kept}, which a reboot brings back:"
            " keep the new value, too, if it is to stay."
        )
    for other in value.others:
        if other.ours:
            continue
        if other.by in _WATCHING:
            found.append(f"{other.sentence} sets {knob}, too, and may set it again at any time.")
        elif kept and comes_later(other, knob):
            found.append(f"{other.sentence} sets {knob}, too, later at boot: what it says will stand.")
    return found


def comes_later(other: Setting, knob: str) -> bool:
    """Whether something is done at boot after the file in which raidtui keeps a knob."""
    way = KNOBS[knob].keep
    if way not in OUR_FILES:
        return False
    ours = Setting(by=By(way), where=OUR_FILES[way])
    if other.rank != ours.rank:
        return other.rank > ours.rank
    return other.where.rpartition("/")[2] > ours.where.rpartition("/")[2]
