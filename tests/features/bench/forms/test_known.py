"""What there is to choose from: folders on arrays first, free devices first, knobs as the kernel has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from raidtui.features.bench.forms.form import fields, filled, request_of_draft
from raidtui.features.bench.forms.form_draft import OTHER, BenchDraft, FormKind
from raidtui.features.bench.forms.known import Candidate, Folder, HostChoices, KnobChoice, read_choices
from raidtui.features.bench.offer import Offer, make_offer
from raidtui.features.bench.request import Request
from raidtui.features.bench.schedule import Conditions
from raidtui.features.bench.workload import PRESETS, Preset
from raidtui.model.plan import Refusal
from raidtui.monitor.sampler import Sampler
from tests.features.bench.forms.choices import free_host
from tests.features.bench.host import BLOCK, Host, put_free_disks

MIB = 1 << 20


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    """A RAID-10 of four disks, and four free ones; sdf has a file system."""
    monkeypatch.setattr("raidtui.host.examine.why_busy", lambda *_: "")
    made = Host()
    put_free_disks(made, "sde", "sdf", "sdg", "sdh")
    made.put("/run/udev/data/b8:5", "E:ID_SERIAL_SHORT=FREE-SDF\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=photos\n")
    return made


def known(host: Host) -> HostChoices:
    return read_choices(host, Sampler(host).sample())


def test_devices(host: Host) -> None:
    found = known(host)
    assert [each.name for each in found.scratch] == ["sde", "sdf", "sdg", "sdh"]
    assert [each.word for each in found.scratch] == ["FREE-SDE", "FREE-SDF", "FREE-SDG", "FREE-SDH"]
    file_system = found.device("sdf")
    assert file_system is not None
    assert (file_system.kind, file_system.size_bytes) == ("disk", 256 * MIB)
    assert file_system.on == 'the ext4 file system "photos"'
    member, array = found.device("sda"), found.device("md127")
    assert member is not None
    assert array is not None
    assert member.refusal == "sda is a member of data"
    assert (array.kind, array.title) == ("array", "data")


def test_a_device_that_is_used_is_not_offered(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "raidtui.host.examine.why_busy", lambda _, name: "something uses it" * (name == "sdg")
    )
    host.put("/run/udev/data/b8:4", "E:ID_SERIAL_SHORT=FREE-SDE\nE:ID_FS_TYPE=LVM2_member\n")
    found = known(host)
    assert [each.name for each in found.scratch] == ["sdf", "sdh"]
    refusals = {each.name: each.refusal for each in found.devices}
    assert refusals["sde"].startswith("sde holds an LVM physical volume")
    assert refusals["sdg"] == "sdg: something uses it"


def test_volumes_are_devices_too(host: Host) -> None:
    host.put(f"{BLOCK}/dm-0/size", "2048\n")
    host.put(f"{BLOCK}/dm-0/dev", "253:0\n")
    host.put(f"{BLOCK}/dm-0/dm/name", "vg-data\n")
    volume = known(host).device("dm-0")
    assert volume is not None
    assert (volume.kind, volume.title, volume.size_bytes) == ("volume", "vg-data", MIB)
    assert volume not in known(host).scratch


def test_without_root_nothing_is_overwritten(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "writable", property(lambda _: False))
    found = known(host)
    assert found.scratch == ()
    assert {each.refusal for each in found.devices} == {"needs root"}


def test_folders_of_a_capture_are_not_looked_for(host: Host) -> None:
    host.put("/proc/self/mountinfo", "30 1 0:40 / /tmp rw - ext4 /dev/md127 rw\n")
    host.live = False
    assert known(host).folders == ()


def test_knobs(host: Host) -> None:
    found = known(host)
    assert [each.name for each in found.knobs][:2] == ["queue_depth", "scheduler"]
    depth, scheduler, bitmap = (found.knob(name) for name in ("queue_depth", "scheduler", "bitmap"))
    assert depth is not None
    assert scheduler is not None
    assert bitmap is not None
    assert (depth.now, depth.low) == (("32",), 1)
    assert (scheduler.now, scheduler.choices) == (("mq-deadline", "none"), ("none", "mq-deadline"))
    assert bitmap.choices == ("none", "internal")
    assert found.knob("stripe_cache_size") is None


def test_folders(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On arrays first, then where most is free; what is mounted twice once; nothing of a network."""
    places = {name: tmp_path / name for name in ("data", "root", "big", "again", "far")}
    for place in places.values():
        place.mkdir()
    free = {str(places["data"]): 10, str(places["root"]): 20, str(places["big"]): 30}
    monkeypatch.setattr("raidtui.features.bench.forms.known.free_bytes", lambda path: free[path])
    sources = {"data": "/dev/md127", "root": "/dev/sde", "big": "/dev/sdf", "again": "/dev/md127"}
    lines = [
        f"3{n} 1 0:4{n} / {places[name]} rw - ext4 {sources.get(name, 'nas:/srv')} rw"
        for n, name in enumerate(places)
    ]
    lines.append(f"40 1 0:50 / {tmp_path}/gone rw - ext4 /dev/sdg rw")
    host.put("/proc/self/mountinfo", "\n".join(lines) + "\n")
    found = known(host).folders
    assert [(Path(each.path).name, each.arrays, each.free_bytes) for each in found] == [
        ("data", ("data",), 10),
        ("big", (), 30),
        ("root", (), 20),
    ]


