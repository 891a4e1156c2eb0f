"""The flows from a key to a job that begin with devices: build, zero; and what is asked on them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.create.screen.wizard_screen import WizardScreen
from raidtui.features.pull.screen.pull_screen import PullScreen
from raidtui.frame.choose import Ask, Choice
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import ReadingProgress, ReadingScope
from raidtui.jobs.lock import JobError
from raidtui.jobs.states import JobState
from raidtui.jobs.store import JobLine
from raidtui.model.plan import Plan, Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Superblock, Survey
from raidtui.watch.storage import JobNews
from tests.frame.machines import GAMES, OLD, plain_host, ssd
from tests.frame.staging import (
    SIZES,
    Paces,
    Shows,
    app_of,
    at,
    in_worker,
    main_of,
    message_of,
    running,
    says,
    screen_text,
    staged,
    until,
)
from tests.hosts.kernel import Kernel
from tests.hosts.specs import Syncing, raid5, raid10
from tests.plans.new_array import FOUR, UUID

BUILD = ("enter", "enter", "ctrl+u")
"""Keys that take what is proposed, as far as the name."""


def media(slot: int | None, **more: Any) -> Superblock:
    """A member of the RAID-5 "media", which is not running."""
    given = {"uuid": UUID, "name": "nas:media", "level": "raid5", "raid_disks": 3, "events": 40, **more}
    return Superblock(slot=slot, **given)


DEVICES = (
    ssd("sda2", superblock=media(0)),
    ssd("sdb2", superblock=media(1)),
    ssd("sdc2", superblock=OLD),
    ssd("sdd2"),
)


class AllRead:
    """A reading that is at its end from the beginning.

    Args:
        fake: has the devices.
        snapshot: the host's arrays.
    """

    serial = open = False

    def __init__(self, fake: Fake, snapshot: Snapshot) -> None:
        self._fake = fake
        self._snapshot = snapshot
        self.progress = ReadingProgress(read=len(fake.devices), of=len(fake.devices), ready=True, enough=True)

    def start(self) -> None:
        """It is at its end."""

    def survey(self) -> Survey:
        return replace(plain_host(), snapshot=self._snapshot, devices=self._fake.devices)

    def again(self, snapshot: Snapshot, names: Collection[str]) -> None:
        self._snapshot = snapshot
        self._fake.read_again.append(tuple(names))

    def enough(self, names: object) -> bool:
        del names
        return True

    def cancel(self) -> None:
        self._fake.cancelled += 1


class Fake:
    """What is asked of the storage module; nothing is done.

    Args:
        devices: what a survey finds.
    """

    def __init__(self, *devices: Any) -> None:
        self.devices = {device.disk.name: device for device in devices}
        self.begun: list[Plan] = []
        self.saved: list[Plan] = []
        self.busy = ""
        self.starting = threading.Event()
        self.answers: threading.Event | None = None
        self.scopes: list[ReadingScope] = []
        self.read_again: list[tuple[str, ...]] = []
        self.cancelled = 0

    def reading_of(
        self, root: HostReader, snapshot: Snapshot, scope: ReadingScope, *, notify: Callable[[], None]
    ) -> AllRead:
        del root, notify
        self.scopes.append(scope)
        return AllRead(self, snapshot)

    def start_job(self, root: HostReader, plan: Plan) -> str:
        del root
        self.starting.set()
        if self.answers is not None:
            assert self.answers.wait(120)  # the pilot may wait 30 s for widgets of a page that was closed
        if self.busy:
            raise JobError(self.busy)
        self.begun.append(plan)
        return "job-1"

    def save_script(self, plan: Plan) -> str:
        self.saved.append(plan)
        return "/root/raidtui.sh"

    def job_news(self, job_id: str, since: int, begun_after: int) -> JobNews:
        del job_id, since, begun_after
        return JobNews(entries=({"event": "work", "pid": 1}, {"event": "done"}), state=JobState.DONE)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Nothing is read or changed."""
    made = Fake(*DEVICES)
    for name in ("start_job", "job_news", "reading_of", "save_script"):
        monkeypatch.setattr(f"raidtui.watch.storage.{name}", getattr(made, name))
    monkeypatch.setattr("raidtui.watch.storage.new_uuid", lambda: "11111111:22222222:33333333:44444444")
    return made


@asynccontextmanager
async def console(*arrays: Any) -> Any:
    """The console, as root on a host with these arrays."""
    async with running(Kernel(*arrays)) as pilot:
        yield pilot


async def closed(pilot: Paces, *keys: str) -> str:
    """Press keys, and wait until the main screen is alone; gives what it says then."""
    await pilot.press(*keys)
    await until(pilot, lambda: len(pilot.app.screen_stack) == 1, "the main screen")
    await until(pilot, lambda: "reading" not in message_of(pilot) and message_of(pilot))
    return message_of(pilot)


