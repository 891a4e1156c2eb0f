"""What keys of pane 4 write, and what they ask before files are changed; what leaving offers back."""

from __future__ import annotations

import errno

import pytest

from raidtui.frame.choose import Ask, Choice
from raidtui.frame.plan_view import PlanView
from raidtui.jobs.lock import JobError
from raidtui.model.plan import Plan
from raidtui.plans.tune.keep import KeepItem, plan_keep
from tests.features.tune.screen.tune_stage import AHEAD, at_rest, host, opened, pane_of, row_of, wrote
from tests.frame.staging import (
    Paces,
    app_of,
    asked,
    at,
    lines_of,
    main_of,
    message_of,
    running,
    says,
    screen_text,
    until,
)
from tests.hosts.kernel import ends
from tests.hosts.specs import raid5
from tests.hosts.tune_host import ACPI, INTEL, POLICIES, RULES, TuneHost

# -- values for now


async def test_a_word_beside_the_value() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot, "left")
        await wrote(pilot, kernel, ("sda/queue/scheduler", "none"))
        await says(pilot, "scheduler mq-deadline → none (sda) · u undoes it")
        assert row_of(pilot, 0) == (
            " sda      [none]▲           32        64     128K      30 / ? s   this run"
        )
        assert "With a new scheduler the kernel resets nr_requests." in lines_of(pilot, "#knob-body")
        assert main_of(pilot).events[-1].text == "scheduler mq-deadline → none (sda)"


async def test_one_write_for_many_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for is shown at once, and written when the key rests."""
    monkeypatch.setattr(
        "raidtui.features.tune.screen.tune_pane._SETTLE_S", 3600.0
    )  # a busy machine lets keys wait
    kernel = host()
    async with running(kernel) as pilot:
        pane = await opened(pilot)
        await pilot.press("tab", "left", "left", "left")
        await until(pilot, lambda: "[4]" in row_of(pilot, 0))
        assert kernel.writes == []
        pane.settle()
        await wrote(pilot, kernel, ("sda/device/queue_depth", "4"))


async def test_moving_on_writes_at_once() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot)
        await pilot.press("tab", "left", "down")
        await wrote(pilot, kernel, ("sda/device/queue_depth", "16"))
        assert "[32]" in row_of(pilot, 1)


async def test_where_the_range_ends() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot, "tab", "right")
        await says(pilot, "queue_depth of sda: there is nothing above 32")
        assert kernel.writes == []


async def test_a_knob_that_a_disk_does_not_have() -> None:
    kernel = TuneHost(raid5(members=("nvme0n1", "nvme1n1", "nvme2n1")))
    async with running(kernel) as pilot:
        await opened(pilot, "tab", "left")
        assert message_of(pilot).startswith("an NVMe disk has no queue_depth")
        assert lines_of(pilot, "#knob-body").startswith(" queue_depth of nvme0n1: none")
        assert kernel.writes == []


async def test_the_same_for_all_members_and_back() -> None:
    kernel = host(nodes={"sdb": {"device/queue_depth": "8"}})
    async with running(kernel) as pilot:
        await opened(pilot, "down", "tab", "equals_sign")
        await wrote(pilot, kernel, *((f"{name}/device/queue_depth", "8") for name in ("sda", "sdc", "sdd")))
        await says(pilot, "queue_depth 32 → 8 (sda, sdc, sdd) · u undoes it")
        kernel.writes.clear()
        await pilot.press("u")
        await wrote(pilot, kernel, *((f"{name}/device/queue_depth", "32") for name in ("sda", "sdc", "sdd")))
        await says(pilot, "undone: queue_depth 8 → 32 (sda, sdc, sdd)")
        await pilot.press("u")
        await until(pilot, lambda: "nothing was changed" in message_of(pilot))
        await says(pilot, "nothing was changed since the boot that could be undone")


async def test_all_processors_by_one_row() -> None:
    kernel = host(cpus=INTEL)
    async with running(kernel) as pilot:
        await opened(pilot, *["down"] * 7, "left")
        writes = [(f"{POLICIES}/policy{number}/scaling_governor", "performance") for number in (0, 2)]
        await wrote(pilot, kernel, *writes)
        await says(pilot, "governor powersave → performance (policy0, policy2) · u undoes it")


async def test_processors_that_differ_are_made_alike() -> None:
    kernel = host(cpus=ACPI, files={f"{POLICIES}/policy2/scaling_governor": "ondemand"})
    async with running(kernel) as pilot:
        await opened(pilot, *["down"] * 7)
        assert [row_of(pilot, number)[:24].rstrip() for number in (7, 8)] == [
            " cpu 0-1  [schedutil]",
            " cpu 2-3   ondemand",
        ]
        await pilot.press("equals_sign")
        await wrote(pilot, kernel, (f"{POLICIES}/policy2/scaling_governor", "schedutil"))


async def test_what_the_kernel_refuses() -> None:
    kernel = host()
    kernel.refuses["queue_depth"] = errno.EINVAL
    async with running(kernel) as pilot:
        await opened(pilot)
        await pilot.press("tab", "left")
        await wrote(pilot, kernel, ("sda/device/queue_depth", "16"))
        body = lines_of(pilot, "#knob-body")
        sentence = " queue_depth of sda is not set to 16: the kernel refuses this value; it is 32"
        assert body.split("\n")[0] == sentence
        assert message_of(pilot).startswith("not done: the kernel refuses this value")
        assert "[32]" in row_of(pilot, 0)
        await pilot.press("down")
        assert lines_of(pilot, "#knob-body").startswith(" queue_depth of sdb: 32")


async def test_what_the_kernel_makes_another_value_of() -> None:
    kernel = host()
    kernel.deaf = True
    async with running(kernel) as pilot:
        await opened(pilot)
        await pilot.press("tab", "left")
        await wrote(pilot, kernel, ("sda/device/queue_depth", "16"))
        await says(pilot, "queue_depth of sda was set to 16, and the kernel made it 32")


async def test_a_value_typed() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot, *["tab"] * 4)
        await at(pilot, Ask, "enter")
        assert "Now 30; possible: 1 to 3600 s." in screen_text(pilot)
        await pilot.press(*"180", "enter")
        await wrote(pilot, kernel, ("sda/device/timeout", "180"))
        await at(pilot, Ask, "enter")
        await pilot.press(*"9999", "enter")
        await until(pilot, lambda: "must be" in message_of(pilot))
        await says(pilot, "timeout of sda must be from 1 to 3600 s, not 9999")


async def test_a_value_chosen() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot)
        await at(pilot, Choice, "enter")
        assert "was noop" in screen_text(pilot)  # its old name
        await pilot.press("enter")
        await wrote(pilot, kernel, ("sda/queue/scheduler", "none"))


# -- for good


class Begun:
    """The session's jobs: none is begun."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []

    def begin(self, root: object, plan: Plan) -> str:
        del root
        self.plans.append(plan)
        raise JobError("no job is begun here")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Begun:
    made = Begun()
    monkeypatch.setattr("raidtui.watch.storage.start_job", made.begin)
    return made


