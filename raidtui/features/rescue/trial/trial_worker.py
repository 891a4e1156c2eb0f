"""The worker of a trial: makes it, judges what stands on it, and takes it down, however that ended."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly
from raidtui.features.rescue.search.members import SearchCancelledError, SearchWatch
from raidtui.features.rescue.search.reshape_progress import Moved, find_progress
from raidtui.features.rescue.search.results import CheckResult, Proof
from raidtui.features.rescue.session_search import OpenMember
from raidtui.features.rescue.trial.kernel_waits import (
    AnswerWatch,
    GivenUpError,
    attend,
    hold_reshape,
    in_flight,
    pass_cut_stripe,
)
from raidtui.features.rescue.trial.trial_checks import Checker, read_store_use
from raidtui.features.rescue.trial.trial_look import (
    FilesFound,
    copy_out,
    files_damaged,
    look_around,
    mount_read_only,
    read_sums,
)
from raidtui.features.rescue.trial.trial_opening import TrialKey
from raidtui.features.rescue.trial.trial_record import (
    TrialOutcome,
    keep_before,
    keep_outcome,
    read_before,
    read_record,
)
from raidtui.features.rescue.trial.trial_sweep import find_taken, let_go
from raidtui.host.block import BLOCK
from raidtui.host.examine import digest_of
from raidtui.host.maps import read_maps
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.key_pipe import take_key
from raidtui.jobs.lock import only_worker
from raidtui.jobs.runner import first_trouble
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job
from raidtui.jobs.trial_writer import TrialWriter
from raidtui.jobs.worker import Worker
from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan

_CANCEL_S = 120.0
"""How long a look may take to end when it is cancelled: a copy has a minute to note how far it is."""
_SAME = frozenset({FactKind.SERIAL, FactKind.APPEARANCE, FactKind.SIZE})


class TrialWorker(Worker):
    """Works on one trial, or takes down what it has left.

    Args:
        reader: the host.
        job: the trial.
        listens: whether it handles signals.
    """

    def __init__(self, reader: HostReader, job: Job, *, listens: bool = True) -> None:
        super().__init__(reader, job, listens=listens)
        self._trial = read_record(job)
        self._moved = ""
        self._unfinished: tuple[str, ...] = ()

    def work(self) -> JobState:
        """Carry out the trial; return the state that it ends in: done also where the answer is no.

        Raises:
            JobError: another job is running, or the trial cannot be read.
        """
        with only_worker(self._job.folder.parent, self._job.id):
            self._listen()
            plan = self._job.plan
            self._job.keep_room()
            self._cancelled |= self._job.note_work()
            typed = take_key(self._job) if self._trial.looks.typed else ""
            try:
                before = keep_before(self._job, attend(lambda: self._digests(plan), self._patience(plan)))
            except GivenUpError as error:
                return self._end(JobState.FAILED, reason=str(error))
            state, reason = self._forward(plan)
            if state is JobState.DONE and (stuck := self._halt()):
                state, reason = JobState.FAILED, stuck
            try:
                top = self._top()
                outcome = attend(lambda: self._outcome(plan, state, reason, typed), self._patience(plan, top))
            except GivenUpError as error:
                proof = Proof(check=CheckResult.NOT_TRIED, sure=f"the trial is void: {error}")
                outcome = TrialOutcome(proof=proof, void=str(error))
            keep_outcome(self._job, replace(outcome, digests=before))
            self._job.note(event="judged", check=outcome.proof.check, text=outcome.proof.sure)
            held = self._trial.looks.hold and state is JobState.DONE and not outcome.void
            if held and not self._cancelled:
                return self._end(JobState.DONE, reason="it stays until raidtui rescue clean")
            self._job.note(event="going back", reason="the trial is over")
            if self._cancelled:
                return self._taken_down(plan, JobState.CANCELLED, "nothing is left of it")
            ended = JobState.FAILED if outcome.void else JobState.DONE
            return self._taken_down(plan, ended, outcome.void)

    def roll_back(self) -> JobState:
        """Take down what is left of the trial; return the state that it ends in.

        Raises:
            JobError: another job is running, or the trial cannot be read.
        """
        with only_worker(self._job.folder.parent, self._job.id):
            self._listen()
            plan = self._job.plan
            self._job.keep_room()
            self._job.note_work(back=True)
            self._job.note(event="going back", reason="requested")
            return self._taken_down(plan, JobState.ROLLED_BACK, "requested")

    def _halt(self) -> str:
        """Halt a reshape where it can be read; return why it does not halt, or ""."""
        made, array = self._trial.request.made, self._trial.names.array
        if not isinstance(made, Assembly) or not self._trial.overlays:
            return ""
        if made.backup and (stuck := hold_reshape(self._reader, array)):
            return stuck
        self._moved, stuck = pass_cut_stripe(self._reader, array)
        return stuck

    def _top(self) -> str:
        """Return the kernel's name of what is looked at."""
        name = self._trial.target.rpartition("/")[2]
        return read_maps(self._reader).get(name, name)

    def _patience(self, plan: Plan, top: str = "") -> Callable[[], str]:
        """Return what says why a look is given up: nothing answers it, or it does not end when it is to.

        A read that waits for a reshape to continue is answered once it does.
        """
        maps = read_maps(self._reader)
        overlays = [maps[name] for name in self._trial.overlays.values() if name in maps]
        watch = AnswerWatch(self._reader, top, (*overlays, *plan.devices))
        asked_s, freed = 0.0, False

        def why_given_up() -> str:
            nonlocal watch, asked_s, freed
            why = watch.silence()
            if self._cancelled and not why:
                asked_s = asked_s or time.monotonic()
                late = time.monotonic() - asked_s >= _CANCEL_S
                why = f"it has not ended within {_CANCEL_S:.0f} s of being cancelled" if late else ""
            if why and top and not freed and self._free():
                freed, watch = True, AnswerWatch(self._reader, top, (*overlays, *plan.devices))
                return ""
            return why

        return why_given_up

    def _free(self) -> bool:
        """Let a reshape pass the stripe that reads wait for; whether there was one."""
        if not self._trial.overlays or not self._trial.names.array:
            return False
        moved, why_not = pass_cut_stripe(self._reader, self._trial.names.array)
        if moved or why_not:
            self._say(moved or why_not)
        return bool(moved)

    def _taken_down(self, plan: Plan, state: JobState, reason: str) -> JobState:
        """Undo all that the trial has made, and compare the members with what they held before."""
        if in_flight(self._reader, self._trial.names.array):
            self._free()
        let_go(self._reader, self._trial.names, self._say)
        if stuck := self._all_undone(plan):
            return self._end(JobState.STUCK, reason=stuck)
        try:
            changed = attend(lambda: self._changed(plan), self._patience(plan))
        except GivenUpError as error:
            return self._end(JobState.FAILED, reason=str(error))
        if changed:
            return self._end(JobState.FAILED, reason=f"{changed} does not read as before the trial")
        return self._end(state, reason=reason)

    def _changed(self, plan: Plan) -> str:
        """Return the members that do not read as before the trial; "" for none."""
        before, now = read_before(self._job) or {}, self._digests(plan)
        return ", ".join(name for name, digest in before.items() if now.get(name, digest) != digest)

    def _digests(self, plan: Plan) -> dict[str, str]:
        """Return the SHA-256 of both ends of each member, and of all of it where that is asked ("sda whole").

        Members that are gone are left out.
        """
        found = {name: digest_of(self._reader, name) for name in plan.devices}
        if self._trial.looks.verify:
            found |= {f"{name} whole": digest_whole(name) for name in plan.devices}
        return {name: digest for name, digest in found.items() if digest is not None}

    def _outcome(self, plan: Plan, state: JobState, reason: str, typed: str) -> TrialOutcome:
        """Judge what the steps have made, or why they could not."""
        trial = self._trial
        if state is not JobState.DONE:
            return self._refused(plan, reason)
        file = trial.looks.key_file
        key = TrialKey(file=file, typed=typed) if file or trial.looks.typed else None
        beside = trial.looks.beside
        checker = Checker(
            self._reader, self._job.folder, trial.names, lambda: self._cancelled, key, beside=beside
        )
        made = trial.request.made
        if isinstance(made, Assembly) and made.external:
            findings = checker.check_volumes(made.external, trial.volumes)
        else:
            findings = checker.check(trial.target)
        proof = findings[0].proof
        if trial.looks.mounts and not self._cancelled:
            proof = self._looked(checker, proof)
        elif proof.check is CheckResult.CLEAN:
            proof = replace(proof, sure=f"{proof.sure}; file contents were not compared")
        if (found := self._how_far()) is not None:
            wrong = proof.check is CheckResult.CLEAN and (found.is_ahead or found.is_mixed)
            check = CheckResult.ERRORS if wrong else proof.check
            proof = replace(proof, check=check, sure=f"{proof.sure}; {found.words}")
        if self._moved:
            proof = replace(proof, sure=f"{proof.sure}; {self._moved}")
        if failed := self._failed_members():
            proof = replace(proof, sure=f"{proof.sure}; md failed {failed} in the trial: read errors")
        return self._unless_void(
            plan, TrialOutcome(proof=proof, findings=findings, said=self._said(trial.start))
        )

    def _how_far(self) -> Moved | None:
        """Return how far a reshape in place has really gone on the members; None where that is not asked."""
        forms = self._trial.forms
        if forms is None:
            return None
        with contextlib.ExitStack() as opened, contextlib.suppress(OSError, SearchCancelledError):
            members: list[OpenMember | None] = []
            for name in forms.order:
                if name is None:
                    members.append(None)
                    continue
                TrialWriter(self._reader).run(
                    "blockdev", "--flushbufs", f"/dev/{name}"
                )  # md writes past the cache
                member = OpenMember(f"/dev/{name}")
                opened.callback(member.close)
                members.append(member)
            return find_progress(forms, members, SearchWatch(cancelled=lambda: self._cancelled))
        return None

    def _refused(self, plan: Plan, reason: str) -> TrialOutcome:
        """A command that is refused is an answer; all else says nothing of what was tried."""
        entries = self._job.entries()
        at = next((each["step"] for each in reversed(entries) if each["event"] == "step failed"), None)
        if self._cancelled or at is None or at < self._trial.start:
            proof = Proof(check=CheckResult.NOT_TRIED, sure=reason)
            return TrialOutcome(proof=proof, void=reason, said="")
        said = self._said(self._trial.start)
        proof = Proof(check=CheckResult.NOT_POSSIBLE, sure=reason)
        return self._unless_void(plan, TrialOutcome(proof=proof, said=said))

    def _unless_void(self, plan: Plan, outcome: TrialOutcome) -> TrialOutcome:
        """Return the outcome, unless a store is full, a member is gone, or someone has cancelled it."""
        used = read_store_use(self._reader, self._trial.overlays)
        same = tuple(fact for step in plan.steps for fact in step.needs if fact.kind in _SAME)
        void = "; ".join(("cancelled", *self._unfinished)) if self._cancelled else ""
        void = void or find_taken(self._reader, self._trial.names, plan.devices)
        void = void or (used if isinstance(used, str) else "")
        void = void or first_trouble(self._reader, same)
        if void:
            proof = Proof(check=CheckResult.NOT_TRIED, sure=f"the trial is void: {void}")
            return replace(outcome, proof=proof, void=void, findings=())
        return replace(outcome, store_sectors=used if isinstance(used, dict) else {})

    def _said(self, number: int) -> str:
        """Return what the tools of a step and of those after it have printed."""
        said, on = "", False
        for entry in self._job.entries():
            if entry["event"] == "begin":
                on = entry.get("step", -1) >= number
                said = "" if entry.get("step") == number else said
            elif entry["event"] == "output" and on:
                said += str(entry.get("text", ""))
            elif entry["event"] in {"step done", "step failed"}:
                on = False
        return said.strip()

    def _failed_members(self) -> str:
        """Return the members that md has failed since the array was started; "" for none."""
        folder = f"{BLOCK}/{self._trial.names.array}/md"
        found = [
            name.removeprefix("dev-")
            for name in self._reader.names(folder)
            if name.startswith("dev-") and "faulty" in (self._reader.text(f"{folder}/{name}/state") or "")
        ]
        return ", ".join(found)

    def _looked(self, checker: Checker, proof: Proof) -> Proof:
        """Mount each file system, and look; return the verdict with what was found."""
        looks, own = self._trial.looks, self._trial.names
        text = ""
        if looks.hashes:
            text = Path(looks.hashes).read_text(encoding="utf-8", errors="surrogateescape")
        words, seen = list[str](), list[FilesFound]()
        for number, (name, (target, kind)) in enumerate(checker.places.items(), start=1):
            place = f"{own.place}/{number}"
            if why := mount_read_only(self._reader, target, kind, place):
                found = FilesFound(why=why)
            else:
                listing = self._job.folder / f"files-{number}.txt"
                found = look_around(place, listing, read_sums(text), lambda: self._cancelled)
                if looks.copy_to:
                    to = f"{looks.copy_to.rstrip('/')}/{number}" if len(checker.places) > 1 else looks.copy_to
                    log = self._job.folder / f"copy-{number}.txt"
                    done, said = copy_out(place, to, log, lambda: self._cancelled, self._say)
                    found = replace(found, copied=done, copy_words=said)
                    self._unfinished += () if done else (said,)
            seen.append(found)
            words.append(f"{name}: {found.words}".removeprefix(": "))
        said = "; ".join(words) or "nothing on it can be mounted"
        if proof.check is CheckResult.CLEAN and not looks.hashes:
            said += "; file contents were not compared"
        check = CheckResult.ERRORS if files_damaged(seen) else proof.check
        return replace(proof, check=check, sure=f"{proof.sure}; {said}")


def digest_whole(name: str) -> str | None:
    """Return the SHA-256 of all of a device; None where it cannot be read."""
    try:
        descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
