"""The plan of the alerts, on hosts of each kind, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raidtui.features.alerts.alert_plan import hook_text
from raidtui.features.alerts.plan_alerts import plan_alerts
from raidtui.host.alert_facts import ALERT_TIMER, read_alert_setup
from raidtui.host.own_units import with_own_command
from raidtui.host.tools import output_path
from raidtui.model.alert_setup import HOOK, AlertRequest
from raidtui.model.plan import Plan, Refusal
from raidtui.monitor.sampler import Sampler
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, raid0, raid10
from tests.plans.goldens import accepted, brief

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
RUNS = {
    output_path(("systemctl", "is-enabled", ALERT_TIMER)): "exit 0\nenabled\n",
    output_path(("systemctl", "is-active", ALERT_TIMER)): "exit 0\nactive\n",
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


CHANNELS, JOURNAL = "/etc/raidtui/alerts.toml", "/var/log/journal/0123/system.journal"
MONITOR = "/usr/lib/systemd/system/mdmonitor.service"
INSTALLED = {MONITOR: "[Service]\n[Install]\nWantedBy=multi-user.target\n"}
ENABLED = output_path(("systemctl", "is-enabled", "mdmonitor.service"))
VOLATILE = {"/etc/systemd/journald.conf.d/site.conf": "[Journal]\nStorage=volatile\n", JOURNAL: None}
SITE = {"/etc/mdadm/mdadm.conf.d/site.conf": "PROGRAM /root/mine\n"}
ANOTHERS = {CONF: "MAILADDR root\nPROGRAM /root/mine\nHOMEHOST x\n"}
VIRTUAL = {SMARTD: DEBIAN, "/proc/cpuinfo": "flags : fpu hypervisor\n"}
NAMES_IT = {SMARTD: f"DEVICESCAN -M exec {HOOK}\n", HOOK: "hook"}
THERE: dict[str, str | None] = {
    HOOK: "hook",
    CONF: f"PROG {HOOK}\n",
    SMARTD: f"/dev/sda -m <nomailer> -M exec {HOOK}\n",
    **SMARTD_RUNS,
    **RUNS,
    **{f"/etc/systemd/system/{name}": text for name, text in UNITS.items()},
}


def alerts(
    files: Mapping[str, str | None] | None = None, *parts: str, replaces: bool = False, **more: Any
) -> Plan | Refusal:
    """The answer on a host with these files besides the usual ones, or without them."""
    arrays, owned_by = more.pop("arrays", ()), more.pop("owned_by", 0)
    root = host(files, *arrays, **more)
    setup = read_alert_setup(root, hook="hook", units=UNITS, owned_by=owned_by)
    return plan_alerts(Sampler(root).sample(), setup, AlertRequest(parts=parts, replaces=replaces))


def with_conf(text: str) -> str:
    """What mdadm.conf is then, where another program is replaced."""
    found = alerts({CONF: text}, replaces=True)
    assert isinstance(found, Plan), found
    [content] = [step.content for step in found.steps if step.path == CONF]
    return content or ""


def smartd(line: str) -> str:
    found = alerts({SMARTD: line, **SMARTD_RUNS}, "smartd")
    assert isinstance(found, Plan), found
    [content] = [step.content for step in found.steps if step.path == SMARTD]
    return content or ""


RUN_D = {SMARTD: DEBIAN, "/etc/smartmontools/run.d/10mail": "", **SMARTD_RUNS}
test_plans = accepted(
    {
        "a whole host": lambda: alerts(RUN_D),
        "all of it is there": lambda: alerts(THERE),
        "an older hook is there": lambda: alerts({**THERE, HOOK: "an older hook"}),
    }
)
test_plans_in_brief = accepted(
    {
        "another program is replaced": lambda: alerts(ANOTHERS, replaces=True),
        "another program is replaced, in the folder": lambda: alerts(SITE, "mdadm", replaces=True),
        "mdadm: its monitor is disabled": lambda: alerts(
            {**INSTALLED, ENABLED: "exit 1\ndisabled\n"}, "mdadm"
        ),
        "mdadm: its monitor is enabled": lambda: alerts({**INSTALLED, ENABLED: "exit 0\nenabled\n"}, "mdadm"),
        "mdadm: nothing that is monitored runs": lambda: alerts(None, "mdadm", arrays=(raid0(),)),
        "mdadm: its monitor names a program": lambda: alerts(
            {"/proc/700/cmdline": "/sbin/mdadm\0--monitor\0--scan\0--program=/bin/mine"}, "mdadm"
        ),
        "mdadm: no configuration yet": lambda: alerts({CONF: None, "/etc/mdadm/x": ""}, "mdadm"),
        "mdadm: no folder for a configuration": lambda: alerts({CONF: None}, "mdadm"),
        "without systemd": lambda: alerts({"/proc/1/comm": "init\n"}),
        "smartd: a line for each disk": lambda: alerts(
            {SMARTD: "/dev/sda -m root\n", **SMARTD_RUNS}, "smartd"
        ),
        "smartd: it calls something else": lambda: alerts({SMARTD: FEDORA, **SMARTD_RUNS}),
        "smartd: what it calls is replaced": lambda: alerts(
            {SMARTD: FEDORA, **SMARTD_RUNS}, "smartd", replaces=True
        ),
        "smartd: it does not run": lambda: alerts(
            {**NAMES_IT, **SMARTD_RUNS, "/proc/800/cmdline": None}, "smartd"
        ),
        "smartd: none": alerts,
        # Only where smartd was asked for, or has found a disk that it can watch.
        "a virtual machine": lambda: alerts(VIRTUAL),
        "a virtual machine, smartd asked for": lambda: alerts(VIRTUAL, "smartd"),
        "a virtual machine, smartd runs": lambda: alerts(
            {**VIRTUAL, "/proc/800/cmdline": SMARTD_RUNS["/proc/800/cmdline"]}
        ),
        "the journal": lambda: alerts({JOURNAL: None}, "journal"),
        "the journal, without channels": lambda: alerts({JOURNAL: None, CHANNELS: None}, "journal"),
        "the journal is to keep nothing": lambda: alerts(VOLATILE),
        # Whoever may change it would be root.
        "a raidtui that is not root's": lambda: alerts(owned_by=1000),
    },
    brief,
)
test_refused = accepted(
    {
        "refused: not root": lambda: alerts(writable=False),
        "refused: no channel": lambda: alerts({CHANNELS: None}),
        "refused: no channel for smartd": lambda: alerts({CHANNELS: None}, "smartd"),
        "refused: no channel for retries": lambda: alerts({CHANNELS: None}, "journal", "retries"),
        "refused: another program": lambda: alerts(ANOTHERS),
        "refused: another program, in the folder": lambda: alerts(SITE),
        "refused: systemd does not answer": lambda: alerts(
            {**INSTALLED, ENABLED: "timed-out\nsystemctl did not answer within 10 s"}, "mdadm"
        ),
        "refused: smartd calls something else": lambda: alerts({SMARTD: FEDORA, **SMARTD_RUNS}, "smartd"),
        "refused: no smartd": lambda: alerts(None, "smartd"),
        "refused: no line of smartd": lambda: alerts({SMARTD: "# nothing\n"}, "smartd"),
        "refused: the journal is to keep nothing": lambda: alerts(VOLATILE, "journal"),
    }
)
test_lines = accepted(
    {
        "line of mdadm.conf: in quotes": 'MAILADDR root\nprog "/root/mine" # mine\nHOMEHOST x\n',
        "line of mdadm.conf: on two lines": "MAILADDR root\nPROGRAM\n  /root/mine\nHOMEHOST x\n",
    },
    with_conf,
)
test_lines_of_smartd = accepted(
    {
        "line of smartd: alone": "DEVICESCAN\n",
        "line of smartd: with a comment": "/dev/sda -a -m root  # mine\n",
        "line of smartd: on two lines": "# x\n/dev/sda -a \\\n -m a@b\n",
    },
    smartd,
)


def test_no_secret_is_read() -> None:
    """What root alone may read is not among what the plan is made from."""
    setup = read_alert_setup(host(), hook="hook", units=UNITS)
    assert "secret" not in str(setup)


def test_what_is_written_calls_this_raidtui() -> None:
    assert " -P -m raidtui alert " in hook_text()
    assert with_own_command("[Service]\nExecStart=raidtui alert --send\n").endswith(
        " -P -m raidtui alert --send\n"
    )
