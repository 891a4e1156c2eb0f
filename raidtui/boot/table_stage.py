"""After the root file system: what fstab and crypttab want before the machine is up."""

from __future__ import annotations

import re
from collections.abc import Iterator

from raidtui.boot.boot_host import BootHost
from raidtui.boot.boot_reasons import BootCode, Reason
from raidtui.host.md.configured import ConfiguredArray
from raidtui.model.array import Array
from raidtui.model.boot import TableLine

_MOVES = re.compile(r"/dev/(?:(?:sd|vd|hd|xvd|ubd)[a-z]+\d*|nvme\d+n\d+(?:p\d+)?)")
_NOT_NEEDED = frozenset({"noauto", "nofail", "x-systemd.automount"})


def waits(line: TableLine) -> bool:
    """Whether the boot waits for a line's device, and stops without it (systemd.mount(5))."""
    return line.place != "/" and _NOT_NEEDED.isdisjoint(line.options)


def table_reasons(host: BootHost, lost: str, configured: tuple[ConfiguredArray, ...]) -> Iterator[Reason]:
    """Yield what fstab and crypttab want that is not there without a disk.

    Args:
        host: the host.
        lost: the disk.
        configured: the arrays in mdadm.conf.
    """
    for line in host.facts.lines:
        if waits(line):
            yield from _of_line(host, line, lost, configured)


def _of_line(
    host: BootHost, line: TableLine, lost: str, configured: tuple[ConfiguredArray, ...]
) -> Iterator[Reason]:
    where, what = f"{line.file}, line {line.line}", line.spec
    about = f"{line.file}:{line.line}"
    if not line.devices:
        if line.kind not in {"swap", "crypt"}:
            text = f"{where}: nothing here is {what}, and there is no nofail"
            yield Reason(code=BootCode.FSTAB_UNKNOWN, text=text, boots=None, about=about)
        return
    alive = [host.alive(device, lost) for device in line.devices]
    if line.kind == "swap":
        if not all(alive):
            text = f"{where}: swap on {what} is lost with it: the boot waits for it, and goes on"
            yield Reason(code=BootCode.SWAP_WAITS, text=text, boots=True, about=about)
    elif line.kind == "crypt":
        if not all(alive):
            text = f"{where}: {line.place} cannot be opened without it: the boot waits for it, and goes on"
            yield Reason(code=BootCode.CRYPT_WAITS, text=text, boots=True, about=about)
    elif True not in alive:
        text = f"{where}: {line.place} is lost with it, without nofail: the boot ends in the emergency shell"
        yield Reason(
            code=BootCode.FSTAB_WAITS, text=text, boots=False if False in alive else None, about=about
        )
    elif _MOVES.fullmatch(line.spec):
        text = f"{where}: {what} is a name that moves when a disk is missing"
        yield Reason(code=BootCode.FSTAB_MOVES, text=text, boots=None, about=about)
    else:
        for array in host.arrays_below(line.devices[0]):
            yield from _of_array(host, array, line, lost, configured)


def _of_array(
    host: BootHost, array: Array, line: TableLine, lost: str, configured: tuple[ConfiguredArray, ...]
) -> Iterator[Reason]:
    """Of an array that is degraded then: udev starts it after 30 s, where it is not foreign."""
    root = host.arrays_below(host.facts.root.device)
    if array in root or not host.degraded_by(array, lost):
        return
    named = any(each.uuid == array.uuid or each.path == array.path for each in configured)
    if named or not _foreign(host, array):
        return
    text = f"the array {array.title} with {line.place} is foreign here: it is not started degraded"
    yield Reason(code=BootCode.ARRAY_FOREIGN, text=text, about=f"{line.file}:{line.line}")


def _foreign(host: BootHost, array: Array) -> bool:
    owner, sign, _ = dict(host.facts.names).get(array.name, "").partition(":")
    return bool(sign) and owner not in {host.facts.home_host, "any"}
