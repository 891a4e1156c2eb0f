"""What the lines of other people's incidents point to, and what they do not."""

from __future__ import annotations

from raidtui.features.history.entries import words_of
from raidtui.features.history.history_report import collapsed
from raidtui.features.history.incident_causes import IncidentCause
from raidtui.features.history.incidents import Incident
from raidtui.features.history.patterns import Weight
from tests.features.history.logs import line
from tests.features.history.test_incidents import AT, cause, found, wired


def hint_words(incident: Incident) -> str:
    return incident.hint.sentence if incident.hint is not None else ""


def test_a_disk_that_does_not_get_ready_is_no_bad_link() -> None:
    """Nothing of the link is in these lines; its speed is lowered because the resets failed."""
    link = "and its link reported no error, then md failed sdb1"
    for failed in (
        "softreset failed (device not ready)",
        "SRST failed (errno=-16)",
        "COMRESET failed (errno=-16)",
    ):
        lines = wired(
            (0.0, "ata2: hard resetting link"),
            (10.0, f"ata2: {failed}"),
            (10.0, "ata2: limiting SATA link speed to 1.5 Gbps"),
            (11.0, "ata2: link is slow to respond, please be patient (ready=0)"),
            (40.0, "ata2: reset failed, giving up"),
            (40.0, "ata2.00: disabled"),
            (40.0, "md/raid1:md0: Disk failure on sdb1, disabling device."),
        )
        (incident,) = found(lines)
        assert (cause(incident), hint_words(incident)) == (
            IncidentCause.NO_ANSWER,
            f"sdb did not get ready after a reset, {link}: that points to the disk or its power",
        )
    (incident,) = found(wired((0.0, "ata2: COMRESET failed (errno=-32)")))
    assert cause(incident) is IncidentCause.LINK


def test_errors_in_the_words_of_old_kernels() -> None:
    lines = wired(
        (0.0, "sd 2:0:0:0: [sdc]  Result: hostbyte=DID_BAD_TARGET driverbyte=DRIVER_OK"),
        (0.0, "end_request: I/O error, dev sdc, sector 8"),
        (0.0, "md/raid:md0: Disk failure on sdc, disabling device."),
    )
    (incident,) = found(lines)
    assert [entry.code for entry in incident.entries] == ["scsi-result", "io-error", "member-failed"]
    assert cause(incident) is not IncidentCause.NO_DISK_ERROR


def test_an_nvme_disk_that_does_not_come_back() -> None:
    points = (
        "that points to its controller or its power saving (nvme_core.default_ps_max_latency_us=0"
        " pcie_aspm=off), then its firmware, the slot or heat"
    )
    (incident,) = found(wired((0.0, "nvme nvme0: I/O 24 QID 0 timeout, reset controller")))
    assert hint_words(incident) == f"nvme0 did not answer in time: {points}"
    lines = wired(
        (0.0, "nvme nvme0: Device not ready; aborting reset, CSTS=0x1"),
        (1.0, "md/raid1:md1: Disk failure on nvme0n1p2, disabling device."),
        (2.0, "nvme nvme0: failed to set APST feature (-19)"),
    )
    (incident,) = found(lines)
    words = "nvme0 did not answer in time and did not come back after a reset, then md failed nvme0n1p2"
    assert hint_words(incident) == f"{words}: {points}"
    assert [entry.code for entry in incident.entries] == ["nvme-gone", "member-failed", "nvme-apst"]


