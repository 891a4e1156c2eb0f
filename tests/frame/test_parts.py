"""Parts of the screen without the screen: the footer, the choice, the review; and what is loaded when."""

from __future__ import annotations

import subprocess
import sys

import pytest

from raidtui.features.arrays.screen.array_rows import Chosen, keep_choice
from raidtui.frame.chart import chart_rows, median_words, slices, spread_words
from raidtui.frame.plan_view import no_undo, review_lines
from raidtui.frame.wizard_lines import with_note
from raidtui.model.plan import Harm, Loss, Plan, PutFile, RunTool, Step
from raidtui.view.line import Line, footer_line
from tests.frame.drawn import texts
from tests.frame.machines import ssd
from tests.hosts.specs import ArraySpec, raid1, raid5, raid10
from tests.hosts.trees import host_tree, snapshot_of

# -- the footer

FIRST = [("c", "Check", True), ("p", "Pause", False)]
FURTHER = [("s", "Scope", True), ("g", "Give back", True), ("u", "Undo", False)]
LAST = [("?", "Help", True), ("^p", "More", True)]


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (34, " c Check  p Pause  ? Help  ^p More"),
        (33, "c Check  p Pause  ? Help  ^p More"),  # the blanks at both ends go first
        (32, " c Check  ? Help  ^p More"),
        (10, "? Help  ^p More"),
        (80, " c Check  p Pause  ? Help  ^p More"),
        (81, " c Check  p Pause  s Scope  g Give back  u Undo  ? Help  ^p More"),
    ],
)
def test_the_footer_shows_what_fits(width: int, words: str) -> None:
    line = footer_line(FIRST, FURTHER, LAST, width)
    assert "".join(text for text, _ in line).rstrip() == words


def test_the_footer_takes_what_still_fits() -> None:
    long = [("x", "w" * 60, True), ("s", "Scope", True)]
    [words] = texts([footer_line(FIRST, long, LAST, 90)])
    assert words == " c Check  p Pause  s Scope  ? Help  ^p More"
    assert (" p", "dim") in footer_line(FIRST, (), LAST, 80)
    assert sum(len(text) for text, _ in footer_line(FIRST, long, LAST, 90)) == 90


# -- the choice

DATA, ROOT, MEDIA = raid10(), raid1(), raid5()


def arrays(*specs: ArraySpec) -> tuple[object, ...]:
    return snapshot_of(host_tree(*specs)).arrays


def keep(before: Chosen, shown: tuple[ArraySpec, ...], listed: tuple[ArraySpec, ...], **more: bool) -> Chosen:
    return keep_choice(before, arrays(*shown), arrays(*listed), **more)  # type: ignore[arg-type]


def test_the_choice_follows_the_array() -> None:
    key = ROOT.array_uuid
    assert keep(Chosen(key=key), (MEDIA, ROOT), (ROOT,)) == Chosen(key=key)
    assert keep(Chosen(), (ROOT, MEDIA), ()).key == key


def test_where_the_array_is_gone_the_row_stays_until_it_is_back() -> None:
    gone = keep(Chosen(key=ROOT.array_uuid), (DATA, MEDIA), (DATA, ROOT, MEDIA))
    assert gone == Chosen(key=MEDIA.array_uuid, gone=ROOT.array_uuid)
    assert keep(gone, (DATA, ROOT, MEDIA), (DATA, MEDIA)) == Chosen(key=ROOT.array_uuid)
    assert keep(gone, (), (DATA, MEDIA)) == Chosen(gone=ROOT.array_uuid)


def test_what_is_filtered_out_is_not_gone() -> None:
    found = keep(Chosen(key=ROOT.array_uuid), (MEDIA,), (ROOT, MEDIA), is_there=True)
    assert found == Chosen(key=MEDIA.array_uuid)


# -- the review


def plan(*steps: Step, **more: object) -> Plan:
    return Plan(title="t", subject="s", steps=steps, **more)  # type: ignore[arg-type]


WIPE = RunTool(argv=("wipefs", "--all", "/dev/sda2"), why="it must not come back", destroys=True)
LOOK = RunTool(argv=("udevadm", "settle"), why="until it is there", undo=(RunTool(argv=("true",), why="x"),))


