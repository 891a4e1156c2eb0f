"""A feature is taken out with its folder and its lines in the registry, and the rest starts and works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import raidtui
from raidtui.app.registry import FEATURES
from tests.places import HOUSE

PRODUCT = Path(raidtui.__file__).parent
KEPT = "arrays"
CODE = """
import importlib, pkgutil, raidtui
names = [each.name for each in pkgutil.walk_packages(raidtui.__path__, "raidtui.")]
for name in names:
    if name != "raidtui.__main__":
        importlib.import_module(name)
from raidtui.app.cli import COMMANDS, run
print(len(names), *COMMANDS)
raise SystemExit(run(["--demo", "status"]))
"""


def without(name: str, folder: Path) -> Path:
    """Return a copy of the product without a feature."""
    shutil.copytree(PRODUCT, folder / "raidtui", ignore=shutil.ignore_patterns("__pycache__"))
    if not (folder / "raidtui" / "themes").exists():
        shutil.copytree(HOUSE / "themes", folder / "themes")
    shutil.rmtree(folder / "raidtui" / "features" / name)
    registry = folder / "raidtui" / "app" / "registry.py"
    lines = registry.read_text().splitlines()
    kept = [line for line in lines if not re.search(rf"\bfeatures\.{name}\.|^    {name.upper()},$", line)]
    assert len(kept) == len(lines) - 2
    registry.write_text("\n".join(kept) + "\n")
    return folder


def test_every_folder_is_in_the_registry() -> None:
    folders = {path.parent.name for path in PRODUCT.glob("features/*/__init__.py")}
    assert {feature.name for feature in FEATURES} == folders


@pytest.mark.parametrize("name", sorted({feature.name for feature in FEATURES} - {KEPT}))
def test_the_rest_works_without_it(name: str, tmp_path: Path) -> None:
    """All other modules can be imported, all other subcommands are there, and the arrays are shown."""
    place = without(name, tmp_path)
    done = subprocess.run(
        (sys.executable, "-c", CODE),
        capture_output=True,
        text=True,
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place)},
        check=False,
    )
    assert done.stderr == ""
    head, *arrays = done.stdout.splitlines()
    gone = {command.name for feature in FEATURES if feature.name == name for command in feature.commands}
    everything = {command.name for feature in FEATURES for command in feature.commands}
    assert set(head.split()[1:]) == everything - gone | {"capture", "plan", "apply", "jobs"}
    assert any("data" in line for line in arrays)
