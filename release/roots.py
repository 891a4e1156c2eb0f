"""Bare roots of distributions, made once by debootstrap, and programs run in them."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from release.places import ReleaseError, cache, run

_MOUNTS = ("/proc", "/sys", "/dev", "/dev/pts")
_DEBIAN = ("bullseye", "bookworm", "trixie", "forky", "sid")
"""Releases for which the mirror of this host serves; debootstrap knows that of others."""
_SCRIPTS, _NEWEST = Path("/usr/share/debootstrap/scripts"), "sid"
"""What debootstrap knows of releases: one that is newer than it is made as sid is."""
CLEAN = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-256color",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""The environment of a program in a root."""


def mirror() -> str:
    """Return the mirror of Debian that apt uses on this host, or the one that MIRROR names.

    Raises:
        ReleaseError: there is none.
    """
    if named := os.environ.get("MIRROR"):
        return named
    known = run(
        "apt-get", "indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(SITE)", "Created-By: Packages"
    )
    for line in known.splitlines():
        origin, component, site = line.split(" ", 2)
        if origin == "Debian" and component == "main" and "security" not in site:
            return site
    raise ReleaseError("apt uses no mirror of Debian here; name one: make dist MIRROR=http://...")


def make_root(suite: str, *, include: tuple[str, ...] = ()) -> Path:
    """Return a minimal root of a release of Debian or Ubuntu; it is made where it is not in the cache.

    Raises:
        ReleaseError: not root, debootstrap is not installed, or it has failed.
    """
    more = hashlib.sha256(" ".join(include).encode()).hexdigest()[:8] if include else "bare"
    root = cache() / "roots" / f"{suite}-{more}"
    if root.exists():
        return root
    if os.geteuid() != 0:
        raise ReleaseError(
            f"a root of {suite} is made by debootstrap, as root; nothing outside the cache is changed"
        )
    if shutil.which("debootstrap") is None:
        raise ReleaseError("debootstrap is not installed (Debian: apt install debootstrap)")
    part = root.with_name(f"{root.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    script = () if (_SCRIPTS / suite).exists() else (_NEWEST,)
    # What debootstrap mounts in it ends with it, however it ends: the next one removes this folder.
    apart = ("unshare", "--mount", "--propagation=private")
    more_words = (mirror(), *script) if suite in _DEBIAN else ()
    run(*apart, "debootstrap", "--variant=minbase", suite, part, *more_words)
    if include:
        _install(part, include)
    for lists in ("var/cache/apt", "var/lib/apt/lists"):
        shutil.rmtree(part / lists, ignore_errors=True)
    part.rename(root)
    return root


def _install(root: Path, packages: tuple[str, ...]) -> None:
    """Install packages in a root, over the network as this host reaches it."""
    for name in ("etc/resolv.conf", "etc/apt/apt.conf"):
        if Path("/", name).exists():
            shutil.copy(Path("/", name), root / name)
    for path in Path("/etc/apt/apt.conf.d").glob("*"):
        if "Proxy" in path.read_text(encoding="utf-8"):
            shutil.copy(path, root / "etc/apt/apt.conf.d")
    # A mirror may be a snapshot, of which the time is over; what is installed is signed all the same.
    in_root(root, "apt-get", "-qq", "--option", "Acquire::Check-Valid-Until=no", "update")
    in_root(root, "apt-get", "-qq", "install", "--yes", "--no-install-recommends", *packages)


def words_in_root(root: Path, *argv: str, shown: Mapping[Path, str] | None = None) -> tuple[str, ...]:
    """Return what runs a program in a root, with /proc, /sys and /dev in a mount namespace of its own.

    Args:
        root: the root.
        argv: the program.
        shown: further folders of this host that it sees, and where; the places are made.
    """
    pairs = [(each, each) for each in _MOUNTS] + [(str(here), there) for here, there in (shown or {}).items()]
    for _, there in pairs[len(_MOUNTS) :]:
        (root / there.lstrip("/")).mkdir(parents=True, exist_ok=True)
    mounts = " && ".join(
        f'mount --bind {shlex.quote(here)} "$0"{shlex.quote(there)}' for here, there in pairs
    )
    return ("unshare", "--mount", "sh", "-c", f'{mounts} && exec chroot "$0" "$@"', str(root), *argv)


def in_root(root: Path, *argv: str) -> str:
    """Run a program in a root; return its output.

    Raises:
        ReleaseError: it has failed.
    """
    return run(*words_in_root(root, *argv), env=CLEAN)
