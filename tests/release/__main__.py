"""``make dist-test``: what ``make dist`` has built, in bare roots of distributions, and built again."""

from __future__ import annotations

import argparse
import filecmp
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from release.__main__ import DEB, ONE_FILE, RPM, build_packages
from release.places import ReleaseError
from release.roots import make_root
from tests.release import bare
from tests.release.bare import BareRoot, check_one_file, check_package

SUITES = ("bullseye", "bookworm", "trixie")
"""Debian 11, 12 and 13. Ubuntu: make dist-test ARGS="jammy noble", where its mirror can be reached."""
LINT_SUITE = "trixie"
RPM_SUITE = "bookworm"
"""A later rpm runs scripts with mounts of their own, which a root that is no mount point has not."""
SHELLS = ("zsh", "fish", "man-db", "mandoc")
MOST_MIB = 30.0


def main() -> int:
    """Try all; return 0, or 1 where something does not work."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"default: {' '.join(SUITES)}, and all else"
    )
    chosen = parser.parse_args().suites
    trials: list[tuple[str, Callable[[], None]]] = [
        (f"runs in a bare {suite}", partial(in_suite, suite)) for suite in chosen or SUITES
    ]
    if not chosen:
        trials += [
            ("is an RPM, too", as_rpm),
            ("is as small as it should be", small_enough),
            ("lintian", lint),
            ("zsh, fish, man and mandoc", other_shells),
            ("built again, the same bytes", built_again),
        ]
    failed = 0
    for name, trial in trials:
        try:
            trial()
        except (AssertionError, ReleaseError, OSError):
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        else:
            print(f"ok     {name}", flush=True)
    print(f"{len(trials) - failed} passed, {failed} failed")
    return 1 if failed else 0


def in_suite(suite: str) -> None:
    """The one file and the package run in a bare root of a release."""
    with tempfile.TemporaryDirectory(prefix="raidtui-bare-") as name:
        root = BareRoot(make_root(suite), Path(name) / "root")
        check_one_file(root, ONE_FILE)
        check_package(root, DEB)


def as_rpm() -> None:
    """Rpm takes the package, in a root of Debian's: there is no other."""
    with tempfile.TemporaryDirectory(prefix="raidtui-bare-") as name:
        root = BareRoot(make_root(RPM_SUITE, include=("rpm",)), Path(name) / "root")
        check_package(root, RPM, bare.RPM)


def small_enough() -> None:
    """The one file is no larger than what is promised."""
    size_mib = ONE_FILE.stat().st_size / 2**20
    assert size_mib <= MOST_MIB, size_mib


def lint() -> None:
    """Lintian finds no error in the package; what it warns of is printed."""
    with tempfile.TemporaryDirectory(prefix="raidtui-bare-") as name:
        root = BareRoot(make_root(LINT_SUITE, include=("lintian",)), Path(name) / "root")
        root.bring(DEB, "/root/package.deb")
        done = root.run("lintian", "--allow-root", "--fail-on", "error", "/root/package.deb")
        print(done.stdout, end="")
        assert done.returncode == 0, done.stderr


def other_shells() -> None:
    """The other shells take their completions, and both readers of man pages have nothing to say."""
    with tempfile.TemporaryDirectory(prefix="raidtui-bare-") as name:
        root = BareRoot(make_root(LINT_SUITE, include=SHELLS), Path(name) / "root")
        root.bring(DEB, "/root/package.deb")
        installed = root.run("dpkg", "--install", "--force-confold", "/root/package.deb")
        assert installed.returncode == 0, installed
        offered = root.run("fish", "-c", "complete -C 'raidtui plan re'").stdout
        assert sorted(line.split("\t")[0] for line in offered.splitlines()) == sorted(
            ("read-only", "read-write", "repair", "remove", "re-add", "replace", "rename")
        ), offered
        loaded = root.run(
            "zsh", "-c", "autoload -U compinit; compinit -D; whence -w _raidtui; print $_comps[raidtui]"
        )
        assert loaded.stdout == "_raidtui: function\n_raidtui\n", loaded
        parsed = root.run("zsh", "-n", "/usr/share/zsh/vendor-completions/_raidtui")
        assert (parsed.returncode, parsed.stderr) == (0, "")
        page = root.run("man", "--warnings", "raidtui-plan")
        assert "plan create" in page.stdout
        assert page.stderr == ""
        each = 'for page in "$0"/raidtui*.1.gz; do zcat "$page" | mandoc -T lint -W warning || exit 1; done'
        pages = root.run("sh", "-c", each, "/usr/share/man/man1")
        assert (pages.returncode, pages.stdout) == (0, "")
        found = root.run("whatis", "raidtui-status")
        assert re.match(r"raidtui-status \(1\) +- print the state of the arrays", found.stdout), found


def built_again() -> None:
    """From the same interpreter, the same bytes."""
    with tempfile.TemporaryDirectory(prefix="raidtui-again-") as name:
        for path in build_packages(Path(name)):
            assert filecmp.cmp(path, ONE_FILE.parent / path.name, shallow=False), path.name


if __name__ == "__main__":
    sys.exit(main())
