"""A sync that yields to the users: the dialog of a key, ``pace``, and the job that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raidtui.frame.feature import CommandModule, Feature, Subcommand
from raidtui.model.array import Array

if TYPE_CHECKING:
    from raidtui.frame.screen_shell import ScreenShell
    from raidtui.host.readers.host_reader import HostReader
    from raidtui.jobs.store import Job
    from raidtui.model.absent import AbsentArray
    from raidtui.model.snapshot import Snapshot


def _pace() -> CommandModule:
    from raidtui.features.pace import cli

    return cli


async def _dialog(shell: ScreenShell, array: Array | AbsentArray | None, snapshot: Snapshot) -> None:
    from raidtui.features.pace.screen.pace_flow import PaceFlow

    del snapshot
    if isinstance(array, Array) and shell.report is not None:
        await PaceFlow(shell).run(array, shell.report)


def _work(reader: HostReader, job: Job) -> int | None:
    from raidtui.features.pace.pace_job import PaceWorker, is_pacing
    from raidtui.jobs.states import JobState
    from raidtui.jobs.worker import status_of

    return status_of(job, PaceWorker(reader, job).work, JobState.DONE) if is_pacing(job) else None


FEATURE = Feature(
    name="pace",
    commands=(
        Subcommand(
            name="pace",
            help="let a resync or check yield to the users: hold a latency, give md the rest",
            module=_pace,
        ),
    ),
    flows={"pace": _dialog},
    work=_work,
)
