"""A disk with read errors is copied first: what is offered, where to, and the job."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from raidtui.features.rescue.copy_plan import CopyRequest, ImageFile
from raidtui.features.rescue.records import MediumState, RescueFacts
from raidtui.features.rescue.screen.guide_screen import GuideScreen
from raidtui.frame.choose import Ask, Choice
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.plan import Plan
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey
from tests.features.arrays.screen.test_key_to_job import Fake, closed, console
from tests.features.rescue.screen.test_guide import chosen, opened, wreck
from tests.frame.machines import ssd
from tests.frame.staging import SMALL, WIDE, Paces, at, message_of, screen_text, staged, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

Shows = Callable[..., None]
SIZES = pytest.mark.parametrize("size", [SMALL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
IMAGE = "/srv/sdb.img"


@pytest.fixture
def copied(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Sdb2 gives read errors; copies are not carried out."""
    wreck(fake, "whole")
    fake.devices["sde2"] = ssd("sde2")
    begun: list[Plan] = []

    def closer(root: HostReader, survey: Survey, snapshot: Snapshot) -> RescueFacts:
        del root, snapshot
        sick = MediumState(device="sdb2", error="Input/output error", error_bytes=5 << 30)
        return RescueFacts(survey=survey, media={"sdb2": sick})

    def request(root: HostReader, source: str, target: str, path: str = "") -> CopyRequest:
        del root
        file = ImageFile(path=path, room_bytes=1 << 40) if path else None
        return CopyRequest(source=source, target=file or target, map_path="/var/lib/raidtui/rescue/sdb.map")

    def start(root: HostReader, plan: Plan) -> str:
        del root
        begun.append(plan)
        return "job-1"

    monkeypatch.setattr("raidtui.features.rescue.screen.rescue_flow.look_closer", closer)
    monkeypatch.setattr("raidtui.features.rescue.copies.copy_request", request)
    monkeypatch.setattr("raidtui.features.rescue.copies.start_copy", start)
    return begun


async def to_targets(pilot: Paces) -> None:
    """Open the choice of a target."""
    await opened()(pilot)
    await chosen(pilot, "copy first")
    await at(pilot, Choice, "enter")
    await until(pilot, lambda: "an image file" in screen_text(pilot))


@SIZES
def test_read_errors(shows: Shows, copied: list[Plan], size: tuple[int, int]) -> None:
    del copied
    shows(staged(Kernel(raid10())), size=size, prepare=opened())


@SIZES
def test_copy_to_what(shows: Shows, copied: list[Plan], size: tuple[int, int]) -> None:
    del copied
    shows(staged(Kernel(raid10())), size=size, prepare=to_targets)


async def test_to_an_image_file(copied: list[Plan]) -> None:
    async with console() as pilot:
        await to_targets(pilot)
        await at(pilot, Ask, "enter")
        await at(pilot, PlanView, *IMAGE, "enter")
        await at(pilot, JobView, "y")
        await until(pilot, lambda: "Esc back" in screen_text(pilot))
        assert (await closed(pilot, "escape")).endswith("done")
    [plan] = copied
    assert plan.steps[1].argv[-3:] == ("/dev/sdb2", IMAGE, "/var/lib/raidtui/rescue/sdb.map")


async def test_a_device_is_overwritten_only_after_its_name_was_typed(copied: list[Plan]) -> None:
    async with console() as pilot:
        await to_targets(pilot)
        await at(pilot, PlanView, "down", "enter")
        await pilot.press("y", "enter")
        await pilot.pause()
        assert copied == []
        await at(pilot, GuideScreen, "escape")
        assert await closed(pilot, "escape") == "nothing was changed"
    assert copied == []


async def test_members_of_an_array_at_rest_are_no_targets(copied: list[Plan]) -> None:
    async with console() as pilot:
        await to_targets(pilot)
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        assert "sda2 may be a member: it has a superblock of media" in screen_text(pilot)
        assert isinstance(pilot.app.screen, Choice)
    assert copied == []


async def test_a_file_is_given_by_its_whole_path(copied: list[Plan]) -> None:
    async with console() as pilot:
        await to_targets(pilot)
        await at(pilot, Ask, "enter")
        await at(pilot, GuideScreen, *"sdb.img", "enter")
        assert message_of(pilot) == "nothing was changed: give the file's full path"
    assert copied == []
