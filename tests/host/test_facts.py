"""Facts: each kind where it holds, and the sentence that says why it does not."""

from __future__ import annotations

import hashlib

import pytest

from raidtui.host import facts
from raidtui.host.block import read_appearance
from raidtui.host.facts import kernel_name, why_not
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.model.fact import Fact, FactKind
from tests.hosts.trees import host_tree, inactive, raid1, raid5, raid10

DATA, ROOT, MEDIA = raid10(), raid1(members=("sde2", "sdf2")), inactive(raid5(failed=()))
NAMELESS = raid1("md9", "", members=("sdv", "sdw"), uuid="0" * 31 + "9")
OTHER = "ffffffff:ffffffff:ffffffff:ffffffff"
CONF = "/etc/mdadm/mdadm.conf"
CONF_TEXT = f"HOMEHOST <system>\nARRAY /dev/md/data UUID={DATA.array_uuid}\n"
NODE = "/sys/class/block"


def host() -> MemoryReader:
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


def sentence(kind: FactKind, subject: str, value: str = "") -> str:
    """Return why a fact does not hold on that host, or ""."""
    return why_not(host(), Fact(kind=kind, subject=subject, value=value))


def test_every_kind_has_a_reader() -> None:
    assert sorted(facts._READERS) == sorted(FactKind)


@pytest.mark.parametrize(
    ("kind", "subject", "value"),
    [
        (FactKind.SERIAL, "sda", "PHWL5184"),
        (FactKind.SERIAL, "sde2", "SSDE0001"),
        (FactKind.SERIAL, "sdp", "0x5001"),
        (FactKind.SIZE, "sda", "512000"),
        (FactKind.LARGER, "sda", "511999"),
        (FactKind.FREE, "sda", ""),
        (FactKind.FREE, "sdp", ""),
        (FactKind.SUPERBLOCK, "sda", DATA.array_uuid),
        (FactKind.SUPERBLOCK, "sde2", ROOT.array_uuid),
        (FactKind.SUPERBLOCK, "sdp", ""),
        (FactKind.ARRAY, "md127", DATA.array_uuid),
        (FactKind.ARRAY, "md127", DATA.array_uuid.replace(":", "").upper()),
        (FactKind.ARRAY, "md125", MEDIA.array_uuid),
        (FactKind.GONE, "md7", ""),
        (FactKind.GONE, "md8", ""),
        (FactKind.GONE, OTHER, ""),
        (FactKind.RUNNING, DATA.array_uuid, ""),
        (FactKind.UNUSED, "md125", ""),
        (FactKind.NAME, DATA.array_uuid, "data"),
        (FactKind.NAME, NAMELESS.array_uuid, ""),
        (FactKind.LEVEL, "md127", "raid10"),
        (FactKind.MEMBER, "md127/sda", "in_sync"),
        (FactKind.MEMBER, "md127/sda", "spare|in_sync"),
        (FactKind.MEMBER, "md127/sdd", "want_replacement"),
        (FactKind.MEMBER, "md127/sda", "present"),
        (FactKind.MEMBER, "md127/cciss/c0d0", "spare"),
        (FactKind.MEMBER, "md127/sdz", "absent"),
        (FactKind.MEMBER, "md127/sdz", "faulty|absent"),
        (FactKind.TEXT, f"{NODE}/md127/md/sync_action", "idle"),
        (FactKind.TEXT, CONF, CONF_TEXT),
        (FactKind.DIGEST, CONF, hashlib.sha256(CONF_TEXT.encode()).hexdigest()),
        (FactKind.DIGEST, "/etc/mdadm.conf", ""),
        (FactKind.LINE, CONF, "HOMEHOST <system>"),
        (FactKind.LINE, CONF, f"ARRAY /dev/md/data UUID={DATA.array_uuid}"),
    ],
)
def test_it_holds(kind: FactKind, subject: str, value: str) -> None:
    assert sentence(kind, subject, value) == ""


