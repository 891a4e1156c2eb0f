"""A host and a fio that is a script, where tests ask for them; and a worker that leaves nothing elsewhere."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from raidtui.jobs import runner
from tests.features.bench.fake_fio import FakeFio
from tests.features.bench.host import Host

_NUMBERS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the machine is quiet is seen at once."""
    monkeypatch.setattr("raidtui.features.bench.environment.LOOK_S", 0.0)


@pytest.fixture
def fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeFio:
    """The only fio there is, which its sandbox lets see this host's files."""
    return FakeFio(tmp_path / "fio").in_place(monkeypatch)


@pytest.fixture
def kept_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Restore the signals; wait for no proofs, read no surroundings; keep everything in the test's folder."""
    monkeypatch.setattr(runner, "_PROOF_S", 0.0)
    monkeypatch.setattr("raidtui.features.bench.run.measure.FIRST_S", 3600.0)
    monkeypatch.setattr("raidtui.jobs.store.journal_path", lambda: tmp_path / "lib" / "journal.jsonl")
    monkeypatch.setattr(
        "raidtui.features.bench.results.run_store.journal_path", lambda: tmp_path / "lib" / "journal.jsonl"
    )
    before = [signal.getsignal(number) for number in _NUMBERS]
    yield
    for number, handler in zip(_NUMBERS, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def srv(tmp_path: Path) -> Path:
    (tmp_path / "srv").mkdir()
    return tmp_path / "srv"
