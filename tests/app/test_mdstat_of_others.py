"""``status`` of other people's /proc/mdstat: letters of other kernels, slots without bays, pasted text."""

from __future__ import annotations

import pytest

from raidtui.features.arrays.cli import report_lines
from raidtui.features.arrays.cli_nagios import nagios_line
from raidtui.features.arrays.cli_prometheus import metric_lines
from raidtui.host.readers.memory_reader import MemoryReader
from raidtui.watch.watch import HostWatch
from tests.hosts.members import UUID, udev
from tests.hosts.trees import container, host_tree, raid1


def report(*arrays: str, files: dict[str, str] | None = None) -> tuple[list[str], int]:
    """Return the report's lines about arrays, and the exit status, of arrays as mdstat prints them."""
    text = "Personalities : [raid1] [raid5]\n" + "\n\n".join(arrays) + "\n\nunused devices: <none>\n"
    found = HostWatch(MemoryReader({"/proc/mdstat": text, **(files or {})})).refresh()
    lines = list(report_lines(found))[1:]
    return [line for line in lines if "/sys/class" not in line and "udev: no" not in line], found.exit_status


def degraded(name: str, words: str, remedy: str) -> str:
    return f"  Degraded: {name} is degraded: {words}. To do: {remedy}."


def unsound(name: str, member: str) -> str:
    why = f"member {member} has read errors (E: a letter of Synology's kernel)"
    return f"  Attention: {name} - {why}. To do: check its SMART data."


@pytest.mark.parametrize("marks", ["raid1 sda5[0](E) sdb5[1]", "raid0 sda5[0](E) sdb5[1]"])
def test_a_member_with_read_errors_that_still_serves(marks: str) -> None:
    array = f"md2 : active {marks}\n      1024 blocks super 1.2 [2/2] [EU]"
    lines, status = report(array)
    assert (lines[0].partition(":")[0], lines[1], status) == (
        "md2 needs attention",
        unsound("md2", "sda5"),
        1,
    )
    assert figures(array).startswith("MD WARNING")
    lines, status = report(array.replace("E", "D"))
    marked = "member sda5 is marked D, a letter of another kernel"
    assert (lines[1], status) == (f"  Attention: md2 - {marked}. To do: check its SMART data.", 1)


def test_members_with_read_errors_that_a_rebuild_has_to_read() -> None:
    array = "md5 : active raid5 sdb6[1](E) sdc6[2](E) sdd6[3]\n      1024 blocks level 5, 64k chunk"
    remedy = "To do: sdb6 and sdc6 have read errors: copy the data away before a rebuild."
    assert report(f"{array} [4/3] [_EEU]")[0][1].endswith(remedy)


def test_letters_of_synology_are_said_and_the_count_decides() -> None:
    raid5 = (
        "md2 : active raid5 sdk5[1] sdj5[5](S) sdq5[4](E) sdi5[3] sdn5[2]\n"
        "      1024 blocks super 1.2 level 5, 64k chunk, algorithm 2 [5/4] [_UUUE]"
    )
    mirror = "md0 : active raid1 sdk1[1](E)\n      1024 blocks [2/1] [_E]"
    text = "has letters of another kernel (Synology's E: a member with read errors)"
    assert report(raid5, mirror) == (
        [
            "md2 is degraded: raid5, left-symmetric, chunk 64K, 1 MiB, 4 of 5 members in sync.",
            degraded(
                "md2",
                "1 of 5 members missing (slot 0); no redundancy is left",
                "a spare is present; its recovery has not started yet",
            ),
            unsound("md2", "sdq5"),
            "md0 is degraded: raid1, 1 MiB, 1 of 2 members in sync.",
            degraded(
                "md0",
                "1 of 2 members missing (slot 0); no redundancy is left",
                "its last member has read errors: copy its data away before a rebuild",
            ),
            unsound("md0", "sdk1"),
            f"Not known: md2: [_UUUE] {text}; [5/4] says how many members serve.",
            f"Not known: md0: [_E] {text}; [2/1] says how many members serve.",
        ],
        1,
    )
    members = HostWatch(MemoryReader({"/proc/mdstat": f"{raid5}\n\n"})).refresh().snapshot.arrays[0].members
    assert {each.name: each.role for each in members} == {
        "sdk5": "in_sync", "sdn5": "in_sync", "sdi5": "in_sync", "sdq5": "?", "sdj5": "spare",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ("[5/3] [_UUUE]", "2 of 5 members missing (slots 0, 4)"),  # the letter is not counted as working
        ("[5/3] [UUEXE]", "2 of 5 members missing"),  # some are: not known which
    ],
)
def test_the_count_alone_says_degraded(marks: str, words: str) -> None:
    array = f"md2 : active raid6 sda[0] sdb[1] sdc[2]\n      1024 blocks level 6, 64k chunk {marks}"
    lines, status = report(array)
    assert status == 1
    assert f"Degraded: md2 is degraded: {words}" in lines[1]


