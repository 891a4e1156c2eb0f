"""Pane 4's lines, whole: no widgets."""

from __future__ import annotations

from typing import Any

import pytest

from raidtui.features.tune.screen.tune_detail import body_lines
from raidtui.features.tune.screen.tune_lines import (
    KnobCell,
    column_at,
    head_line,
    marks_of,
    more_at,
    more_line,
    row_line,
)
from raidtui.features.tune.screen.tune_rows import KnobRow, rows_of
from raidtui.model.knob import KnobScope, Tuning
from raidtui.model.knob_table import KNOBS, knobs_of
from raidtui.model.smart import ErrorRecovery
from raidtui.view.text import cell_width
from tests.features.tune.screen.tune_stage import FAST, VM
from tests.frame.drawn import text
from tests.hosts.specs import raid5, raid10
from tests.hosts.tune_host import ACPI, AMD, BLOCK, CPUS, FOUR, INTEL, POLICIES, RULES, TuneHost
from tests.plans.test_caches import CacheHost, seen


def rows(tuning: Tuning, width: int = 80) -> list[str]:
    marks = marks_of(tuning)
    return [text([row_line(row, marks, width)]) for row in rows_of(tuning, width)]


def named(tuning: Tuning, name: str, width: int = 80) -> KnobRow:
    found = (row for row in rows_of(tuning, width) if name in [each.name for each in row.subjects])
    return next(found)


def body(tuning: Tuning, name: str, knob: str, width: int = 80, **more: Any) -> str:
    return text(body_lines(tuning, named(tuning, name, width), knob, width, **more))


# -- the table


def test_columns() -> None:
    assert text([head_line(80)]) == (
        " disk      scheduler       NCQ  requests    ahead   timeout/ERC   set by"
    )
    assert text([head_line(120)]) == (
        " disk      scheduler       NCQ  requests    ahead   timeout/ERC  affinity       wbt   set by"
    )


def test_disks_processors_and_arrays() -> None:
    ahead = {f"{BLOCK}/{name}/queue/read_ahead_kb": "512" for name in ("md127", "md125")}
    rule = 'KERNEL=="sdc", ATTR{device/queue_depth}="1"\n'
    host = TuneHost(
        FOUR,
        VM,
        nodes={"sdc": {"device/queue_depth": "1"}, "sdd": {"queue/scheduler": "[none] mq-deadline"}},
        files={**ahead, "/etc/udev/rules.d/60-ssd.rules": rule},
        cpus=INTEL,
    )
    erc = {
        "sda": ErrorRecovery(read_ds=70, write_ds=70),
        "sdb": None,
        "sdc": ErrorRecovery(read_ds=0, write_ds=0),
    }
    assert rows(host.tuning(erc=erc)) == [
        " sda       mq-deadline      32        64     128K    30 / 7.0 s   kernel, ?",
        " sdb       mq-deadline      32        64     128K        30 / – ▲ kernel, ?",
        " sdc       mq-deadline       1 ▲      64     128K      30 / off ▲ several",
        " sdd       none ▲           32        64     128K      30 / ? s   kernel, ?",
        " sde       mq-deadline      32        64     128K      30 / ? s   kernel, ?",
        " sdf       mq-deadline      32        64     128K      30 / ? s   kernel, ?",
        " sdg       mq-deadline      32        64     128K      30 / ? s   kernel, ?",
        " cpu 0-3   powersave ▲    EPP  balance_performance  1.2 of 4.2 GHz  not known",
        " data      ahead   512K   bitmap  none      kernel; read_ahead_kb: not known",
        " vm        ahead   512K   bitmap  internal   cache    256   threads   0  ?",
        " system    sync min        1000   sync max      200000   kernel",
    ]


def test_nvme_and_no_cpufreq() -> None:
    host = TuneHost(raid5(members=("nvme0n1", "nvme1n1", "nvme2n1")))
    assert rows(host.tuning())[0] == (
        " nvme0n1   none              –      1023     128K             –   kernel"
    )


