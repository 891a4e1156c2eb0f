"""The search and its candidates: a picture of each state, and the way to a trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Recreation
from raidtui.features.rescue.screen.following_pages import SearchScreen, stage_lines
from raidtui.features.rescue.screen.guide_screen import GuideScreen
from raidtui.features.rescue.screen.trial_pages import ProofScreen, TrialScreen
from raidtui.features.rescue.search.find_geometry import SearchRequest
from raidtui.features.rescue.search.members import SearchStage
from raidtui.features.rescue.search.results import (
    ArrayHint,
    CheckResult,
    Proof,
    RescueGeometry,
    SearchCandidate,
    SearchOutcome,
    SearchResult,
)
from raidtui.features.rescue.session_search import SearchRun
from raidtui.frame.plan_view import PlanView
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.geometry import MISSING
from raidtui.model.survey import Device, Survey
from tests.features.arrays.screen.test_key_to_job import Fake, console
from tests.features.rescue.screen.test_guide import chosen, opened
from tests.features.rescue.screen.test_trial_pages import FakeTrials, tried
from tests.features.rescue.screen.wreck_stage import UUID, disks, member
from tests.frame.machines import plain_host
from tests.frame.staging import SMALL, WIDE, at, screen_text, staged, until, with_screen
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10

__all__ = ["tried"]
Shows = Callable[..., None]
SIZES = pytest.mark.parametrize("size", [SMALL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
NAMES = ("sda2", "sdb2", "sdc2", "sdd2")


def candidate(*order: str, best: bool = True, check: CheckResult = CheckResult.CLEAN) -> SearchCandidate:
    """A RAID 5 with its members in this order."""
    geometry = RescueGeometry(
        level=5, order=order, layout="left-symmetric", chunk_bytes=64 << 10, data_offset_sectors=264_192
    )
    sure = "412 blocks of ext4 metadata lie where they belong, and their checksums are right; none is wrong."
    return SearchCandidate(
        geometry=geometry,
        proof=Proof(check=check, contents="ext4", sure=sure),
        passed=412,
        failed=0,
        best=best,
        notes=() if best else ("Fewer blocks speak for it.",),
    )


UNIQUE = SearchResult(
    outcome=SearchOutcome.UNIQUE,
    candidates=(
        candidate("sdc2", "sda2", "sdb2", "sdd2"),
        candidate("sdd2", "sda2", "sdb2", "sdc2", best=False),
    ),
    alike=1,
    text=("One geometry fits, and nothing speaks against it.",),
    bytes_read=412 << 20,
    seconds=9.2,
    tested=1296,
)
TIED = SearchResult(
    outcome=SearchOutcome.TIED,
    candidates=tuple(
        candidate(*order, check=CheckResult.NOT_TRIED)
        for order in (("sda2", "sdb2", "sdc2", MISSING), ("sdb2", "sda2", "sdc2", MISSING))
    ),
    alike=720,
    text=("720 geometries fit equally: not unique. What would decide between them has not been found.",),
    bytes_read=412 << 20,
    seconds=9.2,
    tested=1296,
)
TIE = "One of 720 geometries that fit equally, not the only one"
HINTED = replace(
    TIED,
    hints=(
        ArrayHint(
            source="black box of 2026-11-22 13:05 (job 20261122-130501-stop)",
            uuid=UUID,
            name="media",
            slots={"sdc2": 0, "sda2": 1},
            raid_disks=4,
            level="raid5",
        ),
        ArrayHint(source="/etc/mdadm/mdadm.conf, line 3", uuid=UUID, name="media"),
    ),
)
NOTHING = SearchResult(
    outcome=SearchOutcome.NOTHING,
    text=("Nothing was found on these devices.",),
    bytes_read=1 << 20,
    seconds=3.0,
)


def run_of(
    result: SearchResult | None = None, error: str = "", stage: tuple[SearchStage, int, int] | None = None
) -> SearchRun:
    """A search in this state; nothing is read."""
    run = SearchRun(Kernel(), plain_host(), NAMES)
    run.result, run.error, run.stage = result, error, stage
    return run


# -- pictures


@SIZES
@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("begins", run_of()),
        ("anchors", run_of(stage=(SearchStage.ANCHORS, 300, 800))),
        ("unique", run_of(UNIQUE)),
        ("tied", run_of(TIED)),
        ("hinted", run_of(HINTED)),
        ("nothing", run_of(NOTHING)),
        ("unread", run_of(error="/dev/sda2 cannot be read: Input/output error")),
    ],
    ids=["begins", "anchors", "unique", "tied", "hinted", "nothing", "unread"],
)
def test_search(shows: Shows, name: str, run: SearchRun, size: tuple[int, int]) -> None:
    del name
    shows(staged(Kernel(raid10())), size=size, prepare=with_screen(lambda: SearchScreen(run, "media")))


# -- keys


class FakeRun(SearchRun):
    """A search that ends when the test wants."""

    begun: list[FakeRun]

    def __init__(self, root: HostReader, survey: Survey, names: Sequence[str]) -> None:
        super().__init__(root, survey, names)
        self.cancelled = False
        FakeRun.begun.append(self)

    def start(self) -> None:
        """Nothing is read."""

    def cancel(self) -> None:
        self.cancelled = True


def no_checksums() -> dict[str, Device]:
    """Four members with wrong superblocks."""
    blocks = [member(slot, checksum_ok=False) for slot in range(4)]
    return {device.disk.name: device for device in disks(*blocks)}


@pytest.fixture
def runs(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> list[FakeRun]:
    """A live host of which all superblocks disagree with their data, where nothing is searched."""
    FakeRun.begun = []
    monkeypatch.setattr("raidtui.features.rescue.screen.rescue_flow.SearchRun", FakeRun)
    monkeypatch.setattr(Kernel, "live", True)
    monkeypatch.setattr("raidtui.features.rescue.session.read_surfaces", lambda *_: ())
    fake.devices = no_checksums()
    return FakeRun.begun


async def test_from_the_search_to_the_trial_of_a_candidate(
    fake: Fake, tried: FakeTrials, runs: list[FakeRun]
) -> None:
    fake.devices = no_checksums()
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "search")
        await at(pilot, SearchScreen, "enter")
        [run] = runs
        assert run.names == NAMES
        run.stage = (SearchStage.CANDIDATES, 3, 4)
        await until(pilot, lambda: " 75%" in screen_text(pilot))
        run.result = UNIQUE
        await until(pilot, lambda: "One geometry fits" in screen_text(pilot))
        await at(pilot, TrialScreen, "enter")
        await at(pilot, ProofScreen, "enter")
        await at(pilot, SearchScreen, "escape")
        assert len(runs) == 1  # what was found is still there
        await at(pilot, GuideScreen, "escape")
    [wish] = tried.wishes
    made = wish.made
    assert isinstance(made, Recreation)
    assert (made.geometry, made.uuid, made.name) == (UNIQUE.candidates[0].geometry, UUID, "media")


async def test_a_tie_goes_with_its_candidate_to_the_plan(
    fake: Fake, tried: FakeTrials, runs: list[FakeRun]
) -> None:
    fake.devices = no_checksums()
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "search")
        await at(pilot, SearchScreen, "enter")
        runs[0].result = TIED
        await until(pilot, lambda: "so do 718 more" in screen_text(pilot))
        await at(pilot, TrialScreen, "enter")
        await at(pilot, ProofScreen, "enter")
        assert TIE in screen_text(pilot)
        await at(pilot, PlanView, "enter")
    [wish] = tried.wishes
    assert wish.evidence.tie.startswith(
        TIE
    )  # it is kept with the trial: tests/features/rescue/test_real_plan.py


async def test_escape_ends_the_search(fake: Fake, tried: FakeTrials, runs: list[FakeRun]) -> None:
    fake.devices = no_checksums()
    async with console() as pilot:
        await opened()(pilot)
        await chosen(pilot, "search")
        await at(pilot, SearchScreen, "enter")
        await at(pilot, GuideScreen, "escape")
        assert runs[0].cancelled
    assert tried.wishes == []


def test_what_is_written_down_is_given_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SearchRequest] = []

    def search(paths: Sequence[str], request: SearchRequest, watch: object) -> SearchResult:
        del paths, watch
        asked.append(request)
        return TIED

    monkeypatch.setattr("raidtui.features.rescue.hints.all_jobs", list)
    monkeypatch.setattr("raidtui.features.rescue.session_search.search_geometry", search)
    root = MemoryReader({"/etc/mdadm/mdadm.conf": f"ARRAY /dev/md/media level=raid5 UUID={UUID}\n"})
    assert SearchRun(root, plain_host(), NAMES).read() == TIED
    [request] = asked
    assert [hint.source for hint in request.hints] == ["/etc/mdadm/mdadm.conf, line 1"]


def test_stages_that_are_done_under_way_and_to_come() -> None:
    stages = list(SearchStage)
    shares = [line[-1][0].strip() for line in stage_lines((stages[1], 1, 4))]
    assert shares == ["100%", "25%", *["0%"] * (len(stages) - 2)]
    assert stage_lines((stages[0], 3, 2))[0][-1][0] == " 100%"  # more than was thought
    assert {line[-1][0] for line in stage_lines(None)} == {"   0%"}
