"""Making wrecks in a guest, and proving their truth there."""

import shlex
import sys

from tests.lab.guests.boot import REPOSITORY
from tests.lab.guests.guest import Guest, Result
from tests.lab.guests.wrecks.wreck import MISSING, Truth, Wreck

INSIDE = REPOSITORY / "tests/lab/guests/inside"
MANIFEST = "/tmp/wrecks/manifest"
_TREE = f"""\
if [ ! -e $MANIFEST ]; then
    rm -rf $TREE
    "$PYTHON" -I -S {shlex.quote(str(INSIDE / "wreck_tree.py"))} $TREE
    (cd $TREE && find . -type f | sort | xargs sha256sum) >$MANIFEST
fi
"""


def scripted(guest: Guest, script: str, timeout: float = 120.0) -> Result:
    """Run a script with the functions of ``inside/wrecks.sh`` at hand; how it ended."""
    disks = " ".join(f"D{number}=/dev/{name}" for number, name in enumerate(guest.disks))
    head = f"PYTHON={shlex.quote(sys.executable)} {disks}\n. {shlex.quote(str(INSIDE / 'wrecks.sh'))}\n"
    return guest.run(head + script, timeout=timeout)


def done(guest: Guest, script: str, timeout: float = 120.0) -> str:
    """Run a script that does what it is there for; what it said.

    Raises:
        AssertionError: it did not.
    """
    result = scripted(guest, script, timeout)
    assert result.status == 0, f"it ended with status {result.status}:\n{result.output}"
    return result.stdout


def make(guest: Guest, wreck: Wreck) -> None:
    """Make a wreck on empty disks.

    Raises:
        AssertionError: it could not be made.
    """
    done(guest, f"hush\n{_TREE}rm -rf $KERNEL $LATER\n{wreck.make}\nunmask\n")


def prove(guest: Guest, wreck: Wreck) -> None:
    """Create the array again on overlays, as the truth says, and compare the files; nothing is left of it.

    Raises:
        AssertionError: the truth is none, or nothing can be proven of the wreck.
    """
    assert wreck.provable, f"nothing can be proven of {wreck.id}"
    again = created(wreck.truth) if wreck.truth is not None else ""
    proof = wreck.proof or "check_ext4 $MD"
    done(guest, f"hush\ntrap 'drop; unmask' EXIT\n{again}\n{proof}\n", timeout=180)


def kernel_words(guest: Guest) -> frozenset[str]:
    """What the kernel said of the wreck's array when it ran last."""
    return frozenset(done(guest, "cat $KERNEL").splitlines())


def created(truth: Truth) -> str:
    """The commands that create an array again on overlays."""
    there = [name for name in truth.order if name != MISSING]
    over = [name if name == MISSING else f"/dev/mapper/over-{name}" for name in truth.order]
    return "\n".join(
        [
            *(f"overlay {name}" for name in there),
            shlex.join(
                [
                    "mdadm",
                    "--create",
                    "/dev/md100",
                    "--run",
                    "--assume-clean",
                    "--homehost=none",
                    *truth.create,
                    *over,
                ]
            )
            + " 2>&1",
        ]
    )
