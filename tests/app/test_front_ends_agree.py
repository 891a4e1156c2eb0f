"""The screen, JSON, Prometheus and Nagios say the same of one report: health, progress, mismatches."""

from __future__ import annotations

import re

import pytest

from raidtui.features.arrays.cli_json import report_dict
from raidtui.features.arrays.cli_nagios import nagios_line
from raidtui.features.arrays.cli_prometheus import metric_lines
from raidtui.features.arrays.screen.array_rows import brief_of
from raidtui.view.array_row import brief_line
from raidtui.watch.watch import HostWatch, Report
from tests.hosts.specs import ArraySpec
from tests.hosts.trees import Syncing, host_tree, inactive, raid0, raid1, raid5, raid6, raid10

_HEALTHS = ("optimal", "unknown", "attention", "degraded", "failed")
_WORDS = ("OK", "WARNING", "CRITICAL", "UNKNOWN")


def _metric(lines: list[str], name: str, *labels: str) -> float | None:
    found = [line for line in lines if line.startswith(f"{name}{{") and all(each in line for each in labels)]
    return float(found[0].rpartition(" ")[2]) if found else None


@pytest.mark.parametrize(
    "arrays",
    [
        (raid10(),),
        (raid0(), raid1(failed=("sdf",))),
        (raid10(sync=Syncing(action="check", done_kib=44_040_192), mismatches=128),),
        (
            raid5(
                rebuilding=("sdi",), sync=Syncing(action="recover", done_kib=55_050_240, speed_kib_s=100_000)
            ),
        ),
        (raid10(read_only="auto-read-only", sync=Syncing(action="resync", waiting="PENDING")),),
        (raid5(), inactive(raid6())),
        (raid5(mismatches=64, last_sync_action="check"),),
        (raid0(failed=("sdh",)),),
    ],
)
def test_one_report(arrays: tuple[ArraySpec, ...]) -> None:
    report: Report = HostWatch(host_tree(*arrays).root()).refresh()
    said, metrics, nagios = report_dict(report), list(metric_lines(report)), nagios_line(report)
    assert nagios.split()[1] == _WORDS[report.exit_status]
    by_name = {each["name"]: each for each in said["arrays"]}
    for array in report.snapshot.arrays:
        known, device = by_name[array.name], f'device="{array.name}"'
        row = "".join(text for text, _ in brief_line(brief_of(report, array), 110))
        assert known["health"] == report.healths[array.key].word
        assert _metric(metrics, "raidtui_md_health", device) == _HEALTHS.index(known["health"])
        if known["sync"] is None:
            assert (known["health"] if array.active else "inactive") in row
            assert "%" not in row
        else:
            assert known["sync"]["phase" if known["sync"]["phase"] != "running" else "action"] in row
            _same_progress(known["sync"]["fraction"], row, metrics, nagios, device)
        sectors = _metric(metrics, "raidtui_md_mismatch_bytes", device)
        assert sectors == (None if known["mismatch_count"] is None else known["mismatch_count"] * 512)


def _same_progress(fraction: float | None, row: str, metrics: list[str], nagios: str, device: str) -> None:
    shown = re.search(r"([0-9.]+) %", row)
    assert (shown is None) == (fraction is None)
    if fraction is not None and shown is not None:
        assert float(shown[1]) == pytest.approx(100 * fraction, abs=0.1)
        assert _metric(metrics, "raidtui_md_sync_done_ratio", device) == pytest.approx(fraction, abs=1e-5)
        assert f"synced={100 * fraction:.1f}%" in nagios
