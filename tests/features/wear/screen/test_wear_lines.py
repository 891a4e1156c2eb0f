"""Pane 3's lines, whole: no widgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.wear.screen.temperature_lines import temperature_lines
from raidtui.features.wear.screen.wear_detail import body_lines, history_lines
from raidtui.features.wear.screen.wear_lines import disk_line, head_line, name_cells, read_words
from raidtui.model.smart import SmartReading
from raidtui.monitor.wear.ledger_entries import Mark, MarkedCost
from raidtui.monitor.wear.readings import WearLook, WearReader
from raidtui.monitor.wear.temperatures import DayTemperature
from raidtui.view.line import Line
from tests.frame.drawn import text
from tests.hosts.specs import ArraySpec, raid0, raid1, raid10
from tests.hosts.trees import EPOCH_S
from tests.monitor.wear.disks import facts, smartctl_json, text_of
from tests.monitor.wear.hosts import GB, TB, WearHost, asleep, denied, dom, evo, nvme

DATA = raid10("md127", "data", members=("sda2", "sdb2", "sdc2", "sdd2"), component_kib=219_726_562)
FOUR = {name: evo(name, 12_400 * GB) for name in ("sda", "sdb", "sdc", "sdd")}
NOTHING = WearLook(at_s=0.0)
SKEWED = {**FOUR, "sdd": evo("sdd", 61_700 * GB, 89)}


def roles(line: Line, *wanted: str) -> list[str]:
    """The roles of the parts with these texts."""
    return [role for part, role in line if part.strip() in wanted]


def look_at(said: Mapping[str, str], *arrays: ArraySpec, **more: Any) -> tuple[WearLook, WearHost]:
    host = WearHost(*(arrays or (DATA,)), said=said, **more)
    return WearReader(host).look(host.sampler().sample()), host


def row(said: str, width: int = 80, **more: Any) -> str:
    look, _ = look_at({"sda": said}, raid1("md1", "x", members=("sda", None)))
    look = replace(look, **more)
    return text([disk_line(look.disks[0], look, name_cells(look, width), width, since="since" in more)])


def body(said: Mapping[str, str], *arrays: ArraySpec, width: int = 80, **more: Any) -> str:
    look, host = look_at(said, *arrays)
    return text(body_lines(replace(look, **more), host.sampler().sample(), width, since="since" in more))


# -- the table


def test_columns() -> None:
    assert text([head_line(name_cells(NOTHING, 80), 80)]) == (
        " disk      model                   left   worn by       written   daily    ends"
    )
    assert text([head_line(name_cells(NOTHING, 80), 80, since=True)]) == (
        " disk      model                   left   worn by    since mark    life    ends"
    )
    assert text([head_line(name_cells(NOTHING, 120), 120)]) == (
        " disk      model                           serial              age  temp.  left   worn by "
        "      written   daily    ends"
    )
    assert (
        text([head_line(name_cells(NOTHING, 60), 60)])
        == " disk      model       left   worn by       written    ends"
    )


def changed(name: str, **known: Any) -> str:
    import json  # noqa: PLC0415

    return json.dumps(smartctl_json({**facts(name), **known}, "sda"))


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            evo("sda", 12_400 * GB),
            " sda       Samsung SSD 850 EVO 5…  97 %   177 assumed  ~12.4 TB 63.3 GB    2041",
        ),
        (
            evo("sda", 12_400 * GB, 10),
            " sda ▲     Samsung SSD 850 EVO 5…  10 %   177 assumed  ~12.4 TB 63.3 GB    2026",
        ),
        (
            evo("sda", 12_400 * GB, 1),
            " sda ▲     Samsung SSD 850 EVO 5…   1 %   177 assumed  ~12.4 TB 63.3 GB    2026",
        ),
        (
            nvme("sda", 104, 371 * TB),
            " sda ✖     Micron_7400_MTFDKBA96…   0 %   health log     371 TB  461 GB    over",
        ),
        (
            nvme("sda", 0, 0),
            " sda       Micron_7400_MTFDKBA96… 100 %   assumed             ?       ·   >50 y",
        ),
        (
            dom("sda", 16_932),
            " sda ?     SATA SSD                   ?   unknown      ~18.2 TB       ·       ·",
        ),
        (
            dom("sda", 5, "Host_Writes"),
            " sda ?     SATA SSD                   ?   unknown             ?       ·       ·",
        ),
        (
            text_of("wd-red-hdd", "sda"),
            " sda       WDC WD20EFRX-68EUZN0       –   rotates             ·       ·       ·",
        ),
        (asleep(), " sda       SSDSC2BB240G4              ·   asleep              ·       ·       ·"),
        (denied("sda"), " sda ?     SSDSC2BB240G4              ·   not read            ·       ·       ·"),
        (
            evo("sda", TB, passed=False),
            " sda ✖     Samsung SSD 850 EVO 5…  97 %   177 assumed     ~1 TB  5.1 GB    2041",
        ),
        (
            changed("micron-5300"),
            " sda ▲     Micron_5300_MTFDDAK1T… 100 %   202 norm.     66.6 TB  383 GB   >50 y",
        ),
        (
            changed("samsung-sm843t", in_database=False),
            " sda ?     SAMSUNG MZ7WD240HAFV-…     ?   unknown             ?       ·       ·",
        ),
        (
            changed("intel-s3500-240", model="evil\x1b[2J\nmodel 写真と音楽と動画と文書"),
            " sda       evil\\x1b[2J\\x0amodel …  22 %   233 assumed    516 TB  178 GB    2029",
        ),
    ],
    ids=lambda value: value[:10].strip() if value.startswith(" ") else "",
)
def test_rows(said: str, line: str) -> None:
    assert row(said) == line


def test_a_row_is_as_wide_as_the_window() -> None:
    look, _ = look_at(
        {**SKEWED, "sdb": asleep(), "sdc": changed("intel-s3500-240", model="写真と音楽と動画と文書")}
    )
    for width in (60, 80, 99, 100, 120, 200):
        assert len(text([head_line(name_cells(NOTHING, width), width)])) <= width
        for disk in look.disks:
            line = disk_line(disk, look, name_cells(look, width), width)
            assert sum(len(part.encode("utf-16-le")) // 2 for part, _ in line) <= width


def test_a_wide_row() -> None:
    assert row(evo("sda", 12_400 * GB), 120) == (
        " sda       Samsung SSD 850 EVO 500GB       S21PN-sda         0.5 y  31 °C  97 %   177 assumed"
        "  ~12.4 TB 63.3 GB 2041-09"
    )


def test_a_narrow_row() -> None:
    assert row(evo("sda", 12_400 * GB), 60) == (" sda       Samsung S…  97 %   177 assumed  ~12.4 TB    2041")


def test_what_came_since_the_mark() -> None:
    mark = Mark(id=1, at_s=EPOCH_S - 9000, kind="mark", what="")
    said = evo("sda", 12_400 * GB)
    assert row(said, mark=mark, since={"sda": 216 * GB}) == (
        " sda       Samsung SSD 850 EVO 5…  97 %   177 assumed    216 GB 0.061 %    2041"
    )
    assert row(said, mark=mark, since={"sda": 0}) == (
        " sda       Samsung SSD 850 EVO 5…  97 %   177 assumed       0 B     0 %    2041"
    )
    assert row(said, mark=mark, since={}) == (
        " sda       Samsung SSD 850 EVO 5…  97 %   177 assumed         ·       ·    2041"
    )
    assert row(dom("sda", 16_932), mark=mark, since={"sda": 4096}) == (
        " sda ?     SATA SSD                   ?   unknown        4.1 kB       ·       ·"
    )


def test_colours_say_the_same_as_signs() -> None:
    look, _ = look_at({**SKEWED, "sda": evo("sda", 12 * TB, 8), "sdb": nvme("sdb", 104, TB), "sdc": asleep()})
    lines = [disk_line(disk, look, name_cells(look, 80), 80) for disk in look.disks]
    assert roles(lines[0], "▲", "8 %") == ["warn", "warn"]
    assert roles(lines[1], "✖", "0 %") == ["bad", "bad"]
    assert {role for _, role in lines[2]} == {"dim"}
    assert roles(lines[3], "▲", "89 %") == ["warn", "plain"]


def test_the_rule() -> None:
    look, _ = look_at(FOUR)
    assert read_words(None) == ()
    assert read_words(look, busy=True) == ("reading the disks",)
    assert read_words(look) == ("read 21:25", "no history yet")
    known = replace(look, known_since_s=EPOCH_S - 40 * 86_400)
    assert read_words(known) == ("read 21:25", "history since 11 Oct")
    older = replace(look, known_since_s=EPOCH_S - 400 * 86_400)
    assert read_words(older) == ("read 21:25", "history since 2025-10-16")
    mark = Mark(id=1, at_s=EPOCH_S - 9000, kind="mark", what="new [b]cable\x1b")
    words = 'since the mark "new [b]cable\\x1b" of 20 Nov 18:55'
    assert read_words(replace(known, mark=mark), since=True) == ("read 21:25", words)


# -- below it


def test_healthy() -> None:
    assert (
        body(FOUR)
        == """\
 data      sda ██████████████████  12.4 TB    recover writes 225 GB to one
           sdb ██████████████████  12.4 TB    disk, about 0.064 % of its life
           sdc ██████████████████  12.4 TB
           sdd ██████████████████  12.4 TB
 data      sda, sdb, sdc and sdd are Samsung SSD 850 EVO 500GB with firmware
           EMT02B6Q, 4700 hours in service: they may fail at the same time
           → replace one of them early, or keep a spare of another make"""
    )


COSTS = (
    MarkedCost(
        what="recover of data",
        began_s=EPOCH_S - 6 * 86_400,
        ended_s=EPOCH_S - 5 * 86_400,
        costs={"S21PN-sda": 10**8, "S21PN-sdd": 1618 * GB},
    ),
    MarkedCost(
        what="replace sdx in old", began_s=EPOCH_S - 9000, ended_s=EPOCH_S, costs={"S21PN-sda": 225 * GB}
    ),
    MarkedCost(what="resync of gone", began_s=EPOCH_S - 9000, ended_s=EPOCH_S, costs={"OTHER": 225 * GB}),
)


def test_out_of_line_with_what_a_recover_cost() -> None:
    assert (
        body(SKEWED, costs=COSTS, width=108)
        == """\
 data      sda ██████▉                             12.4 TB    sdd is out of line: 5.0 x the others, 49.3 TB
           sdb ██████▉                             12.4 TB    more written
           sdc ██████▉                             12.4 TB
           sdd ██████████████████████████████████  61.7 TB
           → find out what wrote to it: another array, a benchmark, a recovery
           14 Nov 21:25 recover: 1.62 TB to sdd (0.3 % of its life)
           recover writes 225 GB to one disk, about 0.042 to 0.064 % of its life
 jobs      20 Nov 18:55 replace sdx in old: 225 GB to sda (0.064 % of its life)
 data      sda, sdb, sdc and sdd are Samsung SSD 850 EVO 500GB with firmware EMT02B6Q, 4700 hours in
           service: they may fail at the same time
           → replace one of them early, or keep a spare of another make"""
    )


def test_arrays_on_the_same_disks_are_shown_once() -> None:
    """What is written is known per disk, and what is said of a pair is said of all four."""
    arrays = (
        raid1("md1", "root", members=("sda1", "sdb1")),
        DATA,
        raid0("md3", "scratch", members=("sdc3", "sdd3")),
    )
    lines = body(SKEWED, *arrays).split("\n")
    assert lines[:5] == [
        " data      sda ███▋                12.4 TB    sdd is out of line: 5.0 x the",
        " root      sdb ███▋                12.4 TB    others, 49.3 TB more written",
        " scratch   sdc ███▋                12.4 TB",
        "           sdd ██████████████████  61.7 TB",
        "           → find out what wrote to it: another array, a benchmark, a recovery",
    ]
    assert sum("out of line" in line for line in lines) == 1
    assert sum("may fail at the same time" in line for line in lines) == 1


def test_worn_out_and_dying_come_first() -> None:
    said = {
        **FOUR,
        "sdb": nvme("sdb", 104, 30 * TB),
        "sdc": evo("sdc", 12 * TB, passed=False),
        "sdd": evo("sdd", 12 * TB, 5),
    }
    assert body(said).split("\n")[:8] == [
        " sdc ✖     its own SMART verdict is FAILED",
        "           → replace it while it can still be read",
        " sdb ✖     has used 104 % of its rated life (NVMe health log)",
        "           → replace it in good time, and not all members on the same day",
        " sdd ▲     has used 95 % of its rated life (attribute 177 Wear_Leveling_Count)",
        "           → replace it in good time, and not all members on the same day",
        " data      sda ███████▌            12.4 TB    recover writes 225 GB to one",
        "           sdb ██████████████████    30 TB    disk, about 0.064 to 1.8 % of its",
    ]


def test_without_root() -> None:
    """Said once; bars of what is not known are no bars."""
    assert (
        body({name: denied(name) for name in FOUR})
        == """\
 ▲         only root may read SMART data
           → run raidtui as root (sudo raidtui)"""
    )


def test_without_smartctl() -> None:
    look, host = look_at({}, installed=False)
    assert (
        text(body_lines(look, host.sampler().sample(), 80))
        == """\
 ▲         smartctl is not installed
           → apt install smartmontools, or your distribution's smartmontools"""
    )