async def done(pilot: Paces, *keys: str) -> str:
    """Press keys that begin a job, wait for its end, and leave; gives what is said then."""
    await at(pilot, JobView, *keys)
    await until(pilot, lambda: "Esc back" in screen_text(pilot), "the job's end")
    return await closed(pilot, "escape")


# -- build


@pytest.mark.parametrize("key", ["2", "b"])
async def test_leaving_the_wizard_leads_back(fake: Fake, key: str) -> None:
    async with console(raid10()) as pilot:
        await pilot.press("6")
        await at(pilot, WizardScreen, key)
        assert await closed(pilot, "escape") == "nothing was built"
        assert main_of(pilot).pane == "log"
    assert fake.begun == []


async def test_from_the_wizard_to_the_job(fake: Fake) -> None:
    fake.devices = {name: ssd(name) for name in FOUR}
    async with console() as pilot:
        await at(pilot, WizardScreen, "b")
        await at(pilot, PlanView, *BUILD, *"127", "enter", "enter")
        text = screen_text(pilot)
        assert "Build an array: 127, raid10 of 4 devices" in text
        assert "This writes to 4 devices that are empty:" in text
        await pilot.press("enter", "enter")  # Enter alone never does it
        assert isinstance(pilot.app.screen, PlanView)
        assert await done(pilot, "y") == "create: 127, raid10 of 4 devices: done"
    [plan] = fake.begun
    assert plan.confirm == "127"
    assert "--chunk=512" in plan.steps[0].argv


async def test_the_name_is_typed_where_a_device_holds_data(fake: Fake) -> None:
    fake.devices = {name: ssd(name) for name in FOUR} | {"sdb2": ssd("sdb2", GAMES)}
    async with console() as pilot:
        await at(pilot, WizardScreen, "b")
        await at(pilot, PlanView, "down", "space", *BUILD, *"127", "enter", "enter")
        await pilot.press("y", "enter")
        assert isinstance(pilot.app.screen, PlanView)
        assert await done(pilot, "ctrl+u", *"127", "enter") == "create: 127, raid10 of 4 devices: done"


async def test_the_name_is_typed_where_a_warning_is_grave(fake: Fake) -> None:
    """Nothing is lost on two USB disks, but such an array should not be made by four Enters."""
    usb = ("disk/by-id/usb-WD_Elements-0:0",)
    fake.devices = {name: ssd(name, links=usb) for name in FOUR}
    async with console() as pilot:
        await at(pilot, WizardScreen, "b")
        await at(pilot, PlanView, *("space", "down") * 4, *BUILD, *"127", "enter", "enter")
        assert "To continue, type 127 and Enter" in screen_text(pilot)


async def test_no_review_of_what_cannot_be_written(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only /etc is known before anything is confirmed."""
    why = Refusal(code=RefusalCode.WRONG_STATE, why="the plan writes a file, and /etc is read-only")
    monkeypatch.setattr("raidtui.frame.plan_flow.refuse_unwritable", lambda _: why)
    fake.devices = {name: ssd(name) for name in FOUR}
    async with console() as pilot:
        monkeypatch.setattr(app_of(pilot).session.reader, "live", True)
        await at(pilot, WizardScreen, "b")
        await pilot.press(*BUILD, *"127", "enter", "enter")
        await until(pilot, lambda: why.why in screen_text(pilot), why.why)
        assert isinstance(pilot.app.screen, WizardScreen)
    assert fake.begun == []


async def test_from_the_review_back_to_the_wizard(fake: Fake) -> None:
    """What was decided is still there; a script can be had instead."""
    fake.devices = {name: ssd(name) for name in FOUR}
    async with console() as pilot:
        await at(pilot, WizardScreen, "b")
        await at(pilot, PlanView, *BUILD, *"127", "enter", "enter")
        wizard = await at(pilot, WizardScreen, "escape")
        assert (wizard.step, wizard.draft.name) == ("page", "127")
        await at(pilot, PlanView, "end", "space", "backspace", "8", "enter", "enter")
        said = await closed(pilot, "s")
        assert said == "saved as /root/raidtui.sh; nothing was changed"
    assert fake.begun == []
    assert [plan.confirm for plan in fake.saved] == ["128"]


async def test_a_plan_that_cannot_be_leads_back_with_the_reason(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something changed while one was typing: the name was free when it was typed."""
    fake.devices = {name: ssd(name) for name in FOUR}
    monkeypatch.setattr("raidtui.features.create.screen.wizard_screen.refuse_word", lambda *_: None)
    monkeypatch.setattr("raidtui.features.create.screen.wizard_screen.refuse_step", lambda *_: "")
    async with console(raid10()) as pilot:
        await at(pilot, WizardScreen, "b")
        await pilot.press(*BUILD, *"127", "enter", "enter")
        await until(pilot, lambda: "md127 already exists" in screen_text(pilot))
        assert isinstance(pilot.app.screen, WizardScreen)
        assert pilot.app.screen.step == "page"
    assert fake.begun == []


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (Kernel(raid10(), writable=False), "needs root; run it as: sudo raidtui"),
    ],
)
async def test_who_may_not_build(kernel: Kernel, said: str) -> None:
    async with running(kernel) as pilot:
        for key in ("2", "b", "Z"):
            await pilot.press(key)
            await until(pilot, lambda: message_of(pilot) == said)
            assert len(pilot.app.screen_stack) == 1
            await pilot.press("up")
            await until(pilot, lambda: message_of(pilot) == "")


