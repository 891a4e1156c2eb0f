"""What restores the name of an array at boot: mdadm.conf, then the initramfs."""

from __future__ import annotations

import hashlib
import itertools
import re

from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import PutFile, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.target import stored_name

_INITRAMFS_S = 900.0
_WORD = re.compile(r"""(?:"[^"]*"?|'[^']*'?|[^ \t"'])+""")
_SHAPE = re.compile(r"(?i)[ \t]+(?:level|num-devices|disks)=[^ \t]+")
_WRITTEN = frozenset({"metadata", "uuid"})
# An array whose members do not fit all of these is not assembled.
_TELLING = frozenset(
    {"level", "disks", "num-devices", "devices", "super-minor", "bitmap", "container", "member"}
)


def array_line(*, uuid: str, link: str, metadata: str, more: tuple[str, ...] = ()) -> str:
    """Return the line of mdadm.conf for an array, as ``mdadm --detail --scan`` prints it, and more words."""
    return " ".join(("ARRAY", link, f"metadata={metadata}", f"UUID={uuid}", *more))


def conf_with(text: str, *, uuid: str, line: str) -> str:
    """Return mdadm.conf with ``line`` in place of every ARRAY line of this UUID, or at the end.

    What was a comment stays one.
    """
    lines = text.split("\n")
    own = _own(lines, uuid)
    if not own:
        return (text.rstrip("\n") + "\n" if text.strip() else "") + line + "\n"
    said = {index: _comment(lines[index]) for index in own}
    indent = {index: lines[index][: len(lines[index]) - len(lines[index].lstrip(" \t"))] for index in own}
    new = {index: f"{indent[index]}{comment}" for index, comment in said.items() if comment}
    first = said[own[0]]
    new[own[0]] = f"{line} {first}" if first else line
    return "\n".join(
        new.get(index, each) for index, each in enumerate(lines) if index not in said or index in new
    )


def kept_words(text: str, *, uuid: str, name: str = "", same: bool = False) -> tuple[str, ...]:
    """Return what the ARRAY lines of this UUID say beyond what we write, as they say it.

    Args:
        text: mdadm.conf.
        uuid: the array's.
        name: what its superblock has for a name: what comes after ``name=``, where the lines have that.
        same: whether it is the same array still. A new one may be of another level, and of other members.
    """
    lines, found = text.split("\n"), dict[str, str]()
    for index in _own(lines, uuid):
        for word in _raw_words(lines[index]):
            key, sign, _ = _bare(word).partition("=")
            if sign and key.lower() not in _WRITTEN and (same or key.lower() not in _TELLING):
                found.setdefault(key.lower(), f"{key}={name}" if name and key.lower() == "name" else word)
    return tuple(found.values())


def ignored(text: str, *, uuid: str) -> bool:
    """Whether mdadm.conf says that the array with this UUID is never assembled by itself."""
    lines = text.split("\n")
    return any("<ignore>" in _words(lines[index]) for index in _own(lines, uuid))


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


def conf_steps(
    survey: Survey, *, uuid: str, link: str, metadata: str, same: bool = False
) -> tuple[Step, ...]:
    """Return the steps that write an array's line and rebuild the initramfs.

    Args:
        survey: the host.
        uuid: the array's, 8:8:8:8.
        link: the name under /dev/md.
        metadata: 1.2.
        same: whether it is an array that is there already, and that only gets another name.
    """
    old = survey.texts.get(survey.conf_path)
    more = kept_words(
        old or "", uuid=uuid, name=stored_name(survey.homehost, link.rpartition("/")[2]), same=same
    )
    device = "<ignore>" if same and ignored(old or "", uuid=uuid) else link
    line = array_line(uuid=uuid, link=device, metadata=metadata, more=more)
    there = frozenset({uuid, *(array.uuid or "" for array in survey.snapshot.arrays)})
    new = conf_with(conf_freed(old or "", link=link, keep=there), uuid=uuid, line=line)
    if old == new:
        return ()
    line = new.split("\n")[min(own_lines(new, uuid))]  # with its comment
    return file_steps(
        survey, survey.conf_path, new, why="the array's name at boot", proves=(fact_line(survey, line),)
    )


def count_steps(survey: Survey, *, uuid: str) -> tuple[Step, ...]:
    """Return the steps that take level and number of devices out of an array's lines; none without them.

    An array that does not fit them is not assembled at boot, and one that is being reshaped has others.
    """
    old = survey.texts.get(survey.conf_path) or ""
    lines = old.split("\n")
    for index in _own(lines, uuid):
        lines[index] = _SHAPE.sub("", lines[index])
    new = "\n".join(lines)
    if new == old:
        return ()
    why = "with another level or number of devices it is not assembled at boot"
    return file_steps(survey, survey.conf_path, new, why=why)


