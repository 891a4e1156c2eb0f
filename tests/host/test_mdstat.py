"""/proc/mdstat in every form that md prints, each as the whole record."""

import pytest

from raidtui.host.md.mdstat import MdstatError, parse_array, parse_mdstat
from tests.host.mdstat_forms import FORMS, expected, record
from tests.hosts.captures import ALL_CAPTURES, capture_text


@pytest.mark.parametrize("form", FORMS)
def test_form(form: str) -> None:
    lines, records = FORMS[form]
    text = "\n".join(["Personalities : [raid1] [raid10] ", *lines, "unused devices: <none>", ""])
    parsed = parse_mdstat(text)
    assert parsed.problems == []
    assert parsed.personalities == ["raid1", "raid10"]
    assert list(map(record, parsed.arrays)) == records


def test_text_is_the_source_without_the_name() -> None:
    lines = ["active raid1 sdb[1] sda[0]", "      17 blocks super 1.2 [2/2] [UU]"]
    parsed = parse_mdstat("\n".join([f"md1 : {lines[0]}", lines[1], "      "]))
    assert [array.text for array in parsed.arrays] == ["\n".join(lines)]


@pytest.mark.parametrize("text", ["", "\n", "   \n\t\n", "Personalities : \nunused devices: <none>\n"])
def test_without_arrays(text: str) -> None:
    parsed = parse_mdstat(text)
    assert (parsed.arrays, parsed.problems, parsed.personalities) == ([], [], [])


@pytest.mark.parametrize("unused", ["unused devices: <none>", "unused devices: sdb sdc ", ""])
def test_unused_devices_are_not_arrays(unused: str) -> None:
    parsed = parse_mdstat(f"md0 : active raid0 sdb[1] sda[0]\n      17 blocks 64k chunks\n      \n{unused}\n")
    assert [array.name for array in parsed.arrays] == ["md0"]
    assert parsed.problems == []


def test_of_an_array_printed_twice_the_later_counts_and_it_is_said() -> None:
    """The file is read in pieces; an array made between two of them moves all others by one."""
    old = "md1 : active raid1 sdb[1] sda[0]\n      17 blocks super 1.2 [2/2] [UU]\n      \n"
    new = "md1 : active raid1 sdb[1](F) sda[0]\n      17 blocks super 1.2 [2/1] [U_]\n      \n"
    parsed = parse_mdstat(old + new)
    assert [array.up for array in parsed.arrays] == ["U_"]
    assert parsed.problems == ["md1 is listed twice, with a difference: the later one is used"]
    assert parse_mdstat(new + new).problems == []


@pytest.mark.parametrize(("found", "other"), [("\n", "\r"), ("\n", "\r\n"), (" ", "\xa0")])
def test_line_ends_and_spaces_of_pasted_text(found: str, other: str) -> None:
    text = "Personalities : [raid1]\nmd0 : active raid1 sda[0] sdb[1](F)\n      17 blocks [2/1] [U_]\n\n"
    parsed = parse_mdstat(text.replace(found, other))
    assert ([array.up for array in parsed.arrays], parsed.problems) == (["U_"], [])


def test_more_slots_in_sync_than_are_counted_is_not_understood() -> None:
    lines = "md0 : active raid5 sda[0] sdb[1] sdc[2]\n      34 blocks level 5, 64k chunk [3/2] [UUU]\n"
    assert parse_mdstat(lines).problems == ["md0: [3/2] and [UUU] contradict each other"]
    shrinking = "      [>....]  reshape =  3.9% (1/17) finish=1.0min speed=5K/sec\n"
    assert parse_mdstat(lines + shrinking).problems == []  # it counts the member that is left over


def test_arrays_whose_lines_are_the_same_are_not_parsed_again() -> None:
    one = "md1 : active raid1 sdb[1] sda[0]\n      17 blocks super 1.2 [2/2] [UU]\n      \n"
    two = "md2 : active raid0 sdd[1] sdc[0]\n      34 blocks super 1.2 64k chunks\n      \n"
    before = parse_mdstat(one + two)
    after = parse_mdstat(one.replace("[2/2] [UU]", "[2/1] [U_]") + two, before)
    assert [array.up for array in after.arrays] == ["U_", None]
    assert after.arrays[1] is before.arrays[1]
    assert [record(array) for array in parse_mdstat(one, after).arrays] == [record(before.arrays[0])]