def test_one_cannot_be_read_and_one_sleeps() -> None:
    assert (
        body({**FOUR, "sdb": denied("sdb"), "sdd": asleep()})
        == """\
 ▲         sdb: only root may read SMART data
           → run raidtui as root (sudo raidtui)
 data      sda ██████████████████  12.4 TB    recover writes 225 GB to one
           sdb not read                       disk, about 0.064 % of its life
           sdc ██████████████████  12.4 TB
           sdd asleep
 sdd       is asleep (standby) and was not woken
 data      sda and sdc are Samsung SSD 850 EVO 500GB with firmware EMT02B6Q,
           4700 hours in service: they may fail at the same time
           → replace one of them early, or keep a spare of another make"""
    )


def test_what_is_unknown_has_no_bar() -> None:
    pair = raid1("md1", "boot", members=("sda", "sdb"))
    assert body({"sda": dom("sda", 5, "Host_Writes"), "sdb": dom("sdb", 16_932)}, pair).split("\n")[:2] == [
        " boot      sda ?                              recover writes 225 GB to one disk",
        "           sdb ██████████████████  18.2 TB",
    ]


def test_since_the_mark() -> None:
    lines = body(FOUR, since={"sda": 216 * GB, "sdb": 0, "sdd": 441 * GB}).split("\n")
    assert lines[:4] == [
        " data      sda ████████▉            216 GB    recover writes 225 GB to one",
        "           sdb                         0 B    disk, about 0.064 % of its life",
        "           sdc not read at the mark",
        "           sdd ██████████████████   441 GB",
    ]


