"""The pictures that the README shows."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.conftest import Picture
from tests.demo.scene import Scene
from tests.frame.cast import Frame, animated
from tests.frame.staging import Paces, in_worker, look, play, running, screen_text, staged, until
from tests.frame.states import ARRAYS, resync_life
from tests.goldens import SNAPSHOTS
from tests.hosts.kernel import Kernel

THROTTLED = SNAPSHOTS / "readme" / "throttled.svg"
SIZE = (120, 40)


def test_arrays(draws: Callable[..., None]) -> None:
    kernel = Kernel(*ARRAYS["optimal"])

    async def live(pilot: Paces) -> None:
        await play(pilot, kernel, resync_life())

    draws(staged(kernel), size=(104, 36), prepare=live)


async def test_throttled(request: pytest.FixtureRequest) -> None:
    """A resync of the demo is throttled by a slider, and let go again."""
    frames: list[Frame] = []
    scene = Scene()

    def keep(pilot: Paces, seconds: float) -> None:
        drawn = re.sub(r"terminal-\d+-", "terminal-", pilot.app.export_screenshot(title="raidtui --demo"))
        frames.append(Frame(svg=drawn, seconds=seconds))

    async def pass_by(pilot: Paces, seconds: int) -> None:
        for _ in range(seconds):
            await in_worker(pilot, lambda: scene.go(1))
            await look(pilot)
            keep(pilot, 0.4)

    async def moved(pilot: Paces, *keys: str) -> None:
        for key in keys:
            before = screen_text(pilot)
            await pilot.press(key)
            await until(pilot, lambda: screen_text(pilot) != before, key)  # noqa: B023
            while "asked" in screen_text(pilot):  # until the kernel has it
                await look(pilot)
            keep(pilot, 0.4)

    async with running(scene.reader, size=SIZE) as pilot:
        await until(pilot, lambda: "raid10 n2" in screen_text(pilot), "the arrays are there")
        await pass_by(pilot, 8)
        fast = frames[-1]
        await moved(pilot, "l", "shift+tab", "5", "enter", "tab", "H", "H", "H", "H")
        await pass_by(pilot, 14)
        slow = frames[-1]
        await moved(pilot, "L", "L", "L", "L")
        await pass_by(pilot, 10)
        keep(pilot, 2.0)
        assert speed(slow) * 3 < speed(fast) < speed(frames[-1]) * 2
    Picture.asked_for.add(THROTTLED)
    if request.config.option.update_snapshots:
        THROTTLED.write_text(animated(frames))
    accepted = re.sub(r"<[^>]*>", "", THROTTLED.read_text())
    stale = "it is of another screen: look at it, then accept it by make snapshots"
    for frame in (fast, slow, frames[-1]):
        rows = rows_of(frame)
        assert len(rows) == 3
        assert all(row in accepted for row in rows), stale


def test_each_line_is_seen_in_its_pictures() -> None:
    def picture(*lines: str) -> str:
        drawn = "".join(
            f'<text class="terminal-r1" x="0" clip-path="url(#terminal-line-{n})">{line}</text>'
            for n, line in enumerate(lines)
        )
        return (
            "<svg>.terminal-r1 { fill: #fff }<g transform=''>"
            f'<g class="terminal-matrix">{drawn}</g></g></svg>'
        )

    frames = [("a", "b"), ("a", "c"), ("a", "b"), ("d", "b")]
    text = animated([Frame(svg=picture(*lines), seconds=2.0) for lines in frames])
    shown = {
        line: re.search(rf'values="([^"]*)" keyTimes="([^"]*)"/><text[^>]*>{line}<', text) for line in "abcd"
    }
    assert {line: found.groups() if found else None for line, found in shown.items()} == {
        "a": ("visible;hidden", "0;0.75"),
        "b": ("visible;hidden;visible", "0;0.25;0.5"),
        "c": ("hidden;visible;hidden", "0;0.25;0.5"),
        "d": ("hidden;visible", "0;0.75"),
    }
    assert text.count('dur="8s"') == 4


def rows_of(frame: Frame) -> list[str]:
    """The texts of the array in the list, and of its limits."""
    found: dict[str, str] = {}
    for line, text in re.findall(r'<text [^>]*terminal-line-(\d+)\)">([^<]*)<', frame.svg):
        found[line] = found.get(line, "") + text
    return [text for text in found.values() if re.search(r"▲&#160;data|(max|min)(&#160;)+├", text)]


def speed(frame: Frame) -> float:
    """MB/s of the chosen array, beside its chart."""
    text = re.sub(r"<[^>]*>", "", frame.svg).replace("&#160;", " ")
    found = re.search(r"now\s+([\d.]+)\s+MB/s", text)
    assert found is not None
    return float(found[1])
