"""The plan of regular checks, on hosts of each kind, and refusals."""

from __future__ import annotations

from collections.abc import Mapping

from raidtui.features.checks.check_setup import Rhythm, drop_in, read_check_setup, service_of
from raidtui.features.checks.hours import CheckHours, mdcheck_files, parse_window
from raidtui.features.checks.plan_checks import CheckRequest, plan_checks, value_of, with_value
from raidtui.host.tools import output_path
from raidtui.model.plan import NothingToDo, Plan, Refusal
from raidtui.monitor.sampler import Sampler
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid10
from tests.plans.goldens import accepted, brief

Files = Mapping[str, str | None]
UNITS, WANTS = "/usr/lib/systemd/system", "/etc/systemd/system"
SCRIPT, CONTINUED = "/usr/share/mdadm/mdcheck", "mdcheck_continue"
DEFAULTS, SYSCONFIG = "/etc/default/mdadm", "/etc/sysconfig/raid-check"
SYSTEMD = {"/proc/1/comm": "systemd\n", "/proc/1/cmdline": "/sbin/init\0"}
CRON = {"/proc/500/cmdline": "/usr/sbin/cron\0-f\0"}


def states(timer: str, *, enabled: bool, active: bool) -> dict[str, str]:
    """What systemctl says of a timer."""
    on, runs = ("enabled" if enabled else "disabled"), ("active" if active else "inactive")
    return {
        output_path(("systemctl", "is-enabled", timer)): f"exit {0 if enabled else 1}\n{on}\n",
        output_path(("systemctl", "is-active", timer)): f"exit {0 if active else 3}\n{runs}\n",
    }


def mdcheck(*, start: str = "", goes_on: str = "--continue ", on: bool = False) -> dict[str, str]:
    """The units of mdadm, before 4.5 if nothing else is given."""
    found = {SCRIPT: "#!/bin/bash\n"}
    for name, words in (("mdcheck_start", start), (CONTINUED, goes_on)):
        found[f"{UNITS}/{name}.timer"] = "[Timer]\n[Install]\nWantedBy= mdmonitor.service\n"
        found[f"{UNITS}/{name}.service"] = (
            f"[Service]\nExecStartPre=-/usr/lib/mdadm/mdadm_env.sh\nExecStart={SCRIPT} {words}--duration x\n"
        )
        found |= states(f"{name}.timer", enabled=on, active=on)
        if on:
            found[f"{WANTS}/mdmonitor.service.wants/{name}.timer"] = ""
    return found


MONITOR = {"/proc/700/cmdline": "/sbin/mdadm\0--monitor\0--scan\0"}
CHECKARRAY = {
    **CRON,
    "/usr/share/mdadm/checkarray": "#!/bin/sh\n",
    "/etc/cron.d/mdadm": "57 0 * * 0 root /usr/share/mdadm/checkarray --cron --all --idle --quiet\n",
    DEFAULTS: "# once a month\nAUTOCHECK=true\nAUTOSCAN=true\n",
}
OFF = {DEFAULTS: "AUTOCHECK=false  # not yet\n"}
RAID_CHECK = {
    "/usr/sbin/raid-check": "#!/bin/bash\n",
    f"{UNITS}/raid-check.timer": "[Timer]\nOnCalendar=Sun *-*-* 01:00:00\n[Install]\n",
    f"{UNITS}/raid-check.service": "[Service]\nExecStart=/usr/sbin/raid-check\n",
    SYSCONFIG: "ENABLED=no\nCHECK=repair\nSKIP_DEVS=\n",
    **states("raid-check.timer", enabled=False, active=False),
}
RAID_CHECK_ON = {
    **RAID_CHECK,
    SYSCONFIG: "ENABLED=yes\nCHECK=check\n",
    f"{WANTS}/timers.target.wants/raid-check.timer": "",
    **states("raid-check.timer", enabled=True, active=True),
}
EL8 = {
    "/proc/500/cmdline": "/usr/sbin/crond\0-n\0",
    "/usr/sbin/raid-check": "#!/bin/bash\n",
    "/etc/cron.d/raid-check": "0 1 * * Sun root /usr/sbin/raid-check\n",
    SYSCONFIG: "ENABLED=no\nCHECK=check\n",
}
DONE = {
    **mdcheck(on=True),
    **mdcheck_files(Rhythm.MONTHLY, CheckHours(begin_min=60, end_min=300), restarts=False),
    f"{WANTS}/timers.target.wants/mdcheck_start.timer": "",
    f"{WANTS}/timers.target.wants/{CONTINUED}.timer": "",
}
OWN = {**CRON, "/etc/cron.weekly/scrub": "echo check > /sys/block/md127/md/sync_action\n"}


def checks(*parts: Files, window: str = "", weekly: bool = False, writable: bool = True) -> Plan | Refusal:
    """The answer on a host with these files, where a later one wins; None for none."""
    root = Kernel(raid10(), writable=writable)
    files = {path: text for part in (SYSTEMD, *parts) for path, text in part.items()}
    for path, text in files.items():
        if text is not None:
            root.put(path, text)
    rhythm = Rhythm.WEEKLY if weekly else Rhythm.MONTHLY
    return plan_checks(
        Sampler(root).sample(), read_check_setup(root), CheckRequest(rhythm=rhythm, window=window)
    )


