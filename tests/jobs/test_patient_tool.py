"""Tools that take long: what they read, how they end, and what is kept of what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from raidtui.jobs.patient_tool import PatientEnd, run_patiently


def after(times: int) -> Callable[[], bool]:
    """Return what cancels, but only when it is asked again and again."""
    asked = iter(range(times))
    return lambda: next(asked, None) is None


def test_what_it_reads_and_says(tmp_path: Path) -> None:
    output = tmp_path / "output"
    assert run_patiently(("cat",), output, after(200), stdin="words\n") == PatientEnd(status=0, tail="words")
    assert output.read_text() == "words\n"


def test_nothing_to_read(tmp_path: Path) -> None:
    assert run_patiently(("cat",), tmp_path / "output", after(200)) == PatientEnd(status=0)


def test_how_it_ends(tmp_path: Path) -> None:
    output = tmp_path / "output"
    end = run_patiently(("ls", str(tmp_path / "none")), output, after(200))
    assert (end.status, end.why, end.missing) == (2, "", False)
    end = run_patiently(("no-such-tool",), output, after(200))
    assert end == PatientEnd(status=None, why="no-such-tool is not installed", missing=True)


def test_it_is_cancelled(tmp_path: Path) -> None:
    for gently in (True, False):
        end = run_patiently(("sleep", "600"), tmp_path / "output", after(0), gently=gently)
        assert end == PatientEnd(status=None, why="cancelled")