MIB, GIB = 1 << 20, 1 << 30
CASES = [(kind, preset) for kind in FormKind for preset in PRESETS]


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr("raidtui.host.examine.why_busy", lambda *_: "")
    monkeypatch.setattr("os.access", lambda *_: True)
    monkeypatch.setattr("raidtui.features.bench.offer_checks.noise", lambda *_: ())
    return free_host()


def offer_of(other: Host, draft: BenchDraft, kind: FormKind, known: HostChoices) -> Offer | Refusal:
    request = request_of_draft(filled(replace(draft, kind=kind), known), known)
    assert isinstance(request, Request), request
    return make_offer(other, replace(request, confirmed=None))


def size_shown(draft: BenchDraft, kind: FormKind, known: HostChoices) -> str:
    shown = fields(filled(replace(draft, kind=kind), known), known)
    return next(field.usual for field in shown if field.name == "size")


@pytest.mark.parametrize("free", [64 << 10, 4 * MIB, 700 * MIB, 100 * GIB])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1].name}")
def test_in_a_folder(
    case: tuple[FormKind, Preset], free: int, other: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, preset = case
    for module in ("place", "forms.known"):
        monkeypatch.setattr(f"raidtui.features.bench.{module}.free_bytes", lambda _: free)
    other.put("/proc/self/mountinfo", f"30 1 0:40 / {tmp_path} rw - ext4 /dev/md127 rw\n")
    known = read_choices(other, Sampler(other).sample())
    assert [folder.path for folder in known.folders] == [str(tmp_path)]
    asked = BenchDraft(preset=preset.name)
    for draft in (asked, replace(asked, folder=OTHER, path=str(tmp_path))):
        offer = offer_of(other, draft, kind, known)
        if preset.loads and free < MIB:  # one of them has requests of 1 MiB
            assert isinstance(offer, Refusal)
            continue
        assert isinstance(offer, Offer), offer
        work = offer.schedule.work
        assert work is not None
        assert work.total_bytes <= free - free // 4
        fits = preset.work.total_bytes <= free - free // 4
        assert (work.size_bytes == preset.work.size_bytes) == fits
        assert any(note.startswith("The size is ") for note in offer.notes) != fits
        for point in offer.schedule.points:
            assert int(point.get("block", "0")) <= work.size_bytes


@pytest.mark.parametrize("size", [64 * MIB, 20 * GIB])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1].name}")
def test_on_a_device(other: Host, case: tuple[FormKind, Preset], size: int) -> None:
    kind, preset = case
    put_free_disks(other, "sde", size_bytes=size)
    known = read_choices(other, Sampler(other).sample())
    yes = "yes" if preset.writes else "no"
    draft = BenchDraft(preset=preset.name, where="device", device="sde", write=yes)
    offer = offer_of(other, draft, kind, known)
    assert isinstance(offer, Offer), offer
    assert offer.schedule.work is not None
    assert offer.schedule.work.size_bytes <= size