async def test_the_demo_host_is_left_alone() -> None:
    async with running(Kernel()) as pilot:
        await pilot.press("d")
        await until(pilot, lambda: message_of(pilot).startswith("a simulated host"))
        await until(pilot, lambda: app_of(pilot).report is not None)
        refused = {
            "a": "its members hold no data to rescue",
            "i": "there is no disk to pull",
            "m": "its members hold no data to compare",
            "y": "its disks serve no requests",
        }
        for key, why in refused.items():
            await pilot.press(key)
            await says(pilot, f"the demo host is simulated: {why}")
            await pilot.press("up")
            await until(pilot, lambda: message_of(pilot) == "")
        await pilot.press("Z")
        await until(pilot, lambda: "is a member of vm; remove it from the array first" in screen_text(pilot))


# -- zero


@SIZES
def test_zero(shows: Shows, fake: Fake, size: tuple[int, int]) -> None:
    member = raid5("md9", members=("sde1", "sdf1", "sdg1"))
    fake.devices["sde1"] = ssd("sde1", superblock=Superblock(uuid=member.array_uuid, name="nas:media"))

    async def choose(pilot: Paces) -> None:
        await at(pilot, Choice, "Z", *["down"] * 4)
        await pilot.press("end", *["down"] * 4)

    shows(staged(Kernel(member)), size=size, prepare=choose)


async def test_a_superblock_that_is_needed_says_so_and_wants_the_arrays_name(fake: Fake) -> None:
    async with console() as pilot:
        await at(pilot, Choice, "Z")
        await at(pilot, PlanView, "enter")
        text = screen_text(pilot)
        assert "Lost afterwards:" in text
        assert "sda2 is needed to start the array" in text
        assert await done(pilot, *"media", "enter") == "zero superblock: sda2: done"
    [plan] = fake.begun
    assert [step.argv for step in plan.steps] == [("mdadm", "--zero-superblock", "/dev/sda2")]


async def test_no_superblock_to_wipe(fake: Fake) -> None:
    fake.devices = {"sdd2": ssd("sdd2")}
    async with console() as pilot:
        await at(pilot, Choice, "Z")
        assert "no device has an md superblock" in screen_text(pilot)
        assert await closed(pilot, "enter", "escape") == "nothing was changed"


# -- read-only


async def test_a_read_only_array_is_made_writable_by_the_first_key_of_the_footer(fake: Fake) -> None:
    waits = raid10(
        read_only="auto-read-only", sync=Syncing(action="resync", waiting="PENDING"), resync_start="0"
    )
    async with console(waits) as pilot:
        await pilot.press("up")
        assert screen_text(pilot).split("\n")[-1].startswith(" W Writable")
        assert "→ W makes it writable" in screen_text(pilot)
        await at(pilot, PlanView, "W")
        assert "mdadm --readwrite /dev/md127" in screen_text(pilot)
        assert await done(pilot, "y") == "read-write: data: done"
    [plan] = fake.begun
    assert [step.argv for step in plan.steps] == [("mdadm", "--readwrite", "/dev/md127")]


async def test_an_array_that_is_writable_is_left_alone(fake: Fake) -> None:
    async with console(raid10()) as pilot:
        await pilot.press("end", "W")
        assert "data is already read-write" in message_of(pilot)
    assert not fake.begun


# -- members that would destroy another array


@pytest.mark.parametrize(("typed", "begun"), [("old", 1), ("data", 0)])
async def test_adding_a_member_of_another_array_wants_its_name(fake: Fake, typed: str, begun: int) -> None:
    fake.devices = {"sdc2": ssd("sdc2", superblock=OLD)}
    async with console(raid10(members=("sda", "sdb", "sdc", None))) as pilot:
        await at(pilot, Choice, "A")
        await at(pilot, Ask, "enter")
        assert "To destroy that array for good, type its name" in screen_text(pilot)
        if begun:
            await at(pilot, PlanView, *typed, "enter")
            assert await done(pilot, *"data", "enter") == "add: sdc2: done"
        else:
            assert await closed(pilot, *typed, "enter") == "nothing was changed"
    assert len(fake.begun) == begun


