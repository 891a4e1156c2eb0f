"""Another level, layout or chunk: each stage as mdadm is called, chains of them, refusals whole."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow
from raidtui.model.fact import FactKind
from raidtui.model.plan import Plan, Refusal, RunTool, Write
from raidtui.model.survey import Survey
from raidtui.plans.shell_script import plan_sentences, shell_script
from tests.hosts.specs import ArraySpec, Syncing, inactive, raid0, raid1, raid5, raid6, raid10
from tests.plans.new_array import device
from tests.plans.running import BIG, fact, first, planned, refused
from tests.plans.test_grow import grown

NEW = tuple(device(name, size_bytes=BIG) for name in ("sdv", "sdw", "sdx", "sdy", "sdz"))
CHECK = Syncing(action="check", done_kib=1)
RAID5 = raid5()
UNGUARDED = (
    "in place, a power cut at any moment loses data, because mdadm does not hold md back until its backup"
    " file is written; use less of each member first (raidtui plan shrink --size), which makes room after"
    " the data; or give --backup-file=PATH and --unguarded, with a backup of all data"
)
_NO_LAYOUT = (
    "Linux loses the data of a raid10 as its layout changes between near and offset copies, and does not"
    " change it from or to far copies, or to another number of copies; make a new array and copy"
)


def converted(survey: Survey, level: str = "", *names: str, **more: Any) -> Plan | Refusal:
    options = GrowOptions(**{key: more.pop(key) for key in ("above", "backup") if key in more})
    return plan_convert(survey, first(survey), ConvertRequest(level=level, names=names, **more), options)


def released(name: str) -> list[str]:
    """What takes a member away, so that nothing starts it in place of the others."""
    return [f"{option} /dev/{name}" for option in ("--fail", "--remove", "--zero-superblock")]


def in_short(found: Plan) -> list[str]:
    """What is done: options of ``mdadm --grow``, devices that are added, "…" where md is waited for.

    "|" where md is halted before, and "|…" where its limit is moved on.
    """
    words = []
    for step in found.steps:
        if step.waits:
            words.append("|…" if step.paces else "…")
        elif step.path.endswith("/sync_max"):
            words.append("|")
        else:
            words.append(" ".join(step.argv[1 if step.argv[1] == "--zero-superblock" else 3 :]))
    return words


@pytest.mark.parametrize(
    ("array", "level", "names", "more", "wanted"),
    [
        (raid1(), "raid5", (), {}, ["--level=5"]),
        (
            raid1(),
            "raid5",
            ("sdy", "sdz"),
            {},
            ["--level=5", "--add-spare /dev/sdy", "--add-spare /dev/sdz", "--raid-devices=4", "…"],
        ),
        (
            raid1(),
            "raid6",
            ("sdy", "sdz"),
            {},
            [
                "--level=5",
                "--add-spare /dev/sdy",
                "--raid-devices=3",
                "…",
                "--add-spare /dev/sdz",
                "|",
                "--level=6 --raid-devices=4",
                "|…",
            ],
        ),
        (RAID5, "raid6", ("sdz",), {}, ["--add-spare /dev/sdz", "|", "--level=6 --raid-devices=4", "|…"]),
        (
            RAID5,
            "raid6",
            ("sdz",),
            {"layout": "preserve"},
            ["--add-spare /dev/sdz", "--level=6 --raid-devices=4 --layout=preserve", "…"],
        ),
        (raid6(), "raid5", (), {}, ["|", "--layout=left-symmetric-6", "|…", "--level=5"]),
        (
            raid0(),
            "raid5",
            ("sdz",),
            {},
            ["--level=4 --add /dev/sdz", "…", "--level=5", "|", "--layout=left-symmetric", "|…"],
        ),
        (RAID5, "raid0", (), {}, ["|", "--layout=parity-last", "|…", *released("sdi"), "--level=0"]),
        (raid10(), "raid0", (), {}, [*released("sdb"), *released("sdd"), "--level=0"]),
        (RAID5, "raid4", (), {}, ["|", "--layout=parity-last", "|…", "--level=4"]),
        (
            raid6(),
            "raid4",
            (),
            {},
            [
                "|",
                "--layout=left-symmetric-6",
                "|…",
                "--level=5",
                "|",
                "--layout=parity-last",
                "|…",
                "--level=4",
            ],
        ),
        (
            raid6(),
            "raid0",
            (),
            {},
            [
                "|",
                "--layout=left-symmetric-6",
                "|…",
                "--level=5",
                "|",
                "--layout=parity-last",
                "|…",
                *released("sdm"),
                *released("sdl"),
                "--level=0",
            ],
        ),
        (
            raid0(),
            "raid4",
            ("sdy", "sdz"),
            {},
            ["--level=4 --add /dev/sdy", "…", "--add-spare /dev/sdz", "--raid-devices=4", "…"],
        ),
        (RAID5, "", (), {"layout": "right-symmetric"}, ["|", "--layout=right-symmetric", "|…"]),
        (raid10(), "", (), {"chunk_kib": 64}, ["--chunk=64", "…"]),
        (
            raid6(),
            "raid5",
            (),
            {"chunk_kib": 64},
            ["|", "--layout=left-symmetric-6", "|…", "--level=5", "|", "--chunk=64", "|…"],
        ),
    ],
)
def test_the_stages(
    array: ArraySpec, level: str, names: tuple[str, ...], more: dict[str, Any], wanted: list[str]
) -> None:
    survey = grown(array, *NEW)
    found = planned(converted(survey, level, *names, **more))
    after = (first(survey).raid_disks or 0) + 1
    assert in_short(found) == [word.format(next=after) for word in wanted]
    assert all(step.final for step in found.steps if step.argv[1:2] == ("--grow",))


def test_raid0_gets_mirrors() -> None:
    """Each member one, in the call that changes the level: without them mdadm refuses."""
    array = raid0()
    survey = grown(array, *NEW)
    count = first(survey).raid_disks or 0
    names = tuple(each.disk.name for each in NEW[:count])
    found = planned(converted(survey, "raid10", *names))
    added = " ".join(f"/dev/{name}" for name in names)
    assert in_short(found) == [f"--level=10 --add {added}", "…"]
    less = converted(survey, "raid10", *names[1:])
    assert refused(less).startswith("1 device more is needed to mirror ")


def test_a_stage_begins_when_the_one_before_has_ended() -> None:
    """Each needs the shape that the one before has led to, whatever was killed in between."""
    survey = grown(raid1(), *NEW)
    steps = planned(converted(survey, "raid6", "sdy", "sdz")).steps
    name = raid1().name
    shapes = [
        [each.value for each in step.needs if each.kind is FactKind.SHAPE]
        for step in steps
        if step.argv[1:2] == ("--grow",)
    ]
    assert shapes == [["raid1/2"], ["raid5/2/2"], ["raid5/3/2"]]
    waits = [step for step in steps if step.waits]
    assert fact(FactKind.SHAPE, name, "raid5/3/2") in waits[0].until
    assert fact(FactKind.MEMBER, f"{name}/sdy", "in_sync") in waits[0].until
    assert fact(FactKind.RESHAPED, name) in waits[0].until


def test_a_member_that_leaves_is_none_in_the_next_stage() -> None:
    """A RAID 6 gives up its last member: the reshape after that does not wait for it."""
    survey = grown(raid6())
    found = planned(converted(survey, "raid4"))
    last = fact(FactKind.MEMBER, f"{raid6().name}/sdm", "in_sync")
    calls = [step for step in found.steps if step.argv[1:2] == ("--grow",)]
    assert [last in step.needs for step in calls] == [True, True, False, False]
    assert "sdm becomes a spare." in found.notes


def test_what_is_said_of_it() -> None:
    found = planned(converted(grown(raid1(), *NEW), "raid6", "sdy", "sdz"))
    assert found.title == "convert: raid1 of 2 → raid6 of 4"
    assert (
        "Meanwhile the array survives the loss of 1 member; afterwards the array survives" in found.notes[2]
    )
    assert found.notes[0] == (
        "It has no bitmap, so that all parity is resynced after a crash: raidtui plan bitmap root internal"
        " adds one."
    )
    assert found.notes[1].startswith("Capacity ")
    assert any(note.endswith(" 2 times.") for note in found.notes)
    bare = planned(converted(grown(raid0(), *NEW), "raid5", "sdz"))
    assert bare.notes[0].endswith(": mdadm adds none before the array was assembled with --update=no-bbl.")
    lost = planned(converted(grown(RAID5), "raid0"))
    assert any("afterwards a lost member means that all is lost" in note for note in lost.notes)


@pytest.mark.parametrize(
    ("array", "level", "names", "more", "sentence"),
    [
        (
            RAID5,
            "raid7",
            (),
            {},
            "'raid7' is not a level; choose raid0, raid1, raid4, raid5, raid6 and raid10",
        ),
        (
            RAID5,
            "raid1",
            (),
            {},
            (
                "media is not made a raid1: kernels may leave it frozen, all I/O with it (mdadm's pull"
                " request 301); make a new array and copy"
            ),
        ),
        (
            raid1(),
            "raid0",
            (),
            {},
            (
                "root is not made a raid0: the members that leave would still look like its own, and may be"
                " started instead; make a new array and copy"
            ),
        ),
        (
            raid10(),
            "raid1",
            (),
            {},
            "md cannot make a raid1 of a raid10 while it runs; make a new array and copy",
        ),
        (
            raid0(),
            "raid4",
            (),
            {},
            "1 device more is needed for the parity; name free devices with --add",
        ),
        (RAID5, "raid5", (), {}, "media already has raid5"),
        (
            RAID5,
            "raid6",
            (),
            {},
            "1 device more is needed for the second parity of a raid6; name free devices with --add",
        ),
        (
            raid6(),
            "raid5",
            ("sdz",),
            {},
            "sdz is not needed for a raid5; name fewer devices, or grow the array",
        ),
        (
            raid1(),
            "raid6",
            ("sdz",),
            {},
            "a raid6 needs 4 devices; root would have 3; name one more device",
        ),
        (
            raid10(layout="f2"),
            "raid0",
            (),
            {},
            "only a raid10 of the layout n2 on an even number of devices becomes a raid0: data is f2 on 4",
        ),
        (raid10(layout="f2"), "", (), {"chunk_kib": 64}, "a raid10 with far copies cannot be reshaped"),
        (
            raid10(layout="o2"),
            "",
            (),
            {"chunk_kib": 64},
            (
                "Linux loses the data of a raid10 with offset copies as its chunk changes;"
                " make a new array and copy"
            ),
        ),
        (raid10(), "", (), {"layout": "o2"}, _NO_LAYOUT),
        (raid10(layout="o2"), "", (), {"layout": "n2"}, _NO_LAYOUT),
        (raid10(), "", (), {"layout": "n3"}, _NO_LAYOUT),
        (raid10(), "", (), {"layout": "n2"}, "data already has n2"),
        (raid0(), "", (), {"chunk_kib": 64}, "raidtui cannot change the chunk of a raid0"),
        (raid1(), "", (), {"chunk_kib": 64}, "raidtui cannot change the chunk of a raid1"),
        (raid10(), "", (), {"chunk_kib": 32}, "data already has chunks of 32 KiB"),
        (
            raid10(),
            "",
            (),
            {"chunk_kib": 48},
            "48 KiB is not a valid chunk size; choose a power of two of at least 4 KiB",
        ),
        (
            raid10(),
            "",
            (),
            {"chunk_kib": 1 << 21},
            "2097152 KiB is not a valid chunk size; choose a power of two of at least 4 KiB",
        ),
        (raid10(sync=CHECK), "", (), {"chunk_kib": 64}, "a check is in progress; wait until it is done"),
        (
            raid10(failed=("sdb",)),
            "",
            (),
            {"chunk_kib": 64},
            "data is degraded; replace the missing member first",
        ),
        (inactive(raid10()), "", (), {"chunk_kib": 64}, "md127 is inactive; assemble it first"),
        (
            raid10(),
            "",
            (),
            {"layout": "left-symmetric"},
            (
                "a raid10 cannot be given the layout 'left-symmetric' while it runs; choose left-symmetric,"
                " left-asymmetric, right-symmetric or right-asymmetric (raid5, raid6)"
            ),
        ),
        (
            replace(RAID5, spares=("sdy",)),
            "raid6",
            ("sdz",),
            {},
            (
                "media has spares (sdy): which of them md would take cannot be chosen; remove the spares"
                " first, and name them with --add"
            ),
        ),
    ],
)
def test_refused(
    array: ArraySpec, level: str, names: tuple[str, ...], more: dict[str, Any], sentence: str
) -> None:
    survey = grown(array, *NEW)
    assert refused(converted(survey, level, *names, **more)) == sentence


def test_a_chunk_that_does_not_divide_the_members() -> None:
    survey = grown(raid10())
    odd = replace(first(survey), component_kib=1_000_032)
    found = plan_convert(survey, odd, ConvertRequest(chunk_kib=64))
    assert refused(found) == "1000032 KiB of each member is not a multiple of 64 KiB; choose a smaller chunk"


@pytest.mark.parametrize("room", [None, 100, 127])
def test_a_chunk_without_room(room: int | None) -> None:
    """A RAID 10 takes no backup file; others would be reshaped in place, which the file does not guard."""
    has = "not known" if room is None else f"{room} sectors"
    text = f"there is not enough room before or after the data of {{}} ({has}, {{}} needed)"
    survey = grown(raid10(), room=room)
    assert refused(converted(survey, chunk_kib=64)) == (
        f"{text.format('sda', 128)}, and a raid10 is not reshaped without it; make a new array and copy"
    )
    survey = grown(raid5(chunk_kib=64), room=room)
    assert refused(converted(survey, chunk_kib=128)) == (f"{text.format('sdg', 256)}: {UNGUARDED}")


def test_in_place_only_as_one_who_knows() -> None:
    """The file alone does not do, nor does the word alone; with both the array's name is typed."""
    survey = grown(raid5(chunk_kib=64), room=0)
    array, request = first(survey), ConvertRequest(chunk_kib=128)
    place = BackupPlace(path="/var/lib/backup", where="/", kind="ext4")
    for options in (GrowOptions(backup=place), GrowOptions(unguarded=True)):
        assert UNGUARDED in refused(plan_convert(survey, array, request, options))
    found = planned(plan_convert(survey, array, request, GrowOptions(backup=place, unguarded=True)))
    assert found.confirm == array.title
    assert "/var/lib/backup does not guard it" in found.warning
    assert any("--backup-file=/var/lib/backup" in step.argv for step in found.steps)


