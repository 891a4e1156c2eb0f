"""Textual's command palette is loaded when it is opened, and then everything has its real names."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import textual

from raidtui.app.palette_later import PALETTE_NAMES

TEXTUAL = Path(textual.__file__).parent


def printed_by(code: str) -> str:
    """What a Python of its own prints."""
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("module", ["app", "theme"])
def test_the_names_are_those_that_textual_imports(module: str) -> None:
    """Each name of the palette that these two import at their top level has a placeholder."""
    body = ast.parse((TEXTUAL / f"{module}.py").read_text(encoding="utf-8")).body
    found = {
        each.name
        for node in body
        if isinstance(node, ast.ImportFrom) and node.module == "textual.command"
        for each in node.names
    }
    assert found
    assert found <= PALETTE_NAMES


def test_the_start_loads_neither_the_palette_nor_its_widgets() -> None:
    printed = printed_by(
        "import sys\nfrom raidtui.app.palette_later import import_app\nimport_app()\n"
        "import raidtui.app.launch\n"
        "print(sorted(each for each in sys.modules if each.startswith('textual.')))"
    )
    assert "textual.command" not in printed
    assert "_input" not in printed
    assert "_option_list" not in printed
    assert "_static" in printed  # what Textual's screen itself needs


def test_loading_it_gives_the_real_names() -> None:
    printed = printed_by(
        "from raidtui.app.palette_later import import_app, load_palette\nimport_app()\n"
        "import textual.app, textual.theme\nbefore = textual.app.CommandPalette\nload_palette()\n"
        "import textual.command\n"
        "print(before is textual.command.CommandPalette, "
        "textual.app.CommandPalette is textual.command.CommandPalette, "
        "issubclass(textual.theme.ThemeProvider, textual.command.Provider), "
        "textual.theme.Hit is textual.command.Hit)"
    )
    assert printed == "False True True True\n"


def test_where_textual_is_there_already_nothing_is_changed() -> None:
    printed = printed_by(
        "import textual.app\nfrom raidtui.app.palette_later import import_app, load_palette\n"
        "before = textual.app.CommandPalette\nimport_app()\nload_palette()\n"
        "print(textual.app.CommandPalette is before)"
    )
    assert printed == "True\n"
