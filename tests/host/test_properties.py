"""Whatever a file holds: nothing raises, and what is intact is read."""

from __future__ import annotations

import contextlib

from hypothesis import example, given, settings
from hypothesis import strategies as st

from raidtui.host.block import UsageTables
from raidtui.host.md.mdadm import MdadmError, parse_export
from raidtui.host.md.mdstat import MdstatError, parse_array, parse_mdstat
from raidtui.host.readers.folder_reader import FolderReader
from raidtui.host.udev import parse_udev_entry
from raidtui.model.geometry import loss_sentence
from raidtui.model.snapshot import Snapshot
from raidtui.monitor.brakes import held_back_by
from raidtui.monitor.events import diff
from raidtui.monitor.health import exit_status, healths_of, judge
from raidtui.monitor.sample_history import SampleHistory
from raidtui.monitor.sampler import interval_s
from tests.host.mdstat_forms import FORMS, record
from tests.hosts.captures import ALL_CAPTURES, capture_text
from tests.hosts.trees import (
    Stage,
    Syncing,
    Tree,
    container,
    host_tree,
    inactive,
    raid0,
    raid1,
    raid5,
    raid6,
    raid10,
)

TRIES = settings(max_examples=60, deadline=None)

_PIECES = st.sampled_from(
    [
        "md1 : active raid1",
        " sda[0]",
        "[2/2]",
        "[U_]",
        "      ",
        "\n",
        "blocks",
        "super 1.2",
        "level 5,",
        "[==>..]",
        "  resync =  5.0% (1/2)",
        "bitmap:",
        "1/1",
        "chunk",
        "algorithm",
        "near-copies",
        ", file: ",
        "=",
        "(F)",
        "\t",
        "inactive",
        "Personalities :",
        "unused devices:",
        "9" * 30,
        "²",
        "\0",
        "\r",
        "\x0b",
        "devices",
        "per",
        "set",
    ]
)
_BROKEN_TEXT = st.one_of(
    st.text(),
    st.binary().map(lambda data: data.decode("utf-8", "replace")),
    st.lists(_PIECES, max_size=30).map("".join),
)


