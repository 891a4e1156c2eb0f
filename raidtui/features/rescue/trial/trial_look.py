"""What a trial has made is mounted read-only in a private place, listed, compared, and copied out."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.patient_tool import run_patiently
from raidtui.jobs.state_files import private_file
from raidtui.jobs.trial_writer import TrialWriter
from raidtui.view.units import counted

_SAFE = "ro,nodev,nosuid,noexec"
_OPTIONS = {
    "ext3": f"{_SAFE},noload",
    "ext4": f"{_SAFE},noload",
    "xfs": f"{_SAFE},norecovery,nouuid",
    "btrfs": f"{_SAFE},rescue=nologreplay",
}
_BLOCK_BYTES, _TAIL_BYTES = 1 << 20, 512
_PERCENT = re.compile(rb"\b([0-9]{1,3})%")
_FAILED = re.compile(r"""(?:rsync|cp): .*(?:failed|error).* ["'](.+)["']""")


class FilesFound(Struct, frozen=True, kw_only=True):
    """What was found in a file system.

    Args:
        files: how many regular files there are.
        same: how many have the sum that the list says.
        other: paths whose sum differs, relative.
        absent: paths of the list that are not there.
        unread: paths that gave read errors.
        copied: whether all files were copied out; None where that was not asked.
        copy_words: what is said of that, a clause.
        why: why nothing was found: it cannot be mounted.
    """

    files: int = 0
    same: int = 0
    other: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    copied: bool | None = None
    copy_words: str = ""
    why: str = ""

    @property
    def words(self) -> str:
        """What is said of it, a clause."""
        if self.why:
            return f"it cannot be mounted read-only: {self.why}"
        parts = [f"mounted read-only, {self.files} files"]
        if self.same or self.other or self.absent:
            parts.append(f"{self.same} have the sums of the list")
        parts += [f"{len(self.other)} differ from it"] if self.other else []
        parts += (
            [f"{len(self.absent)} {'is' if len(self.absent) == 1 else 'are'} missing"] if self.absent else []
        )
        parts += [f"{len(self.unread)} cannot be read"] if self.unread else []
        if self.copied is not None:
            parts.append(self.copy_words)
        return ", ".join(parts)


def files_damaged(found: Sequence[FilesFound]) -> bool:
    """Whether files differ from the list, cannot be read, or are in none of the file systems.

    Args:
        found: in each of them. A file that is absent may be in one that cannot be mounted.
    """
    if any(each.other or each.unread for each in found):
        return True
    absent = [set(each.absent) for each in found]
    return bool(absent) and not any(each.why for each in found) and bool(set.intersection(*absent))


def mount_read_only(reader: HostReader, target: str, kind: str, place: str) -> str:
    """Mount a file system so that nothing is written, not even its journal; return why not, or ""."""
    options = _OPTIONS.get(kind, _SAFE)
    TrialWriter(reader).run("mkdir", "-m", "700", place)
    output = TrialWriter(reader).run("mount", "-t", kind, "-o", options, target, place, timeout_s=300.0)
    if output.status == 0:
        return ""
    return output.why_not or output.stderr.strip().split("\n")[-1] or f"mount failed ({output.status})"


def look_around(
    place: str, listing: Path, sums: Mapping[str, str], cancelled: Callable[[], bool]
) -> FilesFound:
    """List all files with their sizes, and compare those of a list.

    Args:
        place: where it is mounted.
        listing: the file that gets a line for each: size, tab, path.
        sums: SHA-256 by relative path.
        cancelled: whether to end.

    Raises:
        OSError: the listing cannot be written.
    """
    files, unread = 0, list[str]()
    with private_file(listing) as out:
        for path in _files(place):
            if cancelled():
                break
            try:
                size = os.lstat(path).st_size
            except OSError:
                unread.append(os.path.relpath(path, place))
                continue
            files += 1
            out.write(b"%d\t%s\n" % (size, os.fsencode(os.path.relpath(path, place))))
    same, other, absent = 0, list[str](), list[str]()
    for name, wanted in sums.items():
        if cancelled():
            break
        found = _sum_of(Path(place), name)
        if found is None:
            absent += [] if (Path(place) / name).is_symlink() else [name]  # a link is not followed
        elif found == "":
            unread.append(name)
        elif found == wanted:
            same += 1
        else:
            other.append(name)
    return FilesFound(
        files=files, same=same, other=tuple(other), absent=tuple(absent), unread=tuple(dict.fromkeys(unread))
    )


def refuse_target(to: str, own: str) -> str:
    """Return why files cannot be copied to a folder, or "".

    Args:
        to: the folder, which need not be there; the one that it lies in has to.
        own: the beginning of the places that trials mount to.
    """
    real = os.path.realpath(to)
    if f"{real}/".startswith(own):
        return f"{to} belongs to a trial"
    if not Path(real).parent.is_dir():
        return f"there is no folder {Path(real).parent}"
    if Path(real).exists() and not Path(real).is_dir():
        return f"{to} is not a folder"
    return ""


def copy_out(
    place: str, to: str, output: Path, cancelled: Callable[[], bool], report: Callable[[str], None]
) -> tuple[bool, str]:
    """Copy all files to a folder, with rsync, or cp where that is not installed.

    A file that cannot be read is passed over, and listed in the output. What is there already in the folder
    stays, unless it has the name of a file that is copied.

    Args:
        place: where they are.
        to: the folder.
        output: the file that gets what the tool prints.
        cancelled: whether to end.
        report: receives how far it is, a clause.

    Returns:
        whether all came, and what is said of it, a clause.

    Raises:
        OSError: the output cannot be written.
    """
    reported = ""

    def asked() -> bool:
        nonlocal reported
        if (found := _percent(output)) and found != reported:
            reported = found
            report(f"{found} copied to {to}")
        return cancelled()

    options = ("--archive", "--hard-links", "--info=progress2", "--no-inc-recursive")
    end = run_patiently(("rsync", *options, f"{place}/", f"{to}/"), output, asked, gently=True)
    tool = "rsync"
    if end.missing:
        tool = "cp, since rsync is not installed"
        argv = ("cp", "--archive", "--no-target-directory", place, to)
        end = run_patiently(argv, output, cancelled, gently=True)
    if end.status == 0:
        return True, f"all copied to {to} by {tool}"
    said = output.read_text(encoding="utf-8", errors="replace")
    if end.status is None:
        return False, f"the copy to {to} was ended ({end.why}), and is incomplete"
    if "No space left on device" in said or "Disk quota exceeded" in said:
        return False, f"the copy is incomplete: no space is left in {to}"
    failed = {match[1] for line in said.split("\n") if (match := _FAILED.match(line)) is not None}
    files = f"{counted(len(failed), 'file')} could not be read" if failed else f"{tool} failed ({end.status})"
    return False, f"copied to {to} by {tool}, but {files}: {output}"


def _percent(output: Path) -> str:
    """Return the last percentage that rsync has printed; "" where it has printed none."""
    try:
        with output.open("rb") as file:
            file.seek(max(0, output.stat().st_size - _TAIL_BYTES))
            found = _PERCENT.findall(file.read())
    except OSError:
        return ""
    return f"{found[-1].decode()} %" if found else ""


def read_sums(text: str) -> dict[str, str]:
    """Return SHA-256 by relative path, of a list as sha256sum(1) writes it."""
    found = {}
    for line in text.split("\n"):
        digest, _, name = line.partition(" ")
        if len(digest) == 64 and name[:1] in {" ", "*"}:
            found[name[1:].removeprefix("./").lstrip("/")] = digest.lower()
    return found


def _files(place: str) -> Iterator[str]:
    for folder, _, names in os.walk(place, followlinks=False):
        for name in names:
            yield f"{folder}/{name}"


def _sum_of(place: Path, name: str) -> str | None:
    """Return a file's SHA-256; "" where it cannot be read, None where it is not there or leads elsewhere."""
    path = place / name
    try:
        if not path.is_file() or place.resolve() not in path.resolve().parents:
            return None
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()
