"""The jobs of the guide as they run and end: trial, copy, the real step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.records import Cause, CauseCode, RescueFacts
from raidtui.features.rescue.screen.following_pages import SearchScreen
from raidtui.features.rescue.screen.guide_screen import GuideScreen
from raidtui.features.rescue.screen.trial_pages import TrialScreen
from raidtui.frame.choose import Ask
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.jobs.states import JobState
from raidtui.watch.storage import JobNews
from tests.features.arrays.screen.test_key_to_job import Fake
from tests.features.rescue.screen.test_copy_first import IMAGE, copied, to_targets
from tests.features.rescue.screen.test_search_page import run_of
from tests.features.rescue.screen.test_trial_pages import CLEAN, FakeTrials, known, to_trial, tried
from tests.features.rescue.screen.wreck_stage import disks, member
from tests.frame.machines import plain_host
from tests.frame.staging import SIZES, Paces, Shows, at, running, screen_text, staged, until, with_screen
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

__all__ = ["copied", "tried"]
AT_S = 1_763_000_000.0
TRIAL = "rescue trial a1b2c3: force: media, on copy-on-write overlays"
COPY = "rescue: copy sdb2 to /srv/sdb.img"
REAL = "rescue: media"
Entries = tuple[Mapping[str, Any], ...]
WORKS: Entries = ({"event": "work", "pid": 1},)


def step(number: int, command: str, **end: Any) -> Entries:
    """A step that began, and how it ended."""
    begun: Entries = ({"event": "begin", "step": number, "command": command, "at_s": AT_S},)
    return (*begun, {"step": number, "at_s": AT_S, **end}) if end else begun


HELD: Entries = step(0, "blockdev --setro /dev/sda2", event="step done")
BACK: Entries = (
    {"event": "going back", "reason": "the trial is over"},
    {"event": "undo", "command": "blockdev --setrw /dev/sda2"},
)
RESCUED: Entries = step(1, "ddrescue /dev/sdb2 /srv/sdb.img /srv/sdb.img.map")
FORCED = "mdadm --assemble /dev/md/media --readonly --force --run /dev/sda2 /dev/sdb2 /dev/sdc2"
JOBS: dict[str, tuple[str, JobState, Entries]] = {
    "trial-begins": (TRIAL, JobState.RUNNING, WORKS),
    "trial-is-taken-down": (
        TRIAL,
        JobState.RUNNING,
        (*WORKS, *HELD, {"event": "judged", "check": "clean", "text": "e2fsck: clean"}, *BACK),
    ),
    "trial-interrupted": (TRIAL, JobState.INTERRUPTED, (*WORKS, *HELD)),
    "trial-store-full": (
        TRIAL,
        JobState.FAILED,
        (*WORKS, *HELD, *BACK, {"event": "failed", "reason": "the store of sdb2 is full"}),
    ),
    "trial-stuck": (
        TRIAL,
        JobState.STUCK,
        (*WORKS, *HELD, *BACK, {"event": "stuck", "reason": "step 1 cannot be undone: sdb2 is busy"}),
    ),
    "copy-runs": (
        COPY,
        JobState.RUNNING,
        (*WORKS, *RESCUED, {"event": "output", "text": "38 % read, 40 KiB cannot be read\n"}),
    ),
    "copy-cancelled": (
        COPY,
        JobState.CANCELLED,
        (*WORKS, *RESCUED, {"event": "cancelled", "reason": "what was read is kept"}),
    ),
    "real-step-done": (
        REAL,
        JobState.DONE,
        (*WORKS, *step(0, FORCED, event="step done"), {"event": "done"}),
    ),
    "real-step-fails": (
        REAL,
        JobState.ROLLED_BACK,
        (
            *WORKS,
            *step(0, FORCED, event="step failed", reason="mdadm failed (1)"),
            {"event": "undo", "command": "mdadm --stop /dev/md/media"},
            {"event": "rolled back", "reason": "step 1 failed"},
        ),
    ),
}


@SIZES
@pytest.mark.parametrize("name", JOBS)
def test_job(shows: Shows, name: str, size: tuple[int, int]) -> None:
    title, state, entries = JOBS[name]

    async def news(job_id: str, since: int) -> JobNews:
        del job_id
        return JobNews(entries=entries[since:], state=state, backs=name.startswith("trial"))

    async def prepare(pilot: Paces) -> None:
        view = JobView("20261122-1", title, news)
        await pilot.app.push_screen(view)
        await until(pilot, lambda: view.state is state and view._seen == len(entries))
        await pilot.pause()

    shows(staged(Kernel(raid10())), size=size, prepare=prepare)


@pytest.mark.parametrize(
    ("destroyed", "words"),
    [(False, "failed: nothing is lost; the journal"), (True, "failed: what it has wiped stays wiped; the")],
)
async def test_what_is_lost_with_a_job(*, destroyed: bool, words: str) -> None:
    async def news(job_id: str, since: int) -> JobNews:
        del job_id
        return JobNews(entries=({"event": "failed"},)[since:], state=JobState.FAILED, destroyed=destroyed)

    async with running(Kernel(raid10())) as pilot:
        view = JobView("20261122-1", "create", news)
        await pilot.app.push_screen(view)
        await until(pilot, lambda: words in screen_text(pilot), words)


def test_a_search_that_was_ended(shows: Shows) -> None:
    make = lambda: SearchScreen(run_of(error="it was ended"), "media")  # noqa: E731
    shows(staged(Kernel(raid10())), prepare=with_screen(make))


@SIZES
def test_which_folder(shows: Shows, fake: Fake, tried: FakeTrials, size: tuple[int, int]) -> None:
    async def prepare(pilot: Paces) -> None:
        await to_trial(pilot)
        await at(pilot, Ask, "e")
        await pilot.press(*"/srv")

    shows(staged(Kernel(raid10())), size=size, prepare=prepare)


def test_a_folder_that_does_not_do(shows: Shows, fake: Fake, tried: FakeTrials) -> None:
    async def prepare(pilot: Paces) -> None:
        await to_trial(pilot)
        await at(pilot, Ask, "e")
        await at(pilot, TrialScreen, *"/nowhere", "enter")
        await until(pilot, lambda: "is not a folder" in screen_text(pilot))

    shows(staged(Kernel(raid10())), prepare=prepare)


@SIZES
def test_review_of_a_copy(shows: Shows, copied: list[Any], size: tuple[int, int]) -> None:
    async def prepare(pilot: Paces) -> None:
        await to_targets(pilot)
        await at(pilot, Ask, "enter")
        await at(pilot, PlanView, *IMAGE, "enter")

    shows(staged(Kernel(raid10())), size=size, prepare=prepare)


@SIZES
def test_a_trial_of_it_is_there(shows: Shows, size: tuple[int, int]) -> None:
    """The trial's array has its UUID: the array itself does not run."""

    async def prepare(pilot: Paces) -> None:
        screen = GuideScreen("media", last=known(CLEAN, held=True))
        await pilot.app.push_screen(screen)
        survey = replace(
            plain_host(), devices={device.disk.name: device for device in disks(member(0), member(1))}
        )
        [array] = diagnose(RescueFacts(survey=survey))
        running = Cause(code=CauseCode.RUNNING, text="It is running as md300.")
        screen.show_array(replace(array, running="md300", causes=(running, *array.causes)), survey, "")
        await pilot.pause()
        assert "It is running" not in screen_text(pilot)

    shows(staged(Kernel(raid10())), size=size, prepare=prepare)
