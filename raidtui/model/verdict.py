"""The verdict on an array: how bad it is, and the word for its state. First frame and screen share it.

Pure, fed with plain values, and without imports that cost time: the first frame is drawn before all else.
``raidtui.monitor.health`` adds sentences and remedies. Findings of severity INFO never change a verdict.
"""

from __future__ import annotations

from raidtui.model.geometry import losses_left, unfilled_slots
from raidtui.model.levels import NO_REDUNDANCY, PARITY_LEVELS

INFO, ATTENTION, DEGRADED, FAILED = 0, 1, 2, 3
"""Severities, as in ``raidtui.model.finding.Severity``."""
HEALTH_WORDS = ("optimal", "attention", "degraded", "failed")
"""By the worst severity. An array of which too little is known is ``unknown`` instead of optimal."""
ROLES = {"optimal": "ok", "unknown": "unknown", "attention": "warn", "degraded": "bad", "failed": "bad"}
"""The role in which a health is drawn."""
_SYNC_WORDS = {"recovery": "recover"}
_ACTIONS = frozenset({"resync", "recover", "check", "repair", "reshape"})


class Condition:
    """What a verdict is made from. What is not known keeps its default.

    Args:
        active: whether the array runs.
        container: whether it is a container with external metadata, which never runs.
        understood: whether its lines in /proc/mdstat are understood.
        stale: whether it cannot be read now.
        level, layout: the kernel's word and number.
        up: mdstat's ``U_UU``; None where it is not printed, or not understood.
        lacking: how many slots have no member in sync, by the count alone: where ``up`` is not known. None:
            neither is known.
        size_kib: the array's size; None where it is not known.
        broken: whether md says so: writes fail.
        faulty: whether a member that is not a journal has failed.
        detached: whether the device of such a member is no longer in the kernel, and md has not noticed.
        detached_slots: the slots that md counts as in sync all the same: see ``Array.detached_slots``.
        journal_lost: whether it has a journal and none of its devices works.
        awaited: slots that a reshape fills with what the array did not have: see ``Array.awaited_slots``.
        frozen: whether ``sync_action`` says so.
        work_waits: whether there is something to sync, recover or reshape and nothing runs.
        sync: resync, recover, check, repair or reshape; "" for none.
        phase: running, delayed, pending, remote or frozen; "" without a sync.
        bad_blocks: whether members in service have bad blocks recorded.
        data_lost: whether some blocks are bad in all copies.
        member_trouble: whether a member that works has errors or is blocked: see ``is_in_trouble``.
        mismatches: what the last check, repair or resync counted.
        last_action: which of these it was; "" where the kernel does not say.
        same_uuid: whether another array has its UUID.
        created_over: whether something older than it was found, while md fills it for the first time.
    """

    __slots__ = (
        "active", "awaited", "bad_blocks", "broken", "container", "created_over", "data_lost", "detached",
        "detached_slots", "faulty", "frozen", "journal_lost", "lacking", "last_action", "layout", "level",
        "member_trouble", "mismatches", "phase", "same_uuid", "size_kib", "stale", "sync", "understood", "up",
        "work_waits",
    )  # fmt: skip

    def __init__(
        self, *, active: bool, container: bool, level: str | None, layout: int | None, up: str | None
    ) -> None:
        self.active = active
        self.container = container
        self.level = level
        self.layout = layout
        self.up = up
        self.lacking: int | None = 0
        self.size_kib: int | None = None
        self.understood = True
        self.stale = False
        self.broken = False
        self.faulty = False
        self.detached = False
        self.detached_slots: tuple[int, ...] = ()
        self.awaited: tuple[int, ...] = ()
        self.journal_lost = False
        self.frozen = False
        self.work_waits = False
        self.sync = ""
        self.phase = ""
        self.bad_blocks = False
        self.data_lost = False
        self.member_trouble = False
        self.mismatches = 0
        self.last_action = ""
        self.same_uuid = False
        self.created_over = False

    @property
    def missing(self) -> tuple[int, ...]:
        """The slots without a member in sync, but for those that a reshape fills, or that are in excess."""
        excess = unfilled_slots(self.level, self.up, int(self.faulty), self.size_kib)
        return tuple(slot for slot in self.not_up if slot not in self.awaited and slot not in excess)

    @property
    def not_up(self) -> tuple[int, ...]:
        """The slots without a member in sync that is there."""
        gone = self.detached_slots
        return tuple(slot for slot, mark in enumerate(self.up or "") if mark != "U" or slot in gone)

    @property
    def losses_left(self) -> int | None:
        """How many more members may fail; negative where too many are gone, None where it is not known."""
        if self.up is None:
            return None
        if self.level == "raid4" and self.awaited:  # a RAID 0 that gets more devices
            return losses_left("raid0", None, len(self.up) - 1, self.missing)
        return losses_left(self.level, self.layout, len(self.up), self.not_up)


