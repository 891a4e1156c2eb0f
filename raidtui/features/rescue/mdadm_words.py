"""The commands that a rescue gives to mdadm, with the backup files of reshapes. Pure.

The trial and the real step get the same words.

Nothing is left to a default, nothing is found by scanning: mdadm sees the devices that are named, and no
configuration. An array is started read-only: md writes nothing to it, and no resync begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from raidtui.features.rescue.records import RESHAPES, WayCode
from raidtui.features.rescue.search.results import RescueGeometry
from raidtui.host.backup_files import ReshapeBackup
from raidtui.model.geometry import MISSING
from raidtui.model.plan import Step, Write
from raidtui.model.survey import Superblock
from raidtui.plans.whole import standing

_STRIPED = frozenset({0, 4, 5, 6, 10})
_WITH_LAYOUT = frozenset({5, 6, 10})
FOLDER = "/var/lib/raidtui/rescue"
"""Where a rescue keeps what it saves, and new backup files."""
EXTERNAL: Mapping[str, str] = {"ddf": "DDF", "imsm": "Intel"}
"""External metadata as mdadm calls them, and for people."""
DIRTY = "/sys/module/md_mod/parameters/start_dirty_degraded"
"""Whether the kernel starts an array of which parity may not fit and members are not whole (md.rst)."""
Path = Callable[[str], str]
"""Returns the path of a member, by its kernel name: the device itself, or its overlay."""


class Assembly(Struct, frozen=True, kw_only=True, tag=True):
    """How existing superblocks are used.

    Args:
        devices: kernel names, each chosen.
        uuid: the array's; "" where it is not known.
        force: members that are behind are taken as if they were not (mdadm(8), --force).
        run: started also where members are missing.
        update: as in --update: revert-reshape, no-bitmap, layout-original; "" for none.
        backup: the backup file of a reshape; "" for none.
        invalid_backup: what the backup file holds is not used.
        frozen: a reshape that is under way does not continue.
        dirty: the kernel is told to start it although its parity may not fit and members are not whole.
        external: the metadata of a container, ddf or imsm; "" for none.
        volumes: the names of a container's volumes, by their number in it.
    """

    devices: tuple[str, ...]
    uuid: str = ""
    force: bool = False
    run: bool = False
    update: str = ""
    backup: str = ""
    invalid_backup: bool = False
    frozen: bool = False
    dirty: bool = False
    external: str = ""
    volumes: tuple[str, ...] = ()


class Recreation(Struct, frozen=True, kw_only=True, tag=True):
    """How new superblocks are written around data that stay.

    Args:
        uuid: the array's, old or new.
        name: the array's, without the host.
        homehost: the host's name before it.
    """

    geometry: RescueGeometry
    uuid: str
    name: str
    homehost: str

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names."""
        return self.geometry.present


def assemble_way(
    way: str,
    devices: tuple[str, ...],
    uuid: str,
    blocks: Mapping[str, Superblock],
    *,
    run: bool,
    backup: str = "",
) -> Assembly:
    """Return how superblocks are used in a way back.

    Args:
        way: its code.
        devices: kernel names.
        uuid: the array's.
        blocks: the superblocks of these devices, by their names.
        run: whether it is started also where members are missing.
        backup: the backup file of a reshape; "" for none.
    """
    update = "no-bitmap" if way == WayCode.NO_BITMAP else ""
    if way in {WayCode.LAYOUT_ALTERNATE, WayCode.LAYOUT_ORIGINAL, WayCode.REVERT}:
        update = str(way)
    forced = way == WayCode.FORCE
    return Assembly(
        devices=devices,
        uuid=uuid,
        run=run,
        force=forced,
        update=update,
        backup=backup,
        invalid_backup=bool(backup) and way != WayCode.CONTINUE,
        frozen=way == WayCode.REVERT and not backup,
        dirty=(forced or way in RESHAPES) and starts_dirty(blocks, forced=forced),
    )


def mdadm_words(array: str, made: Assembly | Recreation, path: Path) -> tuple[str, ...]:
    """Return the command that starts an array.

    Args:
        array: the path of the array's device.
        made: what from.
        path: gives the path of each member.
    """
    if isinstance(made, Assembly):
        return _assemble(array, made, path)
    return _create(array, made, path)


