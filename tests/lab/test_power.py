"""The power cut in the middle of a job: a few moments that are known.

`make torture` and `make power-cuts` try others.
"""

from collections.abc import Iterator

import pytest

from tests.extent import later
from tests.lab.conftest import Laboratory
from tests.lab.guests.arrays import disk_names, make_array, slow
from tests.lab.guests.jobs import apply, plan
from tests.lab.guests.uml import PowerGuest
from tests.torture import conversion_cut, power_cut

PART_KIB, SPEED_KIB_S = 40 << 10, 5_000
CUT_AT = 2 * (24 << 10)
"""Sectors of each member: some five seconds after the reshape has begun."""


@pytest.fixture(scope="module")
def powered(bytecode: None) -> Iterator[PowerGuest]:
    """The guest whose power can be cut."""
    holder = Laboratory(PowerGuest.boot)
    yield holder.guest()
    holder.close()


@pytest.mark.parametrize(("kind", "seed"), [later("convert", 3), later("convert", 8), ("grow", 3)])
def test_a_power_cut_in_a_reshape(powered: PowerGuest, kind: str, seed: int) -> None:
    """The array has all its data, before the job is resumed and afterwards; what is left follows."""
    power_cut.cut_in(powered, kind, seed=seed)


@pytest.mark.later
@pytest.mark.parametrize(("name", "point"), [("5 to 4 devices", "50")])
def test_a_power_cut_in_a_conversion(powered: PowerGuest, name: str, point: str) -> None:
    """What was synced while md moved the data is there after the boot; the conversion comes to its end."""
    conversion_cut.cut_in(powered, name, point, seed=1)


@pytest.mark.parametrize(
    "kind",
    [later("zero-superblock"), later("create"), later("replace"), "rescue-force", later("rescue-create")],
)
def test_a_power_cut(powered: PowerGuest, kind: str) -> None:
    """Data and black box are whole, the job is found as what it was, and continues or is taken back."""
    power_cut.cut_in(powered, kind, seed=3)


def noise(guest: PowerGuest, name: str) -> str:
    """Fill an array, but for where noise may be taken for a partition table; its digest."""
    fill = f"dd if=/dev/urandom of=/dev/{name} bs=1M seek=1 oflag=direct status=none; :"
    filled = guest.run(fill, timeout=120)
    assert "No space left" in filled.output, filled.output
    return digest(guest, name)


def digest(guest: PowerGuest, name: str) -> str:
    """The digest of an array, read from its disks."""
    read = guest.run(f"dd if=/dev/{name} bs=1M iflag=direct status=none | sha256sum", timeout=120)
    assert read.status == 0, read.output
    return read.stdout


@pytest.mark.later
@pytest.mark.parametrize(
    ("level", "count", "words"),
    [(5, 3, ("--level=6", "--add", "{3}")), (6, 4, ("--level=5",))],
)
def test_a_power_cut_within_ten_seconds(
    powered: PowerGuest, level: int, count: int, words: tuple[str, ...]
) -> None:
    """What md has moved it writes over: nothing is lost, although it records its place every 10 s only."""
    guest, names = powered, disk_names(powered)
    guest.reset()
    parts = [f"{name}1" for name in names[: count + 1]]
    for name in names[: count + 1]:
        cut = guest.run(f"echo 2048,{2 * PART_KIB} | sfdisk --quiet /dev/{name} && udevadm settle")
        assert cut.status == 0, cut.output
    made = make_array(guest, "125", level, parts[:count], chunk=64, extra=("--assume-clean",))
    slow(guest, SPEED_KIB_S)
    before = noise(guest, made.kernel)
    plan(guest, "convert", "125", *(word.format(*parts) for word in words))
    apply(guest, "--detach")
    done = f"/sys/block/{made.kernel}/md/sync_completed"
    until = f'[ "$place" != none ] && [ "$place" -gt {CUT_AT} ]'
    reached = guest.run(f"until read -r place rest <{done} && {until}; do sleep 0.05; done")
    assert reached.status == 0, reached.output
    guest.cut()
    guest.switch_on()
    start = guest.run("udevadm settle; mdadm --readwrite /dev/md/125; mdadm --wait /dev/md/125; :")
    assert start.status == 0
    assert digest(guest, "md/125") == before, start.output
