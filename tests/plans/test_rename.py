"""Rename: every step whole, what refers to the old name, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.model.fact import FactKind
from raidtui.model.plan import Harm, Plan, RunTool, Step
from raidtui.model.survey import Survey
from raidtui.plans.persist import array_line, conf_steps, file_steps
from raidtui.plans.rename import plan_rename
from tests.hosts.specs import ArraySpec, Syncing, inactive, raid1, raid10
from tests.plans.running import OTHER, fact, first, host, planned, refused

UUID = raid10().array_uuid
CONF = "/etc/mdadm/mdadm.conf"
PATHS = ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
RUNNING = fact(FactKind.RUNNING, UUID)
GONE = fact(FactKind.GONE, UUID)
INITRAMFS = ("dracut", "--force")


def rename(survey: Survey, to: str = "new", **more: Any) -> Plan:
    return planned(plan_rename(survey, first(survey), to, **more))


def assemble(device: str, name: str, why: str, paths: tuple[str, ...] = PATHS, homehost: str = "nas") -> Step:
    names = (f"--name={name}", "--update=name", *((f"--homehost={homehost}",) if homehost else ()))
    return RunTool(
        argv=("mdadm", "--assemble", device, *names, f"--uuid={UUID}", *paths),
        why=why,
        proves=(RUNNING, fact(FactKind.NAME, UUID, name)),
    )


STOP = RunTool(
    argv=("mdadm", "--stop", "/dev/md127"),
    why="the name can be changed only while it is stopped",
    needs=(fact(FactKind.ARRAY, "md127", UUID), fact(FactKind.UNUSED, "md127")),
    proves=(GONE,),
    undo=(assemble("/dev/md/data", "data", "start it again under its old name"),),
)


def start(to: str, *needs: Any, homehost: str = "nas") -> Step:
    back = RunTool(argv=("mdadm", "--stop", f"/dev/md/{to}"), why="to restore the name", proves=(GONE,))
    step = assemble(f"/dev/md/{to}", to, "start it under its new name", homehost=homehost)
    return replace(step, needs=(GONE, *needs), undo=(back,))


def test_the_whole_plan() -> None:
    survey = host(raid10(), texts={CONF: f"ARRAY /dev/md/data UUID={UUID}\n"}, initramfs=INITRAMFS)
    line = array_line(uuid=UUID, link="/dev/md/new", metadata="1.2")
    conf = file_steps(
        survey, CONF, f"{line}\n", why="the array's name at boot", proves=(fact(FactKind.LINE, CONF, line),)
    )
    assert [step.argv for step in conf] == [(), INITRAMFS]
    assert rename(survey) == Plan(
        title="rename: data → new",
        subject="data",
        steps=(STOP, start("new"), *conf),
        harm=Harm.REDUCES,
        warning="The array is stopped for a moment. Whatever uses its old path must use the new one.",
        rolls_back=True,
        devices=("sda", "sdb", "sdc", "sdd"),
        arrays=("md127",),
    )


def test_to_a_number() -> None:
    survey = host(raid10(), homehost="x" * 28)
    found = rename(survey, "007")
    assert found.steps[:2] == (STOP, start("007", fact(FactKind.GONE, "md7"), homehost="x" * 28))
    assert found.notes == (
        f"{'x' * 28}:007 is longer than 31 bytes: the superblock stores it without the host name",
    )
    assert planned(plan_rename(survey, first(survey), "127")).title == "rename: data → 127"


def test_without_a_name_and_a_conf() -> None:
    """Its old name is no name: it comes back as it was, by its kernel name."""
    array = raid10(label="", uuid=UUID.replace(":", ""), failed=("sdb",))
    survey = host(array)
    found = rename(survey)
    assert found.title == "rename: md127 → new"
    left = ("/dev/sda", "/dev/sdc", "/dev/sdd")  # a member that failed is not given to mdadm
    back = RunTool(
        argv=("mdadm", "--assemble", "/dev/md127", f"--uuid={UUID}", *left),
        why="start it again under its old name",
        proves=(RUNNING,),
    )
    assert found.steps[0] == replace(STOP, undo=(back,))
    assert found.steps[1] == replace(start("new"), argv=assemble("/dev/md/new", "new", "", left).argv)
    assert found.steps[2:] == conf_steps(survey, uuid=UUID, link="/dev/md/new", metadata="1.2")
    assert found.steps[2].content == f"ARRAY /dev/md/new metadata=1.2 UUID={UUID}\n"


def test_the_host_before_the_old_name_comes_back_too() -> None:
    survey = host(raid10(), homehost="")
    stop, start = planned(plan_rename(survey, replace(first(survey), homehost=None), "new")).steps[:2]
    assert stop.undo == (
        assemble("/dev/md/data", "data", "start it again under its old name", homehost="<none>"),
    )
    assert start.argv == assemble("/dev/md/new", "new", "", homehost="").argv


def test_other_arrays_lines_stay_byte_for_byte() -> None:
    other = f"\tARRAY  /dev/md/other\xe4 UUID={OTHER}\r\n  name=nas:other  \n# ARRAY {UUID}\n"
    own = f"array /dev/md/data\n  level=raid10\n  UUID={UUID.upper()}\nARRAY x UUID={UUID} spare-group=g\n"
    found = rename(host(raid10(), texts={CONF: other + own + other.lstrip("\t")}))
    line = f"ARRAY /dev/md/new metadata=1.2 UUID={UUID} level=raid10 spare-group=g\n"
    assert found.steps[2].content == other + line + other.lstrip("\t")


def test_the_name_in_the_line_is_the_new_one() -> None:
    """A line whose name= is another one keeps mdadm from assembling the array."""
    text = f"MAILADDR root\nARRAY /dev/md/data metadata=1.2 name=nas:data UUID={UUID} spares=1 # mine\n"
    found = rename(host(raid10(), texts={CONF: text}))
    line = f"ARRAY /dev/md/new metadata=1.2 UUID={UUID} name=nas:new spares=1 # mine\n"
    assert found.steps[2].content == f"MAILADDR root\n{line}"


FSTAB = "# /dev/md/data is here\n/dev/md/data\t/srv\text4\tdefaults 0 2\n/dev/md127p1 none swap"
CHANGED = "# /dev/md/data is here\n/dev/md/new\t/srv\text4\tdefaults 0 2\n/dev/md/new1 none swap"
CRYPTTAB = "secret /dev/md127 none luks\n\xc3\xa4 /dev/md/data\n"
TEXTS = {CONF: "", "/etc/fstab": FSTAB, "/etc/crypttab": CRYPTTAB}


def test_references() -> None:
    """The initramfs has a copy of crypttab too."""
    survey = host(raid10(), texts=TEXTS, initramfs=INITRAMFS)
    found = rename(survey, references=True)
    why = "it names the old path"
    assert found.notes == ()
    assert found.steps[4:] == (
        *file_steps(survey, "/etc/fstab", CHANGED, why=why, initramfs=False),
        *file_steps(survey, "/etc/crypttab", "secret /dev/md/new none luks\n\xc3\xa4 /dev/md/new\n", why=why),
    )
    assert found.steps[-1].why == "the initramfs has a copy of crypttab"


def test_references_are_reported() -> None:
    grub = "GRUB_CMDLINE_LINUX=root=/dev/md/data\n"
    found = rename(host(raid10(), homehost="x" * 28, texts={**TEXTS, "/etc/default/grub": grub}))
    lines = (
        "/etc/fstab names the old path: /dev/md/data\t/srv\text4\tdefaults 0 2",
        "/etc/fstab names the old path: /dev/md127p1 none swap",
        "/etc/crypttab names the old path: secret /dev/md127 none luks",
        "/etc/crypttab names the old path: ä /dev/md/data",
    )
    reported = "/etc/default/grub, line 1 names the old path; change it by hand, then run update-grub."
    long = f"{'x' * 28}:new is longer than 31 bytes: the superblock stores it without the host name"
    assert found.notes == (
        *(f"{line} (with --references it is changed too)" for line in lines),
        reported,
        long,
    )
    assert len(found.steps) == 3
    assert rename(host(raid10(), texts={"/etc/fstab": "UUID=1 / ext4\n"}), references=True).notes == ()


@pytest.mark.parametrize(
    ("array", "to", "more", "sentence"),
    [
        (raid10(), "new", {"writable": False}, "needs root; run it as: sudo raidtui"),
        (
            raid10(),
            "a b",
            {},
            (
                "'a b' is not a valid array name; use 1 to 31 letters, digits, _ . or -, not beginning"
                " with . or"
                " -; three digits are best"
            ),
        ),
        (raid10(), "data", {}, "it is already named data"),
        (inactive(raid10()), "new", {}, "md127 is inactive; assemble it first"),
        (raid10(metadata="0.90"), "new", {}, "metadata 0.90 stores no name; only 1.x does"),
        (
            raid10(sync=Syncing(action="reshape", done_kib=1), reshape_position="2"),
            "new",
            {},
            "data is being reshaped; wait until that is done",
        ),
        (raid10(), "root", {}, "/dev/md126 is already named root; choose another name"),
        (raid10(), "126", {}, "md126 already exists; choose another number"),
        (
            raid10(),
            "new",
            {"mounts": {"md127": "/srv"}},
            "data is in use: ext4 mounted at /srv; unmount or release it first",
        ),
        (
            raid10(),
            "new",
            {"holders": {"md127": ("dm-0=vg-lv",)}},
            "data is in use: held by dm-0 (vg-lv); unmount or release it first",
        ),
        (raid10(), "new", {"swaps": ("md127",)}, "data is in use: swap in use; unmount or release it first"),
    ],
)
def test_refused(array: ArraySpec, to: str, more: dict[str, Any], sentence: str) -> None:
    survey = host(array, raid1(), **more)
    assert refused(plan_rename(survey, first(survey), to)) == sentence


def test_an_array_that_is_like_another() -> None:
    survey = host(raid1("md126", members=("sda", None)), raid1("md125", members=(None, "sdb")))
    why = "root cannot be distinguished from another array by its UUID"
    assert refused(plan_rename(survey, first(survey), "new")) == why
    unknown = replace(first(survey), uuid=None, twin=False)
    assert refused(plan_rename(survey, unknown, "new")) == why
    bare = replace(first(survey), metadata=None, twin=False)
    assert refused(plan_rename(survey, bare, "new")) == "metadata ? stores no name; only 1.x does"
