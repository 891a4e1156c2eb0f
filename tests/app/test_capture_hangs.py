"""A tool that hangs does not keep a capture from ending, and the capture says which one it was."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from raidtui.app.commands import capture
from raidtui.app.commands.capture import CaptureReader
from raidtui.host import tools
from raidtui.host.readers.opening import open_root
from raidtui.model.answer import AnswerKind


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only tool is an mdadm that hangs; return the file with its calls."""
    place, calls = tmp_path / "tools", tmp_path / "calls"
    place.mkdir()
    (place / "mdadm").write_text(f'#!/bin/sh\necho "$*" >>{calls}\nexec sleep 1000\n')
    (place / "mdadm").chmod(0o755)
    monkeypatch.setattr(tools, "_TOOL_FOLDERS", (str(place), "/bin"))
    return calls


def test_many_devices_do_not_add_up(calls: Path) -> None:
    root = CaptureReader(each_s=0.3)
    apart = root.thread_safe_copy()
    kinds = {
        reader.ask("mdadm", "--detail", f"/dev/md{n}").kind for n in range(9) for reader in (root, apart)
    }
    assert kinds == {AnswerKind.TIMED_OUT}
    assert len(calls.read_text().splitlines()) == 2
    assert list(root.missing()) == [
        "mdadm did not answer: --detail /dev/md0, --detail /dev/md0; 16 calls of mdadm left out"
    ]
    assert root.ask("lsblk", "--version").kind is AnswerKind.ANSWER


def test_after_its_time_nothing_is_asked(calls: Path) -> None:
    root = CaptureReader(total_s=0.0)
    output = root.ask("mdadm", "--version")
    assert output.why == "mdadm was not asked: the capture has taken 0 s"
    assert not calls.exists()
    assert list(root.missing()) == ["1 call of mdadm left out"]


def test_the_capture_ends_and_says_what_is_missing(
    calls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "capture.tar.gz"
    asked = argparse.Namespace(file=file, with_serials=False)
    assert capture.run(CaptureReader(total_s=20.0, each_s=0.3), asked) == 0
    assert "--version" in calls.read_text()
    assert "\nnot in it: mdadm did not answer: " in capsys.readouterr().out
    said = open_root(str(file)).ask("mdadm", "--version")
    assert (said.kind, said.why) == (AnswerKind.TIMED_OUT, "mdadm did not answer within 0 s")
