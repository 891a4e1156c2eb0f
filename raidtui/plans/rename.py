"""Rename: stop, assemble with ``--update=name``, the new line in mdadm.conf in place of the old, initramfs.

A failure in the middle brings the array back under its old name. The plan changes the lines of fstab and
crypttab that name the old path, where that is asked for. All other files that name it are only reported:
what has to be run after a change there is not known here.
"""

from __future__ import annotations

import re
import shlex

from msgspec import Struct
from msgspec.structs import replace

from raidtui.model.array import Array
from raidtui.model.array_sync import Phase
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, NothingToDo, Plan, Refusal, RefusalCode, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.manage import refuse_detached
from raidtui.plans.persist import conf_steps, file_steps, own_lines, readable
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
        warning="The array is stopped for a moment. Whatever uses its old path must use the new one.",
        notes=(*notes, *unchanged_references(survey, array, paths), *long_name_note(survey.homehost, to)),
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
        return NothingToDo(why=f"it is already named {to}")
    if not array.active:
        return Refusal(
            code=RefusalCode.WRONG_STATE, why=f"{array.title} is inactive", remedy="assemble it first"
        )
    if array.uuid is None or array.twin:
        return Refusal(
            code=RefusalCode.AMBIGUOUS,
            why=f"{array.title} cannot be distinguished from another array by its UUID",
        )
    if not (array.metadata or "").startswith("1."):
        return Refusal(
            code=RefusalCode.UNSUPPORTED,
            why=f"metadata {array.metadata or '?'} stores no name",
            remedy="only 1.x does",
        )
    if refusal := refuse_detached(array):
        return refusal
    if array.sync is not None and array.sync.action == "reshape" and array.sync.phase is not Phase.FROZEN:
        return Refusal(
            code=RefusalCode.BUSY, why=f"{array.title} is being reshaped", remedy="wait until that is done"
        )
    return None


def _steps(array: Array, uuid: str, to: str, homehost: str) -> tuple[Step, Step]:
    paths = tuple(f"/dev/{member.name}" for member in array.members if not member.has("faulty"))
    gone = (Fact(kind=FactKind.GONE, subject=uuid),)
    stop = RunTool(
        argv=("mdadm", "--stop", array.path),
        why="the name can be changed only while it is stopped",
        needs=(
            Fact(kind=FactKind.ARRAY, subject=array.name, value=uuid),
            Fact(kind=FactKind.UNUSED, subject=array.name),
        ),
        proves=gone,
        undo=(_assemble(_device(array), _name(array), uuid, paths, why="start it again under its old name"),),
    )
    name = (to, homehost)
    start = _assemble(f"/dev/md/{to}", name, uuid, paths, why="start it under its new name")
    number = f"md{int(to)}" if to.isdigit() else ""
    needs = (*gone, *((Fact(kind=FactKind.GONE, subject=number),) if number else ()))
    back = RunTool(argv=("mdadm", "--stop", f"/dev/md/{to}"), why="to restore the name", proves=gone)
    return stop, replace(start, needs=needs, undo=(back,))


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
    return RunTool(
        argv=("mdadm", "--assemble", device, *(names if label else ()), f"--uuid={uuid}", *paths),
        why=why,
        proves=(
            Fact(kind=FactKind.RUNNING, subject=uuid),
            *((Fact(kind=FactKind.NAME, subject=uuid, value=label),) if label else ()),
        ),
    )


CHANGED = ("/etc/fstab", "/etc/crypttab")
"""The files whose lines a plan may change."""

_BY_ID = "/dev/disk/by-id/md-name-"
_STAYS = tuple(
    f"/dev/disk/by-{kind}" for kind in ("uuid/", "label/", "partuuid/", "partlabel/", "id/md-uuid-")
)
_MOST_LINES = 4
# A word, or what comes after a comma or an equals sign: x-systemd.requires=/dev/md/data
_WORD = re.compile(r"(?:(?<=[ \t,=])|^)/dev/[^ \t,\n]+", re.MULTILINE)
_PATH = re.compile(r"/dev/(?:md|disk/by-id/md-name-)[\w/.:+@%=-]*", re.ASCII)
_UNIT = re.compile(r"dev-(?:md|disk)[\w:.\\-]*?(?=\.(?:device|swap)\b)", re.ASCII)
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})")


class Paths(Struct, frozen=True, kw_only=True):
    """Paths of an array that end with its name, or may be another array's later.

    Args:
        own: of the array as a whole.
        others: what other arrays are called, or mdadm.conf calls them; our own kernel name is never there.
    """

    own: frozenset[str]
    others: frozenset[str]

    def part(self, path: str) -> str | None:
        """Return "" for the array as a whole, "1" for its first partition, None for something else."""
        if path in self.own:
            return ""
        for own in self.own:
            between = "-part" if own.startswith(_BY_ID) else "p" if own[-1].isdigit() else "p?"
            if found := re.fullmatch(f"{re.escape(own)}{between}([0-9]+)", path, re.ASCII):
                return found[1]
        return None

    def doubtful(self, path: str) -> bool:
        """Whether a path may be meant for the array and for another one."""
        return path in self.others and self.part(path) is not None

    def renamed(self, path: str, link: str) -> str:
        """Return the path after the rename, as udev makes it: /dev/md/data1, /dev/md/127p1."""
        part = self.part(path)
        if part is None or self.doubtful(path):
            return path
        return f"{link}p{part}" if part and link[-1].isdigit() else f"{link}{part}"


