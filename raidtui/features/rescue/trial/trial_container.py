"""A container of external metadata (DDF, Intel) in a trial: it is assembled, then its volumes start. Pure.

Measured (mdadm 4.2, Linux 6.1): on devices that are set read-only, md starts volumes read-only, and mdmon,
which keeps the metadata, is refused every write. On overlays, mdmon writes to these alone; Intel's metadata
know disks by their serial numbers, which overlays do not have.
"""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.features.rescue.mdadm_words import Assembly, Recreation, volume_words
from raidtui.features.rescue.trial.trial_request import TrialNames
from raidtui.model.plan import Fact, FactKind, Step

_START_S = 300.0


def volumes_of(made: Assembly | Recreation) -> tuple[str, ...]:
    """Return the names of a container's volumes, each once: a second one has its number behind it."""
    found: list[str] = []
    for number, name in enumerate(made.volumes if isinstance(made, Assembly) else ()):
        found.append(name if name and name not in found else f"{name or 'volume'} {number}")
    return tuple(found)


def contained(made: Assembly, names: TrialNames, assembling: Step, held: str) -> tuple[Step, ...]:
    """Return the steps that assemble a container and start its volumes.

    Args:
        made: the container.
        names: the trial's.
        assembling: the step that would start an array; its proof is that it runs, which a container does not.
        held: what it stands on, as the value of a fact.
    """
    lines = [
        f"ARRAY /dev/{array} container={made.uuid} member={number}\n"
        for number, array in enumerate(names.arrays[1:])
    ]
    stands = tuple(fact for fact in assembling.proves if fact.kind is FactKind.STANDS_ON)
    stops = tuple(
        Step(
            argv=("mdadm", "--stop", f"/dev/{array}"),
            why="stop a volume",
            needs=(Fact(kind=FactKind.STANDS_ON, subject=array, value=held),),
            proves=(Fact(kind=FactKind.STANDS_OFF, subject=array, value=held),),
        )
        for array in names.arrays[1:]
    )
    return (
        Step(
            path=names.conf,
            content="".join(lines),
            why="what the volumes are called",
            undo=(Step(argv=("rm", "-f", names.conf), why="remove it"),),
        ),
        replace(assembling, why="assemble the container: nothing is started yet", proves=stands),
        Step(
            argv=volume_words(f"/dev/{names.array}", made, names.conf),
            why="start its volumes" + (", also without all of their disks" if made.run else ""),
            timeout_s=_START_S,
            needs=tuple(Fact(kind=FactKind.GONE, subject=array) for array in names.arrays[1:]),
            may_fail=True,
            undo=stops,
        ),
    )
