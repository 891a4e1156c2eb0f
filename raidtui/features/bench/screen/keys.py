"""The commands of pane 5, in the order in which they are shown."""

from __future__ import annotations

from raidtui.frame.command import Command

NEW_BENCH = Command(
    id="bench.new", keys="n", action="new('run')", label="New",
    words="fio benchmark measure run iops latency speed",
    help="Measure one thing: a preset, your own fio job file, or your own choice.",
)  # fmt: skip
SWEEP = Command(
    id="bench.sweep", keys="s", action="new('sweep')", label="Sweep",
    words="fio benchmark series",
    help="Measure a range of values: block sizes, depths, any knob of pane 4, chunks of test arrays.",
)  # fmt: skip
AGAINST = Command(
    id="bench.ab", keys="a", action="new('ab')", label="A/B",
    words="fio benchmark against compare",
    help="Measure two settings in turn, and say which is faster or that they do not differ.",
)  # fmt: skip
COMPARE = Command(
    id="bench.compare", keys="c,enter", action="compare", label="Compare",
    help="Compare the marked benchmarks, or the chosen one's series: table, verdicts, curves, heat map.",
)  # fmt: skip
EXPORT = Command(
    id="bench.export", keys="e", action="export", label="Export",
    words="report html csv json",
    help="Export the marked benchmarks, or the chosen one, as HTML with charts, CSV or JSON.",
)  # fmt: skip
STOP_BENCH = Command(
    id="bench.stop", keys="x", action="stop", label="Stop",
    help="Stop the running benchmark. Its results are kept; what it changed is restored.",
)  # fmt: skip
MARK_BENCH = Command(
    id="bench.mark", keys="m", action="mark", label="Mark", foot=False,
    help="Mark the chosen benchmark for comparison, or unmark it.",
)  # fmt: skip
HEAT = Command(
    id="bench.heat", keys="h", action="compare(True)", label="Heat map", foot=False,
    help="Show chunk sizes against block sizes, with published figures beside your own.",
)  # fmt: skip
NOTE_BENCH = Command(
    id="bench.note", keys="i", action="note", label="Note", foot=False,
    help="Add a note to the chosen benchmark; the filter finds it.",
)  # fmt: skip
DELETE_BENCH = Command(
    id="bench.delete", keys="D,delete", action="delete", label="Delete", foot=False,
    help="Delete the chosen benchmark's runs, after a question.",
)  # fmt: skip
RESTORE_BENCH = Command(
    id="bench.restore", keys="R", action="restore", label="Put back", foot=False,
    help="Restore what an interrupted benchmark changed; its results are kept.",
)  # fmt: skip
READ_BENCH = Command(
    id="bench.read", keys="r", action="read", label="Read again", foot=False,
    help="Read the history again.",
)  # fmt: skip
BENCH = (
    NEW_BENCH, SWEEP, AGAINST, COMPARE, EXPORT, STOP_BENCH, MARK_BENCH, HEAT, NOTE_BENCH, DELETE_BENCH,
    RESTORE_BENCH, READ_BENCH,
)  # fmt: skip