def figures(*arrays: str) -> str:
    """Return what is printed for Nagios and for Prometheus."""
    found = HostWatch(MemoryReader({"/proc/mdstat": "\n\n".join(arrays) + "\n\n"})).refresh()
    return "\n".join((nagios_line(found), *metric_lines(found)))


NAS = "[24/{}] [{}]\n      bitmap: 1/1 pages [4KB], 65536KB chunk"


def test_a_mirror_with_more_slots_than_bays_has_lost_nothing() -> None:
    marks = NAS.format(4, "UUUU".ljust(24, "_"))
    lines, status = report(
        f"md9 : active raid1 sda1[0] sdd1[3] sdc1[2] sdb1[1]\n      1024 blocks super 1.0 {marks}"
    )
    firmware = (
        "NAS firmware (QNAP, Synology) makes its system arrays like this; a disk lost at the end looks the"
        " same"
    )
    assert (lines, status) == (
        [
            "md9 is optimal: raid1, 1 MiB, 4 of 24 members in sync.",
            f"  Note: md9 has 24 slots; the last 20 have no member: {firmware}.",
        ],
        0,
    )


def test_no_figure_alarms_for_it() -> None:
    whole = NAS.format(4, "UUUU".ljust(24, "_"))
    said = figures(f"md9 : active raid1 sda1[0] sdd1[3] sdc1[2] sdb1[1]\n      1024 blocks super 1.0 {whole}")
    assert said.startswith("MD OK")
    assert "md9_missing=0;0;;0;24" in said
    assert 'raidtui_md_disks{device="md9",state="down"} 0' in said


@pytest.mark.parametrize(
    ("members", "marks", "words"),
    [
        ("sda1[0] sdd1[3] sdb1[1]", "UU_U", "1 of 4 members missing (slot 2)"),
        ("sda1[0] sdd1[3](F) sdc1[2] sdb1[1]", "UUU_", "1 of 4 members missing (slot 3), sdd1 failed"),
        ("sda1[0] sdd1[3] sdc1[2](F) sdb1[1]", "UU_U", "1 of 4 members missing (slot 2), sdc1 failed"),
    ],
    ids=["a hole", "the last failed", "another failed"],
)
def test_a_member_of_it_that_is_lost_is_missing(members: str, marks: str, words: str) -> None:
    slots = NAS.format(3, marks.ljust(24, "_"))
    lines, status = report(f"md9 : active raid1 {members}\n      1024 blocks super 1.0 {slots}")
    assert (lines[1], status) == (degraded("md9", words, "add a disk: mdadm /dev/md9 --add DEVICE"), 1)


def test_its_last_member_alone_has_no_redundancy() -> None:
    slots = NAS.format(1, "U".ljust(24, "_"))
    _, status = report(f"md9 : active raid1 sda1[0]\n      1024 blocks super 1.0 {slots}")
    assert status == 1


