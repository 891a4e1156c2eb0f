"""mdadm.conf: one array's line changes, everything else stays; then the initramfs."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import PutFile, RunTool
from raidtui.plans.persist import (
    array_line,
    conf_freed,
    conf_steps,
    conf_with,
    fact_line,
    file_steps,
    ignored,
    kept_words,
    own_lines,
)
from tests.plans.running import OTHER, host

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
    return Fact(kind=FactKind.DIGEST, subject=path, value=value)


def test_the_line() -> None:
    assert array_line(uuid=UUID, link="/dev/md/new", metadata="1.2") == LINE


def without_own(text: str) -> str:
    """Return mdadm.conf without the lines of the array."""
    own = own_lines(text, UUID)
    return "\n".join(line for index, line in enumerate(text.split("\n")) if index not in own)


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
            f"ARRAY a # first\n# mine\n\n  # too\n  UUID={UUID}  # last \nMAILADDR root\n",
            f"{LINE} # first\n# mine\n\n  # too\n  # last \nMAILADDR root\n",
            "# mine\n\n  # too\nMAILADDR root\n",
        ),
        (f"  ARRAY a UUID={UUID}\n", f"{LINE}\n", ""),  # nothing before it that it could continue with
        (f"# ARRAY a UUID={UUID}\n", f"# ARRAY a UUID={UUID}\n{LINE}\n", f"# ARRAY a UUID={UUID}\n"),
        (f"{ELSE} # UUID={UUID}\n", f"{ELSE} # UUID={UUID}\n{LINE}\n", f"{ELSE} # UUID={UUID}\n"),
        (f"ARRAY # UUID={UUID}\n", f"ARRAY # UUID={UUID}\n{LINE}\n", f"ARRAY # UUID={UUID}\n"),
        (f"DEVICE UUID={UUID}\n", f"DEVICE UUID={UUID}\n{LINE}\n", f"DEVICE UUID={UUID}\n"),
        (f"ARRAY a name=\xa0x UUID={UUID}\n", f"{LINE}\n", ""),
    ],
)
def test_lines(old: str, new: str, without: str) -> None:
    assert conf_with(old, uuid=UUID, line=LINE) == new
    assert without_own(old) == without


@given(CONFS)
def test_what_is_not_this_array_s_stays(text: str) -> None:
    """Lines are gone only if they, or the entry that they continue, name the UUID."""
    lines, kept = text.split("\n"), without_own(text).split("\n")
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
    own = own_lines(once, UUID)
    [place] = own
    line = once.split("\n")[place]
    assert line == LINE or line.startswith(f"{LINE} #")


@given(CONFS)
def test_the_line_goes_as_it_came(text: str) -> None:
    bare = without_own(text)
    assert without_own(bare) == bare
    with_it = conf_with(text, uuid=UUID, line=LINE)
    without = without_own(with_it)
    assert LINE not in without.split("\n")
    if not own_lines(text, UUID):
        assert without.rstrip("\n") == (bare.rstrip("\n") if bare.strip() else "")


MORE = (
    f"ARRAY /dev/md/old level=raid1 metadata=1.2 name='nas:old' UUID={UUID} spare-group='a b'\n"
    "  num-devices=2 devices=/dev/sd[ab],/dev/disk/by-id/* Spares=1 # mine\n"
)
MAIL = "MAILADDR root # not theirs\n"


@pytest.mark.parametrize(
    ("same", "name", "words"),
    [
        (
            True,
            "nas:new",
            (
                "level=raid1",
                "name=nas:new",
                "spare-group='a b'",
                "num-devices=2",
                "devices=/dev/sd[ab],/dev/disk/by-id/*",
                "Spares=1",
            ),
        ),
        (False, "nas:new", ("name=nas:new", "spare-group='a b'", "Spares=1")),
        (False, "", ("name='nas:old'", "spare-group='a b'", "Spares=1")),
    ],
)
def test_words_that_still_hold(name: str, words: tuple[str, ...], *, same: bool) -> None:
    assert kept_words(MAIL + MORE, uuid=UUID, name=name, same=same) == words
    assert kept_words(MAIL + MORE, uuid=OTHER, name=name, same=same) == ()


def test_words_of_several_lines_are_put_together() -> None:
    text = f"ARRAY a UUID={UUID} spares=1\n{ELSE}\nARRAY b UUID={UUID} spares=2 spare-group=g\n"
    assert kept_words(text, uuid=UUID) == ("spares=1", "spare-group=g")


@pytest.mark.parametrize("same", [True, False])
def test_a_line_with_more_words(*, same: bool) -> None:
    survey = host(texts={CONF: f"{MAIL}{MORE}{ELSE}\n"})
    (step,) = conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2", same=same)
    words = kept_words(MORE, uuid=UUID, name="nas:new", same=same)
    line = array_line(uuid=UUID, link="/dev/md/new", metadata="1.2", more=words)
    assert step.content == f"{MAIL}{line}\n  # mine\n{ELSE}\n"
    assert step.proves == (fact_line(survey, line),)
    assert survey.homehost == "nas"


def test_what_is_proved_is_the_whole_line() -> None:
    survey = host(texts={CONF: f"ARRAY a # mine\n  UUID={UUID}\n"})
    (step,) = conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2")
    assert step.content == f"{LINE} # mine\n"
    assert step.proves == (fact_line(survey, f"{LINE} # mine"),)


def test_an_array_that_is_not_assembled_by_itself() -> None:
    text = f"ARRAY <ignore> UUID={UUID}\n"
    assert ignored(text, uuid=UUID)
    assert not ignored(text, uuid=OTHER)
    survey = host(texts={CONF: text})
    again = {
        same: conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2", same=same)
        for same in (True, False)
    }
    assert again[True][0].content == f"ARRAY <ignore> metadata=1.2 UUID={UUID}\n"
    assert again[False][0].content == f"{LINE}\n"


def test_whose_lines_they_are() -> None:
    text = f"MAILADDR root\nARRAY a\n# mine\n  UUID={UUID}\n{ELSE}"
    assert own_lines(text, UUID) == {1, 3}
    assert own_lines(text, "") == frozenset()


def test_steps() -> None:
    old, new = f"{ELSE}\n", f"{ELSE}\n{LINE}\n"
    survey = host(texts={CONF: old}, initramfs=INITRAMFS)
    again = RunTool(argv=INITRAMFS, why="the initramfs has a copy of mdadm.conf", timeout_s=900.0)
    assert conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2") == (
        PutFile(
            path=CONF,
            content=new,
            why="the array's name at boot",
            needs=(digest(CONF, old),),
            proves=(Fact(kind=FactKind.LINE, subject=CONF, value=LINE),),
            undo=(
                PutFile(path=CONF, content=old, why=f"restores {CONF}", proves=(digest(CONF, old),)),
                again,
            ),
        ),
        again,
    )


def test_steps_without_a_file_and_an_initramfs() -> None:
    path = "/etc/mdadm.conf"
    survey = host(conf_path=path, texts={CONF: f"{LINE}\n"})
    (step,) = conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2")
    assert step == PutFile(
        path=path,
        content=f"{LINE}\n",
        why="the array's name at boot",
        needs=(digest(path, None),),
        proves=(fact_line(survey, LINE),),
        undo=(
            RunTool(
                argv=("rm", "--force", "--", path), why=f"{path} did not exist", proves=(digest(path, None),)
            ),
        ),
    )


def test_no_steps_where_the_line_is_there() -> None:
    survey = host(texts={CONF: f"{LINE}\n{ELSE}\n"}, initramfs=INITRAMFS)
    assert conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2") == ()


def test_another_file() -> None:
    survey = host(texts={"/etc/fstab": "old ä\xff\n"}, initramfs=INITRAMFS)
    assert file_steps(survey, "/etc/fstab", "new ä\xff\n", why="because", initramfs=False) == (
        PutFile(
            path="/etc/fstab",
            content="new ä\xff\n",
            why="because",
            needs=(digest("/etc/fstab", "old ä\xff\n"),),
            proves=(digest("/etc/fstab", "new ä\xff\n"),),
            undo=(
                PutFile(
                    path="/etc/fstab",
                    content="old ä\xff\n",
                    why="restores /etc/fstab",
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
