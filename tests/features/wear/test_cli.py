"""``raidtui wear`` as people and timers meet it: exit statuses, both outputs, the history that it keeps."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidtui.app.cli import run
from raidtui.host.diskstats import DISKSTATS
from raidtui.jobs.speed_book import SpeedBook
from raidtui.monitor.wear.ledger import Ledger
from tests.hosts.specs import raid1
from tests.hosts.trees import EPOCH_S
from tests.monitor.wear.disks import text_of
from tests.monitor.wear.hosts import GB, TB, WearHost, asleep, denied, dom, evo, nvme

DATA = raid1("md127", "data", members=("sda2", "sdb2"))
TWO = {"sda": evo("sda", 12 * TB), "sdb": evo("sdb", 13 * TB)}
Prints = pytest.CaptureFixture[str]


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the history is; and nobody's settings are read."""
    path = tmp_path / "state" / "root" / "wear.sqlite"
    monkeypatch.setattr("raidtui.monitor.wear.readings.ledger_path", lambda: path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return path


Opens = Callable[..., WearHost]


@pytest.fixture
def opens(monkeypatch: pytest.MonkeyPatch, ledger: Path) -> Opens:
    """Let the command line look at a host, as if it were this one."""
    del ledger

    def make(said: dict[str, str] | None = None, **more: Any) -> WearHost:
        host = WearHost(DATA, said=TWO if said is None else said, **more)
        host.live = True
        monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: host)
        return host

    return make


# -- what it prints


WELL = """\
sda: Samsung SSD 850 EVO 500GB, serial S21PN-sda
  life used  3 % (attribute 177 Wear_Leveling_Count, assumed: value 97, raw 51)
  written    12 TB (attribute 241 Total_LBAs_Written, assumed: 23437500000 x 512 bytes)
  ends       about 2041-09 (not before 2039-10, at the latest 2044-03), by the disk's percentage, \
61.3 GB a day
sdb: Samsung SSD 850 EVO 500GB, serial S21PN-sdb
  life used  3 % (attribute 177 Wear_Leveling_Count, assumed: value 97, raw 51)
  written    13 TB (attribute 241 Total_LBAs_Written, assumed: 25390625000 x 512 bytes)
  ends       about 2041-09 (not before 2039-10, at the latest 2044-03), by the disk's percentage, \
66.4 GB a day
data: sda and sdb are Samsung SSD 850 EVO 500GB with firmware EMT02B6Q, 4700 hours in service: \
they may fail at the same time; replace one of them early, or keep a spare of another make
"""


def test_all_well(opens: Opens, capsys: Prints) -> None:
    opens()
    assert run(["wear"]) == 0
    assert capsys.readouterr() == (WELL, "")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (TWO, 0),
        ({**TWO, "sdb": asleep()}, 0),
        ({"sda": asleep(), "sdb": asleep()}, 0),
        ({**TWO, "sdb": evo("sdb", 80 * TB)}, 1),  # out of line
        ({**TWO, "sdb": evo("sdb", 13 * TB, 6)}, 1),
        ({**TWO, "sdb": nvme("sdb", 104, 13 * TB)}, 1),
        ({**TWO, "sdb": denied("sdb")}, 1),
        ({**TWO, "sdb": evo("sdb", 13 * TB, passed=False)}, 2),
        ({"sda": denied("sda"), "sdb": denied("sdb")}, 3),
        ({}, 3),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"], ["--prometheus"]])
def test_the_exit_status(opens: Opens, said: dict[str, str], status: int, form: list[str]) -> None:
    opens(said)
    assert run(["wear", *form]) == status


def test_without_smartctl(opens: Opens, capsys: Prints) -> None:
    opens(installed=False)
    assert run(["wear"]) == 3
    assert capsys.readouterr().out == (
        "sda: not read\n"
        "  attention: smartctl is not installed; apt install smartmontools, or your distribution's"
        " smartmontools\n"
        "sdb: not read\n"
        "  attention: smartctl is not installed; apt install smartmontools, or your distribution's"
        " smartmontools\n"
    )


def test_no_disk(monkeypatch: pytest.MonkeyPatch, ledger: Path, capsys: Prints) -> None:
    del ledger
    monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: WearHost())
    assert run(["wear"]) == 3
    assert capsys.readouterr() == ("No disk can have SMART data.\n", "")