# -- which disk is it


def plugged(name: str, port: int) -> Any:
    return ssd(name, links=("disk/by-id/ata-X", f"disk/by-path/pci-0000:00:17.0-ata-{port}"))


@SIZES
def test_which_disk(shows: Shows, fake: Fake, size: tuple[int, int]) -> None:
    fake.devices = {name: plugged(name, port) for port, name in enumerate(("sda", "sdb", "sdc", "sdd"), 1)}

    async def choose(pilot: Paces) -> None:
        await at(pilot, Choice, "i")

    shows(staged(Kernel(raid10())), size=size, prepare=choose)


async def test_the_light_of_a_bay(fake: Fake) -> None:
    fake.devices = {name: plugged(name, port) for port, name in enumerate(("sda", "sdb", "sdc", "sdd"), 1)}
    async with console(raid10()) as pilot:
        await at(pilot, Choice, "i")
        await at(pilot, PullScreen, "down", "enter")
        await at(pilot, PlanView, "l")
        await at(pilot, JobView, "y")
        await until(pilot, lambda: "Esc back" in screen_text(pilot), "the job's end")
        await at(pilot, PullScreen, "escape")
        assert await closed(pilot, "escape") == "locate light of sdb on: done"
    [plan] = fake.begun
    assert [step.argv for step in plan.steps] == [("ledctl", "--listed-only", "locate=/dev/sdb")]


async def test_escape_does_not_cancel_a_job_that_is_being_started(fake: Fake) -> None:
    """The job would be made all the same, and nobody would see it."""
    fake.devices = {name: plugged(name, port) for port, name in enumerate(("sda", "sdb", "sdc", "sdd"), 1)}
    answers = fake.answers = threading.Event()
    async with console(raid10()) as pilot:
        await at(pilot, Choice, "i")
        await at(pilot, PullScreen, "down", "enter")
        await at(pilot, PlanView, "l")
        await pilot.press("y")
        await until(pilot, fake.starting.is_set, "the job is being made")
        await pilot.press("escape")
        await pilot.pause()
        shown = message_of(pilot)
        answers.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, JobView), "the job")
        assert shown != "nothing was changed"


# -- what was begun before


async def test_the_list_of_jobs_has_those_that_ended(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = (
        JobLine(
            id="job-2", state=JobState.INTERRUPTED, title="replace: data: sda → sdb", made_s=1_763_000_000.0
        ),
        JobLine(id="job-1", state=JobState.DONE, title="stop: media → gone"),
        JobLine(id="job-0", state=JobState.NOT_TRUSTED, title="it is writable by others than root"),
    )
    monkeypatch.setattr("raidtui.watch.storage.recent_jobs", lambda: jobs)
    async with console(raid10()) as pilot:
        monkeypatch.setattr(app_of(pilot).session.reader, "live", True)
        await at(pilot, Choice, "J")
        text = screen_text(pilot)
        assert text.index("interrupted") < text.index("replace: data") < text.index("stop: media")
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "not available: it is writable by others" in screen_text(pilot))
        await pilot.press("up", "up")
        view = await at(pilot, JobView, "down", "enter")
        await until(pilot, lambda: view.state == "done")
        assert "stop: media → gone" in screen_text(pilot)
        assert await closed(pilot, "escape") == "stop: media → gone: done"


async def test_another_host_shows_none_of_this_machines_jobs(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("recent_jobs", "opening_words"):
        monkeypatch.setattr(f"raidtui.watch.storage.{name}", None)
    async with console(raid10()) as pilot:
        await pilot.press("J")
        await until(pilot, lambda: "there are no jobs yet" in screen_text(pilot))


async def test_no_job_yet(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.watch.storage.recent_jobs", tuple)
    async with console(raid10()) as pilot:
        await pilot.press("J")
        await until(pilot, lambda: "there are no jobs yet" in screen_text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)


async def test_the_array_that_the_wizard_has_made_is_chosen(fake: Fake) -> None:
    fake.devices = {name: ssd(name) for name in FOUR}
    new = raid5("md3", "new", uuid="11111111222222223333333344444444")
    kernel = Kernel(raid10())
    async with running(kernel) as pilot:
        await at(pilot, WizardScreen, "b")
        await pilot.press(*BUILD, *"128", "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PlanView))
        main_of(pilot).arrays.show_report(await in_worker(pilot, lambda: became(pilot, kernel, new)))
        chosen = main_of(pilot).arrays.array
        assert chosen is not None
        assert chosen.title == "new"


def became(pilot: Paces, kernel: Kernel, new: Any) -> Any:
    """Let an array come, and return the report of it."""
    kernel.change(raid10(), new)
    loop = app_of(pilot).session.loop
    return loop.watch.refresh()