def test_growing_without_room_moves_past_what_the_file_has() -> None:
    """Only its first stripes are in place: no name is typed for it."""
    survey = grown(raid5(chunk_kib=64), *NEW, room=0)
    place = BackupPlace(path="/var/lib/backup", where="/", kind="ext4")
    found = planned(plan_grow(survey, first(survey), ["sdz"], options=GrowOptions(backup=place)))
    assert not found.confirm
    assert "does not guard" not in found.warning


@pytest.mark.parametrize(("room", "tail"), [(128, 0), (0, 128)])
def test_a_chunk_with_just_enough_room(room: int, tail: int) -> None:
    """Before the data or after them."""
    assert planned(converted(grown(raid10(), room=room, tail=tail), chunk_kib=64))


def test_a_chain_that_runs_out_of_room() -> None:
    """1 to 5 takes what 5 to 6 would need."""
    enough, short = grown(raid1(), *NEW, room=384), grown(raid1(), *NEW, room=260, tail=0)
    assert planned(converted(enough, "raid6", "sdy", "sdz"))
    assert planned(converted(short, "raid6", "sdy", "sdz"))  # what it gives up before is free after
    none = grown(raid1(), *NEW, room=255)
    assert refused(converted(none, "raid6", "sdy", "sdz")).startswith("there is not enough room before")


