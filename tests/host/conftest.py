"""What the tests of readers share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidtui.app.commands.capture import write_capture
from raidtui.host.knobs.knob_reader import KnobReader
from raidtui.host.readers.opening import open_root
from raidtui.model.knob import Tuning
from raidtui.monitor.sampler import Sampler
from tests.hosts.tune_host import TuneHost


@pytest.fixture(params=["host", "capture"])
def host_or_capture(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Knobs are read twice: of the host as it is, and of a capture of it."""
    if request.param == "host":
        return

    def captured(host: TuneHost, *changed: Any, **more: Any) -> Tuning:
        target = tmp_path / "host.tar.gz"
        target.unlink(missing_ok=True)
        write_capture(host, target, with_serials=True)
        root = open_root(str(target))
        return KnobReader(root).read(Sampler(root).sample(), *changed, **more)

    monkeypatch.setattr(TuneHost, "tuning", captured)
