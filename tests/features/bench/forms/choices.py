"""A host to choose from in the forms of benchmarks, and its answers, as its thread would give them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from raidtui.features.bench.forms.form_draft import BenchDraft, FormKind
from raidtui.features.bench.forms.known import Candidate, Folder, HostChoices, KnobChoice
from raidtui.features.bench.offer import Offer, make_offer
from raidtui.features.bench.place import Place, find_directory
from raidtui.features.bench.request import Request
from raidtui.host.readers.host_reader import HostReader
from raidtui.model.knob_table import KNOBS
from raidtui.model.plan import Refusal
from tests.features.bench.host import DISKS, Host, put_free_disks

GIB = 1 << 30
MODEL = "Samsung SSD 850 EVO"


def _turnable(
    name: str, now: str, *choices: str, low: int | None = None, high: int | None = None
) -> KnobChoice:
    knob = KNOBS[name]
    return KnobChoice(
        name=name, what=knob.what, unit=knob.unit, now=(now,), choices=choices, low=low, high=high
    )


def _disk(name: str, serial: str, **more: Any) -> Candidate:
    return Candidate(name=name, size_bytes=233 * GIB, model=MODEL, serial=serial, word=serial, **more)


KNOWN = HostChoices(
    folders=(
        Folder(path="/srv/data", file_system="ext4", arrays=("data",), free_bytes=350 * GIB),
        Folder(path="/", file_system="ext4", free_bytes=41 * GIB),
    ),
    devices=(
        _disk("sde", "S21PNX0H404040"),
        _disk("sdf", "S21PNX0H515151", on='the ext4 file system "photos [bold]x"'),
        _disk("sdg", "S21PNX0H626262"),
        _disk("sdh", "S21PNX0H737373"),
        *(_disk(name, f"S21PNX0H{n}", refusal=f"{name} is a member of data") for n, name in enumerate(DISKS)),
        Candidate(
            name="md127",
            kind="array",
            title="data",
            size_bytes=466 * GIB,
            word="md127",
            refusal="md127 is in use",
        ),
    ),
    knobs=(
        _turnable("queue_depth", "32", low=1, high=32),
        _turnable("scheduler", "mq-deadline", "none", "mq-deadline", "kyber", "bfq"),
        _turnable("governor", "powersave", "performance", "powersave"),
        _turnable("read_ahead_kb", "128", low=0),
        _turnable("bitmap", "none", "none", "internal"),
    ),
)
"""Four free disks, four of an array that is mounted, and knobs."""


ARRAYS = BenchDraft(
    kind=FormKind.SWEEP,
    preset="random-read",
    where="scratch",
    scratch="sde,sdf,sdg,sdh",
    member_size="10g",
    size="1g",
    first="chunk",
    second="layout",
    trim="yes",
)
"""Chunks against layouts over arrays made of the free disks."""
PLACE = Place(directory="/srv/data", mount="/srv/data", file_system="ext4", disks=DISKS, arrays=("md127",))
TYPED = ("S21PNX0H404040", "S21PNX0H515151", "S21PNX0H626262", "S21PNX0H737373")


def free_host() -> Host:
    """A host with fio on which the four free disks are, too; sdf has a file system."""
    host = Host()
    put_free_disks(host, "sde", "sdf", "sdg", "sdh", size_bytes=233 * GIB)
    for number, serial in enumerate(TYPED, 4):
        host.put(f"/run/udev/data/b8:{number}", f"E:ID_SERIAL_SHORT={serial}\n")
    host.put(
        "/run/udev/data/b8:5",
        f"E:ID_SERIAL_SHORT={TYPED[1]}\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=photos [bold]x\n",
    )
    return host


class Asked:
    """Takes requests as the host's thread does, and keeps them.

    Args:
        patch: makes /srv/data a folder on an array, with 350 GiB free.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        def directory(root: HostReader, path: str) -> Place | Refusal:
            return PLACE if path == PLACE.directory else find_directory(root, path)

        patch.setattr("raidtui.host.examine.why_busy", lambda *_: "")
        patch.setattr("os.access", lambda *_: True)
        patch.setattr("raidtui.features.bench.offer.find_directory", directory)
        patch.setattr("uuid.uuid4", lambda: UUID("0123456789abcdef0123456789abcdef"))
        patch.setattr("raidtui.features.bench.place.free_bytes", lambda _: 350 * GIB)
        self.host = free_host()
        self.requests: list[Request] = []

    async def __call__(self, request: Request) -> Offer | Refusal:
        self.requests.append(request)
        return make_offer(self.host, request)