async def test_keeping_is_shown_first(begun: Begun) -> None:
    async with running(host()) as pilot:
        await opened(pilot, *["down"] * 4)
        await at(pilot, Choice, "k")
        await at(pilot, PlanView, "enter")
        assert begun.plans == []
        await pilot.press("y")
        await until(pilot, lambda: begun.plans)
        await until(pilot, lambda: message_of(pilot) == "no job is begun here")
    (plan,) = begun.plans
    assert plan.title == "kept: scheduler mq-deadline (sde)"
    assert RULES in {step.path for step in plan.steps} | {step.argv[-1] for step in plan.steps if step.argv}


async def test_keeping_what_was_changed_for_now(begun: Begun) -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot)
        await pilot.press("left")
        await wrote(pilot, kernel, ("sda/queue/scheduler", "none"))
        await pilot.press("tab", "left")
        await wrote(pilot, kernel, ("sda/queue/scheduler", "none"), ("sda/device/queue_depth", "16"))
        await at(pilot, Choice, "k")
        assert "everything set for now: 2 values" in screen_text(pilot)
        await at(pilot, PlanView, "down", "enter")
        await pilot.press("y")
        await until(pilot, lambda: begun.plans)
    assert begun.plans[0].title == "kept: scheduler none (sda), queue_depth 16 (sda)"


async def test_keep_no_longer(begun: Begun) -> None:
    kernel = host()
    planned = plan_keep(kernel.snapshot(), kernel.tuning(), [KeepItem(subject="sda", knob="scheduler")])
    assert isinstance(planned, Plan)
    (rule,) = (step.content for step in planned.steps if step.content)
    async with running(host()) as pilot:
        await opened(pilot, "K")
        await says(pilot, "raidtui keeps nothing here")
    async with running(host(files={**AHEAD, RULES: rule})) as pilot:
        await opened(pilot)
        await at(pilot, PlanView, "K")
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was changed")
    assert begun.plans == []


async def test_a_profile_is_shown_first() -> None:
    kernel = host(cpus=INTEL)
    async with running(kernel) as pilot:
        await opened(pilot)
        await at(pilot, Choice, "P")
        await at(pilot, PlanView, "enter")
        assert "profile ssd-array: governor powersave → performance" in screen_text(pilot)
        assert kernel.writes == []
        await pilot.press("y")
        writes = [(f"{POLICIES}/policy{number}/scaling_governor", "performance") for number in (0, 2)]
        await wrote(pilot, kernel, *writes)


async def test_a_bitmap_is_shown_first(begun: Begun) -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot, *["down"] * 8, "tab")
        await at(pilot, PlanView, "right")
        assert kernel.writes == []
        await pilot.press("escape")
        await until(pilot, lambda: message_of(pilot) == "nothing was changed")


# -- leaving


