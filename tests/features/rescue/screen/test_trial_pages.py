"""The trial and its proof: a picture of each state, and the way from a page to a plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly
from raidtui.features.rescue.screen.guide_screen import GuideScreen
from raidtui.features.rescue.screen.trial_flow import TrialView
from raidtui.features.rescue.screen.trial_pages import ProofScreen, TrialScreen
from raidtui.features.rescue.search.results import CandidateEvidence, CheckResult, Proof
from raidtui.features.rescue.session_trials import KnownTrial, TrialWish, store_room
from raidtui.features.rescue.trial.trial_record import (
    TrialFinding,
    TrialLooks,
    TrialMethod,
    TrialNames,
    TrialOutcome,
    TrialRecord,
    TrialRequest,
)
from raidtui.frame.choose import Ask, Choice
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import JobState
from raidtui.model.plan import Harm, Plan, Refusal, RefusalCode, RunTool
from raidtui.model.survey import Survey
from raidtui.watch.storage import JobNews
from tests.features.arrays.screen.test_key_to_job import Fake, closed, console
from tests.features.rescue.screen.test_guide import chosen, opened, wreck
from tests.features.rescue.screen.wreck_stage import UUID
from tests.frame.staging import SMALL, WIDE, Paces, at, screen_text, staged, until, with_screen
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

Shows = Callable[..., None]
SIZES = pytest.mark.parametrize("size", [SMALL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
MADE = Assembly(devices=("sda2", "sdb2", "sdc2"), uuid=UUID, run=True, force=True)
WISH = TrialWish(made=MADE, method=TrialMethod.OVERLAYS, label="force: media")
ROOMS = (("/run", 512 << 20), ("/var/tmp", 40 << 30), ("/tmp", 1 << 20))
CLEAN = TrialOutcome(
    proof=Proof(
        check=CheckResult.CLEAN,
        contents="ext4",
        sure="e2fsck -n read all of the file system's metadata and found nothing wrong; file contents"
        " were not compared",
    ),
    findings=(
        TrialFinding(
            place="", proof=Proof(check=CheckResult.CLEAN, contents="ext4", sure="e2fsck -fn: clean")
        ),
    ),
    digests={"sda2": "11", "sdb2": "22", "sdc2": "33"},
    said="mdadm: forcing event count in /dev/sdc2(2) from 1022 up to 1042\n",
    store_sectors={"sda2": 96, "sdb2": 96, "sdc2": 104},
)
ERRORS = replace(
    CLEAN,
    proof=Proof(
        check=CheckResult.ERRORS,
        contents="ext4",
        sure="e2fsck found errors: what was written while sdc2 was out is missing, or the choice is wrong",
    ),
)
REFUSED = TrialOutcome(
    proof=Proof(check=CheckResult.NOT_POSSIBLE, sure="mdadm does not start it"),
    said="mdadm: /dev/md300 assembled from 2 drives - not enough to start the array.\n",
)
VOID = TrialOutcome(
    proof=Proof(check=CheckResult.NOT_TRIED, sure="the store of sdb2 is full"),
    void="the store of sdb2 is full",
)
GONE = TrialOutcome(
    proof=Proof(check=CheckResult.NOT_TRIED, sure="the trial is void: sdb2 is gone"), void="sdb2 is gone"
)
UNKNOWN = replace(
    CLEAN, proof=Proof(check=CheckResult.NO_FILE_SYSTEM, sure="nothing on it is known to blkid"), findings=()
)
REAL = Plan(
    title="rescue: media",
    subject="media",
    steps=(
        RunTool(
            argv=("mkdir", "-p", "-m", "700", "/var/lib/raidtui/rescue"),
            why="where the ends are saved",
        ),
        RunTool(
            argv=("mdadm", "--assemble", "/dev/md/media", "--force", "/dev/sda2"), why="start it by force"
        ),
    ),
    harm=Harm.DESTROYS,
    confirm="media",
    warning="Superblocks are written.",
    notes=("sdc2 is 20 events behind, last updated 14 s before the newest: what was written may be lost.",),
    grounds=(
        "Trial 20261122-1: clean, ext4.",
        (
            "How sure: e2fsck -n read all of the file system's metadata and found nothing wrong; file"
            " contents were not compared."
        ),
        "Tried on copy-on-write overlays; both ends of sda2, sdb2 and sdc2 read as before it.",
    ),
    devices=("sda2",),
)
NO_FOLDER = Refusal(code=RefusalCode.NOT_FOUND, why="there is no folder /none", remedy="name another one")
NO_PLAN = Refusal(code=RefusalCode.UNKNOWN, why="the trial 20261122-1 shows nothing", remedy="try again")
TIE = "One of 720 geometries that fit equally, not the only one"
CHANGED = Refusal(
    code=RefusalCode.WRONG_STATE,
    why="sdb2 does not read as it did in the trial",
    remedy="try again: raidtui rescue try",
)
IN_USE = Refusal(code=RefusalCode.IN_USE, why="sda2 is in use: dm-3 holds it", remedy="release it first")
REFUSED_PLAN = Refusal(
    code=RefusalCode.WRONG_STATE,
    why="the trial 20261122-1 was refused: mdadm does not start it",
    remedy="try another way",
)
OUTCOMES: dict[str, tuple[TrialOutcome | None, Plan | Refusal]] = {
    "clean": (CLEAN, REAL),
    "errors": (ERRORS, REAL),
    "refused": (REFUSED, REFUSED_PLAN),
    "void": (VOID, NO_PLAN),
    "vanished": (GONE, NO_PLAN),
    "no-file-system": (UNKNOWN, REAL),
    "cut-short": (None, NO_PLAN),
}


def known(
    outcome: TrialOutcome | None,
    *,
    runs: bool = False,
    tie: str = "",
    held: bool = False,
    left: bool = False,
) -> KnownTrial:
    """A trial with this outcome."""
    request = TrialRequest(
        ident="a1b2c3",
        method=TrialMethod.OVERLAYS,
        made=MADE,
        label="force: media",
        evidence=CandidateEvidence(tie=tie),
    )
    record = TrialRecord(
        request=request,
        names=TrialNames(ident="a1b2c3", array="md300", folder="/run"),
        start=9,
        target="/dev/md300",
        overlays={},
        looks=TrialLooks(hold=held),
    )
    title = "rescue trial a1b2c3: force: media, on copy-on-write overlays"
    return KnownTrial(
        job_id="20261122-1",
        title=title,
        runs=runs,
        left=held or left,
        record=record,
        outcome=outcome,
    )


class FakeTrials:
    """What is asked of the trials of a session; nothing is tried."""

    def __init__(self) -> None:
        self.wishes: list[TrialWish] = []
        self.outcome: TrialOutcome | None = CLEAN
        self.real: Plan | Refusal = REAL
        self.last: KnownTrial | None = None
        self.busy = ""
        self.folders: list[str] = []
        self.held = self.down = False
        self.opened: KnownTrial | None = None
        self.refusal: Refusal | None = None

    def trial_rooms(self, root: HostReader) -> tuple[tuple[str, int], ...]:
        del root
        return ROOMS

    def start_trial(self, root: HostReader, survey: Survey, wish: TrialWish) -> str | Refusal:
        del root, survey
        if self.busy:
            raise JobError(self.busy)
        if self.refusal is not None:
            return self.refusal
        self.wishes.append(wish)
        return "20261122-1"

    def known_trial(self, job_id: str) -> KnownTrial:
        del job_id
        wish = self.wishes[-1] if self.wishes else None
        held = self.held or (wish is not None and wish.hold)
        return known(
            self.outcome, tie=wish.evidence.tie if wish is not None else "", held=held and not self.down
        )

    def last_trial(self, uuid: str, names: tuple[str, ...]) -> KnownTrial | None:
        del names
        assert uuid == UUID
        return self.last

    def restart_job(self, job_id: str, *, back: bool) -> int:
        assert (job_id, back) == ("20261122-1", True)
        self.down = True
        return 0

    def plan_of_trial(self, survey: Survey, trial: KnownTrial, folder: str) -> Plan | Refusal:
        del survey, trial
        self.folders.append(folder)
        return self.real if folder in {"", "/mnt"} else NO_FOLDER


@pytest.fixture
def tried(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> FakeTrials:
    """A host with two kicked members, where trials are not carried out."""
    wreck(fake, "two-kicked")
    made = FakeTrials()
    for name in ("trial_rooms", "start_trial", "known_trial", "plan_of_trial"):
        monkeypatch.setattr(f"raidtui.features.rescue.session_trials.{name}", getattr(made, name))
    monkeypatch.setattr("raidtui.features.rescue.screen.rescue_flow.last_trial", made.last_trial)
    monkeypatch.setattr("raidtui.features.rescue.screen.rescue_flow.open_trial", lambda: made.opened)
    monkeypatch.setattr("raidtui.watch.storage.restart_job", made.restart_job)
    return made


async def to_trial(pilot: Paces) -> None:
    """Open the page of the trial by force."""
    await opened()(pilot)
    await chosen(pilot, "force")
    await at(pilot, TrialScreen, "enter")


# -- pictures


@SIZES
def test_trial(shows: Shows, size: tuple[int, int]) -> None:
    shows(staged(Kernel(raid10())), size=size, prepare=with_screen(lambda: TrialScreen(WISH, ROOMS)))


def test_trial_without_room(shows: Shows) -> None:
    make = lambda: TrialScreen(WISH, (("/run", 1 << 20),))  # noqa: E731
    shows(staged(Kernel(raid10())), prepare=with_screen(make))


def test_trial_read_only(shows: Shows) -> None:
    wish = replace(WISH, method=TrialMethod.READ_ONLY, label="look, read-only: media")
    shows(staged(Kernel(raid10())), prepare=with_screen(lambda: TrialScreen(wish, ROOMS), "down", "right"))


def test_trial_of_what_is_encrypted(shows: Shows) -> None:
    wish = replace(WISH, passphrase="correct horse")
    make = lambda: TrialScreen(wish, ROOMS)  # noqa: E731
    shows(staged(Kernel(raid10())), prepare=with_screen(make, "down", "down", "down"))


def test_trial_that_is_refused(shows: Shows) -> None:
    make = lambda: TrialScreen(WISH, ROOMS, "another job is running: job-0")  # noqa: E731
    shows(staged(Kernel(raid10())), prepare=with_screen(make))


@SIZES
@pytest.mark.parametrize("name", OUTCOMES)
def test_proof(shows: Shows, name: str, size: tuple[int, int]) -> None:
    outcome, real = OUTCOMES[name]
    make = lambda: ProofScreen(known(outcome), real)  # noqa: E731
    shows(staged(Kernel(raid10())), size=size, prepare=with_screen(make))


@SIZES
@pytest.mark.parametrize(
    "trial",
    [
        known(CLEAN, held=True),
        known(None, left=True),
        known(CLEAN, tie=f"{TIE}: a check may say nothing."),
        replace(known(CLEAN), trouble="sdb2 does not read as before the trial"),
    ],
    ids=["held", "left", "tie", "changed"],
)
def test_proof_of(shows: Shows, trial: KnownTrial, size: tuple[int, int]) -> None:
    real = IN_USE if trial.left else CHANGED if trial.trouble else REAL
    shows(staged(Kernel(raid10())), size=size, prepare=with_screen(lambda: ProofScreen(trial, real)))


@SIZES
def test_trial_runs(shows: Shows, size: tuple[int, int]) -> None:
    entries = (
        {"event": "work", "pid": 1},
        {"event": "begin", "step": 0, "command": "blockdev --setro /dev/sda2", "at_s": 1_763_000_000.0},
        {"event": "step done", "step": 0, "at_s": 1_763_000_000.1},
        {"event": "begin", "step": 1, "command": "losetup ...", "at_s": 1_763_000_000.2},
    )

    async def news(job_id: str, since: int) -> JobNews:
        del job_id
        return JobNews(entries=entries[since:], state=JobState.RUNNING)

    async def prepare(pilot: Paces) -> None:
        view = TrialView("20261122-1", known(None).title, news)
        await pilot.app.push_screen(view)
        await until(pilot, lambda: "losetup" in screen_text(pilot))

    shows(staged(Kernel(raid10())), size=size, prepare=prepare)


@SIZES
def test_review_of_the_real_step(shows: Shows, fake: Fake, tried: FakeTrials, size: tuple[int, int]) -> None:
    async def prepare(pilot: Paces) -> None:
        await to_trial(pilot)
        await at(pilot, ProofScreen, "enter")
        await at(pilot, PlanView, "enter")

    shows(staged(Kernel(raid10())), size=size, prepare=prepare)


# -- from page to page


async def test_from_the_trial_to_the_real_plan(fake: Fake, tried: FakeTrials) -> None:
    async with console() as pilot:
        await to_trial(pilot)
        await pilot.press("right", "down", "right")  # another store; the files are listed
        await at(pilot, ProofScreen, "enter")
        await at(pilot, PlanView, "enter")
        await pilot.press("y", "enter")  # neither confirms what destroys
        await pilot.pause()
        assert fake.begun == []
        await pilot.press("backspace")
        await at(pilot, JobView, *"media", "enter")
        await until(pilot, lambda: "Esc back" in screen_text(pilot))
        assert await closed(pilot, "escape") == "rescue: media: done"
    [wish] = tried.wishes
    assert (wish.store, wish.files, wish.verify) == ("/var/tmp", True, False)
    assert wish.made == Assembly(devices=wish.made.devices, uuid=UUID, run=True, force=True)
    assert wish.made.devices == ("sda2", "sdb2", "sdc2")
    assert fake.begun == [REAL]


async def test_the_ends_are_saved_in_another_folder(fake: Fake, tried: FakeTrials) -> None:
    async with console() as pilot:
        await to_trial(pilot)
        await at(pilot, ProofScreen, "enter")
        await at(pilot, Ask, "e")
        await at(pilot, ProofScreen, *"/none", "enter")
        await until(pilot, lambda: "there is no folder /none" in screen_text(pilot))
        await at(pilot, Ask, "e")  # Esc leaves the folder as it is
        await at(pilot, ProofScreen, "escape")
        await at(pilot, Ask, "e")
        await at(pilot, ProofScreen, *"/mnt", "enter")
        await at(pilot, PlanView, "enter")
    assert tried.folders == ["", "/none", "/none", "/mnt"]


async def test_a_passphrase_is_typed_unseen(fake: Fake, tried: FakeTrials) -> None:
    secret = "correct horse"
    async with console() as pilot:
        await to_trial(pilot)
        assert "LUKS stays closed" in screen_text(pilot)
        await at(pilot, Ask, "p")
        await pilot.press(*("space" if char == " " else char for char in secret))
        await until(pilot, lambda: "*" * len(secret) in screen_text(pilot))
        assert secret not in screen_text(pilot)
        await at(pilot, TrialScreen, "enter")
        assert "LUKS is opened with the passphrase typed" in screen_text(pilot)
        await at(pilot, Ask, "p")
        await at(pilot, TrialScreen, "escape")
        await at(pilot, ProofScreen, "enter")
    assert [wish.passphrase for wish in tried.wishes] == [secret]


async def test_escape_leads_back_page_by_page(fake: Fake, tried: FakeTrials) -> None:
    async with console() as pilot:
        await to_trial(pilot)
        await at(pilot, ProofScreen, "enter")
        await at(pilot, PlanView, "enter")
        await at(pilot, ProofScreen, "escape")
        await at(pilot, GuideScreen, "escape")
        assert "▸ force " in screen_text(pilot)
        assert await closed(pilot, "escape") == "nothing was changed"
    assert fake.begun == []


async def test_a_trial_that_cannot_be_started_says_why(fake: Fake, tried: FakeTrials) -> None:
    tried.busy = "another job is running: job-0"
    async with console() as pilot:
        await to_trial(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: tried.busy in screen_text(pilot))
        tried.busy, tried.refusal = "", NO_PLAN
        await pilot.press("enter")
        await until(pilot, lambda: "shows nothing" in screen_text(pilot))
        tried.refusal = None
        await at(pilot, ProofScreen, "enter")
        await at(pilot, TrialScreen, "t")


async def test_without_proof_there_is_no_plan(fake: Fake, tried: FakeTrials) -> None:
    tried.outcome, tried.real = VOID, NO_PLAN
    async with console() as pilot:
        await to_trial(pilot)
        await at(pilot, ProofScreen, "enter")
        assert "review the real plan" not in screen_text(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ProofScreen)
    assert fake.begun == []


async def test_a_trial_that_runs_is_left_and_found_again(
    fake: Fake, tried: FakeTrials, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = JobNews(entries=({"event": "work", "pid": 1},), state=JobState.RUNNING)
    job_news: Any = fake.job_news
    monkeypatch.setattr("raidtui.watch.storage.job_news", lambda *_: runs)
    async with console() as pilot:
        await to_trial(pilot)
        await at(pilot, TrialView, "enter")
        assert (await closed(pilot, "escape")).endswith("continues; J shows it")
        tried.last = known(None, runs=True)
        await at(pilot, Choice, "a")
        await at(pilot, GuideScreen, "enter")
        await until(pilot, lambda: "t the trial " in screen_text(pilot))
        assert await closed(pilot, "escape") == "the trial continues; a shows it"
        await at(pilot, Choice, "a")
        await at(pilot, GuideScreen, "enter")
        await until(pilot, lambda: "t the trial " in screen_text(pilot))
        await at(pilot, TrialView, "t")
        monkeypatch.setattr("raidtui.watch.storage.job_news", job_news)
        await until(pilot, lambda: isinstance(pilot.app.screen, ProofScreen))
        await at(pilot, GuideScreen, "escape")
        tried.last = known(CLEAN)


async def test_a_trial_that_stays_mounted_is_taken_down(fake: Fake, tried: FakeTrials) -> None:
    async with console() as pilot:
        await to_trial(pilot)
        await pilot.press("down", "right", "right")
        assert "left mounted read-only" in screen_text(pilot)
        await at(pilot, ProofScreen, "enter")
        assert "/run/raidtui-rescue-a1b2c3" in screen_text(pilot)
        assert "t try again" not in screen_text(pilot)
        await pilot.press("t", "x")
        await until(pilot, lambda: "t try again" in screen_text(pilot))
        assert tried.down
    [wish] = tried.wishes
    assert (wish.files, wish.hold) == (True, True)


async def test_a_trial_is_found_without_its_array(fake: Fake, tried: FakeTrials) -> None:
    """Its members are in use: the array is no array at rest."""
    fake.devices = {}
    tried.opened, tried.held = known(CLEAN, held=True), True
    async with console() as pilot:
        await at(pilot, Choice, "a")
        await until(pilot, lambda: "a trial that is held: force: media" in screen_text(pilot))
        await at(pilot, ProofScreen, "enter")
        assert await closed(pilot, "escape") == "nothing was written to the members"


async def test_any_folder_is_taken_for_the_stores(
    fake: Fake, tried: FakeTrials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = {str(tmp_path): 40 << 30, "/": 1 << 20}
    monkeypatch.setattr("raidtui.features.rescue.session_trials.free_bytes", room.get)
    async with console() as pilot:
        await to_trial(pilot)
        for typed, why in (
            ("srv", "give the folder's full path"),
            ("/nowhere", "/nowhere is not a folder"),
            ("/", "/ has no room: 48 MiB are needed, 1 MiB are free"),
        ):
            await at(pilot, Ask, "e")
            await at(pilot, TrialScreen, *typed, "enter")
            await until(pilot, lambda why=why: why in screen_text(pilot))  # type: ignore[misc]
        await at(pilot, Ask, "e")
        await at(pilot, TrialScreen, "escape")
        await at(pilot, Ask, "e")
        await at(pilot, TrialScreen, *str(tmp_path), "enter")
        await at(pilot, ProofScreen, "enter")
    [wish] = tried.wishes
    assert wish.store == str(tmp_path)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert store_room(str(tmp_path), 1) == f"{tmp_path} cannot be written to"


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
async def test_a_trial_that_is_void_shows_why(
    fake: Fake, tried: FakeTrials, monkeypatch: pytest.MonkeyPatch, state: JobState
) -> None:
    """It has been taken down: there is nothing to resume."""
    tried.outcome, tried.real = VOID, NO_PLAN
    entries = ({"event": "work", "pid": 1}, {"event": str(state), "reason": "the store of sdb2 is full"})
    ended = JobNews(entries=entries, state=state)
    monkeypatch.setattr("raidtui.watch.storage.job_news", lambda *_: ended)
    async with console() as pilot:
        await to_trial(pilot)
        await at(pilot, ProofScreen, "enter")
        assert "the store of sdb2 is full" in screen_text(pilot)


async def test_the_last_trial_is_shown_again(fake: Fake, tried: FakeTrials) -> None:
    tried.last = known(CLEAN)
    async with console() as pilot:
        await opened()(pilot)
        assert "t the last trial" in screen_text(pilot)
        await at(pilot, ProofScreen, "t")
        assert "found nothing wrong" in screen_text(pilot)