@pytest.mark.parametrize(
    ("kind", "subject", "value", "expected"),
    [
        (FactKind.SERIAL, "sdz", "X", "sdz, serial X, is gone"),
        (FactKind.SERIAL, "sdz", "0x5001", "sdz, WWN 0x5001, is gone"),
        (FactKind.SERIAL, "sda", "X", "sda is another disk now: PHWL5184, not X"),
        (FactKind.SERIAL, "sda", "", "sda is another disk now: PHWL5184"),
        (FactKind.SERIAL, "sdq", "X", "sdq is another disk now: without serial number, not X"),
        (FactKind.SIZE, "sdz", "1", "sdz is gone"),
        (FactKind.SIZE, "sda", "512001", "sda has another size now: 512000 bytes"),
        (FactKind.SIZE, "sdu", "512000", "sdu has another size now: None bytes"),
        (FactKind.FREE, "sdz", "", "sdz is gone"),
        (FactKind.FREE, "sdr", "", "sdr is in use: ext4 mounted at /mnt, swap in use"),
        (FactKind.FREE, "sds", "", "sds is in use: swap in use"),
        (FactKind.FREE, "sdt", "", "sdt is in use: held by dm-0 (vg-lv), held by md7"),
        (FactKind.SUPERBLOCK, "sdp", DATA.array_uuid, "sdp has no md superblock"),
        (
            FactKind.SUPERBLOCK,
            "sda",
            "",
            f"sda has the superblock of data ({DATA.array_uuid})",
        ),
        (
            FactKind.SUPERBLOCK,
            "sdv",
            OTHER,
            "sdv has the superblock of 00000000 (00000000:00000000:00000000:00000009)",
        ),
        (FactKind.SUPERBLOCK, "sdq", "", "sdq has the superblock of unknown (?)"),
        (
            FactKind.ARRAY,
            "md126",
            DATA.array_uuid,
            (
                "md126 is another array now; the array of the plan is md127: assemble it as md126,"
                " or make a new plan"
            ),
        ),
        (
            FactKind.ARRAY,
            "md7",
            DATA.array_uuid,
            "md7 is not there; the array of the plan is md127: assemble it as md7, or make a new plan",
        ),
        (FactKind.ARRAY, "md126", OTHER, "md126 is another array now"),
        (FactKind.ARRAY, "md7", "", "md7 is not there"),
        (FactKind.GONE, "md127", "", "md127 is there"),
        (FactKind.GONE, "md125", "", "md125 is there"),
        (FactKind.GONE, DATA.array_uuid, "", "md127 is there"),
        (FactKind.RUNNING, OTHER, "", f"the array {OTHER} is not there"),
        (FactKind.RUNNING, MEDIA.array_uuid, "", f"the array {MEDIA.array_uuid} is inactive"),
        (FactKind.UNUSED, "md7", "", "md7 is not there"),
        (FactKind.UNUSED, "md126", "", "md126 is in use: ext4 mounted at /"),
        (FactKind.UNUSED, "md127", "", "md127p1 is in use: ext4 mounted at /srv/my data"),
        (FactKind.NAME, OTHER, "data", f"the array {OTHER} is not there"),
        (FactKind.NAME, DATA.array_uuid, "date", "md127 is called data"),
        (FactKind.NAME, NAMELESS.array_uuid, "x", "md9 is called nothing"),
        (FactKind.NAME, MEDIA.array_uuid, "media", "mdadm was not run for this capture"),
        (FactKind.LARGER, "sda", "512000", "sda has 512000 bytes"),
        (FactKind.LARGER, "sdz", "1", "sdz is gone"),
        (FactKind.LEVEL, "md127", "raid1", "md127 is raid10"),
        (FactKind.LEVEL, "md7", "raid1", "md7 is not there"),
        (FactKind.MEMBER, "md127/sda", "spare|faulty", "sda is in_sync"),
        (FactKind.MEMBER, "md127/sda", "absent", "sda is in_sync"),
        (FactKind.MEMBER, "md127/sdd", "in", "sdd is in_sync,want_replacement"),
        (FactKind.MEMBER, "md127/sdz", "present", "sdz is not a member of md127"),
        (FactKind.MEMBER, "md7/sda", "in_sync|spare", "sda is not a member of md7"),
        (FactKind.TEXT, f"{NODE}/md127/md/sync_action", "check", f"{NODE}/md127/md/sync_action reads 'idle'"),
        (FactKind.TEXT, "/none", "", "/none reads None"),
        (FactKind.DIGEST, CONF, "", f"{CONF} was changed since the plan was made"),
        (
            FactKind.DIGEST,
            "/etc/mdadm.conf",
            hashlib.sha256(b"").hexdigest(),
            "/etc/mdadm.conf was changed since the plan was made",
        ),
        (FactKind.LINE, CONF, "HOMEHOST", f"{CONF} has no line 'HOMEHOST'"),
        (FactKind.LINE, "/none", "x", "/none has no line 'x'"),
    ],
)
def test_it_does_not_hold(kind: FactKind, subject: str, value: str, expected: str) -> None:
    assert sentence(kind, subject, value) == expected


