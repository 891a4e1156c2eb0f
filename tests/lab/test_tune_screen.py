"""Pane 4 on real disks: changed by keys, read back from the kernel, kept by a job, put back at the end."""

import re

import pytest

from tests.lab.guests.arrays import make_array
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.qemu.guest import QemuGuest
from tests.lab.guests.terminal import Terminal

pytestmark = pytest.mark.later

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


def without_ncq(qemu: QemuGuest, terminal: Terminal, flash: str) -> None:
    """An NVMe disk is chosen: why it has no queue depth, and its scheduler by keys."""
    terminal.press("right")
    chosen(terminal, rf"queue_depth of {flash}: none")
    terminal.wait_for("An NVMe disk has no queue_depth: it has its own queues", SLOW_S)
    terminal.press("shift+tab", "right")
    reads(qemu, f"/sys/block/{flash}/queue/scheduler", "mq-deadline")
    terminal.wait_for(f"scheduler none → mq-deadline ({flash}) · u undoes it", SLOW_S)
    terminal.press("u")
    reads(qemu, f"/sys/block/{flash}/queue/scheduler", "none")
    terminal.wait_for("undone: scheduler mq-deadline → none", SLOW_S)


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
        terminal.wait_for(RULES, SLOW_S)
        terminal.press("y")
        terminal.wait_for(re.compile(r"│ done "), SLOW_S)
        terminal.press("escape")
        kept = qemu.run(f"cat {RULES}").stdout
        assert f'ATTR{{device/queue_depth}}="{depth}"' in kept
        assert first.serial in kept
        assert disk not in kept.split('"')

        terminal.wait_for(re.compile(rf"{disk} .*raidtui \(kept\)"), SLOW_S)
        assert qemu.run(f"echo 4 >{queue}/device/queue_depth").status == 0  # by another's hand
        chosen(terminal, rf"▲ {disk} +queue_depth of {disk} is 4; raidtui keeps it at {depth}\.")
        terminal.press("enter")
        terminal.wait_for("Now 4; possible: 1 to 32.", SLOW_S)
        terminal.type(f"{depth}\r")
        reads(qemu, f"{queue}/device/queue_depth", depth)
        terminal.wait_for(lambda text: "raidtui keeps it at" not in text.replace("\n", " "), SLOW_S)

        terminal.press("down")
        without_ncq(qemu, terminal, flash)
        terminal.press("q")  # what is kept is no longer offered back
        assert terminal.wait_exit() == 0
    assert qemu.run(f"rm {RULES} && udevadm control --reload").status == 0


def test_processors_by_keys(qemu: QemuGuest) -> None:
    """A governor, a frequency and a profile, whose difference is shown first; all of it offered back."""
    make_array(qemu, "data", 1, [disk.path for disk in qemu.nvme], extra=["--assume-clean"])
    assert (
        qemu.run(f"echo powersave | tee {POLICY.replace('policy0', 'policy*')}/scaling_governor").status == 0
    )
    with open_console(qemu, cols=80, rows=24) as terminal:
        terminal.press("4")
        terminal.wait_for(re.compile(r"^ *cpu ", re.MULTILINE), SLOW_S)
        terminal.press(*["down"] * 6)
        chosen(terminal, r"governor of policy0.*: powersave")
        # It was set by hand, and the driver is acpi-cpufreq: intel_pstate's figures are not its own.
        terminal.wait_for("It is not known who has set it: nothing that sets it was found.", SLOW_S)
        terminal.wait_for("processors run at their lowest frequency", SLOW_S)
        terminal.press("left")
        wait_until(lambda: governor(qemu) != "powersave", SLOW_S, "another governor")
        other = governor(qemu)
        terminal.wait_for(re.compile(rf"governor powersave → {other} .* u undoes it"), SLOW_S)

        terminal.press("tab", "tab", "left")
        reads(qemu, f"{POLICY}/scaling_max_freq", "2000000")
        terminal.wait_for("max [2.0 GHz]", SLOW_S)
        terminal.wait_for(re.compile(r"max_freq_khz 2600000 → 2000000 .* u undoes it"), SLOW_S)
        terminal.press("tab")
        terminal.wait_for("The driver acpi-cpufreq has only one mode", SLOW_S)

        terminal.press("P")
        terminal.wait_for(re.compile(r"ssd-array +\d+ writes?"), SLOW_S)
        terminal.press("enter")
        terminal.wait_for(re.compile(rf"profile ssd-array: governor {other} → performance"), SLOW_S)
        assert governor(qemu) == other
        terminal.press("y")
        reads(qemu, f"{POLICY}/scaling_governor", "performance")
        terminal.wait_for(re.compile(r"profile ssd-array: [^·]* ·\s+u\s+undoes it"), SLOW_S)
        terminal.press("q")
        terminal.wait_for("This session made changes that last until reboot", SLOW_S)
        terminal.press("r")
        assert terminal.wait_exit() == 0
    assert governor(qemu) == "powersave"
    reads(qemu, f"{POLICY}/scaling_max_freq", "2600000")
