"""An array with all its members that md does not start: why, instead of the advice to assemble it."""

import pytest

from raidtui.monitor.health import judge
from raidtui.monitor.sampler import Sampler
from tests.hosts.wrecks import wrecked


@pytest.mark.parametrize(
    ("wreck", "why"),
    [
        (
            "r0-layout-unknown",
            (
                "its members differ in size and its layout is not recorded: Linux 5.4 and newer do not start"
                " it until the layout is given"
            ),
        ),
        (
            "reshape-chunk-cut-backup-lost",
            "its reshape was interrupted where only a backup file lets it continue",
        ),
    ],
)
def test_what_keeps_it_from_starting_is_said(wreck: str, why: str) -> None:
    (finding,) = judge(Sampler(wrecked(wreck), absent=True, patient=True).sample())
    assert finding.sentence.endswith(f"; {why}")
    assert finding.remedy.startswith("never re-create it; raidtui rescue")
