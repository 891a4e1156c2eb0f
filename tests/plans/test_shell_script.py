"""A plan for the eye and as a shell script, which must say and do the same whatever the texts hold."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import Harm, Plan, PutFile, RunTool, Write
from raidtui.plans.shell_script import plan_sentences, shell_script

NASTY = (
    "it's\n",
    "$(touch hit)\n",
    "`touch hit`\n",
    '"$HOME"\\\n',
    "a\\nb %s %d\\0101",
    "\n\n",
    "",
    "-n",
    "\t#!\r\n",
)
HIGH = ("ä".encode().decode("latin-1"), "\xff\x00\\0101 'x'\n\n", "\\\x80")
SAME = "3\n4\n\n5\n6\n"
WRITE = PutFile(
    path="/etc/fstab",
    content=f"1\n2\n{SAME}\xc3\xa4\n",
    why="it names the old path",
    needs=(Fact(kind=FactKind.DIGEST, subject="/etc/fstab", value="abc"),),
    undo=(PutFile(path="/etc/fstab", content=f"0\n{SAME}old\n", why="as it was"),),
)
PLAN = Plan(
    title="rename: data → new",
    subject="data",
    steps=(
        RunTool(
            argv=("mdadm", "--stop", "/dev/md 127"),
            why="the name can be changed only while it is stopped",
            needs=(
                Fact(kind=FactKind.ARRAY, subject="md127", value="u:u"),
                Fact(kind=FactKind.UNUSED, subject="md127"),
            ),
            proves=(Fact(kind=FactKind.GONE, subject="u:u"),),
        ),
        WRITE,
        Write(path="/sys/x", text="idle", why="go on"),
        RunTool(argv=("sfdisk", "/dev/sda"), stdin="label: gpt\n", why="a table"),
    ),
    harm=Harm.REDUCES,
    warning="The array is stopped.",
    loss_sentences=("sda: an \x1b[2J array",),
    notes=("One.", "Two."),
    rolls_back=True,
)


def run(script: str, folder: Path, *, check_only: bool = False) -> None:
    argv = ["/bin/sh", *(["-n"] if check_only else []), "-c", script]
    found = subprocess.run(argv, cwd=folder, capture_output=True, timeout=10, check=False)
    assert (found.returncode, found.stderr) == (0, b"")


def test_sentences() -> None:
    assert plan_sentences(PLAN) == [
        "rename: data → new (reduces redundancy, or makes the array unavailable for a time)",
        r"  lost afterwards: sda: an \x1b[2J array",
        "  The array is stopped.",
        "  One.",
        "  Two.",
        "  1  mdadm --stop '/dev/md 127'",
        "       the name can be changed only while it is stopped",
        "  2  write /etc/fstab",
        "       it names the old path",
        "       - 0",
        "       + 1",
        "       + 2",
        "       - old",
        "       + ä",
        "  3  echo idle > /sys/x",
        "       go on",
        r"  4  sfdisk /dev/sda <<< 'label: gpt\x0a'",
        "       a table",
        "1 of 4 steps can be undone; a failure in the middle undoes what was done.",
        "  undo 2: write /etc/fstab (as it reads now)",
    ]


def test_all_that_a_rollback_runs_is_said() -> None:
    """In its order, and with every line of a file that no step reports: a plan may be a stranger's."""
    other = PutFile(path="/etc/cron.d/x", content="1\n2\n3\n4\n5\n6\n7\x1b\n8\n", why="x")
    steps = (
        RunTool(argv=("mdadm", "--stop", "/dev/md127"), why="a", undo=(WRITE.undo[0], other)),
        RunTool(argv=("true",), why="b"),
        Write(path="/sys/x", text="1", why="c", undo=(RunTool(argv=("rm", "-rf", "/srv"), why="d"),)),
    )
    wanted = [
        "undo 3: rm -rf /srv",
        "undo 1: write /etc/fstab",
        *(f"undo 1:   | {line}" for line in ("0", "3", "4", "", "5", "6", "old")),
        "undo 1: write /etc/cron.d/x",
        *(f"undo 1:   | {line}" for line in ("1", "2", "3", "4", "5", "6", r"7\x1b", "8")),
    ]
    for harm in Harm:
        plan = Plan(title="t", subject="s", steps=steps, harm=harm)
        assert plan_sentences(plan)[-len(wanted) :] == [f"  {line}" for line in wanted]
    said = [line for line in shell_script(plan).split("\n") if "undone by" in line]
    assert said[-1] == "#    undone by: rm -rf /srv"
    assert len(said) == len(wanted)


@pytest.mark.parametrize(
    ("plan", "first", "last"),
    [
        (
            Plan(title="t", subject="s", steps=(WRITE,)),
            "t (harmless)",
            "  undo 1: write /etc/fstab (as it reads now)",
        ),
        (
            Plan(title="t", subject="s", steps=(WRITE,), harm=Harm.DESTROYS),
            "t (destroys data on the devices)",
            "  undo 1: write /etc/fstab (as it reads now)",
        ),
        (
            Plan(title="t", subject="s", steps=PLAN.steps[:1]),
            "t (harmless)",
            "       the name can be changed only while it is stopped",
        ),
    ],
)
def test_harm_and_undo(plan: Plan, first: str, last: str) -> None:
    found = plan_sentences(plan)
    assert (found[0], found[-1]) == (first, last)


