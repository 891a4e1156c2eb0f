"""What belongs together, and what it points to."""

from __future__ import annotations

from collections.abc import Iterable

from raidtui.features.history.entries import Entry, Origin
from raidtui.features.history.incident_causes import IncidentCause
from raidtui.features.history.incidents import Incident, incidents_of
from raidtui.features.history.patterns import Weight
from raidtui.model.log_line import LogLine, Writer
from tests.features.history.logs import EPOCH_S, captured, entries, line

PORTS = (
    *(f"scsi host{number}: ahci" for number in range(3)),
    *(f"ata{number + 1}: SATA max UDMA/133 abar m2048@0xdf34b000" for number in range(3)),
)
AT = 5000.0  # long after the boot


def wired(*texts: tuple[float, str], hosts: Iterable[str] = PORTS) -> list[LogLine]:
    """Lines after those of a boot with three ports and disks."""
    disks = [f"sd {number}:0:0:0: [sd{'abc'[number]}] Attached SCSI disk" for number in range(3)]
    return [*(line(1.0, text) for text in (*hosts, *disks)), *(line(AT + at_s, text) for at_s, text in texts)]


def found(lines: Iterable[LogLine]) -> list[Incident]:
    """The incidents long after the boot."""
    return [each for each in incidents_of(entries(lines)) if each.first_s >= EPOCH_S + AT]


def cause(incident: Incident) -> IncidentCause | None:
    return incident.hint.cause if incident.hint is not None else None


CABLE = (
    (0.0, "ata3.00: exception Emask 0x10 SAct 0x400 SErr 0x400100 action 0x6 frozen"),
    (0.0, "ata3: SError: { UnrecovData Handshk }"),
    (0.1, "ata3: hard resetting link"),
    (0.6, "ata3: SATA link up 6.0 Gbps (SStatus 133 SControl 300)"),
    (20.0, "ata3: hard resetting link"),
    (30.0, "md/raid1:md0: Disk failure on sdc1, disabling device."),
    (30.0, "md/raid1:md0: Operation continuing on 1 devices."),
)


def test_a_link_that_fails_and_the_member_on_it() -> None:
    (incident,) = found(wired(*CABLE))
    assert (incident.arrays, incident.disks, incident.ports) == (("md0",), ("sdc",), ())
    assert (incident.title, incident.weight, incident.subject) == (
        "sdc1 failed: md no longer uses it",
        Weight.ERROR,
        "md0",
    )
    assert incident.hint is not None
    assert incident.hint.cause is IncidentCause.LINK
    assert incident.hint.sentence == (
        "the link of ata3 (sdc) reported errors and was reset 2 times, then md failed sdc1: that points to"
        " the cable, the backplane, its power or the port, before the disk; replace the cable first"
    )
    assert incident.hint.basis == ("ata-exception", "ata-reset", "ata-serror")


def test_without_the_lines_of_the_boot_nobody_knows_which_disk_it_is() -> None:
    """Then the port and the array are two incidents: a guess would be shown as a fact."""
    port, array = found([line(AT + at_s, text) for at_s, text in CABLE])
    assert (port.ports, port.disks) == (("ata3",), ())
    assert (array.arrays, array.disks) == (("md0",), ("sdc",))
    assert cause(array) is IncidentCause.NO_DISK_ERROR


def test_as_many_hosts_as_ports_or_nothing_is_said() -> None:
    port, _ = found(wired(*CABLE, hosts=(*PORTS, "scsi host3: ahci")))
    assert port.ports == ("ata3",)


def test_the_host_itself_knows_its_ports() -> None:
    lines = [line(AT + at_s, text) for at_s, text in CABLE]
    (incident,) = incidents_of(entries(lines), current_boot="b" * 32, ports={"ata3": "sdc"})
    assert incident.disks == ("sdc",)
    assert len(incidents_of(entries(lines), current_boot="c" * 32, ports={"ata3": "sdc"})) == 2


