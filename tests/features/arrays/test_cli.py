"""The command line as scripts meet it: exit statuses, both outputs, wrong usage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import raidtui
from raidtui.app.cli import run
from raidtui.features.arrays.cli import watch_status
from tests.hosts.trees import ArraySpec, Stage, host_tree, raid1, raid5, raid10

ARRAYS = {
    0: (raid10(), raid1()),
    1: (raid10(failed=("sdb",)), raid1()),
    2: (raid10(failed=("sdb",)), raid1(failed=("sde", "sdf"))),
}
USAGE = "usage: raidtui "
ODD_MDSTAT = "Personalities : [raid1]\nmd0 : active raid1 sda\n      nonsense\n\nunused devices: <none>\n"


class Moving(Stage):
    """A host that loses a member when it is looked at for the second time."""

    looks = 0

    def read(self, path: str, *, keep: bool = False) -> bytes:
        if path == "/proc/mdstat":
            self.looks += 1
            if self.looks == 2:
                self.show(host_tree(raid1(failed=("sdf",))))
        return super().read(path, keep=keep)

    def next_event_s(self) -> float | None:
        return 0.0


def folder_of(tmp_path: Path, *arrays: ArraySpec) -> str:
    """Return a folder with a host's files."""
    host_tree(*arrays).write_to(tmp_path)
    return str(tmp_path)


def status_of_usage_error(*argv: str) -> int | str | None:
    """Return the exit status of a call that argparse ends."""
    with pytest.raises(SystemExit) as ended:
        run(list(argv))
    return ended.value.code


@pytest.mark.parametrize("status", ARRAYS)
@pytest.mark.parametrize("form", [[], ["--json"], ["--prometheus"]])
def test_the_exit_status_says_how_the_arrays_are(tmp_path: Path, status: int, form: list[str]) -> None:
    assert run(["--root", folder_of(tmp_path, *ARRAYS[status]), "status", *form]) == status


def test_no_array_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = folder_of(tmp_path)
    assert run(["--root", root, "status"]) == 0
    assert capsys.readouterr().out.startswith(f"nas ({root}): no md array.\n")
    assert run(["--root", root, "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["arrays"] == []


def test_what_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "mdstat"
    text.write_text(ODD_MDSTAT)
    assert run(["--root", str(text), "status"]) == 3
    assert "please report it: raidtui capture FILE" in capsys.readouterr().out


def test_json_and_metrics_are_all_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = folder_of(tmp_path, raid1(failed=("sde",)))
    run(["--root", root, "status", "--json"])
    out, err = capsys.readouterr()
    assert json.loads(out)["exit_status"] == 1
    assert err == ""
    run(["--root", root, "status", "--prometheus"])
    out, err = capsys.readouterr()
    assert out.startswith("# HELP raidtui_md_info Name, UUID and level of the array.\n")
    assert err == ""


def test_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo", "status"]) == 0
    assert capsys.readouterr().out.startswith("demo (demo): 4 arrays.\n")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["bogus"], "raidtui: argument COMMAND: invalid choice: 'bogus'"),
        (["--bogus"], "raidtui: unrecognized arguments: --bogus"),
        (["--root"], "raidtui: argument --root: expected one argument"),
        (["--root", "/", "--demo"], "raidtui: argument --demo: not allowed with argument --root"),
        (["capture"], "raidtui capture: the following arguments are required: FILE"),
        (
            ["status", "--json", "--prometheus"],
            "raidtui status: argument --prometheus: not allowed with argument --json",
        ),
        (
            ["--demo", "status", "--watch", "--prometheus"],
            "raidtui: --watch prints events, which --prometheus cannot express: use one of the two",
        ),
    ],
)
def test_wrong_usage(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of_usage_error(*argv) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(USAGE)
    assert message in err


def test_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo"]) == 64
    assert capsys.readouterr() == (
        "",
        "raidtui: the console needs a terminal; for scripts there is: raidtui status\n",
    )


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of_usage_error("--version") == 0
    python = ".".join(map(str, sys.version_info[:3]))
    assert capsys.readouterr() == (f"raidtui {raidtui.__version__} (source, Python {python})\n", "")


def test_wrong_roots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader,\n")
    for place, why in (
        (tmp_path / "nowhere", "no such file or folder"),
        (tmp_path, "not the root of a host: it has no proc/mdstat"),
        (letter, "neither a capture nor a /proc/mdstat text (no line starts with 'Personalities :')"),
    ):
        assert run(["--root", str(place), "status"]) == 3
        assert capsys.readouterr() == ("", f"raidtui: {place}: {why}\n")


def test_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, target = folder_of(tmp_path / "host", raid5(failed=("sdg",))), tmp_path / "bug.tar.gz"
    assert run(["--root", root, "capture", str(target)]) == 0
    with tarfile.open(target) as archive:
        number = sum(entry.isfile() for entry in archive)
    assert capsys.readouterr().out == (
        f"{target}: {number} files, serial numbers hashed. To open it: raidtui --root {target}\n"
        "In it are 0 lines of its logs, those that raidtui history uses.\n"
        "not in it: journalctl was not run for this capture\n"
        "not in it: dmesg was not run for this capture\n"
    )
    assert run(["--root", str(target), "status"]) == 1
    capsys.readouterr()
    assert run(["--root", root, "capture", "--with-serials", str(target)]) == 73
    assert capsys.readouterr() == ("", f"raidtui: {target} exists already; choose another name\n")
    assert run(["--root", root, "capture", "--with-serials", str(tmp_path / "all.tar.gz")]) == 0
    assert "with serial numbers" in capsys.readouterr().out
    beyond = tmp_path / "no" / "such" / "folder.tar.gz"
    assert run(["--root", root, "capture", str(beyond)]) == 73
    assert capsys.readouterr() == ("", f"raidtui: {beyond}: No such file or directory\n")


@pytest.mark.parametrize("form", ["sentences", "json"])
def test_watching(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert watch_status(Moving(host_tree(raid1())), form, rounds=1) == 1
    lines = capsys.readouterr().out.splitlines()
    if form == "json":
        events = [json.loads(line) for line in lines]
        assert all(list(event) == ["at_s", "kind", "subject", "text", "tone"] for event in events)
        reported = [f"{event['subject']}: {event['text']}" for event in events]
    else:
        reported = [line.split(" ", 2)[2] for line in lines]
    assert reported == [
        "root: optimal",
        "root: member sdf failed",
        "root: is degraded: 1 of 2 members missing (slot 1), sdf failed; no redundancy is left",
    ]


def test_the_reader_has_gone(tmp_path: Path) -> None:
    root = folder_of(tmp_path, raid10())
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            (sys.executable, "-m", "raidtui", "--root", root, "status"),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 74