@pytest.mark.parametrize("size", [64 * MIB, 20 * GIB])
@pytest.mark.parametrize("preset", [preset.name for preset in PRESETS])
@pytest.mark.parametrize("first", ["knob", "chunk", "level"])
def test_on_scratch_arrays(other: Host, preset: str, size: int, first: str) -> None:
    put_free_disks(other, "sde", "sdf", "sdg", "sdh", size_bytes=size)
    for name in ("sdf", "sdg", "sdh"):
        other.put(f"{BLOCK}/{name}/device/queue_depth", "32\n")
    known = read_choices(other, Sampler(other).sample())
    draft = BenchDraft(preset=preset, where="scratch", scratch="sde,sdf,sdg,sdh", first=first)
    offer = offer_of(other, draft, FormKind.SWEEP, known)
    assert isinstance(offer, Offer), offer
    assert offer.schedule.scratch is not None
    assert offer.schedule.work is not None
    assert offer.schedule.work.size_bytes <= offer.schedule.scratch.least_bytes


def test_what_is_said(other: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raidtui.features.bench.place.free_bytes", lambda _: 4 * MIB)
    request = Request(preset="random-read", directory=str(tmp_path), conditions=Conditions(quiet_check=False))
    offer = make_offer(other, request)
    assert isinstance(offer, Offer)
    assert offer.notes[0] == (
        f"The size is 2 MiB instead of the preset's 500 MiB: 3 MiB can be used at {tmp_path}, and larger"
        " blocks are left out."
    )
    assert offer.room.startswith("Its files take 2 MiB; 4 MiB are free")
    assert [int(point["block"]) >> 10 for point in offer.schedule.points] == [8, 16, 32, 64, 128, 512, 1024]
    typed = make_offer(other, replace(request, size_bytes=64 * MIB))
    assert isinstance(typed, Refusal)
    assert typed.sentence == (
        f"the files would take 64 MiB, and at {tmp_path} they may take 3 MiB: a quarter of the 4 MiB that are"
        " free stays free; choose a smaller size, or fewer jobs"
    )
    blocks = make_offer(other, replace(request, blocks=(4096, 4 * MIB)))
    assert isinstance(blocks, Refusal), "blocks that were typed are not left out"
    monkeypatch.setattr("raidtui.features.bench.place.free_bytes", lambda _: 4096)
    assert isinstance(make_offer(other, request), Refusal), "no block fits"


def test_the_form_shows_the_size() -> None:
    known = HostChoices(
        folders=(Folder(path="/srv", free_bytes=4 * MIB), Folder(path="/big", free_bytes=100 * GIB)),
        devices=(Candidate(name="sde", size_bytes=4 * MIB), Candidate(name="sdf")),
    )
    spots = BenchDraft(preset="hot-spots", folder="/srv")
    assert size_shown(BenchDraft(folder="/srv"), FormKind.AB, known) == "2 MiB, as 4 GiB do not fit"
    assert size_shown(BenchDraft(folder="/big"), FormKind.AB, known) == "4 GiB"
    assert size_shown(spots, FormKind.RUN, known) == "1 MiB, as 2 GiB do not fit"
    jobs = replace(spots, first="jobs", values={"values jobs": "1,2,12"})
    assert size_shown(jobs, FormKind.SWEEP, known) == "256 KiB, as 2 GiB do not fit"
    device = replace(spots, where="device", device="sde")
    assert size_shown(device, FormKind.RUN, known) == "4 MiB, as 2 GiB do not fit"
    for unknown in (
        replace(spots, folder=OTHER, path="/mnt"),
        replace(spots, where="scratch"),
        replace(device, device="sdf"),
    ):
        assert size_shown(unknown, FormKind.SWEEP, known) == "2 GiB, or what fits"


@pytest.mark.parametrize("kind", [FormKind.SWEEP, FormKind.AB])
def test_the_knob_that_is_offered_has_values_to_compare(kind: FormKind) -> None:
    """Disks of a virtual machine have one scheduler."""
    knobs = (
        KnobChoice(name="scheduler", now=("none",), choices=("none",)),
        KnobChoice(name="read_ahead_kb", now=("128",), low=0),
    )
    known = HostChoices(folders=(Folder(path="/srv", free_bytes=GIB),), knobs=knobs)
    draft = filled(BenchDraft(kind=kind), known)
    assert (draft.knob, draft.knob2) == ("read_ahead_kb", "scheduler")
    assert isinstance(request_of_draft(replace(draft, kind=kind), known), Request)
