"""Facts: each kind where it holds, and the sentence that says why it does not."""

from __future__ import annotations

import hashlib

import pytest

from raidtui.host import facts
from raidtui.host.block import read_appearance
from raidtui.host.facts import kernel_name, why_not
from raidtui.host.roots.memory_root import MemoryRoot
from raidtui.host.tools import output_path
from raidtui.model.plan import Fact, Kind
from tests.hosts.trees import host_tree, inactive, raid1, raid5, raid10

DATA, ROOT, MEDIA = raid10(), raid1(members=("sde2", "sdf2")), inactive(raid5(failed=()))
NAMELESS = raid1("md9", "", members=("sdv", "sdw"), uuid="0" * 31 + "9")
OTHER = "ffffffff:ffffffff:ffffffff:ffffffff"
CONF = "/etc/mdadm/mdadm.conf"
CONF_TEXT = f"HOMEHOST <system>\nARRAY /dev/md/data UUID={DATA.array_uuid}\n"
NODE = "/sys/class/block"


def host() -> MemoryRoot:
    """Return a host with arrays of all sorts, and disks in all sorts of use."""
    root = host_tree(
        DATA,
        ROOT,
        MEDIA,
        NAMELESS,
        disks={
            "sda": {"serial": "PHWL5184", "size": "1000"},
            "sdp": {"serial": "", "wwn": "0x5001"},
            "sdq": {"serial": "", "wwn": ""},
            "sdr": {},
            "sds": {},
            "sdt": {},
            "sdu": {},
        },
        mounts={"md126": "/", "sdr": "/mnt", "md127p1": "/srv/my data"},
        swaps=("sdr", "sds"),
        holders={"sdt": ("dm-0=vg-lv", "md7")},
        mdadm=True,
    ).root()
    for path in (f"{NODE}/md127/md127p1", f"{NODE}/md127p1"):
        root.put(f"{path}/partition", "1\n")
        root.put(f"{path}/dev", "9:1271\n")
    root.put(f"{NODE}/sdu/size", "²\n")
    root.put(f"{NODE}/md8/md/array_state", "clear\n")
    root.put(f"{NODE}/md127/md/dev-cciss!c0d0/state", "spare\n")
    root.put(f"{NODE}/md127/md/dev-sdd/state", "in_sync,want_replacement\n")
    root.put(CONF, CONF_TEXT)
    root.put(output_path(("mdadm", "--examine", "--export", "/dev/sdp")), "exit 1\n")
    root.put(
        output_path(("mdadm", "--examine", "--export", "/dev/sdq")),
        "exit 0\nMD_METADATA=imsm\nMD_LEVEL=container\n",
    )
    return root


def sentence(kind: Kind, subject: str, value: str = "") -> str:
    """Return why a fact does not hold on that host, or ""."""
    return why_not(host(), Fact(kind=kind, subject=subject, value=value))


def test_every_kind_has_a_reader() -> None:
    assert sorted(facts._READERS) == sorted(Kind)


@pytest.mark.parametrize(
    ("kind", "subject", "value"),
    [
        (Kind.SERIAL, "sda", "PHWL5184"),
        (Kind.SERIAL, "sde2", "SSDE0001"),
        (Kind.SERIAL, "sdp", "0x5001"),
        (Kind.SIZE, "sda", "512000"),
        (Kind.FREE, "sda", ""),
        (Kind.FREE, "sdp", ""),
        (Kind.SUPERBLOCK, "sda", DATA.array_uuid),
        (Kind.SUPERBLOCK, "sde2", ROOT.array_uuid),
        (Kind.SUPERBLOCK, "sdp", ""),
        (Kind.ARRAY, "md127", DATA.array_uuid),
        (Kind.ARRAY, "md127", DATA.array_uuid.replace(":", "").upper()),
        (Kind.ARRAY, "md125", MEDIA.array_uuid),
        (Kind.GONE, "md7", ""),
        (Kind.GONE, "md8", ""),
        (Kind.GONE, OTHER, ""),
        (Kind.RUNNING, DATA.array_uuid, ""),
        (Kind.UNUSED, "md125", ""),
        (Kind.NAME, DATA.array_uuid, "data"),
        (Kind.NAME, NAMELESS.array_uuid, ""),
        (Kind.LEVEL, "md127", "raid10"),
        (Kind.MEMBER, "md127/sda", "in_sync"),
        (Kind.MEMBER, "md127/sda", "spare|in_sync"),
        (Kind.MEMBER, "md127/sdd", "want_replacement"),
        (Kind.MEMBER, "md127/sda", "present"),
        (Kind.MEMBER, "md127/cciss/c0d0", "spare"),
        (Kind.MEMBER, "md127/sdz", "absent"),
        (Kind.MEMBER, "md127/sdz", "faulty|absent"),
        (Kind.TEXT, f"{NODE}/md127/md/sync_action", "idle"),
        (Kind.TEXT, CONF, CONF_TEXT),
        (Kind.DIGEST, CONF, hashlib.sha256(CONF_TEXT.encode()).hexdigest()),
        (Kind.DIGEST, "/etc/mdadm.conf", ""),
        (Kind.LINE, CONF, "HOMEHOST <system>"),
        (Kind.LINE, CONF, f"ARRAY /dev/md/data UUID={DATA.array_uuid}"),
    ],
)
def test_it_holds(kind: Kind, subject: str, value: str) -> None:
    assert sentence(kind, subject, value) == ""


