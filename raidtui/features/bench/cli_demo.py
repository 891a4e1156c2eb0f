"""``raidtui --demo bench run`` and ``sweep``: played by a model of the demo host's disks, as pane 5 does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import cast

from raidtui.demo.demo_host import DemoReader
from raidtui.features.bench.demo import PlayedBench
from raidtui.features.bench.offer import Offer
from raidtui.features.bench.results.run_record import RunRecord, sample_words
from raidtui.host.readers.host_reader import HostReader
from raidtui.jobs.lock import JobError

_PACE_S = 0.25
_EACH_S = 1.0


def play(root: HostReader, offer: Offer, tell: Callable[[str], None]) -> Sequence[RunRecord]:
    """Play a benchmark to its end, or until it is interrupted; return its runs.

    Args:
        root: the demo host.
        offer: what is played.
        tell: called with each line that is shown meanwhile.

    Raises:
        JobError: it cannot be begun, or it failed.
    """
    played = PlayedBench(cast("DemoReader", root))
    kept = {record.id for record in played.history()}
    if why := played.begin(offer):
        raise JobError(f"not possible: {why}")
    told = (-1, 0.0)
    try:
        while (progress := played.look()) is not None and progress.works and progress.record is not None:
            number = progress.record.number
            if number != told[0]:
                tell(f"{number + 1:>4} of {progress.of}   {progress.record.words}")
                told = (number, 0.0)
            if progress.samples and progress.samples[-1].t_s >= told[1] + _EACH_S:
                tell(f"            {sample_words(progress.samples[-1])}")
                told = (number, progress.samples[-1].t_s)
            time.sleep(_PACE_S)
    except KeyboardInterrupt:
        played.stop()
    if progress is not None and progress.reason:
        raise JobError(progress.reason)
    return tuple(record for record in played.history() if record.id not in kept)