def dirty_steps(made: Assembly | Recreation, start: Step) -> tuple[Step, ...]:
    """Return the step that starts an array, between those without which the kernel refuses it.

    Args:
        made: what from.
        start: the step.
    """
    if isinstance(made, Recreation) or not made.dirty:
        return (start,)
    off = Write(path=DIRTY, text="0", why="no other array is started this way")
    on = Write(path=DIRTY, text="1", why="the kernel starts it although its parity may not fit", undo=(off,))
    return on, start, off


def starts_dirty(blocks: Mapping[str, Superblock], *, forced: bool = False) -> bool:
    """Whether the kernel has to be told to start an array that a crash has left dirty (raid5_run).

    In the middle of a reshape, a new member is not whole before it ends. And a RAID 4 without its parity is
    whole for mdadm, which does not mark it as clean, also with --force; but not for the kernel.

    Args:
        blocks: the superblocks of the members that are given, by the names of their devices.
        forced: whether mdadm is given --force, which marks as clean what it takes for too little.
    """
    found = standing(blocks) if blocks else None
    if found is None or not found.unwritten:
        return False
    return found.lacks_parity_alone or (found.newest.reshape is not None and not forced)


def volume_words(array: str, made: Assembly, conf: str) -> tuple[str, ...]:
    """Return the command that starts the volumes of a container.

    Args:
        array: the path of the container's device.
        made: what from.
        conf: a configuration file: what each volume is called.
    """
    run = ("--run",) if made.run else ()
    return (*_anywhere(made), "mdadm", "--incremental", *run, f"--config={conf}", array)


def _anywhere(made: Assembly) -> tuple[str, ...]:
    """Intel's metadata are for Intel's controllers, unless mdadm does not look for one (mdadm(8))."""
    return ("env", "IMSM_NO_PLATFORM=1") if made.external == "imsm" else ()


def _assemble(array: str, made: Assembly, path: Path) -> tuple[str, ...]:
    return (
        *_anywhere(made),
        *("mdadm", "--assemble", array, "--config=/dev/null"),
        *((f"--uuid={made.uuid}",) if made.uuid else ()),
        "--readonly",
        *(("--force",) if made.force else ()),
        *(("--run",) if made.run and not made.external else ()),
        *((f"--update={made.update}",) if made.update else ()),
        *((f"--backup-file={made.backup}",) if made.backup else ()),
        *(("--invalid-backup",) if made.invalid_backup else ()),
        *(("--freeze-reshape",) if made.frozen else ()),
        *map(path, made.devices),
    )


def _create(array: str, made: Recreation, path: Path) -> tuple[str, ...]:
    wanted = made.geometry
    named = not wanted.metadata.startswith("0")
    return (
        *("mdadm", "--create", array, "--run", "--readonly", "--assume-clean"),
        *(f"--homehost={made.homehost}", f"--uuid={made.uuid}", f"--metadata={wanted.metadata}"),
        *((f"--name={made.name}",) if named else ()),
        *(f"--level={wanted.level}", f"--raid-devices={len(wanted.order)}"),
        *((f"--layout={wanted.layout}",) if wanted.layout and wanted.level in _WITH_LAYOUT else ()),
        *((f"--chunk={wanted.chunk_bytes >> 10}",) if wanted.level in _STRIPED else ()),
        *((f"--data-offset={wanted.data_offset_sectors}s",) if named and wanted.metadata != "1.0" else ()),
        *((f"--size={wanted.size_sectors >> 1}",) if wanted.size_sectors and wanted.level else ()),
        *(("--bitmap=none",) if wanted.level else ()),
        *(MISSING if name == MISSING else path(name) for name in wanted.order),
    )


def find_backup(backups: Sequence[ReshapeBackup], uuid: str) -> ReshapeBackup | None:
    """Return the newest backup file of an array; None where there is none.

    Args:
        backups: those that were found.
        uuid: the array's, in mdadm's form 8:8:8:8.
    """
    digits = uuid.replace(":", "")
    words = [digits[at : at + 8] for at in range(0, len(digits), 8)]
    swapped = "".join(
        "".join(word[at : at + 2] for at in (6, 4, 2, 0)) for word in words
    )  # 0.90: of the host
    found = [each for each in backups if digits and each.uuid in {digits, swapped}]
    return max(found, key=lambda each: each.written_s, default=None)


def is_needed(backup: ReshapeBackup, position_kib: int) -> bool:
    """Whether mdadm uses the file (Grow_restart): it holds what is not behind the recorded place."""
    return any(end >= position_kib * 2 for _, end in backup.parts)


def new_backup(uuid: str) -> str:
    """Return the path of a new backup file for an array."""
    return f"{FOLDER}/backup-{uuid[:8] or 'new'}"