@pytest.mark.parametrize(
    ("cpus", "more", "lines"),
    [
        (FAST, {}, [" cpu 0-3   performance    EPP  performance          1.2 of 4.2 GHz  not known"]),
        (
            {**AMD, "scaling_cur_freq": "-"},
            {},
            [" cpu 0-3   powersave      EPP  balance_performance  up to 4.2 GHz  not known"],
        ),
        (ACPI, {}, [" cpu 0-3   schedutil     up to 2.6 GHz  not known"]),
        (
            INTEL,
            {"policy2/scaling_cur_freq": "3900000"},
            [" cpu 0-3   powersave ▲    EPP  balance_performance  1.2-3.9 of 4.2 GHz  ?"],
        ),
        (
            {**ACPI, "scaling_cur_freq": "2600000"},
            {"policy2/scaling_governor": "powersave"},
            [
                " cpu 0-1   schedutil     2.6 of 2.6 GHz  not known",
                " cpu 2-3   powersave ▲   2.6 of 2.6 GHz  not known",
            ],
        ),
    ],
    ids=["performance", "no speed", "acpi", "speeds", "different"],
)
def test_processors(cpus: dict[str, str], more: dict[str, str], lines: list[str]) -> None:
    host = TuneHost(cpus=cpus, files={f"{POLICIES}/{file}": value for file, value in more.items()})
    assert [line for line in rows(host.tuning()) if line.startswith(" cpu")] == lines


def test_the_chosen_knob_and_what_is_asked_for() -> None:
    tuning = TuneHost().tuning()
    row = rows_of(tuning, 80)[0]
    line = row_line(row, frozenset(), 80, KnobCell(row=0, knob="queue_depth"))
    assert text([line]) == " sda       mq-deadline     [32]       64     128K      30 / ? s   not known"
    line = row_line(row, frozenset(), 80, KnobCell(row=0, knob="queue_depth", asked="8"))
    assert text([line]) == " sda       mq-deadline      [8]       64     128K      30 / ? s   not known"
    assert ("8", "asked") in line


def test_every_row_is_as_wide_as_the_window() -> None:
    tuning = TuneHost(FOUR, VM, cpus=INTEL, nodes={"nvme10n1": {}}).tuning()
    for width in (60, 80, 99, 100, 120, 200):
        for row in rows_of(tuning, width):
            line = row_line(row, marks_of(tuning), width, KnobCell(row=0, knob=row.columns[-1].knob))
            assert sum(cell_width(part) for part, _ in line) >= width - 1
            assert column_at(row, 10) == row.knobs[0] or row.subject.scope in {"array", "system"}


def test_what_is_at_a_cell() -> None:
    tuning = TuneHost(FOUR, VM, cpus=INTEL).tuning()
    for name in ("sda", "policy0", "md125", "system"):
        row = named(tuning, name)
        for knob in [column.knob for column in row.columns]:
            shown = text([row_line(row, frozenset(), 80, KnobCell(row=0, knob=knob))])
            assert column_at(row, shown.index("[")) == column_at(row, shown.index("]")) == knob
        assert column_at(row, 3) == column_at(row, 79) == ""
        for knob in [column.knob for column in row.more]:
            shown = text([more_line(row, frozenset(), 80, KnobCell(row=0, knob=knob))])
            assert more_at(row, shown.index("[")) == more_at(row, shown.index("]")) == knob
        assert more_at(row, 3) == more_at(row, 79) == ""


def more(tuning: Tuning, name: str, width: int = 80, **cell: Any) -> str:
    row = named(tuning, name, width)
    return text([more_line(row, marks_of(tuning), width, KnobCell(row=0, **{"knob": "", **cell}))])


def test_knobs_without_a_column() -> None:
    files = {f"{CPUS}/intel_pstate/hwp_dynamic_boost": "0"}
    host = TuneHost(
        FOUR, VM, cpus=INTEL, files=files, nodes={"sdb": {"queue/rotational": "1"}, "nvme0n1": {}}
    )
    tuning = host.tuning()
    assert more(tuning, "sda") == " more      affinity  1   wbt  2000µs   rotational  0   discard  2.0 GiB"
    assert more(tuning, "sda", 120) == " more      rotational  0   discard  2.0 GiB"
    assert more(tuning, "sdb", 120) == " more      rotational  1 ▲ discard  2.0 GiB"
    assert more(tuning, "nvme0n1") == " more      affinity  1   wbt  –   rotational  0   discard  –"
    assert more(tuning, "md125") == " more      preread  1   sync min  system   sync max  system"
    assert more(tuning, "system") == ""
    assert more(tuning, "policy0") == " more      min  0.8 GHz   max  4.2 GHz   mode  active   boost  0"
    assert more(tuning, "policy0", knob="max_freq_khz", asked="4100000") == (
        " more      min  0.8 GHz   max [4.1 GHz]  mode  active   boost  0"
    )


