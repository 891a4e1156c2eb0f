"""Each rule, by one change to a machine that boots without each of its disks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.host.md.configured import configured_in
from raidtui.model.array import Array
from raidtui.model.boot import (
    BootFacts,
    BootSector,
    EfiEntry,
    Esp,
    EspLoader,
    FoundIn,
    GrubCore,
    Initramfs,
    SectorState,
    TableLine,
)
from raidtui.model.stack import Stack, StackKind
from raidtui.monitor.boot.boot_check import look_at_boot
from raidtui.monitor.boot.boot_reasons import BootCode, DiskVerdict
from raidtui.monitor.boot.boot_verdicts import judge_boot
from raidtui.monitor.boot.kernel_stage import is_path
from raidtui.monitor.sampler import Sampler
from raidtui.monitor.stack.stack_reader import StackReader
from tests.monitor.boot.images import image_root

ROOT_UUID, OTHER_UUID = "55555555-6666-4777-8888-999999999999", "99999999-aaaa-4bbb-cccc-dddddddddddd"
ARRAY = "11111111222222223333333344444444"
CORE = GrubCore(prefix=f"(mduuid/{ARRAY})/boot/grub", modules=("part_gpt", "diskfilter", "mdraid1x", "ext2"))
FALLBACK = "/EFI/BOOT/BOOTX64.EFI"
Change = Callable[[BootFacts], BootFacts]


@cache
def healthy() -> tuple[BootFacts, Stack, Mapping[str, Array]]:
    """The healthy image: two disks, md0 with the root, md1 with /srv."""
    root = image_root()
    snapshot = Sampler(root).sample()
    arrays = {array.name: array for array in snapshot.arrays}
    stack = StackReader(root).look(arrays, wait=True).meter.now
    return look_at_boot(root, snapshot, stack).facts, stack, arrays


def judged(change: Change = lambda facts: facts, disk: str = "ubda", conf: str = "") -> DiskVerdict:
    facts, stack, arrays = healthy()
    configured = configured_in("/etc/mdadm/mdadm.conf", conf)
    found = judge_boot(change(facts), stack, arrays, configured=configured)
    return next(each for each in found if each.name == disk)


def with_sector(**more: Any) -> Change:
    """Of ubdb, the disk that is left."""
    sector = BootSector(
        **{"disk": "ubdb", "table": "gpt", "marked": True, "grub": True, "core": CORE, **more}
    )
    return lambda facts: replace(facts, sectors=(facts.sectors[0], sector))


def at_level(level: str, *modules: str) -> DiskVerdict:
    """Return the verdict where /boot is on an array of a level, and GRUB has these modules, too."""
    facts, stack, arrays = healthy()
    found = {name: replace(array, level=level) for name, array in arrays.items()}
    change = with_core(modules=(*CORE.modules, *modules))
    return next(each for each in judge_boot(change(facts), stack, found) if each.name == "ubda")


def with_core(**more: Any) -> Change:
    return with_sector(core=replace(CORE, **more))


def with_image(**more: Any) -> Change:
    def change(facts: BootFacts) -> BootFacts:
        (kernel,) = facts.kernels
        assert kernel.initramfs is not None
        return replace(facts, kernels=(replace(kernel, initramfs=replace(kernel.initramfs, **more)),))

    return change


def with_words(*words: str, named: tuple[tuple[str, tuple[str, ...]], ...] = (), **more: Any) -> Change:
    def change(facts: BootFacts) -> BootFacts:
        assert facts.start is not None
        changed = replace(facts, start=replace(facts.start, words=words), named=named)
        return with_image(**more)(changed) if more else changed

    return change


def with_entry(**more: Any) -> Change:
    """The menu entry that boots next."""

    def change(facts: BootFacts) -> BootFacts:
        assert facts.start is not None
        return replace(facts, start=replace(facts.start, **more))

    return change


MD1 = {"spec": "/dev/md1", "devices": ("md1",)}


def with_line(**more: Any) -> Change:
    whole = {"file": "/etc/fstab", "line": 9, "spec": "UUID=x", "place": "/data", "kind": "ext4", **more}
    return lambda facts: replace(facts, lines=(*facts.lines, TableLine(**whole)))


def uefi(*loaders: EspLoader, **more: Any) -> Change:
    """The same on UEFI, with these loaders on ubdb."""
    entries = more.pop("entries", ())
    unread = more.pop("entries_unread", "")
    esp = Esp(**{"device": "ubdb2", "disk": "ubdb", "part_uuid": "bbbb", "loaders": loaders, **more})
    return lambda facts: replace(facts, firmware="uefi", esps=(esp,), entries=entries, entries_unread=unread)


GRUB = EspLoader(path=FALLBACK, kind="grub", core=CORE)
SIGNED = EspLoader(
    path="/EFI/DEBIAN/GRUBX64.EFI",
    kind="grub",
    core=GrubCore(prefix="/EFI/debian", modules=CORE.modules),
    config=f"search.fs_uuid {ROOT_UUID} root mduuid/{ARRAY}\nset prefix=($root)'/boot/grub'\n",
)
SHIM = EspLoader(path="/EFI/DEBIAN/SHIMX64.EFI", kind="shim")
ENTRY = EfiEntry(number="0001", part_uuid="bbbb", path=SHIM.path)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts,
        with_core(prefix="(,gpt3)/boot/grub", config=f"search.fs_uuid {ROOT_UUID} root\n"),
        with_core(modules=()),
        with_words("root=UUID=" + ROOT_UUID.upper()),
        with_words("root=/dev/md0"),
        with_line(options=("nofail",), devices=("ubda5",)),
        with_line(options=("noauto",), devices=("ubda5",)),
        with_line(devices=("ubdb5",)),
        with_line(devices=("ubda5", "ubdb5")),  # a label on two disks
        with_line(devices=("md1",)),
        with_image(conf="HOMEHOST proof\n"),
        with_image(conf=None),
        with_words("root=LABEL=proof", named=(("root=LABEL=proof", ("md0",)),)),
        with_words("root=/dev/disk/by-id/x", named=(("root=/dev/disk/by-id/x", ("md0",)),)),
        with_line(spec="LABEL=srv", devices=("md1",)),
        with_image(maker="dracut", words=("rd.auto=1",)),
        with_image(maker="dracut", words=(f"rd.md.uuid={ARRAY[:8]}:{ARRAY[8:]}",)),
        with_words(f"root=UUID={ROOT_UUID}", f"rd.md.uuid={ARRAY}", maker="dracut"),
        uefi(GRUB),
        uefi(SHIM, SIGNED, entries=(ENTRY,)),
    ],
)
def test_it_boots(change: Change) -> None:
    verdict = judged(change)
    assert (verdict.boots_without, verdict.reasons) == (True, ())


@pytest.mark.parametrize(
    ("level", "module"), [("raid4", "raid5rec"), ("raid5", "raid5rec"), ("raid6", "raid6rec")]
)
def test_grub_computes_what_is_missing_by_a_module(level: str, module: str) -> None:
    lacks = f"its image lacks {module}"
    assert any(reason.text.endswith(lacks) for reason in at_level(level).reasons)
    assert not any("its image lacks" in reason.text for reason in at_level(level, module).reasons)


def test_a_path_that_udev_makes_of_the_name() -> None:
    """Whatever path the line in mdadm.conf has."""
    (line,) = configured_in("/etc/mdadm/mdadm.conf", f"ARRAY /dev/md5 UUID={ARRAY}\n")
    array = healthy()[2]["md0"]
    assert is_path(line, f"/dev/md/{array.title}", array)
    assert not is_path(line, f"/dev/md/{array.title}", None)
    assert not is_path(line, "/dev/md/other", array)


NO, UNKNOWN, NOTE = False, None, True


@pytest.mark.parametrize(
    ("change", "code", "boots"),
    [
        (with_sector(core=None, grub=False, state=SectorState.NO_CODE), BootCode.NO_LOADER, NO),
        (
            with_sector(core=None, grub=False, state=SectorState.OTHER_CODE),
            BootCode.LOADER_UNKNOWN,
            UNKNOWN,
        ),
        (with_sector(core=None, unread="ubdb can only be read by root"), BootCode.NOT_READ, UNKNOWN),
        (lambda facts: replace(facts, sectors=facts.sectors[:1]), BootCode.NO_LOADER, NO),
        (with_core(modules=("mdraid1x", "ext2")), BootCode.LOADER_CANNOT_READ, NO),
        (with_core(modules=("part_gpt", "ext2")), BootCode.LOADER_CANNOT_READ, NO),
        (with_core(prefix="(mduuid/99999999888888887777777766666666)/boot/grub"), BootCode.LOADER_STALE, NO),
        (with_core(prefix="(mduuid/11111111222222223333333355555555)/boot/grub"), BootCode.LOADER_STALE, NO),
        (with_core(prefix="(,gpt3)/boot/grub"), BootCode.LOADER_STALE, NO),
        (with_core(prefix="(lvmid/a-b/c-d)/boot/grub"), BootCode.LOADER_STALE, NO),
        (with_core(config=f"search.fs_uuid {OTHER_UUID} root\n"), BootCode.LOADER_STALE, NO),
        (with_core(prefix="(hd0,gpt3x)/boot/grub"), BootCode.LOADER_UNKNOWN, UNKNOWN),
        (lambda facts: replace(facts, firmware=""), BootCode.NOT_READ, UNKNOWN),
        (lambda facts: replace(facts, boot=FoundIn()), BootCode.ROOT_UNKNOWN, UNKNOWN),
        (lambda facts: replace(facts, boot=FoundIn(device="ubda5")), BootCode.BOOT_LOST, NO),
        (lambda facts: replace(facts, root=FoundIn(device="ubda5")), BootCode.ROOT_LOST, NO),
        (lambda facts: replace(facts, root=FoundIn()), BootCode.ROOT_UNKNOWN, UNKNOWN),
        (lambda facts: replace(facts, start=None, start_unread="no"), BootCode.NEXT_UNKNOWN, UNKNOWN),
        (lambda facts: replace(facts, kernels=()), BootCode.NEXT_UNKNOWN, UNKNOWN),
        (uefi(), BootCode.ESP_EMPTY, NO),
        (lambda facts: replace(uefi()(facts), esps=()), BootCode.NO_ESP, NO),
        (uefi(GRUB, array="md9", metadata="1.2"), BootCode.ESP_METADATA, NO),
        (uefi(unread="ubdb2 can only be read by root"), BootCode.NOT_READ, UNKNOWN),
        (uefi(SHIM, SIGNED), BootCode.LOADER_NOT_TRIED, NO),
        (uefi(SHIM, SIGNED, entries=(replace(ENTRY, active=False),)), BootCode.LOADER_NOT_TRIED, NO),
        (uefi(SHIM, SIGNED, entries_unread="no"), BootCode.LOADER_NOT_TRIED, UNKNOWN),
        (uefi(replace(SIGNED, path=FALLBACK, config=None)), BootCode.LOADER_NO_CONFIG, NO),
        (
            uefi(replace(SIGNED, path=FALLBACK, config=f"search.fs_uuid {OTHER_UUID} root")),
            BootCode.LOADER_STALE,
            NO,
        ),
        (uefi(replace(SIGNED, path=FALLBACK, config="normal")), BootCode.LOADER_UNKNOWN, UNKNOWN),
        (uefi(EspLoader(path=FALLBACK, kind="systemd-boot")), BootCode.LOADER_UNKNOWN, UNKNOWN),
        (with_words(f"root=UUID={OTHER_UUID}"), BootCode.ROOT_OTHER, NO),
        (with_words("root=/dev/md7"), BootCode.ROOT_NAME, NO),
        (with_words("root=/dev/md0", conf="HOMEHOST proof\n"), BootCode.ROOT_NAME, NO),
        (with_words("root=/dev/sda1"), BootCode.ROOT_NAME, UNKNOWN),
        (with_words("ro"), BootCode.ROOT_UNKNOWN, UNKNOWN),
        (with_words("root=LABEL=proof"), BootCode.ROOT_UNKNOWN, UNKNOWN),
        (
            with_words("root=LABEL=proof", named=(("root=LABEL=proof", ("md0", "ubda5")),)),
            BootCode.ROOT_NAME,
            UNKNOWN,
        ),
        (with_words("root=LABEL=x", named=(("root=LABEL=x", ("md1",)),)), BootCode.ROOT_OTHER, NO),
        (
            lambda facts: replace(facts, root=replace(facts.root, uuid="")),
            BootCode.ROOT_UNKNOWN,
            UNKNOWN,
        ),
        (with_entry(initrd=""), BootCode.ENTRY_NO_INITRAMFS, NO),
        (with_entry(initrd="initrd.img-old"), BootCode.NEXT_UNKNOWN, UNKNOWN),
        (with_line(**MD1), BootCode.FSTAB_MOVES, UNKNOWN),
        (
            with_line(place="none", kind="swap", spec="/dev/ubdb5", devices=("ubdb5",)),
            BootCode.FSTAB_MOVES,
            NOTE,
        ),
        (
            with_line(file="/etc/crypttab", kind="crypt", spec="/dev/ubdb5", devices=("ubdb5",)),
            BootCode.FSTAB_MOVES,
            UNKNOWN,
        ),
        (with_words(f"root=UUID={ROOT_UUID}", "rd.md=0", maker="dracut"), BootCode.RD_MD, NO),
        (with_words(f"root=UUID={ROOT_UUID}", "rd.md.uuid=aa:bb", maker="dracut"), BootCode.RD_MD, NO),
        (with_image(maker="dracut"), BootCode.RD_MD, NO),
        (with_image(maker="dracut", words=("rd.auto=0",)), BootCode.RD_MD, NO),
        (with_image(maker="dracut", words=("rd.md.uuid=aa:bb",)), BootCode.RD_MD, NO),
        (with_image(modules=("md_mod", "raid10")), BootCode.INITRAMFS_NO_MODULE, NO),
        (with_image(programs=("lvm",)), BootCode.INITRAMFS_NO_PROGRAM, NO),
        (with_image(unread="it can only be read by root"), BootCode.INITRAMFS_NOT_READ, UNKNOWN),
        (with_image(starts_degraded=False), BootCode.NO_DEGRADED_START, NO),
        (with_image(starts_degraded=False, maker="mkinitcpio"), BootCode.NO_DEGRADED_START, UNKNOWN),
        (with_image(conf="ARRAY /dev/md0 UUID=aa:bb:cc:dd\n"), BootCode.INITRAMFS_STALE, NOTE),
        (
            with_image(conf="ARRAY /dev/md7 UUID=aa:bb:cc:dd\nAUTO +imsm -all\n"),
            BootCode.INITRAMFS_REFUSES,
            NO,
        ),
        (
            with_image(conf="ARRAY <ignore> UUID=11111111:22222222:33333333:44444444\n"),
            BootCode.INITRAMFS_REFUSES,
            NO,
        ),
        (
            lambda facts: replace(facts, kernels=(replace(facts.kernels[0], initramfs=None),)),
            BootCode.NO_INITRAMFS,
            NO,
        ),
        (with_line(devices=("ubda5",)), BootCode.FSTAB_WAITS, NO),
        (with_line(), BootCode.FSTAB_UNKNOWN, UNKNOWN),
        (with_line(spec="/dev/ubdb5", devices=("ubdb5",)), BootCode.FSTAB_MOVES, UNKNOWN),
        (with_line(place="none", kind="swap", devices=("ubda5",)), BootCode.SWAP_WAITS, NOTE),
        (
            with_line(file="/etc/crypttab", place="safe", kind="crypt", devices=("ubda5",)),
            BootCode.CRYPT_WAITS,
            NOTE,
        ),
    ],
)
def test_a_reason(change: Change, code: BootCode, boots: bool | None) -> None:  # noqa: FBT001
    verdict = judged(change)
    assert [(reason.code, reason.boots) for reason in verdict.reasons] == [(code, boots)], verdict
    assert verdict.boots_without is boots


LINES = "ARRAY /dev/md1 UUID=11111111:22222222:33333333:55555555\n"


@pytest.mark.parametrize(
    ("inner", "conf", "boots"),
    [("", LINES, True), (LINES, LINES, True), (LINES, "", None), (LINES.replace("md1", "md7"), LINES, None)],
)
def test_a_number_of_md_in_fstab(inner: str, conf: str, boots: bool | None) -> None:  # noqa: FBT001
    """It stays where an ARRAY line gives it, on the host and in the initramfs, if that has any line."""

    def change(facts: BootFacts) -> BootFacts:
        own = "ARRAY /dev/md0 UUID=11111111:22222222:33333333:44444444\n"
        return with_image(conf=f"{own}{inner}" if inner else "")(with_line(**MD1)(facts))

    assert judged(change, conf=conf).boots_without is boots


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("defaults", "90 s"),
        ("x-systemd.device-timeout=5s", "5s"),
        ("x-systemd.device-timeout=7", "7 s"),
        ("x-systemd.device-timeout=0", "forever"),
    ],
)
def test_how_long_the_boot_waits(option: str, words: str) -> None:
    (reason,) = judged(with_line(devices=("ubda5",), options=(option,))).reasons
    assert reason.text == (
        f"/etc/fstab, line 9: /data is lost with it, without nofail: the boot waits {words} for it, and ends"
        " in the emergency shell"
    )


def test_an_initramfs_that_cannot_be_read_and_is_older_than_mdadm_conf() -> None:
    def change(facts: BootFacts) -> BootFacts:
        unread = with_image(unread="it can only be read by root", modified_s=100.0)(facts)
        return replace(unread, conf_modified_s=200.0)

    (reason,) = judged(change).reasons
    assert reason.text.endswith("it can only be read by root, and it is older than mdadm.conf")
    assert reason.boots is None


def stacked(change: Change, kind: StackKind) -> DiskVerdict:
    """The root file system in dm-0, which stands on md0; without ubda."""
    facts, stack, arrays = healthy()
    above = replace(stack.nodes["md0"], name="dm-0", kind=kind, parents=("md0",), label="safe")
    image = with_image(
        crypttab=("safe",),
        modules=("raid1", "dm_crypt", "md_mod"),
        programs=("mdadm", "lvm", "cryptsetup"),
    )(facts)
    found = replace(image, root=replace(facts.root, device="dm-0"))
    disks = judge_boot(change(found), Stack(nodes={**stack.nodes, "dm-0": above}), arrays)
    return next(each for each in disks if each.name == "ubda")


@pytest.mark.parametrize("kind", [StackKind.CRYPT, StackKind.LINEAR])
@pytest.mark.parametrize("delay", [28, 30, 180])
def test_a_root_delay_leaves_one_round_for_what_needs_two(kind: StackKind, delay: int) -> None:
    root = f"root=UUID={ROOT_UUID}"
    found = stacked(with_words(root, f"rootdelay={delay}"), kind)
    (reason,) = found.reasons
    assert (found.boots_without, reason.code, reason.boots) == (False, BootCode.ROOT_DELAY, False)
    assert reason.text == (
        f"with rootdelay={delay} the initramfs gives up once it has started the degraded array: dm-0, which"
        " is on that array, is not there yet"
    )
    last = with_words(root, f"rootdelay={delay}", "rootdelay=5")
    assert stacked(last, kind).reasons == ()
    assert judged(with_words(root, f"rootdelay={delay}")).reasons == ()  # the array itself is there then


def test_nothing_is_said_of_a_root_without_a_delay() -> None:
    for kind in (StackKind.CRYPT, StackKind.LINEAR):
        assert stacked(lambda facts: facts, kind).reasons == ()


def apart(change: Change = lambda facts: facts) -> DiskVerdict:
    """The root file system on ubdb alone: without ubda its array is whole, and /srv misses a member."""
    facts, stack, arrays = healthy()
    array = arrays["md0"]
    only = tuple(each for each in array.members if each.name == "ubdb3")
    nodes = {**stack.nodes, "md0": replace(stack.nodes["md0"], parents=("ubdb3",))}
    alone = replace(array, up="U", raid_disks=1, members=only)
    found = judge_boot(change(facts), Stack(nodes=nodes), {**arrays, "md0": alone})
    return next(each for each in found if each.name == "ubda")


def test_an_array_that_the_initramfs_takes_in_and_nothing_starts() -> None:
    (reason,) = apart().reasons
    assert (reason.code, reason.boots, reason.about) == (
        BootCode.ARRAY_NOT_STARTED,
        False,
        "/etc/fstab:3",
    )
    assert judged().reasons == ()  # there the initramfs waits for the root's, and starts both


def test_an_array_of_another_host() -> None:
    """Of an initramfs that leaves it to udev."""

    def other(facts: BootFacts) -> BootFacts:
        names = (("md0", "proof:root"), ("md1", "elsewhere:srv"))
        return replace(with_image(maker="dracut", words=("rd.auto",))(facts), names=names)

    (reason,) = apart(other).reasons
    assert (reason.code, reason.boots) == (BootCode.ARRAY_FOREIGN, False)
    assert apart(with_image(maker="dracut", words=("rd.auto",))).reasons == ()


def test_a_volume_of_lvm() -> None:
    def change(facts: BootFacts) -> BootFacts:
        found = with_core(prefix="(lvmid/aA1-b2/cC3-d4)/boot/grub")(facts)
        return replace(found, boot=replace(found.boot, volume="aA1b2cC3d4"))

    assert judged(change).boots_without is True


def of_three(change: Change) -> tuple[DiskVerdict, ...]:
    """The same machine with a third mirror, on ubdc."""
    facts, stack, arrays = healthy()
    nodes = dict(stack.nodes)
    for name in ("ubdc", "ubdc3"):
        like = nodes[name.replace("c", "b")]
        nodes[name] = replace(like, name=name, parents=("ubdc",) if name == "ubdc3" else ())
    nodes["md0"] = replace(nodes["md0"], parents=(*nodes["md0"].parents, "ubdc3"))
    array = arrays["md0"]
    third = replace(array.members[0], name="ubdc3", slot=2)
    wider = replace(array, up="UUU", raid_disks=3, members=(*array.members, third))
    more = replace(facts, sectors=(*facts.sectors, replace(facts.sectors[0], disk="ubdc")))
    return judge_boot(change(more), Stack(nodes=nodes), {**arrays, "md0": wider})


def test_a_firmware_that_may_try_another_disk_first() -> None:
    def change(facts: BootFacts) -> BootFacts:
        bad = BootSector(disk="ubdb", table="gpt", marked=True, state=SectorState.NO_CODE)
        return replace(facts, sectors=(facts.sectors[0], bad, facts.sectors[2]))

    found = {each.name: each for each in of_three(change)}
    assert {name: each.boots_without for name, each in found.items()} == {
        "ubda": None,
        "ubdb": True,
        "ubdc": None,
    }
    (reason,) = found["ubda"].reasons
    assert reason.code is BootCode.LOADER_ORDER
    assert reason.text == (
        "another disk boots the machine, but the firmware may first try one that does not: ubdb has no boot"
        " code"
    )
    assert all(each.boots_without for each in of_three(lambda facts: facts))


def test_a_resume_device() -> None:
    def change(facts: BootFacts) -> BootFacts:
        return with_words(f"root=UUID={ROOT_UUID}", "resume=UUID=s", named=(("resume=UUID=s", ("ubda5",)),))(
            facts
        )

    assert [(each.code, each.boots) for each in judged(change).reasons] == [(BootCode.RESUME_LOST, True)]
    assert judged(change, disk="ubdb").reasons == ()


def test_another_kernel_is_a_note() -> None:
    def change(facts: BootFacts) -> BootFacts:
        old = replace(facts.kernels[0], version="5.10.0-1", initramfs=None)
        return replace(facts, kernels=(*facts.kernels, old))

    (reason,) = judged(change).reasons
    assert (reason.code, reason.boots) == (BootCode.NO_INITRAMFS, True)
    assert reason.text == (
        "kernel 5.10.0-1 has no initramfs, and the root file system is not on a plain disk; another kernel"
        " boots next"
    )


def test_an_initramfs_that_nothing_is_known_of() -> None:
    assert judged(with_image(maker="", starts_degraded=False)).boots_without is None
    assert Initramfs(path="/boot/x").starts_degraded is False
