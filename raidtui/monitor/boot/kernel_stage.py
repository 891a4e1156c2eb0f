"""From the kernel to the root file system: what is on its command line, and what its initramfs can do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from raidtui.host.md.configured import ConfiguredArray, configured_in
from raidtui.host.readers.host_reader import whole_number
from raidtui.model.array import Array
from raidtui.model.boot import BootEntry, BootKernel, Initramfs
from raidtui.model.geometry import losses_left
from raidtui.model.levels import PARITY_LEVELS
from raidtui.model.stack import StackKind
from raidtui.monitor.boot.boot_host import BootHost
from raidtui.monitor.boot.boot_reasons import BootCode, Reason
from raidtui.view.units import joined

_MODULES = {"raid4": "raid456", "raid5": "raid456", "raid6": "raid456"}
_FORCED = frozenset({"md_mod.start_dirty_degraded=1", "md_mod.start_dirty_degraded=y"})
_PATIENCE_S, _ROUND_S = 30, 2
_SYSTEMS = frozenset({"ext4", "xfs", "btrfs", "f2fs", "jfs"})
_KERNEL_NAME = re.compile(r"/dev/(?:sd|vd|hd|xvd|ubd)[a-z]+\d*|/dev/nvme\d+n\d+(?:p\d+)?")
_AUTO = re.compile(r"^\s*auto\s+(.*)", re.IGNORECASE | re.MULTILINE)


def kernel_reasons(host: BootHost, lost: str) -> Iterator[Reason]:
    """Yield what is wrong with the way from the kernel to the root file system without a disk."""
    facts = host.facts
    root = facts.root.device
    if not root:
        text = "the device of the root file system is not known"
        yield Reason(code=BootCode.ROOT_UNKNOWN, text=text, boots=None)
        return
    alive = _btrfs_alive(host, lost) if facts.root.others else host.alive(root, lost)
    if alive is False and facts.root.others:
        names = joined([root, *facts.root.others])
        text = f"the root file system is btrfs on {names}: without one of them it is not mounted"
        yield Reason(code=BootCode.BTRFS_DEGRADED, text=text)
        return
    if alive is False and (old := host.old_copy(root, lost)):
        text = f"{old} has left the array, but does not record that: the machine may boot with its old data"
        yield Reason(code=BootCode.OLD_COPY, text=text, boots=None)
        return
    if alive is False:
        yield Reason(
            code=BootCode.ROOT_LOST, text=f"the root file system is on {root}, which is lost with it"
        )
        return
    if alive is None:
        text = f"it is not known whether {root} survives"
        yield Reason(code=BootCode.ROOT_UNKNOWN, text=text, boots=None)
        return
    usr = {host.alive(device, lost) for device in host.usr}
    if usr and True not in usr:
        text = "/usr is lost with it: the initramfs mounts it before init runs, and ends in its shell"
        yield Reason(code=BootCode.USR_LOST, text=text, boots=False if None not in usr else None)
        return
    if facts.start is None:
        text = f"the next boot entry is not known: {facts.start_unread}"
        yield Reason(code=BootCode.NEXT_UNKNOWN, text=text, boots=None)
        return
    version = facts.start.kernel.partition("-")[2]
    next_up = next((kernel for kernel in facts.kernels if kernel.version == version), None)
    if next_up is None:
        text = f"the kernel that boots next, {facts.start.kernel}, is not in /boot"
        yield Reason(code=BootCode.NEXT_UNKNOWN, text=text, boots=None)
    elif any(map(host.in_initramfs, host.early)):
        yield from _check_entry(facts.start, next_up)
    for array in host.early_arrays:
        yield from state_reasons(host, array, lost)
    for kernel in facts.kernels:
        for reason in (*_check_kernel(host, kernel, lost), *_check_command_line(host, kernel, lost)):
            if kernel is next_up:
                yield reason
            elif reason.boots is False:
                yield replace(reason, boots=True, text=f"{reason.text}; another kernel boots next")


def _btrfs_alive(host: BootHost, lost: str) -> bool | None:
    """Whether a btrfs on several devices is mounted: without one of them, only where that is asked for.

    Then it depends on its profiles, which are in it alone (btrfs(5), degraded).
    """
    root = host.facts.root
    alive = {host.alive(device, lost) for device in (root.device, *root.others)}
    if False not in alive:
        return None if None in alive else True
    words = host.facts.start.words if host.facts.start is not None else ()
    flags = [word.partition("=")[2].split(",") for word in words if word.startswith("rootflags=")]
    return None if any("degraded" in each for each in flags) else False


def state_reasons(host: BootHost, array: Array, lost: str) -> Iterator[Reason]:
    """Yield what md itself does with an array that lacks what is on the disk.

    raid5_run refuses a dirty degraded array (drivers/md/raid5.c): without all members, stale parity makes
    wrong data. A journal or PPL says what is stale. Without its journal, it starts read-only.
    """
    journals = [member for member in array.members if member.has("journal")]
    covered = journals or array.consistency_policy in {"journal", "ppl"}
    dirty = array.resync_start not in {None, "none"} or array.parity_unfinished
    lacking = bool(array.missing_slots) or host.degraded_by(array, lost)
    words = host.facts.start.words if host.facts.start is not None else ()
    forced = any(word.replace("-", "_") in _FORCED for word in words)
    if array.level in PARITY_LEVELS and dirty and lacking and not covered and not forced:
        text = f"the parity of the array {array.title} is not in step yet: md does not start it degraded"
        yield Reason(code=BootCode.DIRTY_DEGRADED, text=text)
    if journals and all(lost in host.disks(member.name) for member in journals):
        text = f"the write journal of the array {array.title} is lost with it: md starts the array read-only"
        yield Reason(code=BootCode.JOURNAL_LOST, text=text, boots=None)


def _check_entry(start: BootEntry, kernel: BootKernel) -> Iterator[Reason]:
    """Yield what is wrong with the initramfs that a menu entry names."""
    image = kernel.initramfs.path.rpartition("/")[2] if kernel.initramfs is not None else ""
    if not start.initrd:
        text = f"the menu entry that boots next, {start.title!r}, has no initramfs"
        yield Reason(code=BootCode.ENTRY_NO_INITRAMFS, text=text)
    elif image and start.initrd != image:
        text = f"the contents of {start.initrd}, the initramfs that boots next, are not known"
        yield Reason(code=BootCode.NEXT_UNKNOWN, text=text, boots=None)


def _check_kernel(host: BootHost, kernel: BootKernel, lost: str) -> Iterator[Reason]:
    image, version = kernel.initramfs, kernel.version
    if not any(map(host.in_initramfs, host.early)):
        return
    if image is None:
        text = f"kernel {version} has no initramfs, and the root file system is not on a plain disk"
        yield Reason(code=BootCode.NO_INITRAMFS, text=text, about=version)
        return
    if image.unread:
        older = host.facts.conf_modified_s or 0.0
        age = ", and it is older than mdadm.conf" if (image.modified_s or older) < older else ""
        text = f"the initramfs of {version} is not known: {image.unread}{age}"
        yield Reason(code=BootCode.INITRAMFS_NOT_READ, text=text, boots=None)
        return
    yield from _check_contents(host, kernel, image)
    for array in host.early_arrays:
        yield from _check_conf(array, image, version)
        out = [member.name for member in array.members if member.name in image.left_out]
        if out:
            yield _explain_device_line(host, array, out, lost, version)
        if (out or host.degraded_by(array, lost)) and not image.starts_degraded:
            known = image.maker == "initramfs-tools"
            words = "has nothing that starts" if known else "may have nothing that starts"
            yield Reason(
                code=BootCode.NO_DEGRADED_START,
                text=f"the initramfs of {version} {words} the array {array.title} with a member missing",
                boots=False if known else None,
                about=version,
            )
    yield from _check_delay(host, image, lost)


def _check_delay(host: BootHost, image: Initramfs, lost: str) -> Iterator[Reason]:
    """Yield that what stands on a degraded array comes too late, because of rootdelay=.

    initramfs-tools waits in rounds of at least two seconds, until 30 s have passed since it began. In each it
    opens what is encrypted; it starts the degraded array at the end of the first one after 20 s, and volumes
    come by udev after that: both are there in one of the next rounds. With rootdelay=, it first sleeps for
    all of these seconds. From about 30 on, there is one round, which ends with the array.
    """
    root, words = host.facts.root.device, host.facts.start.words if host.facts.start is not None else ()
    late = any(host.degraded_by(array, lost) for array in host.arrays_below(root))
    above = any(kind is StackKind.CRYPT or kind.startswith("lvm") for kind in host.kinds_below(root))
    if image.maker != "initramfs-tools" or not (late and image.starts_degraded and above):
        return
    given = [word.partition("=")[2] for word in words if word.startswith("rootdelay=")]
    delay = (whole_number(given[-1]) or 0) if given else 0
    if delay + _ROUND_S >= _PATIENCE_S:
        text = (
            f"with rootdelay={delay} the initramfs gives up once it has started the degraded array: {root},"
            " which is on that array, is not there yet"
        )
        yield Reason(code=BootCode.ROOT_DELAY, text=text)


def _check_contents(host: BootHost, kernel: BootKernel, image: Initramfs) -> Iterator[Reason]:
    root, version = host.facts.root, kernel.version
    kinds, arrays = host.early_kinds, host.early_arrays
    for name in sorted(_modules(host) - {*image.modules, *kernel.built_in}):
        text = f"the initramfs of {version} has no module {name}, which the root file system needs"
        yield Reason(code=BootCode.INITRAMFS_NO_MODULE, text=text, about=version)
    programs = {"mdadm"} if arrays else set[str]()
    programs |= {"lvm"} if any(kind.startswith("lvm") for kind in kinds) else set()
    if StackKind.CRYPT in kinds and "systemd-cryptsetup" not in image.programs:
        programs.add("cryptsetup")
    for name in sorted(programs - {*image.programs}):
        text = f"the initramfs of {version} has no {name}, which the root file system needs"
        yield Reason(code=BootCode.INITRAMFS_NO_PROGRAM, text=text, about=version)
    labels = {host.stack.nodes[each].label for each in (root.device, *host.stack.below(root.device))
              if host.stack.nodes[each].kind is StackKind.CRYPT}  # fmt: skip
    for label in sorted(labels - {*image.crypttab}) if image.maker == "initramfs-tools" else ():
        text = f"the initramfs of {version} does not open {label}, which holds the root file system"
        yield Reason(code=BootCode.INITRAMFS_NO_PROGRAM, text=text, about=version)


def _modules(host: BootHost) -> set[str]:
    """Return the modules of md's levels, dm-crypt and the file system that the root file system needs."""
    found = {_MODULES.get(array.level or "", array.level or "") for array in host.early_arrays}
    found |= {host.facts.root.kind} & _SYSTEMS
    found |= {"dm_crypt"} if StackKind.CRYPT in host.early_kinds else set()
    return found - {""}


