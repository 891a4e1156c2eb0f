"""A plan: every step before it happens, what it harms, what must hold before and after, how it is undone."""

from __future__ import annotations

import shlex
from enum import IntEnum, StrEnum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from raidtui.model.fact import Fact, FactKind


class Harm(IntEnum):
    """The danger ladder. Harmless runs at once, with undo; the others are confirmed first."""

    HARMLESS = 0
    REDUCES = 1
    DESTROYS = 2


class _Step(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do"
):
    """What all steps have; ``do`` says in JSON which of the four it is.

    What only some steps have reads as empty here: many places ask any step which tool, file or value is its.

    Args:
        why: a phrase; of a wait a clause: "md copies sda to sde".
        needs: facts that are read again right before.
        awaits: facts that are waited for right before: md may have to end something first, such as the resync
            after a crash.
        proves: facts that must hold afterwards; if they hold already, a resumed job skips the step.
        undo: what puts it back, first to last.
        destroys: whether data that is there is gone after it.
        volatile: whether a reboot takes it back: it is done again where its proofs do not hold and the next
            step that lasts has not been done.
        final: whether there is no way back once its proofs hold: the job is not rolled back any more.
    """

    why: str
    needs: tuple[Fact, ...] = ()
    awaits: tuple[Fact, ...] = ()
    proves: tuple[Fact, ...] = ()
    undo: tuple[Step, ...] = ()
    destroys: bool = False
    volatile: bool = False
    final: bool = False

    @property
    def command(self) -> str:
        """The step as a shell user would type it."""
        raise NotImplementedError

    @property
    def path(self) -> str:
        """The file that it writes or puts in place, or the setting that its tool changes; "" for none."""
        return ""

    @property
    def text(self) -> str:
        """The value that a setting gets; "" where it sets none."""
        return ""

    @property
    def content(self) -> str | None:
        """The new content of a configuration file; None where it puts none in place."""
        return None

    @property
    def argv(self) -> tuple[str, ...]:
        """The tool that it runs, with its arguments; () for none."""
        return ()

    @property
    def stdin(self) -> str:
        """What its tool reads."""
        return ""

    @property
    def until(self) -> tuple[Fact, ...]:
        """Facts that hold when what md does by itself has finished; () where it waits for nothing."""
        return ()

    @property
    def as_long_as(self) -> tuple[Fact, ...]:
        """Facts that hold as long as that can finish."""
        return ()

    @property
    def paces(self) -> str:
        """The array whose reshape the job moves on; "" for none."""
        return ""

    @property
    def waits(self) -> bool:
        """Whether nothing is done: it waits for what md does by itself."""
        return False


class Write(_Step, frozen=True, kw_only=True, tag="write"):
    """One write to a file of the kernel.

    Args:
        path: absolute path of the file.
        text: the text to write.
        identity: (path, text) that must read so right before the write: the array is still the same one.
    """

    path: str
    text: str
    identity: tuple[str, str] | None = None

    @property
    def command(self) -> str:
        """See ``_Step.command``."""
        return f"echo {self.text} > {self.path}"


class PutFile(_Step, frozen=True, kw_only=True, tag="put file"):
    """A configuration file that is put in place whole; the old one is kept beside it.

    Args:
        path: absolute path of the file.
        content: its new content, bytes as characters.
    """

    path: str
    content: str

    @property
    def command(self) -> str:
        """See ``_Step.command``."""
        return f"write {self.path}"


class RunTool(_Step, frozen=True, kw_only=True, tag="run"):
    """A tool that is run.

    Args:
        argv: the tool and its arguments; the tool is looked for in the system's folders.
        stdin: what the tool reads.
        timeout_s: how long the tool may take.
        sets: (path, text) of the setting that the tool changes, and its value; None where it changes none.
        counts: kernel names of members whose discards are counted over the step and reported: a test of TRIM.
        patient: whether a tool that fails is called again for some seconds: udev may have the device open
            at that moment.
        repeats: whether a tool that has succeeded is called again each second until its proofs hold.
        may_fail: whether a failure of the tool is only reported: its proofs are skipped, the plan continues.
        proof_decides: whether a tool that fails has nevertheless done its work where its proofs hold: mdadm
            crashes after it has continued a reshape.
    """

    argv: tuple[str, ...]
    stdin: str = ""
    timeout_s: float = 120.0
    sets: tuple[str, str] | None = None
    counts: tuple[str, ...] = ()
    patient: bool = False
    repeats: bool = False
    may_fail: bool = False
    proof_decides: bool = False

    @property
    def path(self) -> str:
        """The setting that the tool changes; "" for none."""
        return self.sets[0] if self.sets is not None else ""

    @property
    def text(self) -> str:
        """The value that the setting gets; "" for none."""
        return self.sets[1] if self.sets is not None else ""

    @property
    def command(self) -> str:
        """See ``_Step.command``."""
        words = shlex.join(self.argv)
        return f"{words} <<< {shlex.quote(self.stdin)}" if self.stdin else words


