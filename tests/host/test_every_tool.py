"""Every tool that raidtui runs, when it hangs, prints nonsense, fails, may not be run, or has no file.

No reader concludes anything from that: not "not installed", where the file is there; not "empty"; not "none".
"""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import raidtui
from raidtui.features.bench.run.fio_process import read_fio_version, refuse_fio
from raidtui.features.rescue.mismatch.block_owners import unreadable
from raidtui.host import openers, tools
from raidtui.host.examine import read_mdadm_version
from raidtui.host.logs.ring import read_ring
from raidtui.host.md.mdadm import MdadmError
from raidtui.host.md.superblock import read_examined
from raidtui.host.on_top import read_groups
from raidtui.host.probe import probe_signatures
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.smart.smart_reader import read_smart
from raidtui.host.tools import ToolOutput, run_tool
from raidtui.model.answer import Answer, AnswerKind
from raidtui.model.plan import RefusalCode
from raidtui.model.refuse_silence import refuse_silence
from raidtui.model.smart import NoReading, Unread

_HANGS, _NONSENSE = "exec sleep 600", "echo nonsense"
SCRIPTS = {
    "hangs": (_HANGS, AnswerKind.TIMED_OUT),
    "nonsense": (_NONSENSE, AnswerKind.ANSWER),
    "exit 1": ("echo trouble >&2; exit 1", AnswerKind.FAILED),
    "exit 2": ("echo trouble >&2; exit 2", AnswerKind.FAILED),
    "killed": ("kill -9 $$", AnswerKind.FAILED),
}
READ = (
    *(
        "blkid",
        "blockdev",
        "debugfs",
        "dmesg",
        "dmsetup",
        "dumpe2fs",
        "fio",
        "journalctl",
        "ledctl",
        "losetup",
    ),
    *("lsblk", "lvmconfig", "lvs", "mdadm", "pvs", "sfdisk", "smartctl", "systemctl", "tune2fs", "udevadm"),
    *("vgs", "wipefs", "xfs_db", "xfs_info", "xfs_io"),
)
"""Tools that are asked."""
OPEN_NO_DISK = {
    "dmesg", "dmsetup", "fio", "journalctl", "ledctl", "losetup", "lvmconfig", "systemctl", "udevadm",
    "xfs_info",
}  # fmt: skip
"""Of those, the ones that open none of the devices that plans are made for; xfs_info runs xfs_db."""
CHANGE = ("e2fsck", "mkdir", "modprobe", "mount", "rm", "rmdir", "truncate", "umount")
"""Tools by which trials and jobs change the host; a step that fails says why."""


def test_the_table_is_complete() -> None:
    """The first word of each tuple or call that is run, as far as it stands in the source."""
    found = set[str]()
    for path in Path(raidtui.__file__).parent.rglob("*.py"):
        if path.parts[-2] == "demo":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr not in {"run", "pieces"}:
                continue
            words: list[ast.expr] = list(node.args)
            while words and isinstance(words[0], ast.Starred):
                inner = words[0].value
                words = list(inner.elts) if isinstance(inner, ast.Tuple) else []
            if words and isinstance(words[0], ast.Constant) and isinstance(words[0].value, str):
                found.add(words[0].value)
    assert found - {*READ, *CHANGE} == set()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tools, "_TOOL_FOLDERS", (str(tmp_path), "/usr/bin", "/bin"))
    return tmp_path


@pytest.mark.parametrize("kind", SCRIPTS)
@pytest.mark.parametrize("tool", READ)
def test_what_kind_of_answer(tool: str, kind: str, folder: Path) -> None:
    script, expected = SCRIPTS[kind]
    path = folder / tool
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    output = run_tool((tool,), 0.2 if kind == "hangs" else 60.0)
    assert output.kind is expected
    assert "not installed" not in output.why


