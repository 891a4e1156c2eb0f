"""The fleet on the screen: pictures of it, and hosts that answer one after the other through a real sshd."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from raidtui.features.fleet.answers import FleetRow, NoAnswer, NoAnswerCode, row_of, row_without
from raidtui.features.fleet.asking import AskSettings, kept_connections
from raidtui.features.fleet.hosts import FleetHost, host_of
from raidtui.features.fleet.screen.fleet_app import FleetApp
from tests.features.fleet.sayings import NOW_S, array, finding, resync, saying
from tests.features.fleet.sshd import running as sshd_running
from tests.frame.staging import Paces, until
from tests.lab.guests.deadline import wait_until

DAY_S = 86_400
Compares = Callable[..., bool]


def rows() -> list[FleetRow]:
    """A fleet in which everything has happened."""
    late = NoAnswer(code=NoAnswerCode.TIMEOUT, why="no answer within 30 s")
    far = NoAnswer(
        code=NoAnswerCode.UNREACHABLE,
        why="ssh does not reach it: ssh: connect to host 10.0.3.9 port 22: No route to host",
    )
    said = {
        "backup2.example.org": saying(
            array("tank", "failed"),
            status=2,
            findings=[
                finding("failed", "tank has failed: 2 of 4 members are missing, and raid5 needs 3"),
                finding("attention", "tank sdc: the kernel has marked it as faulty"),
            ],
        ),
        "db1": saying(
            array("root"),
            array("pgdata", "degraded", sync=resync(0.431, 7980, action="recover")),
            status=1,
            findings=[
                finding("degraded", "pgdata lacks 1 of 4 members; it survives no further failure in set A")
            ],
        ),
        "db2": saying(array("pgdata", sync=resync(0.05, 90_000, action="check"))),
        "web7": saying(array(), wear=[{"disk": "S3Z9NB0K", "name": "nvme0n1", "ends_s": NOW_S + 41 * DAY_S}]),
        "web1": saying(array(), array("logs")),
        "web2": saying(array()),
        "new": saying(),
    }
    found = [row_of(host_of(name), text.encode(), at_s=NOW_S, took_s=0.4) for name, text in said.items()]
    return [
        *found,
        row_without(host_of("web9"), late, at_s=NOW_S, took_s=30.0),
        row_without(host_of("web8"), far, at_s=NOW_S, took_s=3.1),
    ]


def staged(monkeypatch: pytest.MonkeyPatch, *, missing: Sequence[str] = (), opens: bool = True) -> FleetApp:
    """The screen of these rows; some hosts have not answered yet."""
    found = rows()

    async def ask_all(
        hosts: Sequence[FleetHost], settings: AskSettings, on_row: Callable[[FleetRow], object]
    ) -> None:
        del settings
        for row in found:
            if row.host.name not in missing:
                on_row(row)
        if missing:
            await asyncio.Event().wait()
        assert len(hosts) == len(found)

    monkeypatch.setattr("raidtui.features.fleet.screen.fleet_app.ask_all", ask_all)
    return FleetApp([row.host for row in found], AskSettings(), theme="dark", opens=opens)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_all_have_answered(
    monkeypatch: pytest.MonkeyPatch, snap_compare: Compares, size: tuple[int, int]
) -> None:
    assert snap_compare(staged(monkeypatch), terminal_size=size, run_before=_drawn)


def test_some_are_being_asked(monkeypatch: pytest.MonkeyPatch, snap_compare: Compares) -> None:
    app = staged(monkeypatch, missing=("db2", "web2", "web9"))
    assert snap_compare(app, terminal_size=(80, 24), run_before=_drawn, press=["down", "down"])


async def test_with_readonly_no_host_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The console there would not be read-only."""
    app = staged(monkeypatch, opens=False)
    monkeypatch.setattr(app, "_run_on_the_terminal", lambda _: pytest.fail("it was opened"))
    async with app.run_test(size=(100, 24)) as pilot:
        await _drawn(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert "read-only: started with --readonly" in app._foot.text


async def _drawn(pilot: Paces) -> None:
    app = pilot.app
    assert isinstance(app, FleetApp)
    await until(pilot, lambda: "● web1" in app.rows.text, "the rows")


def shown(app: FleetApp) -> list[str]:
    """The sign and the name of each row."""
    return [" ".join(line.split()[:2]) for line in app.rows.text.split("\n")]


async def test_answers_of_real_hosts_fill_it(tmp_path: Path) -> None:
    """A host that never answers is still being asked when all others are there; keys choose meanwhile."""
    with sshd_running(tmp_path) as sshd, kept_connections() as folder:
        sshd.hosts("a", "b", silent=("silent",), refused=("closed",))
        sshd.answers("a", saying(array()))
        sshd.answers(
            "b", saying(array("tank", "failed"), status=2, findings=[finding("failed", "tank failed")])
        )
        names = ("silent", "a", "b", "closed")
        settings = AskSettings(config=sshd.config, connect_s=60, timeout_s=120.0, masters=folder)
        app = FleetApp([host_of(name) for name in names], settings)
        async with app.run_test(size=(80, 24)) as pilot:
            wanted = ["✖ b", "? closed", "● a", "silent asked"]
            await until(pilot, lambda: shown(app) == wanted, "the answers")
            assert app.chosen == "b"
            assert "tank failed" in app.detail.text
            await pilot.press("end")
            assert app.chosen == "silent"
            assert "silent is being asked" in app.detail.text
            await pilot.press("home", "down")
            assert "Connection\n  refused" in app.detail.text
            host = host_of("db", {"ansible_host": "10.0.0.1", "ansible_user": "me", "ansible_port": "2222"})
            assert app.open_argv(host)[2:] == (
                *("raidtui", "ssh", "-F", sshd.config, "--installed", "ssh://me@10.0.0.1:2222"),
            )
            kept = masters(folder)  # the connection to a and b, which are one address
            assert len(kept) == 1
            await pilot.press("q")
        assert app.return_value == 2
    assert kept
    wait_until(lambda: not masters(folder), what="the connection is closed")


def masters(folder: str) -> list[str]:
    """The processes of ssh that keep a connection in a folder."""
    found = (" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
    return [words for words in found if words.startswith("ssh: ") and folder in words]
