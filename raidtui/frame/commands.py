"""The commands of all panes, and in which order they are shown."""

from __future__ import annotations

from raidtui.frame.command import Command

CHECK = Command(
    id="arrays.check", keys="c", action="check", label="Check",
    words="scrub verify compare parity mismatches consistency",
    help="Read all members and count mismatches. Changes nothing.",
)  # fmt: skip
MISMATCHES = Command(
    id="arrays.mismatches", keys="m", action="repair('mismatches')", label="Mismatches", foot=False,
    words="verify compare differ parity copies which file repair rescue",
    help="Compare members: which sectors differ, which member disagrees, which file lies there.",
)  # fmt: skip
CANCEL = Command(
    id="arrays.cancel", keys="x", action="cancel", label="Cancel", foot=False,
    words="abort end stop check idle",
    help="End a check or repair; the next one starts at the beginning.",
)  # fmt: skip
PAUSE = Command(
    id="arrays.pause", keys="p", action="pause", label="Pause",
    words="freeze suspend resume continue",
    help="Pause a resync, recovery, reshape or check, or resume it.",
)  # fmt: skip
LIMITS = Command(
    id="arrays.limits", keys="l", action="limits", label="Limits", first=True,
    words="speed throttle slow fast minimum maximum bandwidth rate sync_speed_min sync_speed_max slider",
    help="Go to the sliders: arrows, Shift with arrows, digits (MB/s, k for KiB/s), mouse.",
)  # fmt: skip
SCOPE = Command(
    id="arrays.scope", keys="s", action="scope", label="Scope", foot=False,
    words="speed limits global system local",
    help="Switch the sliders between this array's limits and the system's.",
)  # fmt: skip
GIVE_BACK = Command(
    id="arrays.give_back", keys="g", action="give_back", label="Give back", foot=False,
    words="speed limits system default reset",
    help="Return this array to the system's limits; it follows them from then on.",
)  # fmt: skip
PACE = Command(
    id="arrays.pace", keys="y", action="repair('pace')", label="Yield", foot=False,
    words="pace latency throttle slow users p99 background nice resync governor",
    help="Let a sync yield to the users: hold a latency, and give md all the speed that is left.",
)  # fmt: skip
UNDO = Command(
    id="arrays.undo", keys="u", action="undo", label="Undo", foot=False, words="revert back",
    help="Undo the last change made in this pane; pane 4 undoes its own."
)  # fmt: skip
REPLACE = Command(
    id="arrays.replace", keys="R", action="repair('replace')", label="Replace",
    words="swap exchange disk drive member hot",
    help="Copy a member to another device while it stays in use: no redundancy is lost.",
)  # fmt: skip
ADD = Command(
    id="arrays.add", keys="A", action="repair('add')", label="Add",
    words="spare re-add readd disk drive member recover rebuild grow",
    help="Add a device: a former member (only what changed is copied), a member, or a spare.",
)  # fmt: skip
FAIL = Command(
    id="arrays.fail", keys="F", action="repair('fail')", label="Fail",
    words="faulty broken bad set-faulty kick",
    help="Mark a member as failed. Prefer replace while it still works.",
)  # fmt: skip
REMOVE = Command(
    id="arrays.remove", keys="M", action="repair('remove')", label="Remove", foot=False,
    words="detach take out member",
    help="Remove a failed member or a spare from the array.",
)  # fmt: skip
GROW = Command(
    id="arrays.grow", keys="G", action="repair('grow')", label="Grow", foot=False,
    words="reshape convert shrink level layout chunk larger expand devices journal ppl bitmap migrate",
    help="Give the array another shape: devices, level, layout, chunk, size; a journal or a bitmap.",
)  # fmt: skip
RENAME = Command(
    id="arrays.rename", keys="N", action="repair('rename')", label="Rename", words="name label homehost",
    help="Rename the array in its superblocks, mdadm.conf, the initramfs and fstab.",
)  # fmt: skip
STOP = Command(
    id="arrays.stop", keys="T", action="repair('stop')", label="Stop", foot=False,
    words="deactivate shut down", help="Stop the array; nothing on it is changed.",
)  # fmt: skip
ASSEMBLE = Command(
    id="arrays.assemble", keys="a", action="repair('assemble')", label="Start", foot=False,
    words="assemble run activate import rescue recover force stale kicked superblock lost",
    help="Start or rescue an array that does not run: what happened, the ways back, what each writes.",
)  # fmt: skip
LOCATE = Command(
    id="arrays.locate", keys="i", action="repair('locate')", label="Pull disk", foot=False,
    words="led light blink bay slot serial number find identify locate exchange swap hotplug which",
    help="Pull a disk: which one it is and is not, its bay's light, what leaves, and the new one put in.",
)  # fmt: skip
ZERO = Command(
    id="arrays.zero", keys="Z", action="repair('zero')", label="Zero", foot=False,
    words="wipe erase superblock zero-superblock clear",
    help="Erase the md superblock of a device that no array uses, so that nothing assembles it.",
)  # fmt: skip
UP = Command(
    id="arrays.up", keys="up,k", action="move(-1)", label="Up", help="Choose the row above.", foot=False
)  # fmt: skip
DOWN = Command(
    id="arrays.down", keys="down,j", action="move(1)", label="Down", help="Choose the row below.", foot=False
)  # fmt: skip
ARRAYS = (
    CHECK, CANCEL, PAUSE, LIMITS, SCOPE, GIVE_BACK, PACE, UNDO, REPLACE, ADD, FAIL, REMOVE, GROW, RENAME,
    STOP, LOCATE, MISMATCHES, ASSEMBLE, ZERO,
)  # fmt: skip

