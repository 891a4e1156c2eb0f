"""The laboratory's second guest: its disks and processors are there, and can be made to misbehave."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.lab.guests.arrays import make_array, mdstat
from tests.lab.guests.boot import REPOSITORY, LabMissingError
from tests.lab.guests.console import RAIDTUI, WHOLE, kernel_text
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.jobs import do
from tests.lab.guests.link import LabError
from tests.lab.guests.pulled import await_idle, without_mdadm
from tests.lab.guests.qemu.acpi import FREQUENCIES_MHZ
from tests.lab.guests.qemu.disks import Disk
from tests.lab.guests.qemu.guest import UNRELIABLE, QemuGuest
from tests.lab.guests.qemu.kernel import NEEDED, find_kernel

SETTLE_S = 20.0
SLOW_S = 45.0  # for a screen, while this machine has more to do
GOVERNOR = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"


def smart(qemu: QemuGuest, disk: Disk) -> dict[str, Any]:
    """What smartctl reports about a disk."""
    result: dict[str, Any] = json.loads(qemu.run(f"smartctl --json --all {disk.path}").stdout)
    return result


def mirror(qemu: QemuGuest, *disks: Disk) -> str:
    """A RAID-1 of these disks that needs no resync; the kernel's name."""
    return make_array(qemu, "data", 1, [disk.path for disk in disks], extra=["--assume-clean"]).kernel


def degraded(qemu: QemuGuest, kernel: str, by: int) -> None:
    """Wait until an array misses that many members."""
    file = f"/sys/block/{kernel}/md/degraded"
    wait_until(lambda: kernel_text(qemu, file) == str(by), SETTLE_S, f"degraded = {by}")


def write(qemu: QemuGuest, kernel: str) -> None:
    """Write to an array: a request to each of its members."""
    done = qemu.run(f"dd if=/dev/urandom of=/dev/{kernel} bs=64k count=1 oflag=direct status=none")
    assert done.status == 0, done.output


def limit(qemu: QemuGuest, disk: Disk) -> int:
    """The bytes a second that QEMU allows a disk; 0 is no limit."""
    blocks = qemu.qmp.command("query-block")
    return next(int(block["inserted"]["bps"]) for block in blocks if block["qdev"] == disk.name)


@pytest.mark.later
def test_the_disks_are_there_with_their_serial_numbers(qemu: QemuGuest) -> None:
    assert [disk.name for disk in qemu.hardware] == ["sata1", "sata2", "sata3", "sata4", "nvme1", "nvme2"]
    paths = " ".join(disk.path for disk in qemu.hardware)
    result = qemu.run(f"lsblk --json --nodeps -o KNAME,SERIAL,MODEL,TRAN,ROTA {paths}")
    found = {row["kname"]: row for row in json.loads(result.stdout)["blockdevices"]}
    for disk in qemu.hardware:
        row = found.pop(qemu.kernel_name(disk))
        assert (row["serial"], row["model"], row["tran"], row["rota"]) == (
            disk.serial,
            disk.model,
            disk.bus,
            False,
        )
    assert found == {}
    assert kernel_text(qemu, "/proc/sys/kernel/hostname") == "lab"


@pytest.mark.later
def test_the_guest_cannot_write_to_the_host(qemu: QemuGuest) -> None:
    file = REPOSITORY / "raidtui-lab-was-here"
    assert qemu.run(f"echo x >{file} && cat {file}").output == "x\n"
    assert not file.exists()
    qemu.run(f"rm {file}")


@pytest.mark.later
def test_smart_of_both_buses_and_a_warning_can_be_set(qemu: QemuGuest) -> None:
    sata, nvme = qemu.sata[0], qemu.nvme[0]
    result = smart(qemu, sata)
    assert (result["serial_number"], result["smart_status"]) == (sata.serial, {"passed": True})
    result = smart(qemu, nvme)
    log = result["nvme_smart_health_information_log"]
    assert (result["serial_number"], result["smart_status"]["passed"]) == (nvme.serial, True)
    assert log["critical_warning"] == 0

    qemu.warn(nvme)
    result = smart(qemu, nvme)
    assert (result["smart_status"]["passed"], result["smartctl"]["exit_status"]) == (False, 8)
    assert result["nvme_smart_health_information_log"]["critical_warning"] == UNRELIABLE
    assert smart(qemu, qemu.nvme[1])["smart_status"]["passed"] is True


