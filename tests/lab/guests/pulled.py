"""Disks that leave while md has nothing to write to them, and while nobody reports that to md."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest

_RULE = "/etc/udev/rules.d/64-md-raid-assembly.rules"


@contextmanager
def without_mdadm(guest: Guest) -> Iterator[None]:
    """Take mdadm out of udev's rules meanwhile.

    Its rule marks a removed disk as failed (``mdadm -If``), where udev had read by then that it was a member.
    """
    assert guest.run(f"touch {_RULE} && udevadm control --reload && udevadm settle").status == 0
    try:
        yield
    finally:
        guest.run(f"rm {_RULE}; udevadm control --reload; udevadm settle")


def await_idle(guest: Guest, kernel: str) -> None:
    """Wait until md has nothing to write: the array is clean, and no member has a request under way."""
    base = f"/sys/block/{kernel}/md"
    asked = f"cat {base}/array_state; cat {base}/dev-*/block/inflight"

    def is_idle() -> bool:
        state, *under_way = guest.run(asked).stdout.split()
        return state in {"clean", "read-auto", "active-idle"} and set(under_way) == {"0"}

    wait_until(is_idle, what=f"{kernel} idle")