@pytest.mark.parametrize(
    ("kind", "subject", "value", "expected"),
    [
        (Kind.SERIAL, "sdz", "X", "sdz is gone"),
        (Kind.SERIAL, "sda", "X", "sda is another disk now: PHWL5184"),
        (Kind.SERIAL, "sda", "", "sda is another disk now: PHWL5184"),
        (Kind.SERIAL, "sdq", "X", "sdq is another disk now: without serial number"),
        (Kind.SIZE, "sdz", "1", "sdz is gone"),
        (Kind.SIZE, "sda", "512001", "sda has another size now: 512000 bytes"),
        (Kind.SIZE, "sdu", "512000", "sdu has another size now: None bytes"),
        (Kind.FREE, "sdz", "", "sdz is gone"),
        (Kind.FREE, "sdr", "", "sdr is in use: ext4 mounted at /mnt, swap in use"),
        (Kind.FREE, "sds", "", "sds is in use: swap in use"),
        (Kind.FREE, "sdt", "", "sdt is in use: held by dm-0 (vg-lv), held by md7"),
        (Kind.SUPERBLOCK, "sdp", DATA.array_uuid, "sdp has no md superblock"),
        (
            Kind.SUPERBLOCK,
            "sda",
            "",
            f"sda has the superblock of data ({DATA.array_uuid})",
        ),
        (
            Kind.SUPERBLOCK,
            "sdv",
            OTHER,
            "sdv has the superblock of 00000000 (00000000:00000000:00000000:00000009)",
        ),
        (Kind.SUPERBLOCK, "sdq", "", "sdq has the superblock of unknown (?)"),
        (Kind.ARRAY, "md126", DATA.array_uuid, "md126 is another array now"),
        (Kind.ARRAY, "md7", DATA.array_uuid, "md7 is not there"),
        (Kind.ARRAY, "md7", "", "md7 is not there"),
        (Kind.GONE, "md127", "", "md127 is there"),
        (Kind.GONE, "md125", "", "md125 is there"),
        (Kind.GONE, DATA.array_uuid, "", "md127 is there"),
        (Kind.RUNNING, OTHER, "", f"the array {OTHER} is not there"),
        (Kind.RUNNING, MEDIA.array_uuid, "", f"the array {MEDIA.array_uuid} is inactive"),
        (Kind.UNUSED, "md7", "", "md7 is not there"),
        (Kind.UNUSED, "md126", "", "md126 is in use: ext4 mounted at /"),
        (Kind.UNUSED, "md127", "", "md127p1 is in use: ext4 mounted at /srv/my data"),
        (Kind.NAME, OTHER, "data", f"the array {OTHER} is not there"),
        (Kind.NAME, DATA.array_uuid, "date", "md127 is called data"),
        (Kind.NAME, NAMELESS.array_uuid, "x", "md9 is called nothing"),
        (Kind.NAME, MEDIA.array_uuid, "media", "mdadm was not run for this capture"),
        (Kind.LEVEL, "md127", "raid1", "md127 is raid10"),
        (Kind.LEVEL, "md7", "raid1", "md7 is not there"),
        (Kind.MEMBER, "md127/sda", "spare|faulty", "sda is in_sync"),
        (Kind.MEMBER, "md127/sda", "absent", "sda is in_sync"),
        (Kind.MEMBER, "md127/sdd", "in", "sdd is in_sync,want_replacement"),
        (Kind.MEMBER, "md127/sdz", "present", "sdz is no member of md127"),
        (Kind.MEMBER, "md7/sda", "in_sync|spare", "sda is no member of md7"),
        (Kind.TEXT, f"{NODE}/md127/md/sync_action", "check", f"{NODE}/md127/md/sync_action reads 'idle'"),
        (Kind.TEXT, "/none", "", "/none reads None"),
        (Kind.DIGEST, CONF, "", f"{CONF} was changed since the plan was made"),
        (
            Kind.DIGEST,
            "/etc/mdadm.conf",
            hashlib.sha256(b"").hexdigest(),
            "/etc/mdadm.conf was changed since the plan was made",
        ),
        (Kind.LINE, CONF, "HOMEHOST", f"{CONF} has no line 'HOMEHOST'"),
        (Kind.LINE, "/none", "x", "/none has no line 'x'"),
    ],
)
def test_it_does_not_hold(kind: Kind, subject: str, value: str, expected: str) -> None:
    assert sentence(kind, subject, value) == expected


