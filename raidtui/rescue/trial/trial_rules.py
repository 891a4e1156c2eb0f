"""The rules of udev while a trial lasts: nothing is assembled, nothing takes what it makes. Pure."""

from __future__ import annotations

from raidtui.host.trial_traces import SHADOW, SHADOW_MARK
from raidtui.model.plan import Step
from raidtui.rescue.trial.trial_request import TrialNames

_SKIPPED = "raidtui_trial"


def hiding_rules(names: TrialNames) -> str:
    """The rule of udev while a trial lasts; 64-md-raid-assembly.rules leaves alone what has ANACONDA set."""
    hidden = (
        'ENV{SYSTEMD_READY}="0", ENV{UDISKS_IGNORE}="1", ENV{DM_UDEV_DISABLE_DISK_RULES_FLAG}="1",'
        ' ENV{DM_UDEV_DISABLE_OTHER_RULES_FLAG}="1", ENV{UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG}="1",'
        ' ENV{RAIDTUI_TRIAL}="1"'
    )
    map_name = f'KERNEL=="dm-[0-9]*", ATTR{{dm/name}}=="{names.own}-*"'
    array_name = f'KERNEL=="{"|".join(f"{array}|{array}p[0-9]*" for array in names.arrays)}"'
    lines = [
        "# A rescue trial of raidtui is under way; raidtui rescue clean removes this file.",
        'SUBSYSTEM=="block", ENV{ANACONDA}="raidtui"',
        f'SUBSYSTEM=="block", {map_name}, {hidden}, SYMLINK:="mapper/$attr{{dm/name}}"',
        f'SUBSYSTEM=="block", {array_name}, {hidden}, SYMLINK:=""',
    ]
    return "".join(f"{line}\n" for line in lines)


def shadow_steps(array_rules: str) -> list[Step]:
    """Keep udev from reading an array whose reshape mdadm is about to continue.

    Mdadm's rules have every array probed by udev's blkid. A read of what is being moved waits for the
    reshape, the reshape waits for mdadm, and mdadm, as it suspends that region, for the read: for ever
    (Linux 6.1, ``suspend_lo_store`` and ``raid5_make_request``, seen in the laboratory). No property keeps
    those rules from it, so that a file of the same name in /run, with a way past them, goes before it.

    Args:
        array_rules: mdadm's rules, whole; "" where they are not there, or another file goes before ours.
    """
    if not array_rules:
        return []
    content = (
        f"{SHADOW_MARK}\n"
        f'ENV{{RAIDTUI_TRIAL}}=="1", GOTO="{_SKIPPED}"\n'
        f'{array_rules.rstrip()}\nLABEL="{_SKIPPED}"\n'
    )
    return [
        Step(
            path=SHADOW,
            content=content,
            why="udev does not read the array that is tried: mdadm's rules, with a way past them",
            undo=(Step(argv=("rm", "-f", SHADOW), why="mdadm's own rules are in force again"),),
        )
    ]
