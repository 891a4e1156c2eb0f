"""How much advice there was: kept whole, shown for two days, read again when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.jobs.last_look import FRESH_S, LastLook, keep_look
from raidtui.model.advice_count import AdviceCount
from raidtui.model.finding import Severity

AT_S = 1_800_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where it is kept."""
    return tmp_path / "state" / "advice.json"


def test_it_is_read_again_when_it_has_changed(path: Path) -> None:
    look = LastLook()
    assert look.read(AT_S) is None
    keep_look(AdviceCount(at_s=AT_S, attention=2, degraded=1))
    assert look.read(AT_S) == AdviceCount(at_s=AT_S, attention=2, degraded=1)
    keep_look(AdviceCount(at_s=AT_S + 1))
    assert look.read(AT_S) == AdviceCount(at_s=AT_S + 1)
    path.unlink()
    assert look.read(AT_S) is None


@pytest.mark.parametrize("text", ["", "{", "{}", '{"at_s": "x"}', "[]", "\udcff"])
def test_what_cannot_be_understood(path: Path, text: str) -> None:
    """Then nothing is known; the next look replaces it."""
    keep_look(AdviceCount(at_s=AT_S, attention=1))
    path.write_text(text, errors="surrogateescape")
    look = LastLook()
    assert look.read(AT_S) is None
    keep_look(AdviceCount(at_s=AT_S, attention=1))
    assert look.read(AT_S) == AdviceCount(at_s=AT_S, attention=1)


@pytest.mark.parametrize(
    ("age_s", "shown"), [(0, True), (FRESH_S - 1, True), (FRESH_S, False), (-FRESH_S, False)]
)
def test_it_grows_old(age_s: float, shown: bool) -> None:  # noqa: FBT001
    keep_look(AdviceCount(at_s=AT_S, attention=1))
    assert (LastLook().read(AT_S + age_s) is not None) == shown


@pytest.mark.parametrize(
    ("count", "total", "worst"),
    [
        (AdviceCount(at_s=AT_S), 0, Severity.INFO),
        (AdviceCount(at_s=AT_S, attention=2), 2, Severity.ATTENTION),
        (AdviceCount(at_s=AT_S, attention=2, degraded=1), 3, Severity.DEGRADED),
        (AdviceCount(at_s=AT_S, degraded=1, failed=1), 2, Severity.FAILED),
    ],
)
def test_what_it_counts(count: AdviceCount, total: int, worst: Severity) -> None:
    assert (count.total, count.worst) == (total, worst)