def _explain_device_line(host: BootHost, array: Array, out: list[str], lost: str, version: str) -> Reason:
    """Of DEVICE in mdadm.conf: mdadm --incremental does not take what it leaves out (conf_test_dev)."""
    serving = [member for member in array.members if member.has("in_sync") and member.name not in out]
    there = {member.slot for member in serving if lost not in host.disks(member.name)}
    missing = set(range(array.raid_disks or 0)) - there
    left = losses_left(array.level, array.layout, array.raid_disks or 0, missing)
    then = "the array starts degraded" if (left or 0) >= 0 else "too few members are left then"
    words = f"mdadm.conf in the initramfs of {version} has a DEVICE line that leaves out {joined(out)}"
    return Reason(
        code=BootCode.INITRAMFS_DEVICE,
        text=f"{words} of the array {array.title}: {then}",
        boots=None if left is None else left >= 0,
    )


def _check_conf(array: Array, image: Initramfs, version: str) -> Iterator[Reason]:
    """Yield what mdadm.conf in an initramfs says against an array that the root file system lies on."""
    lines = configured_in(image.path, image.conf or "")
    own = next((line for line in lines if line.uuid is not None and line.uuid == array.uuid), None)
    where = f"mdadm.conf in the initramfs of {version}"
    if own is not None:
        if own.ignored:
            text = f"{where} ignores the array {array.title}: it is not assembled"
            yield Reason(code=BootCode.INITRAMFS_REFUSES, text=text, about=version)
        return
    named = [line for line in lines if not line.ignored]
    if _refuses_others(image.conf or ""):
        text = f"{where} does not name the array {array.title}, and says AUTO -all: it is not assembled"
        yield Reason(code=BootCode.INITRAMFS_REFUSES, text=text, about=version)
    elif named:
        text = f"{where} names arrays, but not the array {array.title}: it comes up under another number"
        yield Reason(code=BootCode.INITRAMFS_STALE, text=text, boots=True, about=version)


