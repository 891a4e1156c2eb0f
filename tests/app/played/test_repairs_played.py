"""By keys on the demo host: a disk fails and is replaced, an array is built; nothing of this host changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raidtui.features.create.screen.wizard_screen import WizardScreen
from raidtui.frame.choose import Ask, Choice
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.watch import storage
from tests.app.played.audit import check_watch, watched
from tests.demo.scene import Scene
from tests.frame.staging import (
    SIZES,
    Paces,
    Shows,
    at,
    in_worker,
    look,
    message_of,
    rows_of,
    running,
    says,
    screen_text,
    staged,
    until,
)


async def let_pass(pilot: Paces, scene: Scene, seconds: float) -> None:
    """Let time pass on the demo host, in the thread that reads it, and look at it."""
    await in_worker(pilot, lambda: scene.go(seconds))
    await look(pilot)


async def ready(pilot: Paces) -> None:
    """Wait until the arrays are there."""
    await until(pilot, lambda: "● vm" in screen_text(pilot), "the arrays are there")


async def confirmed(pilot: Paces, title: str) -> None:
    """Confirm the plan in view, and wait until its job has done all that does not wait for md."""
    job = await at(pilot, JobView, "y")
    assert isinstance(job, JobView)
    await until(pilot, lambda: job.state != "running", f"{title}: the job")


async def chosen(pilot: Paces, word: str) -> None:
    """Choose the row of a list that names a device, by keys."""
    screen = pilot.app.screen
    assert isinstance(screen, Choice)

    def may() -> bool:
        row = next((each for each in screen._options if each.key == word), None)
        return row is not None and not row.refusal and not row.pending and not screen._words

    await until(pilot, may, f"{word} can be chosen")
    while (at_ := [each.key for each in screen._options].index(word)) != screen._at:
        await pilot.press("down" if at_ > screen._at else "up")
    await pilot.press("enter")


async def planned(pilot: Paces) -> None:
    """Wait until a plan is in view."""
    await until(pilot, lambda: isinstance(pilot.app.screen, PlanView), "the plan")
    await until(pilot, lambda: "demo · " in screen_text(pilot), "it is drawn")


async def test_a_disk_fails_and_is_replaced() -> None:
    scene = Scene()
    async with running(scene.reader) as pilot:
        await ready(pilot)
        await let_pass(pilot, scene, 41)
        await pilot.press("up")
        await until(pilot, lambda: "nvme1n1p1 failed" in screen_text(pilot), "the story fails a disk")
        await at(pilot, Choice, "M")
        await chosen(pilot, "nvme1n1p1")
        await planned(pilot)
        assert "mdadm --manage /dev/md125 --remove /dev/nvme1n1p1" in screen_text(pilot)
        assert "demo · review" in screen_text(pilot)
        assert "nvme1n1p1 is dying: it reports that it has become unreliable" in screen_text(pilot)
        await confirmed(pilot, "remove")
        said = "mdadm: hot removed /dev/nvme1n1p1 from /dev/md125"
        await until(pilot, lambda: said in screen_text(pilot), "what mdadm printed")
        await pilot.press("escape")
        await says(pilot, "remove: nvme1n1p1: done")
        await at(pilot, Choice, "A")
        await chosen(pilot, "nvme4n1")
        await planned(pilot)
        assert "mdadm --manage /dev/md125 --add-spare /dev/nvme4n1p1" in screen_text(pilot)
        await confirmed(pilot, "add")
        await pilot.press("escape")
        await says(pilot, "add: nvme4n1p1: done")
        await look(pilot)
        await until(pilot, lambda: "nvme4n1p1" in screen_text(pilot), "pane 1 shows the spare")
        await let_pass(pilot, scene, 1100)
        await until(pilot, lambda: "✖" not in "".join(rows_of(pilot)), "the recovery has ended")
        vm = scene.reader.simulated.array("vm")
        assert vm is not None
        assert {each.device: each.state for each in vm.members if not each.in_sync} == {"nvme4n1p1": "spare"}


async def test_a_member_is_copied_to_a_new_disk_and_leaves() -> None:
    """Replace while it serves, then remove; the job waits for md and ends by itself."""
    scene = Scene()
    async with running(scene.reader) as pilot:
        await ready(pilot)
        await let_pass(pilot, scene, 30)
        await pilot.press("down")
        await until(pilot, lambda: "/dev/md126" in screen_text(pilot), "root is chosen")
        await at(pilot, Choice, "R")
        await chosen(pilot, "sdb1")
        await until(pilot, lambda: "Replace sdb1 with which device?" in screen_text(pilot), "the second list")
        await chosen(pilot, "sdh")
        await planned(pilot)
        await confirmed(pilot, "replace")
        await until(pilot, lambda: "goes on: md copies sdb1 to sdh" in screen_text(pilot), "md copies")
        await pilot.press("escape")
        await let_pass(pilot, scene, 900)
        root = scene.reader.simulated.array("root")
        assert root is not None
        assert root.up == "UU"
        assert root.member("sdb1").state == "faulty"  # type: ignore[union-attr]
        await at(pilot, Choice, "J")
        await until(pilot, lambda: "done" in screen_text(pilot), "its job has ended")


async def on_the_page(pilot: Paces) -> None:
    """Take the two free NVMe disks that are ticked, the mirror that is proposed, and a name."""
    await at(pilot, WizardScreen, "2")
    await until(pilot, lambda: "2 free devices of one kind" in screen_text(pilot), "all devices are read")
    await pilot.press("enter")
    await until(pilot, lambda: "safe: a mirror" in screen_text(pilot), "what for")
    await pilot.press("enter")
    await until(pilot, lambda: "its name?" in screen_text(pilot), "the name")
    await pilot.press("ctrl+u", *"backup", "enter")
    await until(pilot, lambda: "all of it" in screen_text(pilot), "the page")


async def built(pilot: Paces) -> None:
    """Confirm the plan of the page, and wait for the end of its job."""
    await pilot.press("enter")
    await planned(pilot)
    job = await at(pilot, JobView, "y")
    await until(pilot, lambda: job.state == "done", "the job has ended")


async def left(pilot: Paces) -> None:
    """Leave the job's view, and look at the arrays."""
    await pilot.press("escape")
    await look(pilot)


