"""What a rescue knows of an array: members, what happened to them, the ways back, the verdict. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from msgspec import Struct, field

from raidtui.host.backup_files import ReshapeBackup
from raidtui.host.surface import Surface
from raidtui.model.survey import Superblock, Survey
from raidtui.view.units import joined


class CauseCode(StrEnum):
    """The condition of an array, for programs. docs/rescue.md documents each; none changes."""

    NOT_ENOUGH = "not-enough"
    READ_ERRORS = "read-errors"
    SPLIT_BRAIN = "split-brain"
    FAILED_TOGETHER = "failed-together"
    TIMEOUT = "timeout-mismatch"
    STALE = "stale"
    RECREATED = "re-created"
    SUPERBLOCK_LOST = "superblock-lost"
    OVERWRITTEN = "overwritten"
    PARTITION_LOST = "partition-table-lost"
    RECOVERY_CUT = "recovery-cut"
    RESHAPE_CUT = "reshape-cut"
    DIRTY_DEGRADED = "dirty-degraded"
    RAID0_LAYOUT = "raid0-layout"
    JOURNAL_LOST = "journal-lost"
    REPLAYED = "log-replayed"
    MISSING = "member-missing"
    SPARE = "spare"
    SMALLER = "device-smaller"
    CHECKSUM = "checksum-wrong"
    BITMAP = "bitmap-damaged"
    BAD_BLOCKS = "bad-blocks"
    CLONE = "clone"
    TWIN = "disk-and-partition"
    DISK = "disk-trouble"
    FOREIGN = "foreign"
    EXTERNAL = "external-metadata"
    BLANK = "blank"
    ONE_BEHIND = "one-event-behind"
    RUNNING = "running"
    COMPLETE = "complete"


class WayCode(StrEnum):
    """A way back, for programs; from harmless to drastic. docs/rescue.md documents each; none changes."""

    COPY = "copy-first"
    BRING_BACK = "bring-back"
    RESTORE_SIZE = "restore-size"
    MAP = "map-partition"
    LOOK = "look"
    START = "start"
    DEGRADED = "start-degraded"
    NO_BITMAP = "start-without-bitmap"
    LAYOUT_ALTERNATE = "layout-alternate"
    LAYOUT_ORIGINAL = "layout-original"
    CONTINUE = "continue-reshape"
    CONTINUE_WITHOUT = "continue-reshape-without-backup"
    REVERT = "revert-reshape"
    TAKE_HALF = "take-half"
    FORCE = "force"
    SEARCH = "search"
    REBUILD = "rebuild-superblocks"


class Presence(StrEnum):
    """How much of a member is there, for programs."""

    WHOLE = "whole"
    STALE = "stale"
    REBUILDING = "rebuilding"
    HALF = "half"
    SPARE = "spare"
    JOURNAL = "journal"
    DUPLICATE = "duplicate"
    UNUSABLE = "unusable"
    SUPERBLOCK_LOST = "superblock-lost"
    BLANK = "blank"


class Need(IntEnum):
    """Whether an array needs a rescue; the exit status of ``raidtui rescue``."""

    NONE = 0
    RESCUE = 1
    TOO_FEW = 2


STARTS = frozenset(
    {
        *(WayCode.START, WayCode.DEGRADED, WayCode.NO_BITMAP, WayCode.TAKE_HALF, WayCode.FORCE),
        *(WayCode.LAYOUT_ALTERNATE, WayCode.LAYOUT_ORIGINAL),
        *(WayCode.LOOK, WayCode.CONTINUE, WayCode.CONTINUE_WITHOUT, WayCode.REVERT),
    }
)
"""The ways that start an array, which names devices."""
RESHAPES = frozenset({WayCode.CONTINUE, WayCode.CONTINUE_WITHOUT, WayCode.REVERT})
_NO_STARTS = frozenset({WayCode.COPY, WayCode.BRING_BACK, WayCode.RESTORE_SIZE})
_HARMLESS = frozenset(
    {
        CauseCode.COMPLETE,
        CauseCode.FOREIGN,
        CauseCode.EXTERNAL,
        CauseCode.BAD_BLOCKS,
        CauseCode.TWIN,
        CauseCode.ONE_BEHIND,
        CauseCode.REPLAYED,
    }
)


class Cause(Struct, frozen=True, kw_only=True):
    """The condition of an array.

    Args:
        text: with its reasons and times, a sentence for people.
        devices: kernel names of the devices that it is about.
    """

    code: CauseCode
    text: str
    devices: tuple[str, ...] = ()


class WayBack(Struct, frozen=True, kw_only=True):
    """A way to get an array back, or a step of one.

    Args:
        text: what is done and what for, a sentence.
        writes: what it writes, a clause; "" for nothing.
        why_not: why mdadm and the kernel would not do it; "" where they would.
        forgives: what it takes for good although it may not be, a clause; "" for nothing.
        devices: kernel names of the devices that it names.
        backup: the path of a reshape's backup file, the old one or a new one; "" for none.
    """

    code: WayCode
    text: str
    writes: str = ""
    why_not: str = ""
    forgives: str = ""
    devices: tuple[str, ...] = ()
    backup: str = field(default="", name="backup_file")

    @property
    def possible(self) -> bool:
        """Whether mdadm and the kernel would do it."""
        return not self.why_not


class RescueMember(Struct, frozen=True, kw_only=True):
    """A device that belongs, or belonged, to an array, or may have.

    Args:
        device: the kernel's name.
        superblock: None where it has none.
        serial: of its disk; "" where it is not known.
        model: of its disk; "" where it is not known.
        size_bytes: None where it is not known.
        start_sectors: where on the device the member begins, if that is not its start.
        same_as: the device of which this one is a copy, or which shows the same superblock; "" for none.
    """

    device: str
    superblock: Superblock | None
    presence: Presence
    serial: str = ""
    model: str = ""
    size_bytes: int | None = None
    start_sectors: int = 0
    same_as: str = ""


class RescueArray(Struct, frozen=True, kw_only=True):
    """An array by the superblocks of its members.

    Args:
        uuid: in mdadm's form 8:8:8:8; None for devices that have no superblock.
        name: as it is stored, "host:name"; "" where none is stored.
        missing: slots of which nothing was found.
        running: the kernel's name of the array where it is assembled; "" where it is not.
        silent: the devices of the host of which it is not known what they hold.
        causes: what is the case, the most important first.
        ways: the ways back, from harmless to drastic.
    """

    uuid: str | None
    name: str
    level: str | None
    members: tuple[RescueMember, ...]
    raid_disks: int | None = None
    missing: tuple[int, ...] = ()
    running: str = ""
    silent: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    ways: tuple[WayBack, ...] = ()

    @property
    def needs(self) -> Need:
        """Whether it needs a rescue."""
        codes = {each.code for each in self.causes}
        if codes == {CauseCode.BLANK}:
            return Need.NONE
        if self.running:
            return Need.RESCUE if CauseCode.RECREATED in codes else Need.NONE
        if not any(way.possible and way.code not in _NO_STARTS for way in self.ways):
            return Need.RESCUE if codes == {CauseCode.EXTERNAL} else Need.TOO_FEW
        return Need.NONE if codes <= _HARMLESS else Need.RESCUE


class MediumState(Surface, frozen=True, kw_only=True):
    """What a device says of itself besides its superblock: what a look at it has found, and its SMART.

    Args:
        dying: what SMART has against the disk, a clause; "" for nothing.
        link: what SMART has against its cable or controller, a clause; "" for nothing.
        smart: whether SMART was read.
        impatience: that the kernel waits for less time than the disk may retry, a clause; "" for nothing.
    """

    dying: str = ""
    link: str = ""
    smart: bool = False
    impatience: str = ""


class MadeCopy(Struct, frozen=True, kw_only=True):
    """A device that a disk was copied to by ``raidtui rescue copy``.

    Args:
        source: the kernel's name of the disk, as it is called now; "" where it is not here any more.
        complete: whether all was tried to its end.
        bad_bytes: how much could not be read; None where the map file is not there.
    """

    source: str
    complete: bool
    bad_bytes: int | None = None


class RescueFacts(Struct, frozen=True, kw_only=True):
    """Everything that a diagnosis is made from.

    Args:
        media: by the kernel's name.
        named: kernel names of the devices that were asked for; () for all.
        backups: files of reshapes, where one of the arrays needs one.
        copies: copies of disks, by the kernel's name of the copy.
        surfaces: the looks at devices that ``media`` is made from.
    """

    survey: Survey
    surfaces: tuple[Surface, ...] = ()
    backups: tuple[ReshapeBackup, ...] = ()
    media: Mapping[str, MediumState] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    copies: Mapping[str, MadeCopy] = field(default_factory=dict)

    @property
    def copied(self) -> frozenset[str]:
        """The devices that have a complete copy here: the work continues with it."""
        return frozenset(copy.source for copy in self.copies.values() if copy.complete and copy.source)

    def medium(self, name: str) -> MediumState:
        """Return what is known of a device."""
        return self.media.get(name) or MediumState(device=name)


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


def judge_array(array: RescueArray) -> RescueVerdict:
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
        return RescueVerdict(code=VerdictCode.STARTS, text="It can start now.")
    if possible & _STARTS:
        first = next(way.code for way in array.ways if way.possible and way.code in _STARTS)
        text = f"It can be started ({first}): try that first."
        return RescueVerdict(code=VerdictCode.SAVABLE, text=text)
    if possible & _MENDS:
        names = dict.fromkeys(
            name for way in array.ways if way.possible and way.code in _MENDS for name in way.devices
        )
        text = f"{joined(tuple(names))} must be repaired first: then look again."
        return RescueVerdict(code=VerdictCode.MEND_FIRST, text=text)
    if WayCode.SEARCH in possible:
        left = any(member.superblock is not None for member in array.members)
        doubt = "no superblock records the data layout"
        if left:
            doubt = "its superblocks are in doubt"
            if not {each.code for each in array.causes} & _DOUBTS:
                doubt = "too many members have no superblock, or one that calls them spares"
        text = f"Only a search can show whether it can be saved: {doubt}."
        return RescueVerdict(code=VerdictCode.SEARCH, text=text)
    if CauseCode.NOT_ENOUGH not in {each.code for each in array.causes}:
        text = (
            "Not known whether it can be saved: enough devices may hold its data, but"
            " there is no known way to start it now."
        )
        return RescueVerdict(code=VerdictCode.NOT_KNOWN, text=text)
    if array.silent:
        text = f"Not known whether it can be saved: the contents of {joined(array.silent)} are not known."
        return RescueVerdict(code=VerdictCode.NOT_KNOWN, text=text)
    text = "Lost with what is here: fewer devices than it needs hold its data, counting all that may."
    return RescueVerdict(
        code=VerdictCode.LOST, text=f"{text} It needs what was not found." if array.missing else text
    )
