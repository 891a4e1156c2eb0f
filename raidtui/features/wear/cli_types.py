"""``raidtui wear --type`` and ``--scan``: which device type smartctl asks a disk by."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from raidtui.command.device_names import kernel_name
from raidtui.command.streams import print_json
from raidtui.features.wear.wear_report import FORMAT_VERSION
from raidtui.host.block import BLOCK, read_identity
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.smart.device_types import PATH, read_types, types_text, why_not_type
from raidtui.host.smart.pysmart import PysmartError, scan_devices
from raidtui.jobs.state_files import own_folder, write_synced
from raidtui.view.text import visible

DONE, NOT_WRITTEN, REFUSED, UNKNOWN = range(4)
_AUTO = frozenset({"", "auto"})


def types_path() -> Path:
    """Return the file that keeps the types."""
    return Path(PATH)


def keep_types(reader: HostReader, words: Sequence[str]) -> int:
    """Keep the types that are given for disks, in the place of their former ones; return the exit status.

    Args:
        reader: the live host.
        words: ``sdb=megaraid,0``; several of one disk stand for a controller's disks. ``sdb=auto`` forgets.
    """
    if not reader.live or not reader.writable:
        return _say("not done: types are kept on the live host, by root", REFUSED)
    kept = read_types(reader)
    if kept.value is None:
        return _say(kept.why, REFUSED)
    given: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for word in words:
        given_name, _, kind = word.partition("=")
        name = kernel_name(reader, given_name)
        if "=" not in word or reader.text(f"{BLOCK}/{name.replace('/', '!')}/size") is None:
            return _say(f"{word!r}: there is no such disk; a type is given as sdb=megaraid,0", REFUSED)
        identity = read_identity(reader, name).identity
        if not identity:
            why = (
                f"{name} has neither a serial number nor a WWN, and its name may change: its type is not kept"
            )
            return _say(why, REFUSED)
        kinds = given.setdefault(identity, [])
        names[identity] = name
        if kind not in _AUTO:
            if why := why_not_type(kind):
                return _say(why, REFUSED)
            kinds.append(kind)
    types = {**kept.value, **{key: tuple(dict.fromkeys(kinds)) for key, kinds in given.items()}}
    try:
        own_folder(types_path().parent)
        write_synced(types_path(), types_text({key: kinds for key, kinds in types.items() if kinds}))
    except OSError as error:
        return _say(f"{types_path()}: {error.strerror}", NOT_WRITTEN)
    for identity, kinds in given.items():
        what = f"smartctl -d {', -d '.join(kinds)}" if kinds else "smartctl chooses its type"
        print(visible(f"{names[identity]} ({identity}): {what}"))
    return DONE


def show_scan(reader: HostReader, *, as_json: bool) -> int:
    """Print what ``smartctl --scan-open`` finds, and the kept types; return the exit status."""
    kept = read_types(reader)
    try:
        devices = scan_devices(reader, opened=True)
    except PysmartError as error:
        return _say(str(error), UNKNOWN)
    if as_json:
        print_json(
            {
                "format_version": FORMAT_VERSION,
                "devices": [{"path": each.path, "type": each.kind} for each in devices],
                "kept": {key: list(kinds) for key, kinds in (kept.value or {}).items()},
            }
        )
    else:
        if not devices:
            print("smartctl --scan-open finds no device.")
        for each in devices:
            print(visible(f"{each.path} -d {each.kind}"))
        for identity, kinds in (kept.value or {}).items():
            print(visible(f"kept for {identity}: {', '.join(kinds)}"))
    if kept.value is None:
        return _say(kept.why, UNKNOWN)
    return DONE


def _say(text: str, status: int) -> int:
    print(f"raidtui: {visible(text)}", file=sys.stderr)
    return status
