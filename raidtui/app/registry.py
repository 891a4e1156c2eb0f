"""The features. One is taken out with its folder, its tests, its lines here and its page of docs."""

from __future__ import annotations

from raidtui.features.advice.feature import FEATURE as ADVICE
from raidtui.features.alerts.feature import FEATURE as ALERTS
from raidtui.features.arrays.feature import FEATURE as ARRAYS
from raidtui.features.bench.feature import FEATURE as BENCH
from raidtui.features.boot.feature import FEATURE as BOOT
from raidtui.features.checks.feature import FEATURE as CHECKS
from raidtui.features.create.feature import FEATURE as CREATE
from raidtui.features.fleet.feature import FEATURE as FLEET
from raidtui.features.history.feature import FEATURE as HISTORY
from raidtui.features.pace.feature import FEATURE as PACE
from raidtui.features.pull.feature import FEATURE as PULL
from raidtui.features.rescue.feature import FEATURE as RESCUE
from raidtui.features.reshape.feature import FEATURE as RESHAPE
from raidtui.features.stack.feature import FEATURE as STACK
from raidtui.features.tune.feature import FEATURE as TUNE
from raidtui.features.wear.feature import FEATURE as WEAR
from raidtui.frame.feature import Feature
from raidtui.watch.past import keep_reader

FEATURES: tuple[Feature, ...] = (
    ARRAYS,
    BENCH,
    TUNE,
    WEAR,
    PULL,
    RESCUE,
    STACK,
    ADVICE,
    HISTORY,
    BOOT,
    ALERTS,
    CHECKS,
    FLEET,
    PACE,
    CREATE,
    RESHAPE,
)
"""In the order of the help."""

for _feature in FEATURES:
    if _feature.past is not None:
        keep_reader(_feature.name, _feature.past)
