"""A ledger for tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a live host's ledger is."""
    path = tmp_path / "wear.sqlite"
    monkeypatch.setattr("raidtui.monitor.wear.readings.ledger_path", lambda: path)
    return path