@st.composite
def damaged(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """Lines cut, doubled, shuffled and with other characters, but never a line end more or less."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 4))):
        if not lines:
            break
        index = draw(st.integers(0, len(lines) - 1))
        line = lines[index]
        deed = draw(st.sampled_from(["drop", "double", "shuffle", "cut", "flip", "words"]))
        if deed == "drop":
            del lines[index]
        elif deed == "double":
            lines.insert(draw(st.integers(0, len(lines))), line)
        elif deed == "shuffle":
            lines = draw(st.permutations(lines))
        elif deed == "cut":
            lines[index] = line[: draw(st.integers(0, len(line)))]
        elif deed == "flip" and line:
            place = draw(st.integers(0, len(line) - 1))
            char = draw(st.characters(blacklist_characters="\n", codec="utf-8"))
            lines[index] = line[:place] + char + line[place + 1 :]
        elif deed == "words":
            lines[index] = " ".join(draw(st.permutations(line.split(" "))))
    return lines


@TRIES
@given(_BROKEN_TEXT)
def test_parse_mdstat_never_raises(text: str) -> None:
    parsed = parse_mdstat(text)
    names = [array.name for array in parsed.arrays]
    assert len(names) == len(set(names))
    assert all(name and name.isprintable() and "/" not in name for name in names)
    assert all(problem.isprintable() for problem in parsed.problems)


@TRIES
@given(st.data())
def test_damaged_capture_never_raises(data: st.DataObject) -> None:
    lines = capture_text(data.draw(st.sampled_from(ALL_CAPTURES))).split("\n")
    parsed = parse_mdstat("\n".join(data.draw(damaged(lines))))
    assert len({array.name for array in parsed.arrays}) == len(parsed.arrays)


@TRIES
@given(st.text(), st.lists(_BROKEN_TEXT))
def test_parse_array_raises_only_its_own(name: str, lines: list[str]) -> None:
    with contextlib.suppress(MdstatError):
        assert parse_array(name, lines).name == name


@TRIES
@given(st.data())
def test_one_odd_array_never_hides_the_others(data: st.DataObject) -> None:
    """Every intact array is there, whole and in order, whatever became of the one among them."""
    forms = data.draw(st.lists(st.sampled_from(sorted(FORMS)), min_size=2, max_size=4))
    blocks: list[list[str]] = []
    for index, form in enumerate(forms):
        for place, line in enumerate(FORMS[form][0]):
            if line[:1] not in {" ", ""}:
                blocks.append([])
                line = f"md_{index}_{place}_name : " + line.partition(" : ")[2]  # noqa: PLW2901
            blocks[-1].append(line)
    victim = data.draw(st.integers(0, len(blocks) - 1))
    whole = [record(parse_mdstat("\n".join(block)).arrays[0]) for block in blocks]
    intact = whole[:victim] + whole[victim + 1 :]
    blocks[victim] = data.draw(damaged(blocks[victim]))
    names = {each["name"] for each in intact}
    parsed = parse_mdstat("\n".join(line for block in blocks for line in block))
    assert [record(array) for array in parsed.arrays if array.name in names] == intact
    assert len(parsed.arrays) <= len(whole) + 1


@TRIES
@given(_BROKEN_TEXT)
def test_parse_export_raises_only_its_own(text: str) -> None:
    with contextlib.suppress(MdadmError):
        values = parse_export(text)
        assert all(key.isascii() for key in values)


@TRIES
@given(
    st.dictionaries(
        st.from_regex(r"[A-Z][A-Z0-9_]{0,20}", fullmatch=True), st.text().filter(lambda t: "\n" not in t)
    )
)
def test_export_is_read_back(values: dict[str, str]) -> None:
    text = "".join(f"{key}={value}\n" for key, value in values.items())
    assert parse_export(text) == values
    assert parse_udev_entry("".join(f"E:{line}\n" for line in text.split("\n") if line)).properties == values


_HOST = host_tree(
    raid10(failed=("sdb",), spares=("sde",), replacements={"sdf": 0}, bitmap=(1, 1)),
    raid5(
        "md3",
        "five",
        members=("sdg1", "sdh1", "sdi1"),
        rebuilding=("sdi1",),
        sync=Syncing(action="recover", done_kib=5),
    ),
    raid6(journal="nvme0n1", sync=Syncing(action="check", done_kib=10_000)),
    raid1(frozen=True, resync_start="0"),
    raid0(),
    inactive(raid1("md9", "old", members=("sdy", "sdz"))),
    container("md8", members=("sdw", "sdx")),
    mounts={"md127": "/srv"},
    swaps=("md123",),
    holders={"md126": ("dm-0=vg-lv",)},
    io={"sda": range(10)},
    mdadm=True,
)
_ODD = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"",
            b"\n",
            b"-1",
            b"4 (3)",
            b"()",
            b"none",
            b"in_sync,,faulty",
            b",",
            b"9" * 5000,
            "²".encode(),
            b"\xff\xfe",
            b"\0",
            b"-",
            b"exit \xc2\xb2\nMD_NAME=x",
            b"nan",
            b"1e999",
            b"external:/",
            b"external:-",
            b"E:MD_DEVICES=\xc2\xb2",
            b"36 35 98:0 /a /b rw - x y z",
            b"E:MD_UUID=" + b"0" * 32,
            b"../../x",
            b"131071",
            b"-5",
        ]
    ),
)


def _everything_that_looks_at(old: Snapshot, new: Snapshot) -> None:
    history = SampleHistory()
    history.add(old)
    history.add(new)
    findings = judge(new)
    diff(old, new, judge(old), findings)
    assert exit_status(new, healths_of(new, findings).values()) in {0, 1, 2, 3}
    assert interval_s(new) > 0
    for array in new.arrays:
        history.estimate(array)
        held_back_by(array, new, history.track(array), history.loads())
        loss_sentence(array.level, array.layout, array.raid_disks or 0, array.missing_slots or ())


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_sample_never_raises(data: st.DataObject) -> None:
    """Any bytes in any file, before the first sample and between two."""
    stage = Stage(_HOST)
    sampler = stage.sampler()
    before = sampler.sample()
    assert len(before.arrays) == 7
    paths = data.draw(st.lists(st.sampled_from(sorted(_HOST.files)), max_size=40, unique=True))
    odd = data.draw(st.lists(_ODD, min_size=1, max_size=6))
    for index, path in enumerate(paths):
        stage.put(path, odd[index % len(odd)])
    stage.passed_s += 1
    after = sampler.sample()
    _everything_that_looks_at(before, after)
    fresh = stage.sampler().sample()
    _everything_that_looks_at(after, fresh)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(["chunk_size", "raid_disks", "reshape_position", "level", "layout"]), _ODD)
@example("chunk_size", b"100")
def test_an_odd_array_whose_reshape_waits_hides_no_other(name: str, odd: bytes) -> None:
    """Where it stands is computed from what sysfs says."""
    grows = raid5("md3", "grows", members=("sdg1", "sdh1", "sdi1"), reshape_position="36864")
    stage = Stage(host_tree(grows, raid1("md9", "other", frozen=True, resync_start="0")))
    stage.put(f"/sys/class/block/md3/md/{name}", odd)
    snapshot = stage.sampler().sample()
    assert len(snapshot.arrays) == 2
    assert any(finding.name == "other" for finding in judge(snapshot))


@settings(max_examples=25, deadline=None)
@given(_ODD)
def test_the_same_in_every_file(odd: bytes) -> None:
    stage = Stage(Tree(files={}, links={}))
    for path in _HOST.files:
        stage.put(path, odd)
    stage.put("/proc/mdstat", _HOST.files["/proc/mdstat"])
    snapshot = stage.sampler().sample()
    assert [array.name for array in snapshot.arrays] == [
        "md127",
        "md3",
        "md124",
        "md126",
        "md123",
        "md9",
        "md8",
    ]
    _everything_that_looks_at(snapshot, snapshot)


@TRIES
@given(st.text())
def test_no_name_makes_a_real_folder_raise(name: str) -> None:
    root = FolderReader("/nonexistent")
    assert root.text(f"/{name}") is None
    assert root.names(f"/{name}") == ()
    assert root.link(f"/{name}") is None


@TRIES
@given(_BROKEN_TEXT, _BROKEN_TEXT)
def test_tables_of_mounts_and_swap_never_raise(mounts: str, swaps: str) -> None:
    tables = UsageTables(mounts, swaps)
    assert tables.mounts("nothing:there", ()) == []
    assert not tables.is_swap(("",))