GONE = RunTool(argv=("rm", "--force", "--", "/etc/x"), why="it was not there")


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("a\nb\n", "a\nb\nc\n", ["+ c"]),
        ("a\nb", "a\nb\nc\n", ["+ c"]),
        ("a\nb\n", "b\n", ["- a"]),
        ("a\nb\nc\nd\n", "a\nB\nc\nD\n", ["- b", "+ B", "- d", "+ D"]),
        ("", "a\n\nb\n", ["+ a", "+ ", "+ b"]),
        ("a\n", "", ["- a"]),
        ("\xff\x1b\n", "\xc3\xa4\n", ["- \\xff\\x1b", "+ ä"]),
        (None, "a\n", ["+ a"]),
    ],
)
def test_what_changes_in_a_file(old: str | None, new: str, changes: list[str]) -> None:
    back = GONE if old is None else PutFile(path="/etc/x", content=old, why="as it was")
    other = RunTool(argv=("update-initramfs", "-u"), why="it has a copy")
    step = PutFile(path="/etc/x", content=new, why="w", undo=(back, other))
    reported = plan_sentences(Plan(title="t", subject="s", steps=(step,)))[3:]
    assert reported[: len(changes)] == [f"       {line}" for line in changes]
    undone = "rm --force -- /etc/x" if old is None else "write /etc/x (as it reads now)"
    assert reported[len(changes) :] == [
        "This can be undone.",
        f"  undo 1: {undone}",
        "  undo 1: update-initramfs -u",
    ]


def test_a_file_whose_old_content_is_not_known() -> None:
    step = PutFile(path="/etc/x", content="1\n2\n3\n4\n5\n6\n7\n", why="w")
    reported = plan_sentences(Plan(title="t", subject="s", steps=(step,)))[3:]
    assert reported == [f"       | {number}" for number in range(2, 8)]


def test_script(tmp_path: Path) -> None:
    assert shell_script(PLAN) == (
        "#!/bin/sh\n"
        "# rename: data → new\n"
        "# sda: an \\x1b[2J array\n"
        "# The array is stopped.\n"
        "# One.\n"
        "# Two.\n"
        "# Right before each step, raidtui would check again what the comments say.\n"
        "set -eu\n"
        "\n"
        "# 1: the name can be changed only while it is stopped\n"
        "#    must hold: array md127 u:u\n"
        "#    must hold: unused md127\n"
        "mdadm --stop '/dev/md 127'\n"
        "#    then holds: gone u:u\n"
        "\n"
        "# 2: it names the old path\n"
        "#    must hold: digest /etc/fstab abc\n"
        "printf %b '1\n2\n3\n4\n\n5\n6\n\\0303\\0244\n' > /etc/fstab\n"
        "#    undone by: write /etc/fstab (as it reads now)\n"
        "\n"
        "# 3: go on\n"
        "printf '%s\\n' idle > /sys/x\n"
        "\n"
        "# 4: a table\n"
        "printf %s 'label: gpt\n' | sfdisk /dev/sda\n"
    )
    run(shell_script(PLAN), tmp_path, check_only=True)


@pytest.mark.parametrize("text", [*NASTY, *HIGH])
def test_a_file_is_written_byte_for_byte(text: str, tmp_path: Path) -> None:
    """Bytes are characters in a plan; the script may be saved in any encoding."""
    place = tmp_path / "it's a `file`"
    script = shell_script(
        Plan(title="t", subject="s", steps=(PutFile(path=str(place), content=text, why="w"),))
    )
    assert script.isascii()
    run(script, tmp_path, check_only=True)
    run(script, tmp_path)
    assert place.read_bytes() == text.encode("latin-1")
    assert [each.name for each in tmp_path.iterdir()] == [place.name]


@pytest.mark.parametrize("text", NASTY)
def test_words_that_the_shell_would_take(text: str, tmp_path: Path) -> None:
    """Nothing but the commands runs: neither what a comment holds, nor what a name holds."""
    given, taken, wrote = (tmp_path / name for name in ("given", "taken", "wrote"))
    plan = Plan(
        title=text,
        subject=text,
        steps=(
            RunTool(argv=("sh", "-c", f'printf %s "$1" >{given}', "sh", text), why=text),
            RunTool(argv=("tee", "--", str(taken)), stdin=text or "x", why=text),
            Write(
                path=str(wrote),
                text=text,
                why=text,
                needs=(Fact(kind=FactKind.TEXT, subject=text, value=text),),
                proves=(Fact(kind=FactKind.LINE, subject=text, value=text),),
            ),
        ),
        warning=text,
        loss_sentences=(text,),
        notes=(text,),
    )
    run(shell_script(plan), tmp_path)
    assert given.read_bytes() == text.encode()
    assert taken.read_bytes() == (text or "x").encode()
    assert wrote.read_bytes() == f"{text}\n".encode()
    assert len(list(tmp_path.iterdir())) == 3