BAD_LINES = {
    "state": (["degraded raid1 sdb[1]"], "unknown state 'degraded'"),
    "nothing": ([""], "unknown state ''"),
    "no lines": ([], "unknown state ''"),
    "member cut short": (["active raid1 sdb[1"], "member 'sdb[1' is incomplete"),
    "member without number": (["active raid1 sdb[]"], "member number '' is not a number"),
    "member without name": (["active raid1 [1]"], "member '[1]' has no name that a device can have"),
    "member of dots": (["active raid1 ../[1]"], "member '../[1]' has no name that a device can have"),
    "member with NUL": (["active raid1 s\0[1]"], r"member 's\x00[1]' has no name that a device can have"),
    "flags": (["active raid1 sdb[1](F"], "member 'sdb[1](F' has unknown flags"),
    "empty flags": (["active raid1 sdb[1]()"], "member 'sdb[1]()' has unknown flags"),
    "word": (["active raid1 sdb"], "unexpected word 'sdb'"),
    "two levels": (["inactive raid1 raid5 sdb[1]"], "unexpected word 'raid5'"),
    "blocks": (["active raid1 sdb[1]", " 1x7 blocks"], "block count '1x7' is not a number"),
    "slots": (["active raid1 sdb[1]", " 17 blocks [x/2] [UU]"], "number of slots 'x' is not a number"),
    "bitmap": (["active raid1 sdb[1]", " bitmap: 1 pages"], "bitmap pages '' is not a number"),
    "progress": (
        ["active raid1 sdb[1]", " [=>..]  resync =  5.0% (5/100 finish=1.0min"],
        "progress is incomplete",
    ),
    "percentage": (
        ["active raid1 sdb[1]", " [=>..]  resync =  5,0% (5/100) finish=1.0min"],
        "percentage '5,0' is not a number",
    ),
    "foreign digits": (["active raid1 sdb[²]"], "member number '²' is not a number"),
    "endless digits": (
        ["active raid1 sdb[" + "9" * 5000 + "]"],
        f"member number {'9' * 24!r} is not a number",
    ),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_what_md_does_not_print(case: str) -> None:
    lines, sentence = BAD_LINES[case]
    with pytest.raises(MdstatError) as raised:
        parse_array("md1", lines)
    assert str(raised.value) == sentence


GOOD = "md2 : active raid1 sdd[1] sdc[0]\n      99 blocks super 1.2 [2/2] [UU]\n      \n"


@pytest.mark.parametrize(
    ("odd", "problems"),
    [
        ("md1 : active raid1 sdb[\n      17 blocks\n      \n", ["md1: member 'sdb[' is incomplete"]),
        (
            (
                "md1 ; active raid1 sdb[1]\n      17 blocks super 1.2 [2/1] [U_]\n"
                "      [>....]  resync =  0.7% (2048\n      \n"
            ),
            ["a line that is not md's: 'md1 ; active raid1 sdb[1]'"],
        ),
        (
            "      17 blocks super 1.2 [2/1] [U_]\n      \n",
            ["a line that belongs to no array: '17 blocks super 1.2 [2/1] [U_]'"],
        ),
        (
            "a/b : active raid1 sdb[1]\n      17 blocks\n      \n",
            ["a line that is not md's: 'a/b : active raid1 sdb[1]'"],
        ),
        (
            ".. : active raid1 sdb[1]\n      17 blocks\n      \n",
            ["a line that is not md's: '.. : active raid1 sdb[1]'"],
        ),
    ],
)
def test_one_odd_array_never_hides_the_others(odd: str, problems: list[str]) -> None:
    good = expected(
        "md2",
        personality="raid1",
        members="sdd[1] sdc[0]",
        blocks_kib=99,
        super="1.2",
        raid_disks=2,
        working=2,
        up="UU",
    )
    for text in (odd + GOOD, GOOD + odd):
        parsed = parse_mdstat(text)
        assert list(map(record, parsed.arrays)) == [good]
        assert parsed.problems == problems
        named = [problem.partition(":")[0] for problem in problems if problem.startswith("md1:")]
        assert [array.name for array in parsed.unread] == named


def test_what_can_be_read_of_an_array_that_is_not_understood() -> None:
    lines = "md1 : active raid9 turbo sdc[1](F) sdb[ sda[0] [2/2]\n      17 blocks\n      \n"
    (array,) = parse_mdstat(lines).unread
    assert (array.name, array.state, array.trouble) == ("md1", "", "unexpected word 'turbo'")
    assert [repr(member) for member in array.members] == ["sdc[1](F)", "sda[0]"]


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_capture_parses_without_a_problem(name: str) -> None:
    text = capture_text(name)
    parsed = parse_mdstat(text)
    assert parsed.problems == []
    heads = [line.partition(" : ")[0] for line in text.split("\n") if line.startswith("md")]
    assert [array.name for array in parsed.arrays] == heads
    blocks = [int(line.split()[0]) for line in text.split("\n") if " blocks" in line]
    assert [array.blocks_kib for array in parsed.arrays] == blocks
    assert [marks for array in parsed.arrays if (marks := array.foreign or array.up)] == [
        line.rpartition("[")[2].rstrip("]")
        for line in text.split("\n")
        if " blocks" in line and line.endswith("]")
    ]


def test_more_slots_than_an_array_can_have() -> None:
    """A damaged number is not a number: what goes through all slots would take all memory."""
    mdstat = parse_mdstat("md4 : active raid1 sdb[1]\n      262080 blocks [2147483648/1] [_U]\n      \n")
    assert mdstat.arrays == []
    assert [(each.name, each.raid_disks) for each in mdstat.unread] == [("md4", None)]
    assert mdstat.problems == ["md4: 2147483648 slots are more than an array can have"]
