"""Plans that were made by hand, done twice, or against each other: what is not raidtui's is not done."""

import json
from typing import Any

import pytest

from tests.lab.guests.arrays import disk_names, make_array
from tests.lab.guests.guest import Guest
from tests.lab.guests.jobs import JOBS, PLAN, apply, plan, raidtui, states

HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "sh": (
        {"argv": ["sh"], "stdin": "touch /tmp/other/ran\n"},
        "'sh' is not a tool that raidtui's plans run",
    ),
    "env": ({"argv": ["env", "touch", "/tmp/other/ran"]}, "'env' is not a tool that raidtui's plans run"),
    "up": (
        {"argv": ["../../tmp/other/evil"]},
        "'../../tmp/other/evil' is not a tool that raidtui's plans run",
    ),
    "path": ({"argv": ["/tmp/other/evil"]}, "'/tmp/other/evil' is not a tool that raidtui's plans run"),
    "escape": ({"argv": ["sync", "\x1b]0;x\x07"]}, "it holds a control character, '\\x1b'"),
    "NUL": ({"argv": ["sync", "a\0b"]}, "it holds a control character, '\\x00'"),
    "NUL in a path": ({"path": "/tmp/other/a\0b", "content": "x"}, "it holds a control character, '\\x00'"),
    "relative": ({"path": "relative", "content": "x"}, "'relative' is not an absolute path"),
    "device": ({"path": "/dev/ubdc", "content": "x"}, "/dev/ubdc is not a configuration file"),
    "value of a device": ({"path": "/dev/ubdc", "text": "x"}, "/dev/ubdc is not a file of the kernel"),
    "time": ({"argv": ["sync"], "timeout_s": -1.0}, "a tool cannot take -1 s"),
}


def by_hand(guest: Guest, *steps: dict[str, Any], host: str = "lab", undo: bool = False) -> None:
    """Write a plan of steps."""
    words = [{"why": "harmless", **each} for each in steps]
    words = [{"why": "harmless", "argv": ["sync"], "undo": words}] if undo else words
    file = {
        "raidtui_plan": 1,
        "host": host,
        "made_s": 1.0,
        "plan": {"title": "x", "subject": "127", "steps": words},
    }
    done = guest.run(f"cat >{PLAN} <<'END'\n{json.dumps(file)}\nEND")
    assert done.status == 0


def mirror(guest: Guest) -> None:
    """Make the array 127 of two disks in sync; and there are no jobs."""
    guest.run(f"rm -rf {JOBS} /tmp/other")
    make_array(guest, "127", 1, disk_names(guest)[:2], extra=["--assume-clean"])


def test_plans_made_by_hand(guest: Guest) -> None:
    """Refused by their steps, also where those are an undo's; nothing was run or written."""
    mirror(guest)
    guest.run(
        "mkdir /tmp/other; printf '#!/bin/sh\ntouch /tmp/other/ran\n' >/tmp/other/evil"
        " && chmod +x /tmp/other/evil"
    )
    for step, why in HOSTILE.values():
        by_hand(guest, step)
        said = f"raidtui: not done: step 1: {why}; raidtui makes no such plan\n"
        assert apply(guest, status=2) == said
    by_hand(guest, HOSTILE["sh"][0], undo=True)
    assert "step 1, undo 1: 'sh' is not a tool" in apply(guest, status=2)
    by_hand(guest, {"argv": ["sync"]}, host="other")
    assert apply(guest, status=2) == "raidtui: not done: the plan was made on other, this is lab\n"
    by_hand(guest, {"argv": ["wipefs", "--all", "/dev/ubdc"]})
    assert apply(guest, status=2) == "raidtui: not done: it destroys data: to confirm, give --confirm=127\n"
    assert states(guest) == []
    assert guest.run("ls /tmp/other").stdout == "evil\n"
    by_hand(guest, *([{"argv": ["sync"]}] * 20))
    assert apply(guest).endswith(" 20  done\ndone\n")
    by_hand(guest, {"path": "/tmp/other", "content": "x"})
    assert "step 1: /tmp/other cannot be written: " in apply(guest, status=1)


@pytest.mark.later
def test_a_plan_is_done_once_and_opposite_ones_one_after_the_other(guest: Guest) -> None:
    mirror(guest)
    _, second, *free = disk_names(guest)
    plan(guest, "create", "--name=new", "--level=raid1", *free[:2])
    apply(guest, "--confirm=new")
    digest = guest.run("mdadm --detail --export /dev/md/new").stdout
    for _ in range(2):
        assert f"failed: step 1: {free[0]} " in apply(guest, "--confirm=new", status=1)
    assert guest.run("mdadm --detail --export /dev/md/new").stdout == digest
    verbs = (("fail", "127", second), ("stop", "127"), ("check", "127"))
    for number, words in enumerate(verbs):
        assert raidtui(guest, "plan", *words, "--json", into=f"/tmp/p{number}.json").status == 0
    begun = [
        guest.begin_command(("apply", f"/tmp/p{number}.json"), timeout=120) for number in range(len(verbs))
    ]
    ended = [each.wait(150) for each in begun]
    found = states(guest)[3:]
    assert "made" not in found
    assert "running" not in found
    for each in ended:
        assert each.status in {0, 1, 75}, each.output
        assert "Traceback" not in each.output
    assert sum(each.status == 0 for each in ended) >= 1
