"""Arrays that should run and do not have rows, counts and a detail of their own."""

from __future__ import annotations

import pytest

from raidtui.features.rescue.screen.rescue_flow import RescueFlow
from raidtui.model.snapshot import Snapshot
from tests.frame.staging import (
    SMALL,
    WIDE,
    Paces,
    Shows,
    header_of,
    lines_of,
    main_of,
    message_of,
    move,
    rows_of,
    running,
    staged,
    until,
)
from tests.hosts.kernel import Kernel
from tests.hosts.members import TWO, UUID, udev
from tests.hosts.specs import raid1, raid5
from tests.hosts.trees import host_tree

NOT_STARTED = ["not", "started:", "2", "of", "3", "members"]
GONE = ["gone:", "1", "of", "3", "members"]


def with_old() -> Kernel:
    """A host with one array that runs, and two of three members of another."""
    kernel = Kernel(raid1())
    for path, text in TWO.items():
        kernel.put(path, text)
    return kernel


async def test_an_array_that_is_not_started() -> None:
    async with running(with_old()) as pilot:
        assert "✖ 1 failed" in header_of(pilot)
        old, root = rows_of(pilot)[:2]
        assert old.split() == ["✖", "old", "raid5", "failed", *NOT_STARTED]
        assert "root" in root
        await pilot.press("up")
        head = lines_of(pilot, "#array-head")
        assert "not started: 2 of 3 members" in head
        body = lines_of(pilot, "#array-body")
        assert [line.split()[:2] for line in body.split("\n")[1:4]] == [
            ["0", "sda"],
            ["1", "–"],
            ["2", "sdc"],
        ]
        assert "is not started: 2 of 3 members present (sda, sdc)" in " ".join(head.split())
        assert "find the missing members" in head
        assert not main_of(pilot).arrays.limits.low.display
        await pilot.press("c")
        assert message_of(pilot).strip()  # a check is refused, in words


async def test_assembling_begins_with_the_chosen_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[str | None] = []

    async def guide(self: RescueFlow, snapshot: Snapshot, uuid: str | None, label: str) -> None:
        del self, snapshot
        assert label == "old"
        wanted.append(uuid)

    monkeypatch.setattr(RescueFlow, "guide", guide)
    async with running(with_old()) as pilot:
        await pilot.press("up", "a")
        await until(pilot, lambda: wanted)
        assert wanted == ["fbbb2b1c:6dbccfed:d429a0ed:a9ec20ed"]


async def test_an_array_that_dies_keeps_its_row() -> None:
    kernel = Kernel(raid1(), raid5(uuid=UUID.replace(":", "")))
    dies = host_tree(raid1())
    dies.files.update(udev("8:128", number=8))  # of sdi: udev still knows it
    async with running(kernel) as pilot:
        await pilot.press("down")
        assert main_of(pilot).arrays.array is not None
        await move(pilot, lambda: kernel.show(dies, pulled=("sdg", "sdh")))
        gone = rows_of(pilot)[0]
        assert gone.split() == ["✖", "media", "raid5", "ls", "failed", *GONE]
        chosen = main_of(pilot).arrays.absent
        assert chosen is not None
        assert chosen.title == "media"
        head = lines_of(pilot, "#array-head")
        assert "ran until" in head
        assert " ".join(head.split()).count("not there") == 1
        assert lines_of(pilot, "#array-body").count("not there") == 2


# -- pictures


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["80x24", "120x40"])
def test_not_started(shows: Shows, size: tuple[int, int]) -> None:
    async def choose(pilot: Paces) -> None:
        await pilot.press("up")

    shows(staged(with_old()), size=size, prepare=choose)


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["80x24", "120x40"])
def test_gone(shows: Shows, size: tuple[int, int]) -> None:
    kernel = Kernel(raid1(), raid5(uuid=UUID.replace(":", "")))
    dies = host_tree(raid1())
    dies.files.update(udev("8:128", number=8))

    async def die(pilot: Paces) -> None:
        await pilot.press("down")
        await move(pilot, lambda: kernel.show(dies, pulled=("sdg", "sdh")))
        await until(pilot, lambda: rows_of(pilot)[0].split()[-5:] == GONE)

    shows(staged(kernel), size=size, prepare=die)
