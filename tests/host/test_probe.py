"""What is on a device, by looking at it; and what is not known of it."""

from __future__ import annotations

import pytest

from raidtui.host.facts import why_not
from raidtui.host.probe import TogetherProbe, probe_signatures
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.tools import ToolOutput, output_path
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
_BLKID = output_path(("blkid", "--cache-file", "/dev/null", "--output", "export", *THREE))
_WIPEFS = output_path(("wipefs", "--no-act", "--noheadings", *THREE))
_ONE = "DEVNAME=/dev/sda\nPARTUUID=1\n\nDEVNAME=/dev/sdb\nTYPE=ext4\n"
_WIPED = "exit 0\nsdb 0x438 ext4 1 \n"
_PROBED = "exit 0\nDEVNAME=/dev/sdb\nTYPE=ext4\n"


@pytest.mark.parametrize(
    ("blkid", "wipefs", "probed", "found"),
    [
        (f"exit 0\n{_ONE}", _WIPED, _PROBED, {"sda": [], "sdb": ["ext4"], "sdc": []}),
        ("exit 2\n", _WIPED, _PROBED, {"sda": [], "sdb": ["ext4"], "sdc": []}),
        (f"exit 0\n{_ONE}", "exit 0\n", "exit 8\n", {"sda": [], "sdc": []}),
        (f"exit 0\n{_ONE}", _WIPED, "exit 0\nTYPE=ext4\n", {"sda": [], "sdc": []}),
        (f"exit 0\n{_ONE}", _WIPED, "exit 0\nDEVNAME=/dev/sdx\nTYPE=ext4\n", {"sda": [], "sdc": []}),
        (f"exit 0\n{_ONE}", _WIPED, "timed-out\nno answer", {"sda": [], "sdc": []}),
        (f"exit 0\n{_ONE}", "exit 0\nsdx 0x438 ext4 1 \n", _PROBED, {}),
        (f"exit 0\n{_ONE}", "exit 1\n", _PROBED, {}),
        (f"exit 0\n{_ONE}", "timed-out\nno answer", _PROBED, {}),
        (f"exit 0\n{_ONE}\nPTTYPE=gpt\n", _WIPED, _PROBED, {}),
        (f"exit 4\n{_ONE}", _WIPED, _PROBED, {}),
        ("timed-out\nno answer", _WIPED, _PROBED, {}),
    ],
)
def test_several_at_once(blkid: str, wipefs: str, probed: str, found: dict[str, list[str]]) -> None:
    """What is not plain is no answer here: each of those is asked by itself."""
    probe = output_path(("blkid", "--probe", "--output", "export", "/dev/sdb"))
    reader = Live({_BLKID: blkid, _WIPEFS: wipefs, probe: probed})
    together = TogetherProbe(reader, ("sda", "sdb", "sdc"))
    taken = {name: together.take(name) for name in ("sda", "sdb", "sdc")}
    known = {name: answer.value for name, answer in taken.items() if answer is not None}
    assert {name: [use.what for use in value or ()] for name, value in known.items()} == found
    assert together.take("sdb") is None, "who asks again wants to know it anew"


def test_many_devices_take_as_many_runs_as_two() -> None:
    """A device that holds something, or one that does not, makes no further run."""
    asked: list[str] = []

    class Counting(Live):
        def ask(self, *argv: str, **_: object) -> ToolOutput:
            asked.append(argv[0])
            said = "DEVNAME=/dev/sd7\nTYPE=ext4\n" if argv[0] == "blkid" else ""
            return ToolOutput(argv=argv, status=0, stdout=said, stderr="")

    names = [f"sd{number}" for number in range(64)]
    together = TogetherProbe(Counting({}), names)
    assert all(together.take(name) is not None for name in names)
    assert asked == ["blkid", "wipefs", "blkid"]
