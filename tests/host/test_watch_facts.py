"""Who watches a host's arrays, as its processes and files say it."""

from __future__ import annotations

import pytest

from raidtui.host.controllers import read_hidden_nvme, read_ide_disks
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.watch_facts import read_watchers
from raidtui.model.watchers import Monitor, Smartd, Watchers

CRON = {"/etc/cron.d/mdadm": "57 0 * * 0 root /usr/share/mdadm/checkarray --cron --all --idle --quiet\n"}
HOST = {"/proc/1/comm": "systemd\n", "/proc/1/cmdline": "/sbin/init\0", "/proc/self/cmdline": "raidtui\0"}
CRON_RUNS = {"/proc/500/cmdline": "/usr/sbin/cron\0-f\0"}
MONITOR = {"/proc/700/cmdline": "/sbin/mdadm\0--monitor\0--scan\0"}
UNITS = "/usr/lib/systemd/system"
WANTS = "/etc/systemd/system"


def watchers(*parts: dict[str, str]) -> Watchers:
    files: dict[str, bytes | str] = {}
    for part in (HOST, *parts):
        files |= part
    found = read_watchers(MemoryReader(files))
    assert found is not None
    return found


def test_a_host_whose_processes_cannot_be_seen() -> None:
    assert read_watchers(MemoryReader({})) is None
    assert read_watchers(MemoryReader({"/proc/1/comm": "systemd\n"})) is None


def test_a_bare_host() -> None:
    assert watchers() == Watchers()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("/sbin/mdadm --monitor --scan", [Monitor(pid=700)]),
        ("mdadm -F --scan --mail=root@localhost", [Monitor(pid=700, tells=True)]),
        ("/usr/sbin/mdadm --follow -p /usr/local/sbin/tell /dev/md127", [Monitor(pid=700, tells=True)]),
        ("/usr/sbin/mdadm --monitor --scan --syslog --program /bin/tell", [Monitor(pid=700, tells=True)]),
        ("/sbin/mdadm --monitor --scan --oneshot", []),
        ("/sbin/mdadm --grow --continue /dev/md127", []),
        ("less mdadm --monitor", []),
    ],
)
def test_which_mdadm_monitors(words: str, found: list[Monitor]) -> None:
    seen = watchers({"/proc/700/cmdline": words.replace(" ", "\0") + "\0"})
    assert list(seen.monitors) == found


def test_who_is_told() -> None:
    """Keywords may be shortened and continued; an address that is commented out is none."""
    conf = "/etc/mdadm/mdadm.conf"
    assert watchers({conf: "#MAILADDR root\nmaila\n  me@host.example\nPROGRAM /bin/tell\n"}) == Watchers(
        conf=conf, mail_to="me@host.example", program="/bin/tell"
    )
    more = {f"{conf}.d/tell.conf": "MAIL root other\n", "/usr/lib/sendmail": ""}
    assert watchers(more) == Watchers(conf=conf, mail_to="root", mailer=True)
    assert watchers({"/etc/mdadm.conf": "MAILFROM x\n"}).mail_to == ""


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (
            ({**CRON, "/etc/default/mdadm": "AUTOCHECK=true\n"}, CRON_RUNS),
            ["/etc/cron.d/mdadm"],
        ),
        (
            ({**CRON, "/etc/default/mdadm": 'AUTOCHECK="Yes"\n'}, CRON_RUNS),
            ["/etc/cron.d/mdadm"],
        ),
        (({**CRON, "/etc/default/mdadm": "AUTOCHECK=false\n"}, CRON_RUNS), []),
        (({**CRON, "/etc/default/mdadm": "#AUTOCHECK=true\n"}, CRON_RUNS), []),
        (({**CRON, "/etc/default/mdadm": "AUTOCHECK=true\n"},), []),
        (
            (
                {**CRON, "/etc/default/mdadm": "AUTOCHECK=true\n"},
                {"/run/systemd/generator/cron-mdadm-root-0.timer": ""},
            ),
            ["/etc/cron.d/mdadm"],
        ),
        (
            ({"/etc/cron.d/raid-check": "0 1 * * Sun root /usr/sbin/raid-check\n"}, CRON_RUNS),
            [],
        ),
        (
            (
                {"/etc/cron.d/raid-check": "0 1 * * Sun root /usr/sbin/raid-check\n"},
                {"/etc/sysconfig/raid-check": "ENABLED=yes\n"},
                {"/proc/500/cmdline": "/usr/sbin/crond\0-n\0"},
            ),
            ["/etc/cron.d/raid-check"],
        ),
        (
            (
                {"/etc/cron.monthly/scrub": "#!/bin/sh\necho check > /sys/block/md0/md/sync_action\n"},
                CRON_RUNS,
            ),
            ["/etc/cron.monthly/scrub"],
        ),
        (({"/etc/crontab": "# 1 1 * * * root checkarray\n"}, CRON_RUNS), []),
    ],
)
def test_checks_by_cron(parts: tuple[dict[str, str], ...], found: list[str]) -> None:
    assert list(watchers(*parts).checks) == found


