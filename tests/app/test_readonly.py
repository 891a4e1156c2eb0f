"""``--readonly``: what acts is refused, what shows and prints stays, and nothing is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.app.cli import build_parser, run
from raidtui.app.commands.readonly import refused
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.readers.host_reader import READONLY
from raidtui.jobs import state_files
from raidtui.jobs.journal import Journal
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.wear.ledger import Ledger
from raidtui.plans.target import needs_root
from tests.hosts.kernel import Kernel
from tests.hosts.specs import raid1

ACTS = (
    "apply plan.json", "jobs resume 1", "jobs cancel 1", "jobs rollback 1",
    "bench run --directory /x", "bench stop", "bench delete 1", "tune set sda nr_requests=4",
    "tune undo", "tune keep", "rescue try start data", "rescue clean", "pull data sda",
    "pull --next", "alert --add x", "alert --event Fail /dev/md0", "alert --send", "pace data",
    "pace --stop", "pace --restore", "wear --record", "wear --mark x", "advice --ignore x",
    "ssh host",
)  # fmt: skip
SHOWS = (
    "status", "capture x", "jobs", "jobs attach 1", "bench list", "tune show", "rescue",
    "pull --status", "alert --list", "pace --status", "wear", "wear --history", "advice", "stack",
    "history", "boot-check",
)  # fmt: skip
PRINTS = ("plan check data", "rescue plan data", "tune set sda nr_requests=4 --dry-run", "pace data --plan")


@pytest.fixture(autouse=True)
def _of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_files, "_read_alone", False)


def ask(line: str) -> tuple[bool, bool]:
    """Return whether a command is refused, and whether the host is read-only for it."""
    root = FolderReader()
    arguments = build_parser().parse_args(["--readonly", *line.split()])
    return refused(root, arguments), root.readonly


@pytest.mark.parametrize("line", ACTS)
def test_what_acts_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(line)[0]
    assert capsys.readouterr().err == f"raidtui: {READONLY}\n"


@pytest.mark.parametrize("line", SHOWS)
def test_what_shows_is_not(line: str) -> None:
    assert ask(line) == (False, True)


@pytest.mark.parametrize("line", PRINTS)
def test_a_plan_is_printed_as_without(line: str) -> None:
    assert ask(line) == (False, False)


def test_the_exit_status_is_that_of_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "--readonly", "jobs", "resume", "1"]) == 2
    assert capsys.readouterr().err == f"raidtui: {READONLY}\n"


def test_one_reason_for_every_plan() -> None:
    root = Kernel(raid1())
    root.readonly = True
    host = Sampler(root).sample()
    refusal = needs_root(host)
    assert refusal is not None
    assert (refusal.sentence, host.host.is_root) == (READONLY, False)


def test_nothing_is_kept(tmp_path: Path) -> None:
    """Files, folders, databases and the journal: each attempt fails as on a read-only disk."""
    with Ledger(tmp_path / "wear.sqlite"):
        pass
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()}
    tmp_path.chmod(0o777)
    state_files.keep_nothing()
    with pytest.raises(OSError, match=READONLY):
        state_files.write_synced(tmp_path / "new", b"x")
    with pytest.raises(OSError, match=READONLY):
        state_files.own_folder(tmp_path / "folder")
    with pytest.raises(OSError, match=READONLY), state_files.alone(tmp_path):
        pass
    with pytest.raises(Ledger.error, match=READONLY):
        Ledger(tmp_path / "other.sqlite")
    with (
        Ledger(tmp_path / "wear.sqlite") as ledger,
        pytest.raises(Ledger.error, match=READONLY),
        ledger.writing(),
    ):
        pass
    journal = Journal(tmp_path / "journal.jsonl")
    journal.note(event="x")
    assert READONLY in journal.trouble
    state_files.own_folder(tmp_path, 0o755)
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()} == before
    assert tmp_path.stat().st_mode & 0o777 == 0o777
