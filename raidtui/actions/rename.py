"""Rename: stop, assemble with ``--update=name``, the new line in mdadm.conf in place of the old, initramfs.

A failure in the middle brings the array back under its old name.
"""

from __future__ import annotations

import re

from raidtui.actions.names import long_name_note, refuse_name, refuse_taken
from raidtui.actions.persist import conf_steps, file_steps, readable
from raidtui.actions.target import needs_root
from raidtui.actions.usage import refuse_use
from raidtui.model.array import Array, Phase
from raidtui.model.plan import Fact, Harm, Kind, Plan, Refusal, Step
from raidtui.model.survey import Survey

_REFERRING = ("/etc/fstab", "/etc/crypttab")


def plan_rename(survey: Survey, array: Array, to: str, *, references: bool = False) -> Plan | Refusal:
    """Return the plan that gives an array another name.

    Args:
        survey: the host.
        array: the array.
        to: the new name.
        references: also change the lines of fstab and crypttab that name the old one.
    """
    refusal = (
        needs_root(survey.snapshot)
        or refuse_name(to)
        or _refuse_array(array, to)
        or refuse_taken(survey.snapshot, to, array.key)
        or refuse_use(survey.snapshot, array)
    )
    if refusal:
        return refusal
    uuid, old = array.uuid or "", array.label or ""
    link, metadata = f"/dev/md/{to}", array.metadata or "1.2"
    steps = (*_steps(array, uuid, old, to), *conf_steps(survey, uuid=uuid, link=link, metadata=metadata))
    named = _paths(array)
    lines = [(path, line) for path in _REFERRING for line in _naming(survey.texts.get(path, ""), named)]
    if references:
        for path in dict.fromkeys(path for path, _ in lines):
            new = _renamed(survey.texts[path], named, link)
            copied = path == "/etc/crypttab"  # the initramfs has one of its own
            steps += file_steps(survey, path, new, why="it names the old path", initramfs=copied)
        notes: tuple[str, ...] = ()
    else:
        notes = tuple(
            f"{path} names the old path: {readable(line.strip())} (with --references it is changed too)"
            for path, line in lines
        )
    return Plan(
        title=f"rename: {old or array.name} → {to}",
        subject=array.title,
        steps=steps,
        harm=Harm.REDUCES,
        warning="The array is stopped for a moment. What names its old path must name the new one.",
        notes=(*notes, *long_name_note(survey.homehost, to)),
        rolls_back=True,
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def _refuse_array(array: Array, to: str) -> Refusal | None:
    if array.label == to:
        return Refusal(why=f"it is called {to} already")
    if not array.active:
        return Refusal(why=f"{array.title} is inactive", remedy="assemble it first")
    if array.uuid is None or array.twin:
        return Refusal(why=f"{array.title} cannot be told from another array by its UUID")
    if not (array.metadata or "").startswith("1."):
        return Refusal(why=f"metadata {array.metadata or '?'} keeps no name", remedy="only 1.x does")
    if array.sync is not None and array.sync.action == "reshape" and array.sync.phase is not Phase.FROZEN:
        return Refusal(why=f"{array.title} is being reshaped", remedy="wait until that is done")
    return None


def _steps(array: Array, uuid: str, old: str, to: str) -> tuple[Step, Step]:
    paths = tuple(f"/dev/{member.name}" for member in array.members if not member.has("faulty"))
    gone = (Fact(kind=Kind.GONE, subject=uuid),)
    stop = Step(
        argv=("mdadm", "--stop", array.path),
        why="a running array keeps its name",
        needs=(
            Fact(kind=Kind.ARRAY, subject=array.name, value=uuid),
            Fact(kind=Kind.UNUSED, subject=array.name),
        ),
        proves=gone,
        undo=(_assemble(_device(array), old, uuid, paths, why="bring it back under its old name"),),
    )
    start = _assemble(f"/dev/md/{to}", to, uuid, paths, why="start it under its new name")
    number = f"md{int(to)}" if to.isdigit() else ""
    needs = (*gone, *((Fact(kind=Kind.GONE, subject=number),) if number else ()))
    back = Step(argv=("mdadm", "--stop", f"/dev/md/{to}"), why="to take the name back", proves=gone)
    return stop, Step(
        argv=start.argv,
        why=start.why,
        needs=needs,
        proves=start.proves,
        undo=(back,),
        timeout_s=start.timeout_s,
    )


def _device(array: Array) -> str:
    """Return what to assemble it as: by the link, so that the link is there again."""
    if array.link:
        return array.link
    return f"/dev/md/{array.label}" if array.label and refuse_name(array.label) is None else array.path


def _assemble(device: str, name: str, uuid: str, paths: tuple[str, ...], *, why: str) -> Step:
    names = (f"--name={name}", "--update=name") if name else ()
    return Step(
        argv=("mdadm", "--assemble", device, *names, f"--uuid={uuid}", *paths),
        why=why,
        proves=(
            Fact(kind=Kind.RUNNING, subject=uuid),
            *((Fact(kind=Kind.NAME, subject=uuid, value=name),) if name else ()),
        ),
    )


def _paths(array: Array) -> set[str]:
    """Return the paths that end with the old name, or may be another array's later."""
    paths = {array.path, *((array.link,) if array.link else ())}
    if array.label:
        full = f"{array.homehost}:{array.label}" if array.homehost else array.label
        paths |= {f"/dev/md/{array.label}", f"/dev/disk/by-id/md-name-{full}"}
    return paths


def _naming(text: str, named: set[str]) -> list[str]:
    return [line for line in text.split("\n") if _renamed(line, named, "") != line]


def _renamed(text: str, named: set[str], link: str) -> str:
    """Put ``link`` where a whole word of a line is one of the old paths; all else stays as it is."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if not line.lstrip().startswith("#"):
            words = re.split(r"([ \t]+)", line)
            lines[index] = "".join(link if word in named else word for word in words)
    return "\n".join(lines)
