"""How a bare root is made: nothing of it stays mounted, however that ends."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from release import roots


def test_what_is_mounted_in_it_ends_with_debootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is cut short leaves a folder, which the next one removes: with no /proc in it."""
    ran: list[str] = []

    def mounted(*argv: object) -> None:
        words = [str(each) for each in argv]
        ran.extend(words)
        Path(words[words.index("bookworm") + 1]).mkdir()

    monkeypatch.setattr(roots, "run", mounted)
    monkeypatch.setattr(roots, "cache", lambda: tmp_path)
    monkeypatch.setattr(roots, "mirror", lambda: "http://mirror")
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/sbin/debootstrap")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert roots.make_root("bookworm") == tmp_path / "roots" / "bookworm-bare"
    assert ran[: ran.index("debootstrap")] == ["unshare", "--mount", "--propagation=private"]