def test_resets_that_follow_errors_of_the_disk_are_no_sign_of_a_cable() -> None:
    """The real lines of a disk whose writes fail: libata resets its link, and the link is well."""
    incidents = incidents_of(entries(captured("sata-write-error")))
    (incident,) = (each for each in incidents if each.arrays)
    assert incident.hint is not None
    assert incident.hint.cause is IncidentCause.DISK
    assert incident.hint.sentence == (
        "sda itself reported the errors; the 2 resets of the link followed from them, then md failed sda: the"
        " link reported none, which points to the disk"
    )


def test_several_disks_at_once() -> None:
    lines = wired(
        (0.0, "ata1: SError: { PHYRdyChg }"),
        (1.0, "ata2: SError: { PHYRdyChg }"),
        (2.0, "md/raid5:md0: Disk failure on sda1, disabling device."),
        (2.0, "md/raid5:md0: Disk failure on sdb1, disabling device."),
    )
    (incident,) = found(lines)
    assert incident.hint is not None
    assert incident.hint.cause is IncidentCause.COMMON
    assert incident.hint.sentence.startswith(
        "sda and sdb lost their link within 10 s, then md failed sda1 and sdb1"
    )


def test_bad_sectors() -> None:
    lines = wired(
        (0.0, "ata2.00: exception Emask 0x0 SAct 0x8 SErr 0x0 action 0x0"),
        (0.0, "ata2.00: error: { UNC }"),
        (
            0.0,
            "critical medium error, dev sdb, sector 264192 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2",
        ),
        (1.0, "md/raid1:md0: read error corrected (8 sectors at 264192 on sdb1)"),
    )
    (incident,) = found(lines)
    assert incident.hint is not None
    assert incident.hint.cause is IncidentCause.BAD_SECTORS
    assert "sdb could not read some of its sectors; md rewrote 1 sector range" in incident.hint.sentence


def test_a_disk_that_does_not_answer() -> None:
    lines = wired(
        (0.0, "ata2.00: exception Emask 0x0 SAct 0x8 SErr 0x0 action 0x6 frozen"),
        (0.0, "ata2: hard resetting link"),
        (9.0, "md/raid1:md0: Disk failure on sdb1, disabling device."),
    )
    (incident,) = found(lines)
    assert cause(incident) is IncidentCause.NO_ANSWER


def test_an_nvme_disk_that_fell_off_the_bus() -> None:
    lines = wired(
        (0.0, "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff"),
        (3.0, "nvme nvme0: Removing after probe failure status: -19"),
        (3.1, "md/raid1:md0: Disk failure on nvme0n1p2, disabling device."),
    )
    (incident,) = found(lines)
    assert incident.disks == ("nvme0",)
    assert incident.hint is not None
    assert incident.hint.cause is IncidentCause.PCIE
    assert "then md failed nvme0n1p2" in incident.hint.sentence


def test_a_member_that_was_failed_by_hand() -> None:
    failed = wired((0.0, "md/raid1:md0: Disk failure on sdb1, disabling device."))
    (incident,) = found(failed)
    assert cause(incident) is IncidentCause.NO_DISK_ERROR
    ours = Entry(
        at_s=EPOCH_S + AT - 1, boot="b" * 32, origin=Origin.JOB, code="job-started", weight=Weight.NOTE,
        text="job started: fail: sdb1 of data, by ann", array="md0", device="sdb1",
    )  # fmt: skip
    *_, incident = incidents_of(sorted([*entries(failed), ours], key=lambda entry: entry.at_s))
    assert incident.hint is not None
    assert incident.hint.cause is IncidentCause.BY_HAND
    assert incident.hint.sentence.endswith("raidtui acted before: job started: fail: sdb1 of data, by ann")


def test_what_raidtui_did_to_another_member_is_not_by_hand() -> None:
    failed = wired((0.0, "md/raid1:md0: Disk failure on sdb1, disabling device."))
    for device in ("", "sda1"):
        ours = Entry(
            at_s=EPOCH_S + AT - 1, boot="b" * 32, origin=Origin.CHANGE, code="change", weight=Weight.NOTE,
            text="check paused, by ann", array="md0", device=device,
        )  # fmt: skip
        *_, incident = incidents_of(sorted([*entries(failed), ours], key=lambda entry: entry.at_s))
        assert cause(incident) is IncidentCause.NO_DISK_ERROR


