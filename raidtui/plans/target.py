"""The array that a plan is about: which one a word means, its name, who uses it, writes bound to its UUID.

mdadm 4.3 and 4.4 refuse names that 4.2 and 4.5 take; a name that all of them take is the only safe one. The
superblock keeps 31 bytes, the host's name and a colon included.
"""

from __future__ import annotations

from raidtui.host.readers.host_reader import READONLY
from raidtui.model.array import Array
from raidtui.model.disk import Disk
from raidtui.model.plan import Refusal, RefusalCode, Step, Write
from raidtui.model.snapshot import Snapshot
from raidtui.model.survey import Survey

_BLOCK = "/sys/class/block"


def needs_root(snapshot: Snapshot) -> Refusal | None:
    """Return the refusal that holds for every change, if one does."""
    host = snapshot.host
    if host.is_root:
        return None
    if host.readonly:
        return Refusal(code=RefusalCode.NOT_ROOT, why=READONLY)
    if host.source:
        return Refusal(
            code=RefusalCode.NOT_HERE, why=f"{host.source} is a capture: nothing in it can be changed"
        )
    return Refusal(code=RefusalCode.NOT_ROOT, why="needs root", remedy="run it as: sudo raidtui")


def base_of(array: Array) -> str:
    """Return the array's md folder in sysfs."""
    return f"{_BLOCK}/{array.name}/md"


def array_step(array: Array, attribute: str, text: str, why: str) -> Step:
    """Return a write to an md attribute, bound to the array's UUID: mdN may have moved meanwhile."""
    base = base_of(array)
    identity = (f"{base}/uuid", array.uuid) if array.uuid else None
    return Write(path=f"{base}/{attribute}", text=text, why=why, identity=identity)


def refuse_use(survey: Survey, array: Array) -> Refusal | None:
    """Return who uses an array, from the bottom to the top, or None."""
    disk = _disk(survey, array.name)
    if disk is None or not (users := _users(survey, disk, set())):
        return None
    return Refusal(
        code=RefusalCode.IN_USE,
        why=f"{array.title} is in use: {', '.join(users)}",
        remedy="unmount or release it first",
    )


def _users(survey: Survey, disk: Disk, seen: set[str]) -> list[str]:
    """Return who uses a device or one of its partitions; behind a holder, who uses that."""
    seen.add(disk.name)
    own = [disk.users] if disk.users else []
    found = [f"{disk.name}: {own[0]}" if own and len(seen) > 1 else text for text in own]
    for use in disk.uses:
        next_one = _disk(survey, use.what) if use.kind in {"partition", "holder"} else None
        if next_one is not None and next_one.name not in seen:
            found += _users(survey, next_one, seen)
    return found


def _disk(survey: Survey, name: str) -> Disk | None:
    return survey.above.get(name) or survey.snapshot.disks.get(name)


NO_HOST = "<none>"
"""What mdadm takes, on its command line and in HOMEHOST, for names without a host before them."""

_LONGEST = 31
_SIGNS = frozenset("._-")
_NOT_FIRST = frozenset(".-")


def refuse_name(name: str) -> Refusal | None:
    """Return why an array cannot have this name, or None."""
    good = name.isascii() and all(char.isalnum() or char in _SIGNS for char in name)
    if name and good and name[0] not in _NOT_FIRST and len(name) <= _LONGEST:
        return None
    return Refusal(
        code=RefusalCode.INVALID,
        why=f"{name!r} is not a valid array name" if name else "the array needs a name",
        remedy="use 1 to 31 letters, digits, _ . or -, not beginning with . or -; three digits are best",
    )


def refuse_taken(snapshot: Snapshot, name: str, own_key: str | None = None) -> Refusal | None:
    """Return why a name cannot be used beside the arrays that are there, or None."""
    for array in snapshot.arrays:
        if array.key == own_key:
            continue
        if array.label == name:
            return Refusal(
                code=RefusalCode.TAKEN,
                why=f"{array.path} is already named {name}",
                remedy="choose another name",
            )
        if name.isdigit() and array.name == f"md{int(name)}":
            return Refusal(
                code=RefusalCode.TAKEN, why=f"{array.name} already exists", remedy="choose another number"
            )
    return None


def stored_name(homehost: str, name: str) -> str:
    """Return what the superblock has for a name: the host's before it, where both fit (super1.c)."""
    fits = len(homehost) + 1 + len(name) <= _LONGEST
    return f"{homehost}:{name}" if fits and homehost not in {"", NO_HOST} else name


def long_name_note(homehost: str, name: str) -> tuple[str, ...]:
    """Return a note where host and name together are too long for the superblock."""
    if homehost not in {"", NO_HOST} and stored_name(homehost, name) == name:
        return (f"{homehost}:{name} is longer than 31 bytes: the superblock stores it without the host name",)
    return ()


def find_array(snapshot: Snapshot, word: str) -> Array | Refusal:
    """Return the array that a word means: its name, kernel name, path, link under /dev/md, or UUID."""
    found = [array for array in snapshot.arrays if _means(word, array)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{array.path} ({array.uuid})" for array in found)
        return Refusal(
            code=RefusalCode.AMBIGUOUS, why=f"{word} is ambiguous: {names}", remedy="give the path"
        )
    known = ", ".join(array.title for array in snapshot.arrays) or "none"
    return Refusal(
        code=RefusalCode.NOT_FOUND, why=f"there is no array {word!r}", remedy=f"known arrays: {known}"
    )


def _means(word: str, array: Array) -> bool:
    """Whether a word may mean an array, by any of its names: two arrays may match one word."""
    names = {array.name, array.path, array.link, array.label}
    if array.label:
        names.add(f"/dev/md/{array.label}")
    return (
        word in names
        or array.name == f"md{word}"
        or (len(word) >= 8 and (array.uuid or "").startswith(word.lower()))
    )
