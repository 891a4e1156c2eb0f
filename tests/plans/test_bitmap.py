"""A bitmap more or less: plans and refusals."""

from __future__ import annotations

from raidtui.model.plan import Plan, Refusal
from raidtui.plans.bitmap import plan_bitmap
from tests.hosts.specs import ArraySpec, Syncing, raid0, raid5, raid10
from tests.plans.goldens import accepted
from tests.plans.running import first, host

CHECK = Syncing(action="check", done_kib=1)


def bitmap(array: ArraySpec, wanted: str) -> Plan | Refusal:
    survey = host(array)
    return plan_bitmap(survey, first(survey), wanted)


test_plans = accepted(
    {
        "more": lambda: bitmap(raid10(), "internal"),
        # After a start md is auto-read-only, and mdadm refuses: "while array is resyncing or reshaping".
        "more, before the first write": lambda: bitmap(raid10(read_only="auto-read-only"), "internal"),
        "less": lambda: bitmap(raid10(bitmap=(1, 8)), "none"),
        "refused: there is none": lambda: bitmap(raid10(), "none"),
        "refused: there is one": lambda: bitmap(raid10(bitmap=(1, 8)), "internal"),
        "refused: lockless": lambda: bitmap(raid10(), "lockless"),
        "refused: a file": lambda: bitmap(raid10(), "/file"),
        "refused: raid0": lambda: bitmap(raid0(), "internal"),
        "refused: in a check": lambda: bitmap(raid10(sync=CHECK), "internal"),
        "refused: with ppl": lambda: bitmap(raid5(consistency_policy="ppl"), "internal"),
        "refused: none of raid5": lambda: bitmap(raid5(bitmap=(1, 8)), "none"),
    }
)
