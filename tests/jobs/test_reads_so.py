"""Whether a kernel's file has a text already: what is so counts as put back, where no write is taken."""

from __future__ import annotations

import pytest

from raidtui.jobs.runner import reads_so
from raidtui.model.fact import Fact, FactKind
from raidtui.model.plan import PutFile, RunTool, Write
from tests.features.bench.host import BLOCK, Host

UUID = "8d0b1f2a:11111111:22222222:33333333"


@pytest.mark.parametrize(
    ("now", "text", "so"),
    [
        ("none [mq-deadline]\n", "mq-deadline", True),
        ("none [mq-deadline]\n", "none", False),
        ("32\n", "032", True),
        ("32\n", "3", False),
        ("200000 (system)\n", "system", True),
        ("200000 (local)\n", "200000", True),
        ("200000 (local)\n", "system", False),
        ("write back\n", "write back", True),
        ("write back\n", "write through", False),
        ("", "", False),
    ],
)
def test_what_a_file_reads(host: Host, now: str, text: str, so: bool) -> None:  # noqa: FBT001
    host.put("/sys/x", now)
    assert reads_so(host, Write(path="/sys/x", text=text, why="x")) is so


def test_only_of_the_same_array_and_disk(host: Host) -> None:
    """Another one that has come by the name may have the value by itself."""
    host.put("/sys/x", "8\n")
    host.put(f"{BLOCK}/md127/md/uuid", UUID)
    step = Write(path="/sys/x", text="8", why="x", identity=(f"{BLOCK}/md127/md/uuid", UUID))
    assert reads_so(host, step)
    host.put(f"{BLOCK}/md127/md/uuid", UUID.replace("8", "9"))
    assert not reads_so(host, step)
    other = Fact(kind=FactKind.SERIAL, subject="sda", value="ANOTHER")
    assert not reads_so(host, Write(path="/sys/x", text="8", why="x", needs=(other,)))


def test_tools_and_files_of_configuration_have_none() -> None:
    assert not reads_so(Host(), RunTool(argv=("true",), why="x"))
    assert not reads_so(Host(), PutFile(path="/etc/x", content="8", why="x"))


@pytest.fixture
def host() -> Host:
    return Host()
