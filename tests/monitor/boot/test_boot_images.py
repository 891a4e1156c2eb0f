"""What is said of each image, and what its boots in QEMU did: they agree in every case.

The machine that comes up with old data is none that is said to boot, nor one that is said not to.
"""

from __future__ import annotations

import pytest

from raidtui.monitor.boot.boot_check import check_boot
from tests.monitor.boot.images import ENDS, image_root

OLD = {("degraded", "ubda")}
"""What is left has left the array before: it may come up with the data of then."""


@pytest.mark.parametrize("name", sorted(ENDS))
def test_verdict_and_boot_agree(name: str) -> None:
    said = {each.name: each for each in check_boot(image_root(name)).verdicts}
    assert said.keys() >= ENDS[name].keys()
    for disk, end in ENDS[name].items():
        reasons = [(each.code, each.text) for each in said[disk].reasons]
        expected = None if (name, disk) in OLD else end == "up"
        assert said[disk].boots_without is expected, f"without {disk} it ended {end}; {reasons}"