MARK = Command(
    id="wear.mark", keys="m", action="mark", label="Mark now",
    help="Mark this moment in the history: d shows what is written from now on.",
)  # fmt: skip
SINCE = Command(
    id="wear.since", keys="d", action="since", label="Since mark",
    help="Show what was written since the last mark, instead of over the disks' whole lives.",
)  # fmt: skip
READ = Command(
    id="wear.read", keys="r", action="read", label="Read again", words="smart refresh",
    help="Read the disks now; they are read every ten minutes. A sleeping disk is not woken.",
)  # fmt: skip
HISTORY = Command(
    id="wear.history", keys="h", action="history", label="History", words="tbw written smart",
    help="Show what was written to the chosen disk day by day, and what syncs and jobs wrote.",
)  # fmt: skip
SELF_TEST = Command(
    id="wear.self_test", keys="t", action="self_test", label="Self-test",
    words="smart smartctl short long extended conveyance abort",
    help="Start a self-test on the chosen disk, or abort the one that runs. The plan is shown first.",
)  # fmt: skip
WEAR = (MARK, SINCE, SELF_TEST, READ, HISTORY)

LESS = Command(
    id="tune.less", keys="left", action="turn(-1)", label="Lower", foot=False,
    help="Set the chosen knob for now to the value below: the previous choice, or half the number.",
)  # fmt: skip
MORE = Command(
    id="tune.more", keys="right", action="turn(1)", label="Higher", foot=False,
    help="Set the chosen knob for now to the value above: the next choice, or twice the number.",
)  # fmt: skip
EXACT = Command(
    id="tune.value", keys="enter", action="exact", label="Value", foot=False,
    words="scheduler read-ahead queue set",
    help="Type a value for the chosen knob, or choose it from a list.",
)  # fmt: skip
NEXT_KNOB = Command(
    id="tune.next", keys="tab", action="knob(1)", label="Next knob", foot=False,
    help="Choose the next knob of the row; Shift+Tab chooses the previous one.",
)  # fmt: skip
SAME = Command(
    id="tune.same", keys="equals_sign", action="same", label="Same for all",
    help="Give this disk's value to all members of its array; a processor's to all processors.",
)  # fmt: skip
KEEP = Command(
    id="tune.keep", keys="k", action="keep", label="Keep",
    help="Keep values across reboots, in raidtui's own files. The plan is shown first.",
)  # fmt: skip
FORGET = Command(
    id="tune.forget", keys="K", action="forget", label="Forget", foot=False,
    help="Stop keeping a value. The current one stays until the next reboot.",
)  # fmt: skip
UNDO_TUNE = Command(
    id="tune.undo", keys="u", action="undo", label="Undo",
    help="Undo what was set last here or by raidtui tune; pane 1 undoes its own.",
)  # fmt: skip
PROFILE = Command(
    id="tune.profile", keys="P", action="profile", label="Profile",
    words="preset tuned scheduler",
    help="Set several values together: published recommendations, the kernel's own, or your profiles.",
)  # fmt: skip
ASK_ERC = Command(
    id="tune.erc", keys="e", action="erc", label="Ask for ERC", foot=False,
    help="Read how long the disks retry a bad sector (SCT ERC). Sleeping disks are not woken.",
)  # fmt: skip
TEST = Command(
    id="tune.test", keys="t", action="test", label="Test",
    words="fio benchmark measure",
    help="Measure with fio what the chosen knob does: its current value against another one.",
)  # fmt: skip
APART = Command(
    id="tune.apart", keys="o", action="apart", label="One by one", foot=False,
    help="Show each processor policy in a row of its own, or join those that are alike.",
)  # fmt: skip
READ_TUNE = Command(
    id="tune.read", keys="r", action="read", label="Read again", foot=False,
    help="Read the values now, and the rules and services that set them.",
)  # fmt: skip
TUNE = (LESS, MORE, NEXT_KNOB, EXACT, SAME, KEEP, FORGET, UNDO_TUNE, PROFILE, TEST, APART, ASK_ERC,
        READ_TUNE)  # fmt: skip

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