def test_checks_by_timers() -> None:
    """Those of mdadm start with its monitor; a service that goes on with a check is none of its own."""
    mdcheck = {
        f"{UNITS}/mdcheck_start.service": "[Service]\nExecStart=/usr/share/mdadm/mdcheck --duration 6h\n",
        f"{UNITS}/mdcheck_continue.service": "[Service]\nExecStart=/usr/share/mdadm/mdcheck --continue\n",
        f"{WANTS}/mdmonitor.service.wants/mdcheck_start.timer": "",
        f"{WANTS}/mdmonitor.service.wants/mdcheck_continue.timer": "",
    }
    assert watchers(mdcheck, MONITOR).checks == ("mdcheck_start.timer",)
    assert watchers(mdcheck).checks == ()
    since_4_5 = {
        f"{UNITS}/mdcheck_start.service": "[Service]\nExecStart=/usr/share/mdadm/mdcheck --restart\n",
        f"{UNITS}/mdcheck_continue.service": "[Service]\nExecStart=/usr/share/mdadm/mdcheck --start\n",
    }
    assert watchers({**mdcheck, **since_4_5}, MONITOR).checks == ("mdcheck_start.timer",)
    own = {
        f"{WANTS}/scrub.service": "[Service]\nExecStart=sh -c 'echo check >/sys/block/md0/md/sync_action'\n",
        f"{WANTS}/timers.target.wants/scrub.timer": "",
        f"{UNITS}/fstrim.service": "[Service]\nExecStart=/sbin/fstrim --all\n",
        f"{WANTS}/timers.target.wants/fstrim.timer": "",
    }
    assert watchers(own).checks == ("scrub.timer",)


def test_raid_check_does_nothing_unless_it_is_switched_on() -> None:
    """Its timer runs all the same."""
    timer = {
        f"{UNITS}/raid-check.service": "[Service]\nExecStart=/usr/sbin/raid-check\n",
        f"{WANTS}/timers.target.wants/raid-check.timer": "",
    }
    assert watchers(timer, {"/etc/sysconfig/raid-check": "ENABLED=yes\n"}).checks == ("raid-check.timer",)
    assert watchers(timer, {"/etc/sysconfig/raid-check": "ENABLED=no\n"}).checks == ()


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"/var/log/journal/0123/system.journal": ""}, "/var/log/journal"),
        (
            {
                "/var/log/journal/0123/system.journal": "",
                "/etc/systemd/journald.conf": "[Journal]\nStorage=volatile\n",
            },
            "",
        ),
        (
            {
                "/var/log/journal/0123/system.journal": "",
                "/etc/systemd/journald.conf": "[Journal]\n#Storage=volatile\n",
            },
            "/var/log/journal",
        ),
        ({"/var/log/kern.log": ""}, "/var/log/kern.log"),
        ({"/run/log/journal/0123/system.journal": ""}, ""),
    ],
)
def test_what_outlives_a_restart(files: dict[str, str], kept: str) -> None:
    assert watchers(files).kept == kept


def test_controllers() -> None:
    ahci, pci, host = "/sys/bus/pci/drivers/ahci", "/sys/bus/pci/devices", "../../devices/pci0000:00"
    root = MemoryReader(
        {
            f"{ahci}/0000:00:17.0/remapped_nvme": "2\n",
            f"{ahci}/0000:01:00.0/remapped_nvme": "0\n",
            f"{ahci}/bind": "",
            f"{pci}/0000:00:1f.2/class": "0x01018f\n",
            f"{pci}/0000:00:17.0/class": "0x010601\n",
        },
        links={
            "/sys/class/block/sda": f"{host}/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda",
            "/sys/class/block/sdb": f"{host}/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sdb",
            "/sys/class/block/sdc": f"{host}/0000:00:14.0/usb1/1-1/1-1:1.0/host6/block/sdc",
        },
    )
    assert read_hidden_nvme(root) == {"0000:00:17.0": 2}
    assert read_ide_disks(root, ("sda", "sdb", "sdc", "nvme0n1")) == ("sda",)


SMARTD = {"/proc/800/cmdline": "/usr/sbin/smartd\0-n\0"}
RUNNER = "DEVICESCAN -m root -M exec /usr/share/smartmontools/smartd-runner\n"


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        (({},), None),
        (({"/etc/smartd.conf": "# nothing\n"},), Smartd(conf="/etc/smartd.conf")),
        (
            ({"/etc/smartmontools/smartd.conf": "DEVICESCAN \\\n -m me@lab # x\n"}, SMARTD),
            Smartd(conf="/etc/smartmontools/smartd.conf", runs=True, mails=True),
        ),
        (
            ({"/etc/smartd.conf": "/dev/sda -m <nomailer> -M exec /bin/tell\n"},),
            Smartd(conf="/etc/smartd.conf", programs=("/bin/tell",)),
        ),
        (
            ({"/etc/smartd.conf": RUNNER, "/etc/smartmontools/run.d/10mail": ""},),
            Smartd(conf="/etc/smartd.conf", mails=True),
        ),
        (
            ({"/etc/smartd.conf": RUNNER, "/etc/smartmontools/run.d/20raidtui": ""},),
            Smartd(conf="/etc/smartd.conf", mails=True, programs=("/etc/smartmontools/run.d/20raidtui",)),
        ),
        (
            ({"/etc/smartd.conf": "", "/proc/cpuinfo": "flags\t: fpu hypervisor lahf_lm\n"},),
            Smartd(conf="/etc/smartd.conf", virtual=True),
        ),
    ],
)
def test_smartd(parts: tuple[dict[str, str], ...], found: Smartd | None) -> None:
    assert watchers(*parts).smartd == found


def test_raidtuis_channels() -> None:
    assert watchers({"/etc/raidtui/alerts.toml": "secret"}).channels
    assert not watchers({"/etc/raidtui/alert-hook": ""}).channels


def test_drop_ins_of_journald() -> None:
    kept = {"/var/log/journal/0123/system.journal": ""}
    assert watchers(kept).kept == "/var/log/journal"
    volatile = {"/etc/systemd/journald.conf.d/site.conf": "[Journal]\nStorage=volatile\n"}
    assert watchers(kept, volatile).kept == ""
    assert watchers(kept, volatile, {"/etc/systemd/journald.conf.d/zz.conf": "Storage=auto\n"}).kept