@pytest.mark.parametrize("tool", READ)
def test_one_without_a_file_alone_is_not_installed(tool: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tools, "_TOOL_FOLDERS", (str(tmp_path),))
    output = run_tool((tool,), 60.0)
    assert (output.kind, output.why) == (AnswerKind.NO_TOOL, f"{tool} is not installed")
    (tmp_path / tool).write_text("#!/nowhere/sh\n")
    (tmp_path / tool).chmod(0o755)
    output = run_tool((tool,), 60.0)
    assert (output.kind, "not installed" in output.why) == (AnswerKind.FAILED, False)


def test_one_that_may_not_be_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, os.strerror(13))

    (folder / "mdadm").write_text("#!/bin/sh\n")
    monkeypatch.setattr(subprocess, "Popen", denied)
    output = run_tool(("mdadm",), 60.0)
    assert (output.kind, output.why) == (AnswerKind.REFUSED, f"{folder}/mdadm: Permission denied")


class Silent(MemoryReader):
    """A live host on which every tool answers in one way, which is no answer."""

    live = True
    writable = True

    def __init__(self, output: Callable[[tuple[str, ...]], ToolOutput]) -> None:
        super().__init__({})
        self._output = output

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        del timeout_s, stdin
        return self._output(argv)


def _silence(kind: AnswerKind, why: str) -> Callable[[tuple[str, ...]], ToolOutput]:
    return lambda argv: ToolOutput(
        argv=argv, status=None, stdout="", stderr="", why_not=f"{argv[0]} {why}", silence=kind
    )


def _status(status: int, stdout: str = "") -> Callable[[tuple[str, ...]], ToolOutput]:
    return lambda argv: ToolOutput(argv=argv, status=status, stdout=stdout, stderr="trouble\n")


SILENCES = {
    "hangs": _silence(AnswerKind.TIMED_OUT, "did not answer within 20 s"),
    "refused": _silence(AnswerKind.REFUSED, "may not be run"),
    "nonsense": _status(0, "nonsense\n"),
    "exit 4": _status(4),
    "killed": _status(-9),
}


@pytest.mark.parametrize("silence", SILENCES)
def test_readers_conclude_nothing(silence: str) -> None:
    host = Silent(SILENCES[silence])
    answers: list[Answer[Any]] = [
        read_mdadm_version(host),
        read_fio_version(host),
        read_groups(host),
        probe_signatures(host, "sda"),
    ]
    for answer in answers:
        assert (answer.is_known, answer.value) == (False, None)
        assert answer.source
        assert "not installed" not in answer.why
        refusal = refuse_silence(answer)
        assert refusal is not None
        assert (refusal.code, bool(refusal.remedy)) == (RefusalCode.NO_ANSWER, True)
    assert refuse_fio(read_fio_version(host)) is not None
    with pytest.raises(MdadmError):
        read_examined(host, "sda")
    reading = read_smart(host, "sda")
    assert isinstance(reading, NoReading)
    assert reading.why is not Unread.NO_TOOL
    if silence != "nonsense":
        assert unreadable("debugfs", host.ask("debugfs")) != "debugfs does not read the file system: "
        lines, trouble = read_ring(host)
        assert (lines, trouble is not None) == ([], True)
        assert trouble is not None
        assert "may not read" not in trouble.sentence


def test_a_tool_that_is_slow_once_is_asked_again() -> None:
    asked: list[tuple[str, ...]] = []

    def output(argv: tuple[str, ...]) -> ToolOutput:
        asked.append(argv)
        if len(asked) == 1:
            return SILENCES["hangs"](argv)
        return ToolOutput(argv=argv, status=0, stdout="", stderr="mdadm - v4.2 - 2021-12-30\n")

    assert read_mdadm_version(Silent(output)).value == (4, 2)
    assert len(asked) == 2


def test_a_tool_that_raidtui_asks_is_not_in_the_way_of_its_own_plans() -> None:
    assert set(READ) - OPEN_NO_DISK - openers._READERS == set()
