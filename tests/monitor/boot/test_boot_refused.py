"""What md, mdadm and the kernel refuse at a boot, each by one change to a machine that boots."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.boot import BootFacts
from raidtui.model.stack import Stack
from raidtui.monitor.boot.boot_check import check_boot
from raidtui.monitor.boot.boot_reasons import BootCode, DiskVerdict
from raidtui.monitor.boot.boot_verdicts import judge_boot
from tests.host.test_initramfs import archive, entry
from tests.monitor.boot.images import image_root
from tests.monitor.boot.test_boot_rules import (
    ROOT_UUID,
    Change,
    healthy,
    judged,
    with_image,
    with_line,
    with_words,
)


def on_parity(level: str = "raid5", **more: Any) -> DiskVerdict:
    """Three disks, whose root lies on parity, and what the machine does without ubda."""
    facts, stack, arrays = healthy()
    change: Change = more.pop("change", lambda facts: facts)
    nodes = dict(stack.nodes)
    for name in ("ubdc", "ubdc3"):
        nodes[name] = replace(nodes[name.replace("c", "b")], name=name, parents=("ubdc",) * (name != "ubdc"))
    nodes["md0"] = replace(nodes["md0"], parents=(*nodes["md0"].parents, "ubdc3"), level=level)
    array = arrays["md0"]
    members = (*array.members, replace(array.members[0], name="ubdc3", slot=2))
    array = replace(
        array, **{"level": level, "layout": 2, "up": "UUU", "raid_disks": 3, "members": members, **more}
    )
    sectors = tuple(
        replace(each, core=None if each.core is None else replace(each.core, modules=()))
        for each in facts.sectors
    )
    third = replace(sectors[0], disk="ubdc")
    whole = with_image(modules=("md_mod", "raid456", "ext4"))(replace(facts, sectors=(*sectors, third)))
    found = judge_boot(change(whole), Stack(nodes=nodes), {**arrays, "md0": array})
    return next(each for each in found if each.name == "ubda")


DIRTY = {"resync_start": "2304"}
FORCE = "md_mod.start_dirty_degraded=1"


@pytest.mark.parametrize(
    ("more", "boots"),
    [
        ({"resync_start": "none"}, True),
        (DIRTY, False),
        ({**DIRTY, "consistency_policy": "ppl"}, True),
        ({**DIRTY, "change": with_words(f"root=UUID={ROOT_UUID}", FORCE)}, True),
        ({**DIRTY, "change": with_words(f"root=UUID={ROOT_UUID}", FORCE.replace("_mod", "-mod"))}, True),
    ],
    ids=["clean", "dirty", "ppl", "forced", "forced, with a dash"],
)
def test_md_starts_no_dirty_degraded_parity(more: dict[str, Any], boots: bool) -> None:  # noqa: FBT001
    """As in the laboratory: "cannot start dirty degraded array" (Linux 6.1, mdadm 4.2)."""
    verdict = on_parity(**more)
    assert verdict.boots_without is boots
    assert [reason.code for reason in verdict.reasons] == ([] if boots else [BootCode.DIRTY_DEGRADED])


def test_an_array_of_fstab_that_is_dirty_and_degraded() -> None:
    """/srv on a RAID 6 in its first resync: without a member it is not there, and the boot stops."""
    facts, stack, arrays = healthy()
    dirty = replace(arrays["md1"], level="raid6", layout=2, raid_disks=4, up="UUUU", resync_start="2304")
    found = judge_boot(facts, stack, {**arrays, "md1": dirty})
    codes = {each.name: [(reason.code, reason.about) for reason in each.reasons] for each in found}
    assert codes["ubda"] == [(BootCode.DIRTY_DEGRADED, "/etc/fstab:3")]


def test_a_mirror_starts_dirty_and_degraded() -> None:
    facts, stack, arrays = healthy()
    dirty = replace(arrays["md0"], resync_start="2304")
    found = judge_boot(facts, stack, {**arrays, "md0": dirty})
    assert [each.boots_without for each in found] == [True, True]


def test_a_write_journal_that_is_lost() -> None:
    facts, stack, arrays = healthy()
    array = arrays["md0"]
    journal = replace(array.members[0], name="ubda4", slot=None, states=("journal",))
    nodes = {**stack.nodes, "ubda4": replace(stack.nodes["ubda3"], name="ubda4")}
    found = judge_boot(
        facts, Stack(nodes=nodes), {**arrays, "md0": replace(array, members=(*array.members, journal))}
    )
    assert {each.name: [reason.code for reason in each.reasons] for each in found} == {
        "ubda": [BootCode.JOURNAL_LOST],
        "ubdb": [],
    }


@pytest.mark.parametrize(
    ("out", "disk", "boots", "words"),
    [
        (("ubdb3",), "ubda", False, "ubdb3 of the array root: too few members are left then"),
        (("ubdb3",), "ubdb", True, "ubdb3 of the array root: the array starts degraded"),
        (
            ("ubda3", "ubdb3"),
            "ubdb",
            False,
            "ubda3 and ubdb3 of the array root: too few members are left then",
        ),
        ((), "ubda", True, ""),
    ],
)
def test_a_device_line_in_the_initramfs(out: tuple[str, ...], disk: str, boots: bool, words: str) -> None:  # noqa: FBT001
    verdict = judged(with_image(left_out=out), disk=disk)
    assert verdict.boots_without is boots
    assert [reason.text.partition("leaves out ")[2] for reason in verdict.reasons] == (
        [words] if words else []
    )


@pytest.mark.parametrize("options", [(), ("nofail",)])
def test_usr_on_one_disk(options: tuple[str, ...]) -> None:
    change = with_line(place="/usr", devices=("ubda5",), options=options)
    assert [reason.code for reason in judged(change).reasons] == [BootCode.USR_LOST]
    assert judged(change).boots_without is False
    assert judged(change, disk="ubdb").boots_without is True
    assert judged(with_line(place="/usr", devices=("md1",), options=options)).boots_without is True


def test_an_array_below_usr_is_needed_early() -> None:
    """The root file system on a plain disk, /usr on md1."""

    def change(facts: BootFacts) -> BootFacts:
        plain = replace(facts, root=replace(facts.root, device="ubdb5"))
        return with_image(starts_degraded=False)(with_line(place="/usr", devices=("md1",))(plain))

    facts, stack, arrays = healthy()
    nodes = {**stack.nodes, "ubdb5": replace(stack.nodes["ubdb3"], name="ubdb5")}
    found = next(
        each for each in judge_boot(change(facts), Stack(nodes=nodes), arrays) if each.name == "ubda"
    )
    assert BootCode.NO_DEGRADED_START in [reason.code for reason in found.reasons]


def test_btrfs_on_two_devices() -> None:
    def change(facts: BootFacts) -> BootFacts:
        return replace(facts, root=replace(facts.root, device="ubda5", kind="btrfs", others=("ubdb5",)))

    def degraded(facts: BootFacts) -> BootFacts:
        return with_words(f"root=UUID={ROOT_UUID}", "rootflags=subvol=@,degraded")(change(facts))

    facts, stack, arrays = healthy()
    nodes = {
        **stack.nodes,
        **{f"{disk}5": replace(stack.nodes[f"{disk}3"], name=f"{disk}5") for disk in ("ubda", "ubdb")},
    }
    for asked, boots in ((change, False), (degraded, None)):
        found = judge_boot(asked(facts), Stack(nodes=nodes), arrays)
        codes = {
            each.name: [reason.code for reason in each.reasons if reason.boots is boots] for each in found
        }
        code = BootCode.BTRFS_DEGRADED if boots is False else BootCode.ROOT_UNKNOWN
        assert [code in codes[disk] for disk in ("ubda", "ubdb")] == [True, True]
    line = with_line(kind="btrfs", devices=("ubda5", "ubdb5"))
    assert [reason.code for reason in judged(line).reasons] == [BootCode.FSTAB_WAITS]
    line = with_line(kind="btrfs", devices=("ubda5", "ubdb5"), options=("degraded",))
    assert judged(line).reasons == ()


@pytest.mark.parametrize(
    ("word", "built_in", "boots"),
    [
        ("module_blacklist=nouveau,raid1", (), False),
        ("module_blacklist=ext4", ("ext4",), True),
        ("module_blacklist=raid1", ("raid1",), True),
        ("module_blacklist=raid456", (), True),
        ("modprobe.blacklist=raid1", (), True),
    ],
)
def test_a_module_that_the_command_line_keeps_out(word: str, built_in: tuple[str, ...], boots: bool) -> None:  # noqa: FBT001
    def change(facts: BootFacts) -> BootFacts:
        (kernel,) = facts.kernels
        more = replace(facts, kernels=(replace(kernel, built_in=(*kernel.built_in, *built_in)),))
        return with_words(f"root=UUID={ROOT_UUID}", word)(more)

    verdict = judged(change)
    assert [reason.code for reason in verdict.reasons] == ([] if boots else [BootCode.MODULE_BLACKLIST])


def test_what_is_read_of_the_next_boot() -> None:
    """The words that decide, DEVICE in the initramfs, and the further devices of a btrfs."""
    host = image_root()
    host.drop("/.raidtui/boot.json")
    kernel, image = "linux /boot/vmlinuz-6.1 root=UUID=a quiet", "initrd /boot/initrd.img-6.1"
    menu = f"menuentry 'Debian' {{\n\t{kernel}\n\t{image}\n}}\n"
    decide = "module_blacklist=raid1 rootflags=degraded md_mod.start_dirty_degraded=1"
    host.put("/boot/grub/grub.cfg", menu.replace("quiet", f"quiet {decide}"))
    host.put("/boot/vmlinuz-6.1", "")
    conf = entry("etc/mdadm/mdadm.conf", b"DEVICE /dev/ubda*\n")
    host.put("/boot/initrd.img-6.1", gzip.compress(archive(conf)))
    mounts = "1 0 0:30 / / rw - btrfs /dev/ubda3 rw\n"
    host.put("/proc/self/mountinfo", mounts)
    for name in ("ubda3", "ubdb3"):
        dev = (host.text(f"/sys/class/block/{name}/dev") or "").strip()
        host.put(f"/run/udev/data/b{dev}", "E:ID_FS_UUID=aaaa-bbbb\nE:ID_FS_TYPE=btrfs\n")
    facts = check_boot(host).facts
    assert facts.start is not None
    assert facts.start.words == ("root=UUID=a", *decide.split())
    assert facts.kernels[0].initramfs is not None
    assert {*facts.kernels[0].initramfs.left_out} == {"ubdb3", "ubdb4"}
    assert (facts.root.device, facts.root.others) == ("ubda3", ("ubdb3",))