def test_as_json(opens: Opens, capsys: Prints) -> None:
    opens()
    run(["wear", "--json"])
    out, err = capsys.readouterr()
    whole = json.loads(out)
    assert err == ""
    assert [(disk["name"], disk["serial"], disk["bytes_written"]) for disk in whole["disks"]] == [
        ("sda", "S21PN-sda", 12 * TB),
        ("sdb", "S21PN-sdb", 13 * TB),
    ]
    assert {key: whole[key] for key in ("taken_s", "exit_status", "host", "source", "mark", "costs")} == {
        "taken_s": EPOCH_S,
        "exit_status": 0,
        "host": "nas",
        "source": None,
        "mark": None,
        "costs": [],
    }


def test_as_metrics(opens: Opens, capsys: Prints) -> None:
    opens()
    run(["wear", "--prometheus"])
    lines = capsys.readouterr().out.split("\n")
    labels = 'device="sdb",model="Samsung SSD 850 EVO 500GB",serial="S21PN-sdb",confidence="assumed"'
    assert f"raidtui_disk_written_bytes_total{{{labels}}} {13 * TB}" in lines


def test_ratings_from_the_settings(opens: Opens, tmp_path: Path, capsys: Prints) -> None:
    opens()
    (tmp_path / "raidtui").mkdir()
    (tmp_path / "raidtui" / "config.toml").write_text(
        '[wear.rated_tbw]\n"Samsung SSD 850" = 150\n"X" = "y"\n'
    )
    assert run(["wear"]) == 0
    out, err = capsys.readouterr()
    assert "by the maker's rating" in out
    assert err == (
        f"raidtui: {tmp_path}/raidtui/config.toml: 'X' = 'y' is ignored; [wear.rated_tbw] must hold"
        ' lines like "Samsung SSD 850 EVO 500GB" = 150\n'
    )


# -- files from elsewhere


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Prints) -> None:
    good, odd = tmp_path / "good.json", tmp_path / "odd.json"
    good.write_text(text_of("micron-7400", "sdc"))
    odd.write_text("no JSON")
    assert run(["wear", "--from", str(good)]) == 0
    assert capsys.readouterr().out.startswith("sdc: Micron_7400_MTFDKCB1T9TDZ, serial RT0015\n")
    assert run(["wear", "--json", "--from", str(good), str(odd)]) == 1
    names = [disk["name"] for disk in json.loads(capsys.readouterr().out)["disks"]]
    assert names == ["sdc", "odd.json"]
    assert run(["wear", "--from", str(odd)]) == 3
    capsys.readouterr()
    gone = tmp_path / "gone.json"
    assert run(["wear", "--from", str(gone), str(good)]) == 3
    out, err = capsys.readouterr()
    assert out.startswith("sdc: ")
    assert err == f"raidtui: {gone}: No such file or directory\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run(["wear", "--from", "-"]) == 3
    assert capsys.readouterr().out == "standard input: not read\n  attention: smartctl printed nothing\n"


# -- the history


def test_record_says_nothing(opens: Opens, ledger: Path, capsys: Prints) -> None:
    opens()
    assert run(["wear", "--record"]) == 0
    assert capsys.readouterr() == ("", "")
    with Ledger(ledger) as pages:
        assert pages.disks() == ("S21PN-sda", "S21PN-sdb")
        assert pages.marks() == ()


def test_record_notes_what_the_members_did(opens: Opens, tmp_path: Path) -> None:
    """For what is slow over weeks: raidtui/monitor/speed_watch.py."""
    host = opens()
    names = ("sda", "sda2", "sdb", "sdb2")
    host.put(DISKSTATS, "".join(f"8 0 {name} 1 0 8 1 1 0 8 1 0 1 2\n" for name in names))
    assert run(["wear", "--record"]) == 0
    (kept,) = SpeedBook(tmp_path / "state" / "root" / "speeds", writes=False).records()
    assert kept.mark is not None
    assert sorted(kept.mark.io) == ["SSDA0001", "SSDB0001"]


def test_a_reading_alone_writes_nothing(opens: Opens, ledger: Path) -> None:
    opens()
    run(["wear"])
    assert not ledger.exists()


def test_record_when_all_sleep(opens: Opens, ledger: Path, capsys: Prints) -> None:
    opens({"sda": asleep(), "sdb": asleep()})
    assert run(["wear", "--record"]) == 0
    assert not ledger.exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("order", [["--record"], ["--mark", "here"]])
