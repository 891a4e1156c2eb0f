"""The page that follows a job's journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from raidtui.frame.plan_view import JobView
from raidtui.jobs.states import JobState
from raidtui.watch.storage import JobNews
from tests.frame.staging import running, screen_text, until
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10


def lines(first: int, after: int) -> list[dict[str, Any]]:
    return [{"event": "output", "text": f"line {number}\n"} for number in range(first, after)]


@pytest.mark.parametrize("begins_with", [0, 3, 17, 40])
async def test_its_end_is_in_view_whatever_was_drawn_before(
    begins_with: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What scrolls may run after a refresh that was already due, before the page has its new height."""
    entries = lines(0, begins_with)
    state = [JobState.RUNNING]

    async def news(job_id: str, since: int) -> JobNews:
        del job_id
        return JobNews(entries=tuple(entries[since:]), state=state[0])

    def at_once(call: Callable[..., Any], *words: Any, **more: Any) -> bool:
        call(*words, **more)
        return True

    async with running(Kernel(raid10())) as pilot:
        view = JobView("20261122-1", "grow", news)
        await pilot.app.push_screen(view)
        await until(pilot, lambda: view._seen == begins_with)
        await pilot.pause()
        monkeypatch.setattr(view._body, "call_after_refresh", at_once)
        entries += lines(begins_with, begins_with + 8)
        state[0] = JobState.DONE
        await until(pilot, lambda: view.state is JobState.DONE)
        await pilot.pause()
        assert f"line {begins_with + 7} " in screen_text(pilot)


@pytest.mark.parametrize("backs", [True, False])
async def test_a_way_back_is_offered_where_there_is_one(*, backs: bool) -> None:
    """What md has begun, no rollback ends: b is no key there."""

    async def news(job_id: str, since: int) -> JobNews:
        del job_id
        return JobNews(entries=({"event": "failed"},)[since:], state=JobState.FAILED, backs=backs)

    given: list[str | None] = []
    async with running(Kernel(raid10())) as pilot:
        view = JobView("20261122-1", "grow", news)
        await pilot.app.push_screen(view, given.append)
        await until(pilot, lambda: view.state is JobState.FAILED)
        await pilot.pause()
        assert ("roll back" in screen_text(pilot)) is backs
        assert "resume" in screen_text(pilot)
        await pilot.press("b", "r")
        await until(pilot, lambda: bool(given))
        assert given == ["rollback" if backs else "resume"]
