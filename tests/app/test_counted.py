"""What a sample and a key cost, counted: calls of raidtui's functions, and modules that are imported.

A clock would tell how busy the machine is. The limits leave a tenth of room over what was counted; whoever
exceeds one finds what is called for nothing, or raises it with a reason.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from raidtui.host.readers.opening import open_root
from raidtui.watch.watch import HostWatch
from tests.frame.staging import app_of, look, running
from tests.frame.states import STATES
from tests.places import HOUSE

_OURS = f"{HOUSE / 'raidtui'}/"


class Calls:
    """Counts calls of raidtui's functions while it is ``on``.

    In all threads that were started after it, or in the screen's alone: others may be at work meanwhile.
    """

    def __init__(self) -> None:
        self.on = False
        self.here = 0
        self.found: Counter[str] = Counter()

    def note(self, frame: FrameType, event: str, arg: Any) -> None:
        """See ``sys.setprofile``."""
        del arg
        if self.here and threading.get_ident() != self.here:
            return
        if self.on and event == "call" and frame.f_code.co_filename.startswith(_OURS):
            self.found[f"{frame.f_code.co_filename.removeprefix(_OURS)}:{frame.f_code.co_qualname}"] += 1

    def check(self, most: int, times: int) -> None:
        """Demand a mean of at most ``most`` calls, and not none."""
        mean = sum(self.found.values()) / times
        assert 0 < mean <= most, f"{mean:.0f} calls: {self.found.most_common(25)}"


@pytest.fixture
def calls() -> Iterator[Calls]:
    """Return what counts."""
    counted = Calls()
    threading.setprofile(counted.note)
    sys.setprofile(counted.note)
    yield counted
    sys.setprofile(None)
    threading.setprofile(None)


@pytest.mark.parametrize(("state", "most"), [("optimal", 415), ("check", 1450), ("many", 45_000)])
async def test_a_sample(calls: Calls, state: str, most: int) -> None:
    """At rest, while an array is checked, and of 512 arrays; the screen with it."""
    async with running(STATES[state]) as pilot:
        await look(pilot)
        calls.on = True
        for _ in range(3):
            await look(pilot)
        calls.on = False
    calls.check(most, 3)


@pytest.mark.parametrize(("key", "most"), [("down", 1200), ("l", 590), ("6", 15_400), ("c", 490)])
async def test_a_key(calls: Calls, key: str, most: int) -> None:
    """Beside 512 arrays, in the screen's thread."""
    calls.here = threading.get_ident()
    async with running(STATES["many"]) as pilot:
        await look(pilot)
        calls.on = True
        await pilot.press(key)
        await pilot.pause()
        calls.on = False
    assert app_of(pilot).crash == ""
    calls.check(most, 1)


def open_files() -> int:
    """How many descriptors this process has."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


async def test_what_a_console_had_open_is_closed(tmp_path: Path) -> None:
    """Also where several run in one process, one after the other, and where a reader is only dropped."""
    STATES["optimal"].write_to(tmp_path)
    before, frozen = open_files(), gc.get_freeze_count()
    for _ in range(2):
        async with running(open_root(str(tmp_path))) as pilot:
            await pilot.press("3")
            await look(pilot)
        del pilot
        HostWatch(open_root(str(tmp_path))).refresh()
    assert gc.get_freeze_count() == frozen
    assert open_files() == before


def test_modules_of_the_first_frame() -> None:
    """``collections`` and ``enum`` with theirs took as long as the frame itself."""
    code = (
        "import sys; before = set(sys.modules); import raidtui.first_frame;"
        "print(len(sys.modules.keys() - before), 'collections' in sys.modules, 'enum' in sys.modules)"
    )
    argv = (sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(HOUSE)!r}); {code}")
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    count, *heavy = done.stdout.split()
    assert heavy == ["False", "False"]
    assert int(count) <= 38


def test_modules_of_the_console() -> None:
    """What is imported before the first picture, and with the registry.

    Twelve modules more than before: speeds of members, bitmaps, delayed syncs, and lists beside details.
    """
    code = (
        "import sys; from raidtui.app.palette_later import import_app; import_app();"
        "import raidtui.app.launch, raidtui.app.app; first = len(sys.modules); import raidtui.app.registry;"
        "print(first, len(sys.modules))"
    )
    done = subprocess.run((sys.executable, "-P", "-c", code), capture_output=True, text=True, check=True)
    first, all_features = map(int, done.stdout.split())
    assert first <= 530
    assert all_features <= 570


def test_modules_of_a_plan() -> None:
    """What the arguments of a verb import: nothing that another verb makes its plans with."""
    words = ["plan", "create", "--name", "new", "--level", "raid1", "/dev/sda", "/dev/sdb"]
    code = (
        "import sys; from raidtui.app.cli import build_parser;"
        f"build_parser().parse_args({words}); print(len(sys.modules))"
    )
    done = subprocess.run((sys.executable, "-P", "-c", code), capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 350
