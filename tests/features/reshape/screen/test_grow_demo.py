"""Key G on the demo host: from the page to the finished job, with the array in its new shape."""

from __future__ import annotations

from raidtui.features.reshape.screen.grow_screen import GrowScreen
from raidtui.frame.plan_view import JobView, PlanView
from tests.demo.scene import Scene
from tests.frame.staging import Paces, at, in_worker, main_of, message_of, running, screen_text, until


async def let_pass(pilot: Paces, scene: Scene, seconds: float) -> None:
    """Let time pass on the demo host, in the thread that reads it."""
    await in_worker(pilot, lambda: scene.go(seconds))


async def test_from_key_g_to_the_new_shape() -> None:
    scene = Scene()
    async with running(scene.reader) as pilot:
        await until(pilot, lambda: "raid5 ls" in screen_text(pilot), "the arrays are there")
        await pilot.press("down", "down")
        page = await at(pilot, GrowScreen, "G")
        assert isinstance(page, GrowScreen)
        await until(pilot, lambda: "no device is chosen yet" in screen_text(pilot), "the host has been read")
        await pilot.press("down", "right", "down", "down", "right", "right")
        await until(pilot, lambda: "‹ vg0/images ›" in screen_text(pilot), "the volume is chosen")
        assert "Capacity 1.4 TiB → 2.1 TiB" in screen_text(pilot)
        await at(pilot, PlanView, "enter")
        assert "lvextend --extents +100%FREE vg0/images" in screen_text(pilot)
        job = await at(pilot, JobView, "y")
        assert isinstance(job, JobView)
        await until(pilot, lambda: "goes on: md moves every block" in screen_text(pilot), "md is at work")
        await let_pass(pilot, scene, 300)
        await until(pilot, lambda: "reshape:" in screen_text(pilot) or "reshape " in screen_text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "reshape: 3 → 4 devices" in screen_text(pilot), "pane 1 follows it")
        assert "there is no" in screen_text(pilot)
        await let_pass(pilot, scene, 9000)
        await pilot.press("J")
        await until(pilot, lambda: "done" in screen_text(pilot), "its job has ended")
        await at(pilot, JobView, "enter")
        await until(pilot, lambda: "xfs_growfs /var/lib/libvirt" in screen_text(pilot), "its journal")
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "grow: 3 → 4 devices: done", "it is left")
        await until(pilot, lambda: "2.1 TiB" in screen_text(pilot), "the array is larger")
        assert main_of(pilot).is_current


async def test_what_the_demo_does_not_play_is_said() -> None:
    """A RAID 0, before anything has begun."""
    scene = Scene()
    async with running(scene.reader) as pilot:
        await until(pilot, lambda: "raid0" in screen_text(pilot), "the arrays are there")
        await pilot.press("down", "down", "down")
        await at(pilot, GrowScreen, "G")
        await until(pilot, lambda: "no device is chosen yet" in screen_text(pilot), "the host has been read")
        await pilot.press("down", "down", "down", "down", "space")
        await until(pilot, lambda: "▸[ 1 ]  nvme5n1" in screen_text(pilot), "a disk is taken")
        await at(pilot, PlanView, "enter")
        await pilot.press("y")
        said = "the demo host is simulated, and does not play this: mdadm --grow"
        await until(pilot, lambda: message_of(pilot).startswith(said), "it is said")
        assert main_of(pilot).is_current
