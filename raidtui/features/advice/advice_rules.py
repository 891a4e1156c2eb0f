"""Advice about a host: what is the case, why it matters, what fixes it. Pure; the worst comes first.

What is wrong with an array now is not an advice: ``raidtui.monitor.health`` says it. Of what ``tune`` and
``stack`` find, all that needs attention is here, too, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from raidtui.features.advice.advice import Advice, AdviceCode, HostFacts
from raidtui.features.advice.boot_rules import advise_on_boot
from raidtui.features.advice.conf_rules import advise_on_conf
from raidtui.features.advice.member_rules import advise_on_members
from raidtui.features.advice.watch_rules import advise_on_controllers, advise_on_watchers
from raidtui.model.array import Array
from raidtui.model.finding import Severity
from raidtui.model.levels import BITMAP_BYTES
from raidtui.model.stack import Stack, StackKind, StackNode
from raidtui.monitor.stack.stack_findings import StackCode, StackFinding
from raidtui.monitor.stack.stack_trim import discards_end
from raidtui.plans.known_bugs import met_bugs
from raidtui.plans.tune.findings import TuneCode, TuneFinding
from raidtui.view.units import KIB, binary_size

FULL_SHARE, VERY_FULL_SHARE = 0.80, 0.95
_JOURNALED = frozenset({"ext3", "ext4", "xfs", "btrfs", "f2fs"})
_TRIMMED = _JOURNALED | {"vfat"}


def advise(facts: HostFacts) -> tuple[Advice, ...]:
    """Return all advice for a host, the worst first."""
    found: list[Advice] = []
    run = [
        each
        for each in facts.snapshot.arrays
        if each.active and not each.is_container and not facts.snapshot.is_trial(each)
    ]
    for array in run:
        found += _advise_on_array(facts, array)
    found += advise_on_members(facts, run)
    found += advise_on_conf(facts)
    for node in facts.stack.nodes.values():
        found += _advise_on_file_system(facts, node)
    found += _advise_on_trim(facts)
    found += advise_on_watchers(facts)
    found += advise_on_controllers(facts)
    found += advise_on_boot(facts.boot)
    found += [
        _advise_on_stack(each)
        for each in facts.stack_findings
        if each.role in _ROLES and each.code in _STACK_WHY
    ]
    found += [
        _advise_on_tuning(each)
        for each in facts.tune_findings
        if each.severity >= Severity.ATTENTION and each.code in _TUNE_WHY
    ]
    keyed = (replace(each, key=_key(facts, each)) for each in found)
    return tuple(sorted(keyed, key=lambda each: -each.severity))


def _key(facts: HostFacts, each: Advice) -> str:
    """Return what advice is about, whatever the kernel's names are: by a UUID, a serial number, a label."""
    return " ".join(filter(None, (_identity(facts, each.subject), each.detail)))


def _identity(facts: HostFacts, subject: str) -> str:
    for array in facts.snapshot.arrays:
        if subject in {array.title, array.name} and array.uuid:
            return f"array {array.uuid}"
    disk, node = facts.snapshot.disks.get(subject), facts.stack.nodes.get(subject)
    if disk is not None and disk.identity:
        return f"disk {disk.identity} {subject.removeprefix(disk.disk)}".rstrip()
    return node.title if node is not None else subject


def _advise_on_array(facts: HostFacts, array: Array) -> Iterator[Advice]:
    size = (array.component_kib or 0) * KIB
    if array.redundant and array.consistency_policy == "resync" and size >= BITMAP_BYTES:
        parity = array.level in {"raid4", "raid5", "raid6"}
        more = ", and a disk that fails meanwhile can take other data with it" if parity else ""
        yield Advice(
            code=AdviceCode.NO_BITMAP,
            severity=Severity.ATTENTION,
            subject=array.title,
            text=f"{array.title} has neither a bitmap nor a journal",
            why=f"After a power cut md reads all {binary_size(size)} of each member again{more} (md(4)).",
            remedy="add a bitmap; the array stays in use",
            order=("plan", "bitmap", array.title, "internal"),
        )
    for number, clause, sure in met_bugs(facts.snapshot.host.kernel, array):
        yield Advice(
            code=AdviceCode.KERNEL_BUG,
            severity=Severity.ATTENTION if sure else Severity.INFO,
            subject=array.title,
            text=clause,
            detail=number,
            why="It is on record under that number, and fixed in later kernels (git.kernel.org, vulns.git).",
            remedy="boot a kernel that has the fix",
        )


