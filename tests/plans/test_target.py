"""Names: good ones, taken ones, and which array a word means."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.snapshot import Snapshot
from raidtui.plans.target import find_array, long_name_note, refuse_name, refuse_taken, stored_name
from tests.hosts.specs import ArraySpec, raid1, raid10
from tests.plans.running import host

RULE = "use 1 to 31 letters, digits, _ . or -, not beginning with . or -; three digits are best"
SWAPPED = (raid10("md127", "126"), raid1("md126", "md127"))
DATA, ROOT = raid10().array_uuid, raid1().array_uuid


def snapshot(*arrays: ArraySpec) -> Snapshot:
    return host(*(arrays or (raid10(), raid1(), raid10("md9", "", members=("sdx", "sdy"))))).snapshot


@pytest.mark.parametrize("name", ["127", "a", "A.b-c_d", "0", "x" * 31, "_x"])
def test_good_names(name: str) -> None:
    assert refuse_name(name) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "the array needs a name"),
        *(
            (name, f"{name!r} is not a valid array name")
            for name in ("x" * 32, "-x", ".x", "a b", "a/b", "ä", "a\n", "²", "nas:a", "$(a)")
        ),
    ],
)
def test_bad_names(name: str, why: str) -> None:
    assert refuse_name(name) == Refusal(code=RefusalCode.INVALID, why=why, remedy=RULE)


def test_taken_names() -> None:
    found = snapshot()
    assert [refuse_taken(found, name) for name in ("free", "125", "md127")] == [None, None, None]
    assert refuse_taken(found, "data") == Refusal(
        code=RefusalCode.TAKEN, why="/dev/md127 is already named data", remedy="choose another name"
    )
    for name in ("127", "00127"):
        assert refuse_taken(found, name) == Refusal(
            code=RefusalCode.TAKEN, why="md127 already exists", remedy="choose another number"
        )
    assert refuse_taken(found, "127", DATA) is None


@pytest.mark.parametrize(
    ("homehost", "name", "stored", "noted"),
    [
        ("", "x" * 31, "x" * 31, False),
        ("<none>", "x" * 31, "x" * 31, False),
        ("nas", "x" * 27, f"nas:{'x' * 27}", False),
        ("nas", "x" * 28, "x" * 28, True),
    ],
)
def test_long_names(homehost: str, name: str, stored: str, *, noted: bool) -> None:
    note = f"nas:{name} is longer than 31 bytes: the superblock stores it without the host name"
    assert stored_name(homehost, name) == stored
    assert long_name_note(homehost, name) == ((note,) if noted else ())


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("data", "md127"),
        ("md126", "md126"),
        ("126", "md126"),
        ("/dev/md127", "md127"),
        ("/dev/md/root", "md126"),
        ("md9", "md9"),
        ("/dev/md9", "md9"),
        (DATA, "md127"),
        (ROOT[:8], "md126"),
        (ROOT[:13].upper(), "md126"),
    ],
)
def test_words_for_an_array(word: str, name: str) -> None:
    found = find_array(snapshot(), word)
    assert not isinstance(found, Refusal)
    assert found.name == name


def test_a_name_without_a_link() -> None:
    """Udev makes the link: the array has its name without it, too."""
    found = snapshot()
    array = replace(found.arrays[0], link=None)
    assert find_array(replace(found, arrays=(array,)), "/dev/md/data") == array


@pytest.mark.parametrize("word", ["", "None", "/dev/md/None", "/dev/md/", "dat", DATA[:7], "MD127"])
def test_words_for_no_array(word: str) -> None:
    """An array without a name is not called None."""
    known = Refusal(
        code=RefusalCode.NOT_FOUND, why=f"there is no array {word!r}", remedy="known arrays: data, root, md9"
    )
    assert find_array(snapshot(), word) == known


def test_no_arrays() -> None:
    empty = replace(snapshot(), arrays=())
    assert find_array(empty, "data") == Refusal(
        code=RefusalCode.NOT_FOUND, why="there is no array 'data'", remedy="known arrays: none"
    )


@pytest.mark.parametrize("word", ["126", "md127"])
def test_one_array_has_the_other_ones_name(word: str) -> None:
    """The wrong array must not be stopped because its name is thought of first."""
    uuids = [array.array_uuid for array in SWAPPED]
    why = f"{word} is ambiguous: /dev/md127 ({uuids[0]}), /dev/md126 ({uuids[1]})"
    found = snapshot(*SWAPPED)
    assert find_array(found, word) == Refusal(code=RefusalCode.AMBIGUOUS, why=why, remedy="give the path")
    for index, path in enumerate(("/dev/md127", "/dev/md126")):
        assert find_array(found, path) == found.arrays[index]
        assert find_array(found, uuids[index]) == found.arrays[index]


def test_halves_of_a_mirror_that_came_apart() -> None:
    halves = (raid1("md126", members=("sda", None)), raid1("md125", members=(None, "sdb")))
    found = snapshot(*halves)
    why = f"root is ambiguous: /dev/md126 ({ROOT}), /dev/md125 ({ROOT})"
    assert find_array(found, "root") == Refusal(code=RefusalCode.AMBIGUOUS, why=why, remedy="give the path")
    assert find_array(found, ROOT) == Refusal(
        code=RefusalCode.AMBIGUOUS, why=why.replace("root", ROOT, 1), remedy="give the path"
    )
    assert find_array(found, "/dev/md125") == found.arrays[1]
