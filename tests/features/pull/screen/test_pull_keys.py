"""The keys of the page: what each opens, and what is kept of it."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from raidtui.features.pull.screen.pull_screen import PullScreen
from raidtui.features.pull.session import PullSession
from raidtui.frame.choose import Choice
from raidtui.frame.dialog import Question
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.states import JobState
from raidtui.model.answer import known
from raidtui.model.plan import Plan
from raidtui.monitor.boot.boot_check import BootLook
from raidtui.watch.storage import JobNews
from tests.frame.staging import Paces, app_of, at, in_worker, look, message_of, running, screen_text, until
from tests.hosts.bays import MEDIA, NEW, BayHost, without
from tests.hosts.trees import device_number


class Begun:
    """The jobs that were begun; each is done at once, as far as the host in memory does what it does."""

    def __init__(self, host: BayHost) -> None:
        self.host = host
        self.plans: list[Plan] = []

    def start_job(self, root: HostReader, plan: Plan) -> str:
        assert root is self.host
        self.plans.append(plan)
        if plan.title.startswith("take out"):
            self.host.now(without("sdc"))
        return f"job-{len(self.plans)}"

    def job_news(self, job_id: str, since: int, begun_after: int) -> JobNews:
        del job_id, since, begun_after
        return JobNews(entries=({"event": "work", "pid": 1}, {"event": "done"}), state=JobState.DONE)


@pytest.fixture
def host() -> BayHost:
    return BayHost()


@pytest.fixture
def begun(host: BayHost, monkeypatch: pytest.MonkeyPatch) -> Begun:
    """Of a host in memory nothing is known about mdadm."""
    made = Begun(host)
    monkeypatch.setattr("raidtui.watch.storage.start_job", made.start_job)
    monkeypatch.setattr("raidtui.watch.storage.job_news", made.job_news)
    monkeypatch.setattr("raidtui.host.examine.read_mdadm_version", lambda _: known((4, 2)))
    return made


async def page_of(pilot: Paces, head: str) -> PullScreen:
    """Wait for the page, and for what it says."""
    await until(pilot, lambda: isinstance(pilot.app.screen, PullScreen), "the page")
    await until(pilot, lambda: head in screen_text(pilot), head)
    page = pilot.app.screen
    assert isinstance(page, PullScreen)
    return page


async def taken_out(pilot: Paces) -> None:
    """Begin an exchange of sdc, up to the page that says to pull it."""
    await at(pilot, Choice, "i")
    await at(pilot, PullScreen, "down", "down", "enter")
    await at(pilot, PlanView, "enter")
    await at(pilot, JobView, "y")
    await look(pilot)
    await at(pilot, PullScreen, "escape")
    await page_of(pilot, "Pull it now")


async def test_from_the_key_to_the_hand_and_found_again(host: BayHost, begun: Begun) -> None:
    async with running(host) as pilot:
        await taken_out(pilot)
        record = app_of(pilot).session.of(PullSession).pulls.read()
        assert record is not None
        assert (record.target.name, record.out_job) == ("sdc", "job-1")
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await pilot.press("i")
        await page_of(pilot, "Pull it now")
    [plan] = begun.plans
    assert [step.argv[2:] for step in plan.steps if step.argv[0] == "mdadm"] == [
        ("/dev/md125", "--fail", "/dev/sdc"),
        ("/dev/md125", "--remove", "/dev/sdc"),
    ]


async def test_what_could_not_be_read_goes_with_its_disk(
    host: BayHost, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the new disk, nothing is said of the one that left."""
    why = "/dev/sdc cannot be read: Input/output error"

    async def blink(session: PullSession, name: str) -> str:
        del session
        return f"/dev/{name} cannot be read: Input/output error"

    monkeypatch.setattr(PullSession, "blink", blink)
    async with running(host) as pilot:
        await taken_out(pilot)
        (await page_of(pilot, "Pull it now"))._blinks = True  # b, on a host that is live
        await until(pilot, lambda: why in screen_text(pilot), "the trouble")
        await in_worker(pilot, lambda: host.pull("sdc", without("sdc")))
        await page_of(pilot, "The right disk left")
        await in_worker(pilot, lambda: host.push("sdc", NEW, bay=3))
        await page_of(pilot, "A new disk is there")
        assert "cannot be read" not in screen_text(pilot)


