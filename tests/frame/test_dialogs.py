"""The dialogs on the way from a key to a job, but for the wizard: pictures, and what each key does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from textual import events

from raidtui.frame.choose import Ask, Choice, Option
from raidtui.frame.pages import FrameScreen
from raidtui.frame.plan_view import JobView, PlanView
from raidtui.jobs.states import JobState
from raidtui.jobs.waiting import JobWait
from raidtui.model.plan import Plan
from raidtui.plans.create.create_plan import plan_create
from raidtui.plans.leave import plan_fail
from raidtui.watch.storage import JobNews
from tests.frame.machines import host
from tests.frame.staging import SIZES, Paces, Shows, running, shown, staged
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10
from tests.plans.new_array import request, survey


def create() -> Plan:
    """A plan that wipes, on sda2 to sdd2."""
    made = plan_create(request(destroys=("old",)), host())
    assert isinstance(made, Plan), made
    return made


OPTIONS = (
    Option(key="sda", words="sda        slot 0   in_sync"),
    Option(key="sdb", words="sdb        slot 1   faulty", refusal="sdb has already failed; remove it"),
    Option(key="sdc", words="sdc [/bold] \x1b[31m"),
)


@SIZES
def test_plan_that_destroys(shows: Shows, size: tuple[int, int]) -> None:
    shown(shows, lambda: PlanView(create(), host().devices), "1", "2", size=size)


def test_plan_that_reduces(shows: Shows) -> None:
    found = survey(arrays=(raid10(),))
    made = plan_fail(found, found.snapshot.arrays[0], "sda")
    assert isinstance(made, Plan)
    shown(shows, lambda: PlanView(made))


def test_choice(shows: Shows) -> None:
    shown(shows, lambda: Choice("Fail which member of data?", OPTIONS), "down")


def test_ask(shows: Shows) -> None:
    shown(shows, lambda: Ask("A new name for data", "Three digits, or a word."), "1", "2", "6")


NOTE = "before the update of the firmware of all four disks, with the fans at full speed; see the log book"


def noted(text: str = NOTE) -> Ask:
    """A note that is there already is changed."""
    return Ask("A note for mixed", "It is kept with the results.", text=text, most=120)


def test_ask_for_a_long_text(shows: Shows) -> None:
    shown(shows, noted, "home", "right")


NEWS: tuple[Mapping[str, Any], ...] = (
    {"event": "work", "pid": 1},
    {"event": "begin", "step": 0, "command": "mdadm --stop /dev/md127"},
    {"event": "output", "text": "mdadm: stopped /dev/md127 [bold]\n"},
    {"event": "step done", "step": 0},
    {"event": "begin", "step": 1, "command": "mdadm --assemble /dev/md/126 --name=126"},
)


def job(*more: dict[str, Any], state: str = "running", backs: bool = True) -> Callable[[], JobView]:
    """A job that has come so far."""

    async def news(job_id: str, since: int) -> JobNews:
        assert job_id == "job-1"
        return JobNews(entries=(*NEWS, *more)[since:], state=JobState(state), backs=backs)

    return lambda: JobView("job-1", "rename: 127 → 126", news)


def following(make: Callable[[], JobView]) -> Callable[[Paces], Any]:
    """Open the view, and look at the journal once."""

    async def prepare(pilot: Paces) -> None:
        view = make()
        await pilot.app.push_screen(view)
        await view._look()
        await pilot.pause()

    return prepare


def test_job_that_runs(shows: Shows) -> None:
    shows(staged(Kernel(raid10())), prepare=following(job()))


def test_job_that_failed(shows: Shows) -> None:
    failed = {"event": "step failed", "step": 1, "reason": "mdadm failed (1): mdadm: no"}
    end = {"event": "failed", "reason": "step 2: mdadm failed (1): mdadm: no"}
    shows(staged(Kernel(raid10())), prepare=following(job(failed, end, state="failed")))


def test_job_that_is_done(shows: Shows) -> None:
    end = ({"event": "step done", "step": 1}, {"event": "done"})
    shows(staged(Kernel(raid10())), prepare=following(job(*end, state="done", backs=False)))


def waiting(*, more: bool) -> Callable[[], JobView]:
    """A job that waits for md, with steps after that or without."""

    async def news(job_id: str, since: int) -> JobNews:
        del job_id
        goes_on = {"event": "goes on", "reason": "md moves every block; other jobs can run meanwhile"}
        wait = JobWait(why="md moves every block", percent=21.1, more=more)
        return JobNews(entries=(*NEWS, goes_on)[since:], state=JobState.GOES_ON, wait=wait, backs=True)

    return lambda: JobView("job-1", "grow: 3 → 4 devices", news)


def test_job_that_waits(shows: Shows) -> None:
    """What md is at, and how far, under what was done."""
    shows(staged(Kernel(raid10())), prepare=following(waiting(more=True)))


@pytest.mark.parametrize(
    ("more", "key", "results"),
    [
        (True, "x", ["cancel"]),
        (False, "x", []),
        (True, "r", []),
        (False, "b", ["rollback"]),
        (True, "b", ["rollback"]),
    ],
)
async def test_what_a_job_that_waits_can_be_asked(more: bool, key: str, results: list[str]) -> None:  # noqa: FBT001
    """Cancelled, where steps follow; else there is nothing to leave out."""
    found: list[Any] = []
    async with running(Kernel(raid10())) as pilot:
        view = waiting(more=more)()
        pilot.app.push_screen(view, found.append)
        await pilot.pause()
        await view._look()
        await pilot.press(key)
        await pilot.pause()
    assert found == results


def test_job_that_is_done_and_can_be_undone(shows: Shows) -> None:
    end = ({"event": "step done", "step": 1}, {"event": "done"})
    shows(staged(Kernel(raid10())), prepare=following(job(*end, state="done", backs=True)))


@pytest.mark.parametrize("undoes", [False, True])
async def test_only_what_can_be_undone_is_given_back(undoes: bool) -> None:  # noqa: FBT001
    results: list[Any] = []
    async with running(Kernel(raid10())) as pilot:
        view = job({"event": "done"}, state="done", backs=undoes)()
        pilot.app.push_screen(view, results.append)
        await pilot.pause()
        await view._look()
        for key in "xrb":
            await pilot.press(key)
        await pilot.pause()
    assert results == (["rollback"] if undoes else [])


async def given(make: Callable[[], FrameScreen[Any]], *keys: str) -> list[Any]:
    """What a dialog gives when it closes after these keys; nothing while it stays."""
    results: list[Any] = []
    async with running(Kernel(raid10())) as pilot:
        pilot.app.push_screen(make(), results.append)
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
    return results


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (("enter",), ["sda"]),
        (("down", "enter"), []),
        (("down", "down", "enter"), ["sdc"]),
        (("down", "down", "down", "k", "k", "enter"), ["sda"]),
        (("escape",), [None]),
    ],
)
async def test_choosing(keys: tuple[str, ...], result: list[Any]) -> None:
    assert await given(lambda: Choice("which?", OPTIONS), *keys) == result


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (("enter",), []),
        (("a", "space", "b", "backspace", "c", "enter"), ["a c"]),
        (("a", "escape"), [None]),
    ],
)
async def test_asking(keys: tuple[str, ...], result: list[Any]) -> None:
    assert await given(lambda: Ask("a name", "a hint"), *keys) == result


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (("enter",), [NOTE]),
        (("backspace", "S", "enter"), [f"{NOTE[:-1]}S"]),
        (("home", "delete", "B", "end", "!", "enter"), [f"B{NOTE[1:]}!"]),
        ((*["left"] * 4, "ctrl+u", "enter"), ["book"]),
        (("ctrl+u", "enter"), [""]),
        (("ctrl+u", "escape"), [None]),
    ],
)
async def test_changing_a_text(keys: tuple[str, ...], result: list[Any]) -> None:
    assert await given(noted, *keys) == result


async def test_pasting() -> None:
    results: list[Any] = []
    async with running(Kernel(raid10())) as pilot:
        pilot.app.push_screen(noted("a"), results.append)
        await pilot.pause()
        pilot.app.screen.post_message(events.Paste("b\x1b\tc" + "d" * 200 + "\nsecond line"))
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
    assert results == [f"abc{'d' * 117}"]


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (("enter",), []),
        (("y",), []),
        (("1", "2", "enter"), []),
        (("1", "2", "8", "backspace", "7", "enter"), ["do"]),
        (("1", "2", "7", "7", "enter"), []),
        (("s",), []),
        (("ctrl+s",), ["save"]),
        (("1", "2", "7", "escape"), [None]),
    ],
)
async def test_what_destroys_is_typed(keys: tuple[str, ...], result: list[Any]) -> None:
    assert await given(lambda: PlanView(create()), *keys) == result


@pytest.mark.parametrize(
    ("keys", "result"),
    [(("enter",), []), (("space",), []), (("y",), ["do"]), (("s",), ["save"]), (("escape",), [None])],
)
async def test_what_reduces_is_confirmed(keys: tuple[str, ...], result: list[Any]) -> None:
    found = survey(arrays=(raid10(),))
    made = plan_fail(found, found.snapshot.arrays[0], "sda")
    assert isinstance(made, Plan)
    assert await given(lambda: PlanView(made), *keys) == result


@pytest.mark.parametrize(
    ("state", "keys", "result"),
    [
        ("running", ("x",), ["cancel"]),
        ("running", ("r", "b"), []),
        ("interrupted", ("x",), []),
        ("interrupted", ("r",), ["resume"]),
        ("failed", ("b",), ["rollback"]),
        ("done", ("r", "b", "x"), []),
        ("done", ("escape",), [None]),
    ],
)
async def test_commands_to_a_job(state: str, keys: tuple[str, ...], result: list[Any]) -> None:
    results: list[Any] = []
    async with running(Kernel(raid10())) as pilot:
        view = job(state=state, backs=state != "done")()
        pilot.app.push_screen(view, results.append)
        await pilot.pause()
        await view._look()
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
    assert results == result


async def test_the_question_is_in_view_however_long_the_plan_is() -> None:
    long = replace(create(), notes=tuple(f"note {number}" for number in range(60)))
    async with running(Kernel(raid10())) as pilot:
        view = PlanView(long)
        pilot.app.push_screen(view)
        await pilot.pause()
        foot = view._foot.region
        assert foot.bottom == pilot.app.size.height
        assert view._body.max_scroll_y > 0
        await pilot.press("pagedown")
        assert view._body.scroll_offset.y > 0


async def test_a_worker_that_never_begins_is_given_up() -> None:
    async def nothing(job_id: str, since: int) -> JobNews:
        del job_id, since
        return JobNews(entries=())

    async with running(Kernel(raid10())) as pilot:
        view = JobView("job-1", "rename", nothing)
        pilot.app.push_screen(view)
        await pilot.pause()
        for _ in range(80):
            await view._look()
        assert view.state == "running"
        for _ in range(30):
            await view._look()
        assert view.state == "interrupted"
