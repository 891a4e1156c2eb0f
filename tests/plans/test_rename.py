"""Rename: plans, what refers to the old name, and what is refused."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from raidtui.model.plan import Plan, Refusal
from raidtui.plans.rename import plan_rename
from tests.hosts.specs import ArraySpec, Syncing, inactive, raid1, raid10
from tests.plans.goldens import accepted, brief
from tests.plans.running import OTHER, first, host, planned

UUID = raid10().array_uuid
CONF = "/etc/mdadm/mdadm.conf"
INITRAMFS = ("dracut", "--force")
LONG = "x" * 28


def rename(*arrays: ArraySpec, to: str = "new", references: bool = False, **more: Any) -> Plan | Refusal:
    """The answer for the first array, some of whose fields are ``seen`` otherwise."""
    seen: dict[str, Any] = more.pop("seen", {})
    survey = host(*(arrays or (raid10(),)), **more)
    return plan_rename(survey, replace(first(survey), **seen), to, references=references)


FSTAB = "# /dev/md/data is here\n/dev/md/data\t/srv\text4\tdefaults 0 2\n/dev/md127p1 none swap"
CRYPTTAB = "secret /dev/md127 none luks\n\xc3\xa4 /dev/md/data\n"
TEXTS = {CONF: "", "/etc/fstab": FSTAB, "/etc/crypttab": CRYPTTAB}
OF_OTHERS = f"\tARRAY  /dev/md/other\xe4 UUID={OTHER}\r\n  name=nas:other  \n# ARRAY {UUID}\n"
GRUB = {"/etc/default/grub": "GRUB_CMDLINE_LINUX=root=/dev/md/data\n"}
HALVES = (raid1("md126", members=("sda", None)), raid1("md125", members=(None, "sdb")))
test_plans = accepted(
    {
        "rename": lambda: rename(texts={CONF: f"ARRAY /dev/md/data UUID={UUID}\n"}, initramfs=INITRAMFS),
        "to a number, the name of the host is too long": lambda: rename(to="007", homehost=LONG),
        # Its old name is no name: it comes back by its kernel name, and without a member that failed.
        "without a name and a configuration": lambda: rename(
            raid10(label="", uuid=UUID.replace(":", ""), failed=("sdb",))
        ),
        # The host before the old name comes back, too.
        "without a host": lambda: rename(homehost="", seen={"homehost": None}),
        # The initramfs has a copy of crypttab, too.
        "references": lambda: rename(references=True, texts=TEXTS, initramfs=INITRAMFS),
    }
)
test_plans_in_brief = accepted(
    {
        # A line whose name= is another one keeps mdadm from assembling the array.
        "the name in its line": lambda: rename(
            texts={
                CONF: f"MAILADDR root\nARRAY /dev/md/data metadata=1.2 name=nas:data UUID={UUID}"
                " spares=1 # mine\n"
            }
        ),
        "references, only reported": lambda: rename(homehost=LONG, texts={**TEXTS, **GRUB}),
    },
    brief,
)
test_refused = accepted(
    {
        "refused: not root": lambda: rename(writable=False),
        "refused: a bad name": lambda: rename(to="a b"),
        "refused: its own name": lambda: rename(to="data"),
        "refused: inactive": lambda: rename(inactive(raid10())),
        "refused: metadata 0.90": lambda: rename(raid10(metadata="0.90")),
        "refused: metadata not known": lambda: rename(*HALVES, seen={"metadata": None, "twin": False}),
        "refused: in a reshape": lambda: rename(
            raid10(sync=Syncing(action="reshape", done_kib=1), reshape_position="2")
        ),
        "refused: another's name": lambda: rename(raid10(), raid1(), to="root"),
        "refused: another's number": lambda: rename(raid10(), raid1(), to="126"),
        "refused: mounted": lambda: rename(mounts={"md127": "/srv"}),
        "refused: held": lambda: rename(holders={"md127": ("dm-0=vg-lv",)}),
        "refused: swap": lambda: rename(swaps=("md127",)),
        "refused: half of a mirror": lambda: rename(*HALVES),
        "refused: no UUID": lambda: rename(*HALVES, seen={"uuid": None, "twin": False}),
    }
)


def test_to_its_own_number() -> None:
    assert planned(rename(to="127")).title == "rename: data → 127"


def test_other_arrays_lines_stay_byte_for_byte() -> None:
    own = f"array /dev/md/data\n  level=raid10\n  UUID={UUID.upper()}\nARRAY x UUID={UUID} spare-group=g\n"
    found = planned(rename(texts={CONF: OF_OTHERS + own + OF_OTHERS.lstrip("\t")}))
    line = f"ARRAY /dev/md/new metadata=1.2 UUID={UUID} level=raid10 spare-group=g\n"
    assert found.steps[2].content == OF_OTHERS + line + OF_OTHERS.lstrip("\t")


def test_a_file_that_does_not_name_it_stays() -> None:
    found = planned(rename(references=True, texts={"/etc/fstab": "UUID=1 / ext4\n"}))
    assert (found.notes, len(found.steps)) == ((), 3)