class WaitUntil(_Step, frozen=True, kw_only=True, tag="wait"):
    """A wait for what md does by itself. The steps after it are not begun before.

    Args:
        until: facts that hold when it has finished.
        as_long_as: facts that hold as long as it can finish.
        paces: the kernel name of an array whose reshape md halts at ``sync_max``, which the job moves on as
            far as a power cut loses nothing; "" where md needs no limit.
    """

    until: tuple[Fact, ...]
    as_long_as: tuple[Fact, ...] = ()
    paces: str = ""

    @property
    def waits(self) -> bool:
        """See ``_Step.waits``."""
        return True

    @property
    def command(self) -> str:
        """See ``_Step.command``."""
        if any(fact.kind is FactKind.CACHED or "/bcache/" in fact.subject for fact in self.until):
            return "wait until the cache is clean"
        return "wait until md has finished" + (", its sync_max moved on with it" if self.paces else "")


Step: TypeAlias = Write | PutFile | RunTool | WaitUntil
"""One thing that is done, or waited for."""


class Loss(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is on a device now, and is gone after a plan.

    Args:
        device: its kernel name.
        what: its contents, a phrase: the ext4 file system "root".
    """

    device: str
    what: str

    @property
    def sentence(self) -> str:
        """Both in one line."""
        return f"{self.device}: {self.what}"


class Plan(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What will be done.

    Args:
        title: a phrase: "max limit 200 → 500 MB/s".
        subject: the array's label, or "system".
        undo: steps that put things back, first to last.
        warning: what the confirmation says besides the steps.
        losses: data that is lost, by device: file systems, old arrays.
        loss_sentences: the same, a sentence each. It follows from ``losses``.
        notes: what else there is to know, a sentence each.
        grounds: what it rests on, a sentence each, the first the result: what a trial has shown.
        confirm: the word to type before anything is destroyed: the array's name.
        rolls_back: whether a failure in the middle undoes the steps so far.
        stacked: whether each step stands on those before it: a rollback ends at one that cannot be undone.
        devices: kernel names of all devices touched; their superblocks are saved before.
        arrays: kernel names of all arrays touched.
        already: whether what was asked for is so: there are no steps then, and a note says it.
        after: what is to be done by hand once it is done, sentences; its job ends with them.
    """

    title: str
    subject: str
    steps: tuple[Step, ...]
    undo: tuple[Step, ...] = ()
    harm: Harm = Harm.HARMLESS
    warning: str = ""
    losses: tuple[Loss, ...] = ()
    loss_sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    grounds: tuple[str, ...] = ()
    confirm: str = ""
    rolls_back: bool = False
    stacked: bool = False
    devices: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    already: bool = False
    after: str = ""

    def __post_init__(self) -> None:
        if self.losses:
            force_setattr(self, "loss_sentences", tuple(loss.sentence for loss in self.losses))

    @property
    def restores(self) -> bool:
        """Whether undoing it puts back all that it overwrites."""
        return self.rolls_back and not self.losses


class RefusalCode(StrEnum):
    """What kind of refusal it is, for programs. The codes stay as they are; the sentences may change."""

    AMBIGUOUS = "ambiguous"  # what was named may be several
    BUSY = "busy"  # something is under way that must end first
    IN_USE = "in-use"  # mounted, a member, held, named in a file of the system
    INVALID = "invalid"  # what was asked for is not a possible value
    NEEDS_CONFIRMATION = "needs-confirmation"  # data would be gone: its name must be given
    NO_ANSWER = "no-answer"  # who was asked did not answer in time, failed, or said nothing intelligible
    NO_TOOL = "no-tool"  # a program is missing, or too old
    NOT_FOUND = "not-found"  # there is nothing of that name
    NOT_HERE = "not-here"  # a capture, or the demo: it is only looked at
    NOT_REDUNDANT = "not-redundant"  # a member, or what protects against a crash, is still needed
    NOT_ROOT = "not-root"
    NOTHING_TO_DO = "nothing-to-do"  # it is so already
    TAKEN = "taken"  # a name, a number or a place is given to something else
    TOO_SMALL = "too-small"
    UNKNOWN = "unknown"  # the kernel does not say, or it cannot be read
    UNSUPPORTED = "unsupported"  # this level, format or kernel cannot
    WRONG_STATE = "wrong-state"  # inactive, read-only, degraded, frozen, or not what must be ended


class Refusal(Struct, frozen=True, kw_only=True):
    """Why nothing is done, and what would lift that."""

    code: RefusalCode
    why: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """Both in one line."""
        return f"{self.why}; {self.remedy}" if self.remedy else self.why


class NotYetRead(Refusal, frozen=True, kw_only=True):
    """What is on a device is still being read: the refusal is lifted by itself.

    Args:
        device: its kernel name.
    """

    code: RefusalCode = RefusalCode.BUSY
    device: str


class NothingToDo(Refusal, frozen=True, kw_only=True):
    """The request is fulfilled already: there is no plan, and nothing is wrong."""

    code: RefusalCode = RefusalCode.NOTHING_TO_DO

    @property
    def plan(self) -> Plan:
        """The plan without steps that says so, for ``raidtui apply``."""
        return Plan(title="already so", subject="", steps=(), notes=(self.sentence,), already=True)