def test_a_disk_that_leaves_the_usb_bus_has_no_bad_sectors() -> None:
    lines = [
        line(AT, "usb 2-1.3: reset SuperSpeed Gen 1 USB device number 4 using xhci_hcd"),
        line(AT + 0.02, "usb 2-1.3: USB disconnect, device number 4"),
        line(AT + 0.02, "sd 1:0:0:0: [sda] Synchronizing SCSI cache"),
        line(
            AT + 0.03, "blk_update_request: I/O error, dev sda, sector 4278109056 op 0x0:(READ) flags 0x4000"
        ),
        line(AT + 0.04, "md/raid1:md0: sda: unrecoverable I/O read error for block 4277842816"),
        line(AT + 0.05, "sd 1:0:0:0: [sda] Synchronize Cache(10) failed: Result: hostbyte=DID_NO_CONNECT"),
    ]
    (incident,) = found(lines)
    assert (cause(incident), incident.title) == (
        IncidentCause.USB,
        "block 4277842816 cannot be read from any member now",
    )
    assert hint_words(incident) == (
        "sda left the USB bus: that points to the USB adapter, its cable or its power, not to bad sectors; no"
        " data are lost by that: reconnect it, then check what its array lacks"
    )
    assert [entry.code for entry in incident.entries][:2] == ["usb-reset", "usb-gone"]
    unread = line(AT + 0.03, "critical medium error, dev sda, sector 8 op 0x0:(READ) flags 0x0")
    (incident,) = found([*lines[:3], unread, *lines[3:]])
    assert cause(incident) is IncidentCause.BAD_SECTORS


def test_a_disk_that_is_reset_on_the_usb_bus() -> None:
    lines = [
        line(AT, "usb 4-2: reset SuperSpeed USB device number 3 using xhci_hcd"),
        line(AT + 0.1, "I/O error, dev sdl, sector 0 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2"),
    ]
    (incident,) = found(lines)
    assert cause(incident) is IncidentCause.USB
    assert hint_words(incident).startswith("sdl was reset on the USB bus: that points to the USB adapter")
    (incident,) = found(lines[1:])
    assert incident.hint is None


def test_a_disk_of_another_bus_that_is_gone() -> None:
    lines = wired(
        (0.0, "I/O error, dev sda, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2"),
        (0.0, "sd 0:0:0:0: [sda] Synchronize Cache(10) failed: Result: hostbyte=DID_NO_CONNECT"),
        (0.0, "md/raid1:md0: Disk failure on sda1, disabling device."),
    )
    (incident,) = found(lines)
    assert cause(incident) is IncidentCause.PULLED
    assert hint_words(incident).startswith("sda left the bus, then md failed sda1: that points to its cable")


def test_a_usb_device_without_a_disk_is_no_incident() -> None:
    assert found([line(AT, "usb 1-4: USB disconnect, device number 7")]) == []


def test_a_sas_controller_that_is_reset() -> None:
    lines = [
        line(AT, "mpt3sas_cm0: fault_state(0x2810)!"),
        line(AT, "mpt2sas0: fault_state(0x5841)!"),
        line(AT + 1, "mpt3sas_cm0: sending diag reset !!"),
        line(AT + 9, "sd 0:0:2:0: attempting task abort!scmd(0x00000000a1b2c3d4), outstanding for 30564 ms"),
        line(AT + 10, "sd 0:0:2:0: [sdc] Power-on or device reset occurred"),
        line(AT + 11, "sd 0:0:3:0: [sdd] Power-on or device reset occurred"),
        line(AT + 11, "md/raid:md0: Disk failure on sdc, disabling device."),
    ]
    (incident,) = found(lines)
    assert (cause(incident), incident.disks) == (IncidentCause.CONTROLLER, ("sdc", "sdd"))
    assert hint_words(incident).startswith(
        "the SAS controller mpt3sas_cm0 was reset, then md failed sdc: what"
    )


def sizes(kernel: str, text: str) -> str:
    lines = [
        *([line(0.0, f"Linux version {kernel}")] if kernel else []),
        line(AT, "md: md0 stopped."),
        line(AT, text),
    ]
    return words_of(found(lines)[0].entries[-1])


def test_sizes_are_bytes_before_linux_5_11() -> None:
    change = "md0: detected capacity change from {} to 0"
    assert sizes("5.10.0-8-amd64", change.format(1073741824)) == "size 1 GiB → 0 B"
    assert sizes("5.4.0-42-generic", change.format(1073741824)) == "size 1 GiB → 0 B"
    assert sizes("6.1.0-18-amd64", change.format(1073741824)) == "size 512 GiB → 0 B"
    assert (
        sizes("", change.format(1073741824)) == "size 1073741824 → 0 (bytes before Linux 5.11, else sectors)"
    )
    assert sizes("6.1.0", change.format(16002855206912)) == "size 14.6 TiB → 0 B"  # no 7.1 PiB
    assert sizes("", change.format(16002855206912)) == "size 14.6 TiB → 0 B"
    assert sizes("4.4.0", change.format(130945)) == "size 63.9 MiB → 0 B"  # no whole sectors: not bytes