def test_a_history_that_cannot_be_read() -> None:
    assert body(FOUR, trouble="the ledger /x was written by a newer raidtui (form 9)").split("\n")[0] == (
        " ▲         no history: the ledger /x was written by a newer raidtui (form 9)"
    )


def test_lines_are_no_wider_than_the_window() -> None:
    odd = {**SKEWED, "sda": evo("sda", TB, model="[bold]" + "long " * 30), "sdb": denied("sdb")}
    for width in (60, 80, 100, 120):
        for line in body(odd, width=width, costs=COSTS).split("\n"):
            assert len(line) <= width


# -- a history


def test_history() -> None:
    host = WearHost(DATA, said=FOUR)
    reader = WearReader(host)
    snapshot = host.sampler().sample()
    for size in (0, 18, 36, 261, 279):
        host.said["sdd"] = evo("sdd", 12_400 * GB + size * GB)
        reader.record(reader.read(["sdd"]).values())
        if size == 36:
            reader.record(reader.read(["sdd"]).values(), "before", "recover of data")
        if size == 261:
            reader.record(reader.read(["sdd"]).values(), "after", "recover of data")
        host.passed_s += 86_400
    look = reader.look(snapshot)
    found = reader.history("S21PN-sdd")
    assert (
        text(history_lines(found, look.disk("sdd"), 80))
        == """\
 sdd       Samsung SSD 850 EVO 500GB, serial S21PN-sdd: 7 readings
 22 Nov 26 recover of data: 225 GB (0.062 % of its life)
           temperature: 31 °C
 24 Nov 26    18 GB  ███▉
 23 Nov 26   225 GB  ████████████████████████████████████████████████
 22 Nov 26    18 GB  ███▉
 21 Nov 26    18 GB  ███▉"""
    )


