"""The settings: what is taken, what is left out and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidtui.config import Config, config_folder, read_config


def read(folder: Path, text: str) -> Config:
    """Read a file with this text."""
    (folder / "config.toml").write_text(text)
    return read_config(folder)


def test_nothing_there(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    assert read_config() == Config()


def test_all_settings(tmp_path: Path) -> None:
    text = 'theme = "light"\nmouse = false\n[keys]\n"arrays.check" = "f5"\n'
    assert read(tmp_path, text) == Config(theme="light", mouse=False, keys={"arrays.check": "f5"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theme = 3", "theme must be a name in quotes"),
        ('mouse = "no"', "mouse must be true or false"),
        ('keys = "f5"', '[keys] must hold lines like "arrays.check" = "f5"'),
        ('[keys]\n"arrays.check" = 5', '[keys] must hold lines like "arrays.check" = "f5"'),
        ("colour = 3", "unknown setting 'colour'"),
    ],
)
def test_a_wrong_entry_is_left_out(tmp_path: Path, text: str, said: str) -> None:
    assert read(tmp_path, text) == Config(troubles=(f"{tmp_path}/config.toml: {said}",))


def test_all_that_is_wrong_is_said_and_the_rest_is_used(tmp_path: Path) -> None:
    config = read(tmp_path, 'theme = "light"\nmouse = 1\nb = 1\na = 1\n')
    assert config.theme == "light"
    assert config.mouse is True
    assert [trouble.partition(": ")[2] for trouble in config.troubles] == [
        "mouse must be true or false",
        "unknown setting 'a'",
        "unknown setting 'b'",
    ]


def test_no_toml(tmp_path: Path) -> None:
    config = read(tmp_path, "theme = ")
    assert config.troubles[0].startswith(f"{tmp_path}/config.toml: Invalid value")
    assert config.troubles[0].endswith("; the defaults are used")
    (tmp_path / "config.toml").write_bytes(b'theme = "\xff"')
    assert "the defaults are used" in read_config(tmp_path).troubles[0]


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    assert "Is a directory" in read_config(tmp_path).troubles[0]


def test_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_folder() == tmp_path / "raidtui"
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_folder() == tmp_path / ".config" / "raidtui"