def _refuses_others(conf: str) -> bool:
    """Whether AUTO keeps arrays without a line from being assembled (mdadm.conf(5)); the last word wins."""
    words = [word for found in _AUTO.finditer(conf) for word in found[1].split()]
    decided = next((word for word in words if word[1:] in {"all", "1.x"} or word == "homehost"), "+all")
    return decided.startswith("-")


def _check_command_line(host: BootHost, kernel: BootKernel, lost: str) -> Iterator[Reason]:
    """Yield what is wrong with the kernel's command line."""
    facts = host.facts
    words = facts.start.words if facts.start is not None else ()
    arrays = host.arrays_below(facts.root.device)
    value = next((word.partition("=")[2] for word in reversed(words) if word.startswith("root=")), "")
    yield from _check_root_word(host, kernel, value)
    banned = {name.replace("-", "_") for word in words if word.startswith("module_blacklist=")
              for name in word.partition("=")[2].split(",")}  # fmt: skip
    for name in sorted(banned & (_modules(host) - {*kernel.built_in})):
        text = f"module_blacklist= on the kernel's command line blocks {name}, which the root needs"
        yield Reason(code=BootCode.MODULE_BLACKLIST, text=text)
    image = kernel.initramfs
    if image is not None and image.maker == "dracut" and arrays:
        yield from _check_dracut(arrays, (*words, *image.words))
    resume = next((word for word in words if word.startswith("resume=")), "")
    devices = dict(facts.named).get(resume, ())
    if devices and not any(host.alive(each, lost) for each in devices):
        text = f"the kernel's command line has {resume}, which is lost with it: the boot waits for that"
        yield Reason(code=BootCode.RESUME_LOST, text=text, boots=True)