def test_a_file_that_is_not_there_has_no_lines() -> None:
    assert sentence(Kind.LINE, "/none") == "/none has no line ''"


def test_a_line_of_any_bytes() -> None:
    """Values are bytes as characters, as in ``Survey.texts``."""
    root = MemoryRoot({CONF: b"# \xe9\nARRAY /dev/md/\xc3\xa9\n"})
    assert [
        why_not(root, Fact(kind=Kind.LINE, subject=CONF, value=line.decode("latin-1")))
        for line in (b"# \xe9", b"ARRAY /dev/md/\xc3\xa9")
    ] == ["", ""]


def test_a_superblock_that_nobody_could_look_for() -> None:
    """Where mdadm does not answer, there is no telling that a device has none."""
    assert sentence(Kind.SUPERBLOCK, "sdr") == "sdr cannot be examined: mdadm was not run for this capture"


def test_what_only_opening_a_device_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def busy(_: object, name: str) -> str:
        asked.append(name)
        return "something uses it"

    monkeypatch.setattr(facts, "why_busy", busy)
    assert sentence(Kind.FREE, "sda") == "sda: something uses it"
    assert sentence(Kind.FREE, "sds") == "sds is in use: swap in use"
    assert asked == ["sda"]


@pytest.mark.parametrize(
    ("boot", "number", "value", "holds"),
    [
        ("b1", "17", "b1/17", True),
        ("b1", "18", "b1/17", False),
        ("b2", "3", "b1/17", True),
        ("b1", None, "b1/17", True),
    ],
)
def test_a_disk_that_was_gone(boot: str, number: str | None, value: str, *, holds: bool) -> None:
    """Diskseq counts anew after a reboot; old kernels have none. A partition has its disk's."""
    root = host()
    root.put("/proc/sys/kernel/random/boot_id", f"{boot}\n")
    if number is not None:
        root.put(f"{NODE}/sde/diskseq", f"{number}\n")
        assert read_appearance(root, "sde") == f"{boot}/{number}"
    said = why_not(root, Fact(kind=Kind.APPEARANCE, subject="sde2", value=value))
    assert said == ("" if holds else "sde2 was gone since the plan was made: it may be another disk now")
    assert sentence(Kind.APPEARANCE, "sdz", value) == "sdz is gone"


@pytest.mark.parametrize(
    ("digest", "expected"),
    [
        ("abc", ""),
        ("abd", "sda was written to since the plan was made"),
        (None, "sda cannot be read"),
    ],
)
def test_untouched(monkeypatch: pytest.MonkeyPatch, digest: str | None, expected: str) -> None:
    monkeypatch.setattr(facts, "digest_of", lambda _, name: digest if name == "sda" else None)
    assert sentence(Kind.UNTOUCHED, "sda", "abc") == expected


def test_kernel_name() -> None:
    root = host()
    root.put(f"{NODE}/sda/md/uuid", OTHER)
    assert [kernel_name(root, uuid) for uuid in (DATA.array_uuid, MEDIA.array_uuid, OTHER, "")] == [
        "md127",
        "md125",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("exit 0\n", ""),
        ("exit 0\next4 0x438\n", "sda still has signatures"),
        ("exit 1\n", "sda cannot be looked at: "),
        (None, "sda cannot be looked at: wipefs was not run for this capture"),
    ],
)
def test_clean_is_what_wipefs_finds_nothing_on(output: str | None, why: str) -> None:
    argv = ("wipefs", "--no-act", "--noheadings", "/dev/sda")
    root = MemoryRoot({} if output is None else {output_path(argv): output})
    assert facts.why_not(root, Fact(kind=Kind.CLEAN, subject="sda")) == why
