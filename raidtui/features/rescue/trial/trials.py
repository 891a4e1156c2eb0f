"""Trials from a front end: what a host has for one, beginning one, its outcome, and cleaning."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly, Recreation
from raidtui.features.rescue.search.results import CandidateEvidence, CheckResult, Proof, RescueGeometry
from raidtui.features.rescue.trial.trial_look import refuse_target
from raidtui.features.rescue.trial.trial_members import make_array_table
from raidtui.features.rescue.trial.trial_plan import TrialPlan, plan_trial
from raidtui.features.rescue.trial.trial_record import (
    MOST_VOLUMES,
    ROOMS,
    TrialHost,
    TrialLooks,
    TrialMethod,
    TrialOutcome,
    TrialRequest,
    find_trials,
    make_trial,
    read_outcome,
)
from raidtui.features.rescue.trial.trial_sweep import find_remains, sweep
from raidtui.features.rescue.trial.trial_worker import TrialWorker
from raidtui.host.block import BLOCK
from raidtui.host.maps import read_loops
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.trial_traces import PREFIX, read_array_rules
from raidtui.jobs.job_kinds import TRIAL_FILE
from raidtui.jobs.key_pipe import hand_over, make_pipe, remove_pipe
from raidtui.jobs.lock import JobError
from raidtui.jobs.spawn import cancel, follow, refuse_busy, start_worker
from raidtui.jobs.states import JobState
from raidtui.jobs.store import Job, find_job, jobs_folder
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.survey import Survey
from raidtui.plans.whole import MARGIN_EVENTS
from raidtui.view.units import SECTOR_BYTES, counted
from raidtui.watch.storage import new_uuid

_FIRST_ARRAY, _FIRST_LOOP, _MOST_LOOPS = 300, 64, 512


def new_ident() -> str:
    """Return letters for a new trial."""
    return secrets.token_hex(3)


def read_trial_host(reader: HostReader, store: str = "") -> TrialHost:
    """Return what a host has for a trial.

    Args:
        reader: the host.
        store: the folder that was named for the stores; "" for those that are usual.
    """
    loops = {int(name.removeprefix("loop")): file for name, file in read_loops(reader).items()}
    free = sorted((number for number, file in loops.items() if not file), reverse=True)
    more = [number for number in range(_FIRST_LOOP, _MOST_LOOPS) if number not in loops]
    taken = set(reader.names(BLOCK))
    array = next(
        f"md{number}"
        for number in range(_FIRST_ARRAY, 1 << 20)
        if not taken & {f"md{number + more}" for more in range(MOST_VOLUMES + 1)}
    )
    rooms = [(folder, free_bytes(folder)) for folder in ((store,) if store else ROOMS)]
    return TrialHost(
        loops=tuple(free + more),
        array=array,
        rooms=tuple((folder, room) for folder, room in rooms if room is not None),
        array_rules=read_array_rules(reader),
    )


def free_bytes(folder: str) -> int | None:
    """Return the free bytes of a folder's file system; None where there is no such folder."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize if os.path.isdir(folder) else None  # noqa: PTH112


def find_trial(name: str) -> Job:
    """Return the trial with this ID, or with a unique prefix or suffix of it.

    Raises:
        JobError: there is none, or more than one.
    """
    job = find_job(name)
    if not (job.folder / TRIAL_FILE).is_file():
        raise JobError(f"job {job.id} is not a trial: raidtui jobs attach {job.id}")
    return job


def make_trial_job(reader: HostReader, made: TrialPlan, looks: TrialLooks) -> Job:
    """Write a trial to disk as a new job, which is not started.

    Raises:
        JobError: it cannot be written; nothing was started.
    """
    job = Job.create(made.plan, host=reader.hostname or "")
    try:
        make_trial(job, replace(made.record, looks=looks))
    except OSError as error:
        job.discard()
        raise JobError(f"the trial cannot be written: {error.strerror}; nothing was started") from error
    return job


