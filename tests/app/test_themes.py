"""Themes can be read: contrasts of the shipped ones, and what becomes of broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from textual.color import Color

from raidtui.first_frame import read_colours
from raidtui.frame.lines import HEAT, role_styles
from raidtui.frame.themes import ThemeError, load_themes, parse_theme, pick, shipped_theme
from raidtui.view.palette import COLOURS, choose_theme
from tests.places import HOUSE

SHIPPED = HOUSE / "themes"
LEAST = {"dark": 4.5, "light": 4.5, "catppuccin": 4.5, "gruvbox-light": 4.5, "high-contrast": 7.0}
TEXT = ("foreground", "dim", "strong", "ok", "warn", "bad", "accent")
GOOD = "[colors]\n" + "".join(f'{name} = "#a0b0c0"\n' for name in COLOURS)


def luminance(colour: str) -> float:
    """WCAG's relative luminance."""
    parts = [part / 255 for part in Color.parse(colour).rgb]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


PAIRS = [(theme, role, ground) for theme in LEAST for role in TEXT for ground in ("background", "selected")]


@pytest.mark.parametrize(("theme", "role", "ground"), PAIRS)
def test_contrast(theme: str, role: str, ground: str) -> None:
    colours = read_colours(theme)
    assert contrast(colours[role], colours[ground]) >= LEAST[theme]


def test_the_ramp_of_a_heat_map() -> None:
    """Each step is lighter than the one before, also with 256 colours; with 16, which vary, all differ."""
    for system in (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT):
        seen = [RichColor.parse(each).downgrade(system).get_truecolor().hex for each in HEAT]
        lights = [contrast(each, "#000000") for each in seen]
        assert lights == sorted(set(lights))
    assert len({RichColor.parse(each).downgrade(ColorSystem.STANDARD).number for each in HEAT}) == len(HEAT)
    styles = role_styles(load_themes()[0]["light"])
    for step in range(len(HEAT)):
        figure = styles[f"figure{step}"]
        assert figure.color is not None
        assert figure.bgcolor is not None
        assert contrast(figure.color.get_truecolor().hex, figure.bgcolor.get_truecolor().hex) >= 4.5
    assert role_styles(load_themes()[0]["ansi"])["figure4"].bgcolor is None


def test_the_ratio_is_wcags() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.toml")), ids=lambda path: path.stem)
def test_the_glance_and_the_parser_agree(path: Path) -> None:
    quick, whole = shipped_theme(path.stem), parse_theme(path)
    assert quick is not None
    assert quick == whole
    assert set(read_colours(path.stem)) == set(COLOURS)


def test_all_shipped_are_tested() -> None:
    assert {path.stem for path in SHIPPED.glob("*.toml")} == {*LEAST, "ansi"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colors = 3", "there is no [colors] table"),
        ("[colors]\n", 'background is missing; write a colour like "#a0b0c0"'),
        (GOOD.replace('dim = "#a0b0c0"', 'dim = "mauvish"'), "dim = 'mauvish' is not a colour"),
        (GOOD.replace('dim = "#a0b0c0"', "dim = 7"), 'dim is missing; write a colour like "#a0b0c0"'),
        ("[colors", "Expected ']'"),
        (GOOD + "#" * 100_001, "too large"),
        ("\udcff", "utf-8"),
    ],
)
def test_broken_themes(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ThemeError, match=f"theme {path}: ") as error:
        parse_theme(path)
    assert said in str(error.value)
    found, troubles = load_themes([str(tmp_path), str(SHIPPED)])
    assert troubles == (str(error.value),)
    assert pick(found, "mine") == (
        "dark",
        (
            "no usable theme 'mine'; using dark"
            " (available: ansi, catppuccin, dark, gruvbox-light, high-contrast, light)"
        ),
    )


def test_an_own_theme_stands_before_the_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "raidtui" / "themes"
    folder.mkdir(parents=True)
    (folder / "dark.toml").write_text(GOOD)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert shipped_theme("dark") is None
    found, troubles = load_themes()
    assert found["dark"].background == "#a0b0c0"
    assert troubles == ()
    assert pick(found, "dark") == ("dark", None)
    assert read_colours("dark")["background"] == "#a0b0c0"


@pytest.mark.parametrize("name", ["../dark", "/etc/passwd", ".hidden", "", "nosuch"])
def test_names_are_no_paths(name: str) -> None:
    assert read_colours(name) == {}
    assert shipped_theme(name) is None


@pytest.mark.parametrize(
    ("surroundings", "theme"),
    [
        ({}, "dark"),
        ({"NO_COLOR": "1"}, "ansi"),
        ({"TERM": "linux"}, "ansi"),
        ({"TERM": "vt100"}, "ansi"),
        ({"COLORFGBG": "0;15"}, "light"),
        ({"COLORFGBG": "15;0"}, "dark"),
    ],
)
def test_the_choice(surroundings: dict[str, str], theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    assert choose_theme(None) == theme
    assert choose_theme("high-contrast") == "high-contrast"
