"""After the root file system: what fstab and crypttab want before the machine is up."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from raidtui.host.md.configured import ConfiguredArray, configured_in
from raidtui.model.array import Array
from raidtui.model.boot import Initramfs, TableLine
from raidtui.monitor.boot.boot_host import BootHost
from raidtui.monitor.boot.boot_reasons import BootCode, Reason
from raidtui.monitor.boot.kernel_stage import is_path, state_reasons

_NAMED_MD = re.compile(r"/dev/md(?:\d+|/.+)")
_TIMEOUT = re.compile(r"x-systemd\.device-timeout=(.+)")
_USUAL_WAIT = "90 s"
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
            yield from _check_line(host, line, lost, configured)


def _check_line(
    host: BootHost, line: TableLine, lost: str, configured: tuple[ConfiguredArray, ...]
) -> Iterator[Reason]:
    where, what = f"{line.file}, line {line.line}", line.spec
    about = f"{line.file}:{line.line}"
    if not line.devices:
        if line.kind not in {"swap", "crypt"}:
            text = f"{where}: nothing here is {what}, and the line has no nofail"
            yield Reason(code=BootCode.FSTAB_UNKNOWN, text=text, boots=None, about=about)
        return
    alive = [host.alive(device, lost) for device in line.devices]
    if line.kind == "swap":
        if not all(alive):
            text = (
                f"{where}: swap on {what} is lost with it: the boot waits {_wait(line)} for it, and continues"
            )
            yield Reason(code=BootCode.SWAP_WAITS, text=text, boots=True, about=about)
        elif _MOVES.fullmatch(what):
            text = f"{where}: {what} is a name that changes when a disk is missing: swap may not come up"
            yield Reason(code=BootCode.FSTAB_MOVES, text=text, boots=True, about=about)
    elif line.kind == "crypt":
        if not all(alive):
            text = (
                f"{where}: {line.place} cannot be opened without it: the boot waits {_wait(line)} for"
                " it, and continues"
            )
            yield Reason(code=BootCode.CRYPT_WAITS, text=text, boots=True, about=about)
        elif _MOVES.fullmatch(what):
            text = f"{where}: {what} is a name that changes when a disk is missing: another may be opened"
            yield Reason(code=BootCode.FSTAB_MOVES, text=text, boots=None, about=about)
    elif line.place == "/usr" and True not in alive:
        return  # before init runs: see ``kernel_reasons``
    elif True not in alive or (line.kind == "btrfs" and not all(alive) and "degraded" not in line.options):
        text = (
            f"{where}: {line.place} is lost with it, without nofail: the boot waits {_wait(line)} for it, and"
            " ends in the emergency shell"
        )
        yield Reason(
            code=BootCode.FSTAB_WAITS, text=text, boots=False if False in alive else None, about=about
        )
    elif _MOVES.fullmatch(line.spec):
        text = f"{where}: {what} is a name that changes when a disk is missing"
        yield Reason(code=BootCode.FSTAB_MOVES, text=text, boots=None, about=about)
    else:
        yield from _check_md_name(host, line, lost, configured)
        for array in host.arrays_below(line.devices[0]):
            yield from _check_array(host, array, line, lost, configured)


def _next_image(host: BootHost) -> Initramfs | None:
    """Return the initramfs of the kernel that boots next; None where it has none, or that is not known."""
    version = host.facts.start.kernel.partition("-")[2] if host.facts.start is not None else ""
    return next((each.initramfs for each in host.facts.kernels if each.version == version), None)


def _wait(line: TableLine) -> str:
    """Return how long systemd waits for a line's device (systemd.mount(5))."""
    found = next((each for word in line.options if (each := _TIMEOUT.fullmatch(word))), None)
    if found is None:
        return _USUAL_WAIT
    value = found[1]
    return "forever" if value in {"0", "infinity"} else f"{value} s" if value.isdigit() else value


def _check_md_name(
    host: BootHost, line: TableLine, lost: str, configured: tuple[ConfiguredArray, ...]
) -> Iterator[Reason]:
    """Of /dev/md0 and the like: without an ARRAY line, md numbers arrays as they come."""
    array = host.arrays.get(line.devices[0])
    if array is None or not _NAMED_MD.fullmatch(line.spec) or not host.degraded_by(array, lost):
        return
    image = _next_image(host)
    inner = configured_in("", image.conf or "") if image is not None else ()
    for lines in (configured, *((inner,) if inner else ())):
        own = next((each for each in lines if each.uuid is not None and each.uuid == array.uuid), None)
        if own is None or not is_path(own, line.spec, array):
            text = f"{line.file}, line {line.line}: no ARRAY line gives the array the name {line.spec}"
            about = f"{line.file}:{line.line}"
            yield Reason(code=BootCode.FSTAB_MOVES, text=text, boots=None, about=about)
            return


def _check_array(
    host: BootHost, array: Array, line: TableLine, lost: str, configured: tuple[ConfiguredArray, ...]
) -> Iterator[Reason]:
    """Of an array that is degraded then: udev starts it after 30 s, where it is not foreign.

    initramfs-tools takes all arrays in. While it waits for the root's, it starts what is incomplete (its
    script local-block/mdadm runs ``mdadm --run /dev/md?*``); where the root's is complete it does not wait,
    and udev does not see the members again as new: nothing starts the array.
    """
    device = host.facts.root.device
    if array not in host.early_arrays:
        dirty = (each for each in state_reasons(host, array, lost) if each.code is BootCode.DIRTY_DEGRADED)
        yield from (replace(each, about=f"{line.file}:{line.line}") for each in dirty)
    root = host.arrays_below(device)
    if array in root or not host.degraded_by(array, lost) or not host.alive(device, lost):
        return
    image = _next_image(host)
    if image is not None and image.maker == "initramfs-tools" and "mdadm" in image.programs:
        waited = any(host.degraded_by(each, lost) for each in root)
        if not waited:
            text = f"the array {array.title} with {line.place} stays incomplete: nothing starts it degraded"
            yield Reason(code=BootCode.ARRAY_NOT_STARTED, text=text, about=f"{line.file}:{line.line}")
        return
    named = any(each.uuid == array.uuid or each.path == array.path for each in configured)
    if named or not _foreign(host, array):
        return
    text = f"the array {array.title} with {line.place} is foreign here: it is not started degraded"
    yield Reason(code=BootCode.ARRAY_FOREIGN, text=text, about=f"{line.file}:{line.line}")


def _foreign(host: BootHost, array: Array) -> bool:
    owner, sign, _ = dict(host.facts.names).get(array.name, "").partition(":")
    return bool(sign) and owner not in {host.facts.home_host, "any"}
