"""Runs in a guest: the next step of a disk's exchange, up to a point where the process or the power ends.

``python -m tests.lab.guests.inside.pull_step kill|cut NUMBER MEMBER``: before there is a record (-1), before
there is a job (0), before the record knows it (1), or else before that entry of the job's journal.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import Any

CUT = Path("/run/lab/cut")


def words(how: str, number: int, member: str = "") -> str:
    """How it is started in the guest."""
    module = "tests.lab.guests.inside.pull_step"
    return f"exec {shlex.join((sys.executable, '-m', module, how, str(number), member))}"


def fall(how: str) -> None:
    """End here: by SIGKILL, or when the power is cut, which is asked for."""
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    CUT.touch()
    while True:
        time.sleep(60)


def step(how: str, number: int, member: str) -> int:
    """Do the next step of the exchange, up to the point; return the worker's exit status."""
    from raidtui.features.pull import pull_plans  # noqa: PLC0415
    from raidtui.features.pull import session as pull  # noqa: PLC0415
    from raidtui.host.readers.opening import open_root  # noqa: PLC0415
    from raidtui.host.reading import Reading  # noqa: PLC0415  (the tests import `words`)
    from raidtui.jobs import store, worker  # noqa: PLC0415
    from raidtui.model.plan import Plan  # noqa: PLC0415
    from raidtui.monitor.sampler import Sampler  # noqa: PLC0415

    root = open_root("/")
    pulls, snapshot = pull.Pulls(root), Sampler(root).sample()
    look = pull.read_look(root, pulls, snapshot.arrays)
    if look is None:
        survey = Reading(root, snapshot, pull_plans.disk_scope(snapshot, member)).start().wait()
        draft = pull_plans.make_draft(root, survey, member)
        assert isinstance(draft, pull_plans.PullDraft), draft
        made = draft.made
        if number == -1:
            fall(how)
        pulls.begin(draft.record)
    else:
        survey = Reading(root, snapshot, pull_plans.next_scope(snapshot, look)).start().wait()
        made = pull_plans.plan_next(root, survey, look)
    assert isinstance(made, Plan), made
    if number == 0:
        fall(how)
    job = store.Job.create(made, host=root.hostname or "")
    if number == 1:
        fall(how)
    pull.note_job(pulls, look, job.id)
    real, count = store.Job.note, 1

    def note(self: Any, **entry: object) -> None:
        nonlocal count
        count += 1
        if count == number:
            fall(how)
        real(self, **entry)

    store.Job.note = note  # type: ignore[method-assign]
    return worker.work_on(root, job.folder)


if __name__ == "__main__":
    raise SystemExit(step(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
