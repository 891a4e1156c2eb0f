"""What the entries of an incident point to. A hint never says more than its lines do, and names them.

A link that is reset is no sign of a bad cable by itself: libata resets it as well where the disk reports one
error after the other. What speaks for the cable is what the link itself reports (SError, ICRC, a bus error, a
lower speed), or that the disk does not come back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from raidtui.features.history.entries import Entry, disk_of, group_of
from raidtui.features.history.incident_signs import (
    FAILED,
    NOT_READY,
    Codes,
    disk_at,
    link_errors,
    link_signs,
    number,
    own_errors,
    refused,
    select_codes,
    then_failed,
    timeouts,
    unread,
)
from raidtui.features.history.wiring import Wiring
from raidtui.view.units import counted, joined


class IncidentCause(StrEnum):
    """What an incident points to, for programs; docs/history.md describes each."""

    BAD_SECTORS = "bad-sectors"
    BY_HAND = "by-hand"
    COMMON = "common"
    CONTROLLER = "controller"
    DISK = "disk"
    INITRAMFS = "initramfs"
    LINK = "link"
    NO_ANSWER = "no-answer"
    NO_DISK_ERROR = "no-disk-error"
    OUTDATED = "outdated"
    PCIE = "pcie"
    PULLED = "pulled"
    RAID0_LAYOUT = "raid0-layout"
    REFUSED = "refused"
    UNCLEAN = "unclean"
    USB = "usb"


class Hint(Struct, frozen=True, kw_only=True):
    """What an incident points to.

    Args:
        cause: what.
        sentence: what the lines say, what that points to, and what to do.
        basis: the codes of the entries that it rests on.
    """

    cause: IncidentCause
    sentence: str
    basis: tuple[str, ...]


_NOT_STARTED = frozenset({"dirty-degraded", "too-few", "run-failed", "start-failed"})
_NVME = frozenset({"nvme-timeout", "nvme-gone", "nvme-apst", "nvme-down"})
_GONE = frozenset({"ata-disabled", "ata-detached", "scsi-offline", "disk-offlined", "ata-revalidation"})
_THRESHOLD = frozenset({"read-errors-10", "read-errors-56"})
_READS = frozenset({"read-corrected", "read-uncorrected", "read-lost", *_THRESHOLD})
_DISK = frozenset({
    "failing-member", "correction-failed", "correction-unread", "superblock-unwritten",
    "ata-error", "ata-exception", "ata-command", "io-error", "scsi-sense", "medium-error", "nvme-timeout",
    "nvme-down", "nvme-gone", "scsi-result", "ata-timeout", "scsi-abort", "hba-reset", "usb-gone",
    "ata-serror", "ata-limited", "ata-reset-failed", "ata-down", *_GONE, *NOT_READY,
})  # fmt: skip
_APART_S = 10.0
_RESULTS = frozenset({"scsi-result", "disk-flush-failed"})
_Rule = Callable[[Codes, Wiring], Hint | None]


def hint_of(entries: Sequence[Entry], wiring: Wiring) -> Hint | None:
    """Return what an incident points to; None where its lines do not say.

    Args:
        entries: of the incident.
        wiring: which disk is behind which port.
    """
    codes: Codes = {}
    for entry in entries:
        codes.setdefault(entry.code, []).append(entry)
    return next((hint for rule in _RULES if (hint := rule(codes, wiring)) is not None), None)


def _common(codes: Codes, wiring: Wiring) -> Hint | None:
    """Several disks at once."""
    signs = [*link_signs(codes), *select_codes(codes, _GONE), *codes.get("ata-down", ())]
    first: dict[str, float] = {}
    for entry in sorted(signs, key=lambda entry: entry.at_s):
        first.setdefault(disk_at(entry, wiring), entry.at_s)
    if len(first) < 2 or max(first.values()) - min(first.values()) > _APART_S:
        return None
    then = then_failed(codes, signs, wiring)
    return Hint(
        cause=IncidentCause.COMMON,
        sentence=f"{joined(sorted(first))} lost their link within {_APART_S:.0f} s{then}: that"
        " points to what they share, the power supply, a backplane, a cable or the controller",
        basis=_basis(signs),
    )


def _at_link(signs: Sequence[Entry], wiring: Wiring) -> str:
    """Return the link that has the signs: of ata3 (sdc)."""
    port = next((entry.port for entry in signs if entry.port), "")
    disk = disk_at(signs[0], wiring)
    return f"the link of {port}{f' ({disk})' if disk != port else ''}"


def _link(codes: Codes, wiring: Wiring) -> Hint | None:
    signs = link_signs(codes)
    if not signs or unread(codes):
        return None
    resets = len(codes.get("ata-reset", ()))
    again = f" and was reset {counted(resets, 'time')}" if resets else ""
    what = f"reported errors{again}" if link_errors(codes) else "was slowed, or a reset of it failed"
    left, unless = "", ""
    if "ata-detached" in codes:
        left, unless = ", and the disk left the bus", " (unless it was pulled)"
    then = then_failed(codes, signs, wiring)
    port = "the expander or the port" if "scsi-sense-more" in _basis(signs) else "its power or the port"
    return Hint(
        cause=IncidentCause.LINK,
        sentence=f"{_at_link(signs, wiring)} {what}{left}{then}: that points to the"
        f" cable, the backplane, {port}, before the disk; replace the cable first{unless}",
        basis=_basis([*signs, *codes.get("ata-reset", ())]),
    )


def _pcie(codes: Codes, wiring: Wiring) -> Hint | None:
    down = [e for e in codes.get("nvme-down", ()) if number(group_of(e, "s")) == 0xFFFF_FFFF]
    if not down:
        return None
    then = then_failed(codes, down, wiring)
    return Hint(
        cause=IncidentCause.PCIE,
        sentence=f"{down[0].port} no longer answered on PCIe (all bits of CSTS are set){then}: that points to"
        " power saving (nvme_core.default_ps_max_latency_us=0 pcie_aspm=off), the slot, heat or power",
        basis=_basis(down),
    )


def _bad_sectors(codes: Codes, wiring: Wiring) -> Hint | None:
    signs = [*select_codes(codes, _READS), *unread(codes)]
    if not signs:
        return None
    found = sorted({disk_at(entry, wiring) for entry in signs} - {""})
    corrected = len(codes.get("read-corrected", ()))
    mended = f"; md rewrote {counted(corrected, 'sector range')}" if corrected else ""
    then = then_failed(codes, signs, wiring)
    if then and _THRESHOLD & codes.keys():
        then += " for too many read errors"
    of_link = link_errors(codes)
    too = f"; {_at_link(of_link, wiring)} reported errors, too: look at its cable as well" if of_link else ""
    return Hint(
        cause=IncidentCause.BAD_SECTORS,
        sentence=f"{joined(found) or 'a disk'} could not read some of its sectors{mended}{then}:"
        f" bad sectors; look at its wear and self-tests (3), and run a check of the array{too}",
        basis=_basis([*signs, *of_link]),
    )


def _nvme(codes: Codes, wiring: Wiring) -> Hint | None:
    """NVMe has no SCT ERC and no link that is reset: what remains is the controller."""
    signs = select_codes(codes, _NVME)
    if not signs:
        return None
    gone = " and did not come back after a reset" if "nvme-gone" in codes else ""
    return Hint(
        cause=IncidentCause.NO_ANSWER,
        sentence=f"{signs[0].port} did not answer in time{gone}{then_failed(codes, signs, wiring)}: that"
        " points to its controller or its power saving (nvme_core.default_ps_max_latency_us=0 pcie_aspm=off),"
        " then its firmware, the slot or heat",
        basis=_basis(signs),
    )


def _no_answer(codes: Codes, wiring: Wiring) -> Hint | None:
    signs = timeouts(codes)
    unready = select_codes(codes, NOT_READY)
    if not signs and not unready:
        return None
    then = then_failed(codes, [*signs, *unready], wiring)
    disk = disk_at((signs or unready)[0], wiring)
    what = "get ready after a reset" if unready else "answer in time"
    words = f"{disk} did not {what}, and its link reported no error{then}: that points to the disk or its"
    alike = "" if unready else "; a disk that retries for too long without SCT ERC looks the same (pane 4)"
    return Hint(
        cause=IncidentCause.NO_ANSWER,
        sentence=f"{words} power{alike}",
        basis=_basis([*signs, *unready]),
    )


def _left_bus(codes: Codes, wiring: Wiring) -> Hint | None:
    """A disk that is no longer attached: requests that fail then say nothing about its sectors."""
    usb = select_codes(codes, frozenset({"usb-gone", "usb-changed", "usb-reset"}))
    signs = [e for e in select_codes(codes, _RESULTS) if group_of(e, "n") in {"DID_NO_CONNECT", "0x01"}]
    if {"usb-gone", "ata-detached"} & codes.keys():
        signs += select_codes(codes, frozenset({"disk-leaving", "ata-detached"}))
    verb = "left" if signs else "was reset on"
    if not signs and "usb-reset" in codes:
        signs = select_codes(codes, frozenset({"io-error", "scsi-result"}))
    if not signs or NOT_READY & codes.keys() or unread(codes):
        return None
    disks = joined(sorted({disk_at(entry, wiring) for entry in signs} - {""}))
    then = then_failed(codes, signs, wiring)
    bus, cause, points = "the bus", IncidentCause.PULLED, "its cable, port or power, unless it was pulled"
    if usb:
        bus, cause, points = "the USB bus", IncidentCause.USB, "the USB adapter, its cable or its power"
    return Hint(
        cause=cause,
        sentence=f"{disks} {verb} {bus}{then}: that points to {points}, not to bad sectors; no data"
        " are lost by that: reconnect it, then check what its array lacks",
        basis=_basis([*usb, *signs]),
    )


def _controller(codes: Codes, wiring: Wiring) -> Hint | None:
    signs = codes.get("hba-reset", [])
    if not signs:
        return None
    then = then_failed(
        codes, select_codes(codes, frozenset({"scsi-reset", "scsi-abort", "scsi-result"})), wiring
    )
    return Hint(
        cause=IncidentCause.CONTROLLER,
        sentence=f"the SAS controller {signs[0].port} was reset{then}: what its disks report then"
        " follows from that; it points to its firmware, heat or power, a cable, or a disk that hangs",
        basis=_basis(signs),
    )


def _raid0_layout(codes: Codes, wiring: Wiring) -> Hint | None:
    del wiring
    signs = codes.get("raid0-layout", [])
    if not signs:
        return None
    return Hint(
        cause=IncidentCause.RAID0_LAYOUT,
        sentence=f"{signs[0].array}: Linux 3.14 changed the layout of such a RAID 0, and its superblocks do"
        " not say which it has: raid0.default_layout=2 (1 if written before 3.14) on the kernel's command"
        " line, or mdadm --assemble --update=layout-alternate (layout-original); try both: raidtui rescue",
        basis=_basis(signs),
    )


def _pulled(codes: Codes, wiring: Wiring) -> Hint | None:
    leaving = {disk_at(entry, wiring) for entry in codes.get("disk-leaving", ())}
    failed = {disk_of(entry.device) for entry in select_codes(codes, FAILED)}
    if not leaving & failed or "ata-exception" in codes or "io-error" in codes:
        return None
    return Hint(
        cause=IncidentCause.PULLED,
        sentence=f"{joined(sorted(leaving & failed))} was removed without an earlier error: pulled,"
        " or deleted by hand",
        basis=("disk-leaving", "member-failed"),
    )


def _disk_itself(codes: Codes, wiring: Wiring) -> Hint | None:
    signs = own_errors(codes)
    if not signs:
        return None
    resets = len(codes.get("ata-reset", ()))
    again = f"; the {counted(resets, 'reset')} of the link followed from them" if resets else ""
    then = then_failed(codes, signs, wiring)
    return Hint(
        cause=IncidentCause.DISK,
        sentence=f"{disk_at(signs[0], wiring)} itself reported the errors{again}{then}: the link"
        " reported none, which points to the disk",
        basis=_basis(signs),
    )


def _refused(codes: Codes, wiring: Wiring) -> Hint | None:
    signs = refused(codes)
    if not signs:
        return None
    disks = joined(sorted({disk_at(entry, wiring) for entry in signs}))
    return Hint(
        cause=IncidentCause.REFUSED,
        sentence=f"{disks} refused a command as not supported: that is not a fault of the disk",
        basis=_basis(signs),
    )


def _at_start(codes: Codes, wiring: Wiring) -> Hint | None:
    del wiring
    if "no-personality" in codes:
        sentence = (
            "the module of the level was missing: the initramfs lacks it; update the initramfs"
            " (update-initramfs -u -k all, or dracut -f)"
        )
        return Hint(cause=IncidentCause.INITRAMFS, sentence=sentence, basis=("no-personality",))
    if "non-fresh" in codes:
        found = joined(sorted({entry.device for entry in codes["non-fresh"]}))
        sentence = (
            f"{found} was missing or had failed earlier, and the array continued without it; add it again"
            " once it is clear why"
        )
        return Hint(cause=IncidentCause.OUTDATED, sentence=sentence, basis=("non-fresh",))
    if "unclean-end" in codes:
        sentence = (
            "the log of the boot before ends without a shutdown: power cut, reset or crash, unless its end"
            " was not kept"
        )
        return Hint(cause=IncidentCause.UNCLEAN, sentence=sentence, basis=("unclean-end",))
    if "not-clean" in codes:
        synced = "the resync makes its members agree"
        if _NOT_STARTED & codes.keys() and "sync-started" not in codes:
            synced = "it did not start, and nothing is synced"
        sentence = (
            f"the array is new, or was in use when the host stopped: power cut, reset or crash; {synced}"
        )
        return Hint(cause=IncidentCause.UNCLEAN, sentence=sentence, basis=("not-clean",))
    return None


def _by_hand(codes: Codes, wiring: Wiring) -> Hint | None:
    """A member that raidtui failed or removed: this very one."""
    del wiring
    ours = select_codes(codes, frozenset({"job-started", "change"}))
    failed = codes.get("member-failed", ())
    first_s = {entry.device: entry.at_s for entry in reversed(failed) if entry.device}
    before = [entry for entry in ours if entry.at_s <= first_s.get(entry.device, 0.0)]
    if not before or _DISK & codes.keys():
        return None
    return Hint(
        cause=IncidentCause.BY_HAND,
        sentence=f"no disk error was logged, and raidtui acted before: {before[-1].text}",
        basis=_basis([*before, *failed]),
    )


def _no_disk_error(codes: Codes, wiring: Wiring) -> Hint | None:
    del wiring
    failed = list(dict.fromkeys(entry.device for entry in codes.get("member-failed", ())))
    if not failed or _DISK & codes.keys():
        return None
    return Hint(
        cause=IncidentCause.NO_DISK_ERROR,
        sentence=f"no error of {joined(failed)} was logged before: failed by hand (mdadm --fail), pulled, or"
        " the lines are missing",
        basis=("member-failed",),
    )


def _basis(signs: Sequence[Entry]) -> tuple[str, ...]:
    return tuple(sorted({entry.code for entry in signs}))


_RULES: tuple[_Rule, ...] = (
    _raid0_layout, _common, _pcie, _controller, _link, _left_bus, _bad_sectors, _nvme, _no_answer, _pulled,
    _disk_itself, _refused, _by_hand, _at_start, _no_disk_error,
)  # fmt: skip