MEND = Command(
    id="advice.plan", keys="enter", action="mend", label="Plan", words="mend repair fix",
    help="Show the plan that mends what the chosen advice is about.",
)  # fmt: skip
IGNORE = Command(
    id="advice.ignore", keys="i", action="ignore", label="Ignore", words="silence dismiss hide unignore",
    help="Do not say the chosen advice any more, for good or for a while; or say it again.",
)  # fmt: skip
IGNORED = Command(
    id="advice.ignored", keys="a", action="ignored", label="All", words="ignored hidden",
    help="Show what is ignored, too, with who has said so and why.",
)  # fmt: skip
READ_ADVICE = Command(
    id="advice.read", keys="r", action="read", label="Read again", words="refresh",
    help="Look at the host again; that is done every ten minutes while the pane is in view.",
)  # fmt: skip
ADVICE = (MEND, IGNORE, IGNORED, READ_ADVICE)

JUMP = Command(
    id="log.jump", keys="enter", action="jump", label="Go to", words="array disk open",
    help="Show the array or the disk that the chosen row is about.",
)  # fmt: skip
TROUBLES = Command(
    id="log.troubles", keys="t", action="troubles", label="Troubles", words="warnings errors only",
    help="Show only warnings and worse, or all.",
)  # fmt: skip
RAW = Command(
    id="log.raw", keys="w", action="raw", label="As written", foot=False, words="raw kernel lines text",
    help="Show the lines of the chosen row as they were written, or what they mean.",
)  # fmt: skip
EXPORT_LOG = Command(
    id="log.export", keys="e", action="export", label="Export", words="report html text json history",
    help="Export the history, as far as it is shown: HTML, JSON or text.",
)  # fmt: skip
READ_LOG = Command(
    id="log.read", keys="r", action="read", label="Read again", foot=False, words="refresh journal",
    help="Read the journal, jobs and benchmarks again; what this console sees is added as it happens.",
)  # fmt: skip
END_LOG = Command(
    id="log.end", keys="x", action="end", label="End reading", foot=False, words="cancel stop",
    help="End the reading of a long journal. What was read until then is shown.",
)  # fmt: skip
LOG = (JUMP, TROUBLES, RAW, EXPORT_LOG, READ_LOG, END_LOG)

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
    help="Draw the whole screen again, where something else has written over it.",
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
    help="Show what stands on what: disks, arrays, volumes, caches, file systems, and the load of each.",
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
    help="Show what could be better on this host, and what mends it.",
)  # fmt: skip


EVERYWHERE = (
    HELP, PALETTE, TO_ARRAYS, TO_WEAR, TO_TUNE, TO_BENCH, TO_LOG, TO_ADVICE, FILTER, HOLD, BUILD, STACK, JOBS,
    DEMO, REDRAW, QUIT,
)  # fmt: skip
FURTHER = (SCOPE, GIVE_BACK, UNDO, REMOVE, STOP, BUILD, JOBS, LOCATE, ASSEMBLE, CANCEL, ZERO, HOLD, QUIT)
"""What the footer shows besides in windows wider than 80 columns, the most useful first."""