@pytest.mark.parametrize(("kib", "status"), [(32 << 20, 0), ((32 << 20) + 1, 1)])
def test_a_large_mirror_is_no_system_array_of_firmware(kib: int, status: int) -> None:
    mirror = f"active raid1 sda6[0] sdb6[1]\n      {kib} blocks super 1.2 [8/2] [UU______]"
    lines, found = report(f"md6 : {mirror}")
    assert (found, "6 of 8 members missing" in lines[1]) == (status, bool(status))


@pytest.mark.parametrize(
    "blocks", ["", "\n      1024 blocks super 1.2 [2", "\n      1024 blocks super 1.2 [2/"]
)
@pytest.mark.parametrize("level", ["raid1", "raid5"])
def test_a_failed_member_where_the_slots_are_not_known(level: str, blocks: str) -> None:
    cut = f"md0 : active {level} sda1[0] sdb1[1](F) sdc1[2](S){blocks}"
    lines, status = report(cut)
    assert (lines[0].startswith("md0 is unknown: "), status) == (True, 3)
    if not blocks.endswith("/"):  # else nothing of it is understood
        text = "sdb1 has failed; whether all slots are filled without it is not known"
        assert lines[1] == f"  Note: md0 - {text}. To do: mdadm --detail /dev/md0 shows it."
        assert figures(cut).startswith(f"MD UNKNOWN - md0 {text} | ")


def test_what_is_broken_has_one_remedy() -> None:
    broken = "md0 : broken raid1 sda1[0]\n      1024 blocks super 1.2 [2/1] [U_]"
    lines, status = report(broken)
    again = "To do: stop it and assemble it again: mdadm --stop /dev/md0, then mdadm --assemble."
    assert ([line.partition("To do")[2] for line in lines[1:]], status) == ([again[5:], ""], 2)


HALF = "active raid1 sdb{0}[2] sda{0}[0]\n      1024 blocks super 1.2 [2/1] [U_]"
MISSING = "1 of 2 members missing (slot 1); no redundancy is left"


def test_what_is_delayed_is_a_recovery_where_a_member_is_to_be_filled() -> None:
    """The kernel prints resync=DELAYED for every action (drivers/md/md.c, status_resync)."""
    whole = (
        "md2 : active raid1 sdb3[1] sda3[0]\n      1024 blocks super 1.2 [2/2] [UU]\n      \tresync=DELAYED"
    )
    assert report(f"md1 : {HALF.format(2)}\n      \tresync=DELAYED", whole) == (
        [
            "md1 is degraded: raid1, 1 MiB, 1 of 2 members in sync.",
            "  Recover delayed: waits for another array on the same disks.",
            degraded(
                "md1", MISSING, "the member that fills it is present; its recovery waits for another array's"
            ),
            "md2 is optimal: raid1, 1 MiB, 2 of 2 members in sync.",
            "  Resync, check or repair delayed: waits for another array on the same disks.",
        ],
        1,
    )


def test_what_another_node_fills() -> None:
    assert report(f"md1 : {HALF.format(2)}\n      \trecover=REMOTE")[0][1:] == [
        "  Recover runs on another node of the cluster.",
        degraded(
            "md1",
            MISSING,
            "another node of the cluster fills it; leave the other members alone until it is done",
        ),
    ]


@pytest.mark.parametrize("speed", ["speed=0K/sec", "speed=0K"])
def test_a_speed_of_nothing_is_said(speed: str) -> None:
    line = f"      [>....................]  recovery =  3.9% (40/1024) finish=5267.0min {speed}"
    lines, _ = report(f"md0 : {HALF.format(1)}\n{line}")
    assert lines[1] == "  Recover at 3.9 %, 0 KB/s: the kernel's mean over 30 s shows no progress."


@pytest.mark.parametrize("prompt", ["root@nas:~# ", "[~] # ", "user@host:/$ ", ""])
def test_a_pasted_prompt_is_no_line_of_md(prompt: str) -> None:
    text = f"{prompt}cat /proc/mdstat\nPersonalities : [raid1]\nmd0 : active raid1 sdb[1] sda[0]\n"
    text += f"      1024 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n{prompt}\n"
    found = HostWatch(MemoryReader({"/proc/mdstat": text})).refresh()
    assert (found.exit_status, [lack.part for lack in found.snapshot.lacks if "mdstat" in lack.part]) == (
        0,
        [],
    )