test_plans = accepted(
    {
        "mdcheck, with a window": lambda: checks(mdcheck(), window="01:00-05:00"),
        "mdcheck since mdadm 4.5": lambda: checks(
            mdcheck(start="--restart ", goes_on="--start "), window="01:00-05:00"
        ),
        "mdcheck and checkarray are on": lambda: checks(mdcheck(on=True), MONITOR, CHECKARRAY),
        "raid-check is off": lambda: checks(RAID_CHECK, weekly=True),
        "checkarray is off": lambda: checks(CHECKARRAY, OFF),
        "already so": lambda: checks(DONE, window="01:00-05:00"),
    }
)
test_plans_in_brief = accepted(
    {
        "mdcheck, weekly": lambda: checks(mdcheck(), weekly=True),
        "mdcheck, over midnight": lambda: checks(mdcheck(), window="22:00-4:30"),
        "mdcheck, right before midnight": lambda: checks(mdcheck(), window="23:57-04:30"),
        "mdcheck, by another window before": lambda: checks(DONE, window="02:00-05:00"),
        "raid-check is the distribution's": lambda: checks(RAID_CHECK_ON, mdcheck(on=True)),
        "raid-check gives way for a window": lambda: checks(
            RAID_CHECK_ON, mdcheck(), window="01:00-05:00", weekly=True
        ),
        "mdcheck is on, raid-check is not": lambda: checks(
            RAID_CHECK, mdcheck(on=True), MONITOR, weekly=True
        ),
        "raid-check by cron": lambda: checks(EL8, weekly=True),
        "no systemd, but cron": lambda: checks(
            {"/proc/1/comm": "init\n"}, mdcheck(), CHECKARRAY, {DEFAULTS: None}
        ),
        "a crontab of the user's": lambda: checks(mdcheck(), OWN),
        "already so, and a crontab of the user's": lambda: checks(DONE, OWN, window="01:00-05:00"),
        "checkarray is on already": lambda: checks(CHECKARRAY, {DEFAULTS: "AUTOCHECK=yes\n"}),
    },
    brief,
)
MASKED = {output_path(("systemctl", "is-enabled", "mdcheck_start.timer")): "exit 1\nmasked\n"}
SILENT = {output_path(("systemctl", "is-active", "mdcheck_start.timer")): "timed-out\nno answer in 10 s"}
test_refused = accepted(
    {
        "refused: not root": lambda: checks(mdcheck(), writable=False),
        "refused: nothing is installed": checks,
        "refused: mdcheck itself is missing": lambda: checks(mdcheck(), {SCRIPT: None}),
        "refused: no systemd": lambda: checks({"/proc/1/comm": "init\n"}, mdcheck()),
        "refused: no window": lambda: checks(mdcheck(), window="01:00-25:00"),
        "refused: a short window": lambda: checks(mdcheck(), window="01:00-01:20"),
        "refused: raid-check has no window": lambda: checks(RAID_CHECK, window="01:00-05:00"),
        "refused: checkarray has no window": lambda: checks(CHECKARRAY, window="01:00-05:00"),
        "refused: checkarray is monthly": lambda: checks(CHECKARRAY, weekly=True),
        "refused: cron does not run": lambda: checks(CHECKARRAY, {"/proc/500/cmdline": None}),
        "refused: a timer is masked": lambda: checks(mdcheck(), MASKED),
        "refused: systemd does not answer": lambda: checks(mdcheck(), SILENT),
    }
)


def test_what_is_left_to_continue_is_no_reason_for_a_plan() -> None:
    """Mdcheck stops the timer itself when all arrays are checked."""
    idle = states("mdcheck_continue.timer", enabled=True, active=False)
    assert isinstance(checks(DONE, idle, window="01:00-05:00"), NothingToDo)


def test_windows() -> None:
    assert parse_window("1:00-05:30") == CheckHours(begin_min=60, end_min=330)
    over_midnight = parse_window("22:00-04:00")
    assert over_midnight is not None
    assert over_midnight.length_min == 360
    for text in ("", "01:00", "1-5", "24:00-05:00", "01:60-05:00", "01:00-05:00 "):
        assert parse_window(text) is None


def test_the_day_on_which_a_run_ends() -> None:
    """The second of the pair may begin after midnight, where the window began before."""
    files = mdcheck_files(Rhythm.MONTHLY, CheckHours(begin_min=23 * 60 + 57, end_min=270), restarts=False)
    assert 'DURATION=04:30"' in files[drop_in(service_of("mdcheck_start.timer"))]
    assert 'DURATION=tomorrow 04:30"' in files[drop_in(service_of("mdcheck_continue.timer"))]


def test_a_value_of_a_shell_file() -> None:
    assert value_of("KEY=no\nKEY='yes'\nKEYS=no\n", "KEY") == "yes"
    assert value_of("# KEY=no\n", "KEY") == ""
    assert with_value("", "KEY", "yes") == "KEY=yes\n"
    assert with_value("# KEY=no\nA=1", "KEY", "yes") == "# KEY=no\nA=1\nKEY=yes\n"
    assert with_value("KEY='no' # why\nKEY=\n", "KEY", "yes") == "KEY=yes # why\nKEY=yes\n"
    assert with_value('KEY="yes"\nKEYS=no\n', "KEY", "yes") == 'KEY="yes"\nKEYS=no\n'
