"""What raidtui says it was built as, and the command that hooks and units are given."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import raidtui
from raidtui.built import MARK, ONE_FILE_VARIABLE, Built, how_built, lasting_command, version_line
from raidtui.features.alerts.alert_plan import hook_text, owner
from raidtui.host.own_units import with_own_command
from raidtui.jobs.alert_channel import _why_no_service

FROM_HERE = (sys.executable, "-P", "-m", "raidtui")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that raidtui takes for its own."""
    folder = tmp_path / "site-packages" / "raidtui"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    monkeypatch.setattr(raidtui, "__file__", str(folder / "__init__.py"))
    return folder


def test_the_checkout() -> None:
    assert how_built() is Built.SOURCE
    assert lasting_command() == FROM_HERE


def test_an_installed_wheel(package: Path) -> None:
    assert package.is_dir()
    assert how_built() is Built.WHEEL


def test_the_package(package: Path) -> None:
    (package / MARK).write_text("Debian package\n")
    assert f"({Built.DEB}, Python 3." in version_line()
    assert lasting_command() == FROM_HERE


@pytest.mark.parametrize(
    ("built", "said"),
    [
        (Built.DEB, "or install raidtui by pipx"),
        (Built.RPM, "or install raidtui by pipx"),
        (Built.WHEEL, "pip install 'raidtui[alerts]'"),
    ],
)
def test_what_to_do_without_apprise(
    package: Path, monkeypatch: pytest.MonkeyPatch, built: Built, said: str
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    (package / MARK).write_text(f"{built}\n")
    assert said in _why_no_service("ntfys://ntfy.sh/topic")


def test_the_one_file_is_called_by_its_own_path(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by that of the cache, which may be removed."""
    file = tmp_path / "raid tui.run"
    file.touch()
    monkeypatch.setenv(ONE_FILE_VARIABLE, str(file))
    assert lasting_command() == FROM_HERE  # set by somebody else: this is a wheel
    (package / MARK).write_text("one file\n")
    assert lasting_command() == (str(file),)
    assert f"\n'{file}' alert \"$@\"" in hook_text()
    assert str(tmp_path / "site-packages") not in hook_text()
    assert with_own_command("ExecStart=raidtui alert --send\n") == (
        f"Environment=\"LC_ALL=C.UTF-8\"\nExecStart='{file}' alert --send\n"
    )
    assert owner() == file.stat().st_uid
