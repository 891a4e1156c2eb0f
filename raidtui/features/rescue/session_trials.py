"""Trials from a front end: where their stores can lie, starting one, what came of it, and the real plan."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from raidtui.features.rescue.mdadm_words import FOLDER, Assembly, Recreation
from raidtui.features.rescue.real_plan import plan_real, writes_members
from raidtui.features.rescue.saved_ends import SavingRoom
from raidtui.features.rescue.search.results import CandidateEvidence
from raidtui.features.rescue.trial.trial_record import (
    ROOM_BYTES,
    TrialLooks,
    TrialMethod,
    TrialOutcome,
    TrialRecord,
    TrialRequest,
    find_trials,
    read_outcome,
    read_record,
)
from raidtui.features.rescue.trial.trials import (
    begin_trial,
    find_trial,
    free_bytes,
    new_ident,
    read_trial_host,
)
from raidtui.host.mounts import mount_of
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.opening import open_root
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import UNDER_WAY, JobState
from raidtui.jobs.store import Job
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.view.units import binary_size

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_WRONG = frozenset({JobState.FAILED, JobState.STUCK})


def saving_room(folder: str = "") -> SavingRoom:
    """Return the folder for the ends of members that are saved, and its room.

    Args:
        folder: an absolute path that was named; "" for the usual one.
    """
    wanted = folder or FOLDER
    if folder and free_bytes(folder) is None:
        return SavingRoom(folder=folder, free_bytes=0, why_not=f"there is no folder {folder}")
    place = wanted
    while (room := free_bytes(place)) is None and place != "/":
        place = place.rpartition("/")[0] or "/"
    return SavingRoom(folder=wanted, free_bytes=room or 0, in_memory=_kind_of(place) in _IN_MEMORY)


def _kind_of(folder: str) -> str:
    """Return the type of the file system that a folder is on."""
    mount = mount_of(open_root("/"), os.path.realpath(folder))
    return mount.kind if mount is not None else ""


class TrialWish(Struct, frozen=True, kw_only=True):
    """What a person wants tried, and how.

    Args:
        label: what it is called.
        store: the folder for what the overlays take; "" where nothing is stored.
        files: whether it is mounted read-only and its files are listed.
        hold: whether it stays mounted until it is taken down.
        verify: whether the members are read in full before and after, and compared.
        passphrase: of what is encrypted; "" for none. It is kept nowhere else.
        evidence: what was seen of what is tried.
    """

    made: Assembly | Recreation
    method: TrialMethod
    label: str
    store: str = ""
    files: bool = False
    hold: bool = False
    verify: bool = False
    passphrase: str = ""
    evidence: CandidateEvidence = CandidateEvidence()

    @property
    def room_bytes(self) -> int:
        """What the stores take at most; 0 where nothing is stored."""
        return ROOM_BYTES * len(self.made.devices) if self.method is TrialMethod.OVERLAYS else 0


class KnownTrial(Struct, frozen=True, kw_only=True):
    """A trial that was started.

    Args:
        title: what it is called.
        runs: whether it has not ended.
        trouble: what went wrong when it was taken down, a clause; "" for nothing.
        left: whether parts of it are still in place after its end: held, or interrupted.
        outcome: what came of it; None where it has not ended.
    """

    job_id: str
    title: str
    runs: bool
    trouble: str = ""
    left: bool = False
    record: TrialRecord
    outcome: TrialOutcome | None

    @property
    def held(self) -> bool:
        """Whether it has ended, and was left mounted because that was asked for."""
        return self.left and self.record.looks.hold and self.outcome is not None

    @property
    def saves_ends(self) -> bool:
        """Whether its plan writes superblocks, and saves the ends of the members before."""
        return writes_members(self.record.request.made)


def trial_rooms(reader: HostReader) -> tuple[tuple[str, int], ...]:
    """Return the folders that are usual for stores, with the free bytes of each."""
    return read_trial_host(reader).rooms


def store_room(folder: str, need_bytes: int) -> tuple[str, int] | str:
    """Return a folder for stores with its free bytes, or why it cannot be used, a clause.

    Args:
        folder: as it was typed.
        need_bytes: what the stores take at most.
    """
    folder = folder.strip()
    if not folder.startswith("/"):
        return "give the folder's full path"
    folder = os.path.realpath(folder)
    free = free_bytes(folder)
    if free is None:
        return f"{folder} is not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} cannot be written to"
    if free < need_bytes:
        return f"{folder} has no room: {binary_size(need_bytes)} are needed, {binary_size(free)} are free"
    return folder, free


def start_trial(reader: HostReader, survey: Survey, wish: TrialWish) -> str | Refusal:
    """Start a trial; return its job's id, or why it cannot be.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    if not reader.live:
        raise JobError("a simulated or captured host cannot be tried")
    request = TrialRequest(
        ident=new_ident(),
        method=wish.method,
        made=wish.made,
        label=wish.label,
        store=wish.store,
        evidence=wish.evidence,
    )
    looks = TrialLooks(files=wish.files, hold=wish.hold, verify=wish.verify)
    job = begin_trial(reader, survey, request, looks, wish.passphrase)
    return job if isinstance(job, Refusal) else job.id


def known_trial(job_id: str) -> KnownTrial:
    """Return a trial.

    Raises:
        JobError: there is none, or it cannot be read.
    """
    return _known(find_trial(job_id))


def last_trial(uuid: str, names: Collection[str]) -> KnownTrial | None:
    """Return the last trial of an array; None where there is none.

    Args:
        uuid: the array's.
        names: kernel names of its devices: a trial of these alone is of it, too.
    """
    for job in reversed(find_trials()):
        try:
            found = _known(job)
        except JobError:
            continue
        made = found.record.request.made
        if made.uuid == uuid or set(made.devices) <= set(names):
            return found
    return None


def open_trial() -> KnownTrial | None:
    """Return the trial that runs, else the last one of which something is left; None for none."""
    found = []
    for job in reversed(find_trials()):
        with contextlib.suppress(JobError):
            found.append(_known(job))
    return next((each for each in found if each.runs), None) or next(
        (each for each in found if each.left), None
    )


def _known(job: Job) -> KnownTrial:
    line = job.line
    record, outcome = read_record(job), read_outcome(job)
    reasons = (str(each.get("reason", "")) for each in reversed(job.entries()) if each["event"] == line.state)
    reason = next(reasons, "")
    wrong = line.state in _WRONG and not (outcome is not None and outcome.void and outcome.void == reason)
    return KnownTrial(
        job_id=job.id,
        title=line.title,
        runs=line.state in UNDER_WAY,
        trouble=(reason or line.state) if wrong else "",
        left=line.state not in UNDER_WAY and Path(record.names.place).exists(),
        record=record,
        outcome=outcome,
    )


def plan_of_trial(survey: Survey, trial: KnownTrial, folder: str = "") -> Plan | Refusal:
    """Return the plan of what a trial has rehearsed, or why there is none.

    Args:
        survey: the host, with the members read just now.
        trial: the trial.
        folder: where the ends of the members are saved, as it was typed; "" for the usual place.
    """
    folder = folder.strip()
    if folder and not folder.startswith("/"):
        why = f"{folder}: give the folder's full path"
        return Refusal(code=RefusalCode.INVALID, why=why, remedy="name another one: e")
    folder = os.path.normpath(folder) if folder else ""
    return plan_real(survey, trial.record, trial.outcome, saving_room(folder), job=trial.job_id)
