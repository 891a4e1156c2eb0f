"""A trial: what is tried, the names of all that it makes, and what it keeps on disk of it."""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from raidtui.features.rescue.mdadm_words import Assembly, Recreation
from raidtui.features.rescue.search.reshape_progress import ReshapeForms
from raidtui.features.rescue.search.results import CandidateEvidence, Proof
from raidtui.host.trial_traces import PREFIX, rules_path
from raidtui.jobs.job_kinds import TRIAL_FILE
from raidtui.jobs.store import Job, all_jobs

ROOMS = ("/var/tmp", "/var/lib/raidtui", "/tmp")  # noqa: S108  (a private folder is made in one of them)
"""Where stores are kept, the best place first, unless a folder is named."""
STORE_BYTES = 256 << 20
"""The size of a store, sparse: a trial writes superblocks alone, and little of that is used."""
ROOM_BYTES = 16 << 20
"""The room that the store of one member takes at most, where nothing is reshaped."""
MOVED_BYTES = 1 << 30
"""The most that a store takes of a reshape which mdadm has continued, until it is held."""
MOST_VOLUMES = 16
"""The most volumes of a container that are tried."""
CONF = "mdadm.conf"
_OUTCOME_FILE = "outcome.json"
_BEFORE_FILE = "before.json"


class TrialMethod(StrEnum):
    """How something is tried, from what needs least to what can all. For programs; none changes."""

    READ_ONLY = "read-only"  # md, read-only, on the members themselves: their superblocks are sufficient
    MAPPED = "mapped"  # dm-raid, read-only, on the members themselves: no superblocks are used
    OVERLAYS = "overlays"  # md on copy-on-write overlays: the command is the real one


class TrialRequest(Struct, frozen=True, kw_only=True):
    """What is tried.

    Args:
        ident: the trial's own letters.
        made: what the array is made from.
        label: what it is called for people.
        store: a folder for the stores; "" for one that has room.
        store_bytes: the size of each store; None for what is usual.
        evidence: what was seen of what is tried. Its doubts go with its proof and its plan.
    """

    ident: str
    method: TrialMethod
    made: Assembly | Recreation
    label: str
    store: str = ""
    store_bytes: int | None = None
    evidence: CandidateEvidence = CandidateEvidence()


class TrialHost(Struct, frozen=True, kw_only=True):
    """What a host has for a trial.

    Args:
        loops: numbers of loop devices that are free.
        array: a kernel name that no array has: md300; nor has one those after it, for volumes.
        rooms: folders for stores, the best first, with the free bytes of each.
        array_rules: mdadm's rules of udev for arrays, whole; "" where none in /run would go before them.
    """

    loops: tuple[int, ...]
    array: str
    rooms: tuple[tuple[str, int], ...]
    array_rules: str = ""


class TrialNames(Struct, frozen=True, kw_only=True):
    """The names of all that a trial makes.

    Args:
        ident: the trial's own letters.
        array: the kernel's name of the array that it makes.
        folder: where the stores are; "" where there are none.
        volumes: how many volumes are started in it, where it is a container.
    """

    ident: str
    array: str = ""
    folder: str = ""
    volumes: int = 0

    @property
    def own(self) -> str:
        """What all its names begin with."""
        return f"{PREFIX}{self.ident}"

    @property
    def arrays(self) -> tuple[str, ...]:
        """The array, and the volumes in it: the numbers after its own."""
        number = int(self.array.removeprefix("md") or 0)
        return (self.array, *(f"md{number + each}" for each in range(1, self.volumes + 1)))

    @property
    def conf(self) -> str:
        """The configuration file that says what the volumes of a container are called."""
        return f"{self.place}/{CONF}"

    @property
    def place(self) -> str:
        """A private folder: what the trial mounts is mounted in it."""
        return f"/run/{self.own}"

    @property
    def rules(self) -> str:
        """The file of udev's rules."""
        return rules_path(self.ident)

    @property
    def scratch(self) -> str:
        """A folder for what a check needs: that of the stores, else one where stores are kept usually."""
        return self.stores if self.folder else f"{ROOMS[0]}/{self.own}"

    @property
    def stores(self) -> str:
        """The folder of the stores."""
        return f"{self.folder.rstrip('/')}/{self.own}"

    def store(self, member: str) -> str:
        """Return the store of a member."""
        return f"{self.stores}/{flat(member)}"

    def map(self, member: str) -> str:
        """Return the name of a member's overlay, or of its part that holds data."""
        return f"{self.own}-{flat(member)}"

    @property
    def whole(self) -> str:
        """The name of the map that the members' maps make together."""
        return f"{self.own}-array"


def flat(member: str) -> str:
    """Return a kernel name as a part of a name of ours: of cciss/c0d0, cciss_c0d0."""
    return member.replace("/", "_")


def map_path(name: str) -> str:
    """Return the path of a map."""
    return f"/dev/mapper/{name}"


class TrialLooks(Struct, frozen=True, kw_only=True):
    """What is looked at, besides the check of what stands on the array.

    Args:
        files: whether it is mounted read-only and its files are listed, in the job's folder.
        hashes: a file of SHA-256 sums, as of sha256sum, which the files are compared with; "" for none.
        copy_to: a folder that the files are copied to; "" for none.
        hold: whether all is left as it is, mounted read-only, until raidtui rescue clean.
        key_file: the file with the key of what is encrypted (LUKS); "" for none.
        typed: whether its passphrase is handed over to the worker instead: it is not kept anywhere.
        verify: whether the members are read in full before and after, and compared.
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
        start: which step starts the array, from 0: its failure is an answer.
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
    looks: TrialLooks = TrialLooks()
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


def read_record(job: Job) -> TrialRecord:
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


def read_outcome(job: Job) -> TrialOutcome | None:
    """Return what came of a trial; None where it has not ended."""
    return job.kept_or_none(_OUTCOME_FILE, TrialOutcome)


def keep_before(job: Job, digests: dict[str, str]) -> dict[str, str]:
    """Note what the members held at the beginning, once; return it.

    Raises:
        OSError: it cannot be written.
    """
    if (found := read_before(job)) is None:
        job.keep(_BEFORE_FILE, msgspec.json.encode(digests))
        return digests
    return found


def read_before(job: Job) -> dict[str, str] | None:
    """Return what the members held at the beginning; None where that was not noted."""
    return job.kept_or_none(_BEFORE_FILE, dict[str, str])


def find_trials() -> list[Job]:
    """Return all trials, oldest first."""
    return [job for job in all_jobs() if (job.folder / TRIAL_FILE).is_file()]
