"""The settings: what is taken, what is ignored and reported."""

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
        (
            '[keys]\n"arrays.check" = 5',
            '\'arrays.check\' = 5 is ignored; [keys] must hold lines like "arrays.check" = "f5"',
        ),
        ("bell = 1", "bell must be true or false"),
        ("colour = 3", "unknown setting 'colour'"),
    ],
)
def test_a_wrong_entry_is_left_out(tmp_path: Path, text: str, said: str) -> None:
    assert read(tmp_path, text) == Config(troubles=(f"{tmp_path}/config.toml: {said}",))


def test_one_wrong_key_does_not_drop_the_others(tmp_path: Path) -> None:
    config = read(tmp_path, '[keys]\n"arrays.check" = 5\n"arrays.add" = "f7"\n')
    assert config.keys == {"arrays.add": "f7"}
    assert len(config.troubles) == 1


FORM = '[wear.rated_tbw] must hold lines like "Samsung SSD 850 EVO 500GB" = 150'


def test_ratings(tmp_path: Path) -> None:
    """Of many SSDs the maker says how much may be written to them, in TB."""
    text = '[wear.rated_tbw]\n"Samsung SSD 850" = 150\n"Micron_7400" = 1.7e3\n"SATA SSD" = 17.5\n'
    assert read(tmp_path, text) == Config(
        rated_bytes={
            "Samsung SSD 850": 150 * 10**12,
            "Micron_7400": 1700 * 10**12,
            "SATA SSD": 17_500_000_000_000,
        }
    )


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ('"A" = "150 TB"', "'A' = '150 TB'"),
        ('"A" = 0', "'A' = 0"),
        ('"A" = -3', "'A' = -3"),
        ('"A" = true', "'A' = True"),
        ('"A" = nan', "'A' = nan"),
        ('"A" = inf', "'A' = inf"),
        ('"A" = 1000001', "'A' = 1000001"),
        ('" " = 5', "' ' = 5"),
        ("Samsung.850 = 150", "'Samsung' = {'850': 150}"),
    ],
)
def test_a_wrong_rating_is_left_out_and_the_others_are_used(tmp_path: Path, entry: str, shown: str) -> None:
    text = f'theme = "light"\n[wear.rated_tbw]\n{entry}\n"B" = 5\n'
    assert read(tmp_path, text) == Config(
        theme="light",
        rated_bytes={"B": 5 * 10**12},
        troubles=(f"{tmp_path}/config.toml: {shown} is ignored; {FORM}",),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wear = 3", "wear must be a table: [wear.rated_tbw]"),
        ("[wear]\nrated_tbw = 150", FORM),
        ("[wear]\ntbw = 150", "unknown setting 'wear.tbw'"),
    ],
)
def test_a_wrong_table_of_ratings(tmp_path: Path, text: str, said: str) -> None:
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


def test_a_line_that_is_no_toml_does_not_drop_the_others(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        'theme = light\nmouse = false\n[keys]\n"arrays.check" = "f5"\narrays.add = f6\n'
        '"arrays.check" = "f7"\n"arrays.fail" = "f8"\n"arrays.pause" = ',
    )
    assert (config.theme, config.mouse) == (None, False)
    assert config.keys == {"arrays.check": "f5", "arrays.fail": "f8"}
    assert [each.partition(": ")[2] for each in config.troubles] == [
        "Invalid value (at line 1, column 9); that line is ignored",
        "Invalid value (at line 5, column 14); that line is ignored",
        "Cannot overwrite a value (at line 6, column 22); that line is ignored",
        "Invalid value (at end of document); that line is ignored",
    ]


def test_what_stands_below_a_wrong_head_is_not_taken_for_something_else(tmp_path: Path) -> None:
    config = read(tmp_path, 'mouse = false\n[keys\ntheme = "f5"\n\n[wear.rated_tbw]\n"Model" = 1\n')
    assert (config.theme, config.mouse, config.rated_bytes) == (None, False, {"Model": 10**12})
    (said,) = config.troubles
    assert said.endswith("; that table is ignored")


def test_a_wrong_line_that_was_to_make_it_read_only_does(tmp_path: Path) -> None:
    assert read(tmp_path, "readonly = yes\nmouse = false\n").readonly
    assert not read(tmp_path, "mouse = no\n").readonly


def test_no_toml(tmp_path: Path) -> None:
    config = read(tmp_path, "not TOML\n" * 9)
    assert config.troubles[0].startswith(f"{tmp_path}/config.toml: Expected '='")
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
