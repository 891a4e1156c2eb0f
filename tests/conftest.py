"""What all tests share: a fixed environment, and where the accepted pictures are.

Pictures are ``snapshots/<module>/<test>.svg`` beside the tests, ``test_`` left out; screens as text are
sections of ``snapshots/<module>.txt`` (tests/frame/goldens.py), and plans of ``snapshots/plans/<module>.txt``
(tests/plans/goldens.py). One that no test asks for fails a run of all screens, or of all plans, and goes with
``--snapshot-update``.

Several workers (``-n``) share the files out: a file goes to one of them, and so do all tests with the guest
that has hardware, which is slow to boot. A file that takes long names groups of its own, in place of it.

Tests marked ``later`` are left out, unless the whole is asked for (``tests.extent``).
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import pytest_textual_snapshot  # type: ignore[import-untyped]
from hypothesis import HealthCheck, settings
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from tests.extent import WHOLE
from tests.features.alerts.servers import Web, web_server
from tests.frame.stage_fixtures import ask, draws, hurried, shows, staged_clock
from tests.goldens import SNAPSHOTS as PICTURES
from tests.goldens import Goldens, unused_goldens

__all__ = ["ask", "draws", "hurried", "shows", "staged_clock"]

HERE = Path(__file__).parent
COLOUR_WORDS = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLORFGBG", "TEXTUAL_COLOR_SYSTEM", "TEXTUAL_THEME")


class Picture(pytest_textual_snapshot.SVGImageExtension):  # type: ignore[misc]
    """An accepted picture in its place; remembers which were asked for."""

    asked_for: ClassVar[set[Path]] = set()

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(PICTURES / test_location.basename.removeprefix("test_"))

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        name = test_location.snapshot_name.removeprefix("test_").replace("[", "-").replace("]", "")
        return name if index == 0 else f"{name}.{index}"

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        location: str = super().get_location(test_location=test_location, index=index)
        cls.asked_for.add(Path(location))
        return location

    @classmethod
    def write_snapshot(cls, **what: Any) -> None:
        with warnings.catch_warnings():  # syrupy wants the whole name of test and module in the path
            warnings.simplefilter("ignore", UserWarning)
            super().write_snapshot(**what)


def pytest_configure() -> None:
    # How long an example takes says more about the machine than about what is tested.
    settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("untimed")
    pytest_textual_snapshot.SVGImageExtension = Picture
    os.environ["TZ"] = "UTC"
    time.tzset()


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> object:
    result = yield
    for name in getattr(terminalreporter.config, "unused_pictures", ()):
        terminalreporter.line(f"no test asks for {name}", red=True)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    later = [] if WHOLE else [item for item in items if item.get_closest_marker("later")]
    if later:
        items[:] = [item for item in items if item not in later]
        config.hook.pytest_deselected(items=later)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            together = "qemu" if "qemu_laboratory" in getattr(item, "fixturenames", ()) else str(item.path)
            item.add_marker(pytest.mark.xdist_group(together))


def pytest_testnodedown(node: Any) -> None:
    """Take over which pictures a worker's tests asked for."""
    reported = getattr(node, "workeroutput", {})
    Picture.asked_for.update(map(Path, reported.get("pictures", ())))
    Goldens.asked_for.update(map(tuple, reported.get("goldens", ())))
    node.config.whole = reported.get("whole", [])


def pytest_sessionfinish(session: pytest.Session) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        output = session.config.workeroutput  # type: ignore[attr-defined]
        output["pictures"] = [str(path) for path in Picture.asked_for]
        output["goldens"] = [list(each) for each in Goldens.asked_for]
        output["whole"] = _ran_whole(session)
        return
    if session.exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        return
    whole = getattr(session.config, "whole", None) or _ran_whole(session)
    updates = session.config.getoption("update_snapshots")
    paths = sorted(set(PICTURES.rglob("*.svg")) - Picture.asked_for) if "screens" in whole else []
    unused = [str(path.relative_to(PICTURES)) for path in paths]
    for folder in (folder for kind, folder in (("screens", ""), ("plans", "plans")) if kind in whole):
        unused += unused_goldens(folder, drop=updates)
    if updates:
        for path in paths:
            path.unlink()
    elif unused:
        session.config.unused_pictures = unused  # type: ignore[attr-defined]
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _ran_whole(session: pytest.Session) -> list[str]:
    """Return of what all tests were run: of screens, of plans."""
    chosen = session.config.option
    if chosen.keyword or chosen.markexpr or chosen.collectonly or session.shouldstop is not False:
        return []
    if any("::" in argument for argument in chosen.file_or_dir) or getattr(chosen, "lf", False):
        return []
    collected = {item.path for item in getattr(session, "items", ())}
    kinds = {"screens": filter(staged, HERE.rglob("test_*.py")), "plans": (HERE / "plans").glob("test_*.py")}
    return [kind for kind, paths in kinds.items() if set(paths) <= collected]


def staged(path: Path) -> bool:
    """Whether the tests of a file look at screens."""
    parts = path.relative_to(HERE).parts
    return parts[0] in {"app", "frame"} or "screen" in parts


@pytest.fixture(autouse=True)
def on_stage(request: pytest.FixtureRequest) -> None:
    """What tests of screens have in common."""
    if staged(request.path):
        request.getfixturevalue("staged_clock")
        request.getfixturevalue("hurried")


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No colours, sizes, themes, settings or journals of whoever runs the tests."""
    for name in (*COLOUR_WORDS, "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("raidtui.jobs.state_files.ROOT_STATE", tmp_path / "state" / "root")
    monkeypatch.setattr("raidtui.jobs.last_look.last_look_path", lambda: tmp_path / "state" / "advice.json")


@pytest.fixture
def not_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not root, whose spool and channels are the machine's."""
    uid = os.geteuid() or 12345
    monkeypatch.setattr("os.geteuid", lambda: uid)


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server that receives alerts."""
    with web_server() as server:
        yield server
