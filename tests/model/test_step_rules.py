"""What a plan from a file may do, and what its steps destroy, whatever it says of itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import raidtui
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Loss, Plan, PutFile, RunTool, Step, WaitUntil, Write
from raidtui.model.step_rules import TOOLS, destroyed_devices, is_tune_undo, judged, step_trouble

SOURCE = Path(raidtui.__file__).parent
FINE = RunTool(argv=("mdadm", "--stop", "/dev/md127"), why="x")
RULES = "/etc/udev/rules.d/60-raidtui-io.rules"


def plan_of(*steps: Step, **more: object) -> Plan:
    return replace(Plan(title="check: data", subject="data", steps=steps), **more)


def run(*argv: str, **more: object) -> Step:
    return replace(RunTool(argv=argv, why="x"), **more)


def kept(path: str, content: str = "x") -> Step:
    return PutFile(path=path, content=content, why="x")


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (run("sh", stdin="touch x"), "'sh' is not a tool"),
        (run("env", "touch", "x"), "'env' is not a tool"),
        (run("/usr/sbin/mdadm"), "'/usr/sbin/mdadm' is not a tool"),
        (run("../../run/evil"), "is not a tool"),
        (run("", "x"), "'' is not a tool"),
        (run("mdadm", "a\x00b"), "control character, '\\x00'"),
        (run("mdadm", "a\nb"), "control character, '\\n'"),
        (run("mdadm", "\x1b]0;x"), "control character, '\\x1b'"),
        (run("mdadm", "\x9b"), "control character, '\\x9b'"),
        (run("sfdisk", stdin="label: gpt\n\x00"), "control character"),
        (run("mdadm", needs=(Fact(kind=FactKind.FREE, subject="a\x00"),)), "control character"),
        (run("mdadm", timeout_s=-1.0), "cannot take -1 s"),
        (run("mdadm", timeout_s=float("nan")), "cannot take nan s"),
        (kept("relative"), "not an absolute path"),
        (kept("/etc/../dev/sda"), "not an absolute path"),
        (kept("/dev/sda"), "not a configuration file"),
        (kept("/sys/block/sda/x"), "not a configuration file"),
        (kept("/etc/a\x00b"), "control character"),
        (kept("/etc/a", "\x1b[2J"), "control character"),
        (kept("/etc/a", "\u0100"), "not bytes"),
        (Write(path="/dev/sdd", text="OVERWRITTEN", why="x"), "not a file of the kernel"),
        (Write(path="/etc/passwd", text="x", why="x"), "not a file of the kernel"),
        (Write(path="/sys/a\x00b", text="x", why="x"), "control character"),
        (Write(path="/sys/../dev/sdd", text="x", why="x"), "not an absolute path"),
        (Write(path="", text="x", why="x"), "not an absolute path"),
    ],
)
def test_what_raidtui_would_not_make_is_refused_with_its_number(step: Step, why: str) -> None:
    assert why in step_trouble(plan_of(FINE, step)).removeprefix("step 2: ")
    assert step_trouble(plan_of(FINE, step)).startswith("step 2: ")
    nested = replace(FINE, undo=(FINE, replace(FINE, undo=(step,))))
    assert step_trouble(plan_of(nested)).startswith("step 1, undo 2, undo 1: ")
    assert step_trouble(plan_of(FINE, undo=(step,))).startswith("step of the undo 1: ")


def test_what_raidtui_makes_is_taken() -> None:
    wait = WaitUntil(why="md copies", until=(Fact(kind=FactKind.SYNCED, subject="md127"),))
    imsm = run("env", "IMSM_NO_PLATFORM=1", "mdadm", "--assemble", "/dev/md127")
    text = Write(path="/sys/class/block/md127/md/sync_action", text="check", why="x")
    conf = kept("/etc/mdadm.conf", "ARRAY /dev/md/d\xc3\xa4\n\t# x\r\n")
    assert (
        step_trouble(plan_of(FINE, wait, imsm, text, conf, run("sfdisk", "/dev/sda", stdin="label: gpt\n")))
        == ""
    )


def tools(node: ast.AST) -> Iterator[str]:
    """The programs that are written out in steps."""
    for call in ast.walk(node):
        if isinstance(call, ast.keyword) and call.arg == "argv" and isinstance(call.value, ast.Tuple):
            first = call.value.elts[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def test_every_tool_of_a_plan_is_known() -> None:
    rooms = (SOURCE / "plans", SOURCE / "features")
    paths = [path for room in rooms for path in room.rglob("*.py")]
    found = {tool for path in paths for tool in tools(ast.parse(path.read_text(encoding="utf-8")))}
    assert {"mdadm", "wipefs", "sfdisk", "pvcreate"} <= found
    assert found - TOOLS == set()


@pytest.mark.parametrize(
    ("argv", "devices"),
    [
        (("wipefs", "--all", "/dev/sdc"), ("/dev/sdc",)),
        (("wipefs", "--no-act", "/dev/sdc"), ()),
        (("mkfs.ext4", "-q", "/dev/md0"), ("/dev/md0",)),
        (("blkdiscard", "/dev/sdc"), ("/dev/sdc",)),
        (("mdadm", "--zero-superblock", "/dev/sdc"), ("/dev/sdc",)),
        (("mdadm", "--create", "/dev/md/x", "/dev/sda", "/dev/sdb"), ("/dev/md/x", "/dev/sda", "/dev/sdb")),
        (("env", "IMSM_NO_PLATFORM=1", "mdadm", "-C", "/dev/md/x"), ("/dev/md/x",)),
        (("mdadm", "--stop", "/dev/md0"), ()),
        (("sfdisk", "--quiet", "/dev/sdc"), ("/dev/sdc",)),
        (("sfdisk", "--dump", "/dev/sdc"), ()),
        (("dd", "if=/dev/sda", "of=/dev/sdb"), ("/dev/sdb",)),
        (("dd", "if=/dev/sda", "of=/srv/sda.first"), ()),
        (("ddrescue", "--force", "/dev/sda", "/dev/sdb", "/srv/map"), ("/dev/sdb",)),
        (("ddrescue", "/dev/sda", "/srv/img", "/srv/map"), ()),
        ((), ()),
    ],
)
def test_what_a_tool_overwrites(argv: tuple[str, ...], devices: tuple[str, ...]) -> None:
    assert destroyed_devices(run(*argv)) == devices


def test_harm_follows_from_the_steps() -> None:
    wipe = run("wipefs", "--all", "/dev/sdc")
    found = judged(plan_of(FINE, wipe))
    assert (found.harm, [step.destroys for step in found.steps]) == (Harm.DESTROYS, [False, True])
    assert judged(plan_of(replace(FINE, destroys=True))).harm is Harm.DESTROYS
    assert judged(plan_of(FINE, losses=(Loss(device="sda", what="all"),))).harm is Harm.DESTROYS
    assert judged(plan_of(FINE, harm=Harm.DESTROYS)).harm is Harm.DESTROYS
    assert judged(plan_of(FINE, harm=Harm.REDUCES)) == plan_of(FINE, harm=Harm.REDUCES)


def test_what_is_read_to_be_empty_is_no_data() -> None:
    """A new disk is partitioned and added without its name; so is a former member's superblock removed."""
    table = run("sfdisk", "/dev/sdz", stdin="label: gpt\n", destroys=True)
    empty = Fact(kind=FactKind.CONTENTS, subject="sdz")
    added = plan_of(replace(table, needs=(empty,)), harm=Harm.REDUCES)
    assert judged(added) == added
    for needs in ((), (replace(empty, subject="sdy"),), (replace(empty, value="ext4"),)):
        assert judged(plan_of(replace(table, needs=needs))).harm is Harm.DESTROYS
    zero = run("mdadm", "--zero-superblock", "/dev/sdz")
    whose = Fact(kind=FactKind.SUPERBLOCK, subject="sdz", value="0:1:2:3")
    assert judged(plan_of(replace(zero, needs=(whose,)))).harm is Harm.HARMLESS
    assert judged(plan_of(replace(zero, needs=(replace(whose, value=""),)))).harm is Harm.DESTROYS
    assert judged(plan_of(run("wipefs", "--all", "/dev/sdz", needs=(whose,)))).harm is Harm.DESTROYS


@pytest.mark.parametrize(
    ("step", "ours"),
    [
        (Write(path="/sys/class/block/sda/queue/scheduler", text="none", why="x"), True),
        (kept(RULES), True),
        (kept("/etc/cron.d/x"), False),
        (run("rm", "--force", "--", RULES), True),
        (run("rm", "--force", "--", "/etc/passwd"), False),
        (run("rm", "-rf", "/"), False),
        (run("mkdir", "--parents", "/etc/udev/rules.d"), True),
        (run("mkdir", "--parents", "/root/x"), False),
        (run("udevadm", "control", "--reload"), True),
        (run("lvchange", "--yes", "--cachemode", "writeback", "vg/lv"), True),
        (run("lvchange", "--yes", "--cachemode", "writeback", "--config=x"), False),
        (run("lvchange", "--yes", "-an", "x", "vg/lv"), False),
        (run("touch", "/run/pwned"), False),
        (run("mdadm", "--stop", "/dev/md0"), False),
    ],
)
def test_what_the_record_of_tuning_may_hold(step: Step, ours: bool) -> None:  # noqa: FBT001
    assert is_tune_undo(plan_of(step)) is ours
    assert is_tune_undo(plan_of(undo=(step,))) is ours
