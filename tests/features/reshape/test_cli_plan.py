"""``raidtui plan grow|convert|shrink|journal``: the words reach the planner, and places are looked at."""

from __future__ import annotations

import pytest

from raidtui.app.cli import build_parser
from raidtui.app.commands.plan import make_plan
from raidtui.features.reshape.cli_plan import VERBS
from raidtui.host.mounts import MOUNTINFO
from raidtui.host.tools import output_path
from raidtui.model.plan import Plan, Refusal
from raidtui.watch.storage import scope_of
from tests.command.host import Host, opens
from tests.hosts.trees import raid10

MEMBERS = ("sda", "sdb", "sdc", "sdd")
EXAMINED = """\
exit 0
          Magic : a92b4efc
        Version : 1.2
     Array UUID : {uuid}
    Data Offset : 264192 sectors
   Super Offset : 8 sectors
   Unused Space : before={before} sectors, after={after} sectors
"""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    return with_room(opens(monkeypatch, Host()), before=262064, after=8192)


def with_room(host: Host, *, before: int, after: int) -> Host:
    """Let the members of data have so much room, in sectors."""
    for name in MEMBERS:
        text = EXAMINED.format(uuid=raid10().array_uuid, before=before, after=after)
        host.examined(name, MD_UUID=raid10().array_uuid)
        host.put(output_path(("mdadm", "--examine", f"/dev/{name}")), text)
    return host


def made(host: Host, words: str) -> Plan | Refusal:
    return make_plan(host, build_parser().parse_args(["plan", *words.split()]))


def calls(host: Host, words: str) -> list[str]:
    found = made(host, words)
    assert isinstance(found, Plan), found.sentence
    return [step.command for step in found.steps if not step.waits]


GROW = "mdadm --grow /dev/md127"
LEAVING = [
    command
    for name in ("sdb", "sdd")
    for command in (
        f"mdadm --manage /dev/md127 --fail /dev/{name}",
        f"mdadm --manage /dev/md127 --remove /dev/{name}",
        f"mdadm --zero-superblock /dev/{name}",
    )
]
ADD = "mdadm --manage /dev/md127 --add-spare /dev/sdo"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("grow data --add sdo", [ADD, f"{GROW} --raid-devices=5"]),
        ("grow data --devices 5 --add /dev/sdo", [ADD, f"{GROW} --raid-devices=5"]),
        ("grow data --size=max", [f"{GROW} --size=max"]),
        (
            "grow data --larger sdo",
            [
                ADD,
                "mdadm --manage /dev/md127 --replace /dev/sda --with /dev/sdo",
                "mdadm --manage /dev/md127 --remove /dev/sda",
                "mdadm --zero-superblock /dev/sda",
                f"{GROW} --size=max",
            ],
        ),
        ("convert data --level=0", [*LEAVING, f"{GROW} --level=0"]),
        ("convert data --level raid0", [*LEAVING, f"{GROW} --level=0"]),
        ("convert data --chunk=64", [f"{GROW} --chunk=64"]),
        ("grow-chunk data 64", [f"{GROW} --chunk=64"]),
    ],
)
def test_the_words_reach_the_planner(host: Host, words: str, expected: list[str]) -> None:
    assert calls(host, words) == expected


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "grow data --larger sdp --add sdo",
            "mdadm changes the size of each member and their number one after the other; make two plans",
        ),
        (
            "grow data --size=max --add sdo",
            "mdadm changes the size of each member and their number one after the other; make two plans",
        ),
        (
            "convert data --level=5",
            "md cannot make a raid5 of a raid10 while it runs; make a new array and copy",
        ),
        ("convert data", "data already has raid10"),
        (
            "shrink data --devices=5",
            "a raid10 of 4 devices cannot have 5; choose 2 to 3",
        ),
        (
            "shrink data --size=220200992",
            (
                "220200992 KiB of each member is not less than the 220200960 KiB in use;"
                " give a multiple of 32 KiB below 220200960 KiB"
            ),
        ),
        ("journal data --remove", "raid10 has no parity, so a journal would protect nothing"),
        ("journal data --policy=ppl", "raid10 has no parity, so a journal would protect nothing"),
        ("journal data --add sdo", "raid10 has no parity, so a journal would protect nothing"),
        (
            "grow data --add sdo --extend=vg/lv",
            "no active volume vg/lv is on data; name it as GROUP/VOLUME",
        ),
    ],
)
def test_refused(host: Host, words: str, sentence: str) -> None:
    found = made(host, words)
    assert isinstance(found, Refusal)
    assert found.sentence == sentence


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("backup", "it is not an absolute path"),
        ("/var/none/backup", "there is no folder /var/none"),
        ("/var/old", "it is there already"),
        ("/var/", "it is a folder"),
        ("/run/backup", "/run is in memory: after a crash the file would be gone"),
        ("/var/backup", ""),
        ("/backup", ""),
    ],
)
def test_where_a_backup_file_may_lie(host: Host, path: str, why: str) -> None:
    host.put("/var/old", "")
    host.put("/run/x", "")
    host.put(
        MOUNTINFO,
        "1 0 8:1 / / rw - ext4 /dev/sdx1 rw\n2 1 0:20 / /run rw - tmpfs tmpfs rw\n",
    )
    found = made(host, f"grow data --add sdo --backup-file={path}")
    if not why:
        assert isinstance(found, Plan), found.sentence
        return
    assert isinstance(found, Refusal)
    assert found.why == f"the backup file cannot be {path}: {why}"


def test_every_growing_verb_reads_the_members() -> None:
    """Room before and after the data is known from their superblocks alone."""
    for verb in VERBS.names:
        scope = scope_of(verb, None, ("sdo",))
        assert (verb, scope.closely, scope.parts) == (verb, ("sdo",), True)
