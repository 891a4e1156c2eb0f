"""``raidtui plan monitoring``: one plan, of what is missing."""

from __future__ import annotations

from argparse import Namespace

import pytest

from raidtui.app.commands.monitoring import VERBS
from raidtui.app.registry import FEATURES
from raidtui.features.alerts.alert_plan import hook_text
from raidtui.host.own_units import own_unit_text
from raidtui.host.tools import output_path
from raidtui.model.alert_setup import HOOK
from raidtui.model.plan import NothingToDo, Plan, PutFile, Refusal, RunTool
from raidtui.monitor.sampler import Sampler
from tests.hosts.kernel import Kernel
from tests.plans.test_alerts import CHANNELS, CONF, host

UNITS = "/etc/systemd/system"
PACKAGED = "/usr/lib/systemd/system"
TIMERS = ("raidtui-wear", "raidtui-advice", "raidtui-alert")


def timers(host: Kernel, *, state: str, active: str = "inactive", packaged: bool = False) -> None:
    """What systemctl says of raidtui's timers, and where their files are, if they are there."""
    for stem in TIMERS:
        for verb, word in (("is-enabled", state), ("is-active", active)):
            asked = output_path(("systemctl", verb, f"{stem}.timer"))
            host.put(asked, f"exit {int(word not in {'enabled', 'active'})}\n{word}\n")
        for name in (f"{stem}.service", f"{stem}.timer"):
            if packaged and stem != "raidtui-alert":
                host.put(f"{PACKAGED}/{name}", "as packaged\n")
            elif state == "enabled":
                host.put(f"{UNITS}/{name}", own_unit_text(name))


def plan(host: Kernel, *only: str) -> Plan | Refusal:
    assert VERBS.of_host is not None
    return VERBS.of_host(host, Namespace(verb="monitoring", only=list(only)), Sampler(host).sample())


def made(host: Kernel, *only: str) -> Plan:
    found = plan(host, *only)
    assert isinstance(found, Plan), found
    return found


def test_from_nothing() -> None:
    """Alerts, wear and advice; nothing here checks arrays, which is said."""
    bare = host()
    timers(bare, state="not-found")
    found = made(bare)
    assert found.title == "set up monitoring: alerts, wear and advice"
    written = [step.path for step in found.steps if isinstance(step, PutFile)]
    assert written == [
        HOOK,
        CONF,
        *(f"{UNITS}/raidtui-alert.{kind}" for kind in ("service", "timer")),
        *(f"{UNITS}/raidtui-wear.{kind}" for kind in ("service", "timer")),
        *(f"{UNITS}/raidtui-advice.{kind}" for kind in ("service", "timer")),
    ]
    enabled = [step.argv[-1] for step in found.steps if isinstance(step, RunTool) and "enable" in step.argv]
    assert enabled == [f"{stem}.timer" for stem in ("raidtui-alert", "raidtui-wear", "raidtui-advice")]
    assert any(note.startswith("checks is left out: nothing here checks arrays") for note in found.notes)
    assert found.rolls_back
    undone = [step.argv[-1] for step in found.undo if isinstance(step, RunTool) and "disable" in step.argv]
    assert undone == list(reversed(enabled))


def test_what_is_there_is_left_alone() -> None:
    ready = host({HOOK: hook_text(), CONF: f"PROGRAM {HOOK}\n"})
    timers(ready, state="enabled", active="active")
    assert isinstance(plan(ready, "wear", "advice", "alerts"), NothingToDo)
    found = made(host({HOOK: hook_text(), CONF: f"PROGRAM {HOOK}\n"}), "alerts")
    assert found.title == "set up monitoring: alerts"
    assert {step.path for step in found.steps if isinstance(step, PutFile)} == {
        f"{UNITS}/raidtui-alert.{kind}" for kind in ("service", "timer")
    }


def test_timers_that_a_package_has_brought_are_only_enabled() -> None:
    packaged = host()
    timers(packaged, state="disabled", packaged=True)
    found = made(packaged, "wear", "advice")
    assert [step.command for step in found.steps] == [
        f"systemctl enable --now {stem}.timer" for stem in ("raidtui-wear", "raidtui-advice")
    ]


def test_a_timer_that_is_enabled_and_does_not_run_is_started() -> None:
    stopped = host()
    timers(stopped, state="enabled", active="inactive")
    found = made(stopped, "wear")
    assert [step.command for step in found.steps] == ["systemctl enable --now raidtui-wear.timer"]
    assert [step.command for step in found.undo] == ["systemctl stop raidtui-wear.timer"]


def test_whether_a_timer_runs_is_not_guessed() -> None:
    """Where systemctl says nothing, that part is left out; asked for by itself, it is refused."""
    silent = host()
    for stem in TIMERS[:2]:
        for name in (f"{stem}.service", f"{stem}.timer"):
            silent.put(f"{PACKAGED}/{name}", "as packaged\n")
    found = made(silent)
    assert found.title == "set up monitoring: alerts"
    assert any(note.startswith("wear is left out: ") for note in found.notes)
    alone = plan(silent, "wear")
    assert isinstance(alone, Refusal)
    assert not isinstance(alone, NothingToDo)


def test_without_anyone_to_be_told_there_is_no_plan() -> None:
    mute = host({CHANNELS: None})
    timers(mute, state="disabled")
    found = plan(mute)
    assert isinstance(found, Refusal)
    assert found.why.startswith("no channel is configured")
    assert isinstance(plan(mute, "wear", "advice"), Plan)


def test_without_systemd_and_without_root() -> None:
    other = host({"/proc/1/comm": "init\n"})
    refused = plan(other, "wear")
    assert isinstance(refused, Refusal)
    assert refused.why == "raidtui-wear.timer needs systemd, which does not run here"
    reads = host(writable=False)
    assert isinstance(plan(reads), Refusal)


@pytest.mark.parametrize("feature", [each for each in FEATURES if each.watching], ids=lambda each: each.name)
def test_each_part_has_the_name_of_its_feature(feature: object) -> None:
    watching = getattr(feature, "watching", None)
    assert watching is not None
    assert watching.name == getattr(feature, "name", "")
