"""A fio that is a script, where tests ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.fake_fio import FakeFio


@pytest.fixture
def fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeFio:
    """The only fio there is."""
    fake = FakeFio(tmp_path / "fio")
    monkeypatch.setattr("raidtui.bench.fio.tool_path", fake.find)
    return fake
