"""Exchanging a disk, from both front ends: where it stands, its next plan, and the record that ties them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.pull.bays import by_identity, read_settled_bays
from raidtui.features.pull.record import (
    PullError,
    PullRecord,
    drop_record,
    read_record,
    record_path,
    write_record,
)
from raidtui.features.pull.standing import OtherState, PullStage, PullStanding, standing
from raidtui.features.pull.words import PullWords, closing_words, pull_words
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import UNDER_WAY, JobState
from raidtui.jobs.store import find_job
from raidtui.model.array import Array
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.monitor.boot.boot_check import BootLook, check_boot
from raidtui.monitor.boot.boot_words import boot_sentences, boots_without_any, indispensable
from raidtui.watch.host_thread import HostThread
from raidtui.watch.played_jobs import PlayedJobs
from raidtui.watch.session import Session


class PullLook(Struct, frozen=True, kw_only=True):
    """An exchange at one moment.

    Args:
        record: of it.
        standing: where it stands.
        words: what is said of that.
        boot: what the boot check has found that an exchange closes with; None before.
    """

    record: PullRecord
    standing: PullStanding
    words: PullWords
    boot: BootLook | None = None

    @property
    def closes(self) -> bool:
        """Whether all is done but the boot check."""
        done = self.standing.stage is PullStage.DONE and self.standing.job_state not in UNDER_WAY
        return done and self.boot is None


def closed(look: PullLook, boot: BootLook) -> PullLook:
    """Return an exchange that is done, with what the boot check has found."""
    known = boots_without_any(boot.verdicts) is not None
    words = closing_words(
        look.words, boot_sentences(boot.verdicts), known=known, needed=indispensable(boot.verdicts)
    )
    return replace(look, boot=boot, words=words)


class Pulls:
    """The exchange of one host, if there is one. Any thread may call it.

    The record of a host that is not live is kept in this process alone.

    Args:
        reader: the host.
    """

    def __init__(self, reader: HostReader) -> None:
        self._live = reader.live
        self._own: PullRecord | None = None
        self._lock = threading.Lock()

    def read(self) -> PullRecord | None:
        """Return the record; None where no disk is being exchanged.

        Raises:
            PullError: it cannot be read.
        """
        return read_record(record_path()) if self._live else self._own

    def write(self, record: PullRecord) -> None:
        """Keep the record.

        Raises:
            PullError: it cannot be written.
        """
        if self._live:
            write_record(record_path(), record)
        else:
            self._own = record

    def begin(self, record: PullRecord) -> None:
        """Keep the record of a new exchange; one of the same disk that has begun is begun again.

        Raises:
            PullError: another disk is being exchanged, or the record cannot be written.
        """
        with self._lock:
            other = self.read()
            if other is not None and other.target.identity != record.target.identity:
                raise PullError(
                    f"{other.target.name}, {other.target.number}, is being exchanged: end that first"
                )
            self.write(record)

    def note(
        self, *, out_job: str = "", fill_job: str = "", fresh: str = "", left_s: float | None = None
    ) -> None:
        """Add what is known now to the record, where there is one.

        Raises:
            PullError: it cannot be read or written.
        """
        with self._lock:
            record = self.read()
            if record is None:
                return
            now = replace(
                record,
                out_job=out_job or record.out_job,
                fill_job=fill_job or record.fill_job,
                fresh=fresh or record.fresh,
                left_s=record.left_s if left_s is None else left_s,
            )
            if now != record:
                self.write(now)

    def end(self) -> None:
        """Forget the exchange. Nothing on the host is changed.

        Raises:
            PullError: the record cannot be removed.
        """
        with self._lock:
            if self._live:
                drop_record(record_path())
            self._own = None


def read_look(
    reader: HostReader, pulls: Pulls, arrays: Sequence[Array], *, played: PlayedJobs | None = None
) -> PullLook | None:
    """Return where the exchange stands; None where there is none. What is seen to have left is noted.

    Args:
        reader: the host.
        pulls: its exchange.
        arrays: its arrays.
        played: the jobs of a simulated host.

    Raises:
        PullError: the record cannot be read or written.
    """
    record = pulls.read()
    if record is None:
        return None
    bays, settled = read_settled_bays(reader)
    left = settled and record.target.identity not in by_identity(bays)
    if record.left_s is None and left and reader.writable:
        pulls.note(left_s=reader.now_s())
        record = pulls.read() or record
    if record.light and played is None and _dark(record):
        record = replace(record, light=False, dark="ledctl could not switch it on")
    found = standing(record, bays, arrays, _states(record, played))
    return PullLook(record=record, standing=found, words=pull_words(record, found, tuple(arrays)))


def _dark(record: PullRecord) -> bool:
    """Whether the job that took the disk out has noted that ledctl failed."""
    try:
        entries = find_job(record.out_job).entries() if record.out_job else []
    except JobError:
        return False
    lit = {each["step"] for each in entries if str(each.get("command", "")).startswith("ledctl ")}
    return any(each.get("missed") and each["step"] in lit for each in entries)


def _states(record: PullRecord, played: PlayedJobs | None) -> Mapping[str, JobState]:
    ids = [each for each in (record.out_job, record.fill_job) if each]
    if not ids:
        return {}
    if played is not None:
        return {line.id: line.state for line in played.lines()}
    found = {}
    for each in ids:
        try:
            found[each] = find_job(each).state
        except JobError:  # it was removed: the facts say enough
            continue
    return found


def note_job(pulls: Pulls, look: PullLook | None, job_id: str, *, chosen: str = "") -> None:
    """Note which job does the next step of an exchange.

    Args:
        pulls: where it is kept.
        look: the exchange as it stood when the plan was made; None where it began with this job.
        job_id: the job.
        chosen: the serial number of the new disk.

    Raises:
        PullError: the record cannot be written. The job runs all the same.
    """
    if look is None or look.standing.stage is PullStage.SERVING:
        pulls.note(out_job=job_id)
    elif look.standing.stage is PullStage.FRESH and not look.standing.those(OtherState.OUT):
        fresh = next((each for each in look.standing.fresh if chosen in {each.identity, each.label}), None)
        pulls.note(fill_job=job_id, fresh=(fresh or look.standing.fresh[0]).identity)
    elif look.standing.stage is PullStage.BACK and not look.standing.those(OtherState.OUT):
        pulls.note(fill_job=job_id, fresh=look.record.target.identity)


def refuse_ending(look: PullLook) -> Refusal | None:
    """Return why an exchange cannot be forgotten now, or None."""
    if look.standing.job and look.standing.job_state in UNDER_WAY:
        return Refusal(
            code=RefusalCode.BUSY,
            why=f"job {look.standing.job} is under way",
            remedy="cancel it first (J), or wait for it",
        )
    return None


class PullSession:
    """The exchange of the host that a console has in view.

    Args:
        session: of the host.
    """

    def __init__(self, session: Session) -> None:
        self._loop = loop = session.loop
        self._played = session.played if session.plays else None
        self.pulls = Pulls(loop.reader)
        self._blinker = HostThread()  # never closed: a disk that hangs must not keep raidtui from ending
        self._blinking = False
        self._checker = HostThread()  # never closed, for the same reason
        self._apart = loop.reader.thread_safe_copy() or loop.reader

    @property
    def reader(self) -> HostReader:
        """The host."""
        return self._loop.reader

    async def look(self, arrays: Sequence[Array]) -> PullLook | None:
        """Return where the exchange stands; None where there is none.

        Raises:
            PullError: the record cannot be read or written.
        """
        return await self._loop.on_host_thread(
            lambda: read_look(self._loop.reader, self.pulls, arrays, played=self._played)
        )

    async def check_boot(self) -> BootLook:
        """Return whether the machine boots without any one of its disks, now."""
        work = self._checker.run if self._apart.live else self._loop.on_host_thread
        return await work(lambda: check_boot(self._apart))

    async def blink(self, name: str) -> str:
        """Let the activity light of a disk blink once; return why it cannot, or "".

        A burst that has not ended is not followed by another one.
        """
        if self._blinking or not self._loop.reader.live:
            return ""
        from raidtui.features.pull.blink import burst  # noqa: PLC0415  (for a disk that is looked for alone)

        self._blinking = True
        try:
            return await self._blinker.run(lambda: burst(f"/dev/{name}"))
        finally:
            self._blinking = False