def test_an_interruption_is_taken_back_when_it_went_on() -> None:
    stopped = (0.0, "md: md0: resync interrupted."), (5.0, "md: resync of RAID array md0")
    (incident,) = found(wired(*stopped))
    assert incident.weight < Weight.WARNING
    assert incident.head.code == "sync-started"
    (incident,) = found(wired(stopped[0]))
    assert (incident.weight, incident.head.code) == (Weight.WARNING, "sync-interrupted")


def test_what_is_about_something_else_or_later_is_another_incident() -> None:
    lines = wired(
        (0.0, "md/raid1:md0: Disk failure on sda1, disabling device."),
        (10.0, "md/raid1:md1: Disk failure on sdb1, disabling device."),
        (200.0, "md/raid1:md0: Disk failure on sdc1, disabling device."),
    )
    assert [each.arrays for each in found(lines)] == [("md0",), ("md1",), ("md0",)]


def test_a_sync_is_one_incident_however_long_it_takes() -> None:
    lines = wired(
        (0.0, "md: data-check of RAID array md0"),
        (7200.0, "md/raid1:md0: read error corrected (8 sectors at 8 on sdb1)"),
        (30_000.0, "md: md0: data-check done."),
        (30_100.0, "md: data-check of RAID array md0"),
    )
    first, second = found(lines)
    assert (len(first.entries), first.weight, cause(first)) == (3, Weight.WARNING, IncidentCause.BAD_SECTORS)
    assert second.title == "check started"


def test_gaps_stay_with_what_they_are_in() -> None:
    lines = wired(
        (0.0, "I/O error, dev sdb, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2"),
        (5.0, "blk_update_request: 812 callbacks suppressed"),
    )
    (incident,) = found(lines)
    assert incident.entries[-1].code == "lines-suppressed"
    (alone,) = found(wired((0.0, "blk_update_request: 812 callbacks suppressed")))
    assert alone.title == "812 lines were not logged: there were too many"


def test_an_ordinary_boot_is_one_incident() -> None:
    lines = [
        line(0.0, "Linux version 6.1.0"),
        *wired(),
        line(2.0, "ata2: SATA link down (SStatus 0 SControl 300)"),
        line(3.0, "md/raid1:md0: active with 2 out of 2 mirrors"),
    ]
    (incident,) = incidents_of(entries(lines))
    assert (incident.title, incident.weight) == ("booted, Linux 6.1.0", Weight.NOTE)


def test_a_shutdown_soon_after_the_boot_is_seen() -> None:
    lines = [line(0.0, "Linux version 6.1.0"), line(50.0, "Journal stopped", Writer.JOURNAL)]
    assert [each.head.code for each in incidents_of(entries(lines))] == ["boot", "shutdown"]


def test_a_module_that_the_initramfs_lacks() -> None:
    lines = [line(0.0, "Linux version 6.1.0"), line(2.0, "md: personality for level 1 is not loaded!")]
    _, incident = incidents_of(entries(lines))
    assert cause(incident) is IncidentCause.INITRAMFS


def test_boots_do_not_mix() -> None:
    """The same names within seconds, in two boots."""
    lines = [
        line(AT, "md/raid1:md0: Disk failure on sda1, disabling device.", boot="a" * 32),
        line(AT + 1, "md/raid1:md0: Disk failure on sdb1, disabling device.", boot="c" * 32),
    ]
    assert [each.disks for each in incidents_of(entries(lines))] == [("sda",), ("sdb",)]


def test_real_md_operations() -> None:
    """Within half a minute, on the same RAM disks: all of it is one incident, its worst line the title."""
    boot, incident = incidents_of(entries(captured("md-operations")))
    assert boot.title == "booted, Linux 6.1.176"
    assert (incident.weight, incident.title) == (
        Weight.CRITICAL,
        "too few members are left: 2 of 4 have failed",
    )


def test_hostile_text_is_kept_as_it_is() -> None:
    text = "Device: /dev/sda [SAT], SMART Usage Attribute: \x1b[2J[red]{0}{d} changed from 1 to 2"
    (entry,) = entries([line(AT, text, Writer.SMARTD), line(AT, "nothing")])
    assert entry.text == text
