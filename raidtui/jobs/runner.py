"""Carries out the steps of a plan. What a step needs is read again before it, what it proves after it.

``run_plan`` runs a plan of plain writes at once. Jobs (``raidtui.jobs.worker``) do each step with ``do_step``
and keep their own journal.
"""

from __future__ import annotations

import errno
import re
import time
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from raidtui.host.diskstats import read_discards
from raidtui.host.facts import why_not
from raidtui.host.md.array_names import canonical_uuid, read_uuid
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput
from raidtui.jobs.host_writer import HostWriter, replace_file
from raidtui.jobs.journal import Journal
from raidtui.model.fact import Fact
from raidtui.model.knob import same_value
from raidtui.model.plan import Plan, PutFile, RunTool, Step, WaitUntil, Write
from raidtui.view.units import SECTOR_BYTES, binary_size


class PlanOutcome(Struct, frozen=True, kw_only=True):
    """How a plan ended. ``failed`` is the step that failed; the steps after it were not tried."""

    plan: Plan
    done: tuple[Step, ...]
    failed: Step | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """What was done, or why it was not, in one line."""
        if self.failed is None:
            return self.plan.title
        return f"not done: {self.reason} ({self.plan.title}; {self._where})"

    @property
    def _where(self) -> str:
        """What failed: a tool's command, or the file that was written to."""
        if self.failed is None:
            return ""
        return self.failed.command if self.failed.argv else self.failed.path


def run_plan(reader: HostReader, plan: Plan, journal: Journal) -> PlanOutcome:
    """Carry out a plan. The identity of the array is read again before each write."""
    done: list[Step] = []
    for step in plan.steps:
        reason = do_step(reader, step, lambda _: None)
        journal.note(
            subject=plan.subject, plan=plan.title, wrote=step.text, path=step.path, error=reason or None
        )
        if reason:
            return PlanOutcome(plan=plan, done=tuple(done), failed=step, reason=reason)
        done.append(step)
    return PlanOutcome(plan=plan, done=tuple(done))


def undo_of(plan: Plan, steps: Iterable[Step] | None = None) -> Plan | None:
    """Return the plan that undoes ``plan``, or None if nothing can."""
    undo = tuple(steps) if steps is not None else plan.undo
    if not undo:
        return None
    return Plan(title=f"undone: {plan.title}", subject=plan.subject, steps=undo, undo=plan.steps)


_MEANINGS = {
    errno.EBUSY: "the kernel is busy with another sync action",
    errno.EINVAL: "the kernel refuses this value",
    errno.EACCES: "permission denied: needs root",
    errno.EPERM: "permission denied: needs root",
    errno.ENOENT: "the file is not there: the array was stopped, or its level has none",
    errno.ENODEV: "the array was stopped meanwhile",
    errno.EROFS: "a captured tree is never written to",
}
_BEYOND_MD = {
    errno.EBUSY: "the kernel is busy, or another setting prevents it",
    errno.ENOENT: "the file is not there: the device is gone, or has no such setting",
    errno.ENODEV: "the device is gone",
}
_USAGE_LINES = 8
_PROOF_S = 15.0
_PROOF_PACE_S = 0.05
_REPEAT_S = 1.0
_COUNT_S = 2.0
_PATIENCE_S = 15.0

Say = Callable[[str], None]
"""Receives the output of a tool."""


def holds(reader: HostReader, facts: tuple[Fact, ...]) -> bool:
    """Whether all facts hold."""
    return not any(why_not(reader, fact) for fact in facts)


def first_trouble(reader: HostReader, facts: tuple[Fact, ...]) -> str:
    """Return the reason of the first fact that does not hold, or ""."""
    return next((reason for fact in facts if (reason := why_not(reader, fact))), "")


def do_step(
    reader: HostReader, step: Step, say: Say, *, backup: str = "", missed: Callable[[], None] | None = None
) -> str:
    """Do a step; return why it failed, or "".

    Args:
        reader: the host.
        step: the step.
        say: receives the output of tools.
        backup: the suffix for the old version of a configuration file.
        missed: called where a step has failed that may fail.
    """
    if reason := first_trouble(reader, step.needs):
        return reason
    match step:
        case RunTool():
            return _do_run(reader, step, say, missed)
        case PutFile() if reader.source:
            reason = "a simulated or captured host has no files here"
        case PutFile():
            reason = replace_file(step.path, step.content, backup)
        case Write():
            reason = _write(reader, step)
        case WaitUntil():
            reason = ""
    return reason or _wait_for(reader, step.proves)


def _do_run(reader: HostReader, step: RunTool, say: Say, missed: Callable[[], None] | None) -> str:
    """RunTool a tool, again where the step says so; return why it failed, or ""."""
    reason = _run(reader, step, say)
    end_s = time.monotonic() + _PATIENCE_S
    while reason and step.patient and time.monotonic() < end_s and holds(reader, step.needs):
        HostWriter(reader).run("udevadm", "settle", "--timeout=5")
        time.sleep(_PROOF_PACE_S)
        reason = _run(reader, step, say)
    if reason and step.may_fail:
        if not step.counts:  # with counters, their result is the output
            say(f"{reason}; the plan continues, since this step may fail")
        if missed is not None:
            missed()
        return ""
    if reason and step.proof_decides and step.proves and not _wait_for(reader, step.proves):
        say(f"{reason}; its result is there nevertheless")
        return ""
    if step.repeats and not reason:
        return _wait_for(reader, step.proves, again=lambda: _run(reader, step, say))
    return reason or _wait_for(reader, step.proves)