def paths_of(survey: Survey, array: Array) -> Paths:
    """Return the paths of an array, and those that are other arrays'."""
    sure = {array.path, *((array.link,) if array.link else ())}
    others: set[str] = set()
    for other in survey.snapshot.arrays:
        if other is not array and other.name != array.name:
            others |= _names(other)
    text = survey.texts.get(survey.conf_path, "")
    kept = own_lines(text, array.uuid or "")
    for index, line in enumerate(text.split("\n")):
        words = line.split()
        if index not in kept and words and words[0].upper() == "ARRAY":
            others.update(word for word in words[1:2] if word.startswith("/dev/"))
    return Paths(own=frozenset(_names(array)), others=frozenset(others - sure))


def _names(array: Array) -> set[str]:
    paths = {array.path, *((array.link,) if array.link else ())}
    if array.label:
        full = f"{array.homehost}:{array.label}" if array.homehost else array.label
        paths |= {f"/dev/md/{array.label}", f"{_BY_ID}{full}"}
    return paths


def naming(text: str, paths: Paths) -> list[str]:
    """Return the lines of fstab or crypttab that name the array."""
    return [line for line in text.split("\n") if renamed(line, paths, "/") != line]


def renamed(text: str, paths: Paths, link: str) -> str:
    """Return fstab or crypttab with ``link`` where the array was named; all else stays as it is."""
    return "\n".join(
        line
        if line.lstrip().startswith("#")
        else _WORD.sub(lambda found: paths.renamed(found[0], link), line)
        for line in text.split("\n")
    )


def unchanged_references(survey: Survey, array: Array, paths: Paths) -> tuple[str, ...]:
    """Return the lines that name the array and that the plan does not change, a sentence for each file."""
    notes = []
    for path in CHANGED:
        for number, line in enumerate(survey.texts.get(path, "").split("\n"), start=1):
            words = () if line.lstrip().startswith("#") else _WORD.findall(line)
            notes += [
                f"{path}, line {number} names {word}, which may be a partition of {array.title} or another"
                " array. It is not changed: check it."
                for word in words
                if paths.doubtful(word)
            ]
    notes += _other_paths(survey, array, paths)
    own = own_lines(survey.texts.get(survey.conf_path, ""), array.uuid or "")
    for path, text in survey.texts.items():
        if path in CHANGED:
            continue
        numbers = [
            number
            for number, line in enumerate(text.split("\n"), start=1)
            if not (path == survey.conf_path and number - 1 in own) and _names_it(line, paths)
        ]
        if numbers:
            names = "line {} names" if len(numbers) == 1 else "lines {} name"
            notes.append(f"{path}, {names.format(_listed(numbers))} the old path; {_remedy(survey, path)}.")
    return tuple(notes)


def _other_paths(survey: Survey, array: Array, paths: Paths) -> list[str]:
    """Return the lines that mean the array by a path that is neither known nor one that stays."""
    notes = []
    for place in survey.named:
        if place.path not in CHANGED or not place.text.startswith("/") or place.text.startswith(_STAYS):
            continue
        if paths.doubtful(place.text):  # reported already
            continue
        line = survey.texts.get(place.path, "").split("\n")[place.line - 1]
        if any(_is_of(name, array.name) for name in place.devices) and not naming(line, paths):
            notes.append(
                f"{place.path}, line {place.line} names {array.title} as {place.text};"
                " it is not changed: check it afterwards."
            )
    return notes


def _is_of(name: str, array: str) -> bool:
    """Whether a device is an array, or a partition of it."""
    return name == array or bool(re.fullmatch(rf"{re.escape(array)}p[0-9]+", name, re.ASCII))


def _names_it(line: str, paths: Paths) -> bool:
    if line.lstrip().startswith("#"):
        return False
    words = [word.rstrip(".:/=") for word in _PATH.findall(line)]
    units = [_ESCAPED.sub(_char, unit.replace("-", "/")) for unit in _UNIT.findall(line)]
    return any(
        paths.part(path) is not None and not paths.doubtful(path)
        for path in (*words, *(f"/{unit}" for unit in units))
    )


def _char(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _listed(numbers: list[int]) -> str:
    """Return "7", "7 and 9", "7, 8, 9, 10 and 3 more"."""
    words = [str(number) for number in numbers]
    if len(words) > _MOST_LINES + 1:
        words[_MOST_LINES:] = [f"{len(words) - _MOST_LINES} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _remedy(survey: Survey, path: str) -> str:
    debian = survey.conf_path.startswith("/etc/mdadm/")
    grub = "run update-grub" if debian else "regenerate grub's configuration"
    if path.startswith(("/boot/grub/", "/boot/grub2/")):
        return f"{grub} afterwards"
    if path.startswith("/etc/default/grub"):
        return f"change it by hand, then {grub}"
    if path.startswith("/etc/udev/"):
        return "change it by hand, then run udevadm control --reload"
    if path.startswith("/etc/systemd/"):
        return "change it by hand, then run systemctl daemon-reload"
    copied = path.startswith(("/etc/initramfs-tools/", "/etc/dracut", "/etc/lvm/", "/etc/mdadm"))
    if copied and survey.initramfs:  # it has a copy
        return f"change it by hand, then run {shlex.join(survey.initramfs)}"
    return "change it by hand"