async def test_the_new_disk_is_put_in(host: BayHost, begun: Begun) -> None:
    async with running(host) as pilot:
        await taken_out(pilot)
        await in_worker(pilot, lambda: host.pull("sdc", without("sdc")))
        await page_of(pilot, "The right disk left")
        await in_worker(pilot, lambda: host.push("sdc", NEW, bay=3))
        await page_of(pilot, "A new disk is there")
        entry = f"/run/udev/data/b{device_number('sdc')}"
        host.put(entry, f"{host.text(entry)}\nE:ID_FS_TYPE=swap\n")
        await at(pilot, PlanView, "enter")
        await at(pilot, JobView, *"media", "enter")  # what it holds is typed away
        await until(pilot, lambda: len(begun.plans) == 2, "its job")
        record = app_of(pilot).session.of(PullSession).pulls.read()
        assert record is not None
        assert (record.fill_job, record.fresh) == ("job-2", NEW)
    assert [step.argv for step in begun.plans[1].steps[:2]] == [
        ("wipefs", "--all", "/dev/sdc"),
        ("mdadm", "--manage", "/dev/md125", "--add", "/dev/sdc"),
    ]


async def test_the_boot_check_runs_once_and_the_page_says_so_meanwhile(
    host: BayHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes as long as it takes to read each initramfs: the page is there, and its keys work."""
    go, calls = asyncio.Event(), 0
    real = PullSession.check_boot

    async def slow(session: PullSession) -> BootLook:
        nonlocal calls
        calls += 1
        await go.wait()
        return await real(session)

    monkeypatch.setattr(PullSession, "check_boot", slow)
    host.keep_boot()
    async with running(host) as pilot:
        await in_worker(pilot, lambda: app_of(pilot).session.of(PullSession).pulls.begin(host.record("sdc")))
        await in_worker(pilot, lambda: host.pull("sdc", without("sdc")))
        await in_worker(pilot, lambda: host.push("sdc", NEW, MEDIA, bay=3))
        await look(pilot)
        await pilot.press("i")
        page = await page_of(pilot, "Whether the machine boots without any one of its disks is being read.")
        looks = page.look
        await in_worker(pilot, lambda: host.push("sdf", "ANOTHER", MEDIA))  # it is read again meanwhile
        await until(pilot, lambda: page.look != looks, "another look")
        go.set()
        await page_of(pilot, "The machine boots without any one of sda, sdb, sdc and sdd.")
        assert calls == 1
        await in_worker(pilot, lambda: host.push("sdg", "ONE MORE", MEDIA))
        looks = page.look
        await until(pilot, lambda: page.look != looks, "another look")
        assert "The machine boots without any one of sda" in screen_text(pilot)
        assert calls == 1


@pytest.mark.usefixtures("begun")
async def test_it_is_ended_after_a_question(host: BayHost) -> None:
    async with running(host) as pilot:
        await taken_out(pilot)
        await at(pilot, Question, "x")
        await at(pilot, PullScreen, "escape")
        await at(pilot, Question, "x")
        await pilot.press("y")
        await until(pilot, lambda: "the exchange has ended" in message_of(pilot), "its end")
        assert message_of(pilot).endswith("the light of its bay may still be on: i, then l")
        assert app_of(pilot).session.of(PullSession).pulls.read() is None


@pytest.mark.usefixtures("begun")
async def test_nothing_is_kept_of_one_that_has_not_begun(host: BayHost) -> None:
    async with running(host) as pilot:
        await at(pilot, Choice, "i")
        await at(pilot, PullScreen, "enter")
        await at(pilot, PlanView, "enter")
        await at(pilot, PullScreen, "escape")
        await pilot.press("x", "p", "n")  # nothing of that can be done yet
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert app_of(pilot).session.of(PullSession).pulls.read() is None


async def test_an_interrupted_job_is_resumed(
    host: BayHost, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Enter; no other plan is made for what is under way."""
    resumed: list[tuple[str, bool]] = []

    def restart(job_id: str, *, back: bool) -> int:
        resumed.append((job_id, back))
        host.now(without("sdc"))
        return 0

    monkeypatch.setattr("raidtui.watch.storage.restart_job", restart)
    states = {"job-7": JobState.INTERRUPTED}
    monkeypatch.setattr("raidtui.features.pull.session._states", lambda *_: states)
    async with running(host) as pilot:
        pulls = app_of(pilot).session.of(PullSession).pulls
        await in_worker(pilot, lambda: pulls.begin(replace(host.record("sdc"), out_job="job-7")))
        await pilot.press("i")
        await page_of(pilot, "Do not pull: it is still in service")
        await at(pilot, JobView, "enter")
        states["job-7"] = JobState.DONE
        await look(pilot)
        await at(pilot, PullScreen, "escape")
        await page_of(pilot, "Pull it now")
    assert (resumed, begun.plans) == ([("job-7", False)], [])


@pytest.mark.usefixtures("begun")
async def test_where_it_cannot_be_pulled_the_page_says_why(host: BayHost) -> None:
    host.now(without("sdb"))
    async with running(host) as pilot:
        await at(pilot, Choice, "i")
        await at(pilot, PullScreen, "enter")
        text = " ".join(screen_text(pilot).split())
        assert "It cannot be exchanged now: media misses another member already" in text
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, PullScreen)
