"""The rules of udev while a trial lasts: nothing is assembled, nothing takes what it makes. Pure."""

from __future__ import annotations

from raidtui.features.rescue.trial.trial_record import TrialNames
from raidtui.host.trial_traces import SHADOW, SHADOW_MARK, rules_mark, rules_path
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import PutFile, RunTool, Step

_SKIPPED = "raidtui_trial"
_SETTLE_S = 60
REREAD = ("udevadm", "control", "--reload")
ASK = ("udevadm", "trigger", "--action=change", "/sys/class/mem/null")
"""An event of /dev/null, which is no one's disk: what udev notes of it says which rules it follows."""
_RELOAD = RunTool(argv=REREAD, why="udev reads its rules")


def no_assembly(ident: str) -> str:
    """Rules by which udev assembles nothing; 64-md-raid-assembly.rules leaves alone what has ANACONDA set."""
    return (
        'SUBSYSTEM=="block", ENV{ANACONDA}="raidtui"\n'
        f'SUBSYSTEM=="mem", KERNEL=="null", ENV{{{rules_mark(ident)}}}="1"\n'
    )


def follow_rules(ident: str) -> tuple[Step, ...]:
    """Have udev follow the rules of a trial, or of its plan, that were written.

    ``udevadm control --reload`` alone is not enough. It succeeds also where udev ignores what it sends: one
    of two hundred times in the laboratory (systemd 252, "Invalid sender uid 65534, ignoring message", when
    it arrives before udev has asked the kernel who sends). So udev is asked by events of /dev/null, until it
    notes of that what the rules say: with an event, it looks every 3 s whether rules have changed. And what
    udev works on by then continues by the rules that it knew, and may start a member: its end is awaited, for
    some time. Whoever takes a map nevertheless makes the trial void (``find_taken``).
    """
    return (
        _RELOAD,
        RunTool(
            argv=ASK,
            why="udev shows, on /dev/null, that it follows them",
            repeats=True,
            proves=(Fact(kind=FactKind.RULED, subject=ident),),
        ),
        RunTool(
            argv=("udevadm", "settle", f"--timeout={_SETTLE_S}"),
            why="what udev has begun by its old rules ends",
            timeout_s=_SETTLE_S + 10.0,
            may_fail=True,
        ),
    )


def lift_rules(ident: str, why: str) -> tuple[Step, ...]:
    """Have udev forget the rules of a trial, or of its plan."""
    return (
        RunTool(argv=("rm", "-f", rules_path(ident)), why=why),
        _RELOAD,
        RunTool(argv=ASK, why="udev forgets what it has noted", may_fail=True),
    )


def write_hiding_rules(names: TrialNames) -> str:
    """The rules of udev while a trial lasts."""
    hidden = (
        'ENV{SYSTEMD_READY}="0", ENV{UDISKS_IGNORE}="1", ENV{DM_UDEV_DISABLE_DISK_RULES_FLAG}="1",'
        ' ENV{DM_UDEV_DISABLE_OTHER_RULES_FLAG}="1", ENV{UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG}="1",'
        ' ENV{RAIDTUI_TRIAL}="1"'
    )
    map_name = f'KERNEL=="dm-[0-9]*", ATTR{{dm/name}}=="{names.own}-*"'
    array_name = f'KERNEL=="{"|".join(f"{array}|{array}p[0-9]*" for array in names.arrays)}"'
    head = "# A rescue trial of raidtui is under way; raidtui rescue clean removes this file.\n"
    lines = [
        f'SUBSYSTEM=="block", {map_name}, {hidden}, SYMLINK:="mapper/$attr{{dm/name}}"',
        f'SUBSYSTEM=="block", {array_name}, {hidden}, SYMLINK:=""',
    ]
    return "".join((head, no_assembly(names.ident), *(f"{line}\n" for line in lines)))


def shadow_rules(array_rules: str) -> list[Step]:
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
        PutFile(
            path=SHADOW,
            content=content,
            why="udev does not read the array that is tried: mdadm's rules, with a way past them",
            undo=(RunTool(argv=("rm", "-f", SHADOW), why="mdadm's own rules are in force again"),),
        )
    ]
