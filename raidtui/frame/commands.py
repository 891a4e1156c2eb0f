"""The commands that every pane has."""

from __future__ import annotations

from raidtui.frame.command import Command

UP = Command(
    id="arrays.up", keys="up,k", action="move(-1)", label="Up", help="Choose the row above.", foot=False
)  # fmt: skip
DOWN = Command(
    id="arrays.down", keys="down,j", action="move(1)", label="Down", help="Choose the row below.", foot=False
)  # fmt: skip
FILTER = Command(
    id="app.filter", keys="slash", action="filter", label="Filter", foot=False, first=True,
    words="search find",
    help="Show only rows that contain a text; Esc shows all.",
)  # fmt: skip
HOLD = Command(
    id="app.hold", keys="space", action="hold", label="Hold", foot=False,
    words="still stop pause picture",
    help="Hold the screen still; monitoring continues.",
)  # fmt: skip
HELP = Command(
    id="app.help", keys="question_mark,f1", action="help", label="Help", words="keys manual",
    help="Show the keys, and why some cannot be used now."
)  # fmt: skip
PALETTE = Command(
    id="app.palette", keys="ctrl+p", action="command_palette", label="More", help="Search all commands."
)  # fmt: skip
REDRAW = Command(
    id="app.redraw", keys="ctrl+l", action="redraw", label="Redraw", foot=False,
    words="repaint refresh clear garbled screen console",
    help="Redraw the whole screen after something else has written over it.",
)  # fmt: skip
QUIT = Command(
    id="app.quit", keys="q,ctrl+q", action="leave", label="Quit", foot=False,
    words="exit leave",
    help="Quit. What this session changed until reboot can be restored first.",
)  # fmt: skip
DEMO = Command(
    id="app.demo", keys="d", action="demo", label="Demo", foot=False,
    words="simulation example",
    help="Open a simulated host; only where this host has no md array.",
)  # fmt: skip
BUILD = Command(
    id="app.build", keys="b,2", action="build", label="Build", foot=False,
    words="create new make array wizard raid mdadm",
    help="Build an array: devices, level, chunk size, bitmap, name. The plan is shown first.",
)  # fmt: skip
JOBS = Command(
    id="app.jobs", keys="J", action="jobs", label="Jobs", foot=False,
    words="tasks running interrupted resume roll back",
    help="Show the last jobs, running and interrupted ones first: follow, resume, roll back.",
)  # fmt: skip
STACK = Command(
    id="app.stack", keys="v", action="stack", label="Stack", foot=False,
    words="layers lvm volume cache bcache writecache dm-crypt load latency iostat balance trim mount",
    help="Show what is on which device: disks, arrays, volumes, caches, file systems, and the load of each.",
)  # fmt: skip
TO_ARRAYS = Command(
    id="app.arrays", keys="1", action="pane('arrays')", label="Arrays", words="raid md list status",
    help="Show the arrays.", foot=False
)  # fmt: skip
TO_WEAR = Command(
    id="app.wear", keys="3", action="pane('wear')", label="Wear",
    words="smart smartctl ssd nvme life endurance temperature tbw health disks",
    help="Show how worn the disks are.", foot=False
)  # fmt: skip
TO_TUNE = Command(
    id="app.tune", keys="4", action="pane('tune')", label="Tune", foot=False,
    words="scheduler queue read-ahead readahead governor cpu timeout erc scterc stripe cache profile tuned",
    help="Show I/O schedulers, queues, processors and stripe caches, and what set them.",
)  # fmt: skip
TO_BENCH = Command(
    id="app.bench", keys="5", action="pane('bench')", label="Bench", foot=False,
    words="fio benchmark measure test iops latency bandwidth speed",
    help="Measure with fio; compare with earlier results.",
)  # fmt: skip
TO_LOG = Command(
    id="app.log", keys="6", action="pane('log')", label="Log", words="events timeline history journal",
    help="Show what happened, over all boots: journal, jobs, changes, benchmarks.", foot=False
)  # fmt: skip
TO_ADVICE = Command(
    id="app.advice", keys="7", action="pane('advice')", label="Advice", foot=False,
    words="recommendations better findings hints check",
    help="Show what could be better on this host, and how to fix it.",
)  # fmt: skip


EVERYWHERE = (
    HELP, PALETTE, TO_ARRAYS, TO_WEAR, TO_TUNE, TO_BENCH, TO_LOG, TO_ADVICE, FILTER, HOLD, BUILD, STACK, JOBS,
    DEMO, REDRAW, QUIT,
)  # fmt: skip
