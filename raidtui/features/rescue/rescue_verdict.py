"""What can become of an array: the ways back and the causes in one word. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from raidtui.features.rescue.records import STARTS, CauseCode, Need, RescueArray, WayCode
from raidtui.view.units import joined

_STARTS = STARTS - {WayCode.LOOK}
_DOUBTS = frozenset({CauseCode.RECREATED, CauseCode.CHECKSUM, CauseCode.COMPLETE})
_MENDS = frozenset({WayCode.MAP, WayCode.RESTORE_SIZE})


class VerdictCode(StrEnum):
    """What can become of an array, for programs. docs/rescue.md documents each; none changes."""

    RUNNING = "running"
    STARTS = "starts"
    SAVABLE = "savable"
    MEND_FIRST = "mend-first"
    SEARCH = "search"
    NOT_KNOWN = "not-known"
    LOST = "lost"
    NOTHING = "nothing"


class RescueVerdict(Struct, frozen=True, kw_only=True):
    """What can become of an array.

    Args:
        text: with its reason, for people.
    """

    code: VerdictCode
    text: str


def verdict_of(array: RescueArray) -> RescueVerdict:
    """Return what can become of an array by what is here; what comes back can change it."""
    if array.running:
        text = f"It runs, as {array.running}."
        if CauseCode.RECREATED in {each.code for each in array.causes}:
            text += f" If what was there before is wanted, stop it now: mdadm --stop /dev/{array.running}."
        return RescueVerdict(code=VerdictCode.RUNNING, text=text)
    if {each.code for each in array.causes} == {CauseCode.BLANK}:
        return RescueVerdict(code=VerdictCode.NOTHING, text="There is nothing to save.")
    possible = {way.code for way in array.ways if way.possible}
    if WayCode.START in possible and array.needs is Need.NONE:
        return RescueVerdict(code=VerdictCode.STARTS, text="It starts as it is.")
    if possible & _STARTS:
        first = next(way.code for way in array.ways if way.possible and way.code in _STARTS)
        text = f"It can be started ({first}): try that first."
        return RescueVerdict(code=VerdictCode.SAVABLE, text=text)
    if possible & _MENDS:
        names = dict.fromkeys(
            name for way in array.ways if way.possible and way.code in _MENDS for name in way.devices
        )
        text = f"{joined(tuple(names))} must be made whole first: then look again."
        return RescueVerdict(code=VerdictCode.MEND_FIRST, text=text)
    if WayCode.SEARCH in possible:
        left = any(member.superblock is not None for member in array.members)
        doubt = "no superblock says how the data lie"
        if left:
            doubt = "what its superblocks say is in doubt"
            if not {each.code for each in array.causes} & _DOUBTS:
                doubt = "too many members have no superblock, or one that says that they are spares"
        text = f"Only a search can show whether it can be saved: {doubt}."
        return RescueVerdict(code=VerdictCode.SEARCH, text=text)
    if CauseCode.NOT_ENOUGH not in {each.code for each in array.causes}:
        text = (
            "Not known whether it can be saved: there are devices enough that may hold its data, but no"
            " way is known that starts it as it is."
        )
        return RescueVerdict(code=VerdictCode.NOT_KNOWN, text=text)
    if array.silent:
        text = f"Not known whether it can be saved: it is not known what is on {joined(array.silent)}."
        return RescueVerdict(code=VerdictCode.NOT_KNOWN, text=text)
    text = "Lost with what is here: fewer devices than it needs hold its data, all that may counted."
    return RescueVerdict(
        code=VerdictCode.LOST, text=f"{text} It takes what was not found." if array.missing else text
    )
