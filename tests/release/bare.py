"""A bare root of a distribution, and what must work in it: the one file, and the package to its purge."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import raidtui
from release.roots import CLEAN, words_in_root
from tests.hosts.trees import host_tree, raid1, raid10
from tests.lab.guests.terminal import host_terminal

PATIENCE_S = 180.0
DEGRADED = "/captured"
CREATE = ("--demo", "plan", "create", "--name=120", "--level=raid1", "sdf", "missing", "--json")


class BareRoot:
    """A copy of a root, in which programs run as its root.

    Args:
        root: it is copied, and stays as it is.
        folder: where to.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        subprocess.run(("/bin/cp", "--archive", "--reflink=auto", str(root), str(folder)), check=True)
        self.folder = folder
        host_tree(raid10(failed=("sdb",)), raid1()).write_to(folder / DEGRADED.lstrip("/"))

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        return subprocess.run(
            words_in_root(self.folder, *argv),
            env=CLEAN,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            timeout=PATIENCE_S,
        )

    def bring(self, file: Path, place: str) -> None:
        """Copy a file into it, as from elsewhere."""
        shutil.copy2(file, self.folder / place.lstrip("/"))

    def has_python(self) -> bool:
        """Whether it has a Python of its own."""
        return self.run("sh", "-c", "command -v python3 || command -v python").returncode == 0

    def own_files(self) -> list[str]:
        """Return the files and folders whose names are raidtui's, kernel's file systems left out."""
        found = self.run("find", "/", "-xdev", "-name", "*raidtui*", "-prune").stdout.split()
        return sorted(path for path in found if not path.startswith(("/proc", "/sys", "/dev")))


def check_program(root: BareRoot, program: str, kind: str) -> None:
    """Check that raidtui works in a root: version, status, a plan, and the console.

    Args:
        root: it has no Python.
        program: how raidtui is called there.
        kind: what ``--version`` says about how it was built.
    """
    assert not root.has_python()
    version = root.run(program, "--version")
    assert re.fullmatch(rf"raidtui {raidtui.__version__} \({kind}, Python 3\.\d+\.\d+\)\n", version.stdout), (
        version
    )
    degraded = root.run(program, "--root", DEGRADED, "status")
    assert (degraded.returncode, degraded.stderr) == (1, "")
    assert "is degraded" in degraded.stdout
    here = root.run(program, "status", "--json")
    assert here.returncode in {0, 1, 2, 3}, here
    assert json.loads(here.stdout)["raidtui_version"] == raidtui.__version__
    created = root.run(program, *CREATE)
    assert (created.returncode, created.stderr) == (0, "")
    (step,) = json.loads(created.stdout)["plan"]["steps"][:1]
    assert step["argv"][:2] == ["mdadm", "--create"]
    assert root.run(program, "wear", "--history").returncode != 70  # SQLite is there
    check_console(root, program)


def check_console(root: BareRoot, program: str) -> None:
    """Check that the demo opens under a terminal, answers a key, and leaves."""
    with host_terminal(words_in_root(root.folder, program, "--demo"), env=CLEAN) as terminal:
        terminal.wait_for(re.compile(r"data(?s:.*)\^p More"))
        terminal.press("7")
        terminal.wait_for("i Ignore")
        terminal.press("q")
        assert terminal.wait_exit() == 0


def check_one_file(root: BareRoot, file: Path) -> None:
    """Check the one file: it runs, unpacks to the cache of root, and nothing else of it is left."""
    root.bring(file, "/root/raidtui.run")
    check_program(root, "/root/raidtui.run", "one file")
    assert root.own_files() == ["/root/raidtui.run", "/var/cache/raidtui"]
    (root.folder / "root/raidtui.run").unlink()
    shutil.rmtree(root.folder / "var/cache/raidtui")


def check_package(root: BareRoot, file: Path) -> None:
    """Check the package: it is installed, runs, is installed over itself, and is purged."""
    before = root.own_files()
    root.bring(file, "/root/package.deb")
    installed = root.run("dpkg", "--install", "/root/package.deb")
    assert installed.returncode == 0, installed
    check_program(root, "raidtui", "Debian package")
    places = (
        "/usr/share/man/man1/raidtui-plan.1.gz",
        "/usr/share/bash-completion/completions/raidtui",
        "/usr/share/zsh/vendor-completions/_raidtui",
        "/usr/share/fish/vendor_completions.d/raidtui.fish",
        "/usr/lib/systemd/system/raidtui-wear.timer",
        "/usr/lib/systemd/system/raidtui-pace@.service",
    )
    listed = root.run("dpkg", "--listfiles", "raidtui").stdout.split("\n")
    assert set(places) <= set(listed)
    unit = (root.folder / "usr/lib/systemd/system/raidtui-wear.service").read_text()
    assert "\nExecStart=/usr/bin/raidtui wear --record\n" in unit
    assert root.run("dpkg", "--verify", "raidtui").stdout == ""
    again = root.run("dpkg", "--install", "/root/package.deb")
    assert again.returncode == 0, again
    (root.folder / "var/lib/raidtui").mkdir(exist_ok=True)
    purged = root.run("dpkg", "--purge", "raidtui")
    assert purged.returncode == 0, purged
    assert "raidtui: kept /var/lib/raidtui; remove it by hand where it is not wanted" in purged.stderr
    assert [path for path in root.own_files() if path not in before] == ["/var/lib/raidtui"]