def test_an_array_without_any_member_does_not_work() -> None:
    for text, words in (
        (
            "md/raid1:md0: active with 0 out of 4 mirrors",
            "started with none of 4 mirrors: nothing can be read or written",
        ),
        ("md/raid:md0: Operation continuing on 0 devices.", "no member is left: all have failed"),
    ):
        (incident,) = found(wired((0.0, text)))
        assert (incident.title, incident.weight) == (words, Weight.CRITICAL)


def test_why_an_array_did_not_start() -> None:
    lines = wired(
        (0.0, "md/raid0:md0: cannot assemble multi-zone RAID0 with default_layout setting"),
        (0.0, "md/raid0: please set raid0.default_layout to 1 or 2"),
        (0.0, "md: pers->run() failed ..."),
        (0.0, "md: md0 stopped."),
    )
    (incident,) = found(lines)
    assert (incident.subject, cause(incident)) == ("md0", IncidentCause.RAID0_LAYOUT)
    assert "raid0.default_layout=2 (1 if written before 3.14)" in hint_words(incident)
    for reason in (
        "md/raid:md0: reshape_position too early for auto-recovery - aborting.",
        "md/raid:md0: unsupported reshape required - aborting.",
        "md/raid:md0: in-place reshape must be started in read-only mode - aborting",
        "md/raid0:md0: too few disks (1 of 2) - aborting!",
        "md0: failed to create bitmap (-5)",
    ):
        (incident,) = found(wired((0.0, reason), (0.0, "md: pers->run() failed ...")))
        assert (incident.subject, incident.head.text) == ("md0", reason)
        assert incident.title.startswith("did not start: ")


def test_a_member_that_md_fails_for_read_errors() -> None:
    """RAID 1 says it as RAID 10 does (raid1-10.c); RAID 5 in words of its own."""
    for level, reason in (
        ("raid", "Too many read errors, failing device sdb1."),
        ("raid1", "sdb1: Raid device exceeded read_error threshold [cur 21:max 20]"),
        ("raid10", "sdb1: Raid device exceeded read_error threshold [cur 21:max 20]"),
    ):
        failed = (0.1, f"md/{level}:md0: Disk failure on sdb1, disabling device.")
        (incident,) = found(wired((0.0, f"md/{level}:md0: {reason}"), failed))
        assert (cause(incident), hint_words(incident).split(":")[0]) == (
            IncidentCause.BAD_SECTORS,
            "sdb could not read some of its sectors, then md failed sdb1 for too many read errors",
        )


def test_what_md_says_before_it_fails_a_member_is_an_error() -> None:
    for reason in ("md/raid1:md0: sdb1: Failing raid device", "md: super_written gets error=-5"):
        before = "md/raid1:md0: sdb1: rescheduling sector 8"
        failed = "md/raid1:md0: Disk failure on sdb1, disabling device."
        (incident,) = found(wired((0.0, before), (0.0, reason), (0.0, failed)))
        assert len(incident.entries) == 3
        assert cause(incident) is not IncidentCause.NO_DISK_ERROR


def test_an_array_that_did_not_start_is_not_synced() -> None:
    lines = wired(
        (0.0, "md/raid:md0: not clean -- starting background reconstruction"),
        (0.0, "md/raid:md0: cannot start dirty degraded array."),
        (0.0, "md/raid:md0: failed to run raid set."),
    )
    (incident,) = found(lines)
    assert cause(incident) is IncidentCause.UNCLEAN
    assert hint_words(incident).endswith("; it did not start, and nothing is synced")
    assert words_of(incident.entries[0]) == "its members were not in step"
    (incident,) = found(lines[:-2])
    assert hint_words(incident).endswith("; the resync makes its members agree")


