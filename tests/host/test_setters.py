"""Who sets a knob: rules, profiles and configuration files of small hosts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from raidtui.host.knobs.setter_services import running_services
from raidtui.host.knobs.setters import path_fits
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.model.knob import By, Value
from tests.hosts.specs import raid5
from tests.hosts.tune_host import ACPI, BLOCK, FOUR, INTEL, RULES, SYSCTL, TMPFILES, TuneHost, parity, udev

pytestmark = pytest.mark.usefixtures("host_or_capture")

WANTS = "/etc/systemd/system/multi-user.target.wants"
SSD_RULES = """\
# schedulers
ACTION=="add|change", KERNEL=="sd[a-z]*", ATTR{queue/rotational}=="0", \\
  ATTR{queue/scheduler}="none"
SUBSYSTEM=="block", ENV{ID_SERIAL_SHORT}=="SSDC0001", ATTR{device/queue_depth}="1"
"""
_JUMP = """\
KERNEL=="sdb", GOTO="end"
ATTR{queue/scheduler}="bfq"
LABEL="end"
ATTR{queue/scheduler}="none"
"""


def settings_of(value: Value) -> list[tuple[str, str | None, bool]]:
    """Where, value and whether it is sure, of all that sets a knob."""
    return [(each.where, each.value, each.sure) for each in value.others]


def test_a_rule_with_file_and_line() -> None:
    host = TuneHost(
        files={"/etc/udev/rules.d/60-ssd.rules": SSD_RULES},
        nodes={
            "sda": {"queue/scheduler": "[none] mq-deadline"},
            "sdb": {"queue/rotational": "1"},
            "sdc": {"device/queue_depth": "1"},
        },
    )
    value = host.knob("sda", "scheduler")
    assert (value.set_by.words, value.set_by.where) == (
        "60-ssd.rules:2", "/etc/udev/rules.d/60-ssd.rules:2"
    )  # fmt: skip
    assert (value.at_boot, value.survives) == ("none", True)
    # It holds for sdc, too, but sdc has another value: somebody has changed it since.
    value = host.knob("sdc", "scheduler")
    assert (value.set_by.words, value.at_boot, value.survives) == ("kernel", "none", False)
    value = host.knob("sdb", "scheduler")
    assert (value.set_by.words, value.others, value.survives) == ("kernel", (), True)
    assert settings_of(host.knob("sdc", "queue_depth")) == [("/etc/udev/rules.d/60-ssd.rules:4", "1", True)]
    assert host.knob("sda", "queue_depth").others == ()


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ('ATTR{queue/scheduler}="bfq"', [("bfq", True)]),
        ('KERNEL!="sda", ATTR{queue/scheduler}="bfq"', []),
        ('ACTION=="remove", ATTR{queue/scheduler}="bfq"', []),
        ('SUBSYSTEM=="net", ATTR{queue/scheduler}="bfq"', []),
        ('ENV{DEVTYPE}=="partition", ATTR{queue/scheduler}="bfq"', []),
        ('ENV{ID_NOWHERE}=="", ATTR{queue/scheduler}="bfq"', [("bfq", True)]),
        ('SUBSYSTEMS=="scsi", ATTR{queue/scheduler}="bfq"', [("bfq", True)]),
        ('SUBSYSTEMS=="nvme", ATTR{queue/scheduler}="bfq"', [("bfq", False)]),
        ('ATTRS{model}=="SSDSC2BB240G4*", ATTR{queue/scheduler}="bfq"', [("bfq", True)]),
        ('ATTRS{nothing}=="1", ATTR{queue/scheduler}="bfq"', [("bfq", False)]),
        ('ATTR{nothing}=="1", ATTR{queue/scheduler}="bfq"', []),
        ('ATTR{queue/scheduler}!="none", ATTR{queue/scheduler}="none"', [("none", False)]),
        ('PROGRAM="/bin/true", ATTR{queue/scheduler}="bfq"', [("bfq", False)]),
        ('TEST=="queue/scheduler", ATTR{queue/scheduler}="bfq"', [("bfq", True)]),
        ('TEST!="queue/scheduler", ATTR{queue/scheduler}="bfq"', []),
        ('ATTR{queue/scheduler}="$env{WANTED}"', [(None, True)]),
        ("RUN+=\"/bin/sh -c 'echo kyber > /sys/block/%k/queue/scheduler'\"", [("kyber", True)]),
        ('ENV{FAST}="1"\nENV{FAST}=="1", ATTR{queue/scheduler}="bfq"', [("bfq", True)]),
        ('KERNEL=="sda", GOTO="end"\nATTR{queue/scheduler}="bfq"\nLABEL="end"', []),
        (_JUMP, [("bfq", True), ("none", True)]),
        ('# ATTR{queue/scheduler}="bfq"', []),
    ],
)
def test_what_a_rule_says_of_sda(rule: str, expected: list[tuple[str | None, bool]]) -> None:
    host = TuneHost(files={"/etc/udev/rules.d/50-any.rules": rule})
    assert [(value, sure) for _, value, sure in settings_of(host.knob("sda", "scheduler"))] == expected


def test_rules_mask_each_other_by_name_and_the_last_one_wins() -> None:
    one, other = 'ATTR{queue/scheduler}="bfq"', 'ATTR{queue/scheduler}="kyber"'
    host = TuneHost(
        files={
            "/usr/lib/udev/rules.d/60-a.rules": one,
            "/etc/udev/rules.d/60-a.rules": "# nothing",
            "/usr/lib/udev/rules.d/70-b.rules": one,
            "/run/udev/rules.d/65-c.rules": other,
        }
    )
    value = host.knob("sda", "scheduler")
    assert [where for where, _, _ in settings_of(value)] == [
        "/run/udev/rules.d/65-c.rules:1", "/usr/lib/udev/rules.d/70-b.rules:1",
    ]  # fmt: skip
    assert value.at_boot == "bfq"


def test_a_rule_that_may_not_apply_leaves_the_boot_open() -> None:
    host = TuneHost(files={"/etc/udev/rules.d/50-any.rules": 'PROGRAM="x", ATTR{queue/scheduler}="bfq"'})
    value = host.knob("sda", "scheduler")
    assert (value.set_by.words, value.at_boot, value.survives) == ("kernel", None, None)


def test_what_raidtui_keeps() -> None:
    serial = "Samsung_SSD_850_S1"
    rule = (
        'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL}=="' + serial + '",'
        ' ATTR{queue/scheduler}="none"'
    )
    host = TuneHost(
        files={RULES: rule, udev("sda"): f"E:ID_SERIAL={serial}\nE:ID_SERIAL_SHORT=S1"},
        nodes={"sda": {"queue/scheduler": "[none] mq-deadline"}},
    )
    value = host.knob("sda", "scheduler")
    assert (value.set_by.words, value.kept, value.survives) == ("raidtui (kept)", "none", True)
    assert host.knob("sdb", "scheduler").kept is None
    assert host.tuning().texts == {RULES: f"{rule}\n"}


def test_what_raidtui_keeps_of_an_array() -> None:
    array = raid5(attributes=parity(stripe_cache_size="4096"))
    uuid = TuneHost(array).text(f"{BLOCK}/md125/md/uuid")
    rule = (
        f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="md*", ATTR{{md/uuid}}=="{uuid}",'
        ' ATTR{md/array_state}!="clear|inactive", ENV{RAIDTUI_KEPT}!="1", ENV{RAIDTUI_KEPT}="1",'
        ' ATTR{md/stripe_cache_size}="4096"'
    )
    host = TuneHost(array, files={RULES: rule, udev("md125"): "E:MD_NAME=nas:media\nE:RAIDTUI_KEPT=1"})
    value = host.knob("md125", "stripe_cache_size")
    assert (value.set_by.words, value.kept, value.at_boot) == ("raidtui (kept)", "4096", "4096")


def test_sysctl_the_last_file_wins() -> None:
    host = TuneHost(
        limits=(1000, 500_000),
        files={
            SYSCTL: "dev.raid.speed_limit_max = 500000",
            "/etc/sysctl.d/10-first.conf": "# none\n-dev/raid/speed_limit_max=7\nkernel.sysrq = 1",
            "/usr/lib/sysctl.d/99-last.conf": "dev.raid.speed_limit_max = 600000",
        },
    )
    value = host.knob("system", "speed_limit_max")
    assert settings_of(value) == [
        ("/etc/sysctl.d/10-first.conf:2", "7", True),
        (f"{SYSCTL}:1", "500000", True),
        ("/usr/lib/sysctl.d/99-last.conf:1", "600000", True),
    ]
    assert (value.set_by.words, value.kept, value.at_boot) == ("raidtui (kept)", "500000", "600000")


def test_tmpfiles() -> None:
    governors = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    host = TuneHost(
        cpus=INTEL,
        files={
            "/etc/tmpfiles.d/cpu.conf": f"d /run/x 0755 - - -\nw! {governors} - - - - performance",
            TMPFILES: "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - powersave",
            "/usr/lib/tmpfiles.d/disk.conf": "w /sys/block/sda/queue/read_ahead_kb - - - - 4096",
        },
    )
    value = host.knob("policy2", "governor")
    assert settings_of(value) == [
        ("/etc/tmpfiles.d/cpu.conf:2", "performance", True), (f"{TMPFILES}:1", "powersave", True)
    ]  # fmt: skip
    assert (value.set_by.words, value.kept) == ("raidtui (kept)", "powersave")
    assert host.knob("sda", "read_ahead_kb").at_boot == "4096"
    assert host.knob("sdb", "read_ahead_kb").at_boot == "128"


def test_the_kernels_command_line() -> None:
    line = "quiet cpufreq.default_governor=schedutil libata.force=noncq intel_pstate=passive"
    host = TuneHost(
        cpus={**INTEL, "scaling_governor": "schedutil"},
        mode="passive",
        files={"/proc/cmdline": line},
        nodes={"sda": {"device/queue_depth": "1"}},
    )
    governor = host.knob("policy0", "governor")
    assert (governor.set_by.words, governor.set_by.where) == (
        "kernel command line", "cpufreq.default_governor=schedutil"
    )  # fmt: skip
    assert host.knob("cpu", "driver_mode").set_by.where == "intel_pstate=passive"
    depth = host.knob("sda", "queue_depth")
    assert (depth.set_by.where, depth.at_boot) == ("libata.force=noncq", "1")


def test_noncq_for_one_port_may_be_another_disks() -> None:
    files = {"/etc/modprobe.d/ncq.conf": "# x\noptions libata force=3:noncq"}
    value = TuneHost(files=files).knob("sda", "queue_depth")
    assert settings_of(value) == [("/etc/modprobe.d/ncq.conf:2", "1", False)]
    assert value.set_by.words == "not known"


def test_mdadms_own_lines() -> None:
    array = raid5(attributes=parity(group_thread_cnt="4"))
    conf = f"ARRAY /dev/md/media UUID={array.array_uuid}\nSYSFS uuid={array.array_uuid} group_thread_cnt=4"
    more = "SYSFS name=/dev/md/media sync_speed_max=500000\nSYSFS name=/dev/md/other group_thread_cnt=9"
    host = TuneHost(array, files={"/etc/mdadm/mdadm.conf": conf, "/etc/mdadm/mdadm.conf.d/more.conf": more})
    value = host.knob("md125", "group_thread_cnt")
    assert (value.set_by.words, value.survives) == ("mdadm.conf:2", True)
    assert settings_of(value) == [("/etc/mdadm/mdadm.conf:2", "4", True)]
    assert host.knob("md125", "sync_speed_max").at_boot == "500000"


def test_sysfsutils_and_rc_local() -> None:
    host = TuneHost(
        files={
            "/etc/sysfs.conf": "# x\nblock/sda/queue/scheduler = none\nmode block/sda = 0644",
            "/etc/rc.local": "#!/bin/sh\necho 8 > /sys/block/sda/device/queue_depth\nexit 0",
        },
        nodes={"sda": {"queue/scheduler": "[none] mq-deadline", "device/queue_depth": "8"}},
    )
    assert host.knob("sda", "scheduler").set_by.words == "sysfs.conf:2"
    assert host.knob("sda", "queue_depth").set_by.words == "rc.local:2"


def test_a_path_and_its_wildcards() -> None:
    assert path_fits("/sys/block/sd*/queue", "/sys/block/sda/queue")
    assert not path_fits("/sys/*/queue", "/sys/block/sda/queue")
    assert not path_fits("/sys/block/sdb/queue", "/sys/block/sda/queue")


THROUGHPUT = """\
[main]
summary=Broadly applicable
include=base
[cpu]
governor=performance
energy_performance_preference=performance|balance_performance
[disk]
# the default unit
readahead=>4096
[sysfs]
/sys/class/block/sdb/queue/rq_affinity=2
[sysctl]
dev.raid.speed_limit_max=400000
"""
BASE = """\
[cpu]
governor=ondemand|powersave
[disk]
devices=sda, sdb
elevator=none
readahead=8192 s
"""


def test_tuned() -> None:
    host = TuneHost(
        cpus={**INTEL, "scaling_governor": "performance"},
        files={
            "/etc/tuned/active_profile": "throughput-performance",
            "/usr/lib/tuned/throughput-performance/tuned.conf": THROUGHPUT,
            "/usr/lib/tuned/profiles/base/tuned.conf": BASE,
            f"{WANTS}/tuned.service": "",
        },
        nodes={"sda": {"queue/read_ahead_kb": "8192"}, "sdb": {"queue/rq_affinity": "2"}},
    )
    governor = host.knob("policy0", "governor")
    assert (governor.set_by.words, governor.set_by.where, governor.at_boot) == (
        "tuned", "profile throughput-performance", "performance"
    )  # fmt: skip
    preference = host.knob("policy0", "energy_performance_preference")
    assert [each.value for each in preference.others] == ["performance"]
    assert host.knob("sda", "scheduler").at_boot == "none"
    assert host.knob("sdc", "scheduler").others == ()
    # ">4096" is a least value: sda has more already, sdb has not.
    assert host.knob("sda", "read_ahead_kb").set_by.by is By.TUNED
    assert host.knob("sdb", "read_ahead_kb").at_boot == "4096"
    assert host.knob("sdb", "rq_affinity").set_by.by is By.TUNED
    assert host.knob("system", "speed_limit_max").at_boot == "400000"


@pytest.mark.parametrize(
    "path", ["/sys/block/sda/queue", "/sys/block/sd*/queue", "/sys/class/block/sda/queue"]
)
def test_what_tuned_sets_by_any_name_of_a_file(path: str) -> None:
    files = {
        "/etc/tuned/active_profile": "own",
        "/etc/tuned/profiles/own/tuned.conf": f"[queues]\ntype=sysfs\n{path}/scheduler=none\n",
        "/proc/77/comm": "tuned",
    }
    host = TuneHost(files=files, nodes={"sda": {"queue/scheduler": "[none] mq-deadline"}})
    value = host.knob("sda", "scheduler")
    assert (value.set_by.by, value.set_by.where, value.at_boot) == (By.TUNED, "profile own", "none")


def test_tuned_alone_with_its_base() -> None:
    files = {
        "/etc/tuned/active_profile": "base",
        "/etc/tuned/base/tuned.conf": BASE,
        "/proc/77/comm": "tuned",
    }
    host = TuneHost(cpus=INTEL, files=files)
    assert host.knob("policy0", "governor").at_boot == "powersave"  # the first that is there
    assert host.knob("sda", "read_ahead_kb").at_boot == "4096"  # 8192 sectors


def test_a_service_that_is_not_started_sets_nothing() -> None:
    files = {
        "/etc/tuned/active_profile": "base",
        "/etc/tuned/base/tuned.conf": BASE,
        "/etc/tlp.conf": "CPU_SCALING_GOVERNOR_ON_AC=performance",
    }
    assert TuneHost(cpus=INTEL, files=files).knob("policy0", "governor").others == ()


TLP = """\
#CPU_SCALING_GOVERNOR_ON_AC=ondemand
CPU_SCALING_GOVERNOR_ON_AC=performance
CPU_SCALING_GOVERNOR_ON_BAT="powersave"
CPU_ENERGY_PERF_POLICY_ON_BAT=power
DISK_DEVICES="sda sdb"
DISK_IOSCHED="none keep"
"""


def test_tlp() -> None:
    files = {
        "/etc/tlp.conf": TLP,
        "/etc/tlp.d/10-mine.conf": "CPU_SCALING_MAX_FREQ_ON_AC=3000000",
        f"{WANTS}/tlp.service": "",
    }
    host = TuneHost(cpus={**INTEL, "scaling_governor": "performance"}, files=files)
    governor = host.knob("policy0", "governor")
    assert (governor.set_by.words, governor.set_by.sentence) == ("TLP", "TLP (/etc/tlp.conf:2)")
    assert host.knob("policy0", "max_freq_khz").at_boot == "3000000"
    assert host.knob("policy0", "energy_performance_preference").others == ()
    assert [each.value for each in host.knob("sda", "scheduler").others] == ["none"]
    assert host.knob("sdb", "scheduler").others == ()
    power = "/sys/class/power_supply/AC"
    on_battery = {**files, f"{power}/type": "Mains", f"{power}/online": "0"}
    host = TuneHost(cpus=INTEL, files=on_battery)
    assert host.knob("policy0", "governor").at_boot == "powersave"
    assert host.knob("policy0", "energy_performance_preference").at_boot == "power"
    off = {**files, "/etc/tlp.conf": f"{TLP}TLP_ENABLE=0"}
    assert TuneHost(cpus=INTEL, files=off).knob("policy0", "governor").others == ()


def test_power_profiles_daemon() -> None:
    files = {
        "/proc/55/comm": "power-profiles-",
        "/var/lib/power-profiles-daemon/state.ini": "[State]\nCpuDriver=intel_pstate\nProfile=balanced",
    }
    value = TuneHost(cpus=INTEL, files=files).knob("policy0", "energy_performance_preference")
    assert (value.set_by.sentence, value.at_boot) == (
        "power-profiles-daemon (profile balanced)", "balance_performance"
    )  # fmt: skip
    del files["/var/lib/power-profiles-daemon/state.ini"]
    value = TuneHost(cpus=INTEL, files=files).knob("policy0", "energy_performance_preference")
    assert (value.set_by.words, value.at_boot) == ("power-profiles-daemon", None)


@pytest.mark.parametrize(
    ("path", "text", "where"),
    [
        ("/etc/default/cpupower", "governor='performance'\nmax_freq=\"2.6GHz\"", "/etc/default/cpupower:1"),
        (
            "/etc/cpupower-service.conf",
            '#GOVERNOR=x\nGOVERNOR="performance"\nMAX_FREQ=2600MHz',
            "/etc/cpupower-service.conf:2",
        ),
        (
            "/etc/sysconfig/cpupower",
            'CPUPOWER_START_OPTS="frequency-set -g performance -u 2600000"',
            "/etc/sysconfig/cpupower:1",
        ),
    ],
)
def test_cpupower(path: str, text: str, where: str) -> None:
    host = TuneHost(
        cpus={**ACPI, "scaling_governor": "performance"},
        files={path: text, f"{WANTS}/cpupower.service": ""},
    )
    governor = host.knob("policy0", "governor")
    assert (governor.set_by.words, governor.set_by.where) == ("cpupower", where)
    assert host.knob("policy0", "max_freq_khz").at_boot == "2600000"


def test_cpufrequtils() -> None:
    init = {"/etc/init.d/cpufrequtils": "#!/bin/sh"}
    path = "/etc/default/cpufrequtils"
    host = TuneHost(cpus=ACPI, files={**init, path: 'ENABLE="true"\nMAX_SPEED="0"\nMIN_SPEED="1000000"'})
    governor = host.knob("policy0", "governor")
    assert settings_of(governor) == [(path, "ondemand", True)]
    assert host.knob("policy0", "min_freq_khz").at_boot == "1000000"
    assert host.knob("policy0", "max_freq_khz").others == ()
    off = TuneHost(cpus=ACPI, files={**init, path: 'ENABLE="false"\nGOVERNOR="performance"'})
    assert off.knob("policy0", "governor").others == ()


def test_auto_cpufreq() -> None:
    conf = "[charger]\ngovernor = performance\nscaling_max_freq = 3000000\n[battery]\ngovernor = powersave"
    files = {"/etc/auto-cpufreq.conf": conf, "/proc/9/comm": "auto-cpufreq"}
    host = TuneHost(cpus=INTEL, files=files)
    assert host.knob("policy0", "governor").at_boot == "performance"
    assert host.knob("policy0", "max_freq_khz").at_boot == "3000000"
    value = host.knob("policy0", "energy_performance_preference")  # it chooses by itself
    assert (value.set_by.words, value.at_boot) == ("auto-cpufreq", None)


def test_whether_a_daemon_runs() -> None:
    """One that is enabled sets its values when it starts; others than daemons do not keep running."""
    files = {
        "/etc/tuned/active_profile": "base",
        "/etc/tuned/base/tuned.conf": BASE,
        f"{WANTS}/tuned.service": "",
        "/etc/tlp.conf": "CPU_SCALING_GOVERNOR_ON_AC=performance",
        f"{WANTS}/tlp.service": "",
    }
    for more, runs in ({}, False), ({"/proc/77/comm": "tuned"}, True):
        others = TuneHost(cpus=INTEL, files={**files, **more}).knob("policy0", "governor").others
        assert [(each.by, each.running) for each in others] == [(By.TUNED, runs), (By.TLP, None)]
    assert others[0].boot_sentence == "At boot tuned (profile base) sets powersave; it is running."


def test_services_in_the_list_of_processes(tmp_path: Path) -> None:
    """A Python program has the interpreter's name, and the kernel cuts names after 15 characters."""
    root = FolderReader("/")
    for service in ("tuned", "power-profiles-daemon"):
        script = tmp_path / service
        script.write_text(f"#!{sys.executable}\nimport sys\nprint(flush=True)\nsys.stdin.read()\n")
        script.chmod(0o755)
        before = running_services(root)
        for argv in ((sys.executable, "-E", str(script)), (str(script),)):
            with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.readline()
                assert running_services(root) >= {service}
                process.communicate()
        assert running_services(root) == before


def test_services_come_after_files() -> None:
    """What comes later at boot wins: tuned after tmpfiles.d."""
    host = TuneHost(
        FOUR,
        cpus=INTEL,
        files={
            TMPFILES: "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - performance",
            "/etc/tuned/active_profile": "base",
            "/etc/tuned/base/tuned.conf": "[cpu]\ngovernor=powersave",
            "/proc/77/comm": "tuned",
        },
    )
    value = host.knob("policy0", "governor")
    assert [each.words for each in value.others] == ["raidtui (kept)", "tuned"]
    assert (value.kept, value.at_boot) == ("performance", "powersave")
