"""Output that fails, streams that are closed, terminals that have ASCII alone: for every command."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import raidtui
from raidtui.app.cli import run
from raidtui.view.glyphs import CELLS, LINES, TWINS, register
from raidtui.view.text import cell_width
from tests.hosts.trees import host_tree, raid1, raid10

COMMANDS = (
    "status", "status --json", "status --prometheus", "wear", "wear --json", "tune show", "tune show --json",
    "jobs", "jobs --json", "bench presets", "bench presets --json", "plan check root --demo",
    "plan check root --demo --json", "plan check root --demo --sh", "--help",
    "--version",
    "tune profile", "wear --history",
)  # fmt: skip
CLOSED = 'exec "$@" <&- >&- 2>&-'
ASCII = ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"LC_ALL": "", "LANG": "C", "LC_CTYPE": ""})
REPORTED = ("status", "tune show", "wear", "--help", "plan check root --demo", "bench presets")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a host's files."""
    folder = tmp_path_factory.mktemp("host")
    host_tree(raid10(), raid1()).write_to(folder)
    return str(folder)


def done(
    host: str,
    command: str,
    *,
    stdout: int,
    closed: bool = False,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a command upon a host, or the demo."""
    where = () if "--demo" in command else ("--root", host)
    words = (sys.executable, "-m", "raidtui", *command.split(), *where)
    return subprocess.run(
        ("/bin/sh", "-c", CLOSED, "sh", *words) if closed else words,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": host, **(env or {})},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_fails_is_no_verdict(host: str, command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        result = done(host, command, stdout=full.fileno())
    assert result.returncode == 74
    assert result.stderr.decode().endswith("raidtui: standard output: No space left on device\n")
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_streams(host: str, command: str) -> None:
    result = done(host, command, stdout=subprocess.PIPE, closed=True)
    assert (result.returncode, result.stdout, result.stderr) == (74, b"", b"")


@pytest.mark.parametrize("closing", ["<&-", "<&- 2>&-"])
def test_a_plan_from_an_input_that_is_closed(host: str, closing: str) -> None:
    words = (sys.executable, "-m", "raidtui", "apply", "-")
    result = subprocess.run(
        ("/bin/sh", "-c", f'exec "$@" {closing}', "sh", *words), capture_output=True, check=False
    )
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr == (b"" if "2>" in closing else b"raidtui: not a plan: Input data was truncated\n")


@pytest.mark.parametrize("command", ["status", "jobs", "tune show"])
def test_the_reader_has_gone(host: str, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = done(host, command, stdout=writing)
    finally:
        os.close(writing)
    assert (result.returncode, result.stderr) == (74, b"")


@pytest.mark.parametrize("env", ASCII)
@pytest.mark.parametrize("command", REPORTED)
def test_ascii_alone(host: str, command: str, env: dict[str, str]) -> None:
    result = done(host, command, stdout=subprocess.PIPE, env=env)
    assert b"Traceback" not in result.stderr
    assert result.stdout
    assert result.stdout.isascii()
    assert b"\\u" not in result.stdout, "a sign of ours has no twin"


def test_json_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    host_tree(raid1(label="größe")).write_to(tmp_path)
    result = done(str(tmp_path), "status --json", stdout=subprocess.PIPE, env={"PYTHONIOENCODING": "ascii"})
    assert json.loads(result.stdout)["arrays"][0]["label"] == "größe"


def test_foreign_signs_are_written_out(tmp_path: Path) -> None:
    host_tree(raid1(label="größe→")).write_to(tmp_path)
    result = done(str(tmp_path), "status", stdout=subprocess.PIPE, env={"PYTHONIOENCODING": "ascii"})
    assert b"gr\\xf6\\xdfe>" in result.stdout


def test_without_a_locale_it_is_utf8(host: str) -> None:
    result = done(host, "tune show", stdout=subprocess.PIPE, env={"LC_ALL": "", "LANG": "", "LC_CTYPE": ""})
    assert "–" in result.stdout.decode()


@pytest.mark.parametrize("env", ASCII)
def test_the_first_frame_has_twins_too(host: str, env: dict[str, str]) -> None:
    program = (
        "import os; from raidtui.view.glyphs import to_cells; from raidtui.first_frame import frame, paint;"
    )
    program += f"os.write(1, to_cells(paint(frame({host!r}, 80, 24), {{}}, 80, 24)))"
    words = (sys.executable, "-c", program)
    result = subprocess.run(words, capture_output=True, env={**os.environ, **env}, check=True)
    assert result.stdout.isascii()
    assert b" raidtui  nas | Linux" in result.stdout


def literals() -> dict[str, str]:
    """Return the signs beyond ASCII in the program's texts, docstrings aside, and where each is."""
    found: dict[str, str] = {}
    for path in sorted(Path(raidtui.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        result = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in result:
                found |= {char: f"{path.name}:{node.lineno}" for char in node.value if not char.isascii()}
    return found


def test_every_sign_has_a_twin() -> None:
    missing = {char: where for char, where in literals().items() if char not in TWINS}
    assert not missing


def test_twins_take_as_many_cells() -> None:
    for sign, twin in TWINS.items():
        assert twin.isascii(), sign
        assert (cell_width(sign), len(twin)) == (1, 1), sign


def test_the_two_methods() -> None:
    register()
    text = "● gr\u00f6\u00df 漢 \u28ff"
    assert text.encode("ascii", LINES) == b"* gr\\xf6\\xdf \\u6f22 :"
    assert text.encode("ascii", CELLS) == b"* gr?? ?? :"
    assert text.encode("latin-1", LINES) == b"* gr\xf6\xdf \\u6f22 :"


@pytest.mark.parametrize("command", [(), ("status",), ("jobs",), ("capture", "x.tar.gz")])
def test_a_root_is_named_without_its_control_characters(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "\x1b[2Jf").write_text("garbage")
    for name in ("\x1b[2Jf", "\x1b]0;x\x07"):
        with contextlib.suppress(SystemExit):
            run(["--root", f"{tmp_path}/{name}", *command])
        said = "".join(capsys.readouterr())
        assert "\x1b" not in said
        assert not command or "\\x1b" in said