def test_an_array_without_redundancy_that_is_lost() -> None:
    for text in (
        "md: md1: raid0 array has a missing/failed member",
        "md: md1: linear array has a missing/failed member",
        "md/linearmd1: Disk failure on sdc1 detected, failing array.",
        "md/linear:md1: Disk failure on sdc1 detected, failing array.",
    ):
        (incident,) = found(wired((0.0, text)))
        assert (incident.subject, incident.weight) == ("md1", Weight.CRITICAL)
        assert "lost" in incident.title


def test_a_failed_member_in_the_words_of_old_kernels() -> None:
    text = "raid5: Disk failure on sdc1, disabling device. Operation continuing on 3 devices"
    (incident,) = found(wired((0.0, text)))
    assert (incident.title, incident.disks) == ("sdc1 failed: md no longer uses it", ("sdc",))


def test_an_error_of_sas_is_one_of_the_link() -> None:
    for more in ("Information unit iuCRC error detected", "Nak received", "Ack/nak timeout"):
        lines = wired(
            (0.0, "sd 1:0:0:0: [sdb] tag#3 Sense Key : Aborted Command [current] "),
            (0.0, f"sd 1:0:0:0: [sdb] tag#3 Add. Sense: {more}"),
            (0.0, "I/O error, dev sdb, sector 0 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2"),
        )
        (incident,) = found(lines)
        assert cause(incident) is IncidentCause.LINK
        assert hint_words(incident) == (
            "the link of 1:0:0:0 (sdb) reported errors: that points to the cable, the backplane, the expander"
            " or the port, before the disk; replace the cable first"
        )
    guard = "sd 1:0:0:0: [sdb] tag#3 Add. Sense: Logical block guard check failed"
    (incident,) = found([*lines[:-2], line(AT, guard)])
    assert cause(incident) is IncidentCause.DISK


def sense(key: str, more: str, *after: str) -> Incident:
    texts = (f"Sense Key : {key} [current]", f"Add. Sense: {more}")
    rows = [(0.0, f"sd 1:0:0:0: [sdb] tag#3 {text}") for text in texts]
    (incident,) = found(wired(*rows, *((0.1, text) for text in after)))
    return incident


def test_a_refused_command_is_no_fault_of_the_disk() -> None:
    discard = "blk_update_request: critical target error, dev sdb, sector 2048 op 0x3:(DISCARD) flags 0x0"
    incident = sense("Illegal Request", "Invalid field in cdb", discard)
    words = "refused a command as not supported: that is not a fault of the disk"
    assert (cause(incident), hint_words(incident)) == (IncidentCause.REFUSED, f"sdb {words}")
    assert sense("Illegal Request", "Logical block address out of range").hint is None
    for command, refused in (("SMART", True), ("READ DMA EXT", False)):
        (incident,) = found(
            wired(
                (0.0, "ata2.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x0"),
                (0.0, f"ata2.00: failed command: {command}"),
                (0.0, "ata2.00: error: { ABRT }"),
            )
        )
        assert cause(incident) is (IncidentCause.REFUSED if refused else IncidentCause.DISK)


def test_a_disk_that_says_that_it_was_reset_has_no_error() -> None:
    incident = sense("Unit Attention", "Power on, reset, or bus device reset occurred")
    assert (incident.hint, incident.weight) == (None, Weight.WARNING)
    failing = sense("Unit Attention", "Failure prediction threshold exceeded")
    assert cause(failing) is IncidentCause.DISK


def test_bad_sectors_are_said_beside_errors_of_the_link() -> None:
    lines = wired(
        (0.0, "ata2.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x0"),
        (0.0, "ata2.00: error: { UNC }"),
        (0.1, "ata2: hard resetting link"),
        (9.0, "ata2.00: exception Emask 0x10 SAct 0x0 SErr 0x10000 action 0xe frozen"),
        (9.0, "ata2: SError: { PHYRdyChg }"),
        (9.1, "ata2: hard resetting link"),
    )
    (incident,) = found(lines)
    assert cause(incident) is IncidentCause.BAD_SECTORS
    assert hint_words(incident).startswith("sdb could not read some of its sectors: bad sectors")
    assert hint_words(incident).endswith(
        "; the link of ata2 (sdb) reported errors, too: look at its cable as well"
    )