def _advise_on_file_system(facts: HostFacts, node: StackNode) -> Iterator[Advice]:
    system, below = node.file_system, facts.stack.below(node.name)
    levels = [facts.stack.nodes[name].level for name in (node.name, *below) if name in facts.stack.nodes]
    if system.swap and any(level in {"raid0", "linear"} for level in levels):
        yield Advice(
            code=AdviceCode.SWAP_ON_STRIPES,
            severity=Severity.ATTENTION,
            subject=node.title,
            text=f"swap is on {node.title}, which does not survive a failed disk",
            why="The kernel then kills every program that has memory swapped out: swap has no copies.",
            remedy="put swap on a mirror",
        )
    on_array = any(levels)
    if not (on_array and system.mounts and system.kind in _JOURNALED and system.size_bytes):
        return
    if system.free_bytes is None or not 0 <= system.free_bytes <= system.size_bytes:
        return
    share = 1 - system.free_bytes / system.size_bytes
    if share >= FULL_SHARE:
        yield Advice(
            code=AdviceCode.FILE_SYSTEM_FULL,
            severity=Severity.DEGRADED if share >= VERY_FULL_SHARE else Severity.ATTENTION,
            subject=system.mounts[0],
            text=f"{system.mounts[0]} is {share:.0%} full: {binary_size(system.free_bytes)} are left",
            why="From about 80 % up, new files are fragmented, and an SSD has less room to clean"
            " up in: it writes more for each write, and wears faster.",
            remedy="make room, or grow the array (key G, raidtui plan grow)",
        )


def _advise_on_trim(facts: HostFacts) -> Iterator[Advice]:
    if facts.trim_timer != "disabled":
        return
    places = [
        node.file_system.mounts[0]
        for node in facts.stack.nodes.values()
        if node.discards
        and discards_end(facts.stack, node.name) is None
        and node.file_system.kind in _TRIMMED
        and node.file_system.mounts
        and any(facts.stack.nodes[each].kind is StackKind.MD for each in _layers(facts.stack, node))
        and "discard" not in _words(facts.options.get(node.file_system.mounts[0]))
    ]
    if places:
        yield Advice(
            code=AdviceCode.NO_WEEKLY_TRIM,
            severity=Severity.ATTENTION,
            text=f"nothing tells the SSDs below {', '.join(places)} what is free: fstrim.timer is disabled",
            why="An SSD copies deleted data along until it is told; published advice is fstrim once a week"
            " (fstrim(8)).",
            remedy="systemctl enable --now fstrim.timer",
        )


def _layers(stack: Stack, node: StackNode) -> tuple[str, ...]:
    return tuple(name for name in (node.name, *stack.below(node.name)) if name in stack.nodes)


def _words(options: str | None) -> frozenset[str]:
    """Return mount options; an unknown place may have any, so it counts as one with discards."""
    if options is None:
        return frozenset({"discard"})
    return frozenset(word.partition("=")[0] for word in options.split(","))


def _advise_on_stack(finding: StackFinding) -> Advice:
    return Advice(
        code=finding.code,
        severity=_ROLES[finding.role],
        subject=finding.node,
        text=finding.text,
        why=_STACK_WHY[finding.code],
        remedy=finding.remedy,
    )


def _advise_on_tuning(finding: TuneFinding) -> Advice:
    return Advice(
        code=finding.code,
        severity=finding.severity,
        subject=finding.name,
        text=f"{finding.name}: {finding.sentence}" if finding.name else finding.sentence,
        detail=" ".join(sorted({knob for _, knob in finding.about})),
        why=_TUNE_WHY[TuneCode(finding.code)],
        remedy=finding.remedy,
    )


_ROLES = {"bad": Severity.FAILED, "warn": Severity.ATTENTION}
_STACK_WHY = {
    StackCode.ONE_CARRIES_ALL: "The others are idle meanwhile: the volume is no faster than one of them.",
    StackCode.CACHE_ALONE: (
        "Data not yet written back is on that device alone: if it fails, that data is lost."
    ),
    StackCode.CACHE_BROKEN: "The cache does not work, and data that it alone holds cannot be read.",
    StackCode.POOL_FULL: "Writes wait or fail when a thin pool has no room, and file systems on it break.",
    StackCode.SUSPENDED: "Every read or write hangs until it is resumed.",
    StackCode.MISALIGNED: "Requests cross boundaries of the layer below: each costs two there.",
    StackCode.VOLUME_HEALTH: "LVM found a part of it missing, or out of step with the others.",
}
_TUNE_WHY = {
    TuneCode.DRIFT: "The value is not the one to be kept: a benchmark measures another host than intended.",
    TuneCode.OVERRULED: "The value that raidtui keeps does not survive the next boot.",
    TuneCode.TIMEOUT: "A disk that retries for longer than the kernel waits is reset, and leaves its array.",
    TuneCode.UNEVEN: "An array is as slow as its slowest member.",
    TuneCode.NO_NCQ: "An SSD with one request at a time reaches a fraction of its IOPS.",
    TuneCode.POWERSAVE: "Requests wait for processors that run slowly.",
}
"""Of a cache that is alone, the stack says it."""
