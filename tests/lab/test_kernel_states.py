"""Every level and state that the real kernel shows, as `raidtui status --json` reports it."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.extent import later
from tests.lab.conftest import Laboratory
from tests.lab.guests.arrays import make_ram_disks
from tests.lab.guests.guest import Guest
from tests.lab.guests.uml import UmlGuest

DISKS, SIZE_MIB = 10, 16
MARK = "=-=-=-="
FLAGS = {"F": "faulty", "S": "spare", "R": "replacement", "J": "journal", "W": "write_mostly"}

# What a row's script has at hand. The array is /dev/md/t; its members are RAM disks, /dev/ram0 and so on.
PRELUDE = f"""\
export LC_ALL=C
exec 3>&1 >&2
finish() {{
    echo 0 >/sys/module/md_mod/parameters/start_ro
    echo 200000 >/proc/sys/dev/raid/speed_limit_max
    for array in /sys/block/md*; do
        [ -e $array/md/sync_action ] && echo idle >$array/md/sync_action
        mdadm --quiet --stop /dev/${{array##*/}}
    done
    echo 1000 >/proc/sys/dev/raid/speed_limit_min
    mdadm --quiet --zero-superblock /dev/ram{{0..{DISKS - 1}}}
}}
trap finish EXIT
await() {{  # a condition, for at most ten seconds
    local until=$((SECONDS + 10))
    until eval "$1"; do
        ((SECONDS > until)) && echo "it never came to be: $1" && cat /proc/mdstat && exit 9
        read -rt 0.02 <> <(:)
    done
}}
shows() {{ grep -q -- "$1" /proc/mdstat; }}
crawl() {{ echo 50 >/proc/sys/dev/raid/speed_limit_min; echo 50 >/proc/sys/dev/raid/speed_limit_max; }}
create() {{
    mdadm --create /dev/md/t --quiet --run --homehost=lab "$@" || exit 8
    udevadm settle
    md=$(readlink -f /dev/md/t)
    sys=/sys/block/${{md##*/}}/md
}}
clean() {{ create --assume-clean --bitmap=none "$@"; }}
mdo() {{ mdadm --quiet "$md" "$@" || exit 7; }}
break_it() {{ mdadm "$md" "$@"; }}  # the kernel fails the last ones and says "busy" all the same
"""
REPORT = f"""
udevadm settle
{sys.executable} -m raidtui status --json >&3
status=$?
echo {MARK} >&3
cat /proc/mdstat >&3
echo {MARK} >&3
mdadm --detail --export $md >&3
mdadm --detail $md >&3
exit $status
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One state: how it is made, and what must be reported of it.

    `members` are "name slot states", in the order of the slots, those without a slot last.
    """

    name: str
    make: str
    level: str | None
    layout: str | None = None
    health: str = "optimal"
    status: int = 0
    codes: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    sync: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


def up(*numbers: int) -> tuple[str, ...]:
    """RAM disks in sync, in their slots' order."""
    return tuple(f"ram{number} {slot} in_sync" for slot, number in enumerate(numbers))


LS = "left-symmetric"
DEGRADED: dict[str, Any] = {"health": "degraded", "status": 1, "codes": ("degraded",)}
FAILED: dict[str, Any] = {"health": "failed", "status": 2, "codes": ("failed",)}
FAIL_0 = "mdo --fail /dev/ram0"
FAULTY_0 = "ram0 - faulty"

LEVELS = (
    Row(name="raid0", make="create --level=0 -n2 /dev/ram{0,1}", level="raid0", members=up(0, 1)),
    Row(name="linear", make="create --level=linear -n2 /dev/ram{0,1}", level="linear", members=up(0, 1)),
    Row(name="raid1", make="clean --level=1 -n2 /dev/ram{0,1}", level="raid1", members=up(0, 1)),
    Row(name="raid4", make="clean --level=4 -n3 /dev/ram{0..2}", level="raid4", members=up(0, 1, 2)),
    Row(
        name="raid5", make="clean --level=5 -n3 /dev/ram{0..2}", level="raid5", layout=LS, members=up(0, 1, 2)
    ),
    Row(
        name="raid5 left-asymmetric",
        make="clean --level=5 --layout=la -n3 /dev/ram{0..2}",
        level="raid5",
        layout="left-asymmetric",
        members=up(0, 1, 2),
    ),
    Row(
        name="raid6",
        make="clean --level=6 -n4 /dev/ram{0..3}",
        level="raid6",
        layout=LS,
        members=up(0, 1, 2, 3),
    ),
    *(
        Row(
            name=f"raid10 {layout} on {disks}",
            make=f"clean --level=10 --layout={layout} -n{disks} /dev/ram{{0..{disks - 1}}}",
            level="raid10",
            layout=words,
            members=up(*range(disks)),
        )
        for layout, words in (("n2", "near=2"), ("f2", "far=2"), ("o2", "offset=2"))
        for disks in (4, 3)
    ),
    Row(
        name="raid10 n2 on 6",
        make="clean --level=10 --layout=n2 -n6 /dev/ram{0..5}",
        level="raid10",
        layout="near=2",
        members=up(0, 1, 2, 3, 4, 5),
        facts={"mirror sets": "ABABAB"},
    ),
    Row(
        name="raid10 n3 on 6",
        make="clean --level=10 --layout=n3 -n6 /dev/ram{0..5}",
        level="raid10",
        layout="near=3",
        members=up(0, 1, 2, 3, 4, 5),
        facts={"mirror sets": "ABCABC"},
    ),
    Row(
        name="raid10 n2 on 5",
        make="clean --level=10 --layout=n2 -n5 /dev/ram{0..4}",
        level="raid10",
        layout="near=2",
        members=up(0, 1, 2, 3, 4),
        facts={"mirror sets": ""},
    ),
    Row(
        name="raid10 n3 on 5",
        make="clean --level=10 --layout=n3 -n5 /dev/ram{0..4}",
        level="raid10",
        layout="near=3",
        members=up(0, 1, 2, 3, 4),
    ),
)
MISSING = (
    Row(
        name="raid1 degraded",
        make=f"clean --level=1 -n2 /dev/ram{{0,1}}; {FAIL_0}",
        level="raid1",
        members=("ram1 1 in_sync", FAULTY_0),
        **DEGRADED,
    ),
    Row(
        name="raid1 made with one missing",
        make="clean --level=1 -n2 /dev/ram0 missing",
        level="raid1",
        members=("ram0 0 in_sync",),
        **DEGRADED,
    ),
    Row(
        name="raid4 degraded",
        make=f"clean --level=4 -n3 /dev/ram{{0..2}}; {FAIL_0}",
        level="raid4",
        members=("ram1 1 in_sync", "ram2 2 in_sync", FAULTY_0),
        **DEGRADED,
    ),
    Row(
        name="raid5 degraded, the failed one removed",
        make=f"clean --level=5 -n3 /dev/ram{{0..2}}; {FAIL_0} --remove /dev/ram0",
        level="raid5",
        layout=LS,
        members=("ram1 1 in_sync", "ram2 2 in_sync"),
        **DEGRADED,
    ),
    Row(
        name="raid6 without two",
        make="clean --level=6 -n4 /dev/ram{0..3}; mdo --fail /dev/ram0 /dev/ram2",
        level="raid6",
        layout=LS,
        members=("ram1 1 in_sync", "ram3 3 in_sync", FAULTY_0, "ram2 - faulty"),
        **DEGRADED,
    ),
    *(
        Row(
            name=f"raid10 {layout} degraded",
            make=f"clean --level=10 --layout={layout} -n4 /dev/ram{{0..3}}; {FAIL_0}",
            level="raid10",
            layout=words,
            members=("ram1 1 in_sync", "ram2 2 in_sync", "ram3 3 in_sync", FAULTY_0),
            **DEGRADED,
        )
        for layout, words in (("n2", "near=2"), ("f2", "far=2"), ("o2", "offset=2"))
    ),
    Row(
        name="raid10 without two of different mirror sets",
        make="clean --level=10 --layout=n2 -n4 /dev/ram{0..3}; mdo --fail /dev/ram0 /dev/ram2",
        level="raid10",
        layout="near=2",
        members=("ram1 1 in_sync", "ram3 3 in_sync", FAULTY_0, "ram2 - faulty"),
        **DEGRADED,
    ),
    Row(
        name="raid10 without both of one mirror set",
        make="clean --level=10 --layout=n2 -n4 /dev/ram{0..3}\n"
        "echo 1 >$sys/fail_last_dev; break_it --fail /dev/ram0 /dev/ram1; await 'shows __UU'",
        level="raid10",
        layout="near=2",
        members=("ram1 1 faulty,blocked", "ram2 2 in_sync", "ram3 3 in_sync", FAULTY_0),
        **FAILED,
    ),
    Row(
        name="raid5 without two",
        make="clean --level=5 -n3 /dev/ram{0..2}; break_it --fail /dev/ram0 /dev/ram1; await 'shows __U'",
        level="raid5",
        layout=LS,
        members=("ram1 1 faulty,blocked", "ram2 2 in_sync", FAULTY_0),
        **FAILED,
    ),
    Row(
        name="raid6 without three",
        make="clean --level=6 -n4 /dev/ram{0..3}; break_it --fail /dev/ram{0..2}; await 'shows ___U'",
        level="raid6",
        layout=LS,
        members=("ram2 2 faulty,blocked", "ram3 3 in_sync", FAULTY_0, "ram1 - faulty"),
        **FAILED,
    ),
)
STATES = (
    Row(
        name="inactive",
        make="clean --level=5 -n3 /dev/ram{0..2}; mdadm -qS $md; mdadm -qI /dev/ram1",
        level="raid5",
        health="failed",
        status=2,
        codes=("inactive",),
        members=("ram1 - spare",),
        facts={"active": False, "raid_disks": 3, "array_state": "inactive"},
    ),
    Row(
        name="a mirror whose last member was to fail",
        make="clean --level=1 -n2 /dev/ram{0,1}\n"
        "mdo --fail /dev/ram0; break_it --fail /dev/ram1; mdo --remove /dev/ram0 --add /dev/ram0\n"
        "await 'shows UU && ! shows recovery'",
        level="raid1",
        health="failed",
        status=2,
        codes=("broken",),
        members=up(0, 1),
        facts={"array_state": "broken"},
    ),
    Row(
        name="auto-read-only",
        make="clean --level=1 -n2 /dev/ram{0,1}; mdadm -qS $md\n"
        "echo 1 >/sys/module/md_mod/parameters/start_ro; mdadm -qA /dev/md/t /dev/ram{0,1}",
        level="raid1",
        codes=("auto-read-only",),
        members=up(0, 1),
        facts={"read_only": "auto-read-only", "array_state": "read-auto"},
    ),
    Row(
        name="auto-read-only, a resync pending",
        make="crawl; create --bitmap=none --level=1 -n2 /dev/ram{0,1}; mdadm -qS $md\n"
        "echo 1 >/sys/module/md_mod/parameters/start_ro; mdadm -qA /dev/md/t /dev/ram{0,1}\n"
        "await 'shows PENDING'",
        level="raid1",
        codes=("pending", "auto-read-only"),
        members=up(0, 1),
        sync="resync pending",
        facts={"read_only": "auto-read-only"},
    ),
    Row(
        name="read-only",
        make="clean --level=5 -n3 /dev/ram{0..2}; mdadm -qo $md",
        level="raid5",
        layout=LS,
        codes=("read-only",),
        members=up(0, 1, 2),
        facts={"read_only": "read-only", "array_state": "readonly"},
    ),
    Row(
        name="journal",
        make="create --level=5 -n3 /dev/ram{0..2} --write-journal /dev/ram3; await '! shows resync'",
        level="raid5",
        layout=LS,
        members=(*up(0, 1, 2), "ram3 - journal"),
        facts={"consistency_policy": "journal"},
    ),
    Row(
        name="journal failed",
        make="create --level=5 -n3 /dev/ram{0..2} --write-journal /dev/ram3; await '! shows resync'\n"
        "mdo --fail /dev/ram3; await 'shows ram3.*F'",
        level="raid5",
        layout=LS,
        health="degraded",
        status=1,
        codes=("journal-missing",),
        members=(*up(0, 1, 2), "ram3 - faulty,journal"),
    ),
    Row(
        name="partial parity log",
        make="create --level=5 --consistency-policy=ppl --assume-clean -n3 /dev/ram{0..2}",
        level="raid5",
        layout=LS,
        members=up(0, 1, 2),
        facts={"consistency_policy": "ppl"},
    ),
    Row(
        name="two spares",
        make="clean --level=5 -n3 -x2 /dev/ram{0..4}",
        level="raid5",
        layout=LS,
        members=(*up(0, 1, 2), "ram3 - spare", "ram4 - spare"),
    ),
    Row(
        name="write-mostly",
        make="clean --level=1 -n2 /dev/ram0 --write-mostly /dev/ram1",
        level="raid1",
        members=("ram0 0 in_sync", "ram1 1 in_sync,write_mostly"),
    ),
    Row(
        name="a failed member beside full slots",
        make=f"clean --level=1 -n2 -x1 /dev/ram{{0..2}}; {FAIL_0}; await 'shows UU && ! shows recovery'",
        level="raid1",
        health="attention",
        status=1,
        codes=("member-faulty",),
        members=("ram2 0 in_sync", "ram1 1 in_sync", FAULTY_0),
    ),
    Row(
        name="recovery running",
        make=f"crawl; clean --level=5 -n3 -x1 /dev/ram{{0..3}}; {FAIL_0}; await 'shows recovery.*%'",
        level="raid5",
        layout=LS,
        members=("ram3 0 spare", "ram1 1 in_sync", "ram2 2 in_sync", FAULTY_0),
        sync="recover running",
        **DEGRADED,
    ),
    Row(
        name="replacement running",
        make="crawl; clean --level=1 -n2 -x1 /dev/ram{0..2}; mdo --replace /dev/ram1\n"
        "await 'shows recovery.*%'",
        level="raid1",
        members=("ram0 0 in_sync", "ram1 1 in_sync,want_replacement", "ram2 1 spare,replacement"),
        sync="recover running",
    ),
    Row(
        name="resync running",
        make="crawl; create --bitmap=none --level=10 --layout=n2 -n4 /dev/ram{0..3}; await 'shows resync.*%'",
        level="raid10",
        layout="near=2",
        members=up(0, 1, 2, 3),
        sync="resync running",
    ),
    Row(
        name="resync frozen",
        make="crawl; create --bitmap=none --level=1 -n2 /dev/ram{0,1}; await 'shows resync.*%'\n"
        "echo frozen >$sys/sync_action; await '! shows %'",
        level="raid1",
        health="degraded",
        status=1,
        codes=("frozen-with-work",),
        members=up(0, 1),
        sync="resync frozen",
    ),
    Row(
        name="frozen at rest",
        make="clean --level=1 -n2 /dev/ram{0,1}; echo frozen >$sys/sync_action",
        level="raid1",
        health="attention",
        status=1,
        codes=("frozen",),
        members=up(0, 1),
    ),
    Row(
        name="bitmap",
        make="create --assume-clean --bitmap=internal --level=1 -n2 /dev/ram{0,1}",
        level="raid1",
        members=up(0, 1),
        facts={"consistency_policy": "bitmap"},
    ),
    Row(
        name="check running",
        make="crawl; clean --level=5 -n3 /dev/ram{0..2}; echo check >$sys/sync_action\n"
        "await 'shows check.*%'",
        level="raid5",
        layout=LS,
        members=up(0, 1, 2),
        sync="check running",
    ),
    Row(
        name="repair running",
        make="crawl; clean --level=5 -n3 /dev/ram{0..2}; echo repair >$sys/sync_action\n"
        "await 'shows resync.*%'",
        level="raid5",
        layout=LS,
        members=up(0, 1, 2),
        sync="repair running",
    ),
    *(
        Row(
            name=f"{level} with mismatches",
            make=f"clean --level={level[4:]} -n3 /dev/ram{{0..2}}\n"
            "dd if=/dev/urandom of=/dev/ram1 bs=64k count=1 seek=160 oflag=direct status=none\n"
            "echo check >$sys/sync_action; await '[ $(<$sys/sync_action) = idle ]'",
            level=level,
            layout=layout,
            health=health,
            status=status,
            codes=("mismatches",),
            members=up(0, 1, 2),
            facts={"mismatch_count": 128},
        )
        for level, layout, health, status in (("raid1", None, "optimal", 0), ("raid5", LS, "attention", 1))
    ),
    Row(
        name="metadata 0.90",
        make="clean --metadata=0.90 --level=1 -n2 /dev/ram{0,1}",
        level="raid1",
        members=up(0, 1),
        facts={"metadata": "0.90"},
    ),
    Row(
        name="metadata 1.0",
        make="clean --metadata=1.0 --level=1 -n2 /dev/ram{0,1}",
        level="raid1",
        members=up(0, 1),
        facts={"metadata": "1.0"},
    ),
    Row(
        name="reshape running",
        make="clean --level=5 -n3 -x1 /dev/ram{0..3}; crawl\n"
        "mdadm -q --grow $md --raid-devices=4 --backup-file=/run/lab/backup; await 'shows reshape.*%'",
        level="raid5",
        layout=LS,
        members=up(0, 1, 2, 3),
        sync="reshape running",
    ),
    Row(
        name="RAID 0 that gets a device",
        make="create --level=0 --chunk=64 -n2 /dev/ram{0,1}; crawl\n"
        "mdadm -q --grow $md --raid-devices=3 --add /dev/ram2; await 'shows reshape.*%'",
        level="raid4",
        codes=("phantom-parity",),
        members=("ram0 0 in_sync", "ram1 1 in_sync", "ram2 2 spare"),
        sync="reshape running",
    ),
    Row(
        name="RAID 0 that becomes a RAID 5",
        make="create --level=0 --chunk=64 -n2 /dev/ram{0,1}; crawl\n"
        "mdadm -q --grow $md --level=5 --raid-devices=3 --add /dev/ram2; await 'shows reshape.*%'",
        level="raid5",
        layout="parity-last",
        codes=("parity-awaited",),
        members=("ram0 0 in_sync", "ram1 1 in_sync", "ram2 2 spare"),
        sync="reshape running",
    ),
    Row(
        name="reshape in place",
        make="clean --level=5 --data-offset=72K -n3 -x1 /dev/ram{0..3}; crawl\n"
        "mdadm -q --grow $md --raid-devices=4 --backup-file=/run/lab/backup2; await 'shows reshape.*%'\n"
        "mdadm -q --action=frozen $md; await '! shows %'",
        level="raid5",
        layout=LS,
        health="degraded",
        status=1,
        codes=("frozen-with-work",),
        members=up(0, 1, 2, 3),
        sync="reshape frozen",
    ),
)
ROWS = LEVELS + MISSING + STATES
ALWAYS = {
    *("raid10 n2 on 6", "raid10 without both of one mirror set", "inactive"),
    *("a mirror whose last member was to fail", "auto-read-only, a resync pending", "journal failed"),
    *("a failed member beside full slots", "replacement running", "resync frozen"),
    *("raid5 with mismatches", "RAID 0 that becomes a RAID 5", "reshape in place"),
}
"""States that no other test of the laboratory makes, and one of each kind; ``make whole`` makes all."""


@pytest.fixture(scope="module")
def bench(laboratory: Laboratory[UmlGuest]) -> Iterator[Guest]:
    """The guest with RAM disks; each row's script cleans up after itself."""
    machine = laboratory.guest()
    make_ram_disks(machine, DISKS, SIZE_MIB)
    yield machine
    if machine.alive:
        machine.reset()


@pytest.mark.parametrize(
    "row", [row if row.name in ALWAYS else later(row, id=row.name) for row in ROWS], ids=lambda row: row.name
)
def test_a_state_of_the_kernel(bench: Guest, row: Row) -> None:
    result = bench.run(f"{PRELUDE}{row.make}{REPORT}")
    text, mdstat, detail = [*result.stdout.split(MARK), "", ""][:3]
    assert mdstat, f"the state could not be made (status {result.status}):\n{result.output}"
    report = json.loads(text)
    assert len(report["arrays"]) == 1, mdstat
    array = report["arrays"][0]
    array["mirror sets"] = "".join(member["set"] or "" for member in array["members"])
    found = Row(
        name=row.name,
        make=row.make,
        level=array["level"],
        layout=array["layout"],
        health=array["health"],
        status=result.status,
        codes=tuple(finding["code"] for finding in report["findings"]),
        members=tuple(map(member_words, array["members"])),
        sync=None if array["sync"] is None else f"{array['sync']['action']} {array['sync']['phase']}",
        facts={name: array[name] for name in row.facts},
    )
    assert found == row, mdstat
    assert report["exit_status"] == result.status
    agree(array, mdstat)
    if array["active"]:
        agree_with_mdadm(array, detail)


def agree_with_mdadm(array: dict[str, Any], detail: str) -> None:
    """Demand UUID and mirror sets as ``mdadm --detail`` prints them."""
    (uuid,) = re.findall(r"^MD_UUID=(.+)$", detail, re.MULTILINE)
    assert array["uuid"] == uuid
    table = detail.partition("RaidDevice State")[2]
    rows = re.findall(r"^ +[0-9-]+ +[0-9]+ +[0-9]+ +([0-9]+) +(.+?) +/dev/\S+$", table, re.MULTILINE)
    letters = {int(slot): found[0] for slot, words in rows if (found := re.findall(r"set-([A-Z])", words))}
    serving = [
        each
        for each in array["members"]
        if {*each["state"].split(",")} & {"in_sync", "faulty"} == {"in_sync"}
    ]
    assert {member["slot"]: member["set"] for member in serving if member["set"]} == letters


def agree(array: dict[str, Any], mdstat: str) -> None:
    """Demand that the report says what /proc/mdstat says."""
    lines = mdstat.partition(f"\n{array['name']} : ")[2].split("\n\n")[0].split("\n")
    first, second, *others = lines
    state, *words = first.split()
    assert (state == "active") is array["active"]
    assert array["read_only"] == (words.pop(0).strip("()") if words[0].startswith("(") else None)
    if array["active"]:
        assert words.pop(0) == array["level"]
    flags = {word.partition("[")[0]: set(re.findall(r"\((\w)\)", word)) for word in words}
    states = {member["name"]: set(member["state"].split(",")) for member in array["members"]}
    assert flags.keys() == states.keys()
    for name, letters in flags.items():
        assert {FLAGS[letter] for letter in letters} <= states[name], name
        assert ("faulty" in states[name]) == ("F" in letters), name
    if array["active"]:
        assert array["size_bytes"] == int(second.split()[0]) * 1024
    if found := re.search(r"\[(\d+)/(\d+)\] \[([U_]+)\]", second):
        assert array["raid_disks"] == int(found[1]) == len(found[3])
        assert array["degraded"] == int(found[1]) - int(found[2])
        whole = {member["slot"] for member in array["members"] if "in_sync" in member["state"]}
        assert {slot for slot, letter in enumerate(found[3]) if letter == "U"} == whole
    assert (array["bitmap"] is not None) == any("bitmap:" in line for line in others)
    if array["chunk_bytes"] and (found := re.search(r"(\d+)k chunk", second, re.IGNORECASE)):
        assert array["chunk_bytes"] == int(found[1]) * 1024
    if found := re.search(r"(resync|recovery|check|reshape) *= *[\d.]+% \((\d+)/(\d+)\)", mdstat):
        assert array["sync"]["phase"] == "running"
        assert array["sync"]["action"] in {
            found[1],
            {"recovery": "recover", "resync": "repair"}.get(found[1]),
        }
        assert array["sync"]["done_kib"] <= int(found[2])
        assert array["sync"]["total_kib"] == int(found[3])
    else:
        assert array["sync"] is None or array["sync"]["phase"] != "running"


def member_words(member: dict[str, Any]) -> str:
    """A member of the report as a row writes it."""
    slot = "-" if member["slot"] is None else member["slot"]
    return f"{member['name']} {slot} {member['state']}"
