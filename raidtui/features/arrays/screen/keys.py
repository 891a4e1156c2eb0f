"""The commands of pane 1, in the order in which they are shown."""

from __future__ import annotations

from raidtui.frame.command import Command

CHECK = Command(
    id="arrays.check", keys="c", action="check", label="Check",
    words="scrub verify compare parity mismatches consistency",
    help="Read every member, rewrite sectors that cannot be read, and count mismatches.",
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
ARRAYS = (
    CHECK, CANCEL, PAUSE, LIMITS, SCOPE, GIVE_BACK, PACE, UNDO, REPLACE, ADD, FAIL, REMOVE, GROW, RENAME,
    STOP, LOCATE, MISMATCHES, ASSEMBLE, ZERO,
)  # fmt: skip