async def test_the_wizard_builds_an_array_that_is_renamed_and_stopped(tmp_path: Path) -> None:
    scene = Scene()
    check_watch(tmp_path)
    async with running(scene.reader) as pilot:
        await ready(pilot)
        with watched() as deeds:
            await on_the_page(pilot)
            await pilot.press(
                "down", "down", "down", "right", "down", "space", "ctrl+u", *"/srv/new", "enter"
            )
            await until(pilot, lambda: "weekly TRIM" in screen_text(pilot), "what a mount point brings")
            await built(pilot)
            trims = "the members discarded 1.7 TiB: TRIM passes"
            await until(pilot, lambda: trims in screen_text(pilot), "what the test of TRIM has shown")
            await left(pilot)
            await until(pilot, lambda: any("backup" in row for row in rows_of(pilot)), "it is in pane 1")
            assert "resync" in next(row for row in rows_of(pilot) if "backup" in row)
            assert "ext4 mounted at /srv/new" in screen_text(pilot)
            assert "ARRAY /dev/md/backup metadata=1.2 UUID=" in (scene.reader.text("/etc/mdadm.conf") or "")
            await renamed_and_stopped(pilot, scene)
            await at(pilot, Choice, "Z")
            await chosen(pilot, "nvme4n1p1")
            await planned(pilot)
            job = await at(pilot, JobView, *"store", "enter")
            await until(pilot, lambda: job.state == "done", "the superblock is zeroed")
            await left(pilot)
        assert deeds == []
    assert scene.reader.take_tool("mdadm", "--examine", "--export", "/dev/nvme4n1p1").status == 1
    assert scene.reader.take_tool("mdadm", "--examine", "--export", "/dev/nvme5n1p1").status == 0


async def renamed_and_stopped(pilot: Paces, scene: Scene) -> None:
    """Rename the new array and stop it, by keys; what is mounted holds it first."""
    await pilot.press("T")
    await until(pilot, lambda: "backup is in use: ext4 mounted" in message_of(pilot), "it is refused")
    await in_worker(pilot, lambda: scene.reader.take_tool("umount", "/srv/new"))
    await look(pilot)
    await at(pilot, Ask, "N")
    await pilot.press(*"store", "enter")
    await planned(pilot)
    assert "--name=store --update=name" in screen_text(pilot)
    await confirmed(pilot, "rename")
    await left(pilot)
    await until(pilot, lambda: any("store" in row for row in rows_of(pilot)), "the new name")
    assert "/dev/md/store" in (scene.reader.text("/etc/mdadm.conf") or "")
    await pilot.press("T")
    await planned(pilot)
    await confirmed(pilot, "stop")
    await left(pilot)
    await until(pilot, lambda: not any("store" in row for row in rows_of(pilot)), "it is stopped")


async def test_a_plan_of_the_demo_is_not_saved_as_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scene = Scene()
    async with running(scene.reader) as pilot:
        await ready(pilot)
        await let_pass(pilot, scene, 41)
        await pilot.press("up")
        await at(pilot, Choice, "M")
        await chosen(pilot, "nvme1n1p1")
        await planned(pilot)
        await pilot.press("s")
        await says(pilot, "not saved: the demo host is simulated, and its plan must not run on a real one")
    assert os.listdir(tmp_path) == []


@SIZES
def test_the_demo_as_its_new_array_syncs(
    shows: Shows, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "new_uuid", lambda: "0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9")
    scene = Scene()

    async def prepare(pilot: Paces) -> None:
        await ready(pilot)
        await on_the_page(pilot)
        await built(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot).endswith("done"), "it is left")
        await until(pilot, lambda: any("backup" in row for row in rows_of(pilot)), "it is there")
        await let_pass(pilot, scene, 2)

    shows(staged(scene.reader), size=size, prepare=prepare)
