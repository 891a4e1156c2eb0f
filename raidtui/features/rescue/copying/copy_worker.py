"""The worker of a copy: ddrescue may take days, reports how far it is, and ends when it is asked to."""

from __future__ import annotations

from pathlib import Path

from raidtui.features.rescue.copying.copy_map import CopyProgress, read_map
from raidtui.jobs.patient_tool import run_patiently
from raidtui.jobs.states import JobState
from raidtui.jobs.worker import Worker
from raidtui.model.plan import Step

_KEPT = "what was copied is kept, and resuming continues there"


class CopyWorker(Worker):
    """Works on a copy."""

    def _do(self, step: Step) -> str:
        if step.argv[:1] != ("ddrescue",):
            return super()._do(step)
        reported = -1

        def asked() -> bool:
            nonlocal reported
            found = progress_of(step)
            if found is not None and found.percent != reported:
                reported = found.percent
                self._job.note(event="output", text=f"{found.words}\n")
            return self._cancelled

        end = run_patiently(step.argv, self._job.folder / "ddrescue.txt", asked, gently=True)
        if end.status == 0:
            found = progress_of(step)
            self._say(found.words if found is not None else "nothing is known of the copy")
            return ""
        why = end.why or f"ddrescue failed ({end.status})"
        said = end.tail.rpartition("\n")[2]
        return f"{why}: {said}" if said and not end.why else why

    def _end(self, state: JobState, *, reason: str = "") -> JobState:
        if self._cancelled and state is JobState.FAILED:
            return super()._end(JobState.CANCELLED, reason=_KEPT)
        return super()._end(state, reason=reason)


def progress_of(step: Step) -> CopyProgress | None:
    """Return how far a copy is, by its map file; None where there is none yet."""
    try:
        return read_map(Path(step.argv[-1]).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
