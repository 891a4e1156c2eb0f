"""What a diagnosis says, in which width, from a capture, and of devices that are silent or in trouble."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace

from raidtui.app.cli import run
from raidtui.app.commands.capture import write_capture
from raidtui.features.rescue.cli_diagnose import array_lines, report_dict, status_of
from raidtui.features.rescue.diagnosis import diagnose
from raidtui.features.rescue.records import (
    CauseCode,
    MediumState,
    Need,
    RescueArray,
    RescueFacts,
    VerdictCode,
    WayCode,
    judge_array,
)
from raidtui.features.rescue.session import RescueReport, impatience, read_facts, read_rescue
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.host.readers.opening import open_root
from raidtui.host.surface import SURFACES
from raidtui.host.tools import ToolOutput, output_path
from raidtui.model.answer import AnswerKind
from raidtui.model.disk import Use
from raidtui.model.smart import ErrorRecovery
from raidtui.monitor.wear.disk_wear import DiskWear
from raidtui.view.text import cell_width
from tests.features.rescue.expected import KNOWN
from tests.hosts.wrecks import wrecked


def facts_of(wreck: str) -> RescueFacts:
    facts = read_facts(wrecked(wreck))
    assert facts is not None
    return facts


def texts(arrays: tuple[RescueArray, ...], code: CauseCode) -> str:
    return "\n".join(cause.text for array in arrays for cause in array.causes if cause.code is code)


@pytest.mark.parametrize("wreck", KNOWN)
def test_it_fits_into_80_columns(wreck: str) -> None:
    for array in read_rescue(wrecked(wreck)).arrays:
        assert max(map(cell_width, array_lines(array))) <= 80


def test_a_long_serial_number_has_a_line_of_its_own() -> None:
    (array,) = diagnose(facts_of("r5-cable-two"))
    long = replace(
        array, members=tuple(replace(each, serial="S" * 30, device="nvme10n1p12") for each in array.members)
    )
    lines = list(array_lines(long))
    assert max(map(cell_width, lines)) <= 80
    assert f"      serial {'S' * 30}" in lines


@pytest.mark.parametrize(
    "wreck", ["r5-cable-two", "r5-zero-two", "r1-partition-lost", "r1-partition-moved", "ddf"]
)
def test_a_capture_says_the_same(wreck: str, tmp_path: Path) -> None:
    root, file = wrecked(wreck), tmp_path / "capture.tar.gz"
    write_capture(root, file, with_serials=True)
    assert report_dict(read_rescue(open_root(str(file)))) == report_dict(read_rescue(root))


def test_a_capture_without_serial_numbers_names_the_same_causes(tmp_path: Path) -> None:
    root, file = wrecked("r5-cable-two"), tmp_path / "capture.tar.gz"
    write_capture(root, file)
    there, here = read_rescue(open_root(str(file))), read_rescue(root)
    assert there.arrays[0].causes == here.arrays[0].causes
    assert there.arrays[0].ways == here.arrays[0].ways
    serials = {each.serial for each in here.arrays[0].members}
    assert all(serials)
    assert serials.isdisjoint(each.serial for each in there.arrays[0].members)


class _Hanging(HostReader):
    """A host on which mdadm does not end for one of the devices."""

    def __init__(self, root: HostReader, name: str) -> None:
        self._reader, self._name = root, name

    def read(self, path: str, *, keep: bool = False) -> bytes:
        return self._reader.read(path, keep=keep)

    def names(self, path: str) -> tuple[str, ...]:
        return self._reader.names(path)

    def link(self, path: str) -> str | None:
        return self._reader.link(path)

    def _asked(self, *argv: str, timeout_s: float = 20.0, stdin: str = "") -> ToolOutput:
        if argv[0] == "mdadm" and argv[-1] == f"/dev/{self._name}":
            return ToolOutput(
                argv=argv,
                status=None,
                stdout="",
                stderr="",
                why_not="it did not end",
                silence=AnswerKind.TIMED_OUT,
            )
        return self._reader.ask(*argv, timeout_s=timeout_s, stdin=stdin)


@pytest.mark.parametrize(
    ("read", "silent", "status"), [(2, {}, 0), (2, {"sda": "mdadm did not answer"}, 3), (0, {}, 3)]
)
def test_silence_is_not_that_no_rescue_is_needed(read: int, silent: dict[str, str], status: int) -> None:
    assert status_of(RescueReport(arrays=(), silent=silent, read=read)) == status


def test_a_device_that_does_not_answer_is_silent_and_no_other_is_waited_for() -> None:
    report = read_rescue(_Hanging(wrecked("r5-one-behind"), "ubdd"))
    assert [*report.silent] == ["ubdd"]
    (array,) = report.arrays
    assert "ubdd did not answer, and may be one of them." in texts((array,), CauseCode.MISSING)
    assert [member.device for member in array.members if member.presence == "whole"] == ["ubda", "ubdc"]


def test_disks_that_fail_are_told_from_cables() -> None:
    facts = facts_of("r5-cable-two")
    text = texts(diagnose(facts), CauseCode.FAILED_TOGETHER)
    assert text.endswith("SMART of ubdd and ubdc is not known.")
    media = {
        "ubdc": MediumState(device="ubdc", smart=True),
        "ubdd": MediumState(device="ubdd", smart=True, link="transfers failed"),
    }
    text = texts(diagnose(replace(facts, media={**facts.media, **media})), CauseCode.FAILED_TOGETHER)
    assert text.endswith(
        "SMART of ubdd: transfers failed: cable or controller;"
        " SMART finds nothing wrong with ubdc: a cable or a controller is likelier than the disk."
    )
    dying = {"ubdc": MediumState(device="ubdc", smart=True, dying="sectors cannot be read")}
    (array,) = diagnose(replace(facts, media={**facts.media, **dying}))
    assert (array.ways[0].code, array.ways[0].devices) == ("copy-first", ("ubdc",))


def test_force_says_what_it_forgives() -> None:
    (array,) = diagnose(facts_of("r5-behind-by-20000"))
    (force,) = [way for way in array.ways if way.code == "force"]
    assert force.devices == ("ubda", "ubdb", "ubdc")
    assert force.forgives.startswith("ubdc is ")
    assert "ubdd must not be named: --force would count it as up to date" in force.text


def test_nothing_is_known_where_nothing_can_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "empty" / "proc").mkdir(parents=True)
    (tmp_path / "empty" / "proc" / "mdstat").write_text("Personalities : \nunused devices: <none>\n")
    assert run(["--root", str(tmp_path / "empty"), "rescue"]) == 3
    why = "superblocks are needed, but there is no block device: /proc/mdstat does not have them"
    assert capsys.readouterr().err == f"raidtui: {why}\n"
    assert run(["--root", str(tmp_path / "empty"), "rescue", "sda"]) == 3
    assert "raidtui: sda: there is no such device" in capsys.readouterr().err


def test_a_capture_from_before_has_no_looks_at_devices() -> None:
    root = wrecked("r5-zero-two")
    assert root.text(SURFACES)
    root.put(SURFACES, "[]")
    (array,) = read_rescue(root).arrays
    assert {member.device for member in array.members} == {"ubda", "ubdc"}
    assert status_of(read_rescue(root)) == 2


def test_a_reshape_in_place_needs_its_backup_file() -> None:
    root = wrecked("reshape-grow-cut")
    for letter in "abcd":
        path = output_path(("mdadm", "--examine", f"/dev/ubd{letter}"))
        text = root.text(path) or ""
        lines = [line for line in text.split("\n") if "New Offset" not in line]
        root.put(path, "\n".join(lines).replace("Delta Devices : 1 (3->4)", "New Chunksize : 128K"))
    (array,) = read_rescue(root).arrays
    assert "from 64K to 128K chunks was interrupted at" in texts((array,), CauseCode.RESHAPE_CUT)
    assert "so mdadm backs up what is being moved: the file" in texts((array,), CauseCode.RESHAPE_CUT)
    possible = {str(way.code): way.possible for way in array.ways}
    assert (possible["start"], possible["look"], possible["continue-reshape"]) == (False, False, False)
    assert possible["continue-reshape-without-backup"] is True
    (without,) = [way for way in array.ways if way.code == "continue-reshape-without-backup"]
    assert without.forgives


@pytest.mark.parametrize(
    ("wreck", "words"),
    [
        ("r5-two-blank", "Without the disk of slot 2 or of slot 3, it cannot be saved."),
        ("r0-one-absent", "Without the disk of slot 1, it cannot be saved."),
        ("r10-offset-two-adjacent-absent", "Without the disk of slot 1 or of slot 2, it cannot be saved."),
    ],
)
def test_it_says_which_disk_would_save_it(wreck: str, words: str) -> None:
    assert words in texts(diagnose(facts_of(wreck)), CauseCode.NOT_ENOUGH)


def test_a_clock_that_was_ahead_is_said() -> None:
    said = texts(diagnose(facts_of("r1-stale-with-a-newer-clock")), CauseCode.STALE)
    assert (
        "13 events behind the newest (the clock said 10 d 0 h later then: events decide, not times)" in said
    )


@pytest.mark.parametrize(("position", "needed"), [("0", True), ("1000", True), ("240000", False)])
def test_a_growth_needs_a_backup_file_up_to_where_its_stripes_lie_behind_what_they_are_made_of(
    position: str, *, needed: bool
) -> None:
    root = wrecked("r5-grow-at-zero")
    for disk in ("sdb1", "sdc1", "sdd1", "sde1"):
        path = output_path(("mdadm", "--examine", f"/dev/{disk}"))
        text = root.text(path) or ""
        assert "Reshape pos'n : 0" in text
        root.put(path, text.replace("Reshape pos'n : 0", f"Reshape pos'n : {position}"))
    (array,) = read_rescue(root).arrays
    ways = {str(way.code): way for way in array.ways}
    assert ways["start"].possible is not needed
    assert ways["revert-reshape"].backup == ("/var/lib/raidtui/rescue/backup-aaaa0001" if needed else "")
    assert ("does not continue without a backup file" in texts((array,), CauseCode.RESHAPE_CUT)) is needed


def test_force_says_what_a_reshape_moved_without_a_member() -> None:
    root = wrecked("r0-grow-halted")
    path = output_path(("mdadm", "--examine", "/dev/ubdc"))
    root.put(path, (root.text(path) or "").replace("Reshape pos'n : 5760", "Reshape pos'n : 3840"))
    (array,) = read_rescue(root).arrays
    (force,) = [way for way in array.ways if way.code == "force"]
    assert force.possible
    assert (
        "what the reshape moved after ubdc had left it: that member records another place" in force.forgives
    )


def test_enough_devices_without_a_way_are_not_lost() -> None:
    """A reshape is pending, so no search helps; but nothing says that too few devices hold data."""
    root = wrecked("r0-grow-halted")
    for command in (("--examine",), ("--examine", "--export")):
        said = "exit 1\nmdadm: No md superblock detected on /dev/ubdb.\n"
        root.put(output_path(("mdadm", *command, "/dev/ubdb")), said)
    (array, *_) = read_rescue(root).arrays
    assert judge_array(array).code is VerdictCode.NOT_KNOWN
    assert judge_array(array).text.startswith("Not known whether it can be saved: enough devices may hold")


def test_an_array_is_not_lost_while_a_device_has_not_answered() -> None:
    """Fewer members than it needs were read; what does not answer may be one."""
    root = wrecked("r0-grow-halted")
    for device in ("ubda", "ubdb"):
        for command in (("--examine",), ("--examine", "--export")):
            argv = ("mdadm", *command, f"/dev/{device}")
            root.put(output_path(argv), "timed-out\nmdadm did not answer within 20 s")
    (array, *_) = read_rescue(root).arrays
    assert judge_array(array).code is VerdictCode.NOT_KNOWN
    assert judge_array(array).text.endswith("the contents of ubda and ubdb are not known.")


@pytest.mark.parametrize(
    ("erc", "waits", "words"),
    [
        (
            ErrorRecovery(read_ds=0, write_ds=0),
            "30",
            "may retry a bad sector for minutes (SCT ERC is off)",
        ),
        (None, "30", "may retry a bad sector for minutes (SCT ERC is missing), and the kernel waits 30 s"),
        (ErrorRecovery(read_ds=600, write_ds=600), "30", "retries a bad sector for 60 s (SCT ERC), and"),
        (ErrorRecovery(read_ds=70, write_ds=70), "30", ""),
        (None, "180", ""),
        (None, "", ""),
    ],
)
def test_how_long_a_disk_retries_and_the_kernel_waits(
    erc: ErrorRecovery | None, waits: str, words: str
) -> None:
    disk = "/sys/class/block/sda"
    root = MemoryReader({f"{disk}/device/timeout": waits, f"{disk}/queue/rotational": "1"})
    wear = cast("DiskWear", SimpleNamespace(reading=SimpleNamespace(erc=erc)))
    found = impatience(root, "sda", wear)
    assert found.startswith(words)
    assert bool(found) is bool(words)
    assert impatience(root, "sda", None) == ""  # SMART was not read: nothing is claimed


def test_a_timeout_mismatch_is_said_where_two_dropped_out() -> None:
    facts = facts_of("r5-both-sources-dropped")
    late = MediumState(device="sda", impatience="may retry for minutes, and the kernel waits 30 s")
    facts = replace(facts, media={**facts.media, "sda": late})
    said = texts(diagnose(facts), CauseCode.TIMEOUT)
    assert said.startswith("sda may retry for minutes, and the kernel waits 30 s: at a bad sector,")
    assert "smartctl -l scterc,70,70 /dev/sda, or a command timeout of 180 s" in said
    assert not texts(diagnose(facts_of("r5-both-sources-dropped")), CauseCode.TIMEOUT)


@pytest.mark.parametrize(("sign", "kind"), [("isw_raid_member", "Intel"), ("ddf_raid_member", "DDF")])
def test_members_of_a_container_that_mdadm_does_not_read_are_not_raw(sign: str, kind: str) -> None:
    """Such as Intel's where the disks tell no serial numbers: a search would take them for raw disks."""
    facts = facts_of("r5-zero-all")
    uses = (Use(kind="signature", what=sign),)
    devices = {
        name: replace(each, disk=replace(each.disk, uses=uses)) for name, each in facts.survey.devices.items()
    }
    [array] = diagnose(replace(facts, survey=replace(facts.survey, devices=devices)))
    assert array.name == f"{kind} container"
    assert [cause.code for cause in array.causes] == [CauseCode.EXTERNAL]
    assert f"are members of a container of {kind} metadata" in array.causes[0].text
    assert [(way.code, way.possible) for way in array.ways] == [(WayCode.START, False)]
    assert ("IMSM_DEVNAME_AS_SERIAL=1" in array.ways[0].why_not) is (kind == "Intel")
    assert (judge_array(array).code, array.needs) == (VerdictCode.NOT_KNOWN, Need.RESCUE)
