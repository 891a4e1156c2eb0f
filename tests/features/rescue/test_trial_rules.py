"""Rules of udev while a trial lasts: where mdadm's own ones are replaced for that time."""

import pytest
from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly
from raidtui.features.rescue.trial.trial_plan import TrialPlan, plan_trial
from raidtui.features.rescue.trial.trial_record import TrialMethod, TrialNames
from raidtui.features.rescue.trial.trial_sweep import find_taken
from raidtui.host.facts import why_not
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.trial_traces import SHADOW, read_array_rules
from raidtui.model.fact import Fact, FactKind
from tests.features.rescue.test_trial_plan import AGAIN, FORCED, HOST, NAMES, commands, members, request
from tests.plans.new_array import UUID

RULES = 'SUBSYSTEM!="block", GOTO="md_end"\nIMPORT{builtin}="blkid"\nLABEL="md_end"\n'
VENDOR = "/usr/lib/udev/rules.d/63-md-raid-arrays.rules"
ADMIN = "/etc/udev/rules.d/63-md-raid-arrays.rules"


def planned(made: Assembly, rules: str = RULES) -> TrialPlan:
    found = plan_trial(members(), replace(HOST, array_rules=rules), request(TrialMethod.OVERLAYS, made))
    assert isinstance(found, TrialPlan), found
    return found


def test_an_array_whose_reshape_mdadm_continues_is_not_read_by_udev() -> None:
    steps = planned(Assembly(devices=NAMES, uuid=UUID, backup="/root/backup")).plan.steps
    own, shadow, reload = steps[2:5]
    assert (own.path, shadow.path) == ("/run/udev/rules.d/01-raidtui-rescue-abc.rules", SHADOW)
    assert reload.command == "udevadm control --reload"
    assert own.content is not None
    assert shadow.content is not None
    assert 'ENV{RAIDTUI_TRIAL}="1"' in own.content
    first, way_past, *rules, label = shadow.content.splitlines()
    assert first.startswith("# A rescue trial of raidtui")
    assert (way_past, label) == ('ENV{RAIDTUI_TRIAL}=="1", GOTO="raidtui_trial"', 'LABEL="raidtui_trial"')
    assert rules == RULES.splitlines()
    assert commands(shadow.undo) == [f"rm -f {SHADOW}"]


def test_all_others_are_left_to_mdadms_rules() -> None:
    for made in (
        planned(Assembly(devices=NAMES, uuid=UUID)),
        planned(Assembly(devices=NAMES, uuid=UUID, backup="/root/backup"), rules=""),
    ):
        assert SHADOW not in [step.path for step in made.plan.steps]


def test_which_rules_can_be_gone_before() -> None:
    """Those of the vendor; not where a file in /etc goes before /run, or one in /run is not ours."""
    (shadow,) = (
        step.content or ""
        for step in planned(Assembly(devices=NAMES, uuid=UUID, backup="/b")).plan.steps
        if step.path == SHADOW
    )
    assert read_array_rules(MemoryReader({VENDOR: RULES})) == RULES.rstrip()
    assert read_array_rules(MemoryReader({VENDOR: RULES, SHADOW: shadow})) == RULES.rstrip()
    assert read_array_rules(MemoryReader({VENDOR: RULES, SHADOW: "# mine\n"})) == ""
    assert read_array_rules(MemoryReader({VENDOR: RULES, ADMIN: "# mine\n"})) == ""
    assert read_array_rules(MemoryReader({})) == ""


@pytest.mark.parametrize(
    ("noted", "why"),
    [
        ("E:RAIDTUI_RESCUE_abc=1\n", ""),
        ("E:RAIDTUI_RESCUE_0a1=1\nE:RAIDTUI_RESCUE_abc=1\n", ""),
        ("E:RAIDTUI_RESCUE_0a1=1\n", "udev does not follow the rules that hold it off"),
        (None, "udev does not follow the rules that hold it off"),
    ],
)
def test_udev_follows_the_rules_once_it_has_noted_so(noted: str | None, why: str) -> None:
    host = MemoryReader({} if noted is None else {"/run/udev/data/c1:3": noted})
    assert why_not(host, Fact(kind=FactKind.RULED, subject="abc")) == why


@pytest.mark.parametrize("method", list(TrialMethod))
def test_every_trial_waits_until_udev_follows_its_rules(method: TrialMethod) -> None:
    """Before a member is made read-only, or a map is made."""
    made = plan_trial(members(), HOST, request(method, AGAIN if method is TrialMethod.MAPPED else FORCED))
    assert isinstance(made, TrialPlan), made
    steps = made.plan.steps
    asked = [fact for step in steps for fact in step.proves].index(Fact(kind=FactKind.RULED, subject="abc"))
    assert asked == 0
    rules = next(step for step in steps if step.path == "/run/udev/rules.d/01-raidtui-rescue-abc.rules")
    lines = (rules.content or "").splitlines()
    assert 'SUBSYSTEM=="block", ENV{ANACONDA}="raidtui"' in lines
    assert 'SUBSYSTEM=="mem", KERNEL=="null", ENV{RAIDTUI_RESCUE_abc}="1"' in lines


@pytest.mark.parametrize(
    ("holders", "said"),
    [
        ({"dm-0": "md300", "sda": "dm-0"}, ""),
        (
            {"dm-0": "md127", "sda": "dm-0"},
            "another program has taken raidtui-rescue-abc-sda: md127 uses it",
        ),
        ({"sda": "md127"}, "another program has taken sda: md127 uses it"),
        ({"sda": "dm-1"}, "another program has taken sda: swap uses it"),
    ],
)
def test_who_has_taken_what_is_a_trials(holders: dict[str, str], said: str) -> None:
    """Its own maps and its own array are no others."""
    host = MemoryReader(
        {
            "/sys/class/block/dm-0/dm/name": "raidtui-rescue-abc-sda\n",
            "/sys/class/block/dm-1/dm/name": "swap\n",
            **{f"/sys/class/block/{name}/holders/{holder}": "" for name, holder in holders.items()},
        }
    )
    assert find_taken(host, TrialNames(ident="abc", array="md300"), ("sda",)) == said
