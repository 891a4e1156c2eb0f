"""The rules and the dashboard in fleet/prometheus: valid, tested, and of metrics that there are."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from raidtui.features.arrays.cli_prometheus import metric_lines
from raidtui.features.wear.wear_report import metric_lines as wear_metric_lines
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.model.advice_count import AdviceCount
from raidtui.monitor.wear.readings import WearReader
from raidtui.watch.watch import HostWatch
from tests.features.fleet.prometheus import RULES
from tests.hosts.members import TWO
from tests.hosts.specs import Syncing, raid1, raid5
from tests.monitor.wear.hosts import TB, WearHost, evo
from tests.servers import server

_NAME = re.compile(r"\b(raidtui_[a-z_]+|node_[a-z_]+)\b")
OF_NODE_EXPORTER = {"node_textfile_mtime_seconds"}


def printed() -> list[str]:
    """All families that the product has, as it prints them."""
    sick = WearHost(
        raid1(members=("sda", "sdb"), bad_blocks={"sda": "8 8\n"}),
        raid5(rebuilding=("sdi",), sync=Syncing(action="recover", done_kib=1, speed_kib_s=1000)),
        said={"sda": evo("sda", 4 * TB), "sdb": evo("sdb", 4 * TB)},
    )
    report = HostWatch(sick).refresh()
    lines = [*metric_lines(replace(report, advice=AdviceCount(at_s=1.0, degraded=1)))]
    lines += metric_lines(HostWatch(MemoryReader(TWO)).refresh())
    lines += wear_metric_lines(WearReader(sick).look(sick.sampler().sample()).disks)
    return lines


def families() -> set[str]:
    return {line.split()[2] for line in printed() if line.startswith("# TYPE ")}


def expressions() -> list[str]:
    """The expressions of the dashboard, with its variables filled in."""
    whole: dict[str, Any] = json.loads((RULES / "dashboard.json").read_text())
    found = [target["expr"] for panel in whole["panels"] for target in panel["targets"]]
    return [text.replace("$instance", ".*") for text in found]


def names(text: str) -> set[str]:
    return set(_NAME.findall(text)) - OF_NODE_EXPORTER


def test_all_metrics_of_the_rules_are_there() -> None:
    rules = "\n".join(re.findall(r"^ +expr: (.+)$", (RULES / "rules.yml").read_text(), re.MULTILINE))
    assert names(rules)
    assert names(rules) <= families()


def test_all_metrics_of_the_dashboard_are_there() -> None:
    assert len(expressions()) > 10
    assert set().union(*map(names, expressions())) <= families()
    whole = json.loads((RULES / "dashboard.json").read_text())
    query = whole["templating"]["list"][1]["definition"]
    assert names(query) <= families()
    assert len({panel["id"] for panel in whole["panels"]}) == len(whole["panels"])


def test_the_page_names_all_metrics() -> None:
    docs = RULES.parents[1] / "docs"
    pages = (docs / "metrics.md").read_text() + (docs / "wear.md").read_text()
    assert families() <= set(re.findall(r"`(raidtui_\w+)`", pages))


def test_promtool_finds_nothing(tmp_path: Path) -> None:
    tool = server("promtool")
    metrics = "\n".join(_once(printed())) + "\n"
    checked = _done((tool, "check", "metrics"), metrics)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    for words in (("check", "rules", "rules.yml"), ("test", "rules", "rules_test.yml")):
        done = _done((tool, *words))
        assert done.returncode == 0, done.stdout + done.stderr
    rules = [{"record": f"r{number}", "expr": text} for number, text in enumerate(expressions())]
    (tmp_path / "of.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = _done((tool, "check", "rules", f"{tmp_path}/of.yml"))
    assert done.returncode == 0, done.stdout + done.stderr


def _done(argv: tuple[str, ...], text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=RULES, input=text, capture_output=True, text=True, check=False)


def _once(lines: list[str]) -> list[str]:
    """Leave out families that are there already: an exposition has each once."""
    seen: set[str] = set()
    found, skip = [], False
    for line in lines:
        if line.startswith("# HELP "):
            skip = line.split()[2] in seen
            seen.add(line.split()[2])
        if not skip:
            found.append(line)
    return found


def test_every_alert_has_a_case() -> None:
    alerts = set(re.findall(r"alert: (\w+)", (RULES / "rules.yml").read_text()))
    assert alerts == set(re.findall(r"alertname: (\w+)", (RULES / "rules_test.yml").read_text()))