def test_nothing_can_be_read(opens: Opens, ledger: Path, capsys: Prints, order: list[str]) -> None:
    opens({"sda": denied("sda"), "sdb": denied("sdb")})
    assert run(["wear", *order]) == 3
    assert capsys.readouterr() == (
        "",
        "raidtui: sda: only root may read SMART data; run raidtui as root (sudo raidtui)\n",
    )
    assert not ledger.exists()


def test_the_history_cannot_be_written(opens: Opens, ledger: Path, capsys: Prints) -> None:
    opens()
    ledger.parent.parent.mkdir()
    ledger.parent.write_text("a file in its place")
    assert run(["wear", "--record"]) == 1
    *_, last = capsys.readouterr().err.splitlines()
    assert last == f"raidtui: the ledger {ledger} cannot be opened: File exists"


def test_another_host_has_its_own_history(capsys: Prints) -> None:
    assert run(["--demo", "wear", "--record"]) == 2
    assert capsys.readouterr().err == (
        "raidtui: not done: this is not the live host, and its history is not kept here\n"
    )


def test_since_a_mark(opens: Opens, capsys: Prints) -> None:
    host = opens()
    assert run(["wear", "--mark", "new cable"]) == 0
    assert capsys.readouterr() == (
        'Marked "new cable": sda, sdb. raidtui wear shows what is written from now on.\n',
        "",
    )
    host.said["sdb"] = evo("sdb", 13 * TB + 300 * GB)
    host.passed_s += 3600
    run(["wear"])
    assert capsys.readouterr().out.split("\n")[-2] == (
        'Since the mark "new cable" of 2026-11-20 21:25: 0 B to sda, 300 GB to sdb'
    )
    run(["wear", "--json"])
    assert json.loads(capsys.readouterr().out)["mark"] == {
        "at_s": round(EPOCH_S),
        "what": "new cable",
        "bytes": {"sda": 0, "sdb": 300 * GB},
    }


def test_history(opens: Opens, capsys: Prints) -> None:
    host = opens()
    assert run(["wear", "--history"]) == 0
    assert capsys.readouterr().out == (
        "No history yet: raidtui wear --record writes a reading (docs/wear.md has a timer for it).\n"
    )
    for day in range(3):
        host.said["sdb"] = evo("sdb", 13 * TB + day * 18 * GB)
        run(["wear", "--record"])
        host.passed_s += 86_400
    assert run(["wear", "--history"]) == 0
    assert capsys.readouterr().out == (
        "sda       S21PN-sda  Samsung SSD 850 EVO 500GB  12 TB written  last read 2026-11-22 21:25\n"
        "sdb       S21PN-sdb  Samsung SSD 850 EVO 500GB  13.0 TB written  last read 2026-11-22 21:25\n"
    )
    lines = (
        "sdb: Samsung SSD 850 EVO 500GB, serial S21PN-sdb\n"
        "  3 readings since 2026-11-20\n"
        "  temperature: 31 °C\n"
        "  2026-11-21     18 GB  31 °C\n"
        "  2026-11-22     18 GB  31 °C\n"
    )
    for name in ("sdb", "/dev/sdb", "S21PN-sdb", "PN-sdb"):
        assert run(["wear", "--history", name]) == 0
        assert capsys.readouterr().out == lines
    assert run(["wear", "--history", "sdz"]) == 3
    assert capsys.readouterr().err == (
        "raidtui: sdz is not in the history; raidtui wear --history lists what is\n"
    )
    assert run(["wear", "--history", "--prometheus"]) == 64


