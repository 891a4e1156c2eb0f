"""Pane 4 on real disks: changed by keys, read back from the kernel, kept by a job, put back at the end."""

import re

from tests.lab.arrays import make_array
from tests.lab.console import open_console
from tests.lab.deadline import wait_until
from tests.lab.qemu.guest import QemuGuest
from tests.lab.terminal import Terminal

SLOW_S = 60.0  # a start takes seconds here
RULES = "/etc/udev/rules.d/60-raidtui-io.rules"
POLICY = "/sys/devices/system/cpu/cpufreq/policy0"


def reads(qemu: QemuGuest, path: str, word: str) -> None:
    """Wait until a file of the kernel's has this word, in brackets where it lists several."""

    def has() -> bool:
        text = qemu.run(f"cat {path}").stdout.strip()
        return (re.search(r"\[(.+?)\]", text) or [None, text])[1] == word

    wait_until(has, SLOW_S, f"{path} is {word}")


def chosen(terminal: Terminal, words: str) -> None:
    """Wait until the text below the rule is of this knob with this value."""
    terminal.wait_for(re.compile(rf"^ *{words}", re.MULTILINE), SLOW_S)


def governor(qemu: QemuGuest) -> str:
    """The first policy's governor."""
    return qemu.run(f"cat {POLICY}/scaling_governor").stdout.strip()


def test_knobs_by_keys(qemu: QemuGuest) -> None:
    """A scheduler and a queue's depth of a SATA disk, a governor; what NVMe has none of."""
    first, second = qemu.sata[0], qemu.nvme[0]
    make_array(qemu, "data", 1, [first.path, second.path], extra=["--assume-clean"])
    disk, flash = qemu.kernel_name(first), qemu.kernel_name(second)
    queue = f"/sys/block/{disk}"
    with open_console(qemu, cols=80, rows=24) as terminal:
        terminal.press("4")
        terminal.wait_for(re.compile(rf"{disk} +\[mq-deadline\].*\n(.*\n)*.*{flash} +none"), SLOW_S)
        chosen(terminal, rf"scheduler of {disk}: mq-deadline")
        terminal.press("right")
        terminal.wait_for(re.compile(rf"scheduler of {disk}: (?!mq-deadline)"), SLOW_S)
        terminal.press("u")
        reads(qemu, f"{queue}/queue/scheduler", "mq-deadline")

        terminal.press("tab")
        chosen(terminal, rf"queue_depth of {disk}: 32")
        terminal.press("left")
        chosen(terminal, rf"queue_depth of {disk}: ")
        wait_until(lambda: qemu.run(f"cat {queue}/device/queue_depth").stdout.strip() != "32", SLOW_S, "NCQ")
        depth = qemu.run(f"cat {queue}/device/queue_depth").stdout.strip()
        terminal.wait_for(re.compile(rf"queue_depth of {disk}: {depth}\b"), SLOW_S)

        terminal.press("k")
        terminal.wait_for(re.compile(r"Keep|review|for good"), SLOW_S)
        terminal.press("enter")
        terminal.wait_for(re.compile(r"\by do it\b"), SLOW_S)
        assert RULES in terminal.screen()
        terminal.press("y")
        terminal.wait_for(re.compile(r"│ done "), SLOW_S)
        terminal.press("escape")
        kept = qemu.run(f"cat {RULES}").stdout
        assert f'ATTR{{device/queue_depth}}="{depth}"' in kept
        assert first.serial in kept
        assert disk not in kept.split('"')

        terminal.press("down")
        chosen(terminal, rf"queue_depth of {flash}: ")
        terminal.wait_for(re.compile(rf"{disk} .*raidtui \(kept\)"), SLOW_S)
        terminal.press("q")  # what is kept is no longer offered back
        assert terminal.wait_exit() == 0
    assert qemu.run(f"rm {RULES} && udevadm control --reload").status == 0


def test_a_governor_by_keys(qemu: QemuGuest) -> None:
    make_array(qemu, "data", 1, [disk.path for disk in qemu.nvme], extra=["--assume-clean"])
    was = governor(qemu)
    with open_console(qemu, cols=80, rows=24) as terminal:
        terminal.press("4")
        terminal.wait_for(re.compile(r"^ *cpu ", re.MULTILINE), SLOW_S)
        terminal.press(*["down"] * 6)
        chosen(terminal, rf"governor of policy0.*: {was}")
        terminal.press("left")  # the kernel lists it last
        wait_until(lambda: governor(qemu) != was, SLOW_S, "another governor")
        terminal.press("q")
        terminal.wait_for(re.compile(r"This session changed what lasts until reboot"), SLOW_S)
        terminal.press("r")
        assert terminal.wait_exit() == 0
    assert governor(qemu) == was
