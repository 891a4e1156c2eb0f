"""What the page of another shape offers, what it asks for, and what is wrong with what was typed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from raidtui.features.reshape.plan.backup_place import BackupPlace
from raidtui.features.reshape.plan.grow_above import volumes_on
from raidtui.features.reshape.plan.grow_draft import (
    BACKUP,
    SIZE,
    GrowAim,
    GrowDraft,
    asks_backup,
    field_trouble,
    grow_rows,
    plan_of_draft,
    turned,
    with_aim,
)
from raidtui.model.disk import Use
from raidtui.model.plan import Plan, Refusal
from raidtui.model.survey import Survey
from tests.hosts.specs import raid5, raid10
from tests.plans.new_array import device
from tests.plans.running import BIG, first
from tests.plans.test_grow import NEW, RAID5, grown

CHOSEN = GrowDraft(devices=("sdz",))
SRV = BackupPlace(path="/srv/file", where="/srv", kind="ext4")


def keys(survey: Survey, draft: GrowDraft) -> list[str]:
    return [row.key for row in grow_rows(survey, first(survey), draft)]


def under_lvm(survey: Survey, *mapped: str) -> Survey:
    """The array is a physical volume; each of these maps stands on the one before it."""
    array = first(survey)
    names = [array.name, *(f"dm-{number}" for number in range(len(mapped)))]
    above = {}
    for number, name in enumerate(names):
        uses = (
            [Use(kind="holder", what=names[number + 1], detail=mapped[number])]
            if number < len(mapped)
            else []
        )
        uses += [Use(kind="signature", what="LVM2_member")] if not number else []
        above[name] = replace(device(name).disk, name=name, disk=name, uses=tuple(uses))
    return replace(survey, above=above)


def test_a_backup_file_is_asked_for_only_where_one_is_needed() -> None:
    enough, short = grown(RAID5, NEW), grown(RAID5, NEW, room=0)
    assert not asks_backup(enough, first(enough), CHOSEN)
    assert BACKUP not in keys(enough, CHOSEN)
    assert not asks_backup(short, first(short), GrowDraft())
    assert asks_backup(short, first(short), CHOSEN)
    assert keys(short, CHOSEN)[-1] == BACKUP
    assert isinstance(plan_of_draft(short, first(short), CHOSEN), Refusal)
    made = plan_of_draft(short, first(short), replace(CHOSEN, backup=SRV))
    assert isinstance(made, Plan)
    assert any("--backup-file=/srv/file" in step.argv for step in made.steps)
    kept = plan_of_draft(enough, first(enough), replace(CHOSEN, backup=SRV))
    assert isinstance(kept, Plan)
    assert not any("--backup-file=/srv/file" in step.argv for step in kept.steps)


def test_a_raid10_has_no_use_for_one() -> None:
    short = grown(raid10(), NEW, room=0)
    assert not asks_backup(short, first(short), CHOSEN)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (BackupPlace(path="/run/file", where="/run", kind="tmpfs"), "/run is in memory: after a crash"),
        (BackupPlace(path="/none/file", why_not="there is no folder /none"), "there is no folder /none"),
        (SRV, ""),
    ],
)
def test_what_is_wrong_with_a_place(place: BackupPlace, why: str) -> None:
    short = grown(RAID5, NEW, room=0)
    said = field_trouble(short, first(short), replace(CHOSEN, backup=place), BACKUP)
    assert said.startswith(why) if why else not said


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", ""),
        ("much", "not a size; use 900M or 1.5T"),
        ("12", "not a size; use 900M or 1.5T"),
        ("64M", ""),
        ("0.0625g", ""),
        ("900T", "less than the "),
    ],
)
def test_less_of_each(typed: str, why: str) -> None:
    survey = grown(RAID5)
    array = first(survey)
    draft = replace(with_aim(array, GrowDraft(), GrowAim.LESS), size=typed)
    said = field_trouble(survey, array, draft, SIZE)
    assert said.startswith(why) if why else not said
    made = plan_of_draft(survey, array, draft)
    assert isinstance(made, Plan) == (bool(typed) and not why)
    if isinstance(made, Plan):
        assert made.steps[-1].argv[-1] == "--size=65536"


def test_a_per_cent_less() -> None:
    survey = grown(RAID5)
    array = first(survey)
    draft = with_aim(array, GrowDraft(), GrowAim.LESS)
    less = turned(survey, array, draft, SIZE, -1)
    assert isinstance(plan_of_draft(survey, array, less), Plan)
    assert turned(survey, array, less, SIZE, 1).size == ""
    assert turned(survey, array, draft, SIZE, 1).size == ""


def test_spares_become_members() -> None:
    spec = raid5(spares=("sdj",))
    survey = grown(spec, NEW, device("sdj", size_bytes=BIG))
    array = first(survey)
    assert keys(survey, GrowDraft()) == ["aim", "kept", "above"]
    assert isinstance(plan_of_draft(survey, array, GrowDraft()), Refusal)
    used = turned(survey, array, GrowDraft(), "kept", -1)
    made = plan_of_draft(survey, array, used)
    assert isinstance(made, Plan)
    assert made.title == "grow: 3 → 4 devices"
    assert turned(survey, array, used, "kept", 1) == GrowDraft()


def test_a_spare_that_is_kept() -> None:
    """It is taken out right before md fills the new slots, and added again right after that."""
    spec = raid5(spares=("sdj",))
    survey = grown(spec, NEW, device("sdj", size_bytes=BIG))
    array = first(survey)
    made = plan_of_draft(survey, array, CHOSEN)
    assert isinstance(made, Plan)
    path = array.path
    assert [" ".join(step.argv[2:]) for step in made.steps if step.argv] == [
        f"{path} --add-spare /dev/sdz",
        f"{path} --remove /dev/sdj",
        f"{path} --raid-devices=4",
        f"{path} --add-spare /dev/sdj",
    ]
    out, grow, back, wait = made.steps[1:]
    assert out.undo == (back,)
    assert [fact.value for fact in grow.needs if fact.subject == f"{array.name}/sdj"] == ["absent"]
    assert wait.waits
    assert "sdj stays a spare: removed while md fills the new slots" in " ".join(made.notes)
    both = plan_of_draft(survey, array, replace(CHOSEN, kept=0))
    assert isinstance(both, Plan)
    assert both.title == "grow: 3 → 5 devices"


def test_the_volumes_of_lvm_that_may_grow() -> None:
    """Parts of volumes, and what is on a volume, are none."""
    plain = grown(RAID5, NEW)
    assert volumes_on(plain, first(plain)) == ()
    survey = under_lvm(plain, "vg0-data_corig", "vg0-my--data", "home-crypt")
    assert volumes_on(survey, first(survey)) == ("vg0/my-data",)
    assert keys(survey, CHOSEN) == ["aim", "above", "volume"]
    chosen = turned(survey, first(survey), CHOSEN, "volume", 1)
    assert chosen.volume == "vg0/my-data"
    made = plan_of_draft(survey, first(survey), chosen)
    assert isinstance(made, Plan)
    commands = [step.argv[0] for step in made.steps if step.argv]
    assert commands[-2:] == ["pvresize", "lvextend"]
    assert not any("--extend" in note for note in made.notes)
    assert turned(survey, first(survey), chosen, "volume", 1) == CHOSEN
    assert "volume" not in keys(survey, replace(chosen, above=False))


def test_larger_devices() -> None:
    """Each replaces a member; without one, that is said."""
    large = [device(f"sd{letter}", size_bytes=2 * BIG) for letter in "xyz"]
    survey = grown(RAID5, *large)
    array = first(survey)
    draft = with_aim(array, GrowDraft(), GrowAim.LARGER)
    assert draft.takes_devices
    none = plan_of_draft(survey, array, draft)
    assert isinstance(none, Refusal)
    assert none.sentence == "no device is chosen yet; take one with Space"
    made = plan_of_draft(survey, array, replace(draft, devices=("sdx", "sdy", "sdz")))
    assert isinstance(made, Plan)
    assert made.title == "grow: 3 larger members"