def _check_root_word(host: BootHost, kernel: BootKernel, value: str) -> Iterator[Reason]:
    root, version = host.facts.root, kernel.version
    if value.upper().startswith("UUID="):
        if not root.uuid:
            text = f"it is not known whether root={value} is the root file system"
            yield Reason(code=BootCode.ROOT_UNKNOWN, text=text, boots=None)
        elif value[5:].lower() != root.uuid.lower():
            text = f"the kernel's command line has root={value}, but the root file system is {root.uuid}"
            yield Reason(code=BootCode.ROOT_OTHER, text=text)
        return
    if value.startswith("/dev/md"):
        array = host.arrays.get(root.device)
        lines = configured_in("", kernel.initramfs.conf or "") if kernel.initramfs is not None else ()
        line = next((each for each in lines if array is not None and each.uuid == array.uuid), None)
        if line is None or not is_path(line, value, array):
            text = f"nothing in the initramfs of {version} gives the array the name root={value}"
            yield Reason(code=BootCode.ROOT_NAME, text=text, about=version)
    elif _KERNEL_NAME.fullmatch(value):
        text = f"root={value} is a name that changes when a disk is missing"
        yield Reason(code=BootCode.ROOT_NAME, text=text, boots=None)
    elif not value:
        text = "the kernel's command line does not say where the root file system is"
        yield Reason(code=BootCode.ROOT_UNKNOWN, text=text, boots=None)
    else:
        yield from _check_other_name(host, value)


def _check_other_name(host: BootHost, value: str) -> Iterator[Reason]:
    """Of a label, or a path of LVM, dm-crypt or udev: what has it now."""
    devices = dict(host.facts.named).get(f"root={value}", ())
    if devices == (host.facts.root.device,):
        return
    if not devices:
        text = f"the kernel's command line has root={value}, and nothing here has that name"
        yield Reason(code=BootCode.ROOT_UNKNOWN, text=text, boots=None)
    elif host.facts.root.device in devices:
        text = f"root={value} is the name of {' and of '.join(devices)}: which one is used is not known"
        yield Reason(code=BootCode.ROOT_NAME, text=text, boots=None)
    else:
        text = f"the kernel's command line has root={value}, but that is {devices[0]}"
        yield Reason(code=BootCode.ROOT_OTHER, text=text)


def is_path(line: ConfiguredArray, value: str, array: Array | None) -> bool:
    """Whether an ARRAY line gives an array this path."""
    names = {line.path, line.path.replace("/dev/md/", "/dev/md"), f"/dev/md/{line.label}"}
    return value in names or (array is not None and value == f"/dev/md/{array.title}")


def _check_dracut(arrays: tuple[Array, ...], words: tuple[str, ...]) -> Iterator[Reason]:
    """Of dracut.cmdline(7): rd.md=0 starts nothing, rd.md.uuid= nothing else; that or rd.auto is needed."""
    if any(word in words for word in ("rd.md=0", "rd.md=no", "rd.md=off")):
        yield Reason(code=BootCode.RD_MD, text="the kernel's command line has rd.md=0: no array is started")
        return
    named = {word.partition("=")[2].replace(":", "").replace("-", "").lower() for word in words
             if word.startswith("rd.md.uuid=")}  # fmt: skip
    if not named and not any(word in {"rd.auto", "rd.auto=1", "rd.auto=yes", "rd.auto=on"} for word in words):
        text = "neither rd.md.uuid nor rd.auto is on the kernel's command line: dracut starts no array"
        yield Reason(code=BootCode.RD_MD, text=text)
    for array in arrays:
        if named and (array.uuid or "").replace(":", "") not in named:
            text = (
                f"rd.md.uuid on the kernel's command line names other arrays, but not the array {array.title}"
            )
            yield Reason(code=BootCode.RD_MD, text=text)