def test_a_review_names_every_device_that_is_written_over() -> None:
    table = RunTool(
        argv=("sfdisk", "/dev/sdb"), stdin="label: gpt\nstart=2048\n", why="one partition", destroys=True
    )
    made = plan(LOOK, WIPE, table, harm=Harm.DESTROYS,
                losses=(Loss(device="sda2", what="the ext4 file system"),),
                devices=("sda2", "sdb", "sdc"), notes=("It takes 5 min.",))  # fmt: skip
    lines = review_lines(made, 60, {"sda2": ssd("sda2")})
    assert texts(lines) == [
        "This erases 2 devices:",
        "  sda2  Samsung SSD 850 EVO …2345  the ext4 file system",
        "  sdb   empty",
        "",
        "  1 udevadm settle                         until it is there",
        "  2 wipefs --all /dev/sda2             it must not come back",
        "  3 sfdisk /dev/sdb                            one partition",
        "      < label: gpt",
        "      < start=2048",
        "",
        "It takes 5 min.",
        "No undo after step 2: what is on the devices cannot be",
        "restored; the steps below only remove what is new.",
        "  undo 1: true",
    ]
    assert no_undo(made) == "no undo after step 2"
    assert {role for line in lines[:1] for _, role in line} == {"bad"}


def test_a_review_of_what_can_be_undone() -> None:
    made = plan(LOOK, LOOK, harm=Harm.REDUCES, warning="Careful.", rolls_back=True)
    assert texts(review_lines(made, 60))[2:] == [
        "",
        "Careful.",
        "All steps can be undone; a failure in the middle undoes what",
        "was done.",
        "  undo 2: true",
        "  undo 1: true",
    ]
    assert no_undo(made) == ""


def test_a_superblock_alone_is_no_erased_device() -> None:
    zero = RunTool(argv=("mdadm", "--zero-superblock", "/dev/sda2"), why="none", destroys=True)
    made = plan(
        zero, losses=(Loss(device="sda2", what="a member of old"),), harm=Harm.DESTROYS, devices=("sda2",)
    )
    assert texts(review_lines(made, 60))[:2] == ["Lost afterwards:", "  sda2  a member of old"]


def test_a_plan_that_was_saved_without_devices_of_its_losses() -> None:
    made = plan(WIPE, loss_sentences=("sda2: the ext4 file system",), harm=Harm.DESTROYS, devices=("sda2",))
    assert texts(review_lines(made, 60))[:2] == ["Lost afterwards:", "  sda2: the ext4 file system"]


def test_long_commands_wrap_with_an_indent() -> None:
    step = RunTool(argv=("mdadm", "--create", "/dev/md127", "--homehost=nas", "--level=raid10"), why="w" * 30)
    assert texts(review_lines(plan(step), 40))[:3] == [
        "  1 mdadm --create /dev/md127",
        "      --homehost=nas --level=raid10",
        "      " + "w" * 30,
    ]


def test_a_file_shows_what_is_added() -> None:
    undo = PutFile(path="/etc/fstab", content="a\n", why="as it was")
    step = PutFile(path="/etc/fstab", content="a\nb\n", why="mounted at boot", undo=(undo,))
    assert texts(review_lines(plan(step), 60))[:2] == [
        "  1 write /etc/fstab                         mounted at boot",
        "      + b",
    ]


# -- rows and their note


def rows(count: int) -> list[Line]:
    return [[(f"row {number}", "plain")] for number in range(count)]


@pytest.mark.parametrize(
    ("at", "seen"),
    [
        (0, ["row 0", "row 1", "row 2", "  ↓ 7 more"]),
        (5, ["  ↑ 4 more", "row 4", "row 5", "  ↓ 4 more"]),
        (9, ["  ↑ 7 more", "row 7", "row 8", "row 9"]),
    ],
)
def test_rows_that_do_not_fit(at: int, seen: list[str]) -> None:
    note: list[Line] = [[("note", "plain")]]
    assert texts(with_note(rows(10), at, note, 7, 2)) == [*seen, "", "note"]


# -- what is loaded when


def test_the_wizard_is_not_loaded_before_it_is_wanted() -> None:
    code = (
        "import sys, raidtui.app.app; print(sorted(name for name in sys.modules if name.startswith("
        "('raidtui.plans.wizard', 'raidtui.plans.create', 'raidtui.features.create',"
        " 'raidtui.features.rescue',"
        " 'raidtui.features.arrays.screen.repair_flow', 'raidtui.watch.storage'))))"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], ""),
        ([512_000.0], "524 MB/s"),
        ([375_000.0, 512_000.0], "384 … 524 MB/s"),
        ([100.0, 512_000.0], "102 KB/s … 524 MB/s"),
    ],
)
def test_ranges_of_rates(values: list[float], words: str) -> None:
    assert spread_words(values) == words


def test_a_time_in_which_nobody_looked_is_a_gap_in_the_chart() -> None:
    points = [(0.0, 100.0), (2.0, 200.0), (6.0, 200.0), (30.0, 50.0)]
    values = slices(points, 16)
    assert values == [100.0, 200.0, 200.0, 200.0, 200.0, 200.0, 200.0, *[None] * 8, 50.0]
    assert chart_rows(values, 16, 1) == ["▄▇▇▇▇▇▇        ▂"]
    assert spread_words([None, 100.0, None]) == spread_words([100.0])
    assert (median_words([None]), spread_words([None])) == ("", "")