def test_no_history() -> None:
    look, host = look_at(FOUR)
    found = WearReader(host).history("S21PN-sdd")
    assert (
        text(history_lines(found, look.disk("sdd"), 80))
        == """\
           no history yet: it begins with the next reading; raidtui wear
           --record adds to it"""
    )


# -- how warm it was


def warm(*temperatures_c: int | None) -> tuple[DayTemperature, ...]:
    """Return the temperatures of days that follow each other."""
    return tuple(
        DayTemperature(day=at, low_c=each, high_c=each)
        for at, each in enumerate(temperatures_c)
        if each is not None
    )


def test_temperatures_up_to_the_limit_of_the_disk() -> None:
    reading = SmartReading(name="sda", temperature_limit_c=60, temperature_critical_c=70)
    lines = list(temperature_lines(warm(30, 40, None, 50, 60, 65), reading, 80))
    assert (
        text(lines)
        == """\
           temperature: 30 to 65 °C, made for 60 °C, too hot on 1 of 5 days,
           critical at 70 °C
    65 °C      ▄▇
              ▅██
    30 °C  ▁▇ ███"""
    )
    assert [role for part, role in lines[2] if part.strip(" ") in {"▄", "▇"}] == ["plain", "warn"]


def test_temperatures_of_a_few_days_have_no_chart() -> None:
    assert text(list(temperature_lines(warm(30, 41), None, 80))) == " " * 11 + "temperature: 30 to 41 °C"
    assert text(list(temperature_lines(warm(30, 30, 30), None, 80))) == " " * 11 + "temperature: 30 °C"
    assert list(temperature_lines((), None, 80)) == []


def test_temperatures_of_many_days_are_cut_to_the_width() -> None:
    for width in (60, 80, 120):
        for line in text(list(temperature_lines(warm(*range(20, 220)), None, width))).split("\n"):
            assert len(line) <= width


def test_a_limit_that_is_near_is_the_top_of_the_chart() -> None:
    for limit_c, top in ((49, 49), (50, 50), (51, 40)):
        reading = SmartReading(name="sda", temperature_limit_c=limit_c)
        assert (
            text(list(temperature_lines(warm(30, 35, 40), reading, 80))).split("\n")[1][:9] == f"{top:>6} °C"
        )
