"""Another level, layout or chunk: each stage as mdadm is called, chains of them, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.convert_plan import plan_convert
from raidtui.features.reshape.plan.convert_stages import ConvertRequest
from raidtui.features.reshape.plan.grow_plan import GrowOptions, plan_grow
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from raidtui.plans.shell_script import plan_sentences, shell_script
from tests.hosts.specs import ArraySpec, Syncing, inactive, raid0, raid1, raid5, raid6, raid10
from tests.plans.goldens import accepted, commands
from tests.plans.new_array import device
from tests.plans.running import BIG, first, planned
from tests.plans.test_grow import grown

NEW = tuple(device(name, size_bytes=BIG) for name in ("sdv", "sdw", "sdx", "sdy", "sdz"))
CHECK = Syncing(action="check", done_kib=1)
RAID5, SMALL_CHUNK = raid5(), raid5(chunk_kib=64)
TWO_SPARES = replace(RAID5, spares=("sdy",))
PLACE = BackupPlace(path="/var/lib/backup", where="/", kind="ext4")


def converted(survey: Survey, level: str = "", *names: str, **more: Any) -> Plan | Refusal:
    options = GrowOptions(**{key: more.pop(key) for key in ("backup", "unguarded") if key in more})
    return plan_convert(survey, first(survey), ConvertRequest(level=level, names=names, **more), options)


def asked(array: ArraySpec, level: str = "", *names: str, **more: Any) -> Plan | Refusal:
    """The answer on a host with five free disks, and room beside the data."""
    host = {key: more.pop(key) for key in ("room", "tail") if key in more}
    return converted(grown(array, *NEW, **host), level, *names, **more)


def odd_members() -> Plan | Refusal:
    survey = grown(raid10())
    odd = replace(first(survey), component_kib=1_000_032)
    return plan_convert(survey, odd, ConvertRequest(chunk_kib=64))


def sentences(found: Plan | Refusal) -> list[str]:
    return plan_sentences(planned(found))[-4:]


STAGES: dict[str, Callable[[], Plan | Refusal]] = {
    "raid1 to raid5 of four": lambda: asked(raid1(), "raid5", "sdy", "sdz"),
    "raid5 to raid6, layout preserved": lambda: asked(RAID5, "raid6", "sdz", layout="preserve"),
    "raid6 to raid5": lambda: asked(raid6(), "raid5"),
    "raid5 to raid0": lambda: asked(RAID5, "raid0"),
    "raid5 to raid4": lambda: asked(RAID5, "raid4"),
    "raid6 to raid0": lambda: asked(raid6(), "raid0"),
    "raid0 to raid4 of four": lambda: asked(raid0(), "raid4", "sdy", "sdz"),
    "raid5, another layout": lambda: asked(RAID5, layout="right-symmetric"),
    "raid6 to raid5, another chunk": lambda: asked(raid6(), "raid5", chunk_kib=64),
}
test_stages = accepted(STAGES, commands)
test_plans = accepted(
    {
        # Nothing has moved: md can make it a raid1 again, raidtui does not.
        "raid1 to raid5": lambda: asked(raid1(), "raid5"),
        "raid1 to raid6 of four": lambda: asked(raid1(), "raid6", "sdy", "sdz"),
        "raid5 to raid6": lambda: asked(RAID5, "raid6", "sdz"),
        # It gives up its last member: the reshape after that does not wait for it.
        "raid6 to raid4": lambda: asked(raid6(), "raid4"),
        "raid0 to raid5": lambda: asked(raid0(), "raid5", "sdz"),
        # Each member gets a mirror, in the call that changes the level: without them mdadm refuses.
        "raid0 to raid10": lambda: asked(raid0(), "raid10", "sdy", "sdz"),
        # A power cut amid a departure: md starts the array without the member that has failed, mdadm finds
        # none, and that will do.
        "raid10 to raid0": lambda: asked(raid10(), "raid0"),
        # A reshape that writes over what it moves is halted before it begins, at the first stripe of the
        # larger chunk, once the kernel is idle; the job moves the limit on.
        "raid6, another chunk": lambda: asked(raid6(), chunk_kib=64),
        "raid10, another chunk": lambda: asked(raid10(), chunk_kib=64),
        # In place only as one who knows: the array's name is typed.
        "in place, unguarded": lambda: asked(
            SMALL_CHUNK, chunk_kib=128, room=0, backup=PLACE, unguarded=True
        ),
    }
)
test_refused = accepted(
    {
        "raid0 to raid4 without a device": lambda: asked(raid0(), "raid4"),
        "raid0 to raid10 with too few": lambda: asked(raid0(), "raid10", "sdz"),
        "raid1 to raid0": lambda: asked(raid1(), "raid0"),
        "raid1 to raid6 with one": lambda: asked(raid1(), "raid6", "sdz"),
        "raid5 to raid1": lambda: asked(RAID5, "raid1"),
        "raid5 to raid5": lambda: asked(RAID5, "raid5"),
        "raid5 to raid6 without a device": lambda: asked(RAID5, "raid6"),
        "raid5 to raid7": lambda: asked(RAID5, "raid7"),
        "raid6 to raid5 with one too many": lambda: asked(raid6(), "raid5", "sdz"),
        "raid10 to raid1": lambda: asked(raid10(), "raid1"),
        "raid10 f2 to raid0": lambda: asked(raid10(layout="f2"), "raid0"),
        "layout of raid10: n2 again": lambda: asked(raid10(), layout="n2"),
        "layout of raid10: n2 to n3": lambda: asked(raid10(), layout="n3"),
        "layout of raid10: n2 to o2": lambda: asked(raid10(), layout="o2"),
        "layout of raid10: o2 to n2": lambda: asked(raid10(layout="o2"), layout="n2"),
        "layout of raid10: one of raid5": lambda: asked(raid10(), layout="left-symmetric"),
        "chunk of raid0": lambda: asked(raid0(), chunk_kib=64),
        "chunk of raid1": lambda: asked(raid1(), chunk_kib=64),
        "chunk of raid10 f2": lambda: asked(raid10(layout="f2"), chunk_kib=64),
        "chunk of raid10 o2": lambda: asked(raid10(layout="o2"), chunk_kib=64),
        "chunk as it is": lambda: asked(raid10(), chunk_kib=32),
        "chunk that is no power of two": lambda: asked(raid10(), chunk_kib=48),
        "chunk of 2 GiB": lambda: asked(raid10(), chunk_kib=1 << 21),
        "chunk that does not divide the members": odd_members,
        # A RAID 10 takes no backup file; others would be reshaped in place, which the file does not protect.
        "chunk without room": lambda: asked(SMALL_CHUNK, chunk_kib=128, room=100),
        "chunk without room, the file alone": lambda: asked(SMALL_CHUNK, chunk_kib=128, room=0, backup=PLACE),
        "chunk without room, the word alone": lambda: asked(
            SMALL_CHUNK, chunk_kib=128, room=0, unguarded=True
        ),
        "chunk without room, raid10": lambda: asked(raid10(), chunk_kib=64, room=127),
        "chunk, the room not known": lambda: asked(SMALL_CHUNK, chunk_kib=128, room=None),
        "chunk, the room not known, raid10": lambda: asked(raid10(), chunk_kib=64, room=None),
        "in a check": lambda: asked(raid10(sync=CHECK), chunk_kib=64),
        "degraded": lambda: asked(raid10(failed=("sdb",)), chunk_kib=64),
        "inactive": lambda: asked(inactive(raid10()), chunk_kib=64),
        "with spares": lambda: asked(TWO_SPARES, "raid6", "sdz"),
        # 1 to 5 takes what 5 to 6 would need.
        "a chain that runs out of room": lambda: asked(raid1(), "raid6", "sdy", "sdz", room=255),
    }
)
test_sentences = accepted(
    {
        # Up to the first step that has no way back, and no step after it.
        "undone: from the first step on, nothing": lambda: sentences(asked(raid1(), "raid6", "sdy", "sdz")),
        "undone: until the third step": lambda: sentences(asked(RAID5, "raid6", "sdz")),
    }
)


@pytest.mark.parametrize("name", STAGES)
def test_no_stage_has_a_way_back(name: str) -> None:
    calls = [step for step in planned(STAGES[name]()).steps if step.argv[1:2] == ("--grow",)]
    assert calls
    assert all(step.final for step in calls)


def test_growing_without_room_moves_past_what_the_file_has() -> None:
    """Only its first stripes are in place: no name is typed for it."""
    survey = grown(raid5(chunk_kib=64), *NEW, room=0)
    found = planned(plan_grow(survey, first(survey), ["sdz"], options=GrowOptions(backup=PLACE)))
    assert not found.confirm
    assert "does not protect" not in found.warning


@pytest.mark.parametrize(("room", "tail"), [(128, 0), (0, 128)])
def test_a_chunk_with_just_enough_room(room: int, tail: int) -> None:
    """Before the data or after them."""
    assert planned(converted(grown(raid10(), room=room, tail=tail), chunk_kib=64))


def test_a_chain_that_runs_out_of_room() -> None:
    """1 to 5 takes what 5 to 6 would need."""
    enough, short = grown(raid1(), *NEW, room=384), grown(raid1(), *NEW, room=260, tail=0)
    assert planned(converted(enough, "raid6", "sdy", "sdz"))
    assert planned(converted(short, "raid6", "sdy", "sdz"))  # what it gives up before is free after


def test_the_script_moves_the_limit_on() -> None:
    survey = grown(RAID5, *NEW)
    script = shell_script(planned(converted(survey, "raid6", "sdz")))
    assert f"echo max >/sys/class/block/{first(survey).name}/md/sync_max" in script
    preserved = shell_script(planned(converted(survey, "raid6", "sdz", layout="preserve")))
    assert "sync_max" not in preserved
