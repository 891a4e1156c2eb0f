"""With RAIDTUI_STOCK=1 the console runs on Textual as it is: same panes, dialogs and writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frame.states import ARRAYS
from tests.hosts.trees import host_tree
from tests.lab.guests.terminal import host_terminal

QUIT_S = 20.0
MD = "/sys/class/block/md127/md"


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What a walk shows, on stock Textual and on this program's own painting."""
    found, state = {}, str(tmp_path_factory.mktemp("state"))
    for name, value in (("stock", "1"), ("own", "")):
        done = subprocess.run(
            (sys.executable, "-m", "tests.frame.stock_walk"),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "RAIDTUI_STOCK": value, "XDG_STATE_HOME": state},
        )
        assert done.returncode == 0, done.stderr[-4000:]
        found[name] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", ["stock", "own"])
def test_all_panes_and_dialogs(walks: dict[str, dict[str, str]], name: str) -> None:
    shown = walks[name]
    for view, words in {
        "arrays": "optimal",
        "wear": "disk",
        "tune": "scheduler",
        "bench": "a A/B",
        "log": "6 Log",
        "help": "Keys",
        "palette": "Check (c)",
        "jobs": "Jobs",
        "replace": "Replace which member",
        "rename": "name",
        "filter": "data",
    }.items():
        assert words in shown[view], shown[view]
    assert shown["writes"] == str([(f"{MD}/sync_speed_max", "244141"), (f"{MD}/sync_action", "check")])
    assert shown["repaints"] == ("yes" if name == "stock" else "no")


@pytest.mark.parametrize("view", ["arrays", "jobs", "replace", "rename", "filter"])
def test_both_show_the_same(walks: dict[str, dict[str, str]], view: str) -> None:
    assert walks["stock"][view] == walks["own"][view]


def test_on_a_terminal(tmp_path: Path) -> None:
    """It opens, takes keys, ends, and leaves the terminal as it was."""
    host_tree(*ARRAYS["degraded"]).write_to(tmp_path / "host")
    script = (
        f"before=$(stty -g); RAIDTUI_STOCK=1 {sys.executable} -m raidtui --root {tmp_path / 'host'};"
        ' echo "status $?"; test "$before" = "$(stty -g)" && echo same; read x'
    )
    terminal = host_terminal(("/bin/sh", "-c", script))
    try:
        terminal.wait_for("the next failure loses the array", timeout=QUIT_S)
        terminal.press("?")
        terminal.wait_for("Keys", timeout=QUIT_S)
        terminal.press("q")
        terminal.wait_for("the next failure loses the array", timeout=QUIT_S)
        terminal.press("3")
        terminal.wait_for("worn by", timeout=QUIT_S)
        terminal.press("q")
        terminal.wait_for(re.compile(r"status 0[^\n]*\nsame"), timeout=QUIT_S)
        assert not terminal.has_mode(1049)
        assert terminal.has_mode(25)
    finally:
        terminal.close()