def is_same_subject(reader: HostReader, step: Step) -> bool:
    """Whether a name still belongs to the disk or array that a step was planned for."""
    if isinstance(step, Write) and step.identity is not None:
        path, uuid = step.identity
        if read_uuid(reader, path.removesuffix("/uuid")) != canonical_uuid(uuid):
            return False
    return holds(reader, step.needs)


def reads_so(reader: HostReader, step: Step) -> bool:
    """Whether a file of the kernel already has the value that a step writes, for the same array."""
    if not isinstance(step, Write) or not step.text or not is_same_subject(reader, step):
        return False
    text = (reader.text(step.path) or "").strip()
    chosen = text.partition("[")[2].partition("]")[0]  # none [mq-deadline]
    number, _, whose = text.partition(" ")  # 200000 (system)
    found = (chosen,) if chosen else (text, number, whose.strip("()"))
    return any(same_value(each, step.text) for each in found)


def _write(reader: HostReader, step: Write) -> str:
    if step.identity is not None:
        path, wanted = step.identity
        found = read_uuid(reader, path.removesuffix("/uuid"))
        if found is None or found != canonical_uuid(wanted):
            return "another array has this name now" if found else "the array is gone"
    try:
        HostWriter(reader).write(step.path, step.text)
    except OSError as error:
        return _meaning(reader, error, step.path)
    return ""


def _meaning(reader: HostReader, error: OSError, path: str) -> str:
    code = error.errno or 0
    if code == errno.EROFS and reader.live:
        return f"{'/'.join(path.split('/')[:2])} is mounted read-only here, as in a container"
    known = _MEANINGS if "/md/" in path else _MEANINGS | _BEYOND_MD
    return known.get(code) or error.strerror or str(error)


def _run(reader: HostReader, step: RunTool, say: Say) -> str:
    before = read_discards(reader, step.counts)
    output = HostWriter(reader).run(*step.argv, timeout_s=step.timeout_s, stdin=step.stdin)
    for text in (output.stdout, output.stderr):
        if text:
            say(text)
    if step.counts:
        say(trial_sentence(output, _discarded(reader, step, before, patient=output.status == 0)))
    if output.why_not:
        return output.why_not
    if output.status != 0:
        lines = (output.stderr.strip() or output.stdout.strip()).split("\n")
        said = lines[-1] if len(lines) < _USAGE_LINES else lines[0]  # more lines are the tool's usage
        return f"{step.argv[0]} failed ({output.status})" + (f": {said}" if said else "")
    return ""


def _discarded(reader: HostReader, step: RunTool, before: dict[str, int], *, patient: bool) -> dict[str, int]:
    """Return the discards since ``before``. They may end after the tool, so this waits for the first one."""
    end_s = time.monotonic() + _COUNT_S
    while True:
        found = discarded(before, read_discards(reader, step.counts))
        if not patient or any(found.values()) or not found or time.monotonic() >= end_s:
            return found
        time.sleep(_PROOF_PACE_S)


def _wait_for(reader: HostReader, facts: tuple[Fact, ...], again: Callable[[], str] | None = None) -> str:
    """Wait until the host shows the result of a step; the kernel and udev may need a moment.

    Args:
        reader: the host.
        facts: the result.
        again: runs the step's tool once more, each second; returns why it failed, or "".
    """
    end_s = time.monotonic() + _PROOF_S
    next_s = time.monotonic() + _REPEAT_S
    while reason := first_trouble(reader, facts):
        if time.monotonic() >= end_s:
            return f"the step ran, but {reason}"
        if again is not None and time.monotonic() >= next_s:
            if failed := again():
                return failed
            next_s = time.monotonic() + _REPEAT_S
        time.sleep(_PROOF_PACE_S)
    return ""


_NOTHING = re.compile(r"\(0 bytes\) trimmed")


def discarded(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return the sectors that each device discarded in between. Devices without a counter are left out."""
    return {name: max(0, count - before[name]) for name, count in after.items() if name in before}


def trial_sentence(output: ToolOutput, members: Mapping[str, int]) -> str:
    """Return a sentence on whether TRIM reaches the members.

    Args:
        output: of the tool: ``/srv: 1.1 GiB (1181116006 bytes) trimmed``, or an error.
        members: the sectors that each member discarded meanwhile. They are right where fstrim is wrong:
            kernels after 6.12 let raid456 report success and drop the discards.
    """
    lines = (output.stdout.strip() or output.stderr.strip() or output.why_not).split("\n")
    said = f'{output.argv[0]} says "{lines[-1].removeprefix(f"{output.argv[0]}: ")}"'
    total = sum(members.values())
    if total:
        deaf = sorted(name for name, count in members.items() if not count)
        much = f"the members discarded {binary_size(total * SECTOR_BYTES)}"
        if deaf:
            return f"{much}, but {', '.join(deaf)} discarded nothing: TRIM passes in part"
        return f"{much}: TRIM passes"
    if not members:
        return f"{said}; nothing more is known, since the members' discards are not counted"
    if output.status == 0 and _NOTHING.search(output.stdout):
        return f"{said}: there was nothing to trim, so it is not known whether TRIM passes"
    conjunction = "but" if output.status == 0 else "and"
    return f"{said}, {conjunction} the members discarded nothing: TRIM does not pass"