def test_the_way_back_of_a_raid5_of_two_is_said() -> None:
    """Nothing has moved: md can, raidtui does not."""
    plan = planned(converted(grown(raid1()), "raid5"))
    assert plan.notes.count(
        "md can make a raid5 of two a raid1 again (mdadm --grow --level=1); raidtui does not, because kernels"
        " may leave it frozen, all I/O with it (mdadm's pull request 301)."
    )
    assert "a raid1 again" not in " ".join(planned(converted(grown(raid1(), *NEW), "raid5", "sdz")).notes)


FROM = "Once step {} is done, nothing is rolled back: the way back, where there is one, is another plan."


def test_what_can_be_undone_is_said() -> None:
    """Up to the first step that has no way back, and no step after it."""
    lines = plan_sentences(planned(converted(grown(raid1(), *NEW), "raid6", "sdy", "sdz")))
    assert lines[-1] == FROM.format(1)
    lines = plan_sentences(planned(converted(grown(RAID5, *NEW), "raid6", "sdz")))
    assert lines[-4:] == [
        FROM.format(3),
        f"  undo 2: echo max > /sys/class/block/{RAID5.name}/md/sync_max",
        f"  undo 1: mdadm --manage /dev/{RAID5.name} --remove /dev/sdz",
        "  undo 1: mdadm --zero-superblock /dev/sdz",
    ]


