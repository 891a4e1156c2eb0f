"""Man pages and completions, written to a folder, and where each is installed below a prefix."""

from __future__ import annotations

import os
from pathlib import Path

from release.commands import read_commands
from release.completion import completions
from release.manual import pages
from release.places import VERSION, source_epoch

_COMPLETIONS = {
    "bash": ("raidtui.bash", "share/bash-completion/completions/raidtui"),
    "zsh": ("_raidtui", "share/zsh/site-functions/_raidtui"),
    "fish": ("raidtui.fish", "share/fish/vendor_completions.d/raidtui.fish"),
}


def write_generated(folder: Path) -> dict[str, str]:
    """Write all of them; return file name in the folder -> its place below a prefix such as /usr.

    Args:
        folder: it is made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    top = read_commands()
    epoch = source_epoch()
    texts = pages(top, version=VERSION, epoch=epoch)
    places = {name: f"share/man/man1/{name}" for name in texts}
    for shell, text in completions(top).items():
        name, place = _COMPLETIONS[shell]
        places[name], texts[name] = place, text
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        os.utime(path, (epoch, epoch))
    return places
