"""The plan of the alerts, on hosts of each kind: whole commands, files and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from raidtui.features.alerts.alert_plan import hook_text, unit_text
from raidtui.features.alerts.plan_alerts import plan_alerts
from raidtui.host.alert_facts import read_alert_setup
from raidtui.host.tools import output_path
from raidtui.model.alert_setup import HOOK, AlertRequest
from raidtui.model.plan import (
    NothingToDo,
    Plan,
    Refusal,
    RefusalCode,
    RunTool,
    Step,
)
from raidtui.monitor.sampler import Sampler
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, raid0, raid10

CONF, SMARTD = "/etc/mdadm/mdadm.conf", "/etc/smartd.conf"
UNITS = {"raidtui-alert.service": "service", "raidtui-alert.timer": "timer"}
FEDORA = "DEVICESCAN -H -m root -M exec /usr/libexec/smartmontools/smartdnotify -n standby,10,q\n"
DEBIAN = "DEVICESCAN -d removable -n standby -m root -M exec /usr/share/smartmontools/smartd-runner\n"
NORMAL: dict[str, str] = {
    "/proc/1/comm": "systemd\n",
    "/proc/1/cmdline": "/sbin/init\0",
    "/etc/raidtui/alerts.toml": "[channels.secret]\n",
    CONF: "HOMEHOST <system>\nMAILADDR root\n",
    "/usr/lib/systemd/system/mdmonitor.service": "[Service]\nExecStart=/sbin/mdadm --monitor --scan\n",
    "/var/log/journal/0123/system.journal": "",
}
SMARTD_RUNS = {
    "/proc/800/cmdline": "/usr/sbin/smartd\0-n\0",
    "/usr/lib/systemd/system/smartmontools.service": "[Install]\n",
}


def host(files: Mapping[str, str | None] | None = None, *arrays: ArraySpec, writable: bool = True) -> Kernel:
    made = Kernel(*(arrays or (raid10(),)), writable=writable)
    for path, text in {**NORMAL, **(files or {})}.items():
        if text is not None:
            made.put(path, text)
    return made


def planned(root: Kernel, *parts: str, replaces: bool = False) -> Plan | Refusal:
    setup = read_alert_setup(root, hook="hook", units=UNITS)
    return plan_alerts(Sampler(root).sample(), setup, AlertRequest(parts=parts, replaces=replaces))


def plan_of(root: Kernel, *parts: str, **more: Any) -> Plan:
    made = planned(root, *parts, **more)
    assert isinstance(made, Plan), made
    return made


def written(plan: Plan) -> dict[str, str]:
    return {step.path: step.content for step in plan.steps if step.content is not None}


def commands(steps: tuple[Step, ...]) -> list[str]:
    return [step.command for step in steps]


def test_a_whole_host() -> None:
    plan = plan_of(host({SMARTD: DEBIAN, "/etc/smartmontools/run.d/10mail": "", **SMARTD_RUNS}))
    assert commands(plan.steps) == [
        f"write {HOOK}",
        f"chmod 0755 {HOOK}",
        f"write {CONF}",
        "systemctl restart mdmonitor.service",
        "write /etc/systemd/system/raidtui-alert.service",
        "write /etc/systemd/system/raidtui-alert.timer",
        "systemctl daemon-reload",
        "systemctl enable --now raidtui-alert.timer",
        "write /etc/smartmontools/run.d/20raidtui",
        "chmod 0755 /etc/smartmontools/run.d/20raidtui",
    ]
    assert written(plan)[CONF] == f"HOMEHOST <system>\nMAILADDR root\nPROGRAM {HOOK}\n"
    assert commands(plan.undo) == [
        "rm --force -- /etc/smartmontools/run.d/20raidtui",
        "systemctl disable --now raidtui-alert.timer",
        "rm --force -- /etc/systemd/system/raidtui-alert.timer",
        "rm --force -- /etc/systemd/system/raidtui-alert.service",
        "systemctl daemon-reload",
        f"write {CONF}",
        "systemctl restart mdmonitor.service",
        f"rm --force -- {HOOK}",
    ]
    assert plan.rolls_back
    assert plan.title == "set up alerts: hook, mdadm, retries, smartd"


def test_all_of_it_is_there() -> None:
    root = host(
        {
            HOOK: "hook",
            CONF: f"PROG {HOOK}\n",
            SMARTD: f"/dev/sda -m <nomailer> -M exec {HOOK}\n",
            **SMARTD_RUNS,
            **{f"/etc/systemd/system/{name}": text for name, text in UNITS.items()},
        }
    )
    assert isinstance(planned(root), NothingToDo)
    root.put(HOOK, "an older hook")
    assert commands(plan_of(root).steps) == [f"write {HOOK}", f"chmod 0755 {HOOK}"]


def test_without_root_and_without_channels() -> None:
    refused = planned(host(writable=False))
    assert isinstance(refused, Refusal)
    assert refused.code is RefusalCode.NOT_ROOT
    root = host()
    root.drop("/etc/raidtui/alerts.toml")
    for parts in ((), ("smartd",), ("journal", "retries")):
        refused = planned(root, *parts)
        assert isinstance(refused, Refusal)
        assert refused.why == "no channel is configured: an alert would reach nobody"
    root.drop("/var/log/journal")
    assert isinstance(planned(root, "journal"), Plan)


@pytest.mark.parametrize(
    "line", ["PROGRAM /root/mine", 'prog "/root/mine" # mine', "PROGRAM\n  /root/mine"], ids=str
)
def test_another_program(line: str) -> None:
    root = host({CONF: f"MAILADDR root\n{line}\nHOMEHOST x\n"})
    refused = planned(root)
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.why) == (
        RefusalCode.TAKEN,
        f"{CONF} has PROGRAM /root/mine, which another has written",
    )
    plan = plan_of(root, replaces=True)
    assert written(plan)[CONF] == f"MAILADDR root\nPROGRAM {HOOK}\nHOMEHOST x\n"
    assert "/root/mine is no longer called." in plan.notes


def test_a_program_in_the_folder_of_the_configuration() -> None:
    path = "/etc/mdadm/mdadm.conf.d/site.conf"
    root = host({path: "PROGRAM /root/mine\n"})
    refused = planned(root)
    assert isinstance(refused, Refusal)
    assert path in refused.why
    assert written(plan_of(root, "mdadm", replaces=True))[path] == f"PROGRAM {HOOK}\n"


def test_other_hosts_monitors() -> None:
    unit = "/usr/lib/systemd/system/mdmonitor.service"
    root = host({unit: "[Service]\n[Install]\nWantedBy=multi-user.target\n"})
    enabled = output_path(("systemctl", "is-enabled", "mdmonitor.service"))
    root.put(enabled, "timed-out\nsystemctl did not answer within 10 s")
    silent = planned(root, "mdadm")
    assert isinstance(silent, Refusal)
    assert silent.code is RefusalCode.NO_ANSWER
    root.put(enabled, "exit 1\ndisabled\n")
    assert commands(plan_of(root, "mdadm").steps)[3:] == [
        "systemctl enable mdmonitor.service",
        "systemctl restart mdmonitor.service",
    ]
    root.put(enabled, "exit 0\nenabled\n")
    assert commands(plan_of(root, "mdadm").steps)[3:] == ["systemctl restart mdmonitor.service"]
    plan = plan_of(host(None, raid0()), "mdadm")
    assert plan.notes == ("Nothing is restarted: no array runs that mdadm monitors.",)
    plan = plan_of(host({"/proc/1/comm": "init\n"}))
    assert [each for each in commands(plan.steps) if "systemctl" in each] == []
    assert plan.notes[0].startswith("mdadm --monitor has to be restarted by hand")
    assert plan.notes[1].startswith(
        "Without systemd, what was not sent is tried again only at the next alert"
    )


def test_a_monitor_that_names_its_own_program() -> None:
    line = "/sbin/mdadm --monitor --scan --program=/bin/mine"
    plan = plan_of(host({"/proc/700/cmdline": line.replace(" ", "\0")}), "mdadm")
    assert plan.notes[0].startswith("An mdadm --monitor that runs names an address or a program")


def test_no_configuration_yet() -> None:
    root = host()
    root.drop(CONF)
    assert written(plan_of(root, "mdadm"))[CONF] == f"PROGRAM {HOOK}\n"
    root.drop("/etc/mdadm")
    assert written(plan_of(root, "mdadm"))["/etc/mdadm.conf"] == f"PROGRAM {HOOK}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("DEVICESCAN\n", f"DEVICESCAN -m <nomailer> -M exec {HOOK}\n"),
        ("/dev/sda -a -m root  # mine\n", f"/dev/sda -a -m root -M exec {HOOK}  # mine\n"),
        ("# x\n/dev/sda -a \\\n -m a@b\n", f"# x\n/dev/sda -a \\\n -m a@b -M exec {HOOK}\n"),
    ],
)
def test_lines_of_smartd(before: str, after: str) -> None:
    plan = plan_of(host({SMARTD: before, **SMARTD_RUNS}), "smartd")
    assert written(plan)[SMARTD] == after
    assert commands(plan.steps)[-1] == "systemctl restart smartmontools.service"
    assert plan.notes[0].startswith("smartd no longer sends mail itself")


def test_smartd_calls_something_else() -> None:
    root = host({SMARTD: FEDORA, **SMARTD_RUNS})
    plan = plan_of(root)
    assert SMARTD not in written(plan)
    assert plan.notes[-1].startswith(
        "Smartd calls /usr/libexec/smartmontools/smartdnotify, by /etc/smartd.conf"
    )
    refused = planned(root, "smartd")
    assert isinstance(refused, Refusal)
    assert refused.code is RefusalCode.TAKEN
    assert written(plan_of(root, "smartd", replaces=True))[SMARTD] == (
        f"DEVICESCAN -H -m root -M exec {HOOK} -n standby,10,q\n"
    )


def test_smartd_does_not_run() -> None:
    root = host({SMARTD: f"DEVICESCAN -M exec {HOOK}\n", HOOK: "hook", **SMARTD_RUNS})
    root.drop("/proc/800/cmdline")
    [step] = plan_of(root, "smartd").steps
    assert isinstance(step, RunTool)
    assert (step.command, step.may_fail) == ("systemctl enable --now smartmontools.service", True)


@pytest.mark.parametrize("files", [{}, {SMARTD: "# nothing\n"}])
def test_no_smartd(files: dict[str, str]) -> None:
    root = host(files)
    refused = planned(root, "smartd")
    assert isinstance(refused, Refusal)
    assert refused.code is RefusalCode.NOT_FOUND
    assert "smartd" not in plan_of(root).title


def test_a_virtual_machine() -> None:
    """Only where smartd was asked for, or has found a disk that it can watch."""
    root = host({SMARTD: DEBIAN, "/proc/cpuinfo": "flags : fpu hypervisor\n"})
    plan = plan_of(root)
    assert "smartd" not in plan.title
    assert plan.notes[-1].startswith("Smartd does not run, and this machine is virtual")
    assert "smartd" in plan_of(root, "smartd").title
    root.put("/proc/800/cmdline", SMARTD_RUNS["/proc/800/cmdline"])
    assert "smartd" in plan_of(root).title


def test_the_journal() -> None:
    root = host()
    root.drop("/var/log/journal")
    assert commands(plan_of(root, "journal").steps) == [
        "mkdir --parents /var/log/journal",
        "systemd-tmpfiles --create --prefix /var/log/journal",
        "journalctl --flush",
    ]
    root.put("/etc/systemd/journald.conf.d/site.conf", "[Journal]\nStorage=volatile\n")
    refused = planned(root, "journal")
    assert isinstance(refused, Refusal)
    assert refused.why == "journald is to keep nothing: its configuration says Storage=volatile"
    assert "Journald is to keep nothing" in plan_of(root).notes[-1]


def test_a_raidtui_that_is_not_roots() -> None:
    """Whoever may change it would be root."""
    setup = read_alert_setup(host(), hook="hook", units=UNITS, owned_by=1000)
    made = plan_alerts(Sampler(host()).sample(), setup, AlertRequest())
    assert isinstance(made, Plan)
    assert made.warning.startswith("User 1000 may change this raidtui, and mdadm")
    assert plan_of(host()).warning == ""


def test_no_secret_is_read() -> None:
    """What root alone may read is not among what the plan is made from."""
    setup = read_alert_setup(host(), hook="hook", units=UNITS)
    assert "secret" not in str(setup)


def test_what_is_written_calls_this_raidtui() -> None:
    assert " -P -m raidtui alert " in hook_text()
    assert unit_text("[Service]\nExecStart=raidtui alert --send\n").endswith(" -P -m raidtui alert --send\n")