@pytest.mark.parametrize(
    ("cpus", "line"),
    [
        (AMD, " more      min  1.1 GHz   max  4.2 GHz   mode  active"),
        (ACPI, " more      min  0.8 GHz   max  2.6 GHz   mode  –   EPP  –"),
    ],
    ids=["amd", "acpi"],
)
def test_what_drivers_have(cpus: dict[str, str], line: str) -> None:
    tuning = TuneHost(cpus=cpus).tuning()
    assert more(tuning, "policy0") == line


def test_caches_have_rows() -> None:
    """All their knobs have columns at 80 cells; who has set them is the cache's metadata."""
    tuning = seen(CacheHost())[1]
    for width in (80, 120):
        of_caches = [row for row in rows_of(tuning, width) if row.subject.scope is KnobScope.CACHE]
        assert {column.knob for row in of_caches for column in row.columns} == {
            knob.name for knob in knobs_of(KnobScope.CACHE)
        }
    assert [line for line in rows(tuning) if " mode " in line] == [
        " bcache0   mode  writeback      dirty  10%   cutoff     4 MiB   several",
        " vc/slow   mode  writeback ▲    policy  smq       threshold    2048   metadata",
    ]


def test_every_knob_of_the_table_is_in_a_row() -> None:
    files = {f"{CPUS}/intel_pstate/hwp_dynamic_boost": "0"}
    tuning = TuneHost(FOUR, VM, cpus=INTEL, files=files).tuning()
    for width in (80, 120):
        rows = rows_of(tuning, width)
        of_caches = {knob.name for knob in knobs_of(KnobScope.CACHE)}
        assert {knob for row in rows for knob in row.knobs} == set(KNOBS) - of_caches
        for row in rows:
            assert len(set(row.knobs)) == len(row.knobs)
            assert (
                sum(
                    cell_width(part)
                    for part, _ in more_line(row, frozenset(), width, KnobCell(row=0, knob=""))
                )
                < width
            )


def test_policies_apart() -> None:
    tuning = TuneHost(cpus=FAST).tuning()
    of_processors = [row for row in rows_of(tuning, 80, apart=True) if row.subject.scope == "policy"]
    assert [(row.cpus, len(row.subjects)) for row in of_processors] == [("0-1", 1), ("2-3", 1)]
    assert of_processors[1].of("governor") == (tuning.subject("policy2"),)
    assert of_processors[1].of("driver_mode") == (tuning.subject("cpu"),)


# -- below it


def test_the_drivers_mode() -> None:
    tuning = TuneHost(cpus=FAST, nodes={"sda": {}}).tuning()
    assert body(tuning, "policy0", "driver_mode") == (
        """\
 driver_mode of cpu: active                                        intel_pstate
 active, passive.
 It is not known who has set it: nothing that sets it was found. A value set by
 hand does not survive a reboot. The driver's mode is kept on the kernel
 command line: intel_pstate=MODE or amd_pstate=MODE.
 Whether the processor chooses its frequency (active) or the kernel's governors
 do (passive, guided). A change replaces driver, governors and limits of all
 processors at once."""
    )
    tuning = TuneHost(cpus=ACPI, nodes={"sda": {}}).tuning()
    assert body(tuning, "policy0", "driver_mode") == (
        """\
 driver_mode of cpu: none                                          acpi-cpufreq
 The driver acpi-cpufreq has only one mode: a governor of the kernel chooses
 the frequency."""
    )


def test_frequencies() -> None:
    tuning = TuneHost(cpus=FAST).tuning()
    assert body(tuning, "policy0", "max_freq_khz").split("\n")[:2] == [
        " max_freq_khz of policy0, policy2: 4200000 kHz                     intel_pstate",
        " 800000 to 4200000 kHz; the kernel's default is 4200000.",
    ]


def test_old_names_of_schedulers() -> None:
    assert body(TuneHost(cpus=FAST).tuning(), "sda", "scheduler").split("\n")[1:3] == [
        " none (was noop), mq-deadline (was deadline); the kernel's default is",
        " mq-deadline.",
    ]


def test_what_a_knob_is() -> None:
    tuning = TuneHost(cpus=FAST).tuning()
    assert body(tuning, "sda", "timeout") == (
        """\
 timeout of sda: 30 s                                  SSDSC2BB240G4 · SSDA0001
 1 to 3600 s; the kernel's default is 30.
 Nothing that sets it was found. A reboot does not change it.
 How long the kernel waits for the disk before it resets the link. A disk that
 retries a bad sector for longer than this (for minutes without SCT ERC) is
 reset, and its array drops it for one sector."""
    )


