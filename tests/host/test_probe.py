"""What is on a device, by looking at it; and what is not known of it."""

from __future__ import annotations

import pytest

from raidtui.host.facts import why_not
from raidtui.host.probe import TogetherProbe, probe_signatures
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import output_path
from raidtui.model.answer import AnswerKind
from raidtui.model.disk import Use
from raidtui.model.fact import Fact, FactKind

BLKID = output_path(("blkid", "--probe", "--output", "export", "/dev/sda"))
WIPEFS = output_path(("wipefs", "--no-act", "--noheadings", "/dev/sda"))
LUKS = "exit 0\nDEVNAME=/dev/sda\nUUID=1\nVERSION=1\nTYPE=crypto_LUKS\nUSAGE=crypto\n"
PART = "exit 0\nDEVNAME=/dev/sda\nPART_ENTRY_SCHEME=gpt\nPART_ENTRY_NUMBER=1\n"


class Live(MemoryReader):
    live = True


def host(blkid: str, wipefs: str = "exit 0\n") -> Live:
    return Live({BLKID: blkid, WIPEFS: wipefs})


@pytest.mark.parametrize(
    ("blkid", "types"),
    [
        (LUKS, ["crypto_LUKS"]),
        ("exit 0\nDEVNAME=/dev/sda\nLABEL=a=b\nTYPE=btrfs\nPTTYPE=gpt\n", ["btrfs", "gpt"]),
        ("exit 2\n", []),
        (PART, []),
    ],
)
def test_what_is_there(blkid: str, types: list[str]) -> None:
    found = probe_signatures(host(blkid), "sda")
    assert found.kind is AnswerKind.ANSWER
    assert [use.what for use in found.value or ()] == types
    assert [use.detail for use in found.value or ()] == (
        ["a=b", ""] if "btrfs" in types else [""] * len(types)
    )


@pytest.mark.parametrize(
    ("blkid", "wipefs", "kind", "why"),
    [
        (
            "exit 8\n",
            "exit 0\n",
            AnswerKind.NOT_UNDERSTOOD,
            "/dev/sda holds signatures of several kinds: it is not clear which one is valid",
        ),
        (
            "exit 0\ngarbage\n",
            "exit 0\n",
            AnswerKind.NOT_UNDERSTOOD,
            "blkid does not say in known words what /dev/sda holds",
        ),
        (
            "exit 2\n",
            "exit 0\nsda 0x0 crypto_LUKS 1\n",
            AnswerKind.NOT_UNDERSTOOD,
            "blkid finds nothing on /dev/sda, and wipefs finds crypto_LUKS",
        ),
        (
            "exit 2\n",
            "exit 0\ngarbage\n",
            AnswerKind.NOT_UNDERSTOOD,
            "blkid finds nothing on /dev/sda, and wipefs finds a signature",
        ),
        ("exit 1\n", "exit 0\n", AnswerKind.FAILED, "blkid failed (1)"),
        (
            "exit 2\n",
            "exit 1\nwipefs: error: /dev/sda: probing initialization failed\n",
            AnswerKind.FAILED,
            "wipefs failed (1): error: /dev/sda: probing initialization failed",
        ),
        (
            "timed-out\nblkid did not answer within 20 s",
            "exit 0\n",
            AnswerKind.TIMED_OUT,
            "blkid did not answer within 20 s",
        ),
        ("no-tool\nblkid is not installed", "exit 0\n", AnswerKind.NO_TOOL, "blkid is not installed"),
        (
            "refused\n/sbin/blkid: Permission denied",
            "exit 0\n",
            AnswerKind.REFUSED,
            "/sbin/blkid: Permission denied",
        ),
    ],
)
def test_silence_is_not_emptiness(blkid: str, wipefs: str, kind: AnswerKind, why: str) -> None:
    root = host(blkid, wipefs)
    found = probe_signatures(root, "sda")
    assert (found.kind, found.value, found.why) == (kind, None, why)
    fact = Fact(kind=FactKind.CONTENTS, subject="sda")
    assert why_not(root, fact) == f"sda cannot be examined: {why}"


def test_right_before_a_step_it_is_looked_at_again() -> None:
    """A LUKS container that was made meanwhile, of which udev has not heard."""
    empty, luks = (Fact(kind=FactKind.CONTENTS, subject="sda", value=word) for word in ("", "crypto_LUKS"))
    assert [why_not(host(LUKS), fact) for fact in (empty, luks)] == [
        "sda holds crypto_LUKS now, and nothing when the plan was made",
        "",
    ]
    assert [why_not(host("exit 2\n"), fact) for fact in (empty, luks)] == [
        "",
        "sda holds nothing now, and crypto_LUKS when the plan was made",
    ]


def test_of_a_capture_it_is_what_udev_says() -> None:
    root = MemoryReader({"/sys/class/block/sda/dev": "8:0\n", "/run/udev/data/b8:0": "E:ID_FS_TYPE=xfs\n"})
    assert probe_signatures(root, "sda").value == (Use(kind="signature", what="xfs"),)


THREE = ("/dev/sda", "/dev/sdb", "/dev/sdc")
_BLKID = output_path(("blkid", "--probe", "--output", "export", *THREE))
_WIPEFS = output_path(("wipefs", "--no-act", "--noheadings", "/dev/sda", "/dev/sdc"))
_ONE = "DEVNAME=/dev/sdb\nTYPE=ext4\n\n"


@pytest.mark.parametrize(
    ("blkid", "wipefs", "found"),
    [
        (f"exit 2\n{_ONE}", "exit 0\n", {"sda": [], "sdb": ["ext4"], "sdc": []}),
        (f"exit 2\n{_ONE}", "exit 0\nsda 0x438 ext4 1 \n", {"sdb": ["ext4"]}),
        (f"exit 2\n{_ONE}", "exit 1\n", {"sdb": ["ext4"]}),
        (f"exit 2\n{_ONE}", "timed-out\nno answer", {"sdb": ["ext4"]}),
        (f"exit 8\n{_ONE}", "exit 0\n", {}),
        ("exit 2\nTYPE=ext4\n", "exit 0\n", {}),
        ("exit 0\nDEVNAME=/dev/sdx\nTYPE=ext4\n", "exit 0\n", {}),
        ("timed-out\nno answer", "exit 0\n", {}),
    ],
)
def test_several_at_once(blkid: str, wipefs: str, found: dict[str, list[str]]) -> None:
    """What is not plain is no answer here: each of those is asked by itself."""
    together = TogetherProbe(Live({_BLKID: blkid, _WIPEFS: wipefs}), ("sda", "sdb", "sdc"))
    taken = {name: together.take(name) for name in ("sda", "sdb", "sdc")}
    known = {name: answer.value for name, answer in taken.items() if answer is not None}
    assert {name: [use.what for use in value or ()] for name, value in known.items()} == found
    assert together.take("sdb") is None, "who asks again wants to know it anew"
