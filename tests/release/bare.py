"""A bare root of a distribution, and what must work in it: the one file, and the package to its purge."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from msgspec import Struct

import raidtui
from release.roots import CLEAN, words_in_root
from tests.features.alerts.servers import TLS, web_server
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

    def run(self, *argv: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program to its end, with a text on its standard input."""
        return subprocess.run(
            words_in_root(self.folder, *argv),
            env=CLEAN,
            input=given,
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
    check_alert(root, program)


def check_alert(root: BareRoot, program: str) -> None:
    """Check that an alert goes out over TLS, and nowhere else; what that leaves behind is removed."""
    left = [root.folder / name for name in ("etc/raidtui", "var/lib/raidtui")]
    left = [path for path in left if not path.exists()]
    root.bring(TLS / "ca.pem", "/root/ca.pem")
    with web_server(certificate="server") as web:
        address = f"ntfys://127.0.0.1:{web.port}/disks\n"
        bare = root.run(program, "alert", "--add", "phone", given=address)
        assert "this host has no CA certificates" in bare.stderr, bare
        added = root.run(program, "alert", "--add", "phone", "--ca", "/root/ca.pem", given=address)
        assert added.returncode == 0, added
        tried = root.run(program, "alert", "--test")
        assert tried.returncode == 0, tried
        ((_, body),) = web.got
    assert json.loads(body)["topic"] == "disks"
    (root.folder / "root/ca.pem").unlink()
    for path in left:
        shutil.rmtree(path, ignore_errors=True)


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


class PackageTool(Struct, frozen=True, kw_only=True):
    """How a package manager is called, and where its distributions have completions for zsh."""

    kind: str
    install: tuple[str, ...]
    upgrade: tuple[str, ...]
    files: tuple[str, ...]
    verify: tuple[str, ...]
    remove: tuple[str, ...]
    zsh: str


DPKG = PackageTool(
    kind="Debian package",
    install=("dpkg", "--install"),
    upgrade=("dpkg", "--install"),
    files=("dpkg", "--listfiles", "raidtui"),
    verify=("dpkg", "--verify", "raidtui"),
    remove=("dpkg", "--purge", "raidtui"),
    zsh="vendor-completions",
)
RPM = PackageTool(
    kind="RPM",
    install=("rpm", "--install", "--nodeps"),  # Debian's glibc is not in rpm's database
    upgrade=("rpm", "--upgrade", "--nodeps", "--replacepkgs"),
    files=("rpm", "--query", "--list", "raidtui"),
    verify=("rpm", "--verify", "--nodeps", "raidtui"),
    remove=("rpm", "--erase", "raidtui"),
    zsh="site-functions",
)


def check_package(root: BareRoot, file: Path, tool: PackageTool = DPKG) -> None:
    """Check a package: it is installed, runs, is installed over itself, and is removed, but not under a job.

    Args:
        root: it has no Python, and may have files of raidtui's in its home, which stay.
        file: the package.
        tool: what installs it.
    """
    before = root.own_files()
    package = f"/root/package{file.suffix}"
    root.bring(file, package)
    installed = root.run(*tool.install, package)
    assert installed.returncode == 0, installed
    check_program(root, "raidtui", tool.kind)
    places = (
        "/usr/share/man/man1/raidtui-plan.1.gz",
        "/usr/share/bash-completion/completions/raidtui",
        f"/usr/share/zsh/{tool.zsh}/_raidtui",
        "/usr/share/fish/vendor_completions.d/raidtui.fish",
        "/usr/lib/systemd/system/raidtui-wear.timer",
        "/usr/lib/systemd/system/raidtui-pace@.service",
    )
    listed = root.run(*tool.files).stdout.split("\n")
    assert set(places) <= set(listed)
    unit = (root.folder / "usr/lib/systemd/system/raidtui-wear.service").read_text()
    assert "\nExecStart=/usr/bin/raidtui wear --record\n" in unit
    assert root.run(*tool.verify).stdout == ""
    again = root.run(*tool.upgrade, package)
    assert again.returncode == 0, again
    check_busy(root, tool, package)
    removed = root.run(*tool.remove)
    assert removed.returncode == 0, removed
    assert "raidtui: kept /var/lib/raidtui; remove it by hand where it is not wanted" in removed.stderr
    assert [path for path in root.own_files() if path not in before] == ["/var/lib/raidtui"]


def check_busy(root: BareRoot, tool: PackageTool, package: str) -> None:
    """Check that a job that runs is not left without its files, neither by an upgrade nor by a removal."""
    (root.folder / "var/lib/raidtui/jobs").mkdir(parents=True)
    program = root.folder / "usr/bin/raidtui"
    text = program.read_text()
    program.write_text('#!/bin/sh\necho \'[{"id": "1", "state": "running"}]\'\n')
    for words in ((*tool.upgrade, package), tool.remove):
        refused = root.run(*words)
        assert refused.returncode != 0, refused
        assert "raidtui: a job is running; wait for its end, or cancel it" in refused.stderr
        assert program.exists()
    program.write_text(text)