def test_a_reshape_that_writes_over_what_it_moves_is_halted() -> None:
    """Before it begins, at the first stripe of the larger chunk; the job moves the limit on."""
    survey = grown(raid6(), *NEW)
    array = first(survey)
    steps = planned(converted(survey, chunk_kib=64)).steps
    halt = steps[0]
    assert (array.chunk_bytes or 0) > 64 << 10
    assert halt.path == f"/sys/class/block/{array.name}/md/sync_max"
    assert [each.kind for each in halt.awaits] == [FactKind.SYNCED]  # the kernel is busy in a resync
    assert halt.text == str((array.chunk_bytes or 0) // 512)
    assert isinstance(halt, Write)
    assert halt.identity == (f"/sys/class/block/{array.name}/md/uuid", array.uuid)
    assert [(step.path, step.text) for step in halt.undo] == [(halt.path, "max")]
    assert halt.volatile
    assert [step.paces for step in steps] == ["", "", array.name]


def test_the_script_moves_the_limit_on() -> None:
    survey = grown(RAID5, *NEW)
    script = shell_script(planned(converted(survey, "raid6", "sdz")))
    assert f"echo max >/sys/class/block/{first(survey).name}/md/sync_max" in script
    preserved = shell_script(planned(converted(survey, "raid6", "sdz", layout="preserve")))
    assert "sync_max" not in preserved


def test_a_power_cut_amid_a_departure() -> None:
    """Md starts the array without the member that has failed: mdadm finds none, and that will do."""
    found = planned(converted(grown(raid10()), "raid0"))
    leaves = [step for step in found.steps if {"--fail", "--remove"} & set(step.argv)]
    assert len(leaves) == 4
    assert all(isinstance(step, RunTool) and step.proof_decides for step in leaves)
    assert {fact.value for step in leaves for fact in step.proves} == {"faulty|absent", "absent"}
