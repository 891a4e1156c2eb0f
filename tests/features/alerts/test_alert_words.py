"""What an alert says of each event, on a host in that state."""

from __future__ import annotations

import pytest

from raidtui.features.alerts.alert_words import alert_words, is_noise, is_test
from raidtui.model.alert import AlertEvent, AlertWords
from raidtui.model.finding import Severity
from raidtui.monitor.health import judge
from raidtui.monitor.sampler import Sampler
from tests.hosts.kernel import Kernel
from tests.hosts.specs import ArraySpec, raid1, raid10


def event(name: str, device: str = "/dev/md127", detail: str = "", source: str = "mdadm") -> AlertEvent:
    return AlertEvent(source=source, name=name, device=device, detail=detail)


def said(what: AlertEvent, *arrays: ArraySpec) -> AlertWords:
    snapshot = Sampler(Kernel(*arrays)).sample()
    return alert_words(what, "nas", snapshot, judge(snapshot))


WELL = raid10(members=("sda", "sdb", "sdc", "sdd"))
SICK = raid10(members=("sda", "sdb", "sdc", None))


def test_a_member_fails() -> None:
    words = said(event("Fail", detail="/dev/sdd"), SICK)
    assert words.severity is Severity.DEGRADED
    assert words.title == "nas: sdd of data has failed"
    assert words.sentence == (
        "sdd of data has failed. data is degraded: 1 of 4 members missing (slot 3); slot 2 holds the last"
        " copy. To do: add a disk: mdadm /dev/md127 --add DEVICE."
    )


@pytest.mark.parametrize(
    ("name", "detail", "severity", "title"),
    [
        ("DegradedArray", "", Severity.DEGRADED, "data is degraded"),
        ("FailSpare", "/dev/sde", Severity.ATTENTION, "sde, a spare or being rebuilt in data, has failed"),
        ("SpareActive", "/dev/sda", Severity.INFO, "sda is rebuilt, and serves in data"),
        (
            "DeviceDisappeared",
            "",
            Severity.FAILED,
            "data is gone: it was stopped, or all its members are lost",
        ),
        ("SparesMissing", "", Severity.ATTENTION, "data has fewer spares than mdadm.conf says"),
        ("RebuildFinished", "", Severity.INFO, "a sync of data has ended"),
        (
            "RebuildFinished",
            "mismatches found: 128 (on raid level 10)",
            Severity.ATTENTION,
            "a sync of data has ended, with 128 mismatches",
        ),
        ("TestMessage", "", Severity.INFO, "this is a test alert, for data"),
        ("NewKind", "/dev/sda", Severity.ATTENTION, "mdadm reports NewKind of data: /dev/sda"),
    ],
)
def test_each_event(name: str, detail: str, severity: Severity, title: str) -> None:
    words = said(event(name, detail=detail), WELL)
    assert (words.severity, words.title) == (severity, f"nas: {title}")
    assert "data is optimal now." in words.sentence
    done = "Nothing to do." if severity is Severity.INFO else "To do: look at it with raidtui"
    assert done in words.sentence


def test_the_worse_of_event_and_verdict_counts() -> None:
    """A disk is rebuilt, and another is still missing."""
    words = said(event("SpareActive", detail="/dev/sda"), SICK)
    assert words.severity is Severity.DEGRADED
    assert "To do: add a disk" in words.sentence
    assert said(event("TestMessage"), SICK).severity is Severity.INFO


def test_only_of_that_array() -> None:
    words = said(event("RebuildFinished"), WELL, raid1(failed=("sdf",)))
    assert (words.severity, "root" in words.sentence) == (Severity.INFO, False)


def test_an_array_that_is_gone() -> None:
    words = said(event("DeviceDisappeared", "/dev/md9"), WELL)
    assert words.severity is Severity.FAILED
    assert words.sentence == (
        "md9 is gone: it was stopped, or all its members are lost. No array of that name runs now. To do:"
        " unless it was stopped on purpose, run raidtui rescue: it shows what happened, and how to bring it"
        " back."
    )


def test_by_its_link() -> None:
    assert said(event("Fail", "/dev/md/data", "/dev/sdd"), SICK).title == "nas: sdd of data has failed"


def test_smartd() -> None:
    what = event(
        "CurrentPendingSector",
        "/dev/sda",
        "Device: /dev/sda [SAT], 8 Currently unreadable (pending) sectors",
        source="smartd",
    )
    words = said(what, WELL)
    assert words.severity is Severity.ATTENTION
    assert words.sentence == (
        "smartd reports CurrentPendingSector of sda: Device: /dev/sda [SAT], 8 Currently unreadable"
        " (pending) sectors. It is a member of data. data is optimal now. To do: check the"
        " disk with raidtui wear, and have a replacement ready."
    )
    assert said(event("Health", "/dev/sda", source="smartd"), WELL).severity is Severity.FAILED
    alone = said(event("Temperature", "/dev/sdz", source="smartd"), WELL)
    assert alone.sentence == (
        "smartd reports Temperature of sdz. To do: check the disk with raidtui wear, and have"
        " a replacement ready."
    )
    test = said(event("EmailTest", "/dev/sda", source="smartd"), WELL)
    assert (test.severity, test.title) == (Severity.INFO, "nas: this is a test alert of smartd, for sda")


@pytest.mark.parametrize(
    ("disk", "member", "on"),
    [
        ("/dev/sda", "sda", True),
        ("/dev/sda", "sda1", True),
        ("/dev/sda", "sdaa", False),
        ("/dev/nvme0n1", "nvme0n1p2", True),
        ("/dev/nvme0n1", "nvme0n12", False),
    ],
)
def test_the_disk_of_a_member(disk: str, member: str, on: bool) -> None:  # noqa: FBT001
    words = said(event("Health", disk, source="smartd"), raid1(members=(member, "sdz")))
    assert ("It is a member of root." in words.sentence) is on


def test_what_is_not_known() -> None:
    words = alert_words(event("Fail", detail="/dev/sda"), "nas", None, (), unread="it hangs")
    assert words.severity is Severity.DEGRADED
    assert "raidtui's own verdict is not known: it hangs." in words.sentence


def test_text_from_outside_stays_in_its_line() -> None:
    words = said(event("Fail\r\nBcc: x", "/dev/md0\x1b[31m", "a\nb" * 2000), WELL)
    assert all(char.isprintable() for char in words.title + words.sentence)
    assert (len(words.title), len(words.sentence)) < (201, 1501)


@pytest.mark.parametrize(
    ("what", "noise"),
    [
        (event("Rebuild20"), True),
        (event("RebuildStarted"), True),
        (event("NewArray"), True),
        (event("MoveSpare"), True),
        (event("DeviceDisappeared", detail="Wrong-Level"), True),
        (event("DeviceDisappeared"), False),
        (event("RebuildFinished"), False),
        (event("NewArray", source="smartd"), False),
        (event(""), False),
    ],
)
def test_noise(what: AlertEvent, noise: bool) -> None:  # noqa: FBT001
    assert is_noise(what) is noise
    assert not is_test(what)
