"""Rules of udev while a trial lasts: where mdadm's own ones are replaced for that time."""

from msgspec.structs import replace

from raidtui.host.roots.memory_root import MemoryRoot
from raidtui.host.trial_traces import SHADOW, read_array_rules
from raidtui.rescue.mdadm_words import Assembly
from raidtui.rescue.trial.trial_plan import TrialPlan, plan_trial
from raidtui.rescue.trial.trial_request import TrialMethod
from tests.plans.new_array import UUID
from tests.rescue.test_trial_plan import HOST, NAMES, commands, members, request

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
    assert read_array_rules(MemoryRoot({VENDOR: RULES})) == RULES.rstrip()
    assert read_array_rules(MemoryRoot({VENDOR: RULES, SHADOW: shadow})) == RULES.rstrip()
    assert read_array_rules(MemoryRoot({VENDOR: RULES, SHADOW: "# mine\n"})) == ""
    assert read_array_rules(MemoryRoot({VENDOR: RULES, ADMIN: "# mine\n"})) == ""
    assert read_array_rules(MemoryRoot({})) == ""
