"""Names of arrays: which are good everywhere, which are taken, and which array a word means.

mdadm 4.3 and 4.4 refuse what 4.2 and 4.5 take; a name that all of them take is the only safe one. The
superblock keeps 31 bytes, the host's name and a colon included.
"""

from __future__ import annotations

from raidtui.model.array import Array
from raidtui.model.plan import Refusal
from raidtui.model.snapshot import Snapshot

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
        code="invalid",
        why=f"{name!r} is no name for an array" if name else "the array needs a name",
        remedy="1 to 31 letters, digits, _ . or -, not . or - first; a number of three digits is best",
    )


def refuse_taken(snapshot: Snapshot, name: str, own_key: str | None = None) -> Refusal | None:
    """Return why a name cannot be used beside the arrays that are there, or None."""
    for array in snapshot.arrays:
        if array.key == own_key:
            continue
        if array.label == name:
            return Refusal(
                code="taken", why=f"{array.path} is called {name} already", remedy="choose another name"
            )
        if name.isdigit() and array.name == f"md{int(name)}":
            return Refusal(code="taken", why=f"{array.name} is there already", remedy="choose another number")
    return None


def stored_name(homehost: str, name: str) -> str:
    """Return what the superblock has for a name: the host's before it, where both fit (super1.c)."""
    fits = len(homehost) + 1 + len(name) <= _LONGEST
    return f"{homehost}:{name}" if fits and homehost not in {"", NO_HOST} else name


def long_name_note(homehost: str, name: str) -> tuple[str, ...]:
    """Return a note where host and name together are too long for the superblock."""
    if homehost not in {"", NO_HOST} and stored_name(homehost, name) == name:
        return (f"{homehost}:{name} is longer than the superblock's 31 bytes: it is stored without the host",)
    return ()


def find_array(snapshot: Snapshot, word: str) -> Array | Refusal:
    """Return the array that a word means: its name, kernel name, path, link under /dev/md, or UUID."""
    found = [array for array in snapshot.arrays if _means(word, array)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{array.path} ({array.uuid})" for array in found)
        return Refusal(code="ambiguous", why=f"{word} may be {names}", remedy="give the path")
    known = ", ".join(array.title for array in snapshot.arrays) or "none"
    return Refusal(code="not-found", why=f"there is no array {word!r}", remedy=f"there are: {known}")


def _means(word: str, array: Array) -> bool:
    """Whether a word can be meant for an array; the way that comes to mind first may be the wrong one."""
    names = {array.name, array.path, array.link, array.label}
    if array.label:
        names.add(f"/dev/md/{array.label}")
    return (
        word in names
        or array.name == f"md{word}"
        or (len(word) >= 8 and (array.uuid or "").startswith(word.lower()))
    )