def test_who_has_set_it() -> None:
    files = {"/etc/udev/rules.d/60-ssd.rules": 'KERNEL=="sda", ATTR{device/timeout}="60"\n'}
    tuning = TuneHost(files=files, nodes={"sda": {"device/timeout": "60"}}, cpus=FAST).tuning()
    lines = body(tuning, "sda", "timeout").split("\n")
    assert lines[1:3] == [
        " ▲ data    timeout differs: sda 60; the others of data have 30.",
        "           → raidtui tune set @data timeout=30",
    ]
    assert lines[4:6] == [
        " Set by /etc/udev/rules.d/60-ssd.rules:1. A reboot does not change it.",
        " At boot /etc/udev/rules.d/60-ssd.rules:1 sets 60.",
    ]


def test_set_by_nobody_knows_whom() -> None:
    tuning = TuneHost(nodes={"sda": {"device/timeout": "60"}}, cpus=FAST).tuning()
    assert "\n It is not known who has set it. After a reboot it is 30.\n" in body(tuning, "sda", "timeout")


def test_a_finding_about_the_knob_comes_first_and_its_risk_is_said_once() -> None:
    tuning = TuneHost(cpus=INTEL, nodes={"sdc": {"device/queue_depth": "1"}}).tuning()
    assert body(tuning, "policy0", "governor") == (
        """\
 governor of policy0, policy2: powersave                           intel_pstate
 ▲ cpu     governor of policy0, policy2 is powersave. Under powersave of
           intel_pstate a published RAID-10 of SSDs lost 14 to 19 % of its
           random throughput (Linux 4.4); performance costs power and heat.
           → raidtui tune set governor=performance
 performance, powersave.
 It is not known who has set it: nothing that sets it was found. A value set by
 hand does not survive a reboot.
 The policy that decides how fast the processors run.

 ▲ data    queue_depth differs: sdc 1; the others of data have 32.
           → raidtui tune set @data queue_depth=32
 ▲ sdc     queue_depth of sdc is 1: NCQ is off. In a published test, a RAID-10
           of two SSDs had a quarter of the IOPS at 1 that it had at 8; a depth
           that the disk's firmware cannot handle may cause link resets.
           → raidtui tune set sdc queue_depth=32"""
    )


def test_a_long_name_is_cut_before_the_sentence() -> None:
    tuning = TuneHost(
        raid10(label="photographs"), nodes={"sda": {"device/timeout": "60"}}, cpus=FAST
    ).tuning()
    lines = body(tuning, "sda", "timeout").split("\n")
    assert lines[1] == " ▲ photog… timeout differs: sda 60; the others of photographs have 30."


def test_what_is_kept_and_has_drifted() -> None:
    rule = 'ENV{ID_SERIAL_SHORT}=="SSDA0001", ATTR{queue/scheduler}="none"'
    tuning = TuneHost(files={RULES: rule}, cpus=FAST).tuning()
    assert ("sda", "scheduler") in marks_of(tuning)
    lines = body(tuning, "sda", "scheduler").split("\n")
    assert lines[1] == " ▲ sda     scheduler of sda is mq-deadline; raidtui keeps it at none."
    assert lines[6:8] == [
        " Nothing that sets it was found. raidtui keeps it at none. After a reboot it is",
        " none.",
    ]


def test_what_became_of_it_and_what_the_host_lacks() -> None:
    tuning = TuneHost().tuning()
    lines = body(tuning, "sda", "timeout", news=(("it is \x1b[31mred", "bad"),)).split("\n")
    assert lines[0] == " it is \\x1b[31mred"
    assert lines[-2:] == [
        " This host has no cpufreq: the hypervisor or the firmware decides how fast the",
        " processors run.",
    ]


def test_a_knob_that_is_not_there() -> None:
    tuning = TuneHost(raid5(members=("nvme0n1", "nvme1n1", "nvme2n1")), cpus=FAST).tuning()
    assert body(tuning, "nvme0n1", "timeout").split("\n")[:1] == [
        " timeout of nvme0n1: none                          SSDSC2BB240G4 · SNVME0N10001"
    ]
    assert "An NVMe disk has no timeout of its own" in body(tuning, "nvme0n1", "timeout")
