"""``raidtui status --nagios``: one line and the exit status that a plugin has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidtui.app.cli import run
from raidtui.features.arrays.cli_nagios import nagios_line
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.watch.watch import HostWatch, Report
from tests.app.test_schema import DeniedReader
from tests.hosts.members import TWO
from tests.hosts.specs import ArraySpec
from tests.hosts.trees import Syncing, host_tree, inactive, raid0, raid1, raid5, raid10

_FIGURE = re.compile(r"[A-Za-z0-9_.-]+=-?[0-9.]+(?:s|%)?(?:;-?[0-9.]*){0,4}", re.ASCII)


def report_of(*arrays: ArraySpec) -> Report:
    return HostWatch(host_tree(*arrays).root()).refresh()


@pytest.mark.parametrize(
    ("report", "status", "line"),
    [
        (report_of(), 0, "MD OK - no md array | arrays=0;;;0 attention=0;0;;0 degraded=0;0;;0 failed=0;;0;0"),
        (
            report_of(raid10(), raid0()),
            0,
            (
                "MD OK - 2 arrays | arrays=2;;;0 attention=0;0;;0 degraded=0;0;;0 failed=0;;0;0"
                " data_missing=0;0;;0;4"
            ),
        ),
        (
            report_of(raid10(label="my data|x", sync=Syncing(action="check", done_kib=44_040_192))),
            0,
            (
                "MD OK - 1 array, check of my data/x | arrays=1;;;0 attention=0;0;;0 degraded=0;0;;0"
                " failed=0;;0;0 my_data_x_missing=0;0;;0;4 my_data_x_synced=10.0%;;;0;100"
            ),
        ),
    ],
)
def test_the_line(report: Report, status: int, line: str) -> None:
    assert (report.exit_status, nagios_line(report)) == (status, line)


@pytest.mark.parametrize(
    ("report", "status", "word"),
    [
        (report_of(raid1(failed=("sdf",))), 1, "WARNING"),
        (report_of(raid1(failed=("sdf",)), inactive(raid5())), 2, "CRITICAL"),
        (HostWatch(MemoryReader(TWO)).refresh(), 2, "CRITICAL"),
        (HostWatch(DeniedReader({})).refresh(), 3, "UNKNOWN"),
    ],
)
def test_states(report: Report, status: int, word: str) -> None:
    line = nagios_line(report)
    assert report.exit_status == status
    assert line.startswith(f"MD {word} - ")
    assert line.count("|") == 1
    assert "\n" not in line
    for figure in line.partition(" | ")[2].split():
        assert _FIGURE.fullmatch(figure), figure
    if "more)" in line:
        assert re.search(r"\(and \d+ more\) \|", line)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "status", "--nagios"]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"MD OK - 4 arrays, resync of data \| .* data_left=\d+s;;;0 .*\n", out)
    assert err == ""
    with pytest.raises(SystemExit) as ended:
        run(["--demo", "status", "--nagios", "--watch"])
    assert ended.value.code == 64
    with pytest.raises(SystemExit) as ended:
        run(["--demo", "status", "--wear"])
    assert ended.value.code == 64


@pytest.mark.parametrize(
    ("arrays", "line"),
    [
        ((), "nas: no md array"),
        (
            (raid10(sync=Syncing(action="check", done_kib=44_040_192)), raid1()),
            "nas: 2 arrays, check of data",
        ),
        (
            (raid5(failed=("sdh",)), raid1(failed=("sdf",)), raid10()),
            (
                "nas: media is degraded: 1 of 3 members missing (slot 1), sdh failed; no redundancy is left"
                " (and 1 more)"
            ),
        ),
    ],
)
def test_in_brief_for_a_login(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arrays: tuple[ArraySpec, ...], line: str
) -> None:
    host_tree(*arrays).write_to(tmp_path)
    run(["--root", str(tmp_path), "status", "--brief"])
    assert capsys.readouterr().out == f"{line}\n"
