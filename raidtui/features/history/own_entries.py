"""What raidtui did and saw on this machine, as entries of the timeline: jobs, changes, benchmarks, checks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from raidtui.features.history.entries import Entry, Origin
from raidtui.features.history.patterns import Weight
from raidtui.jobs.journal import journal_path
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import ENDED, JobState
from raidtui.jobs.store import Job, all_jobs
from raidtui.jobs.sync_book import open_book
from raidtui.model.check_words import ended_words
from raidtui.model.log_line import LogGap, LogTrouble
from raidtui.model.sync_record import SyncRecord, check_ends
from raidtui.watch.past import past_runs

_MOST_BYTES = 4 << 20
_SAME_S = 2.0


def own_entries() -> tuple[tuple[Entry, ...], tuple[LogTrouble, ...]]:
    """Return the entries, in any order, and what could not be read."""
    entries = [*_changes(journal_path())]
    for job in all_jobs():
        entries += _job(job)
    for record in open_book(live=True, writable=False).records():
        entries += _checks(record)
    runs, unread = past_runs()
    entries += (_entry(run.at_s, Origin.BENCH, run.code, run.text) for run in runs)
    return tuple(entries), tuple(LogTrouble(code=LogGap.DAMAGED, sentence=each) for each in unread)


def _entry(
    at_s: float,
    origin: Origin,
    code: str,
    text: str,
    *,
    array: str = "",
    device: str = "",
    bad: bool = False,
) -> Entry:
    return Entry(
        at_s=at_s,
        boot="",
        origin=origin,
        code=code,
        weight=Weight.WARNING if bad else Weight.NOTE,
        text=text,
        array=array,
        device=device,
    )


def _changes(path: Path) -> Iterator[Entry]:
    """Yield what was written, an entry a plan."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _MOST_BYTES))
            lines = file.read(_MOST_BYTES).decode("utf-8", "replace").split("\n")
    except OSError:
        return
    before: tuple[str, float] = ("", 0.0)
    for line in lines:
        try:
            found = json.loads(line)
            at_s, plan = float(found["at_s"]), str(found["plan"])
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        error = found.get("error")
        same = plan == before[0] and at_s - before[1] < _SAME_S
        before = (plan, at_s)
        if same and not error:
            continue
        text = f"{plan}, by {found.get('who', '?')}" + (f": not done: {error}" if error else "")
        wrote_to, wrote = str(found.get("path", "")), str(found.get("wrote", ""))
        member = wrote_to.partition("/md/dev-")[2].partition("/")[0] if wrote in {"faulty", "remove"} else ""
        subject = str(found.get("subject", ""))
        yield _entry(at_s, Origin.CHANGE, "change", text, array=subject, device=member, bad=bool(error))


def _job(job: Job) -> Iterator[Entry]:
    """Yield the start and the end of a job."""
    entries = job.entries()
    made = next((each for each in entries if each["event"] == "made"), None)
    if made is None:
        return
    array, title = str(made.get("subject", "")), str(made.get("title", ""))
    text = f"job started: {title}, by {made.get('who', '?')}"
    yield _entry(made["at_s"], Origin.JOB, "job-started", text, array=array, device=_left_out(job))
    last = next((each for each in reversed(entries) if each["event"] in ENDED), None)
    if last is not None:
        state = JobState(last["event"])
        reason = f": {last['reason']}" if last.get("reason") else ""
        bad = state is not JobState.DONE
        text = f"job {state.sentence}: {title}{reason}"
        yield _entry(last["at_s"], Origin.JOB, "job-ended", text, array=array, bad=bad)


def _checks(record: SyncRecord) -> Iterator[Entry]:
    """Yield an entry for each check that has ended, and for each pause of one, by the record of syncs."""
    for check in check_ends(record):
        if check.ended_s is not None:
            entry = _entry(
                check.ended_s,
                Origin.RECORD,
                "check-result",
                ended_words(check),
                array=record.uuid,
                bad=check.mismatches > 0,
            )
            yield replace(entry, uuid=record.uuid)


def _left_out(job: Job) -> str:
    """Return the member that a job fails or removes first; "" where it does neither, or cannot be read."""
    try:
        steps = job.plan.steps
    except JobError:
        return ""
    for step in steps:
        for word, name in pairwise(step.argv):
            if word in {"--fail", "--remove"}:
                return name.removeprefix("/dev/")
    return ""