def troubles(array: Condition) -> dict[str, int]:
    """Return what is wrong with an array: severities by the finding's code.

    INFO: a member has failed, and it is not known whether its slot is filled; the health is then unknown.
    """
    found: dict[str, int] = {}
    if array.stale and array.understood:
        found["stale"] = ATTENTION
    if not array.active:
        if not array.container:
            found["inactive"] = FAILED
        return found
    left = array.losses_left
    dead = (left is not None and left < 0) or (
        array.level in NO_REDUNDANCY and (array.faulty or array.detached)
    )
    if array.broken or dead:
        redundant = array.level is not None and array.level not in NO_REDUNDANCY
        found["broken" if redundant and left is not None and left >= 0 else "failed"] = FAILED
    if "failed" not in found:
        if array.missing or array.lacking:
            found["degraded"] = DEGRADED
        elif array.faulty:
            found["member-faulty"] = ATTENTION if array.lacking is not None else INFO
        if array.detached:
            found["member-detached"] = DEGRADED if array.detached_slots else ATTENTION
        if array.data_lost:
            found["bad-blocks-lost"] = DEGRADED
        if array.bad_blocks:
            found["bad-blocks"] = ATTENTION
        if array.member_trouble:
            found["member-trouble"] = ATTENTION
    if array.frozen:
        found.update({"frozen-with-work": DEGRADED} if array.work_waits else {"frozen": ATTENTION})
    elif (array.sync, array.phase) == ("reshape", "pending"):
        found["reshape-waits"] = ATTENTION
    if array.journal_lost:
        found["journal-missing"] = DEGRADED
    # A resync and a repair have rewritten what they counted. On mirrors, harmless mismatches are common.
    if array.mismatches and array.level in PARITY_LEVELS and array.last_action not in {"resync", "repair"}:
        found["mismatches"] = ATTENTION
    if array.same_uuid:
        found["same-uuid"] = ATTENTION
    if array.created_over:
        found["created-over"] = ATTENTION
    return found


def health_word(worst: int, *, unread: bool) -> str:
    """Return the word of the worst severity, or ``unknown`` instead of an optimal that is not certain."""
    return "unknown" if unread and worst == INFO else HEALTH_WORDS[worst]


def is_unread(*, active: bool, level: str | None, up: str | None, stale: bool) -> bool:
    """Whether too little of an array is known to call it optimal."""
    redundant = level not in NO_REDUNDANCY and level != "container"
    return stale or (active and (level is None or (redundant and up is None)))


def state(
    health: str, *, active: bool, container: bool, frozen: bool, sync: str, phase: str
) -> tuple[str, str]:
    """Return (role, word) of an array's state: its health, or what md does with it.

    Args:
        health: as ``health_word`` returns it.
        active: as in ``Condition``, as are the others.
        container: a container never runs.
        frozen: whether ``sync_action`` says so.
        sync: "" for none.
        phase: "" without a sync.
    """
    role = ROLES[health]
    if not active:
        return ("ok", "container") if container else ("bad", "inactive")
    if health == "failed":
        return role, health
    if frozen:
        return role, "frozen"
    routine = sync == "check" and role == "ok"  # nothing is wrong, and nothing is being put right
    if phase == "running":
        return ("bad" if role == "bad" else "ok" if routine else "warn"), sync
    if sync and health == "optimal":
        return ("ok" if routine else "warn"), phase
    return role, health


def urgency(role: str, word: str, *, redundant: bool, losses_left: int | None) -> int:
    """Return an array's place in the list by what may be lost, 0 first.

    Lost already; no redundancy left; less redundancy, or writes that fail; what md does not do, or waits
    with; what it does; not known; a check; at rest.

    Args:
        role: as ``state`` returns it.
        word: as ``state`` returns it.
        redundant: whether its level has redundancy.
        losses_left: how many more members may fail; None where it is not known.
    """
    if role == "bad":
        if word in {"failed", "inactive", "stopped"}:
            return 0
        return 1 if redundant and losses_left is not None and losses_left <= 0 else 2
    if role == "warn":
        return 4 if word in _ACTIONS else 3
    return 5 if role == "unknown" else 6 if word in {"check", "delayed", "pending"} else 7


def verdict(array: Condition) -> tuple[str, str]:
    """Return (role, word) of an array's state."""
    unread = is_unread(active=array.active, level=array.level, up=array.up, stale=array.stale)
    return state(
        health_word(max(troubles(array).values(), default=INFO), unread=unread),
        active=array.active,
        container=array.container,
        frozen=array.frozen,
        sync=array.sync,
        phase=array.phase,
    )


def sync_word(printed: str, waiting: str, action: str | None, *, filling: bool = False) -> str:
    """Return the action of a sync: mdstat says resync for a repair, and for whatever is delayed or pending.

    By mdstat alone, what is delayed is a recovery if there is a member to fill (status_resync in md.c prints
    the same for all); else it is "sync": a resync, check or repair.

    Args:
        printed: mdstat's word.
        waiting: PENDING, DELAYED, REMOTE or "".
        action: ``md/sync_action``, where it is known.
        filling: whether mdstat has a member that is to be filled.
    """
    word = _SYNC_WORDS.get(printed, printed)
    if not action and (word, waiting) == ("resync", "DELAYED"):
        return "recover" if filling else "sync"
    if action in _ACTIONS and action is not None and (waiting or (word, action) == ("resync", "repair")):
        return action
    return word


def sync_phase(waiting: str, action: str | None) -> str:
    """Return running, delayed, pending, remote or frozen; the arguments are as for ``sync_word``."""
    phase = waiting.lower() or "running"
    return "frozen" if phase == "pending" and action == "frozen" else phase
