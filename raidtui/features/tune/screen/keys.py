"""The commands of pane 4, in the order in which they are shown."""

from __future__ import annotations

from raidtui.frame.command import Command

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
