"""What makes an array come back under its name: mdadm.conf, then the initramfs, in that order."""

from __future__ import annotations

import hashlib
import re

from raidtui.model.plan import Fact, Kind, Step
from raidtui.model.survey import Survey

_INITRAMFS_S = 900.0
_WORD = re.compile(r"""(?:"[^"]*"?|'[^']*'?|[^ \t"'])+""")


def array_line(*, uuid: str, link: str, metadata: str) -> str:
    """Return the line of mdadm.conf for an array, as ``mdadm --detail --scan`` prints it."""
    return f"ARRAY {link} metadata={metadata} UUID={uuid}"


def conf_with(text: str, *, uuid: str, line: str) -> str:
    """Return mdadm.conf with ``line`` in place of every ARRAY line of this UUID, or at the end."""
    lines = text.split("\n")
    gone = _own(lines, uuid)
    if not gone:
        return (text.rstrip("\n") + "\n" if text.strip() else "") + line + "\n"
    lines[gone[0]] = line
    return "\n".join(each for index, each in enumerate(lines) if index not in gone[1:])


def conf_without(text: str, *, uuid: str) -> str:
    """Return mdadm.conf without the ARRAY lines of this UUID."""
    lines = text.split("\n")
    gone = _own(lines, uuid)
    return "\n".join(line for index, line in enumerate(lines) if index not in gone)


def conf_freed(text: str, *, link: str, keep: frozenset[str]) -> str:
    """Return mdadm.conf without ARRAY lines that give this name to an array which is not there.

    Args:
        text: the file.
        link: the name under /dev/md that another array gets.
        keep: UUIDs of the arrays that are there; their lines stay.
    """
    lines = text.split("\n")
    kept = {_digits(uuid) for uuid in keep}
    gone = {
        index
        for entry in _entries(lines)
        if _is_array(words := [word for index in entry for word in _words(lines[index])])
        and words[1:2] == [link]
        and not kept & {_digits(word[5:]) for word in words if word.lower().startswith("uuid=")}
        for index in entry
    }
    return "\n".join(line for index, line in enumerate(lines) if index not in gone)


def conf_steps(survey: Survey, *, uuid: str, link: str, metadata: str) -> tuple[Step, ...]:
    """Return the steps that write an array's line, and make the initramfs anew.

    Args:
        survey: the host.
        uuid: the array's, 8:8:8:8.
        link: the name under /dev/md.
        metadata: 1.2.
    """
    line = array_line(uuid=uuid, link=link, metadata=metadata)
    old = survey.texts.get(survey.conf_path)
    there = frozenset({uuid, *(array.uuid or "" for array in survey.snapshot.arrays)})
    new = conf_with(conf_freed(old or "", link=link, keep=there), uuid=uuid, line=line)
    if old == new:
        return ()
    return file_steps(
        survey, survey.conf_path, new, why="the array's name at boot", proves=(fact_line(survey, line),)
    )


def fact_line(survey: Survey, line: str) -> Fact:
    """Return the fact that mdadm.conf has this line."""
    return Fact(kind=Kind.LINE, subject=survey.conf_path, value=line)


def file_steps(
    survey: Survey, path: str, new: str, *, why: str, proves: tuple[Fact, ...] = (), initramfs: bool = True
) -> tuple[Step, ...]:
    """Return the steps that put a file's new content in place and, where it goes along, the initramfs."""
    old = survey.texts.get(path)
    again = _initramfs_steps(survey, path) if initramfs else ()
    back = (
        Step(path=path, content=old, why=f"{path} as it was", proves=(_digest(path, old),))
        if old is not None
        else Step(
            argv=("rm", "--force", "--", path), why=f"{path} was not there", proves=(_digest(path, None),)
        )
    )
    step = Step(
        path=path,
        content=new,
        why=why,
        needs=(_digest(path, old),),
        proves=proves or (_digest(path, new),),
        undo=(back, *again),
    )
    return (step, *again)


def readable(text: str) -> str:
    """Return for the eye what is bytes as characters: see ``Survey.texts``."""
    return text.encode("latin-1").decode(errors="replace")


def _initramfs_steps(survey: Survey, path: str) -> tuple[Step, ...]:
    if not survey.initramfs:
        return ()
    why = f"the initramfs has a copy of {path.rpartition('/')[2]}"
    return (Step(argv=survey.initramfs, why=why, timeout_s=_INITRAMFS_S),)


def _digest(path: str, text: str | None) -> Fact:
    value = "" if text is None else hashlib.sha256(text.encode("latin-1")).hexdigest()
    return Fact(kind=Kind.DIGEST, subject=path, value=value)


def _own(lines: list[str], uuid: str) -> list[int]:
    """Return the places of all lines of the ARRAY entries of this UUID."""
    wanted = _digits(uuid)
    return [
        index
        for entry in _entries(lines)
        if _is_array(words := [word for index in entry for word in _words(lines[index])])
        and any(
            key.lower() == "uuid" and _digits(value) == wanted
            for key, _, value in (each.partition("=") for each in words)
        )
        for index in entry
    ]


def _entries(lines: list[str]) -> list[list[int]]:
    """Return the places of the lines of each entry, as mdadm's config.c reads them.

    Indented lines go on with the entry before them, also over comments and empty lines, which are none of it.
    """
    entries: list[list[int]] = []
    for index, line in enumerate(lines):
        if not _words(line):
            continue
        if line[0] in " \t" and entries:
            entries[-1].append(index)
        else:
            entries.append([index])
    return entries


def _words(line: str) -> list[str]:
    """Return the words of a line without their quotes, up to a comment."""
    words = []
    for word in _WORD.findall(line):
        if word.startswith("#"):
            break
        words.append(word.replace('"', "").replace("'", ""))
    return words


def _is_array(words: list[str]) -> bool:
    """Whether an entry is an ARRAY: mdadm takes three letters for the whole keyword."""
    return len(words[0]) >= 3 and "array".startswith(words[0].lower())


def _digits(uuid: str) -> str:
    """Return a UUID without the signs that mdadm takes between its digits."""
    return uuid.translate(dict.fromkeys(map(ord, ":.- "))).lower()
