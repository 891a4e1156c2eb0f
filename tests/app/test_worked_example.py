"""The worked example of docs/adding-a-feature.md is what it says: its files run, and its test passes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.places import HOUSE

PAGE = HOUSE / "docs" / "adding-a-feature.md"
FILES = re.compile(r"^`((?:raidtui|tests)/\S+\.py)`\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINES = re.compile(r"^```\n(from .*)\n(    \w+,)\n```$", re.MULTILINE)


def test_it_runs(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for folder in ("raidtui", "themes"):
        shutil.copytree(HOUSE / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HOUSE / "pyproject.toml", tmp_path)
    files = FILES.findall(text)
    assert len(files) == 5
    for path, code in files:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(code, encoding="utf-8")
    [(imported, listed)] = LINES.findall(text)
    registry = tmp_path / "raidtui" / "app" / "registry.py"
    lines = registry.read_text().split("\n")
    lines.insert(next(at for at, line in enumerate(lines) if line.startswith("from raidtui.f")), imported)
    lines.insert(next(at for at, line in enumerate(lines) if line.startswith("FEATURES")) + 1, listed)
    registry.write_text("\n".join(lines))
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/features/spares"),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    ruff = (sys.executable, "-m", "ruff", "check", "--no-cache", "raidtui/features/spares")
    assert subprocess.run(ruff, capture_output=True, text=True, cwd=tmp_path, check=False).returncode == 0
