"""Checks of what stands on a trial's array. None of them writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from raidtui.features.rescue.search.results import CheckResult, Proof
from raidtui.features.rescue.trial.container_parts import (
    HeaderCheck,
    Part,
    check_headers,
    find_partitions,
    find_volumes,
)
from raidtui.features.rescue.trial.trial_opening import (
    Replay,
    TrialKey,
    log_is_dirty,
    needs_replay,
    open_volume,
    replay_journal,
)
from raidtui.features.rescue.trial.trial_record import TrialFinding, TrialNames
from raidtui.host.block import BLOCK
from raidtui.host.maps import read_maps
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.patient_tool import PatientEnd, run_patiently
from raidtui.jobs.sandbox import Sandbox, free_uid
from raidtui.jobs.trial_writer import TrialWriter
from raidtui.view.units import counted

_EXT = frozenset({"ext2", "ext3", "ext4"})
_TOOLS = {
    **dict.fromkeys(_EXT, ("e2fsck", "-n", "-f")),
    "xfs": ("xfs_repair", "-n"),
    "btrfs": ("btrfs", "check", "--readonly"),
}
_PACKAGES = {"e2fsck": "e2fsprogs", "xfs_repair": "xfsprogs", "btrfs": "btrfs-progs"}
_LUKS = "crypto_LUKS"
_TABLES = frozenset({"gpt", "dos"})
_FOUND_NONE = (2, 8)  # blkid: nothing, or several kinds of which none is clear
_DEEPEST = 4
_FLOOD = "more errors than it is worth counting"
_UNCHECKED = {
    _LUKS: "that proves only the first chunks of the array: encrypted data cannot be"
    " proven without the key (--key-file)",
    "swap": "swap space, which holds nothing to be checked",
    "linux_raid_member": "a member of an array inside the array",
}


class _SilentError(Exception):
    """A tool does not say what is there; the message is a clause."""


class Checker:
    """Checks what stands on a device and on its parts, one after the other.

    Args:
        reader: the host.
        folder: where the output of each check is kept.
        names: the trial's.
        cancelled: whether to end.
        key: the key of what is encrypted; None for none.
        beside: paths of devices that hold the rest of a volume group.
    """

    def __init__(
        self,
        reader: HostReader,
        folder: Path,
        names: TrialNames,
        cancelled: Callable[[], bool],
        key: TrialKey | None = None,
        *,
        beside: Sequence[str] = (),
    ) -> None:
        self._reader = reader
        self._folder = folder
        self._names = names
        self._cancelled = cancelled
        self._key = key
        self._beside = tuple(beside)
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
        try:
            kind, table = self._kind_of(target)
        except _SilentError as error:
            return (TrialFinding(place=place, proof=Proof(check=CheckResult.NOT_TRIED, sure=str(error))),)
        headers = check_headers(target, kind or table)
        if kind in _TOOLS:
            if kind == "btrfs" and headers is not None and headers.devices > 1:
                words = f"one of {headers.devices} devices of a btrfs: it is checked together with the others"
                sure = f"{words}, and a trial has one array"
                proof = Proof(check=CheckResult.NOT_TRIED, contents=kind, sure=sure)
                return (TrialFinding(place=place, proof=proof),)
            path, proof = self._checked(target, kind)
            self.places[place] = (path, kind)
            return (TrialFinding(place=place, proof=proof),)
        parts, silent = self._parts(target, kind, table) if depth < _DEEPEST else ((), "")
        if silent and (headers is None or headers.right is not False):
            proof = Proof(check=CheckResult.NOT_TRIED, contents=kind or table, sure=silent)
            return (TrialFinding(place=place, proof=proof),)
        below: list[TrialFinding] = []
        said = "" if headers is not None and headers.right is False else _UNCHECKED.get(kind, "")
        if depth < _DEEPEST and kind == _LUKS and self._key is not None:
            said, below = self._opened(target, place, depth, self._key)
        for part in parts:
            inner = f"{place}/{part.name}".lstrip("/")
            path, why = self._map(part)
            if why:
                below.append(TrialFinding(place=inner, proof=Proof(check=CheckResult.NOT_TRIED, sure=why)))
            else:
                below += self.check(path, inner, depth + 1)
        return (
            TrialFinding(place=place, proof=_container(kind or table, parts, below, headers, said)),
            *below,
        )

    def _parts(self, target: str, kind: str, table: str) -> tuple[Sequence[Part], str]:
        """Return the parts of a volume group or a partition table, and why they are not known."""
        if kind == "LVM2_member":
            found = find_volumes(self._reader, target, self._beside)
        elif table in _TABLES:
            found = find_partitions(self._reader, target)
        else:
            return (), ""
        return found.value or (), "" if found.is_known else f"its contents are not known: {found.why}"

    def _opened(self, target: str, place: str, depth: int, key: TrialKey) -> tuple[str, list[TrialFinding]]:
        """Open an encrypted volume; return what that says, and what stands in it."""
        self._count += 1
        name, output = f"{self._names.own}-on-{self._count}", self._folder / f"open-{self._count}.txt"
        opening = open_volume(target, name, key, output, self._cancelled)
        if not opening.path:
            return opening.words, []
        return opening.words, list(self.check(opening.path, f"{place}/luks".lstrip("/"), depth + 1))

    def check_volumes(self, kind: str, volumes: Mapping[str, str]) -> tuple[TrialFinding, ...]:
        """Return what stands on the volumes of a container: the verdict on all of them first.

        Args:
            kind: the metadata of the container.
            volumes: by the name of each volume the kernel's name of its array.
        """
        found: list[TrialFinding] = []
        for name, array in volumes.items():
            state = (self._reader.text(f"{BLOCK}/{array}/md/array_state") or "clear").strip()
            if state in {"clear", "inactive"}:
                proof = Proof(check=CheckResult.NOT_POSSIBLE, sure="mdadm does not start it")
                found.append(TrialFinding(place=name, proof=proof))
            else:
                found += self.check(f"/dev/{array}", name)
        return (TrialFinding(place="", proof=_all_volumes(kind, volumes, found)), *found)

    def _kind_of(self, target: str) -> tuple[str, str]:
        """Return the type of what is on a device, and that of its partition table; "" for none.

        Raises:
            _SilentError: blkid does not say it.
        """
        output = self._reader.ask("blkid", "--probe", "--output", "export", target, timeout_s=60.0)
        if output.status not in {0, *_FOUND_NONE}:
            raise _SilentError(f"its contents are not known: {output.why}")
        rows = dict(line.partition("=")[::2] for line in output.stdout.split("\n") if "=" in line)
        table = rows.get("PTTYPE", "")
        return rows.get("TYPE", ""), "gpt" if table == "PMBR" else table  # a GPT that blkid does not believe

    def _checked(self, target: str, kind: str) -> tuple[str, Proof]:
        """Return the path of what was checked, the device or an overlay of it, and the verdict.

        A file system that was not unmounted is checked with its journal replayed: without that, a check finds
        errors that are none.
        """
        if kind in _EXT:
            dirty, proof = needs_replay(target), None
        else:
            proof, said = self._judged(target, kind)
            dirty = kind == "xfs" and log_is_dirty(said)
        if not dirty:
            return target, proof or self._judged(target, kind)[0]
        self._count += 1
        overlay = f"{self._names.own}-on-{self._count}"
        replay = replay_journal(
            self._reader, self._names, target, kind, number=self._count, replay=self._replay
        )
        found = self._judged(replay.path, kind)[0] if replay.path else None
        stores = {"its replayed journal": overlay} if overlay in read_maps(self._reader) else {}
        full = read_store_use(self._reader, stores)
        if stores and (found is None or isinstance(full, str)):  # else what is below could not be mounted
            TrialWriter(self._reader).run("dmsetup", "remove", "--retry", overlay)
        if isinstance(full, str):
            sure = f"{kind} was found, but not checked: {full}"
            return target, Proof(check=CheckResult.NOT_TRIED, contents=kind, sure=sure)
        if found is not None:
            return replay.path, replace(found, sure=f"{found.sure}, its journal replayed on an overlay")
        return target, _unreplayed(proof or self._judged(target, kind)[0], replay)

    def _judged(self, path: str, kind: str) -> tuple[Proof, str]:
        """Return the verdict of a check, and what it has printed."""
        argv = (*_TOOLS[kind], path)
        self._count += 1
        output = self._folder / f"check-{self._count}.txt"
        end = run_patiently(argv, output, self._cancelled, sandbox=_only(path))
        said = output.read_text(encoding="utf-8", errors="replace") if output.is_file() else ""
        return _verdict(kind, argv, end), said

    def _replay(self, path: str) -> PatientEnd:
        """Replay the journal of ext3 or ext4 on an overlay."""
        output = self._folder / f"replay-{self._count}.txt"
        argv = ("e2fsck", "-y", "-E", "journal_only", path)
        return run_patiently(argv, output, self._cancelled, sandbox=_only(path, writes=True))

    def _map(self, part: Part) -> tuple[str, str]:
        """Map a part, read-only; return its path, and why there is none."""
        self._count += 1
        name = f"{self._names.own}-on-{self._count}"
        made = TrialWriter(self._reader).run("dmsetup", "create", name, "--readonly", "--table", part.table)
        return f"/dev/mapper/{name}", "" if made.status == 0 else f"it could not be mapped: {made.why}"


def _only(path: str, *, writes: bool = False) -> Sandbox:
    """Return what a tool may do that reads a foreign file system: use this one device."""
    return Sandbox(device=path, writes=writes, uid=free_uid(path))


def _unreplayed(proof: Proof, replay: Replay) -> Proof:
    """Judge a file system whose journal is not replayed: errors that a check finds then may be none."""
    said = f"its journal could not be replayed on an overlay ({replay.why})"
    if proof.check is not CheckResult.ERRORS:
        return replace(proof, sure=f"{proof.sure}; {said}")
    if replay.damaged:
        return replace(proof, sure=f"{proof.sure}, and {said}")
    words = f"{proof.sure}, which says nothing: it was not unmounted, and {said}"
    return replace(proof, check=CheckResult.NOT_TRIED, sure=words)


def _verdict(kind: str, argv: tuple[str, ...], end: PatientEnd) -> Proof:
    tool = " ".join(argv[:-1])
    if end.missing:
        package = _PACKAGES.get(argv[0], argv[0])
        return Proof(
            check=CheckResult.NOT_TRIED,
            contents=kind,
            sure=f"{kind} was found, but not checked: {argv[0]} is not installed (apt install {package})",
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


def _container(
    kind: str,
    parts: Sequence[Part],
    below: Sequence[TrialFinding],
    headers: HeaderCheck | None,
    said: str,
) -> Proof:
    """Judge a table, a volume group or an encrypted volume by its headers, and by what is in it."""
    if not kind:
        return Proof(check=CheckResult.NO_FILE_SYSTEM, sure="blkid does not know its contents")
    checked = [each for each in below if each.proof.check in {CheckResult.CLEAN, CheckResult.ERRORS}]
    words = [headers.words] if headers is not None else []
    wrong = headers is not None and headers.right is False
    if checked:
        words += [said] if said else []
        worst = (
            CheckResult.ERRORS
            if any(each.proof.check is CheckResult.ERRORS for each in checked)
            else CheckResult.CLEAN
        )
        words += [f"{each.place}: {each.proof.sure}" for each in checked]
        return Proof(check=worst, contents=kind, sure="; ".join(words))
    if headers is not None and headers.devices > 1:
        words.append(
            f"its volume group has {headers.devices} physical volumes, and this is one of them; the arrays"
            " with the others can be given: --beside"
        )
    if kind in _UNCHECKED:
        words += [said] if said else []
        words += [f"{each.place}: {each.proof.sure}" for each in below[:1]]
    else:
        words.append(f"{kind} with {counted(len(parts), 'part')}, none with a file system to check")
    worst = CheckResult.ERRORS if wrong else CheckResult.NO_FILE_SYSTEM
    return Proof(check=worst, contents=kind, sure="; ".join(words))


def _all_volumes(kind: str, volumes: Mapping[str, str], found: Sequence[TrialFinding]) -> Proof:
    """Judge a container by its volumes."""
    checks = {each.proof.check for each in found if each.place in volumes}
    words = [f"{each.place}: {each.proof.sure}" for each in found if each.place in volumes]
    order = (CheckResult.ERRORS, CheckResult.CLEAN, CheckResult.NOT_TRIED, CheckResult.NO_FILE_SYSTEM)
    worst = next((each for each in order if each in checks), CheckResult.NOT_POSSIBLE)
    return Proof(check=worst, contents=kind, sure="; ".join(words) or "no volume is recorded in it")


def read_store_use(reader: HostReader, overlays: Mapping[str, str]) -> dict[str, int] | str:
    """Return how many sectors of its store each overlay has used, by member; or why they are void.

    ``dmsetup status``: "0 262144 snapshot 24/131072 16", or "Invalid", or "Overflow".
    """
    found = {}
    for member, name in overlays.items():
        output = reader.ask("dmsetup", "status", name)
        if output.status != 0:
            return f"it is not known how full the store of {member} is: {output.why}"
        words = output.stdout.split()
        used, _, of = (words[3] if len(words) > 3 else "").partition("/")
        if not (used.isdigit() and of.isdigit()):
            return f"the store of {member} is full, and its overlay is void"
        found[member] = int(used)
    return found
