"""Checks of what stands on a trial's array. None of them writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from raidtui.host.roots.root import Root
from raidtui.rescue.proof import CheckResult, Proof
from raidtui.rescue.trial.parts import Part, lvm_parts, table_parts
from raidtui.rescue.trial.patient_tool import PatientEnd, run_patiently
from raidtui.rescue.trial.trial_record import TrialFinding
from raidtui.rescue.trial.trial_replay import needs_replay, replayed
from raidtui.rescue.trial.trial_request import TrialNames

_EXT = frozenset({"ext2", "ext3", "ext4"})
_TOOLS = {
    **dict.fromkeys(_EXT, ("e2fsck", "-n", "-f")),
    "xfs": ("xfs_repair", "-n"),
    "btrfs": ("btrfs", "check", "--readonly"),
}
_PACKAGES = {"e2fsck": "e2fsprogs", "xfs_repair": "xfsprogs", "btrfs": "btrfs-progs"}
_TABLES = frozenset({"gpt", "dos"})
_DEEPEST = 4
_FLOOD = "more errors than it is worth counting"
_UNCHECKED = {
    "crypto_LUKS": "an encrypted volume with a header that blkid knows; only its passphrase tells more",
    "swap": "swap space, which holds nothing to be checked",
    "linux_raid_member": "a member of an array inside the array",
}


class Checker:
    """Checks what stands on a device and on its parts, one after the other.

    Args:
        root: the host.
        folder: where the output of each check is kept.
        names: the trial's.
        cancelled: whether to end.
    """

    def __init__(self, root: Root, folder: Path, names: TrialNames, cancelled: Callable[[], bool]) -> None:
        self._root = root
        self._folder = folder
        self._names = names
        self._cancelled = cancelled
        self._count = 0
        self.places: dict[str, tuple[str, str]] = {}
        """By place: the path of its device, and its file system."""

    def check(self, target: str, place: str = "", depth: int = 0) -> tuple[TrialFinding, ...]:
        """Return what stands on a device: itself first, then its parts.

        Args:
            target: the device's path.
            place: what it is a part of the array as; "" for the array.
            depth: how many tables and groups it lies in.
        """
        kind, table = self._kind_of(target)
        if kind in _TOOLS:
            path = self._replayed(target) if kind in _EXT and needs_replay(target) else ""
            self.places[place] = (path or target, kind)
            return (TrialFinding(place=place, proof=self._checked(path or target, kind, target)),)
        parts: Sequence[Part] = ()
        if depth < _DEEPEST and kind == "LVM2_member":
            parts = lvm_parts(self._root, target)
        elif depth < _DEEPEST and table in _TABLES:
            parts = table_parts(self._root, target)
        below: list[TrialFinding] = []
        for part in parts:
            if path := self._map(part):
                below += self.check(path, f"{place}/{part.name}".lstrip("/"), depth + 1)
        return (TrialFinding(place=place, proof=_container(kind or table, parts, below)), *below)

    def _kind_of(self, target: str) -> tuple[str, str]:
        """Return the type of what is on a device, and that of its partition table; "" for none."""
        output = self._root.run("blkid", "--probe", "--output", "export", target, timeout_s=60.0)
        rows = dict(line.partition("=")[::2] for line in output.stdout.split("\n") if "=" in line)
        return rows.get("TYPE", ""), rows.get("PTTYPE", "")

    def _checked(self, path: str, kind: str, target: str) -> Proof:
        argv = (*_TOOLS[kind], path)
        self._count += 1
        end = run_patiently(argv, self._folder / f"check-{self._count}.txt", self._cancelled)
        proof = _judged(kind, argv, end)
        if path != target:
            return replace(proof, sure=f"{proof.sure}, its journal replayed on an overlay")
        if kind in _EXT and needs_replay(target):
            return replace(proof, sure=f"{proof.sure}; its journal could not be replayed on an overlay")
        return proof

    def _replayed(self, target: str) -> str:
        """Return an overlay with the journal replayed, where the file system was not unmounted."""
        self._count += 1
        return replayed(self._root, self._names, target, self._count)

    def _map(self, part: Part) -> str:
        """Map a part, read-only; return its path, or "" where that fails."""
        self._count += 1
        name = f"{self._names.own}-on-{self._count}"
        made = self._root.run("dmsetup", "create", name, "--readonly", "--table", part.table)
        return f"/dev/mapper/{name}" if made.status == 0 else ""


def _judged(kind: str, argv: tuple[str, ...], end: PatientEnd) -> Proof:
    tool = " ".join(argv[:-1])
    if end.missing:
        package = _PACKAGES.get(argv[0], argv[0])
        return Proof(
            check=CheckResult.NOT_TRIED,
            contents=kind,
            sure=f"{kind} is there, and was not checked: {argv[0]} is not installed (apt install {package})",
        )
    if end.flooded:
        return Proof(check=CheckResult.ERRORS, contents=kind, sure=f"{tool} finds {_FLOOD}")
    if end.status is None:
        return Proof(check=CheckResult.NOT_TRIED, contents=kind, sure=f"{tool} did not end: {end.why}")
    if end.status == 0:
        return Proof(
            check=CheckResult.CLEAN,
            contents=kind,
            sure=f"{tool} finds nothing wrong in the {kind} file system",
        )
    return Proof(
        check=CheckResult.ERRORS,
        contents=kind,
        sure=f"{tool} finds errors in the {kind} file system (exit status {end.status})",
    )


def _container(kind: str, parts: Sequence[Part], below: Sequence[TrialFinding]) -> Proof:
    """Judge a table or a volume group by what is in it."""
    if not kind:
        return Proof(check=CheckResult.NO_FILE_SYSTEM, sure="blkid knows nothing of what is there")
    if words := _UNCHECKED.get(kind):
        return Proof(check=CheckResult.NO_FILE_SYSTEM, contents=kind, sure=words)
    checked = [each for each in below if each.proof.check in {CheckResult.CLEAN, CheckResult.ERRORS}]
    if not checked:
        what = f"{kind} with {len(parts)} parts, on none of which there is a file system that can be checked"
        return Proof(check=CheckResult.NO_FILE_SYSTEM, contents=kind, sure=what)
    worst = CheckResult.ERRORS if any_errors(checked) else CheckResult.CLEAN
    words = "; ".join(f"{each.place}: {each.proof.sure}" for each in checked)
    return Proof(check=worst, contents=kind, sure=words)


def any_errors(findings: Sequence[TrialFinding]) -> bool:
    """Whether a check has found errors."""
    return any(each.proof.check is CheckResult.ERRORS for each in findings)


def read_store_use(root: Root, overlays: Mapping[str, str]) -> dict[str, int] | str:
    """Return how many sectors of its store each overlay has used, by member; or why they are void.

    ``dmsetup status``: "0 262144 snapshot 24/131072 16", or "Invalid", or "Overflow".
    """
    found = {}
    for member, name in overlays.items():
        words = root.run("dmsetup", "status", name).stdout.split()
        used, _, of = (words[3] if len(words) > 3 else "").partition("/")
        if not (used.isdigit() and of.isdigit()):
            return f"the store of {member} is full, and its overlay is void"
        found[member] = int(used)
    return found
