"""Taking a replace back: each step whole, frozen first, and never the only copy."""

from __future__ import annotations

from msgspec.structs import replace

from raidtui.model.fact import FactKind
from raidtui.plans.manage import undo_add_spare, undo_replace
from tests.hosts.specs import raid10
from tests.plans.goldens import accepted, commands
from tests.plans.running import fact, first, host

ARRAY = first(host(raid10()))
SAME = (fact(FactKind.SERIAL, "sde", "S-sde"),)

test_steps = accepted(
    {
        "a copy that is not whole": lambda: undo_replace(ARRAY, "sda", "sde", spare=False),
        "a copy to a spare": lambda: undo_replace(ARRAY, "sda", "sde", spare=True)[-1],
        # Nothing but this array's own superblock is wiped, on the disk that was meant.
        "the device that was added for it": lambda: undo_add_spare(ARRAY, "sda", "sde", SAME),
        "an array without a UUID": lambda: undo_add_spare(replace(ARRAY, uuid=None), "sda", "sde", SAME),
        "names with a slash": lambda: commands(undo_replace(ARRAY, "cciss/c0d0", "cciss/c0d1", spare=False)),
    }
)
