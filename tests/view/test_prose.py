"""Packaged texts: sections, paragraphs, kept lines; every text file of the package is shown whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import raidtui
from raidtui.view.prose import FOLDER, paragraphs, read_prose

_FILES = sorted(Path(raidtui.__file__).parent.rglob(f"{FOLDER}/*.txt"))


def _written(folder: Path, text: str) -> str:
    (folder / FOLDER).mkdir()
    (folder / FOLDER / "steps.txt").write_text(text)
    return str(folder / "module.py")


def test_sections_have_paragraphs_in_one_line_each(tmp_path: Path) -> None:
    module = _written(tmp_path, "# one\nA line\ngoes on.\n\nSecond.\n\n# two words\nThird.\n")
    assert read_prose(module, "steps") == {
        "one": ("A line goes on.", "", "Second."),
        "two words": ("Third.",),
    }


def test_lines_that_begin_with_a_blank_stay_as_they_are() -> None:
    text = "Run:\n  mdadm --stop\n  mdadm --assemble\nThen look.\n\n  a table\n    row\n"
    assert paragraphs(text) == (
        *("Run:", "  mdadm --stop", "  mdadm --assemble", "Then look."),
        *("", "  a table", "    row"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Lost.\n# one\nA.\n", "text before the first section"),
        ("# one\nA.\n# one\nB.\n", "'one' is there twice"),
    ],
)
def test_text_that_would_not_be_shown_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_prose(_written(tmp_path, text), "steps")


def test_packaged_texts_are_found() -> None:
    assert "raidtui/plans/wizard/texts/steps.txt" in {"/".join(path.parts[-5:]) for path in _FILES}


@pytest.mark.parametrize("path", _FILES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_every_packaged_text_is_shown_whole(path: Path) -> None:
    sections = read_prose(str(path.parent.parent / "module.py"), path.stem)
    assert all(lines and lines[0] for lines in sections.values())
    shown = " ".join(" ".join(lines) for lines in sections.values()).split()
    written = [line for line in path.read_text(encoding="utf-8").split("\n") if not line.startswith("# ")]
    assert shown == " ".join(written).split()