def test_history_of_the_demo(capsys: Prints) -> None:
    assert run(["--demo", "wear", "--json", "--history", "sdd"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["disk"], found["name"], found["readings"]) == ("S2R5NX0H912002", "sdd", 123)
    assert [cost["what"] for cost in found["costs"]] == ["recover of data"]
    assert found["costs"][0]["bytes"] == 225_673_283_040


# -- the SATA DOM that counts MiB, by its counter and the kernel's alone

DOM = ((16_737, 3_930_090), (16_835, 4_030_760), (16_932, 4_130_460))
MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("name", "unit", "words"),
    [
        ("Lifetime_Writes_GiB", GIB, "GiB"),
        ("Total_LBAs_Written", 512, "512-byte sectors"),
        ("Total_Writes_GB", 10**9, "GB"),
    ],
)
def test_a_counter_in_another_unit_is_found_out(
    opens: Opens, capsys: Prints, name: str, unit: int, words: str
) -> None:
    """The published readings: 98 and 97 units more, while the kernel wrote 98.3 and 97.4 MiB."""
    host = opens({"sda": dom("sda", 0), "sdb": evo("sdb", 17 * GB)})
    for count, kib in DOM[:2]:
        host.said["sda"] = dom("sda", count, name)
        host.wrote(sda=kib * 1024)
        assert run(["wear", "--record"]) == 0
        host.passed_s += 3600
    count, kib = DOM[2]
    host.said["sda"] = dom("sda", count, name)
    host.wrote(sda=kib * 1024)
    capsys.readouterr()
    assert run(["wear", "--json"]) == 0
    (found, _) = json.loads(capsys.readouterr().out)["disks"]
    assert (found["unit_bytes"], found["bytes_written"], found["confidence"]) == (
        MIB,
        count * MIB,
        "measured",
    )
    assert found["written"]["promised_unit_bytes"] == unit
    assert [finding["sentence"] for finding in found["findings"]] == [
        f"sda: counts MiB in attribute 241 {name}, not {words}: it rose by 195 while 196 MiB were written"
    ]


@pytest.mark.parametrize("late_units", [0, 1])
@pytest.mark.parametrize("factor", [1.0, 1.03, 0.97])
def test_an_honest_counter_is_not_accused(
    opens: Opens, capsys: Prints, late_units: int, factor: float
) -> None:
    """It counts GiB, is late by up to one of them, and the kernel wrote a little more or less."""
    host = opens({"sda": dom("sda", 0), "sdb": evo("sdb", TB)})
    for step in range(12):
        gib = 40 * step
        host.said["sda"] = dom("sda", 17_000 + max(0, gib - late_units))
        host.wrote(sda=500 * GIB + int(gib * GIB * factor))
        assert run(["wear", "--record"]) == 0
        host.passed_s += 86_400
    capsys.readouterr()
    run(["wear", "--json"])
    (found, _) = json.loads(capsys.readouterr().out)["disks"]
    assert (found["unit_bytes"], found["findings"]) == (GIB, [])


def test_a_reboot_is_no_reason_to_accuse(opens: Opens, capsys: Prints) -> None:
    """The kernel counts anew from each boot, and readings of two boots are not compared."""
    host = opens({"sda": dom("sda", 0), "sdb": evo("sdb", TB)})
    for boot in range(4):
        host.said["sda"] = dom("sda", 17_000 + 100 * boot)
        host.wrote(sda=MIB)
        host.put("/proc/sys/kernel/random/boot_id", f"boot-{boot}\n")
        run(["wear", "--record"])
        host.passed_s += 86_400
    capsys.readouterr()
    run(["wear", "--json"])
    (found, _) = json.loads(capsys.readouterr().out)["disks"]
    assert (found["unit_bytes"], found["findings"]) == (GIB, [])


# -- wrong usage


@pytest.mark.parametrize(
    "argv",
    [
        ["wear", "--json", "--prometheus"],
        ["wear", "--record", "--mark", "x"],
        ["wear", "--from"],
        ["wear", "--mark"],
        ["wear", "sda"],
    ],
)
def test_wrong_usage(argv: list[str], capsys: Prints) -> None:
    with pytest.raises(SystemExit) as ended:
        run(argv)
    assert ended.value.code == 64
    assert capsys.readouterr().out == ""


# -- self-tests


@pytest.mark.parametrize(
    ("words", "status", "argv"),
    [
        ("sda short", 0, ["smartctl", "-d", "sat", "-t", "short", "/dev/sda"]),
        ("/dev/nvme0n1 long", 0, ["smartctl", "-d", "nvme", "-t", "long", "/dev/nvme0n1"]),
        ("sda conveyance", 2, None),
        ("sda abort", 0, None),
        ("sdg short", 2, None),
    ],
)
def test_the_plan_of_a_self_test(
    words: str, status: int, argv: list[str] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--demo", "plan", "self-test", *words.split(), "--json"]) == status
    whole = json.loads(capsys.readouterr().out)
    assert [step["argv"] for step in whole.get("plan", {}).get("steps", [])] == ([argv] if argv else [])
    assert ("raidtui_refusal" in whole) == (status == 2)
    assert whole.get("plan", {}).get("already", False) == (status == 0 and argv is None)