def fact_line(survey: Survey, line: str) -> Fact:
    """Return the fact that mdadm.conf has this line."""
    return Fact(kind=FactKind.LINE, subject=survey.conf_path, value=line)


def file_steps(
    survey: Survey, path: str, new: str, *, why: str, proves: tuple[Fact, ...] = (), initramfs: bool = True
) -> tuple[Step, ...]:
    """Return the steps that write a file's new content and, if it is in the initramfs, rebuild that."""
    again = _initramfs_steps(survey, path) if initramfs else ()
    step = put_file(survey.texts.get(path), path, new, why=why, proves=proves, after=again)
    return (step, *again)


def put_file(
    old: str | None,
    path: str,
    new: str,
    *,
    why: str,
    proves: tuple[Fact, ...] = (),
    after: tuple[Step, ...] = (),
) -> Step:
    """Return the step that writes a file; undone, the old one is restored, and ``after`` is done.

    Args:
        old: its text; None where it is not there.
        path: its path.
        new: its new text.
        why: a phrase.
        proves: what shows that it is written; by default its digest.
        after: steps of the undo.
    """
    gone = RunTool(
        argv=("rm", "--force", "--", path), why=f"{path} did not exist", proves=(digest_fact(path, None),)
    )
    back = (
        gone
        if old is None
        else PutFile(path=path, content=old, why=f"restores {path}", proves=(digest_fact(path, old),))
    )
    return PutFile(
        path=path,
        content=new,
        why=why,
        needs=(digest_fact(path, old),),
        proves=proves or (digest_fact(path, new),),
        undo=(back, *after),
    )


def keyword_lines(text: str, keyword: str) -> tuple[tuple[int, ...], ...]:
    """Return the places, from 0, of the lines of each entry of mdadm.conf with this keyword.

    Three letters are enough for a keyword (mdadm.conf(5)).
    """
    lines = text.split("\n")
    found = []
    for entry in _entries(lines):
        word = _words(lines[entry[0]])[0].lower()
        if len(word) >= 3 and keyword.startswith(word):
            found.append(tuple(entry))
    return tuple(found)


def own_lines(text: str, uuid: str) -> frozenset[int]:
    """Return the places, from 0, of the lines of mdadm.conf that are about the array with this UUID."""
    return frozenset(_own(text.split("\n"), uuid)) if uuid else frozenset()


def names_another(text: str, name: str, uuid: str) -> bool:
    """Whether mdadm.conf gives a name to an array of another UUID.

    Args:
        text: mdadm.conf.
        name: the name, without the host.
        uuid: of the array that may have it.
    """
    own = own_lines(text, uuid)
    words = [
        word for number, line in enumerate(text.split("\n")) if number not in own for word in _words(line)
    ]
    stored = [word.partition("=")[2].rpartition(":")[2] for word in words if word.lower().startswith("name=")]
    return f"/dev/md/{name}" in words or name in stored


def readable(text: str) -> str:
    """Return for the eye what is bytes as characters: see ``Survey.texts``."""
    return text.encode("latin-1").decode(errors="backslashreplace")


def _initramfs_steps(survey: Survey, path: str) -> tuple[Step, ...]:
    if not survey.initramfs:
        return ()
    why = f"the initramfs has a copy of {path.rpartition('/')[2]}"
    return (RunTool(argv=survey.initramfs, why=why, timeout_s=_INITRAMFS_S),)


def digest_fact(path: str, text: str | None) -> Fact:
    """Return the fact that a file has this text; None: that it is not there."""
    value = "" if text is None else hashlib.sha256(text.encode("latin-1")).hexdigest()
    return Fact(kind=FactKind.DIGEST, subject=path, value=value)


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

    Indented lines continue the entry before them, also after comments and empty lines.
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
    return [_bare(word) for word in _raw_words(line)]


def _raw_words(line: str) -> list[str]:
    return list(itertools.takewhile(lambda word: not word.startswith("#"), _WORD.findall(line)))


def _bare(word: str) -> str:
    return word.replace('"', "").replace("'", "")


def _comment(line: str) -> str:
    """Return a line's comment, or ""."""
    return next((line[word.start() :] for word in _WORD.finditer(line) if word[0].startswith("#")), "")


def _is_array(words: list[str]) -> bool:
    """Whether an entry is an ARRAY: mdadm takes three letters for the whole keyword."""
    return len(words[0]) >= 3 and "array".startswith(words[0].lower())


def _digits(uuid: str) -> str:
    """Return a UUID without the signs that mdadm takes between its digits."""
    return uuid.translate(dict.fromkeys(map(ord, ":.- "))).lower()