async def test_what_was_set_is_offered_back() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await opened(pilot)
        await pilot.press("tab", "left")
        await wrote(pilot, kernel, ("sda/device/queue_depth", "16"))
        kernel.writes.clear()
        await pilot.press("q")
        await asked(pilot)
        assert "echo 32 > /sys/class/block/sda/device/queue_depth" in screen_text(pilot)
        await pilot.press("r")
        await until(pilot, lambda: app_of(pilot)._exit)
    assert ends(kernel.writes) == [("sda/device/queue_depth", "32")]


async def limited(pilot: Paces, kernel: TuneHost) -> None:
    """Set a limit in pane 1."""
    await pilot.press("l", *"300", "enter")
    await until(pilot, lambda: len(kernel.writes) == 1 and message_of(pilot).endswith("u undoes it"))
    await pilot.press("escape")


async def test_limits_and_knobs_are_offered_back_together() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await limited(pilot, kernel)
        await opened(pilot)
        await pilot.press("tab", "left")
        await until(pilot, lambda: len(kernel.writes) == 2 and at_rest(pilot))
        kernel.writes.clear()
        await pilot.press("q")
        await asked(pilot)
        await pilot.press("r")
        await until(pilot, lambda: app_of(pilot)._exit)
    assert ends(kernel.writes) == [("md127/sync_speed_max", "system"), ("sda/device/queue_depth", "32")]


async def test_a_limit_set_in_both_panes_goes_back_to_the_first_value() -> None:
    """Pane 1 sets it, then pane 4; leaving restores what was there before both."""
    kernel = host()
    async with running(kernel) as pilot:
        await limited(pilot, kernel)
        pane = await opened(pilot)
        pane.chosen, pane.knob = "md127", "sync_speed_max"
        await pilot.press("left")
        await until(pilot, lambda: len(kernel.writes) == 2 and at_rest(pilot))
        assert [path for path, _ in ends(kernel.writes)] == ["md127/sync_speed_max"] * 2
        kernel.writes.clear()
        await pilot.press("q")
        await asked(pilot)
        await pilot.press("r")
        await until(pilot, lambda: app_of(pilot)._exit)
    assert ends(kernel.writes) == [("md127/sync_speed_max", "system")]


async def test_each_pane_undoes_its_own() -> None:
    """U in pane 4 leaves the limit of pane 1 alone, and the other way round."""
    kernel = host()
    async with running(kernel) as pilot:
        await limited(pilot, kernel)
        await opened(pilot)
        await pilot.press("u")
        await until(pilot, lambda: at_rest(pilot))
        await says(pilot, "nothing was changed since the boot that could be undone")
        await pilot.press("tab", "left")
        await until(pilot, lambda: len(kernel.writes) == 2 and at_rest(pilot))
        kernel.writes.clear()
        await pilot.press("1", "u")
        await until(pilot, lambda: len(kernel.writes) == 1)
        await until(pilot, lambda: message_of(pilot).startswith("data: undone: max"))
        await pilot.press("u")
        await until(pilot, lambda: message_of(pilot) == "nothing to undo")
        await opened(pilot, "u")
        await wrote(pilot, kernel, ("md127/sync_speed_max", "system"), ("sda/device/queue_depth", "32"))


async def test_a_limit_of_pane_1_is_known_to_be_set_by_this_run() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        await limited(pilot, kernel)
        pane = await opened(pilot)
        assert pane.tuning is not None
        array = pane.tuning.subject("md127")
        assert array is not None
        assert array.values["sync_speed_max"].set_by.words == "this run"


async def test_nothing_is_asked_where_nothing_was_set() -> None:
    async with running(host()) as pilot:
        await opened(pilot)
        await pilot.press("q")
        await until(pilot, lambda: app_of(pilot)._exit)


async def test_keys_typed_ahead_open_one_dialog(begun: Begun) -> None:
    """Enter behind k is for the dialog that opens, not for a second one above it."""
    async with running(host()) as pilot:
        await opened(pilot, *["down"] * 4)
        pane = pane_of(pilot)
        pane.action_keep()
        pane.action_exact()
        await until(pilot, lambda: isinstance(pilot.app.screen, Choice))
        await says(pilot, "another change is still in progress: press the key again")
        assert sum(isinstance(screen, Choice | Ask | PlanView) for screen in pilot.app.screen_stack) == 1
        await pilot.press("escape")
        await until(pilot, lambda: not pane.shell.in_flow)
        await at(pilot, Choice, "k")


async def test_a_value_asked_for_while_another_is_written_comes_after_it() -> None:
    kernel = host()
    async with running(kernel) as pilot:
        pane = await opened(pilot, "tab")
        pane.acting = True
        await pilot.press("left")
        await until(pilot, lambda: pane.asked == "16")
        first = pane._settling
        await until(pilot, lambda: pane._settling is not first)  # the key has rested once
        assert kernel.writes == []
        pane.acting = False
        await wrote(pilot, kernel, ("sda/device/queue_depth", "16"))