@pytest.mark.later
def test_raidtui_reports_serial_and_model_of_both_buses(qemu: QemuGuest) -> None:
    disks = (qemu.sata[0], qemu.nvme[0])
    mirror(qemu, *disks)
    result = qemu.run(shlex.join((*RAIDTUI, "status", "--json")))
    assert (result.status, result.stderr) == (0, "")
    (array,) = json.loads(result.stdout)["arrays"]
    assert [(member["name"], member["serial"], member["model"]) for member in array["members"]] == [
        (qemu.kernel_name(disk), disk.serial, disk.model) for disk in disks
    ]


@pytest.mark.later
def test_an_array_is_degraded_by_disks_that_leave_and_whole_when_they_are_back(qemu: QemuGuest) -> None:
    kernel = mirror(qemu, qemu.sata[0], qemu.sata[1], qemu.nvme[0])
    for number, disk in enumerate((qemu.nvme[0], qemu.sata[0]), start=1):
        name = qemu.kernel_name(disk)
        qemu.pull(disk)
        degraded(qemu, kernel, number)
        assert f" {name}[" not in mdstat(qemu)
        with pytest.raises(LabError, match=f"^{disk.name} is not there$"):
            qemu.kernel_name(disk)
    for number, disk in ((1, qemu.sata[0]), (0, qemu.nvme[0])):
        qemu.plug(disk)
        added = qemu.run(f"mdadm /dev/{kernel} --add {disk.path}")
        assert added.status == 0, added.output
        degraded(qemu, kernel, number)
    assert "[3/3] [UUU]" in mdstat(qemu)


@pytest.mark.later
def test_a_disk_that_cannot_write_fails(qemu: QemuGuest) -> None:
    disk = qemu.sata[1]
    kernel = mirror(qemu, qemu.sata[0], disk)
    name = qemu.kernel_name(disk)
    write = f"dd if=/dev/urandom of=/dev/{kernel} bs=64k count=1 oflag=direct status=none"
    qemu.break_io(disk, "write")
    assert qemu.run(write).status == 0
    assert kernel_text(qemu, f"/sys/block/{kernel}/md/dev-{name}/state") == "faulty"

    qemu.heal(disk)
    again = qemu.run(f"mdadm /dev/{kernel} --remove {disk.path} --add {disk.path}")
    assert again.status == 0, again.output
    degraded(qemu, kernel, 0)


@pytest.mark.later
def test_a_sector_that_cannot_be_read(qemu: QemuGuest) -> None:
    disk = qemu.nvme[0]
    qemu.break_io(disk, "read", sector=4096)
    read = f"dd if={disk.path} of=/dev/null bs=4k count=1 iflag=direct status=none skip="
    assert qemu.run(read + "511").status == 0
    assert "No data available" in qemu.run(read + "512").stderr  # an NVMe's word for it


@pytest.mark.later
def test_queue_depth_is_that_of_ncq(qemu: QemuGuest) -> None:
    file = f"/sys/block/{qemu.kernel_name(qemu.sata[0])}/device/queue_depth"
    assert kernel_text(qemu, file) == "32"
    assert qemu.run(f"echo 1 >{file} && cat {file} && echo 32 >{file} && cat {file}").output == "1\n32\n"
    assert "Invalid argument" in qemu.run(f"echo 33 >{file}").stderr


@pytest.mark.later
def test_governors_can_be_chosen(qemu: QemuGuest) -> None:
    folder = GOVERNOR.rpartition("/")[0]
    governors = set(kernel_text(qemu, f"{folder}/scaling_available_governors").split())
    assert governors >= {"performance", "powersave", "ondemand", "conservative", "userspace", "schedutil"}
    for governor, mhz in (("powersave", min(FREQUENCIES_MHZ)), ("performance", max(FREQUENCIES_MHZ))):
        assert qemu.run(f"echo {governor} >{GOVERNOR}").output == ""
        assert kernel_text(qemu, f"{folder}/scaling_cur_freq") == str(mhz * 1000)