def test_a_frozen_port_is_no_missing_answer_by_itself() -> None:
    for mask, answer in (("0x0", ", no answer"), ("0x4", ", no answer"), ("0x10", ""), ("0x12", "")):
        (incident,) = found(
            wired((0.0, f"ata2.00: exception Emask {mask} SAct 0x0 SErr 0x0 action 0x6 frozen"))
        )
        assert incident.title == f"an error is handled (SErr 0x0{answer})"
        assert cause(incident) is (IncidentCause.NO_ANSWER if answer else None)


def test_a_link_that_was_slowed_alone_has_reported_nothing() -> None:
    (incident,) = found(wired((0.0, "ata2: limiting SATA link speed to 1.5 Gbps")))
    assert hint_words(incident).startswith("the link of ata2 (sdb) was slowed, or a reset of it failed: that")


def test_a_disk_that_leaves_its_sata_port_is_one_incident() -> None:
    """Which disk was at the port is said by its address alone: the lines of the boot are gone."""
    texts = (
        "ata6: SATA link down (SStatus 0 SControl 300)",
        "ata6: limiting SATA link speed to 1.5 Gbps",
        "ata6.00: disabled",
        "ata6.00: detaching (SCSI 5:0:0:0)",
        "sd 5:0:0:0: [sdf] Synchronizing SCSI cache",
        "sd 5:0:0:0: [sdf] Synchronize Cache(10) failed: Result: hostbyte=DID_BAD_TARGET",
        "md: super_written gets error=-5",
        "md/raid:md0: Disk failure on sdf1, disabling device.",
    )
    left = [line(AT + number, text) for number, text in enumerate(texts)]
    back = [
        line(AT + 90, "sd 5:0:0:0: [sdg] Attached SCSI disk"),
        line(AT + 300, "sd 5:0:0:0: [sdg] tag#3 Sense Key : Medium Error [current]"),
    ]
    wires = [line(1.0, "scsi host5: ahci"), line(1.0, "ata6: SATA max UDMA/133 abar m2048@0xf7e16000")]
    for before in ([], wires):  # the host and the port of the boot, and not the disk
        (incident,) = found([*before, *left])
        assert (len(incident.entries), incident.ports) == (len(texts), ())
    incident, *others = found([*left, *back])
    assert len(incident.entries) == len(texts)
    assert (incident.arrays, incident.disks, incident.ports) == (("md0",), ("sdf",), ())
    assert cause(incident) is IncidentCause.PULLED
    assert hint_words(incident).startswith(
        "sdf left the bus, then md failed sdf1: that points to its cable, port or power, unless it was pulled"
    )
    assert [(each.disks, each.ports) for each in others] == [(("sdg",), ())] * 2


def test_a_link_that_fails_until_its_disk_is_gone() -> None:
    lines = wired(
        (0.0, "ata2: SError: { PHYRdyChg CommWake DevExch }"), (9.0, "ata2.00: detaching (SCSI 1:0:0:0)")
    )
    (incident,) = found(lines)
    words = hint_words(incident)
    assert words.startswith("the link of ata2 (sdb) reported errors, and the disk left the bus: that points")
    assert words.endswith("replace the cable first (unless it was pulled)")


def test_lines_that_differ_are_not_said_to_be_the_same() -> None:
    def folded(*texts: str) -> list[str]:
        (incident,) = found(wired(*((0.0, text) for text in texts)))
        return [f"{words_of(entry)}{others}" for entry, others in collapsed(incident.entries)]

    corrected = "md/raid:md0: read error corrected (8 sectors at {} on sdb1)"
    words = "sdb1: a bad sector was rewritten from the other members (sector {})"
    one, two = corrected.format(16), corrected.format(24)
    assert folded(one, two, two) == [f"{words.format(16)} (and 2 further)"]
    assert folded(one, one) == [f"{words.format(16)} (x2)"]
    assert folded(one, "md: md0 stopped.", one) == [words.format(16), "stopped", words.format(16)]
