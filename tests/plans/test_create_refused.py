"""Create: every refusal whole. mdadm would refuse much of this too, but only after the devices are wiped."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.disk import Use
from raidtui.model.survey import Device, Superblock
from raidtui.plans.create.create_request import CreateRequest
from tests.hosts.specs import raid1, raid10
from tests.plans.new_array import FOUR, GPT, MOUNT, UUID, device, plain, refused, request, survey
from tests.plans.running import NO_MDADM

LAYOUTS = (
    "choose left-asymmetric, right-asymmetric, left-symmetric, right-symmetric, parity-first or parity-last"
)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            plain("linear"),
            "'linear' is not a level that can be created; choose raid0, raid1, raid4, raid5, raid6 or raid10",
        ),
        (
            request(name="a b"),
            (
                "'a b' is not a valid array name; use 1 to 31 letters, digits, _ . or -, not beginning"
                " with . or"
                " -; three digits are best"
            ),
        ),
        (request(uuid="x"), "'x' is not a UUID; give four groups of eight hex digits"),
        (request(metadata="0.90"), "metadata '0.90' cannot be created; choose 1.2, 1.1 or 1.0"),
        (request(number=1 << 20), "1048576 is not an md number; choose one from 0 to 1048575"),
        (
            plain("raid0", "sda2"),
            "raid0 needs at least 2 devices, not 1; add devices, or choose another level",
        ),
        (
            plain("raid1", "sda2"),
            "raid1 needs at least 2 devices, not 1; add devices, or choose another level",
        ),
        (
            plain("raid4", "sda2"),
            "raid4 needs at least 2 devices, not 1; add devices, or choose another level",
        ),
        (
            plain("raid5", "sda2"),
            "raid5 needs at least 2 devices, not 1; add devices, or choose another level",
        ),
        (
            plain("raid6", *FOUR[:3]),
            "raid6 needs at least 4 devices, not 3; add devices, or choose another level",
        ),
        (
            plain("raid10", "sda2"),
            "raid10 needs at least 2 devices, not 1; add devices, or choose another level",
        ),
        (
            plain("raid6", *(f"sd{number}" for number in range(257))),
            "raid6 takes at most 256 devices; name fewer",
        ),
        (
            plain("raid0", "sda2", "missing"),
            "raid0 does not work while 1 of 2 devices is missing; name more devices",
        ),
        (
            plain("raid1", "missing", "missing"),
            "raid1 does not work while 2 of 2 devices are missing; name more devices",
        ),
        (
            plain("raid5", "sda2", "missing", "missing"),
            "raid5 does not work while 2 of 3 devices are missing; name more devices",
        ),
        (
            plain("raid6", "sda2", *["missing"] * 3),
            "raid6 does not work while 3 of 4 devices are missing; name more devices",
        ),
        (
            plain("raid10", "sda2", "sdb2", "missing", "missing"),
            "raid10 does not work while 2 of 4 devices are missing; name more devices",
        ),
        (plain("raid1", "sda2", "sdb2", spares=("missing",)), "a spare cannot be missing; omit it"),
        (
            plain("raid10", layout="x2"),
            "raid10 has no layout 'x2'; choose near, far or offset copies: n2, f2, o2",
        ),
        (
            plain("raid10", layout="n1"),
            "raid10 has no layout 'n1'; choose near, far or offset copies: n2, f2, o2",
        ),
        (
            plain("raid10", layout="ls"),
            "raid10 has no layout 'ls'; choose near, far or offset copies: n2, f2, o2",
        ),
        (
            plain("raid10", "sda2", "sdb2", layout="n3"),
            "layout n3 keeps 3 copies and there are 2 devices; add devices, or choose fewer copies",
        ),
        (plain("raid5", layout="n2"), f"raid5 has no layout 'n2'; {LAYOUTS}"),
        (plain("raid1", layout="n2"), "raid1 has no layouts; omit the layout"),
        (plain("raid4", layout="ls"), "raid4 has no layouts; omit the layout"),
        (plain("raid1", chunk_kib=64), "raid1 has no chunks; omit the chunk size"),
        (plain("raid5", chunk_kib=2), "a chunk of 2 KiB is too small; the minimum is 4 KiB"),
        (plain("raid5", chunk_kib=-64), "a chunk of -64 KiB is too small; the minimum is 4 KiB"),
        (
            plain("raid5", chunk_kib=96),
            "96 KiB is not a power of two, which raid5 requires; choose 32, 64 or 512, for example",
        ),
        (plain("raid0", chunk_kib=6), "6 KiB is not a multiple of 4 KiB; choose 32, 64 or 512, for example"),
        (
            plain("raid0", bitmap="internal"),
            "raid0 has nothing to sync, so it has no bitmap; omit it",
        ),
        (
            plain("raid0", consistency_policy="resync"),
            "raid0 has nothing to sync, so it has no consistency policy; omit it",
        ),
        (plain("raid1", bitmap="/file"), "'/file' is not a kind of bitmap; choose none or internal"),
        (
            plain("raid5", consistency_policy="x"),
            "there is no consistency policy 'x'; choose bitmap or ppl",
        ),
        (
            plain("raid5", consistency_policy="journal"),
            "a journal needs a device of its own; name it: --write-journal=DEVICE",
        ),
        (plain("raid10", journal="sde"), "raid10 has no parity, so it has no journal; omit the journal"),
        (
            plain("raid5", journal="sde", bitmap="internal"),
            "a journal and a bitmap exclude each other; choose one of the two",
        ),
        (
            plain("raid5", journal="sde", consistency_policy="ppl"),
            "a journal and consistency policy ppl exclude each other; choose one of the two",
        ),
        (plain("raid5", journal="missing"), "a journal cannot be missing; name its device"),
        (plain("raid5", journal="sda2"), "sda2 is named twice; name each device once"),
        (
            plain("raid6", consistency_policy="ppl"),
            "only raid5 has a partial parity log; choose bitmap=internal",
        ),
        (
            plain("raid5", consistency_policy="ppl", bitmap="internal"),
            "a partial parity log and a bitmap exclude each other; choose one of the two",
        ),
        (
            plain("raid1", consistency_policy="bitmap", bitmap="none"),
            "consistency policy bitmap and bitmap=none exclude each other; omit one of the two",
        ),
        (
            plain("raid1", consistency_policy="resync", bitmap="internal"),
            "consistency policy resync and bitmap=internal exclude each other; omit one of the two",
        ),
        (
            plain("raid5", bitmap="none"),
            (
                "raid5 without a bitmap resyncs all parity after a crash, and losing a member before that"
                " ends can lose data (the write hole); choose bitmap=internal, or"
                " consistency policy ppl"
            ),
        ),
        (
            plain("raid6", consistency_policy="resync"),
            (
                "raid6 without a bitmap resyncs all parity after a crash, and losing a member before that"
                " ends can lose data (the write hole); choose bitmap=internal"
            ),
        ),
        (
            plain("raid5", assume_clean=True),
            (
                "raid5 without computed parity returns garbage when a member is lost; let it"
                " sync: omit --assume-clean"
            ),
        ),
        (
            plain("raid0", "sda2", "sdb2", spares=("sdc2",)),
            "raid0 has no use for spares; omit that option",
        ),
        (plain("raid0", assume_clean=True), "raid0 has no first sync; omit that option"),
        (plain("raid0", size_kib=4096), "raid0 uses all of each member; omit that option"),
        (
            plain("raid10", write_mostly=("sda2",)),
            "only raid1 has write-mostly members; omit --write-mostly",
        ),
        (
            plain("raid1", write_mostly=("sde",)),
            "sde is write-mostly but not one of the devices; name it as a device too",
        ),
        (
            plain("raid1", write_mostly=("sda2",), spares=("sde",)),
            (
                "mdadm would make the spares write-mostly too; create the array without spares and add them"
                " afterwards"
            ),
        ),
        (
            plain("raid1", "sda2", "missing", write_mostly=("sda2",)),
            "all members would be write-mostly; omit one of them",
        ),
        (
            plain("raid5", failfast=True),
            "only raid1 and raid10 support failfast, not raid5; omit --failfast",
        ),
        (plain("raid1", size_kib=-1), "-1 KiB is not a size; 0 uses all of each member"),
        (
            plain("raid1", size_kib=32),
            "32 KiB of each member is less than a chunk; choose a larger size",
        ),
        (
            plain("raid1", size_kib=100 * 1024**2),
            "sda2 has 104791040 KiB for data, 104857600 KiB is requested; choose a smaller size",
        ),
        (
            plain("raid0", "sda2", "sdb2", chunk_kib=1 << 27),
            "sda2 has no room for a chunk of 134217728 KiB; choose smaller chunks, or a larger device",
        ),
        (plain("raid1", "sda2", "sda2"), "sda2 is named twice; name each device once"),
        (plain("raid1", "sda2", "sdb2", spares=("sda2",)), "sda2 is named twice; name each device once"),
        (plain("raid1", "sda2", "sdz2"), "there is no device sdz2"),
    ],
)
def test_refused(asked: CreateRequest, sentence: str) -> None:
    assert refused(asked) == sentence


BUSY = "sda2: something uses it; find out by what: lsblk /dev/sda2; fuser -v /dev/sda2"


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (device("sda2", MOUNT), "sda2 is in use: ext4 mounted at /srv; choose a free device"),
        (
            device("sda2", Use(kind="swap", what="sda2")),
            "sda2 is in use: swap in use; choose a free device",
        ),
        (
            device("sda2", Use(kind="holder", what="dm-0", detail="vg-lv")),
            "sda2 is in use: held by dm-0 (vg-lv); choose a free device",
        ),
        (device("sda2", busy="something uses it"), BUSY),
        (device("sda2", read_only=True), "sda2 is read-only; choose a writable device"),
        (device("sda2", size_bytes=4 << 20), "sda2 is too small: 4 MiB; a member needs at least 8 MiB"),
        (
            replace(device("sda2"), disk=replace(device("sda2").disk, size_bytes=None)),
            "the size of sda2 is not known; choose another device",
        ),
        (
            device("sda2", sector_bytes=4096),
            (
                "sda2 has sectors of 4096 bytes and sdb2 of 512: data on an array of both may not be"
                " readable; use devices with one sector size"
            ),
        ),
    ],
)
def test_devices_that_cannot_be_taken(found: Device, sentence: str) -> None:
    assert refused(plain("raid1", "sda2", "sdb2"), survey(found, device("sdb2"))) == sentence


def test_a_disk_and_its_partition() -> None:
    whole = device("sda", GPT, Use(kind="partition", what="sda2"))
    both = plain("raid1", "sda", "sda2")
    assert refused(both, survey(whole, device("sda2"))) == (
        "sda2 is a partition of sda, and both are named; name one of them"
    )
    asked = plain("raid1", "sda", "sdb2")
    assert refused(asked, survey(whole, device("sda2", MOUNT), device("sdb2"))) == (
        "sda has a partition in use: sda2, ext4 mounted at /srv; choose a free device"
    )
    mirror = raid1(members=("sda2", "sdc2"))
    assert refused(asked, survey(whole, device("sdb2"), arrays=(mirror,))) == (
        "sda2 is a member of root; choose a free device"
    )


def test_devices_of_other_arrays() -> None:
    there = raid10(members=("sdm", "sdn", "sdo", "sdp"))
    former = device("sda2", superblock=Superblock(uuid=there.array_uuid, name="nas:data"))
    asked = plain("raid1", "sda2", "sdb2", name="new")
    assert refused(asked, survey(former, device("sdb2"), arrays=(there,))) == (
        "sda2 was a member of data, which exists as md127;"
        " re-add it to that array, or zero its superblock first: raidtui plan zero-superblock sda2"
    )
    member = raid10(members=("sda2", "sdn", "sdo", "sdp"))
    assert refused(asked, survey(arrays=(member,))) == "sda2 is a member of data; choose a free device"


def test_names_and_numbers_that_are_taken() -> None:
    host = survey(arrays=(raid10(members=("sdm", "sdn", "sdo", "sdp")),))
    assert refused(request(name="127"), host) == "md127 already exists; choose another number"
    assert refused(request(name="data"), host) == ("/dev/md127 is already named data; choose another name")
    assert refused(request(name="new", number=127), host) == "md127 already exists; choose another number"
    array_uuid = host.snapshot.arrays[0].uuid
    assert refused(request(name="new", uuid=array_uuid), host) == (
        f"the UUID {array_uuid} is taken; choose another one"
    )
    block = device("sda2", superblock=Superblock(uuid=UUID))
    others = [device(name) for name in FOUR[1:]]
    assert refused(request(), survey(block, *others)) == f"the UUID {UUID} is taken; choose another one"


def test_refused_whatever_is_asked() -> None:
    assert refused(request(), survey(writable=False)) == "needs root; run it as: sudo raidtui"
    assert refused(request(), survey(mdadm=NO_MDADM)) == "mdadm is not installed; apt install mdadm"