def begin_trial(
    reader: HostReader, survey: Survey, request: TrialRequest, looks: TrialLooks, passphrase: str = ""
) -> Job | Refusal:
    """Plan a trial, make a job of it and start its worker.

    Args:
        reader: the host.
        survey: it, with the members.
        request: what is tried.
        looks: what is looked at.
        passphrase: of what is encrypted, which only the worker gets; "" for none.

    Raises:
        JobError: another job is running, or this one cannot be kept.
    """
    if looks.copy_to and (why := refuse_target(looks.copy_to, f"/run/{PREFIX}")):
        return Refusal(code=RefusalCode.INVALID, why=why, remedy="name another folder: --copy-to FOLDER")
    if looks.key_file and not os.access(looks.key_file, os.R_OK):
        return Refusal(code=RefusalCode.INVALID, why=f"the key {looks.key_file} cannot be read")
    seen = replace(request.evidence, behind=say_ages(survey, request.made))
    request = replace(request, evidence=seen)
    made = plan_trial(survey, read_trial_host(reader, request.store), request)
    if isinstance(made, Refusal):
        return made
    refuse_busy(jobs_folder())
    job = make_trial_job(reader, made, replace(looks, typed=bool(passphrase)))
    try:
        if passphrase:
            make_pipe(job)
        start_worker(job)
    except OSError as error:
        job.discard()
        raise JobError(
            f"the passphrase cannot be handed over: {error.strerror}; nothing was started"
        ) from error
    except JobError:
        job.discard()
        raise
    if passphrase:
        hand_over(job, passphrase)
    return job


def say_ages(survey: Survey, made: Assembly | Recreation) -> tuple[str, ...]:
    """Return which members are older than the newest of their array by their superblocks, a clause each."""
    if isinstance(made, Recreation):
        return ()
    found = {
        name: device.superblock.events or 0
        for name, device in survey.devices.items()
        if device.superblock is not None and device.superblock.uuid == made.uuid
    }
    newest = max(found.values(), default=0)
    return tuple(
        f"{name} is {counted(newest - found[name], 'event')} behind"
        for name in made.devices
        if name in found and newest - found[name] > MARGIN_EVENTS
    )


def await_trial(job: Job, *, since: int = 0) -> TrialOutcome | None:
    """Wait until a trial has ended; return what came of it, None where it was interrupted."""
    for _ in follow(job, since=since):
        pass
    return read_outcome(job)


def prove(reader: HostReader, survey: Survey, geometry: RescueGeometry, evidence: CandidateEvidence) -> Proof:
    """Try a geometry, by the device mapper where it can, else on overlays; return what that proves.

    Args:
        reader: the host.
        survey: it, with the members.
        geometry: what is tried.
        evidence: what was seen of it.

    Raises:
        JobError: another job is running, or a job cannot be kept.
    """
    recreation = Recreation(geometry=geometry, uuid=new_uuid(), name="trial", homehost="rescue")
    why = ""
    for method in list_methods(geometry):
        request = TrialRequest(
            ident=new_ident(), method=method, made=recreation, label="a geometry", evidence=evidence
        )
        job = begin_trial(reader, survey, request, TrialLooks())
        if isinstance(job, Refusal):
            why = job.sentence
            continue
        outcome = await_trial(job)
        if outcome is None:
            return Proof(check=CheckResult.NOT_TRIED, sure=f"the trial {job.id} was interrupted")
        return outcome.proof
    return Proof(check=CheckResult.NOT_TRIED, sure=why)


def list_methods(geometry: RescueGeometry) -> tuple[TrialMethod, ...]:
    """Return how a geometry can be tried, the least first."""
    table = make_array_table(
        geometry, geometry.chunk_bytes or SECTOR_BYTES, dict.fromkeys(geometry.order, "")
    )
    mapped = not isinstance(table, Refusal)
    return (*((TrialMethod.MAPPED,) if mapped else ()), TrialMethod.OVERLAYS)


def clean(reader: HostReader, say: Callable[[str], None]) -> tuple[str, ...]:
    """Take down all that is left of any trial; return what is left then: () for nothing.

    Args:
        reader: the host.
        say: receives what is done, a line each.

    Raises:
        JobError: another job is running, or a journal cannot be written.
    """
    for job in find_trials():
        if job.state is JobState.RUNNING:
            say(f"{job.id} is running: it is cancelled")
            since = len(job.entries())
            cancel(job)
            await_trial(job, since=since)
    for job in find_trials():
        remove_pipe(job)
        done, begun = job.done_steps()
        if done or begun:
            say(f"{job.id} is taken down")
            TrialWorker(reader, job, listens=False).roll_back()
    refuse_busy(jobs_folder())
    sweep(reader, say)
    return find_remains(reader)
