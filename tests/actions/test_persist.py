"""mdadm.conf: one array's line changes, everything else stays; then the initramfs."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.actions.persist import (
    array_line,
    conf_freed,
    conf_steps,
    conf_with,
    conf_without,
    fact_line,
    file_steps,
)
from raidtui.model.plan import Fact, Kind, Step
from tests.actions.running import OTHER, host

UUID = "01234567:89abcdef:01234567:89abcdef"
LINE = f"ARRAY /dev/md/new metadata=1.2 UUID={UUID}"
ELSE = f"ARRAY /dev/md/other UUID={OTHER} name=nas:other"
CONF = "/etc/mdadm/mdadm.conf"
INITRAMFS = ("update-initramfs", "-u", "-k", "all")

PIECES = (
    "ARRAY", "array", "arr", "DEVICE partitions", "MAILADDR root", "HOMEHOST <system>", "#", "# ARRAY", " ",
    "\t", "  # note", f"UUID={UUID}", f"uuid={UUID.upper()}", f"UUID={UUID.replace(':', '-')}",
    f"UUID={OTHER}", f"'UUID={UUID}'", f'name="a {UUID}"', "/dev/md/old", "name=nas:ä",
    "\xa0", "\x85", "\r", '"',
)  # fmt: skip
CONFS = st.lists(
    st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join) | st.text("aAr #='\"\t\xa0", max_size=8),
    max_size=8,
).map("\n".join)


def digest(path: str, text: str | None) -> Fact:
    value = "" if text is None else hashlib.sha256(text.encode("latin-1")).hexdigest()
    return Fact(kind=Kind.DIGEST, subject=path, value=value)


def test_the_line() -> None:
    assert array_line(uuid=UUID, link="/dev/md/new", metadata="1.2") == LINE


@pytest.mark.parametrize(
    ("old", "new", "without"),
    [
        ("", f"{LINE}\n", ""),
        ("\n", f"{LINE}\n", "\n"),
        ("MAILADDR root", f"MAILADDR root\n{LINE}\n", "MAILADDR root"),
        (f"{ELSE}\n\n", f"{ELSE}\n{LINE}\n", f"{ELSE}\n\n"),
        (f"{LINE}\n", f"{LINE}\n", ""),
        (
            f"#\nARRAY /dev/md/old UUID={UUID}\n{ELSE}\n",
            f"#\n{LINE}\n{ELSE}\n",
            f"#\n{ELSE}\n",
        ),
        (f"ARRAY /dev/md/old\n  level=raid1\n\tUUID={UUID}\n{ELSE}", f"{LINE}\n{ELSE}", ELSE),
        (f"{ELSE}\n  level=raid1\n", f"{ELSE}\n  level=raid1\n{LINE}\n", f"{ELSE}\n  level=raid1\n"),
        (  # several lines for one array: one is left, where the first was
            f"ARRAY a UUID={UUID}\n{ELSE}\nARRAY b UUID={UUID}\n  name=b\nMAILADDR root\n",
            f"{LINE}\n{ELSE}\nMAILADDR root\n",
            f"{ELSE}\nMAILADDR root\n",
        ),
        (f"array a uuid={UUID.upper()}\n", f"{LINE}\n", ""),
        (f"ARR a 'UUID={UUID}'\n", f"{LINE}\n", ""),
        (f'ARRAY a UUID="{UUID.replace(":", "-")}"\n', f"{LINE}\n", ""),
        (  # comments and empty lines do not end an entry, and are not lost with it
            f"ARRAY a\n# mine\n\n  # too\n  UUID={UUID} # last\nMAILADDR root\n",
            f"{LINE}\n# mine\n\n  # too\nMAILADDR root\n",
            "# mine\n\n  # too\nMAILADDR root\n",
        ),
        (f"  ARRAY a UUID={UUID}\n", f"{LINE}\n", ""),  # nothing before it that it could go on with
        (f"# ARRAY a UUID={UUID}\n", f"# ARRAY a UUID={UUID}\n{LINE}\n", f"# ARRAY a UUID={UUID}\n"),
        (f"{ELSE} # UUID={UUID}\n", f"{ELSE} # UUID={UUID}\n{LINE}\n", f"{ELSE} # UUID={UUID}\n"),
        (f"ARRAY # UUID={UUID}\n", f"ARRAY # UUID={UUID}\n{LINE}\n", f"ARRAY # UUID={UUID}\n"),
        (f"DEVICE UUID={UUID}\n", f"DEVICE UUID={UUID}\n{LINE}\n", f"DEVICE UUID={UUID}\n"),
        (f"ARRAY a name=\xa0x UUID={UUID}\n", f"{LINE}\n", ""),
    ],
)
def test_lines(old: str, new: str, without: str) -> None:
    assert conf_with(old, uuid=UUID, line=LINE) == new
    assert conf_without(old, uuid=UUID) == without


@given(CONFS)
def test_what_is_not_this_array_s_stays(text: str) -> None:
    """Lines are gone only if they, or the entry that they go on with, name the UUID."""
    lines, kept = text.split("\n"), conf_without(text, uuid=UUID).split("\n")
    rest = iter(lines)
    assert kept == [""] or all(line in rest for line in kept)  # some of the old ones, in their order
    for line in lines:
        starts = line[:1] not in {"", " ", "\t"}
        if starts and not line.lower().startswith("arr"):
            assert line in kept
        if line.lstrip(" \t")[:1] == "#":
            assert lines.count(line) == kept.count(line)
    if UUID.replace(":", "") not in text.lower().replace(":", "").replace("-", ""):
        assert kept == lines


@given(CONFS)
def test_twice_is_once(text: str) -> None:
    once = conf_with(text, uuid=UUID, line=LINE)
    assert conf_with(once, uuid=UUID, line=LINE) == once
    assert once.split("\n").count(LINE) == 1


@given(CONFS)
def test_the_line_goes_as_it_came(text: str) -> None:
    bare = conf_without(text, uuid=UUID)
    assert conf_without(bare, uuid=UUID) == bare
    without = conf_without(conf_with(text, uuid=UUID, line=LINE), uuid=UUID)
    assert LINE not in without.split("\n")
    assert without.rstrip("\n") == (bare.rstrip("\n") if bare.strip() else "")


def test_steps() -> None:
    old, new = f"{ELSE}\n", f"{ELSE}\n{LINE}\n"
    survey = host(texts={CONF: old}, initramfs=INITRAMFS)
    again = Step(argv=INITRAMFS, why="the initramfs has a copy of mdadm.conf", timeout_s=900.0)
    assert conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2") == (
        Step(
            path=CONF,
            content=new,
            why="the array's name at boot",
            needs=(digest(CONF, old),),
            proves=(Fact(kind=Kind.LINE, subject=CONF, value=LINE),),
            undo=(Step(path=CONF, content=old, why=f"{CONF} as it was", proves=(digest(CONF, old),)), again),
        ),
        again,
    )


def test_steps_without_a_file_and_an_initramfs() -> None:
    path = "/etc/mdadm.conf"
    survey = host(conf_path=path, texts={CONF: f"{LINE}\n"})
    (step,) = conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2")
    assert step == Step(
        path=path,
        content=f"{LINE}\n",
        why="the array's name at boot",
        needs=(digest(path, None),),
        proves=(fact_line(survey, LINE),),
        undo=(
            Step(
                argv=("rm", "--force", "--", path), why=f"{path} was not there", proves=(digest(path, None),)
            ),
        ),
    )


def test_no_steps_where_the_line_is_there() -> None:
    survey = host(texts={CONF: f"{LINE}\n{ELSE}\n"}, initramfs=INITRAMFS)
    assert conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2") == ()


def test_another_file() -> None:
    survey = host(texts={"/etc/fstab": "old ä\xff\n"}, initramfs=INITRAMFS)
    assert file_steps(survey, "/etc/fstab", "new ä\xff\n", why="because", initramfs=False) == (
        Step(
            path="/etc/fstab",
            content="new ä\xff\n",
            why="because",
            needs=(digest("/etc/fstab", "old ä\xff\n"),),
            proves=(digest("/etc/fstab", "new ä\xff\n"),),
            undo=(
                Step(
                    path="/etc/fstab",
                    content="old ä\xff\n",
                    why="/etc/fstab as it was",
                    proves=(digest("/etc/fstab", "old ä\xff\n"),),
                ),
            ),
        ),
    )


OTHER = "99999999:99999999:99999999:99999999"


def test_a_name_of_an_array_that_is_not_there_is_freed() -> None:
    freed = f"MAILADDR root\nARRAY /dev/md/1 UUID={OTHER}\n"
    text = f"ARRAY /dev/md/127 metadata=1.2 UUID={OTHER}\n  name=old\n{freed}"
    assert conf_freed(text, link="/dev/md/127", keep=frozenset()) == freed
    assert conf_freed(text, link="/dev/md/127", keep=frozenset({OTHER})) == text
    assert conf_freed(text, link="/dev/md/12", keep=frozenset()) == text