def test_a_file_that_is_not_there_has_no_lines() -> None:
    assert sentence(FactKind.LINE, "/none") == "/none has no line ''"


def test_a_line_of_any_bytes() -> None:
    """Values are bytes as characters, as in ``Survey.texts``."""
    root = MemoryReader({CONF: b"# \xe9\nARRAY /dev/md/\xc3\xa9\n"})
    assert [
        why_not(root, Fact(kind=FactKind.LINE, subject=CONF, value=line.decode("latin-1")))
        for line in (b"# \xe9", b"ARRAY /dev/md/\xc3\xa9")
    ] == ["", ""]


def test_a_superblock_that_nobody_could_look_for() -> None:
    """Where mdadm does not answer, it is not known that a device has none."""
    assert (
        sentence(FactKind.SUPERBLOCK, "sdr") == "sdr cannot be examined: mdadm was not run for this capture"
    )


def test_what_only_opening_a_device_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def busy(_: object, name: str) -> str:
        asked.append(name)
        return "something uses it"

    monkeypatch.setattr(facts, "why_busy", busy)
    monkeypatch.setattr(facts, "_PATIENCE_S", 0.15)
    assert sentence(FactKind.FREE, "sda") == "sda: something uses it"
    assert sentence(FactKind.FREE, "sds") == "sds is in use: swap in use"
    assert set(asked) == {"sda"}


def test_a_device_that_is_claimed_for_a_moment_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """As mdadm does it, which udev runs for each device that was written to."""
    answers = iter(("something uses it", "", "something uses it"))
    monkeypatch.setattr(facts, "why_busy", lambda *_: next(answers))
    assert sentence(FactKind.FREE, "sda") == ""
    assert next(answers) == "something uses it"


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
    said = why_not(root, Fact(kind=FactKind.APPEARANCE, subject="sde2", value=value))
    assert said == ("" if holds else "sde2 has been away since the plan was made: it may be another disk now")
    assert sentence(FactKind.APPEARANCE, "sdz", value) == "sdz is gone"


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
    assert sentence(FactKind.UNTOUCHED, "sda", "abc") == expected


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
        ("exit 1\n", "sda cannot be examined: wipefs failed (1)"),
        (None, "sda cannot be examined: wipefs was not run for this capture"),
    ],
)
def test_clean_is_what_wipefs_finds_nothing_on(output: str | None, why: str) -> None:
    argv = ("wipefs", "--no-act", "--noheadings", "/dev/sda")
    root = MemoryReader({} if output is None else {output_path(argv): output})
    assert facts.why_not(root, Fact(kind=FactKind.CLEAN, subject="sda")) == why