def test_a_line_that_is_neither_is_still_said() -> None:
    found = HostWatch(MemoryReader({"/proc/mdstat": "cat: /proc/mdstat: Permission denied\n"})).refresh()
    assert found.exit_status == 3


def test_a_disk_goes_into_the_container_of_a_volume() -> None:
    volume = (
        "md126 : active raid1 sdn[0]\n      1024 blocks super external:/md127/0 [2/1] [_U]\n"
        "      bitmap: 0/1 pages [0KB], 65536KB chunk"
    )
    box = "md127 : inactive sdn[1](S) {}\n      10240 blocks super external:imsm"
    words = "1 of 2 members missing (slot 0); no redundancy is left"
    add = "add a disk to its container: mdadm /dev/md127 --add DEVICE"
    idle = (
        "sde is in the container /dev/md127 and in no volume: failed, or left and came back; take it out and"
        f" add it again once it is clear why, or {add}"
    )
    assert report(volume, box.format("sde[0](S)"))[0][1] == degraded("md126", words, idle)
    assert report(volume, box.format(""))[0][1] == degraded("md126", words, add)


def test_an_old_device_that_the_kernel_still_holds_is_no_member() -> None:
    held = "md0 : inactive sdb[0](S) sdd[4](S) sdc[1](S) sde[3](S)\n      7814054240 blocks super 1.2"
    files = {f"/sys/class/block/sd{each}/dev": f"8:{n}\n" for n, each in enumerate("bcde")}
    for number, name in enumerate("bce"):
        files |= udev(f"8:{'bcde'.index(name)}", number=number)
    files["/run/udev/data/b8:2"] = "E:ID_SERIAL_SHORT=S9\n"
    export = f"exit 0\nMD_LEVEL=raid5\nMD_DEVICES=3\nMD_UUID={UUID}\nMD_NAME=nas:0\n"
    files["/.raidtui/run/mdadm_--examine_--export_-dev-sdb.txt"] = export
    rescue = "To do: raidtui rescue (a in the console) says what happened and how it comes back"
    members = "3 of 3 members (sdd is no longer a member)"
    lines, status = report(held, files=files)
    assert (lines[1], status) == (
        f"  Failed: 0 is inactive: not started, with {members}. {rescue}; never re-create it.",
        2,
    )
    files["/run/udev/data/b8:2"] = ""
    assert "with 4 devices for 3 slots: spares, or former members." in report(held, files=files)[0][1]


OTHER_UUID = "11111111:22222222:33333333:44444444"


@pytest.mark.parametrize(
    ("lines", "which", "mend"),
    [
        ([OTHER_UUID], "line 1 has", "put UUID={} there"),
        (["{}", OTHER_UUID], "line 2 has", "remove it"),
    ],
    ids=["stale", "doubled"],
)
def test_a_line_with_another_uuid_for_an_array_that_runs(lines: list[str], which: str, mend: str) -> None:
    root = host_tree(raid1()).root()
    own = HostWatch(root).refresh().snapshot.arrays[0].uuid
    text = "".join(f"ARRAY /dev/md/root UUID={uuid.format(own)}\n" for uuid in lines)
    what = f"{which} another UUID for /dev/md126 than its members. To do: {mend.format(own)}"
    root.put("/etc/mdadm/mdadm.conf", text)
    found = HostWatch(root).refresh()
    assert (found.exit_status, list(report_lines(found))) == (
        1,
        [
            "nas: 1 array.",
            "root (/dev/md126) needs attention: raid1, 210 GiB, 2 of 2 members in sync.",
            f"  Attention: root - /etc/mdadm/mdadm.conf, {what}, then update the initramfs.",
        ],
    )


def test_a_container_that_is_whole_is_no_reason_to_add() -> None:
    assert HostWatch(host_tree(container()).root()).refresh().exit_status == 0
