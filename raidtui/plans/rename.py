"""Rename: stop, assemble with ``--update=name``, the new line in mdadm.conf in place of the old, initramfs.

A failure in the middle brings the array back under its old name.
"""

from __future__ import annotations

from raidtui.model.array import Array, Phase
from raidtui.model.plan import Fact, FactKind, Harm, Plan, Refusal, RefusalCode, Step
from raidtui.model.survey import Survey
from raidtui.plans.persist import conf_steps, file_steps, readable
from raidtui.plans.references import CHANGED, Paths, naming, paths_of, renamed, told
from raidtui.plans.target import NO_HOST, long_name_note, needs_root, refuse_name, refuse_taken, refuse_use


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
        or refuse_use(survey, array)
    )
    if refusal:
        return refusal
    uuid, old = array.uuid or "", array.label or ""
    link, metadata = f"/dev/md/{to}", array.metadata or "1.2"
    conf = conf_steps(survey, uuid=uuid, link=link, metadata=metadata, same=True)
    paths = paths_of(survey, array)
    along = _references(survey, paths, link) if references else ()
    notes = () if references else _named(survey, paths)
    return Plan(
        title=f"rename: {old or array.name} → {to}",
        subject=array.title,
        steps=(*_steps(array, uuid, to, survey.homehost), *conf, *along),
        harm=Harm.REDUCES,
        warning="The array is stopped for a moment. What names its old path must name the new one.",
        notes=(*notes, *told(survey, array, paths), *long_name_note(survey.homehost, to)),
        rolls_back=True,
        devices=tuple(member.name for member in array.members),
        arrays=(array.name,),
    )


def _references(survey: Survey, paths: Paths, link: str) -> tuple[Step, ...]:
    steps: tuple[Step, ...] = ()
    for path in CHANGED:
        text = survey.texts.get(path, "")
        new = renamed(text, paths, link)
        if new != text:
            copied = path == "/etc/crypttab"  # the initramfs has one of its own
            steps += file_steps(survey, path, new, why="it names the old path", initramfs=copied)
    return steps


def _named(survey: Survey, paths: Paths) -> tuple[str, ...]:
    return tuple(
        f"{path} names the old path: {readable(line.strip())} (with --references it is changed too)"
        for path in CHANGED
        for line in naming(survey.texts.get(path, ""), paths)
    )


def _refuse_array(array: Array, to: str) -> Refusal | None:
    if array.label == to:
        return Refusal(code=RefusalCode.NOTHING_TO_DO, why=f"it is called {to} already")
    if not array.active:
        return Refusal(
            code=RefusalCode.WRONG_STATE, why=f"{array.title} is inactive", remedy="assemble it first"
        )
    if array.uuid is None or array.twin:
        return Refusal(
            code=RefusalCode.AMBIGUOUS, why=f"{array.title} cannot be told from another array by its UUID"
        )
    if not (array.metadata or "").startswith("1."):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"metadata {array.metadata or '?'} keeps no name",
            remedy="only 1.x does",
        )
    if array.sync is not None and array.sync.action == "reshape" and array.sync.phase is not Phase.FROZEN:
        return Refusal(
            code=RefusalCode.BUSY, why=f"{array.title} is being reshaped", remedy="wait until that is done"
        )
    return None


def _steps(array: Array, uuid: str, to: str, homehost: str) -> tuple[Step, Step]:
    paths = tuple(f"/dev/{member.name}" for member in array.members if not member.has("faulty"))
    gone = (Fact(kind=FactKind.GONE, subject=uuid),)
    stop = Step(
        argv=("mdadm", "--stop", array.path),
        why="a running array keeps its name",
        needs=(
            Fact(kind=FactKind.ARRAY, subject=array.name, value=uuid),
            Fact(kind=FactKind.UNUSED, subject=array.name),
        ),
        proves=gone,
        undo=(_assemble(_device(array), _name(array), uuid, paths, why="bring it back under its old name"),),
    )
    name = (to, homehost)
    start = _assemble(f"/dev/md/{to}", name, uuid, paths, why="start it under its new name")
    number = f"md{int(to)}" if to.isdigit() else ""
    needs = (*gone, *((Fact(kind=FactKind.GONE, subject=number),) if number else ()))
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


def _name(array: Array) -> tuple[str, str]:
    """Return its name, and the host's before it as mdadm takes it: else it would write this host's there."""
    return array.label or "", array.homehost or NO_HOST


def _assemble(device: str, name: tuple[str, str], uuid: str, paths: tuple[str, ...], *, why: str) -> Step:
    label, homehost = name
    names = (f"--name={label}", "--update=name", *((f"--homehost={homehost}",) if homehost else ()))
    return Step(
        argv=("mdadm", "--assemble", device, *(names if label else ()), f"--uuid={uuid}", *paths),
        why=why,
        proves=(
            Fact(kind=FactKind.RUNNING, subject=uuid),
            *((Fact(kind=FactKind.NAME, subject=uuid, value=label),) if label else ()),
        ),
    )
