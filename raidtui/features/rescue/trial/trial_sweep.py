"""Taking down what is left of trials, by the names that all of it has. Nothing else is touched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from raidtui.features.rescue.trial.trial_record import CONF, ROOMS, TrialNames
from raidtui.features.rescue.trial.trial_rules import ASK, REREAD
from raidtui.host.block import BLOCK
from raidtui.host.maps import holders, read_loops, read_maps, stands_on
from raidtui.host.mounts import read_mounts
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.trial_traces import PREFIX, RULES, RUN, SHADOW, is_shadowed
from raidtui.jobs.runner import Say
from raidtui.jobs.trial_writer import TrialWriter

_PATIENCE_S = 15.0
_PACE_S = 0.1


def let_go(reader: HostReader, names: TrialNames, say: Say) -> None:
    """Unmount what a trial has mounted, remove the maps on its array, stop the arrays of others on its maps.

    Args:
        reader: the host.
        names: the trial's.
        say: receives what fails.
    """
    _let_go(reader, names.own, say)
    _stop_others(reader, names, say)
    for loop, file in read_loops(reader).items():
        if file.startswith(f"{names.scratch}/journal-"):
            _tool(reader, say, "losetup", "--detach", f"/dev/{loop}")
    journals = [file for file in reader.names(names.scratch) if file.startswith("journal-")]
    if journals:
        _tool(reader, say, "rm", "--force", *(f"{names.scratch}/{file}" for file in journals))
    if not names.folder and reader.is_there(names.scratch):
        _tool(reader, say, "rmdir", names.scratch)


def _let_go(reader: HostReader, own: str, say: Say) -> None:
    places = [mount.where for mount in read_mounts(reader) if mount.where.startswith(f"{RUN}/{own}/")]
    for place in sorted(places, reverse=True):
        _tool(reader, say, "umount", place)
    for name in reader.names(f"{RUN}/{own}"):
        _tool(reader, say, *(("rm", "-f") if name == CONF else ("rmdir",)), f"{RUN}/{own}/{name}")
    _remove_maps(reader, lambda name: name.startswith(f"{own}-on-"), say)


def find_taken(reader: HostReader, names: TrialNames, devices: Sequence[str]) -> str:
    """Return which member, or map of a trial, another program has taken, and what for; "" for none.

    Args:
        reader: the host.
        names: the trial's.
        devices: its members.
    """
    maps = {name: device for name, device in read_maps(reader).items() if name.startswith(f"{names.own}-")}
    for name, device in (*maps.items(), *((each, each) for each in devices)):
        for holder in holders(reader, device):
            if holder not in names.arrays and not holder.startswith(f"{names.own}-"):
                return f"another program has taken {name}: {holder} uses it"
    return ""


def _stop_others(reader: HostReader, names: TrialNames, say: Say) -> None:
    """Stop arrays that others have assembled from a trial's maps; one that is open for a moment, too."""
    end_s = time.monotonic() + _PATIENCE_S
    while others := [name for name in _arrays_on(reader, f"{names.own}-") if name not in names.arrays]:
        failed = [
            name for name in others if TrialWriter(reader).run("mdadm", "--stop", f"/dev/{name}").status
        ]
        if failed and time.monotonic() > end_s:
            say(f"arrays on its maps that cannot be stopped: {', '.join(failed)}")
            return
        time.sleep(_PACE_S)


def _arrays_on(reader: HostReader, prefix: str) -> list[str]:
    """Return the arrays that stand on maps whose names begin so, volumes before their containers."""
    arrays = [name for name in reader.names(BLOCK) if name.startswith("md")]
    ours = [name for name in arrays if any(each.startswith(prefix) for each in stands_on(reader, name))]
    return sorted(ours, key=lambda name: not _is_volume(reader, name))


def sweep(reader: HostReader, say: Say) -> tuple[str, ...]:
    """Take down what belongs to no job any more; return what could not be taken down.

    Args:
        reader: the host.
        say: receives what is taken down, and what fails.
    """
    for own in [name for name in reader.names(RUN) if name.startswith(PREFIX)]:
        _let_go(reader, own, say)
    _remove_maps(reader, lambda name: name.startswith(PREFIX) and "-on-" in name, say)
    for array in _arrays_on(reader, PREFIX):
        _tool(reader, say, "mdadm", "--stop", f"/dev/{array}")
    _remove_maps(reader, lambda name: name.startswith(PREFIX), say)
    folders = {f"{room}/{name}" for room in ROOMS for name in reader.names(room) if name.startswith(PREFIX)}
    for loop, file in read_loops(reader).items():
        folder = file.rpartition("/")[0]
        if folder.rpartition("/")[2].startswith(PREFIX):
            folders.add(folder)
            _tool(reader, say, "losetup", "--detach", f"/dev/{loop}")
    for folder in sorted(folders):
        _tool(reader, say, "rm", "--recursive", "--force", "--one-file-system", folder)
    rules = _rules(reader)
    for path in rules:
        _tool(reader, say, "rm", "-f", path)
    if rules:
        _tool(reader, say, *REREAD)
        _tool(reader, say, *ASK)
    for name in reader.names(RUN):
        if name.startswith(PREFIX):
            _tool(reader, say, "rmdir", f"{RUN}/{name}")
    return find_remains(reader)


def _is_volume(reader: HostReader, array: str) -> bool:
    return (reader.text(f"{BLOCK}/{array}/md/metadata_version") or "").startswith("external:/")


def _rules(reader: HostReader) -> tuple[str, ...]:
    mine = tuple(f"{RULES}/{name}" for name in reader.names(RULES) if name.startswith(f"01-{PREFIX}"))
    return (*mine, SHADOW) if is_shadowed(reader) else mine


def find_remains(reader: HostReader) -> tuple[str, ...]:
    """Return what is there of trials: maps, loop devices, rules, folders, arrays."""
    return (
        *(name for name in read_maps(reader) if name.startswith(PREFIX)),
        *(f"{loop} on {file}" for loop, file in read_loops(reader).items() if f"/{PREFIX}" in file),
        *_rules(reader),
        *(
            f"{room}/{name}"
            for room in (RUN, *ROOMS)
            for name in reader.names(room)
            if name.startswith(PREFIX)
        ),
    )


def _remove_maps(reader: HostReader, mine: Callable[[str], bool], say: Say) -> None:
    """Remove maps, those that others stand on last; one that is busy for a moment is tried again."""
    end_s = time.monotonic() + _PATIENCE_S
    while names := [name for name in read_maps(reader) if mine(name)]:
        free = [
            name for name in names if not reader.names(f"{BLOCK}/{read_maps(reader).get(name, '')}/holders")
        ]
        for name in free:
            TrialWriter(reader).run("dmsetup", "remove", "--retry", name)
        left = [name for name in read_maps(reader) if mine(name)]
        if len(left) == len(names):
            if time.monotonic() > end_s:
                say(f"maps that cannot be removed: {', '.join(left)}")
                return
            time.sleep(_PACE_S)


def _tool(reader: HostReader, say: Say, *argv: str) -> None:
    output = TrialWriter(reader).run(*argv, timeout_s=60.0)
    if output.status != 0:
        say(output.why_not or output.stderr.strip() or f"{argv[0]} failed ({output.status})")
