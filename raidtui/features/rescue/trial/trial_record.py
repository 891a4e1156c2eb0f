"""A trial on disk: what is tried and looked at, beside the plan of its job; and what came of it."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from raidtui.features.rescue.search.reshape_progress import ReshapeForms
from raidtui.features.rescue.search.results import Proof
from raidtui.features.rescue.trial.trial_request import TrialNames, TrialRequest
from raidtui.jobs.job_kinds import TRIAL_FILE
from raidtui.jobs.store import Job, all_jobs

_OUTCOME_FILE = "outcome.json"
_BEFORE_FILE = "before.json"


class TrialLooks(Struct, frozen=True, kw_only=True):
    """What is looked at, besides the check of what stands on the array.

    Args:
        files: whether it is mounted read-only and its files are listed, in the job's folder.
        hashes: a file of SHA-256 sums, as of sha256sum, which the files are compared with; "" for none.
        copy_to: a folder that the files are copied to; "" for none.
        hold: whether all is left as it is, mounted read-only, until raidtui rescue clean.
        key_file: the file with the key of what is encrypted (LUKS); "" for none.
        typed: whether its passphrase is handed over to the worker instead: it is not kept anywhere.
        verify: whether the members are read as a whole before and after, and compared.
        beside: paths of devices that hold the rest of a volume group of which the array is a part.
    """

    files: bool = False
    hashes: str = ""
    copy_to: str = ""
    hold: bool = False
    key_file: str = ""
    typed: bool = False
    verify: bool = False
    beside: tuple[str, ...] = ()

    @property
    def mounts(self) -> bool:
        """Whether anything of that needs a mount."""
        return bool(self.files or self.hashes or self.copy_to or self.hold)


class TrialRecord(Struct, frozen=True, kw_only=True):
    """What a trial does after the steps of its plan.

    Args:
        start: which step starts the array, from 0.
        target: the path of what is looked at.
        overlays: names of the maps whose stores may fill, by member.
        forms: both forms of an array whose reshape in place goes on without its backup file; None for others.
        volumes: of a container: by the name of each volume the kernel's name of its array.
    """

    request: TrialRequest
    names: TrialNames
    start: int
    target: str
    overlays: dict[str, str]
    looks: TrialLooks
    forms: ReshapeForms | None = None
    volumes: dict[str, str] = {}


class TrialFinding(Struct, frozen=True, kw_only=True):
    """What stands on the array, or on a part of it.

    Args:
        place: "" for the array itself; a partition or a volume.
        proof: what a check says of it.
    """

    place: str
    proof: Proof


class TrialOutcome(Struct, frozen=True, kw_only=True):
    """What came of a trial.

    Args:
        proof: the verdict.
        void: why the trial says nothing of what was tried, "" where it does.
        findings: what stands on it, each with its own proof.
        digests: SHA-256 by member, of its first and last MiB, before the trial; with --verify also of all of
            it ("sda whole"). The trial fails where they differ afterwards.
        said: what mdadm said when it started the array.
        store_sectors: how much of its store each overlay has used, by member.
    """

    proof: Proof
    void: str = ""
    findings: tuple[TrialFinding, ...] = ()
    digests: dict[str, str] = {}
    said: str = ""
    store_sectors: dict[str, int] = {}


def make_trial(job: Job, trial: TrialRecord) -> None:
    """Write what a trial looks at beside its plan.

    Raises:
        OSError: it cannot be written.
    """
    job.keep(TRIAL_FILE, msgspec.json.format(msgspec.json.encode(trial), indent=1))


def record_of(job: Job) -> TrialRecord:
    """Return what a trial looks at.

    Raises:
        JobError: it cannot be read.
    """
    return job.kept(TRIAL_FILE, TrialRecord)


def keep_outcome(job: Job, outcome: TrialOutcome) -> None:
    """Write what came of a trial.

    Raises:
        OSError: it cannot be written.
    """
    job.keep(_OUTCOME_FILE, msgspec.json.format(msgspec.json.encode(outcome), indent=1))


def outcome_of(job: Job) -> TrialOutcome | None:
    """Return what came of a trial; None where it has not come to its end."""
    return job.kept_or_none(_OUTCOME_FILE, TrialOutcome)


def keep_before(job: Job, digests: dict[str, str]) -> dict[str, str]:
    """Note what the members held at the beginning, once; return it.

    Raises:
        OSError: it cannot be written.
    """
    if (found := before_of(job)) is None:
        job.keep(_BEFORE_FILE, msgspec.json.encode(digests))
        return digests
    return found


def before_of(job: Job) -> dict[str, str] | None:
    """Return what the members held at the beginning; None where that was not noted."""
    return job.kept_or_none(_BEFORE_FILE, dict[str, str])


def all_trials() -> list[Job]:
    """Return all trials, oldest first."""
    return [job for job in all_jobs() if (job.folder / TRIAL_FILE).is_file()]
