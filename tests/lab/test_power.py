"""The power cut in the middle of a job: a few moments that are known.

`make torture` and `make power-cuts` try others.
"""

from collections.abc import Iterator

import pytest

from tests.lab.conftest import Laboratory
from tests.lab.guests.uml import PowerGuest
from tests.torture import conversion_cut, power_cut


@pytest.fixture(scope="module")
def powered(bytecode: None) -> Iterator[PowerGuest]:
    """The guest whose power can be cut."""
    holder = Laboratory(PowerGuest.boot)
    yield holder.guest()
    holder.close()


@pytest.mark.parametrize(("kind", "seed"), [("convert", 3), ("convert", 8), ("grow", 3)])
def test_a_power_cut_in_a_reshape(powered: PowerGuest, kind: str, seed: int) -> None:
    """The array has all its data, before the job is resumed and afterwards; what is left follows."""
    power_cut.cut_in(powered, kind, seed=seed)


@pytest.mark.parametrize(("name", "point"), [("5 to 4 devices", "50")])
def test_a_power_cut_in_a_conversion(powered: PowerGuest, name: str, point: str) -> None:
    """What was synced while md moved the data is there after the boot; the conversion comes to its end."""
    conversion_cut.cut_in(powered, name, point, seed=1)


@pytest.mark.parametrize("kind", ["zero-superblock", "create", "replace", "rescue-force", "rescue-create"])
def test_a_power_cut(powered: PowerGuest, kind: str) -> None:
    """Data and black box are whole, the job is found as what it was, and continues or is taken back."""
    power_cut.cut_in(powered, kind, seed=3)
