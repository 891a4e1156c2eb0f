"""A Prometheus and a node_exporter on this machine, with the product's rules and ports of their own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.lab.guests.deadline import wait_until
from tests.places import HOUSE
from tests.servers import server

RULES = HOUSE / "fleet/prometheus"
_CONFIG = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [{folder}/rules.yml]
scrape_configs:
  - job_name: node
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Watching(Struct, kw_only=True):
    """Prometheus, and the folder of node_exporter's textfile collector.

    Args:
        port: of Prometheus.
        folder: the collector's.
    """

    port: int
    folder: Path

    def gets(self, metrics: str) -> None:
        """Hand metrics over as docs/metrics.md says."""
        (self.folder / "raidtui.prom.new").write_text(metrics)
        (self.folder / "raidtui.prom.new").rename(self.folder / "raidtui.prom")

    def ask(self, path: str) -> Any:
        """Return what its API answers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return json.load(answer)["data"]

    def firing(self) -> set[tuple[str, str]]:
        """Return (alert, array) of what fires now."""
        return {
            (each["labels"]["alertname"], each["labels"].get("array", ""))
            for each in self.ask("/api/v1/alerts")["alerts"]
            if each["state"] == "firing"
        }

    def firing_becomes(self, wanted: set[tuple[str, str]]) -> None:
        """Wait until these fire, and no others."""
        wait_until(lambda: self.firing() == wanted, what=f"{wanted} fire")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def watching(folder: Path) -> Iterator[Watching]:
    """Start both; the rules fire without their waiting time."""
    prometheus, exporter = server("prometheus"), server("prometheus-node-exporter")
    texts = folder / "texts"
    texts.mkdir()
    rules = re.sub(r"for: \w+", "for: 0s", (RULES / "rules.yml").read_text())
    (folder / "rules.yml").write_text(rules)
    ports = _free_port(), _free_port()
    (folder / "prometheus.yml").write_text(_CONFIG.format(folder=folder, port=ports[1]))
    commands = (
        (exporter, f"--web.listen-address=127.0.0.1:{ports[1]}", f"--collector.textfile.directory={texts}"),
        (
            *(prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"),
            f"--web.listen-address=127.0.0.1:{ports[0]}",
        ),
    )
    found = Watching(port=ports[0], folder=texts)
    with contextlib.ExitStack() as ending:
        log = ending.enter_context((folder / "log").open("wb"))
        for argv in commands:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ)
            ending.callback(process.wait)
            ending.callback(process.terminate)
        wait_until(lambda: _is_up(found), what="Prometheus scrapes node_exporter")
        yield found


def _is_up(found: Watching) -> bool:
    with contextlib.suppress(urllib.error.URLError, OSError, KeyError):
        targets = found.ask("/api/v1/targets")["activeTargets"]
        return bool(targets) and targets[0]["health"] == "up"
    return False
