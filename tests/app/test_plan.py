"""``raidtui plan``: the words reach the planner, and nothing but the plan is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import raidtui
from raidtui.app.cli import build_parser, run
from raidtui.app.commands.plan import make_plan
from raidtui.command.device_names import kernel_name
from raidtui.host.tools import output_path
from raidtui.jobs.plan_file import load_plan
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.plans.create.create_request import CreateRequest, OnTop
from tests.command.host import OLD, Host, opens
from tests.hosts.trees import host_tree, raid1, raid10
from tests.places import HOUSE

DATA = raid10().array_uuid
UUID = "01234567:89abcdef:01234567:89abcdef"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr("raidtui.app.commands.plan.new_uuid", lambda: UUID)
    monkeypatch.setattr("raidtui.app.commands.plan.new_file_system_uuid", lambda: "made-up")
    monkeypatch.setattr("raidtui.command.plan_output.time.time", lambda: 1.5)
    return opens(monkeypatch, Host())


def commands(host: Host, *words: str) -> list[str]:
    """Return the commands of the plan that these words make."""
    plan = make_plan(host, build_parser().parse_args(["plan", *words]))
    assert not isinstance(plan, Refusal), plan.sentence
    return [step.command for step in plan.steps]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("stop data", "mdadm --stop /dev/md127"),
        ("check /dev/md127", "echo check > /sys/class/block/md127/md/sync_action"),
        ("fail 127 sdb", "mdadm --manage /dev/md127 --fail /dev/sdb"),
        ("remove root /dev/sdf", "mdadm --manage /dev/md126 --remove /dev/sdf"),
        ("add logs sdo", "mdadm --manage /dev/md125 --add /dev/sdo"),
        ("re-add logs sdn", "mdadm --manage /dev/md125 --re-add /dev/sdn"),
        ("replace data sda --with /dev/sdo", "mdadm --manage /dev/md127 --replace /dev/sda --with /dev/sdo"),
        ("zero-superblock sdk", "mdadm --zero-superblock /dev/sdk"),
        ("repair data", "echo repair > /sys/class/block/md127/md/sync_action"),
        ("read-only data", "mdadm --readonly /dev/md127"),
        ("bitmap data internal", "mdadm --grow /dev/md127 --bitmap=internal"),
        ("locate sdo", "ledctl --listed-only locate=/dev/sdo"),
        ("locate sdo --off", "ledctl --listed-only locate_off=/dev/sdo"),
        ("add logs sdk --destroy old", "mdadm --manage /dev/md125 --add /dev/sdk"),
        (
            "replace data sda --with sdk --destroy=old",
            "mdadm --manage /dev/md127 --replace /dev/sda --with /dev/sdk",
        ),
        ("assemble sdk sdl", f"mdadm --assemble /dev/md/old --uuid={OLD} /dev/sdk /dev/sdl"),
        (
            "assemble /dev/sdl --run --read-only",
            f"mdadm --assemble /dev/md/old --uuid={OLD} --run --readonly /dev/sdl",
        ),
    ],
)
def test_the_words_reach_the_planner(host: Host, words: str, expected: str) -> None:
    found = commands(host, *words.split())
    assert next(command for command in reversed(found) if not command.startswith("wait ")) == expected


def test_rename(host: Host) -> None:
    host.put("/etc/fstab", "/dev/md/data /srv ext4 defaults 0 2\n")
    found = commands(host, "rename", DATA, "--to=128")
    assert any(" --name=128 --update=name " in command for command in found)
    assert "write /etc/fstab" not in found
    assert commands(host, "rename", DATA, "--to=128", "--references")[-1] == "write /etc/fstab"


def test_create(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[CreateRequest] = []

    def plan_create(request: CreateRequest, survey: Any) -> Refusal:
        assert set(survey.devices) >= {"sdi1", "sdj1", "sdk", "sdl"}
        asked.append(request)
        return Refusal(code=RefusalCode.INVALID, why="enough")

    monkeypatch.setattr("raidtui.app.commands.plan.plan_create", plan_create)
    host.links["/dev/disk/by-id/ata-1"] = "../../sdi1"
    options = "--name=128 --level=raid1 --layout=n2 --chunk=64 --bitmap=none --consistency-policy=resync"
    more = "--metadata=1.0 --spare=sdk --spare=/dev/sdl --failfast --assume-clean --size=1024"
    top = "--lvm=vg0/home --filesystem=ext4 --mount=/home --write-mostly=sdi1"
    top += " --pv=/dev/md125 --stripes=2 --stripe-size=128 --trim-weekly --destroy=old --write-journal=sdo"
    words = f"plan create {options} {more} {top} /dev/disk/by-id/ata-1 missing /dev/sdj1"
    assert run(words.split()) == 2
    assert run(["plan", "create", "--name=128", "--level=10", *("sdi1", "sdj1", "sdk", "sdl")]) == 2
    assert asked == [
        CreateRequest(
            uuid=UUID,
            name="128",
            level="raid1",
            devices=("sdi1", "missing", "sdj1"),
            layout="n2",
            chunk_kib=64,
            bitmap="none",
            consistency_policy="resync",
            metadata="1.0",
            spares=("sdk", "sdl"),
            write_mostly=("sdi1",),
            failfast=True,
            assume_clean=True,
            size_kib=1024,
            on_top=OnTop(
                file_system="ext4",
                mount="/home",
                group="vg0",
                volume="home",
                uuid="made-up",
                others=("md125",),
                stripes=2,
                stripe_kib=128,
                trim_weekly=True,
            ),
            journal="sdo",
            destroys=("old",),
        ),
        CreateRequest(
            uuid=UUID,
            name="128",
            level="10",
            devices=("sdi1", "sdj1", "sdk", "sdl"),
            on_top=OnTop(uuid="made-up"),
        ),
    ]


def test_a_hole_is_a_new_arrays_alone(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    for words, why in (
        ("assemble missing", "there is no device missing"),
        ("add logs missing", "there is no device missing"),
        ("zero-superblock missing", "there is no device missing"),
    ):
        assert run(["plan", *words.split()]) == 2
        assert capsys.readouterr() == ("", f"raidtui: not possible: {why}\n")


@pytest.mark.parametrize("form", [[], ["--json"], ["--sh"]])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("stop 99", "there is no array '99'; known arrays: data, root, logs"),
        ("fail data sdz", "sdz is not a member of data"),
        ("remove data sda", "sda is in service; replace it, or fail it first"),
        ("rename data --to=root", "/dev/md126 is already named root; choose another name"),
        ("add data sde", "sde is a member of root; choose a free device"),
        ("re-add logs sdo", "sdo was not a member of logs; add it"),
        (
            "assemble sdk",
            (
                "old has 2 members, and only 1 of those given is up to date; name all of them, or start it"
                " degraded with --run"
            ),
        ),
        ("zero-superblock sdi1", "sdi1 has no md superblock"),
        ("create --name=128 --level=raid1 sda sdi1", "sda is a member of data; choose a free device"),
    ],
)
def test_refused(
    host: Host, capsys: pytest.CaptureFixture[str], words: str, sentence: str, form: list[str]
) -> None:
    assert run(["plan", *words.split(), *form]) == 2
    reported = capsys.readouterr()
    assert reported.err == f"raidtui: not possible: {sentence}\n"
    assert "raidtui_plan" not in reported.out


def test_a_refusal_cannot_move_the_cursor(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    host.examined("sdl", MD_LEVEL="raid1", MD_NAME="nas:\x1b[2J", MD_UUID=UUID)
    assert run(["plan", "assemble", "sdk", "sdl"]) == 2
    assert capsys.readouterr().err == (
        "raidtui: not possible: these are members of several arrays: sdk of old, sdl of \\x1b[2J;"
        " name the members of one array\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("read-write root", "root is already read-write"),
        ("bitmap data none", "data already has no bitmap"),
        ("grow-chunk data 32", "data already has chunks of 32 KiB"),
        ("convert data --level=raid10", "data already has raid10"),
        ("add data sda", "sda is in_sync in data"),
        ("fail root sdf", "sdf has already failed; remove it"),
        ("remove data sdo", "sdo is not a member of data"),
        ("stop old", "old does not run: sdk and sdl are its members"),
        ("stop /dev/md/old", "old does not run: sdk and sdl are its members"),
        (f"stop {OLD}", "old does not run: sdk and sdl are its members"),
        ("rename gone --to=root", "md126 is named root, and nothing is named gone"),
        ("rename root --to=root", "it is already named root"),
        ("assemble sda sdb sdc sdd", "data runs, with sda, sdb, sdc and sdd"),
        ("grow data --devices=4", "data has 4 slots"),
        ("grow data --add sdc sdd", "data has 4 slots, and sdc and sdd are in them"),
        ("shrink data --devices=4", "data has 4 slots"),
        ("shrink data --size=220200960", "data uses 220200960 KiB of each member"),
    ],
)
def test_already_so(host: Host, capsys: pytest.CaptureFixture[str], words: str, sentence: str) -> None:
    assert run(["plan", *words.split()]) == 0
    assert capsys.readouterr() == (f"already so: {sentence}\n", "")
    assert run(["plan", *words.split(), "--json"]) == 0
    out, err = capsys.readouterr()
    made = {"title": "already so", "subject": "", "steps": [], "notes": [sentence], "already": True}
    assert (json.loads(out)["plan"], err) == (made, "")
    assert load_plan(out.encode()).plan.already
    assert run(["plan", *words.split(), "--sh"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == ["set -eu"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("rename old --to=root", "there is no array 'old'; known arrays: data, root, logs"),  # it is at rest
        ("rename gone --to=new", "there is no array 'gone'; known arrays: data, root, logs"),
        ("assemble sda sdb sdk", "sda is a member of data, which is already running"),
        ("assemble --read-only sda sdb sdc sdd", "sda is a member of data, which is already running"),
        ("remove data sdz", "sdz is not a member of data"),
        ("replace data sda --with sdb", "sdb is already a member of data: in_sync; choose a free device"),
        ("grow data --devices=3", "data has 4 slots already;"),
        ("journal data --remove", "raid10 has no parity, so a journal would protect nothing"),
        (
            "create --name=data --level=raid1 sdi1 sdj1",
            (
                "/dev/md127 is already named data, and differs: it is raid10, it has 4 slots,"
                " its members are sda, sdb, sdc and sdd and it has no line in mdadm.conf"
            ),
        ),
    ],
)
def test_what_only_looks_so_is_refused(
    host: Host, capsys: pytest.CaptureFixture[str], words: str, sentence: str
) -> None:
    assert run(["plan", *words.split()]) == 2
    assert capsys.readouterr().err.startswith(f"raidtui: not possible: {sentence}")


def test_what_could_not_be_asked_ends_with_another_status(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    """A refusal is 2; that mdadm has not answered is 3, and it is not called missing."""
    host.put(output_path(("mdadm", "--version")), "timed-out\nmdadm did not answer within 10 s")
    assert run(["plan", "bitmap", "data", "internal"]) == 3
    assert capsys.readouterr().err.startswith("raidtui: not possible: mdadm did not answer within 10 s; try")


def test_a_name_in_the_configuration_is_not_gone(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    host.put("/etc/mdadm/mdadm.conf", f"ARRAY /dev/md/gone metadata=1.2 UUID={OLD}\n")
    assert run(["plan", "rename", "gone", "--to=root"]) == 2
    assert "there is no array 'gone'" in capsys.readouterr().err


ASKED = ("stop data", "replace data sda --with /dev/sdo", "create --name=128 --level=raid1 sdi1 sdj1")


@pytest.mark.parametrize("words", ASKED)
def test_json(host: Host, capsys: pytest.CaptureFixture[str], words: str) -> None:
    plan = make_plan(host, build_parser().parse_args(["plan", *words.split()]))
    assert run(["plan", *words.split(), "--json"]) == 0
    out, err = capsys.readouterr()
    file = load_plan(out.encode())
    assert (file.raidtui_plan, file.host, file.made_s, file.plan, err) == (2, "nas", 1.5, plan, "")


@pytest.mark.parametrize("words", ASKED)
def test_a_script(host: Host, capsys: pytest.CaptureFixture[str], words: str) -> None:
    assert run(["plan", *words.split(), "--sh"]) == 0
    out, err = capsys.readouterr()
    lines = [line for line in out.split("\n") if line and not line.startswith("#")]
    assert (out.startswith("#!/bin/sh\n# "), lines[0], err) == (True, "set -eu", "")
    waits = {"wait until md has finished": "mdadm --wait /dev/md127 || :"}
    found = [waits.get(command, command) for command in commands(host, *words.split())]
    assert [line for line in lines[1:] if line.startswith("mdadm")] == [
        command for command in found if command.startswith("mdadm")
    ]


def test_sentences(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "stop", "data"]) == 0
    assert capsys.readouterr().out == (
        "stop: data (reduces redundancy, or makes the array unavailable for a time)\n"
        "  Its data is unavailable until it is assembled again. Nothing on it is changed.\n"
        "  1  mdadm --stop /dev/md127\n"
        "       releases its members\n"
        "This can be undone.\n"
        "  undo 1: mdadm --assemble /dev/md/data --uuid=3a6eb079:0f39ac87:c94f3856:b2dd2c5d"
        " /dev/sda /dev/sdb /dev/sdc /dev/sdd\n"
        "To do it: raidtui plan ... --json >plan.json; raidtui apply plan.json\n"
    )


def test_what_destroys_says_how_it_is_confirmed(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "zero-superblock", "sdk"]) == 0
    reported = "To do it: raidtui plan ... --json >plan.json; raidtui apply plan.json --confirm="
    assert capsys.readouterr().out.endswith(f"{reported}old\n")
    host.examined("sdk", MD_LEVEL="raid1", MD_NAME="nas:old one", MD_UUID=OLD)
    assert run(["plan", "zero-superblock", "sdk"]) == 0
    assert capsys.readouterr().out.endswith(f"{reported}'old one'\n")


def test_nothing_is_written(host: Host) -> None:
    for words in ASKED:
        assert run(["plan", *words.split()]) == 0
    assert host.writes == []


@pytest.mark.parametrize("words", ASKED)
def test_without_root(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    opens(monkeypatch, Host(writable=False))
    assert run(["plan", *words.split()]) == 2
    assert capsys.readouterr() == ("", "raidtui: not possible: needs root; run it as: sudo raidtui\n")


@pytest.mark.parametrize("words", ["stop data", "check data", "fail data sda", "rename data --to=1"])
def test_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str) -> None:
    host_tree(raid10(), raid1()).write_to(tmp_path)
    assert run(["--root", str(tmp_path), "plan", *words.split()]) == 2
    assert capsys.readouterr() == (
        "",
        f"raidtui: not possible: {tmp_path} is a capture: nothing in it can be changed\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "raidtui plan: the following arguments are required: VERB"),
        ("grew data", "raidtui plan: argument VERB: invalid choice: 'grew'"),
        ("stop", "raidtui plan stop: the following arguments are required: ARRAY"),
        ("fail data", "raidtui plan fail: the following arguments are required: DEVICE"),
        ("replace data sda", "raidtui plan replace: the following arguments are required: --with"),
        ("rename data", "raidtui plan rename: the following arguments are required: --to"),
        ("stop data --json --sh", "raidtui plan stop: argument --sh: not allowed with argument --json"),
        ("create sda sdb", "raidtui plan create: the following arguments are required: --name, --level"),
        (
            "create --name=1 --level=raid1 --chunk=x sda",
            "raidtui plan create: argument --chunk: invalid int value: 'x'",
        ),
    ],
)
def test_wrong_usage(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["plan", *words.split()])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (64, "")
    assert message in err


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("sda", "sda"),
        ("/dev/sda", "sda"),
        ("/dev/./sda", "sda"),
        ("disk/by-id/ata-1", "sda"),
        ("/dev/disk/by-id/ata-1", "sda"),
        ("/dev/disk/by-id/../by-id/ata-1", "sda"),
        ("/dev/disk/by-id/md-name-nas:data", "md127"),
        ("/dev/disk/by-id/whole", "sdb"),
        ("/dev/cciss/c0d0", "cciss/c0d0"),
        ("/dev/loop", "loop"),
        ("/srv/image", "srv/image"),
    ],
)
def test_links_are_followed(host: Host, word: str, name: str) -> None:
    host.links |= {
        "/dev/disk/by-id/ata-1": "../../sda",
        "/dev/disk/by-id/md-name-nas:data": "../../md/data",
        "/dev/disk/by-id/whole": "/dev/sdb",
        "/dev/loop": "loop",
    }
    assert kernel_name(host, word) == name


def test_links_of_a_folder(tmp_path: Path) -> None:
    from raidtui.host.readers.opening import open_root  # noqa: PLC0415

    tree = host_tree(raid1())
    tree.links["/dev/disk/by-id/ata-1"] = "../../sde"
    tree.write_to(tmp_path)
    assert kernel_name(open_root(str(tmp_path)), "/dev/disk/by-id/ata-1") == "sde"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("stop nothing", "not-found"),
        ("add root sda", "in-use"),
        ("fail data sdo", "not-found"),
        ("check logs", "wrong-state"),
        ("add logs sdk", "needs-confirmation"),
        ("grow-chunk data 7", "invalid"),
        ("bitmap data internal", ""),
        ("zero-superblock nosuch", "not-found"),
        ("create --name=9 --level=raid5 --chunk=7 sdi1 sdj1 sdo", "invalid"),
        ("create --name=data --level=raid1 sdi1 sdj1", "taken"),
    ],
)
def test_a_refusal_as_json(host: Host, words: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(["plan", *words.split(), "--json"])
    reported = capsys.readouterr()
    found = json.loads(reported.out)
    if not code:
        assert (status, found["raidtui_plan"]) == (0, 2)
        return
    assert status == 2
    assert list(found) == ["raidtui_refusal", "code", "why", "remedy"]
    assert (found["raidtui_refusal"], found["code"]) == (1, code)
    sentence = "; ".join(text for text in (found["why"], found["remedy"]) if text)
    assert reported.err == f"raidtui: not possible: {sentence}\n"


def test_a_refusal_for_people_is_no_json(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "stop", "nothing"]) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.startswith("raidtui: not possible: there is no array 'nothing'; known arrays: ")


def test_every_code_is_given_somewhere() -> None:
    house = HOUSE / "raidtui"
    source = "".join(path.read_text(encoding="utf-8") for path in house.rglob("*.py"))
    assert [code for code in RefusalCode if f"RefusalCode.{code.name}" not in source] == []


PLACES = (
    "--demo plan check root",
    "plan --demo check root",
    "plan check --demo root",
    "plan check root --demo",
)


@pytest.mark.parametrize("words", PLACES)
def test_the_demo_in_any_place(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words.split()) == 0
    assert "echo check > /sys/class/block/md126/md/sync_action" in capsys.readouterr().out


@pytest.mark.parametrize("place", range(4))
def test_the_root_in_any_place(tmp_path: Path, place: int, capsys: pytest.CaptureFixture[str]) -> None:
    host_tree(raid1()).write_to(tmp_path)
    words = ["tune", "show", "--json"]
    words[place:place] = ["--root", str(tmp_path)]
    assert run(words) == 0
    names = {each["name"] for each in json.loads(capsys.readouterr().out)["subjects"]}
    assert {"sde", "sdf"} <= names


@pytest.mark.parametrize(
    "words", ["--demo status --root /", "--demo --root / status", "status --demo --root /"]
)
def test_two_hosts_are_wrong_usage(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(words.split())
    assert ended.value.code == 64
    assert "not allowed with argument" in capsys.readouterr().err


def test_the_version_in_short(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["-V"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"raidtui {raidtui.__version__} (source, Python 3.")