@pytest.mark.parametrize("round_", [1, 2])
@pytest.mark.later
def test_nothing_is_left_for_the_next_test(qemu: QemuGuest, round_: int) -> None:
    first, second = qemu.sata[:2]
    depth = f"/sys/block/{qemu.kernel_name(first)}/device/queue_depth"
    scheduler = f"/sys/block/{qemu.kernel_name(first)}/queue/scheduler"
    state = qemu.run(f"cat {depth} {scheduler}; wipefs {' '.join(disk.path for disk in qemu.hardware)}")
    assert state.output == "32\n[mq-deadline] none\n"
    assert "md" not in mdstat(qemu)
    assert kernel_text(qemu, GOVERNOR) == "schedutil"
    assert [limit(qemu, disk) for disk in qemu.hardware] == [0] * 6
    assert smart(qemu, qemu.nvme[1])["smart_status"]["passed"] is True
    assert qemu.run(f"dd if={second.path} of=/dev/null bs=4k count=1 iflag=direct").status == 0

    mirror(qemu, qemu.nvme[0], qemu.sata[2])
    changed = qemu.run(f"echo 1 >{depth} && echo none >{scheduler} && echo powersave >{GOVERNOR}")
    assert changed.output == ""
    qemu.throttle(first, 1_000_000)
    assert limit(qemu, first) == 1_000_000
    qemu.warn(qemu.nvme[1])
    qemu.break_io(second, "read")
    for disk in (qemu.nvme[0], qemu.sata[2]):
        qemu.pull(disk)


def test_a_kernel_without_the_hardware_is_no_kernel(tmp_path: Path) -> None:
    modules = tmp_path / "lib/modules/6.1.0-cloud"
    modules.mkdir(parents=True)
    names = (name for name in NEEDED if name not in {"ahci", "md-mod"})
    (modules / "modules.dep").write_text("".join(f"kernel/{name}.ko.xz:\n" for name in names))
    (modules / "modules.builtin").write_text("kernel/md_mod.ko\n")
    image = tmp_path / "boot/vmlinuz-6.1.0-cloud"
    missing = r"^no kernel for QEMU's guest: {} \(as root, make kernel unpacks Debian's linux-image-amd64\)$"
    with pytest.raises(LabMissingError, match=missing.format(f"{image} cannot be read")):
        find_kernel([tmp_path])
    image.parent.mkdir()
    image.touch()
    with pytest.raises(LabMissingError, match=missing.format("6.1.0-cloud has no ahci")):
        find_kernel([tmp_path])
    with (modules / "modules.dep").open("a") as file:
        file.write(
            "kernel/libahci.ko: kernel/libata.ko\nkernel/ahci.ko: kernel/libahci.ko kernel/libata.ko\n"
        )
    kernel = find_kernel([tmp_path])
    assert kernel.image == image
    assert [file.name for file in kernel.load_order(("ahci", "md_mod"))] == [
        "libata.ko",
        "libahci.ko",
        "ahci.ko",
    ]


@pytest.mark.later
def test_raidtui_runs_on_a_console(qemu: QemuGuest) -> None:
    kernel = mirror(qemu, qemu.sata[0], qemu.nvme[0])
    with qemu.terminal(RAIDTUI, cols=110, rows=40) as terminal:
        terminal.wait_for(WHOLE, timeout=SLOW_S)
        qemu.pull(qemu.nvme[0])
        terminal.wait_for("degraded", timeout=SLOW_S)
        terminal.press("q")
        assert terminal.wait_exit(SLOW_S) == 0
    write(qemu, kernel)  # udev tells mdadm of the disk only if it had read by then that it is a member
    degraded(qemu, kernel, 1)


@pytest.mark.later
def test_a_disk_that_leaves_an_idle_array_is_seen_though_md_does_not_notice(
    qemu: QemuGuest,
) -> None:
    kernel = mirror(qemu, qemu.sata[0], qemu.nvme[0])
    disk, base = qemu.kernel_name(qemu.nvme[0]), f"/sys/block/{kernel}/md"
    with without_mdadm(qemu), qemu.terminal(RAIDTUI, cols=110, rows=40) as terminal:
        terminal.wait_for(WHOLE, timeout=SLOW_S)
        await_idle(qemu, kernel)
        qemu.pull(qemu.nvme[0])
        terminal.wait_for(f"md has not noticed yet: {disk} left the machine", timeout=SLOW_S)
        terminal.wait_for("1 degraded", timeout=SLOW_S)
        terminal.wait_for(re.compile(rf"{disk} .*\bdetached\b"), timeout=SLOW_S)
        assert kernel_text(qemu, f"{base}/dev-{disk}/state") == "in_sync"
        assert kernel_text(qemu, f"{base}/degraded") == "0"
        assert "[2/2] [UU]" in mdstat(qemu)

        do(qemu, "fail", "data", disk)
        degraded(qemu, kernel, 1)
        terminal.wait_for(re.compile(rf"{disk} .*\bfaulty\b"), timeout=SLOW_S)
        terminal.press("q")
        assert terminal.wait_exit(SLOW_S) == 0
