"""The units: how little each of them can do, by systemd's own count, and that each says what is left open."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import raidtui

UNITS = Path(raidtui.__file__).parent / "systemd"
EXPOSURE = {"advice": 25, "alert": 25, "pace@": 35, "wear": 35}
"""Ten times what systemd-analyze may say of each at most."""
ANALYZE = shutil.which("systemd-analyze")


def test_all_units_are_known() -> None:
    assert {each.name for each in UNITS.glob("*.service")} == {f"raidtui-{name}.service" for name in EXPOSURE}


@pytest.mark.parametrize("name", EXPOSURE)
def test_exposure(name: str) -> None:
    if ANALYZE is None:
        assert os.environ.get("RAIDTUI_LAB") != "require", "systemd-analyze is not installed"
        pytest.skip("systemd-analyze is not installed")
    unit = UNITS / f"raidtui-{name}.service"
    limit = f"--threshold={EXPOSURE[name]}"
    argv = (ANALYZE, "security", "--offline=true", "--no-pager", limit, str(unit))
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", EXPOSURE)
def test_what_is_left_open_is_said(name: str) -> None:
    assert "\n# Left open: " in (UNITS / f"raidtui-{name}.service").read_text()
