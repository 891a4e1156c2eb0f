"""``raidtui wear --type`` and ``--scan``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidtui.app.cli import run
from raidtui.host.smart.device_types import PATH
from raidtui.host.tools import ToolOutput
from tests.hosts.specs import raid1
from tests.monitor.wear.hosts import WearHost

DATA = raid1("md127", "data", members=("sda1", "sdb1"))
Prints = pytest.CaptureFixture[str]


SCAN = "/dev/sda -d sat # x\n/dev/bus/0 -d megaraid,8 # y\n"


class TypesHost(WearHost):
    """A live host whose file of types is where the test writes it."""

    def __init__(self, place: Path, scan: str | None = SCAN) -> None:
        self.place, self.scan = place, scan
        super().__init__(DATA)
        self.live = True

    def text(self, path: str, *, keep: bool = False) -> str | None:
        """See ``HostReader.text``."""
        if path == PATH:
            return self.place.read_text() if self.place.exists() else None
        return super().text(path, keep=keep)

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        """See ``HostReader.run``."""
        if argv[-1] == "--scan-open" and self.scan is not None:
            return ToolOutput(argv=argv, status=0, stdout=self.scan, stderr="")
        if argv[-1] == "--scan-open":
            return ToolOutput(
                argv=argv, status=None, stdout="", stderr="", why_not="smartctl is not installed"
            )
        return super()._asked(*argv, timeout_s=timeout_s, stdin=stdin)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "state" / "device-types.json"
    monkeypatch.setattr("raidtui.features.wear.cli_types.types_path", lambda: path)
    monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: TypesHost(path))
    return path


def test_given_kept_replaced_and_forgotten(place: Path, capsys: Prints) -> None:
    assert (
        run(["wear", "--type", "sdb=megaraid,0", "--type", "/dev/sdb=megaraid,1", "--type", "sda=sat"]) == 0
    )
    out = capsys.readouterr().out
    assert "smartctl -d megaraid,0, -d megaraid,1\n" in out
    (first, second) = (line.partition(" (")[2].partition(")")[0] for line in out.splitlines())
    assert json.loads(place.read_text()) == {first: ["megaraid,0", "megaraid,1"], second: ["sat"]}
    assert run(["wear", "--type", "sdb=megaraid,4"]) == 0
    assert json.loads(place.read_text())[first] == ["megaraid,4"]
    assert run(["wear", "--type", "sdb=auto"]) == 0
    assert json.loads(place.read_text()) == {second: ["sat"]}
    assert "smartctl chooses its type" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("sdz=sat", "there is no such disk"),
        ("sda", "there is no such disk"),
        ("sda=-x", "'-x' is not a device type"),
        ("sda=jmb39x,0", "smartctl writes to the disk"),
    ],
)
def test_what_is_refused(place: Path, capsys: Prints, word: str, why: str) -> None:
    assert run(["wear", "--type", "sdb=sat", "--type", word]) == 2
    assert why in capsys.readouterr().err
    assert not place.exists()


def test_a_file_that_is_not_understood_is_not_overwritten(place: Path, capsys: Prints) -> None:
    place.parent.mkdir()
    place.write_text("mine")
    assert run(["wear", "--type", "sda=sat"]) == 2
    assert place.read_text() == "mine"
    assert "types are not used" in capsys.readouterr().err


def test_what_smartctl_finds(place: Path, capsys: Prints) -> None:
    run(["wear", "--type", "sda=sat"])
    capsys.readouterr()
    assert run(["wear", "--scan"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["/dev/sda -d sat", "/dev/bus/0 -d megaraid,8"]
    assert lines[2].endswith(": sat")
    assert run(["wear", "--scan", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["devices"][1] == {"path": "/dev/bus/0", "type": "megaraid,8"}
    assert list(found["kept"].values()) == [["sat"]]
    assert place.exists()


def test_a_scan_that_fails_is_no_empty_list(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: Prints
) -> None:
    monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: TypesHost(place, scan=None))
    assert run(["wear", "--scan"]) == 3
    assert capsys.readouterr() == ("", "raidtui: smartctl is not installed\n")
    monkeypatch.setattr("raidtui.app.cli.open_root", lambda _: TypesHost(place, scan=""))
    assert run(["wear", "--scan"]) == 0
    assert capsys.readouterr().out == "smartctl --scan-open finds no device.\n"
