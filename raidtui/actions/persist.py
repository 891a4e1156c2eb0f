"""What makes an array come back under its name: mdadm.conf, then the initramfs, in that order."""

from __future__ import annotations

import hashlib

from raidtui.model.plan import Fact, Kind, Step
from raidtui.model.survey import Survey

_INITRAMFS_S = 900.0


def array_line(*, uuid: str, link: str, metadata: str) -> str:
    """Return the line of mdadm.conf for an array, as ``mdadm --detail --scan`` prints it."""
    return f"ARRAY {link} metadata={metadata} UUID={uuid}"


def conf_with(text: str, *, uuid: str, line: str) -> str:
    """Return mdadm.conf with ``line`` in place of every ARRAY line of this UUID, or at the end."""
    lines = text.split("\n")
    own = [index for index in range(len(lines)) if _uuid_of(_entry(lines, index)) == uuid.lower()]
    if not own:
        return (text.rstrip("\n") + "\n" if text.strip() else "") + line + "\n"
    gone = {place for index in own for place in range(index, index + len(_entry(lines, index)))}
    kept: list[str] = []
    for index, each in enumerate(lines):
        if index == own[0]:
            kept.append(line)
        if index not in gone:
            kept.append(each)
    return "\n".join(kept)


def conf_without(text: str, *, uuid: str) -> str:
    """Return mdadm.conf without the ARRAY lines of this UUID."""
    lines = text.split("\n")
    gone: set[int] = set()
    for index in range(len(lines)):
        entry = _entry(lines, index)
        if _uuid_of(entry) == uuid.lower():
            gone |= set(range(index, index + len(entry)))
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
    new = conf_with(old or "", uuid=uuid, line=line)
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
    again = _initramfs_steps(survey) if initramfs else ()
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


def _initramfs_steps(survey: Survey) -> tuple[Step, ...]:
    if not survey.initramfs:
        return ()
    why = "the initramfs has a copy of mdadm.conf"
    return (Step(argv=survey.initramfs, why=why, timeout_s=_INITRAMFS_S),)


def _digest(path: str, text: str | None) -> Fact:
    value = "" if text is None else hashlib.sha256(text.encode("latin-1")).hexdigest()
    return Fact(kind=Kind.DIGEST, subject=path, value=value)


def _entry(lines: list[str], index: int) -> list[str]:
    """Return the lines of the entry that begins here: indented ones go on (mdadm.conf(5)); none: []."""
    words = lines[index].split()
    if not words or lines[index][:1] in " \t" or words[0].lower() != "array":
        return []
    end = index + 1
    while end < len(lines) and lines[end][:1] in {" ", "\t"} and lines[end].strip():
        end += 1
    return lines[index:end]


def _uuid_of(entry: list[str]) -> str | None:
    for word in " ".join(entry).split():
        key, equals, value = word.partition("=")
        if equals and key.lower() == "uuid":
            return value.lower()
    return None
